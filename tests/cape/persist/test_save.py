"""What is saved comes back as it was, and files are written whole or not at all."""

import stat
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from cape import CapeClassifier, persist
from cape.quantify import QUANTIFIERS

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

sys.path.pop(0)


def assert_same_model(loaded, clf, X, z=None):
    """Compare all that two models say about a batch, to the bit."""
    assert loaded.fingerprint_ == clf.fingerprint_
    evidence = clf.evidence(X, sensitive_features=z)
    assert loaded.evidence(X, sensitive_features=z) == evidence
    assert loaded.adapt(evidence=evidence) == clf.adapt(evidence=evidence)
    for method in ("predict", "predict_proba"):
        expected = getattr(clf, method)(X, sensitive_features=z)
        result = getattr(loaded, method)(X, sensitive_features=z)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "settings",
    [
        *({"quantifier": name, "cv": 2} for name in QUANTIFIERS),
        {"pool": "resampled", "prevalences": 3, "cv": 2},
        {"scores": "folds"},
        {"scores": "refit"},
        {"small_groups": "pooled", "unknown_groups": "pooled"},
        {"cv": StratifiedKFold(2)},
    ],
    ids=str,
)
def test_models_of_many_settings_come_back(fitted, batch, path, settings):
    clf = fitted(**{"pool": "threshold", **settings})
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)
    assert repr(loaded.get_params()) == repr(clf.get_params())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_groups_share_is_written_once(path):
    random = np.random.default_rng(0)
    z = random.integers(20, size=1000)
    X = random.normal(size=(1000, 2))
    y = (X[:, 0] + random.normal(size=1000) > 0).astype(int)
    boosting = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    clf = CapeClassifier(boosting, random_state=0).fit(X, y, sensitive_features=z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, X, z)
    fold_models = {id(m) for model in loaded.models_.values() for m in model.learners}
    assert len(fold_models) == len(clf.models_[0].learners)
    with zipfile.ZipFile(path) as archive:
        schema = archive.read("schema.json").decode()
    assert schema.count("HistGradientBoostingClassifier") <= 2 * len(fold_models)


def learners():
    """All of them; those that take seconds to train are rarely tried."""
    for name in fuzz.learners():
        is_slow = name in ("tables", "boosted tables")
        yield pytest.param(name, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize("name", list(learners()))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_learners_come_back(path, name):
    clf, X = fuzz.fit(name)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, X)
    assert type(loaded.estimator) is type(clf.estimator)


@pytest.mark.filterwarnings("ignore::cape.rules._adaptation.AdaptationWarning")
def test_resampled_learners_come_back(train, batch, path):
    learner = KNeighborsClassifier(algorithm="brute")
    clf = CapeClassifier(learner, pool="resampled", cv=2, prevalences=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


def test_a_fitted_model_that_was_given_comes_back(train, batch, path):
    learner = LogisticRegression().fit(train.X, train.y)
    clf = CapeClassifier(learner, pool="threshold", cv="prefit", random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


def test_groups_and_labels_of_several_types_come_back(train, batch, path):
    groups = pd.DataFrame(
        {"race": np.where(train.z, "a", "b"), "old": train.z == 1, "n": train.z * 1.5}
    )
    y = np.where(train.y == 1, "yes", "no")
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, y, sensitive_features=groups)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, train.X, groups)
    assert loaded.groups_ == [("a", True, 1.5), ("b", False, 0.0)]
    assert list(loaded.models_) == loaded.groups_ == clf.groups_
    for value, type_ in zip(loaded.groups_[0], (str, bool, float), strict=True):
        assert type(value) is type_
    assert set(loaded.predict(train.X, sensitive_features=groups)) == {"no", "yes"}


def test_a_model_can_be_saved_again_after_loading(fitted, batch, path):
    clf = fitted(pool="threshold")
    before = clf.predict_proba(batch.X, sensitive_features=batch.z)
    models = clf.models_
    once = persist.load(persist.save(clf, path))
    twice = persist.load(persist.save(once, path, overwrite=True))
    assert_same_model(twice, clf, batch.X, batch.z)
    # Saving has not changed the model.
    assert clf.models_ is models and list(models) == clf.groups_
    after = clf.predict_proba(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(after, before)


def test_a_file_is_replaced_on_request_only(fitted, path):
    clf = fitted(pool="threshold")
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        persist.save(clf, path)
    assert path.read_text() == "precious"
    assert persist.save(clf, str(path), overwrite=True) == path
    assert persist.load(str(path)).fingerprint_ == clf.fingerprint_
    # A model is data; nobody can run it.
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111


def test_a_failure_while_writing_leaves_the_old_file(fitted, path, monkeypatch):
    clf = fitted(pool="threshold")
    path.write_text("precious")

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        persist.save(clf, path, overwrite=True)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "precious"


def test_a_model_that_is_not_fitted_is_refused(path):
    with pytest.raises(NotFittedError):
        persist.save(CapeClassifier(), path)
    assert not path.exists()


def test_a_column_takes_less_than_2_kb_in_a_file(path):
    """Numbers and texts, and a column of a thousand levels, for two groups."""
    random = np.random.default_rng(0)
    n = 2000
    table = pd.DataFrame(random.normal(100, 15, size=(n, 20)))
    for number in range(10):
        table[f"text {number}"] = random.choice(list("abcdefghijkl"), n)
    table["name"] = [f"person {i // 2}" for i in range(n)]
    table.columns = [f"a column {name}" for name in table]
    y = (table.iloc[:, 0] + random.normal(0, 10, n) > 105).astype(int).to_numpy()
    sizes = []
    for drift in ("cautious", "ignore"):
        numbers = make_column_transformer(("passthrough", list(table)[:2]))
        learner = make_pipeline(numbers, LogisticRegression())
        clf = CapeClassifier(learner, cv=2, drift=drift, random_state=0)
        clf.fit(table, y, sensitive_features=np.arange(n) % 2)
        persist.save(clf, path, overwrite=True)
        sizes.append(path.stat().st_size)
    assert 0 < sizes[0] - sizes[1] < 2000 * table.shape[1]


def test_a_default_model_of_the_oldest_versions_is_read_and_says_the_same():
    path = Path(__file__).with_name("oldest.cape")
    with warnings.catch_warnings():
        # On the oldest versions there is nothing to warn of.
        warnings.filterwarnings("ignore", message=".*was saved with")
        frozen = persist.load(path)
    details = persist.read_header(path)["details"]
    probabilities = frozen.predict_proba(pd.DataFrame(details["rows"]))[:, 1]
    np.testing.assert_allclose(probabilities, details["probabilities"], atol=1e-6)


def test_a_frozen_model_comes_back_with_its_adaptation(fitted, batch, path, forge):
    clf = fitted(pool="threshold")
    frozen = clf.freeze(clf.adapt(batch.X, sensitive_features=batch.z))
    loaded = persist.load(persist.save(frozen, path))
    assert loaded.adaptation == frozen.adaptation
    one_row = {"X": batch.X[:1], "sensitive_features": batch.z[:1]}
    for method in ("predict", "predict_proba"):
        expected = getattr(frozen, method)(**one_row)
        np.testing.assert_array_equal(getattr(loaded, method)(**one_row), expected)
    forge(path, parts={"adaptation.json": b"{}"})
    with pytest.raises(ValueError, match=r"model\.cape.*format"):
        persist.load(path)
