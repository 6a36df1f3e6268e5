"""Packing is undone exactly, and functions and numbers of processors stay behind."""

import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from cape import CapeClassifier, persist
from cape.persist._packing import packed, parts_of, unpack


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), random.integers(0, 6, 300)])
    y = X[:, 0] + (X[:, 1] == 3) + random.normal(size=300) > 0
    return X, y


MODELS = {
    "trees": HistGradientBoostingClassifier(max_iter=4, random_state=0),
    "categories": HistGradientBoostingClassifier(
        max_iter=4, categorical_features=[1], random_state=0
    ),
    "boosting": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "splines": make_pipeline(SplineTransformer(), LogisticRegression()),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_packed_model_predicts_as_its_plain_twin(rows, name):
    """The twin is written by skops as it is, with all that it holds."""
    X, y = rows
    model = MODELS[name].fit(X, y)
    expected = model.predict_proba(X)
    content = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=content)
    plain = skops.io.loads(content, trusted=types)
    np.testing.assert_array_equal(plain.predict_proba(X), expected)
    with packed({"deep": [model]}):
        content = skops.io.dumps(model)
    assert b"FunctionNode" not in content and b"PartialNode" not in content
    types = skops.io.get_untrusted_types(data=content)
    unpacked = skops.io.loads(content, trusted=types)
    unpack(unpacked, ([], []))
    np.testing.assert_array_equal(unpacked.predict_proba(X), expected)
    # The model itself is as it was.
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_more_trees_do_not_make_more_files(rows, path):
    n_parts = []
    for max_iter in (4, 9):
        learner = HistGradientBoostingClassifier(max_iter=max_iter)
        clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
        persist.save(clf.fit(*rows), path, overwrite=True)
        with zipfile.ZipFile(path) as archive:
            n_parts.append(len(archive.namelist()))
    assert n_parts[0] == n_parts[1]


def test_a_vocabulary_comes_back_even_after_an_error():
    encoder = TfidfVectorizer().fit(["the cat", "the dog sat"])
    vocabulary = dict(encoder.vocabulary_)
    with pytest.raises(RuntimeError), packed({"a": encoder}):
        arrays = encoder.vocabulary_
        raise RuntimeError
    assert encoder.vocabulary_ == vocabulary
    encoder.vocabulary_ = arrays
    unpack({"a": encoder}, ([], []))
    assert encoder.vocabulary_ == vocabulary
    assert {type(position) for position in encoder.vocabulary_.values()} == {int}


def test_the_number_of_processors_is_not_stored(rows, path, forge):
    learner = RandomForestClassifier(2, n_jobs=3, random_state=0)
    clf = CapeClassifier(learner, pool="threshold", cv=2, n_jobs=1, random_state=0)
    persist.save(clf.fit(*rows), path)
    assert clf.n_jobs == 1 and clf.estimator.n_jobs == 3

    def jobs(model):
        parts = parts_of(model)
        return {part.n_jobs for part in parts if hasattr(part, "n_jobs")}

    assert jobs(clf) == {1, 3}
    assert jobs(persist.load(path)) == {None}
    # Neither is it obeyed, if somebody puts it there.

    def obey(schema):
        entry = schema["content"]["content"]["n_jobs"]
        assert entry["content"] == "null"
        entry.update({"content": "12", "__id__": 1})

    forge(path, schema=obey)
    assert jobs(persist.load(path)) == {None}
