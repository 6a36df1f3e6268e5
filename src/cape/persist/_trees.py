"""Checks that the trees of a loaded model do not point outside their tables.

scikit-learn follows the nodes of a tree without looking at bounds, so that a crafted
file could make it read foreign memory. skops vouches for the types in a file, not for
the numbers in them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import (
    BaseHistGradientBoosting,
)
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree
from sklearn.utils import check_array

from cape.persist._numbers import n_columns_of, plain_array, require

__all__ = ["TREE_CHECKS"]

_WORDS_OF_A_SET = 8
"""A set of categories is 256 bits, in integers of 32."""


def check_tree(tree: Any) -> None:
    """Check the nodes of a decision tree, which forests are made of too.

    Parameters
    ----------
    tree : Tree
        The tree of scikit-learn.

    Raises
    ------
    Unsound
        If it has no node, or if a node points outside the tree or its columns.
    """
    # First, since scikit-learn gives views on as many nodes as a tree claims to have.
    require(
        0 < tree.node_count <= tree.capacity,
        "it has a tree that claims more nodes than it has.",
    )
    # -1 is scikit-learn's TREE_LEAF.
    is_inner = tree.children_left != -1
    column = tree.feature[is_inner]
    sound = (
        _are_after_parents(tree.children_left[is_inner], is_inner)
        and _are_after_parents(tree.children_right[is_inner], is_inner)
        and np.all(column >= 0)
        and np.all(column < tree.n_features)
    )
    require(sound, "it has a tree whose nodes point outside the tree.")


def check_decision_tree(estimator: Any) -> None:
    """Check that a decision tree asks for no column beyond those of its table.

    scikit-learn compares ``n_features_in_`` with the columns of every table that it is
    given, but not with the columns that the tree asks for.

    Parameters
    ----------
    estimator : BaseDecisionTree
        Fitted or not.
    """
    if hasattr(estimator, "tree_"):
        require(type(estimator.tree_) is Tree, "it has a tree of another type.")
        require(
            estimator.tree_.n_features == n_columns_of(estimator),
            "it has a tree that points outside the columns of a table.",
        )


def check_boosting(ensemble: Any) -> None:
    """Check that the trees of gradient boosting fit the ensemble.

    The ensemble looks at the columns of a table with its first tree alone, and adds
    what the trees say to an array that the initial estimator made.

    Parameters
    ----------
    ensemble : BaseGradientBoosting
        Fitted or not.
    """
    if not hasattr(ensemble, "estimators_"):
        return
    n_columns = n_columns_of(ensemble)
    trees = plain_array(ensemble.estimators_, "estimators_", ndim=2, kind="O")
    # With two classes, there is one tree an iteration and one column to add to.
    require(
        trees.shape[1] == 1 and len(trees) > 0 and not ensemble._loss.is_multiclass,
        "its gradient boosting is not of one tree an iteration.",
    )
    for estimator in trees.ravel():
        require(
            isinstance(estimator, BaseDecisionTree)
            and estimator.tree_.n_features == n_columns,
            "it has a boosted tree of other columns than its ensemble.",
        )
    first = ensemble.init_
    require(
        type(first) in (DummyClassifier, DummyRegressor) or isinstance(first, str),
        "the initial estimator of its gradient boosting is not a constant.",
    )


def check_predictor(tree: Any) -> None:
    """Check the nodes of a tree of histogram gradient boosting.

    Parameters
    ----------
    tree : TreePredictor
        The tree of scikit-learn.

    Raises
    ------
    Unsound
        If it has no node, or if a node points outside the tree or its category sets.
    """
    nodes = plain_array(tree.nodes, "nodes", ndim=1, kind="V")
    is_inner = nodes["is_leaf"] == 0
    inner = nodes[is_inner]
    # A walk begins at the first node without asking whether there is one.
    sound = (
        len(nodes) > 0
        and _are_after_parents(inner["left"], is_inner)
        and _are_after_parents(inner["right"], is_inner)
        and np.all(inner["feature_idx"] >= 0)
        and _has_sets_of_categories(tree, inner)
    )
    require(sound, "it has a boosted tree whose nodes point outside the tree.")


def check_histogram_boosting(ensemble: Any) -> None:
    """Check that the trees of histogram gradient boosting fit the ensemble.

    Parameters
    ----------
    ensemble : BaseHistGradientBoosting
        Fitted or not.
    """
    if not hasattr(ensemble, "_predictors"):
        return
    # While it is fitted, the ensemble takes its tables for binned ones.
    require(not getattr(ensemble, "_in_fit", False), "its boosting is in mid-fit.")
    n_columns = n_columns_of(ensemble)
    if ensemble._preprocessor is not None:
        _check_preprocessor(ensemble._preprocessor, n_columns)
    is_categorical = plain_array(
        ensemble._bin_mapper.is_categorical_, "is_categorical_", ndim=1, kind="bui"
    )
    require(
        len(is_categorical) == n_columns,
        "its boosting has categories of other columns than its table.",
    )
    for iteration in ensemble._predictors:
        for tree in iteration:
            require(type(tree) is TreePredictor, "it has a tree of another type.")
            _check_columns_of(tree, is_categorical)


def _check_columns_of(tree: Any, is_categorical: np.ndarray) -> None:
    """Check that a boosted tree asks for columns that exist, and of the right kind."""
    inner = tree.nodes[tree.nodes["is_leaf"] == 0]
    column = inner["feature_idx"]
    require(
        column.max(initial=-1) < len(is_categorical),
        "it has a tree that points outside the columns of a table.",
    )
    # The known categories are looked up in a table of the categorical columns alone.
    splits_by_category = inner["is_categorical"] != 0
    require(
        np.all(is_categorical[column[splits_by_category]]),
        "it has a tree that splits a column of numbers by category.",
    )


def _check_preprocessor(preprocessor: Any, n_columns: int) -> None:
    """Check that the table has as many columns after preprocessing as before.

    scikit-learn encodes the categorical columns, checks the other columns, and compares
    no number of columns afterwards.
    """
    in_another_way = "its boosting prepares tables in another way."
    require(type(preprocessor) is ColumnTransformer, in_another_way)
    kept = []
    for _, transformer, columns in preprocessor.transformers_:
        if not isinstance(transformer, str):
            kept.append((transformer, columns))
        else:
            require(transformer == "drop", in_another_way)
    require(len(kept) == 2, in_another_way)
    (encoder, categorical), (numerical, numeric) = kept
    check = getattr(numerical, "func", None)
    categorical = plain_array(categorical, "categorical columns", ndim=1, kind="b")
    numeric = plain_array(numeric, "numeric columns", ndim=1, kind="b")
    require(
        type(encoder) is OrdinalEncoder
        and type(numerical) is FunctionTransformer
        and isinstance(check, partial)
        and check.func is check_array
        and len(categorical) == n_columns
        and np.array_equal(categorical, ~numeric),
        in_another_way,
    )


def _has_sets_of_categories(tree: Any, inner: np.ndarray) -> bool:
    """Whether there is a set of categories for every node that splits by one."""
    categorical = inner[inner["is_categorical"] != 0]
    if len(categorical) == 0:
        return True
    # A walk uses one table for binned rows, the other for raw ones.
    n_sets = []
    for name in ("binned_left_cat_bitsets", "raw_left_cat_bitsets"):
        table = plain_array(getattr(tree, name), name, ndim=2, kind="u")
        if table.shape[1] != _WORDS_OF_A_SET:
            return False
        n_sets.append(len(table))
    return int(categorical["bitset_idx"].max()) < min(n_sets)


def _are_after_parents(children: np.ndarray, is_inner: np.ndarray) -> bool:
    """Whether every child is in the table and after its parent.

    Then no walk from the root leaves the table or goes round in a circle. scikit-learn
    writes its trees in this order.
    """
    parents = np.flatnonzero(is_inner)
    # Boosted trees number their nodes in uint32, decision trees in int64.
    children = np.asarray(children, dtype=np.int64)
    after_parent = np.all(children > parents)
    within_table = np.all(children < len(is_inner))
    return bool(after_parent and within_table)


TREE_CHECKS = {
    Tree: check_tree,
    BaseDecisionTree: check_decision_tree,
    BaseGradientBoosting: check_boosting,
    TreePredictor: check_predictor,
    BaseHistGradientBoosting: check_histogram_boosting,
}
"""The check of each type."""
