"""A check that the trees of a loaded model do not point outside their tables.

scikit-learn follows the nodes of a tree without looking at bounds, so that a crafted
file could make it read foreign memory. skops vouches for the types in a file, not for
the numbers in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import Tree

from cape.persist._parts import parts_of

__all__ = ["check_trees"]


def check_trees(thing: Any) -> None:
    """Raise if a tree within an object points outside its own table or its columns.

    Parameters
    ----------
    thing : object
        A model, or a list or dict of models.

    Raises
    ------
    ValueError
        If a child of a node is not in the table or not after its parent, or if a node
        asks for a column that the table of features does not have.

    Examples
    --------
    >>> from cape.persist._trees import check_trees
    >>> check_trees(clf)
    """
    for part in parts_of(thing):
        if isinstance(part, TreePredictor):
            _check_boosted_tree(part)
        elif isinstance(part, Tree):
            _check_tree(part)
        elif hasattr(part, "n_features_in_"):
            _check_columns(part)


def _check_boosted_tree(tree: Any) -> None:
    """Check the nodes of a tree of histogram gradient boosting."""
    is_inner = tree.nodes["is_leaf"] == 0
    inner = tree.nodes[is_inner]
    # A walk begins at the first node without asking whether there is one.
    sound = (
        len(is_inner) > 0
        and _are_after_parents(inner["left"], is_inner)
        and _are_after_parents(inner["right"], is_inner)
        and np.all(inner["feature_idx"] >= 0)
        and _has_sets_of_categories(tree, inner)
    )
    if not sound:
        raise _unsound("a boosted tree whose nodes point outside the tree")


def _has_sets_of_categories(tree: Any, inner: np.ndarray) -> bool:
    """Whether there is a set of categories for every node that splits by one."""
    categorical = inner[inner["is_categorical"] != 0]
    if len(categorical) == 0:
        return True
    # A walk uses one table for binned rows, the other for raw ones.
    n_binned = len(tree.binned_left_cat_bitsets)
    n_raw = len(tree.raw_left_cat_bitsets)
    n_sets = min(n_binned, n_raw)
    return int(categorical["bitset_idx"].max()) < n_sets


def _check_tree(tree: Any) -> None:
    """Check the nodes of a decision tree, which forests are made of too."""
    # -1 is scikit-learn's TREE_LEAF.
    is_inner = tree.children_left != -1
    column = tree.feature[is_inner]
    sound = (
        _are_after_parents(tree.children_left[is_inner], is_inner)
        and _are_after_parents(tree.children_right[is_inner], is_inner)
        and np.all(column >= 0)
        and np.all(column < tree.n_features)
    )
    if not sound:
        raise _unsound("a tree whose nodes point outside the tree")


def _check_columns(estimator: Any) -> None:
    """Check that no tree asks for a column beyond ``n_features_in_``.

    scikit-learn compares ``n_features_in_`` with the columns of every table that it is
    given, but not with the columns that the trees ask for.
    """
    n_columns = 0
    for iteration in getattr(estimator, "_predictors", []):
        for tree in iteration:
            columns = tree.nodes["feature_idx"]
            last_column = int(columns.max(initial=0))
            n_columns = max(n_columns, last_column + 1)
    if hasattr(estimator, "tree_"):
        n_columns = max(n_columns, estimator.tree_.n_features)
    if n_columns > estimator.n_features_in_:
        raise _unsound("a tree that points outside the columns of a table")


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


def _unsound(what: str) -> ValueError:
    """Make the error for a file whose trees cannot be walked safely."""
    return ValueError(f"path must be a sound model file, got {what}.")
