"""Packing is undone exactly, and a file that lies about its trees is refused."""

import io
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from cape import CapeClassifier, persist
from cape.persist import TRUSTED
from cape.persist._packing import (
    _pack_trees,
    _pack_vocabulary,
    _unpack_trees,
    _unpack_vocabulary,
    packed,
    unpack,
)
from cape.persist._skops import _as_skops

FIELDS = ("nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets")


def boosted(categorical=None, max_iter=4):
    """A boosted model, and the rows it was fitted on."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), random.integers(0, 6, 300)])
    y = X[:, 0] + (X[:, 1] == 3) + random.normal(size=300) > 0
    model = HistGradientBoostingClassifier(
        max_iter=max_iter, categorical_features=categorical, random_state=0
    )
    return model.fit(X, y), X


@pytest.mark.parametrize("categorical", [None, [1]])
def test_trees_come_back_as_they_were(categorical):
    model, _ = boosted(categorical)
    unpacked = _unpack_trees(None, _pack_trees(model._predictors))
    assert len(unpacked) == len(model._predictors)
    for [tree], [expected] in zip(unpacked, model._predictors, strict=True):
        for field in FIELDS:
            result = getattr(tree, field)
            assert result.flags.c_contiguous
            assert result.dtype == getattr(expected, field).dtype
            np.testing.assert_array_equal(result, getattr(expected, field))


@pytest.mark.parametrize("categorical", [None, [1]])
def test_a_packed_model_predicts_as_its_plain_twin(categorical):
    """The twin is written by skops, a file for every array."""
    model, X = boosted(categorical)
    plain = skops.io.loads(skops.io.dumps(model), trusted=sorted(TRUSTED))
    with packed(model):
        content = _as_skops(model)
    quick = skops.io.loads(content, trusted=sorted(TRUSTED))
    assert isinstance(quick._predictors, tuple)
    unpack(quick)
    expected = plain.predict_proba(X)
    np.testing.assert_array_equal(quick.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_more_trees_do_not_make_more_files():
    n_files = []
    for max_iter in (4, 9):
        model, _ = boosted(max_iter=max_iter)
        with packed(model):
            content = _as_skops(model)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            n_files.append(len(archive.namelist()))
    assert n_files[0] == n_files[1]


def test_a_model_is_as_it_was_after_packing():
    model, X = boosted()
    before = model.predict_proba(X)
    trees = model._predictors
    with packed({"deep": [model]}):
        assert isinstance(model._predictors, tuple)
        assert len(model._predictors) == 4
    assert model._predictors is trees
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("encoder", [CountVectorizer(), TfidfVectorizer()])
def test_a_vocabulary_comes_back_even_after_an_error(encoder):
    encoder.fit(["the cat", "the dog sat"])
    vocabulary = dict(encoder.vocabulary_)
    with pytest.raises(RuntimeError), packed({"a": encoder}):
        arrays = encoder.vocabulary_
        raise RuntimeError
    assert encoder.vocabulary_ == vocabulary
    encoder.vocabulary_ = arrays
    unpack({"a": encoder})
    assert encoder.vocabulary_ == vocabulary


# numpy's texts end before trailing zeros, which no tokenizer leaves in a word.
words = st.text(st.characters(exclude_characters="\0"), max_size=6)


@given(st.dictionaries(words, st.integers(0, 2**40)))
def test_any_vocabulary_comes_back_in_its_order(vocabulary):
    unpacked = _unpack_vocabulary(None, _pack_vocabulary(vocabulary))
    assert list(unpacked.items()) == list(vocabulary.items())
    for word, position in unpacked.items():
        assert type(word) is str
        assert type(position) is int


def test_a_vocabulary_of_other_lengths_is_refused():
    words, positions = _pack_vocabulary({"a": 0, "b": 1})
    with pytest.raises(ValueError, match="shorter"):
        _unpack_vocabulary(None, (words, positions[:1]))


@pytest.mark.parametrize("place", [1, 2, 3])
def test_trees_of_another_length_than_they_say_are_refused(place):
    model, _ = boosted([1])
    arrays = list(_pack_trees(model._predictors))
    arrays[place] = arrays[place][:-1]
    with pytest.raises(ValueError, match="boosted trees have another length"):
        _unpack_trees(None, tuple(arrays))


def test_a_model_without_trees_comes_back():
    assert _unpack_trees(None, _pack_trees([])) == []


def test_parts_without_a_packing_are_left_alone():
    class Other:
        vocabulary_ = None

    other = Other()
    other.vocabulary_ = {"a": 0}
    other._predictors = [[1]]
    with packed([other]):
        assert other.vocabulary_ == {"a": 0}
    unpack([other])
    assert other._predictors == [[1]]


def test_an_encoder_that_is_not_fitted_is_left_alone():
    encoder = CountVectorizer()
    with packed([encoder]):
        assert not hasattr(encoder, "vocabulary_")
    unpack([encoder])
    assert not hasattr(encoder, "vocabulary_")


def test_a_model_that_shares_its_learner_is_packed_once(train, path):
    """Folds as scores: the same trees are in the scorer and in the pool."""
    learner = HistGradientBoostingClassifier(max_iter=2)
    clf = CapeClassifier(
        learner, pool="threshold", scores="folds", cv=2, random_state=0
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    np.testing.assert_array_equal(
        loaded.predict(train.X, sensitive_features=train.z),
        clf.predict(train.X, sensitive_features=train.z),
    )
