"""Checks of the small pieces that compiled code indexes with, wherever they occur."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import sparray, spmatrix
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import OneHotEncoder

from cape.persist._numbers import plain_array, require

__all__ = ["PIECE_CHECKS"]

_FORMATS = ("csr", "csc")

_POSITIONS = {"MT19937": (("state", "pos"), 624), "Philox": (("buffer_pos",), 4)}
"""Where a generator keeps its place in a table of numbers, and the length of it."""


def check_sparse(matrix: Any) -> None:
    """Check that a sparse matrix names no row or column that it does not have.

    scipy looks at the sizes of the three arrays when a matrix is built, not at the
    positions in them.

    Parameters
    ----------
    matrix : spmatrix or sparray
        The matrix; formats other than CSR and CSC are refused.
    """
    require(
        matrix.format in _FORMATS, f"it has a sparse matrix in {matrix.format} format."
    )
    for name in ("data", "indices", "indptr"):
        plain_array(getattr(matrix, name), name, ndim=1, kind="biufc")
    matrix.check_format(full_check=True)


def check_vocabulary(vectorizer: Any) -> None:
    """Check that the words of a text encoder have positions within its columns.

    The positions become the columns of a sparse matrix, at which nobody looks again.

    Parameters
    ----------
    vectorizer : CountVectorizer or DictVectorizer
        Fitted or not.
    """
    _check_reads_text(vectorizer)
    vocabulary = getattr(vectorizer, "vocabulary_", None)
    if vocabulary is None:
        return
    positions = list(vocabulary.values())
    are_numbers = all(type(position) is int for position in positions)
    require(
        are_numbers and sorted(positions) == list(range(len(positions))),
        "it has a vocabulary with positions outside its columns.",
    )


def check_one_hot(encoder: Any) -> None:
    """Check that every category is encoded as a column of its own feature.

    The codes become the columns of a sparse matrix, at which nobody looks again.

    Parameters
    ----------
    encoder : OneHotEncoder
        Fitted or not.
    """
    if not hasattr(encoder, "categories_"):
        return
    widths = encoder._n_features_outs
    are_numbers = all(type(width) is int for width in widths)
    require(
        are_numbers and len(widths) == len(encoder.categories_),
        "it encodes categories as columns that it does not count.",
    )
    for number, width in enumerate(widths):
        codes = _codes_of_a_feature(encoder, number)
        require(
            np.all(codes >= 0) and np.all(codes < width),
            "it encodes a category as a column that does not exist.",
        )


def _codes_of_a_feature(encoder: Any, number: int) -> np.ndarray:
    """Compute the codes of all categories of a feature, as ``transform`` does."""
    categories = encoder.categories_[number]
    # Numbers are looked up by bisection, which needs them in order; NaN is last.
    if categories.dtype.kind in "biuf":
        numbers = categories[~np.isnan(categories)]
        require(np.all(numbers[1:] > numbers[:-1]), "it has categories in disorder.")
    codes = np.arange(len(categories))
    if encoder._infrequent_enabled:
        infrequent = encoder._infrequent_indices[number]
        mapping = encoder._default_to_infrequent_mappings[number]
        require(
            (infrequent is None) == (mapping is None),
            "it groups rare categories and does not say how.",
        )
        if mapping is not None:
            codes = plain_array(mapping, "rare categories", ndim=1, kind="i")
    dropped = None
    if encoder._drop_idx_after_grouping is not None:
        dropped = encoder._drop_idx_after_grouping[number]
    if dropped is not None:
        codes = codes[codes != dropped]
        codes = codes - (codes > dropped)
    return codes


def check_hasher(hasher: Any) -> None:
    """Check that text is hashed to a number of columns that can be divided by.

    Parameters
    ----------
    hasher : FeatureHasher or HashingVectorizer
    """
    _check_reads_text(hasher)
    n_columns = hasher.n_features
    require(
        type(n_columns) is int and 0 < n_columns < 2**31,
        f"it hashes text to {n_columns!r} columns.",
    )


def _check_reads_text(encoder: Any) -> None:
    """Check that an encoder reads texts, and not the files that texts name."""
    require(
        getattr(encoder, "input", "content") == "content",
        "it takes the texts of a table for names of files.",
    )


def check_spline(spline: Any) -> None:
    """Check the knots and coefficients of a spline, as its constructor does.

    Parameters
    ----------
    spline : BSpline or its inner part
    """
    inner = _inner_spline(spline)
    require(
        type(inner) is _INNER_SPLINE and type(inner.k) is int and inner.axis == 0,
        "it has a spline of another kind than scikit-learn makes.",
    )
    knots = plain_array(inner.t, "knots", ndim=1, kind="f")
    BSpline(knots, inner.c, inner.k, inner.extrapolate)


def _inner_spline(spline: Any) -> Any:
    """Return the object that holds the numbers: from scipy 1.18 on, a part of it."""
    inner = getattr(spline, "_delegate_to", None)
    return spline if inner is None else inner


_INNER_SPLINE = type(_inner_spline(BSpline([0.0, 1.0, 2.0], [0.0, 1.0], 0)))


def check_generator(generator: Any) -> None:
    """Check that a generator of random numbers is at a place within its table.

    Parameters
    ----------
    generator : RandomState or Generator
    """
    if isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        state = generator.bit_generator.state
    if state["bit_generator"] not in _POSITIONS:
        return
    keys, length = _POSITIONS[state["bit_generator"]]
    position: Any = state
    for key in keys:
        position = position[key]
    require(
        0 <= position <= length,
        "it has a generator of random numbers that reads outside its table.",
    )


PIECE_CHECKS = {
    spmatrix: check_sparse,
    sparray: check_sparse,
    CountVectorizer: check_vocabulary,
    DictVectorizer: check_vocabulary,
    OneHotEncoder: check_one_hot,
    FeatureHasher: check_hasher,
    HashingVectorizer: check_hasher,
    BSpline: check_spline,
    _INNER_SPLINE: check_spline,
    np.random.RandomState: check_generator,
    np.random.Generator: check_generator,
}
"""The check of each type."""
