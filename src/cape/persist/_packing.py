"""What is left out of a model while it is written, and what is written as arrays.

skops writes a file for every array and an entry for every item of a dict. A boosted
model of a thousand trees is then three thousand files, and takes ten times as long to
load as the same numbers in four arrays. So the trees of a model are written one after
the other in common arrays, and the vocabulary of a text encoder as one array of words
and one of positions. The numbers are the same; a test compares a packed model with its
plain twin.

skops also writes a part once for every place that refers to it. So learners, encoders
and cells of columns, which groups share, are written in one list, and in their places
their positions in that list. So are the histograms and rates of each group, since 500
groups have 7,000 arrays: in the list they are one after the other in one array.

Functions are not written at all: those that scikit-learn and skrub keep in a fitted
model are needed in ``fit`` alone, or are always the same and put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from sklearn._loss import HalfBinomialLoss
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import FunctionTransformer, SplineTransformer
from sklearn.utils import check_array

from cape.evidence._histogram import ScoreHistogram
from cape.training._group_model import (
    GroupModel,
    MemberRates,
    Pool,
    ThresholdPool,
    TrainedColumns,
)

_Arrays = tuple[np.ndarray, ...]

_LEFT_OUT = (
    "n_jobs",  # the machine that loads has other processors
    "scorer_",  # functions and generators that fit alone calls
    "_scorer",
    "_curve_scorer",
    "_feature_subsample_rng",
)
"""Attributes of any part of a model that are None in a file."""

_WORDS_OF_A_SET = 8
"""A set of categories is 256 bits, in integers of 32."""

_CHECK_NUMBERS = {"dtype": [np.float64], "ensure_all_finite": False}
"""How boosting with categories checks the other columns, see `_pack_check`."""


@contextmanager
def packed(model: Any) -> Iterator[tuple[Any, ...]]:
    """Replace attributes that are not written as they are, then put them back.

    Parameters
    ----------
    model : object
        The model, changed in place and restored after the block, also after an error.

    Yields
    ------
    tuple
        The parts that stand in the model as positions, for `unpack`.
    """
    replaced = []
    shared: dict[int, tuple[int, Any]] = {}
    # A list: the walk must be over before an attribute changes. Within the try, so that
    # an error while packing is undone too.
    try:
        for part in list(parts_of(model)):
            for attribute, value in _replacements(part, shared).items():
                replaced.append((part, attribute, getattr(part, attribute)))
                # Also of a frozen record.
                object.__setattr__(part, attribute, value)
        yield _join([part for _, part in shared.values()])
    finally:
        for part, attribute, value in replaced:
            object.__setattr__(part, attribute, value)


def unpack(model: Any, joined: tuple[Any, ...]) -> None:
    """Make what `packed` wrote as arrays what it was.

    Parameters
    ----------
    model : object
        A model that was written within `packed`; it is changed in place.
    joined : tuple
        The parts that stand in the model as positions.
    """
    shared = _split(*joined)
    for part in list(parts_of([model, shared])):
        attributes = getattr(part, "__dict__", {})
        # A file that cape did not write may have them.
        for name in attributes.keys() & _LEFT_OUT:
            setattr(part, name, None)
        for name in attributes.keys() & _PACKINGS.keys():
            cls, _, unpack_value = _PACKINGS[name]
            if isinstance(part, cls) and isinstance(attributes[name], tuple):
                setattr(part, name, unpack_value(attributes[name]))
        for name in _shared_attributes(part):
            positions = attributes[name]
            value: Any = None
            if isinstance(positions, list):
                value = [shared[position] for position in positions]
            elif positions is not None:
                value = shared[positions]
            object.__setattr__(part, name, value)


def parts_of(thing: Any) -> Iterator[Any]:
    """Walk over an object and all objects within it that have attributes, each once.

    Parameters
    ----------
    thing : object
        A model, or a list or dict of models.

    Yields
    ------
    object

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.persist._packing import parts_of
    >>> list(parts_of([{"a": (1, LogisticRegression())}]))
    [LogisticRegression()]
    """
    # By identity, since models can refer to the same object twice, or to themselves.
    visited: set[int] = set()
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if id(part) in visited or isinstance(part, (str, type, ModuleType)):
            continue
        visited.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            waiting.extend(part)
        # Gradient boosting keeps its trees in an array of objects.
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(part.ravel().tolist())
        # Not in place of the items: an object can be a dict and have attributes too.
        if hasattr(part, "__dict__"):
            yield part
            waiting.extend(vars(part).values())


def _replacements(part: Any, shared: dict[int, tuple[int, Any]]) -> dict[str, Any]:
    """What is written in the place of some attributes of a part.

    What groups share is added to a dict from identity to position and part.
    """
    attributes = vars(part)
    replacements = dict.fromkeys(attributes.keys() & _LEFT_OUT)
    # skrub selects columns by functions, in fit alone.
    if {"cols", "_columns"} <= attributes.keys():
        replacements["cols"] = attributes["_columns"]
    for name in attributes.keys() & _PACKINGS.keys():
        cls, pack, _ = _PACKINGS[name]
        if isinstance(part, cls):
            replacements[name] = pack(attributes[name])
    for name in _shared_attributes(part):
        value = attributes[name]
        if isinstance(value, list):
            replacements[name] = [_position(item, shared) for item in value]
        elif value is not None:
            replacements[name] = _position(value, shared)
    return replacements


def _shared_attributes(part: Any) -> list[str]:
    """List the attributes of a part in whose place positions are written."""
    of_part = [names for cls, names in _SHARED.items() if isinstance(part, cls)]
    return list(chain.from_iterable(of_part))


def _position(part: Any, shared: dict[int, tuple[int, Any]]) -> int:
    """Add a part unless it is there, and return its position."""
    position, _ = shared.setdefault(id(part), (len(shared), part))
    return position


def _join(parts: list[Any]) -> tuple[Any, ...]:
    """Concatenate the arrays of one axis among some parts, by type.

    Returns
    -------
    others : list
        The parts, with None in the place of arrays.
    arrays : list of tuples of ndarray
        Positions and sizes of the arrays of a type, and their numbers.
    """
    others = list(parts)
    of_types: dict[Any, list[int]] = {}
    for position, part in enumerate(parts):
        if type(part) is np.ndarray and part.ndim == 1 and part.dtype.kind in "if":
            of_types.setdefault(part.dtype, []).append(position)
            others[position] = None
    arrays = []
    for positions in of_types.values():
        of_type = [parts[position] for position in positions]
        sizes = [len(array) for array in of_type]
        joined = np.concatenate(of_type)
        arrays.append((np.array(positions), np.array(sizes), joined))
    return others, arrays


def _split(parts: list[Any], arrays: list[_Arrays]) -> list[Any]:
    """Undo `_join`."""
    parts = list(parts)
    for positions, sizes, joined in arrays:
        contents = np.split(joined, np.cumsum(sizes)[:-1])
        for position, content in zip(positions.tolist(), contents, strict=True):
            parts[position] = content
    return parts


def _pack_vocabulary(vocabulary: dict[str, int]) -> _Arrays:
    """Turn a dict into its keys and its values."""
    positions = np.array(list(vocabulary.values()), dtype=np.int64)
    return np.array(list(vocabulary), dtype=np.str_), positions


def _unpack_vocabulary(arrays: _Arrays) -> dict[str, int]:
    """Make the dict again, with Python's own integers as before."""
    words, positions = arrays
    return dict(zip(words.tolist(), positions.tolist(), strict=True))


