"""Trees and vocabularies as a few arrays, while a model is written.

skops writes a file for every array and an entry for every item of a dict. A boosted
model of a thousand trees is then three thousand files, and takes ten times as long to
load as the same numbers in four arrays. So the trees of a model are written one after
the other in common arrays, and the vocabulary of a text encoder as one array of words
and one of positions. The numbers are the same; a test compares a packed model with its
plain twin. The tree of a neighbour model is left out and built again from its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors._base import NeighborsBase

from cape.persist._damage import Unsound
from cape.persist._parts import parts_of
from cape.persist._vectors import neighbour_tree

__all__ = ["packed", "unpack"]

_Arrays = tuple[np.ndarray, ...]

_WORDS_OF_A_SET = 8
"""A set of categories is 256 bits, in integers of 32."""


class _Packing(NamedTuple):
    """How an attribute of a class is packed and unpacked."""

    cls: type
    attribute: str
    types: tuple[type, ...]
    """Types of a value that is packed; another value stays as it is."""
    pack: Callable[[Any], _Arrays]
    unpack: Callable[[Any, _Arrays], Any]
    """Takes the object of the class, and what ``pack`` returned."""


class _Replaced(NamedTuple):
    """An attribute of a part of the model, with the value to be put back."""

    part: Any
    attribute: str
    value: Any


@contextmanager
def packed(model: Any) -> Iterator[None]:
    """Replace trees and vocabularies by arrays during a block, then put them back.

    Parameters
    ----------
    model : object
        The model, changed in place and restored after the block, also after an error.
    """
    replaced = []
    # Within the try, so that an error while packing is undone too.
    try:
        for part, packing in _packable_parts(model):
            value = getattr(part, packing.attribute, None)
            if isinstance(value, packing.types):
                replaced.append(_Replaced(part, packing.attribute, value))
                setattr(part, packing.attribute, packing.pack(value))
        yield
    finally:
        for part, attribute, value in replaced:
            setattr(part, attribute, value)


def unpack(model: Any) -> None:
    """Make trees and vocabularies again of the arrays that `packed` made of them.

    Parameters
    ----------
    model : object
        A model that was written within `packed`; it is changed in place.

    Raises
    ------
    Unsound
        If the arrays have other lengths than they claim.
    """
    for part, packing in _packable_parts(model):
        arrays = getattr(part, packing.attribute, None)
        if isinstance(arrays, tuple):
            setattr(part, packing.attribute, packing.unpack(part, arrays))


def _packable_parts(model: Any) -> list[tuple[Any, _Packing]]:
    """List the parts of a model that have a packing."""
    # A list and not a generator: the walk must be over before an attribute changes.
    parts = []
    for part in parts_of(model):
        for packing in _PACKINGS:
            if isinstance(part, packing.cls):
                parts.append((part, packing))
    return parts


def _pack_vocabulary(vocabulary: dict[str, int]) -> _Arrays:
    """Turn a dict into its keys and its values."""
    words = list(vocabulary)
    positions = list(vocabulary.values())
    return np.array(words, dtype=np.str_), np.array(positions, dtype=np.int64)


def _unpack_vocabulary(part: Any, arrays: _Arrays) -> dict[str, int]:
    """Make the dict again, with Python's own integers as before."""
    words, positions = arrays
    return dict(zip(words.tolist(), positions.tolist(), strict=True))


def _pack_trees(iterations: list[list[Any]]) -> _Arrays:
    """Concatenate the trees of a boosted model.

    Parameters
    ----------
    iterations : list of list of TreePredictor
        The trees of each iteration of boosting; one tree, as there are two classes.

    Returns
    -------
    sizes : ndarray of shape (n_trees, 3)
        How many rows of each of the following arrays belong to a tree. If there is no
        tree, it is the only array.
    nodes, binned, raw : ndarray
        The nodes and the two tables of category sets of all trees.
    """
    sizes = []
    nodes = []
    binned = []
    raw = []
    for tree in chain.from_iterable(iterations):
        # A tree without categories has tables without rows, and may have none of the
        # columns either.
        tree_binned = tree.binned_left_cat_bitsets.reshape(-1, _WORDS_OF_A_SET)
        tree_raw = tree.raw_left_cat_bitsets.reshape(-1, _WORDS_OF_A_SET)
        nodes.append(tree.nodes)
        binned.append(tree_binned)
        raw.append(tree_raw)
        sizes.append([len(tree.nodes), len(tree_binned), len(tree_raw)])
    # There is nothing to concatenate, and no type that it would have.
    if not sizes:
        no_sizes = np.empty((0, 3), dtype=np.int64)
        return (no_sizes,)
    return (
        np.array(sizes),
        np.concatenate(nodes),
        np.concatenate(binned),
        np.concatenate(raw),
    )


def _unpack_trees(part: Any, arrays: _Arrays) -> list[list[Any]]:
    """Cut the arrays of `_pack_trees` into trees again."""
    sizes, *contents = arrays
    if len(sizes) == 0:
        return []
    pieces = []
    for content, lengths in zip(contents, sizes.T, strict=True):
        # np.split would cut a shorter array without an error.
        if len(content) != lengths.sum():
            raise Unsound("its boosted trees have another length than they say.")
        starts = np.cumsum(lengths)[:-1]
        pieces.append(np.split(content, starts))
    iterations = []
    for nodes, binned, raw in zip(*pieces, strict=True):
        # scikit-learn reads the arrays by pointers, without strides.
        tree = TreePredictor(
            np.ascontiguousarray(nodes),
            np.ascontiguousarray(binned),
            np.ascontiguousarray(raw),
        )
        iterations.append([tree])
    return iterations


def _leave_out(tree: Any) -> _Arrays:
    """Write nothing of a tree that can be built again."""
    return ()


def _build_neighbour_tree(part: Any, arrays: _Arrays) -> Any:
    """Build the tree that `_leave_out` left out."""
    return neighbour_tree(part)


_PACKINGS = (
    _Packing(
        CountVectorizer, "vocabulary_", (dict,), _pack_vocabulary, _unpack_vocabulary
    ),
    _Packing(
        HistGradientBoostingClassifier,
        "_predictors",
        (list,),
        _pack_trees,
        _unpack_trees,
    ),
    _Packing(
        NeighborsBase,
        "_tree",
        (KDTree, BallTree),
        _leave_out,
        _build_neighbour_tree,
    ),
)
