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
    require(
        not machine._sparse and not callable(machine.kernel),
        f"its {name} was fitted on a sparse matrix or has a kernel of its own.",
    )
    sound = (
        machine._impl in ("c_svc", "nu_svc")
        and _are_counts_of_vectors(machine)
        and _are_coefficients_of_pairs(machine)
        and _are_within_the_table(machine)
    )
    require(sound, f"the support vectors of its {name} do not fit each other.")


def _are_counts_of_vectors(machine: Any) -> bool:
    """Whether the vectors of the classes add up to all vectors."""
    counts = plain_array(machine._n_support, "_n_support", ndim=1, kind="i")
    return bool(
        len(counts) == len(machine.classes_) >= 2
        and np.all(counts >= 0)
        and counts.sum() == len(machine.support_) > 0
    )


def _are_coefficients_of_pairs(machine: Any) -> bool:
    """Whether each pair of classes has its coefficients, and a sigmoid or none."""
    n_classes = len(machine.classes_)
    n_pairs = n_classes * (n_classes - 1) // 2
    coefficients = plain_array(machine._dual_coef_, "_dual_coef_", ndim=2, kind="f")
    intercept = plain_array(machine._intercept_, "_intercept_", ndim=1, kind="f")
    slopes = plain_array(machine._probA, "_probA", ndim=1, kind="f")
    offsets = plain_array(machine._probB, "_probB", ndim=1, kind="f")
    return (
        coefficients.shape == (n_classes - 1, len(machine.support_))
        and len(intercept) == n_pairs
        and len(slopes) == len(offsets)
        and len(slopes) in (0, n_pairs)
    )


def _are_within_the_table(machine: Any) -> bool:
    """Whether the vectors have the columns of the table, or are columns of it."""
    support = plain_array(machine.support_, "support_", ndim=1, kind="i")
    vectors = plain_array(machine.support_vectors_, "vectors", ndim=2, kind="f")
    n_columns = n_columns_of(machine)
    if machine.kernel != "precomputed":
        return vectors.shape == (len(support), n_columns)
    # The table is then the kernel between new rows and those of training.
    return bool(np.all(support >= 0) and np.all(support < n_columns))


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