def _pack_objects(array: np.ndarray) -> tuple[Any, ...]:
    """Take the items of an array of objects of one column."""
    return tuple(array.ravel())


def _unpack_objects(items: tuple[Any, ...]) -> np.ndarray:
    array = np.empty((len(items), 1), dtype=object)
    array[:, 0] = items
    return array


def _pack_splines(splines: list[BSpline]) -> tuple[Any, ...]:
    """Take the numbers of splines; each keeps a function beside them."""
    return tuple(
        (spline.t, spline.c, spline.k, spline.extrapolate) for spline in splines
    )


def _unpack_splines(numbers: tuple[Any, ...]) -> list[BSpline]:
    return [BSpline(*parameters) for parameters in numbers]


def _pack_check(function: Any) -> Any:
    """Leave out the check of a table that boosting with categories keeps.

    It is a call of ``check_array``, whose parameters are the same in every model.
    """
    is_known = (
        isinstance(function, partial)
        and function.func is check_array
        and function.keywords == _CHECK_NUMBERS
    )
    return () if is_known else function


def _unpack_check(nothing: tuple[()]) -> partial:
    return partial(check_array, **_CHECK_NUMBERS)


def _pack_loss(loss: Any) -> Any:
    """Leave out the loss of two classes, whose module has no lasting name."""
    return () if type(loss) is HalfBinomialLoss else loss


