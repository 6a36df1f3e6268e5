"""Packing is undone exactly, and a file that lies about its trees is refused."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer

from cape.persist._packing import _pack_trees, _unpack_trees, packed, unpack


@pytest.mark.parametrize("categorical", [None, [1]])
def test_trees_come_back_as_they_were(categorical):
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), random.integers(0, 6, 300)])
    y = X[:, 0] + (X[:, 1] == 3) + random.normal(size=300) > 0
    model = HistGradientBoostingClassifier(
        max_iter=4, categorical_features=categorical, random_state=0
    ).fit(X, y)
    before = model.predict_proba(X)
    with packed([model]):
        assert isinstance(model._predictors, tuple) and len(model._predictors) == 4
        content = model._predictors
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model._predictors = content
    unpack([model])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_vocabulary_comes_back_as_it_was_even_after_an_error():
    encoder = TfidfVectorizer().fit(["the cat", "the dog sat"])
    words = dict(encoder.vocabulary_)
    with pytest.raises(RuntimeError), packed({"a": encoder}):
        content = encoder.vocabulary_
        raise RuntimeError
    assert encoder.vocabulary_ == words
    encoder.vocabulary_ = content
    unpack({"a": encoder})
    assert encoder.vocabulary_ == words and all(
        type(place) is int for place in encoder.vocabulary_.values()
    )


def test_trees_of_another_length_than_they_say_are_refused():
    X = np.arange(100.0)[:, None]
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, X[:, 0] > 50)
    sizes, nodes, binned, raw = _pack_trees(model._predictors)
    with pytest.raises(ValueError, match="boosted trees of another length"):
        _unpack_trees((sizes, nodes[:-1], binned, raw))
    assert _unpack_trees(_pack_trees([])) == []
