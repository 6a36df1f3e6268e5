"""What is saved comes back as it was, and files are written whole or not at all."""

import stat
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cape
from cape import CapeClassifier, persist
from cape.quantify import QUANTIFIERS


def assert_same_model(loaded, clf, X, z=None):
    """Compare all that two models say about a batch, to the bit."""
    assert repr(loaded.get_params()) == repr(clf.get_params())
    assert loaded.fingerprint_ == clf.fingerprint_
    evidence = clf.evidence(X, sensitive_features=z)
    assert loaded.evidence(X, sensitive_features=z) == evidence
    assert loaded.adapt(evidence=evidence) == clf.adapt(evidence=evidence)
    for method in ("predict", "predict_proba"):
        expected = getattr(clf, method)(X, sensitive_features=z)
        result = getattr(loaded, method)(X, sensitive_features=z)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("quantifier", QUANTIFIERS)
@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_every_quantifier_and_pool_comes_back(fitted, batch, path, quantifier, pool):
    clf = fitted(pool=pool, quantifier=quantifier, prevalences=3, cv=2)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)
    assert loaded._compute_fingerprint() == clf.fingerprint_


@pytest.mark.parametrize(
    "settings",
    [
        {"scores": "folds"},
        {"scores": "refit"},
        {"small_groups": "pooled", "unknown_groups": "pooled"},
        {"prevalences": [0.25, 0.5, 0.75]},
        {"cv": StratifiedKFold(2)},
    ],
    ids=str,
)
def test_models_of_many_settings_come_back(fitted, batch, path, settings):
    clf = fitted(pool="threshold", **settings)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


EITHER = [("tree", DecisionTreeClassifier(max_depth=3)), ("bayes", GaussianNB())]


@pytest.mark.parametrize(
    "learner",
    [
        HistGradientBoostingClassifier(max_iter=3),
        RandomForestClassifier(3),
        GradientBoostingClassifier(n_estimators=3),
        DecisionTreeClassifier(max_depth=3),
        CalibratedClassifierCV(LogisticRegression(), cv=2),
        CalibratedClassifierCV(SVC(), cv=2),
        make_pipeline(
            StandardScaler(),
            MLPClassifier((4,), solver="sgd", max_iter=60, learning_rate_init=0.1),
        ),
        AdaBoostClassifier(n_estimators=3),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2, scoring="roc_auc"),
        TunedThresholdClassifierCV(LogisticRegression(), cv=2, thresholds=3),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_learners_of_scikit_learn_come_back(train, batch, path, learner):
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize(
    "learner",
    [
        StackingClassifier(EITHER, cv=2),
        VotingClassifier(EITHER, voting="soft"),
        KNeighborsClassifier(),
        KNeighborsClassifier(algorithm="ball_tree", weights="distance", p=3),
        KNeighborsClassifier(algorithm="brute"),
        make_pipeline(
            StandardScaler(), MLPClassifier((8,), max_iter=60, learning_rate_init=0.1)
        ),
    ],
    ids=["stack", "vote", "near", "near in a ball", "near by force", "neurons"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.filterwarnings("ignore::cape.adaptation.AdaptationWarning")
def test_learners_with_both_pools_come_back(train, batch, path, learner, pool):
    clf = CapeClassifier(learner, pool=pool, cv=2, prevalences=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


def test_a_fitted_model_that_was_given_comes_back(train, batch, path):
    learner = LogisticRegression().fit(train.X, train.y)
    clf = CapeClassifier(learner, pool="threshold", cv="prefit", random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)


@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), HistGradientBoostingClassifier(max_iter=3)],
    ids=repr,
)
def test_the_pipelines_of_skrub_come_back(train, path, learner, random):
    from skrub import tabular_pipeline

    n = 240
    table = pd.DataFrame(train.X[:n], columns=["U", "V"])
    table["text"] = random.permutation([f"T{i}" for i in range(60)] * (n // 60))
    table["kind"] = pd.Categorical(random.choice(list("abc"), n))
    table["few"] = random.choice(["x", "y", None], n)
    table["day"] = pd.date_range("2020-01-01", periods=n)
    table["flag"] = random.rand(n) < 0.5
    table.loc[::7, "U"] = np.nan
    clf = CapeClassifier(
        tabular_pipeline(learner), pool="threshold", cv=2, random_state=0
    )
    clf.fit(table, train.y[:n])
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, table)


def test_groups_of_several_types_come_back(train, path):
    groups = pd.DataFrame(
        {"race": np.where(train.z, "a", "b"), "old": train.z == 1, "n": train.z * 1.5}
    )
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=groups)
    loaded = persist.load(persist.save(clf, path))
    assert loaded.groups_ == [("a", True, 1.5), ("b", False, 0.0)]
    assert list(loaded.models_) == loaded.groups_ == clf.groups_
    for value, type_ in zip(loaded.groups_[0], (str, bool, float), strict=True):
        assert type(value) is type_


def test_text_labels_come_back(train, batch, path):
    y = np.where(train.y == 1, "yes", "no")
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, y, sensitive_features=train.z)
    loaded = persist.load(persist.save(clf, path))
    assert_same_model(loaded, clf, batch.X, batch.z)
    assert set(loaded.predict(batch.X, sensitive_features=batch.z)) <= {"no", "yes"}