def _unpack_loss(nothing: tuple[()]) -> HalfBinomialLoss:
    return HalfBinomialLoss()


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
    contents = []
    for tree in chain.from_iterable(iterations):
        # A tree without categories has tables without rows, and may have none of the
        # columns either.
        binned = tree.binned_left_cat_bitsets.reshape(-1, _WORDS_OF_A_SET)
        raw = tree.raw_left_cat_bitsets.reshape(-1, _WORDS_OF_A_SET)
        contents.append((tree.nodes, binned, raw))
        sizes.append([len(tree.nodes), len(binned), len(raw)])
    # There is nothing to concatenate, and no type that it would have.
    if not sizes:
        return (np.empty((0, 3), dtype=np.int64),)
    joined = [np.concatenate(arrays) for arrays in zip(*contents, strict=True)]
    return (np.array(sizes), *joined)


def _unpack_trees(arrays: _Arrays) -> list[list[Any]]:
    """Cut the arrays of `_pack_trees` into trees again."""
    sizes, *joined = arrays
    if len(sizes) == 0:
        return []
    pieces = []
    for content, lengths in zip(joined, sizes.T, strict=True):
        pieces.append(np.split(content, np.cumsum(lengths)[:-1]))
    iterations = []
    for tree in zip(*pieces, strict=True):
        # scikit-learn reads the arrays by pointers, without strides.
        contiguous = [np.ascontiguousarray(array) for array in tree]
        iterations.append([TreePredictor(*contiguous)])
    return iterations


_BOOSTING = (GradientBoostingClassifier, HistGradientBoostingClassifier)

_PACKINGS: dict[str, tuple[Any, Callable[..., Any], Callable[..., Any]]] = {
    "_loss": (_BOOSTING, _pack_loss, _unpack_loss),
    "_predictors": (HistGradientBoostingClassifier, _pack_trees, _unpack_trees),
    "bsplines_": (SplineTransformer, _pack_splines, _unpack_splines),
    "estimators_": (GradientBoostingClassifier, _pack_objects, _unpack_objects),
    "func": (FunctionTransformer, _pack_check, _unpack_check),
    "vocabulary_": (CountVectorizer, _pack_vocabulary, _unpack_vocabulary),
}
"""The classes that have an attribute, and how a tuple is made of it and back."""

_SHARED: dict[type, tuple[str, ...]] = {
    GroupModel: ("scoring_models", "transformer"),
    MemberRates: tuple(field.name for field in fields(MemberRates)),
    Pool: ("models", "thetas"),
    ScoreHistogram: ("edges", "counts", "sums"),
    ThresholdPool: ("cuts",),
    TrainedColumns: ("cells", "positives", "negatives"),
}
"""Attributes in whose place positions are written, of parts of a class."""
