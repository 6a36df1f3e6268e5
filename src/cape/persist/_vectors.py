"""Checks of models that keep rows of the training table: support vectors, neighbours.

libsvm trusts the counts that it is given, and the search for neighbours the labels and
the width of its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase
from sklearn.svm import SVC, NuSVC

from cape.persist._numbers import n_columns_of, plain_array, require

__all__ = ["VECTOR_CHECKS", "neighbour_tree"]


def check_support(machine: Any) -> None:
    """Check that the tables of a support vector machine fit each other.

    Parameters
    ----------
    machine : SVC or NuSVC
        Fitted or not.

    Raises
    ------
    Unsound
        If a table has another size than the others say, or if it was fitted on a sparse
        matrix.
    """
    if not hasattr(machine, "support_"):
        return
    name = type(machine).__name__
    n_classes = len(machine.classes_)
    n_pairs = n_classes * (n_classes - 1) // 2
    counts = plain_array(machine._n_support, "_n_support", ndim=1, kind="i")
    vectors = machine.support_vectors_
    coefficients = machine._dual_coef_
    require(
        not machine._sparse and not callable(machine.kernel),
        f"its {name} was fitted on a sparse matrix or has a kernel of its own.",
    )
    plain_array(vectors, "support_vectors_", ndim=2, kind="f")
    plain_array(coefficients, "_dual_coef_", ndim=2, kind="f")
    support = plain_array(machine.support_, "support_", ndim=1, kind="i")
    intercept = plain_array(machine._intercept_, "_intercept_", ndim=1, kind="f")
    is_precomputed = machine.kernel == "precomputed"
    n_vectors = len(support)
    n_rows = machine.shape_fit_[0]
    sound = (
        machine._impl in ("c_svc", "nu_svc")
        and n_classes >= 2
        and n_vectors > 0
        and len(counts) == n_classes
        and np.all(counts >= 0)
        and counts.sum() == n_vectors
        and np.all(support >= 0)
        and np.all(support < n_rows)
        and coefficients.shape == (n_classes - 1, n_vectors)
        and len(intercept) == n_pairs
        and (is_precomputed or vectors.shape == (n_vectors, n_columns_of(machine)))
        and (not is_precomputed or n_columns_of(machine) == n_rows)
        and _are_empty_or_of_length(machine, n_pairs)
    )
    require(sound, f"the support vectors of its {name} do not fit each other.")


def _are_empty_or_of_length(machine: Any, n_pairs: int) -> bool:
    """Whether there is a sigmoid for each pair of classes, or none at all."""
    slopes = plain_array(machine._probA, "_probA", ndim=1, kind="f")
    offsets = plain_array(machine._probB, "_probB", ndim=1, kind="f")
    return len(slopes) == len(offsets) and len(slopes) in (0, n_pairs)


def check_neighbours(model: Any) -> None:
    """Check that the training rows and labels of a neighbour model fit each other.

    Parameters
    ----------
    model : NeighborsBase
        Fitted or not. Its tree is built from its rows, see `neighbour_tree`.
    """
    if not hasattr(model, "_fit_X"):
        return
    name = type(model).__name__
    if not issparse(model._fit_X):
        plain_array(model._fit_X, "_fit_X", ndim=2, kind="biuf")
    n_rows, n_columns = model._fit_X.shape
    require(
        n_columns == n_columns_of(model)
        and type(model.n_samples_fit_) is int
        and model.n_samples_fit_ == n_rows,
        f"the rows of its {name} are not those that it says.",
    )
    if getattr(model, "n_neighbors", None) is not None:
        require(
            1 <= model.n_neighbors <= n_rows,
            f"its {name} asks for more neighbours than it has rows.",
        )
    if is_classifier(model):
        _check_labels(model, n_rows)


def _check_labels(model: Any, n_rows: int) -> None:
    """Check the labels of the training rows, which compiled code counts by number."""
    labels = plain_array(model._y, "_y", ndim=1, kind="iu")
    n_classes = len(model.classes_)
    require(
        not model.outputs_2d_
        and len(labels) == n_rows
        and np.all(labels >= 0)
        and np.all(labels < n_classes),
        f"the labels of its {type(model).__name__} are not those of its classes.",
    )


def neighbour_tree(model: Any) -> Any:
    """Build the tree of a neighbour model from its rows, as scikit-learn does.

    No tree is written into a file: its nodes are a table of numbers that compiled code
    follows, and the rows say it all.

    Parameters
    ----------
    model : NeighborsBase
        Fitted, but for its tree.

    Returns
    -------
    KDTree, BallTree or None
    """
    kinds = {"kd_tree": KDTree, "ball_tree": BallTree}
    kind = kinds.get(model._fit_method)
    if kind is None:
        return None
    rows = plain_array(model._fit_X, "_fit_X", ndim=2, kind="biuf")
    metric = {"metric": model.effective_metric_, **model.effective_metric_params_}
    return kind(rows, model.leaf_size, **metric)


def check_centres(model: Any) -> None:
    """Check that the centres of clusters have the columns of the table.

    Parameters
    ----------
    model : KMeans or MiniBatchKMeans
        Fitted or not.
    """
    if not hasattr(model, "cluster_centers_"):
        return
    centres = plain_array(model.cluster_centers_, "cluster_centers_", ndim=2, kind="f")
    require(
        len(centres) > 0 and centres.shape[1] == n_columns_of(model),
        "it has clusters of other columns than its table.",
    )


VECTOR_CHECKS = {
    SVC: check_support,
    NuSVC: check_support,
    NeighborsBase: check_neighbours,
    KMeans: check_centres,
    MiniBatchKMeans: check_centres,
}
"""The check of each type."""