def test_a_model_can_be_saved_again_after_loading(fitted, batch, path):
    clf = fitted(pool="threshold")
    once = persist.load(persist.save(clf, path))
    twice = persist.load(persist.save(once, path, overwrite=True))
    assert_same_model(twice, clf, batch.X, batch.z)


def test_saving_does_not_change_the_model(fitted, batch, path):
    clf = fitted(pool="threshold")
    before = clf.predict_proba(batch.X, sensitive_features=batch.z)
    models = clf.models_
    persist.save(clf, path)
    assert clf.models_ is models and list(models) == clf.groups_
    after = clf.predict_proba(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(after, before)


def test_the_path_is_returned_and_may_be_text(fitted, path):
    returned = persist.save(fitted(pool="threshold"), str(path))
    assert returned == path and path.is_file()
    assert persist.load(str(path)).groups_ == [0, 1]


def test_a_file_is_replaced_on_request_only(fitted, path):
    clf = fitted(pool="threshold")
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        persist.save(clf, path)
    assert path.read_text() == "precious"
    persist.save(clf, path, overwrite=True)
    assert persist.load(path).fingerprint_ == clf.fingerprint_
    # A model is data; nobody can run it.
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111


def test_a_failure_while_writing_leaves_the_old_file(fitted, path, monkeypatch):
    clf = fitted(pool="threshold")
    path.write_text("precious")

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("cape.persist._skops._as_skops", lambda thing: b"")
    monkeypatch.setattr("cape.persist._skops._untrusted_types", lambda *args: [])
    monkeypatch.setattr("cape.persist._skops.inflate", lambda content: content)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(OSError, match="disk full"):
        persist.save(clf, path, overwrite=True)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "precious"


def test_a_model_that_is_not_fitted_is_refused(path):
    with pytest.raises(NotFittedError):
        persist.save(CapeClassifier(), path)
    assert not path.exists()


def test_a_checksum_that_does_not_fit_is_refused(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header={"sha256": "0"})
    with pytest.raises(ValueError, match="altered or damaged"):
        persist.load(path)
    # The header can still be read, to find out whose file it was.
    assert persist.read_header(path)["groups"] == ["0", "1"]


def test_a_model_of_another_header_is_refused(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header={"fingerprint": "f" * 64})
    with pytest.raises(ValueError, match="the fingerprint of another model"):
        persist.load(path)


def test_no_module_of_cape_reads_pickles():
    for file in Path(cape.__file__).parent.rglob("*.py"):
        source = file.read_text()
        assert "import pickle" not in source, file
        assert "joblib.load" not in source, file


def test_columns_come_back(fitted, batch, path):
    clf = fitted(pool="threshold")
    loaded = persist.load(persist.save(clf, path))
    for group, model in clf.models_.items():
        columns = loaded.models_[group].columns
        assert columns.cells == model.columns.cells
        np.testing.assert_array_equal(columns.positives, model.columns.positives)
        np.testing.assert_array_equal(columns.negatives, model.columns.negatives)


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
        sizes.append(Path(persist.save(clf, path)).stat().st_size)
        Path(path).unlink()
    assert 0 < sizes[0] - sizes[1] < 2000 * table.shape[1]
