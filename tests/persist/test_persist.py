"""Files: what is saved comes back, and nothing that a file brings is run."""

import hashlib
import io
import json
import os
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, persist
from cape.persist._trees import check_trees


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cape"


def rewritten(path, **parts):
    """Write the file again with other parts, and a checksum that fits them."""
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(found["header.json"]) | parts.pop("header", {})
    if "model" in parts:
        found["model.skops"] = parts["model"]
        header["sha256"] = hashlib.sha256(parts["model"]).hexdigest()
    found["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in found.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "settings",
    [
        {"pool": "threshold", "quantifier": "histogram"},
        {"pool": "resampled", "quantifier": "spa", "prevalences": 3},
        {"pool": "threshold", "quantifier": "dys", "scores": "folds"},
        {
            "pool": "threshold",
            "quantifier": "emq",
            "small_groups": "pooled",
            "unknown_groups": "pooled",
        },
    ],
    ids=str,
)
def test_a_loaded_model_is_the_saved_one(fitted, batch, path, settings):
    clf = fitted(**settings)
    again = persist.load(persist.save(clf, path))
    assert repr(again.get_params()) == repr(clf.get_params())
    assert again.fingerprint_ == again._fingerprint() == clf.fingerprint_
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    assert again.adapt(evidence=evidence) == clf.adapt(evidence=evidence)
    for method in ("predict", "predict_proba"):
        mine, its = (
            getattr(m, method)(batch.X, sensitive_features=batch.z)
            for m in (clf, again)
        )
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize(
    "learner",
    [HistGradientBoostingClassifier(max_iter=3), RandomForestClassifier(3)],
    ids=repr,
)
def test_trees_are_saved(train, path, learner):
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    again = persist.load(persist.save(clf, path))
    np.testing.assert_array_equal(
        again.predict(train.X, sensitive_features=train.z),
        clf.predict(train.X, sensitive_features=train.z),
    )


def test_groups_that_are_combinations_numbers_or_text_come_back_as_they_were(
    train, path
):
    groups = pd.DataFrame(
        {"race": np.where(train.z, "a", "b"), "old": train.z == 1, "n": train.z * 1.5}
    )
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=groups)
    again = persist.load(persist.save(clf, path))
    assert again.groups_ == clf.groups_ == [("a", True, 1.5), ("b", False, 0.0)]
    assert list(again.models_) == clf.groups_


@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), HistGradientBoostingClassifier(max_iter=3)],
    ids=repr,
)
def test_skrub_pipelines_are_trusted(train, path, learner, random):
    from skrub import tabular_pipeline

    table = pd.DataFrame(train.X[:240], columns=["U", "V"])
    table["text"] = random.permutation(
        [f"T{i}" for i in range(60)] * (len(table) // 60)
    )
    table["kind"] = pd.Categorical(random.choice(list("abc"), len(table)))
    table["few"] = random.choice(["x", "y", None], len(table))
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        np.arange(len(table)), unit="D"
    )
    table["flag"] = random.rand(len(table)) < 0.5
    table.loc[::7, "U"] = np.nan
    clf = CapeClassifier(
        tabular_pipeline(learner), pool="threshold", cv=2, random_state=0
    )
    clf.fit(table, train.y[:240])
    again = persist.load(persist.save(clf, path))
    np.testing.assert_array_equal(again.predict(table), clf.predict(table))


def test_the_header_says_what_the_file_is(fitted, path):
    clf = fitted(pool="threshold")
    persist.save(clf, path, details={"label": "y", "groups": ["z"]})
    header = persist.read_header(path)
    assert header["format"] == "cape-model"
    assert header["versions"]["cape"] == cape.__version__
    assert header["columns"] == ["0", "1"]
    assert header["groups"] == ["0", "1"]
    assert header["classes"] == [0, 1]
    assert header["settings"]["pool"] == "threshold"
    assert header["fingerprint"] == clf.fingerprint_
    assert header["details"] == {"label": "y", "groups": ["z"]}
    assert header["saved"].endswith("+00:00")


def test_details_that_json_cannot_hold_are_refused_and_no_file_appears(fitted, path):
    with pytest.raises(
        ValueError, match="details must be a mapping that JSON can hold"
    ):
        persist.save(fitted(pool="threshold"), path, details={"what": object()})
    assert list(path.parent.iterdir()) == []


def test_a_file_is_replaced_on_request_only(fitted, path):
    clf = fitted(pool="threshold")
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        persist.save(clf, path)
    assert path.read_text() == "precious"
    persist.save(clf, path, overwrite=True)
    assert persist.load(path).fingerprint_ == clf.fingerprint_
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111


def test_a_failure_while_writing_leaves_the_old_file(fitted, path, monkeypatch):
    path.write_text("precious")

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises((OSError, ValueError)):
        persist.save(fitted(pool="threshold"), path, overwrite=True)
    monkeypatch.undo()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "precious"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(fitted, path, share):
    persist.save(fitted(pool="threshold"), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="cut short"):
        persist.load(path)


def test_damage_is_seen(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    content = bytearray(path.read_bytes())
    for place in np.linspace(200, len(content) - 200, 12).astype(int):
        damaged = content.copy()
        damaged[place] ^= 0xFF
        path.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match="path must be"):
            persist.load(path)


def test_foreign_files_are_refused(fitted, path):
    for content in (b"", b"x,y\n1,2\n", b"\x80\x04\x95"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a zip archive"):
            persist.read_header(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("something.txt", "else")
    with pytest.raises(ValueError, match="other parts"):
        persist.load(path)
    path.write_bytes(skops.io.dumps({"a": 1}))
    with pytest.raises(ValueError, match="other parts"):
        persist.load(path)
    with pytest.raises(FileNotFoundError):
        persist.load(path.parent / "absent")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "another kind"),
        ({"format_version": 99}, "version 99"),
        ({"sha256": "0"}, "altered"),
    ],
)
def test_headers_of_another_kind_are_refused(fitted, path, header, message):
    persist.save(fitted(pool="threshold"), path)
    rewritten(path, header=header)
    with pytest.raises(ValueError, match=message):
        persist.load(path)


def test_a_model_that_is_not_the_headers_is_refused(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    rewritten(path, header={"fingerprint": "f" * 64})
    with pytest.raises(ValueError, match="fingerprint"):
        persist.load(path)


def test_other_versions_give_a_warning_that_names_them(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    versions = persist.read_header(path)["versions"] | {"scikit-learn": "1.2.3"}
    rewritten(path, header={"versions": versions})
    with pytest.warns(UserWarning, match=r"scikit-learn 1\.2\.3 \(here "):
        persist.load(path)


class Planted:
    """Would write a file when pickled and loaded."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (self.target,)


class ForeignLearner(ClassifierMixin, BaseEstimator):
    """A learner that nobody vouched for; it marks that its code ran."""

    ran = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0] / 10))
        return np.column_stack([1 - p, p])

    def __setstate__(self, state):
        ForeignLearner.ran.append(state)
        super().__setstate__(state)


def test_an_unknown_learner_is_refused_by_name_when_saving_and_when_loading(
    train, path
):
    clf = CapeClassifier(ForeignLearner(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    name = f"{ForeignLearner.__module__}.ForeignLearner"
    with pytest.raises(ValueError, match=f"got {name}"):
        persist.save(clf, path)
    assert not path.exists()

    persist.save(clf, path, trusted=[name])
    ForeignLearner.ran.clear()
    with pytest.raises(ValueError, match=f"with {name}"):
        persist.load(path)
    assert ForeignLearner.ran == []
    assert persist.load(path, trusted=[name]).fingerprint_ == clf.fingerprint_
    assert ForeignLearner.ran != []


def test_a_planted_call_is_refused_and_nothing_runs(fitted, path, tmp_path):
    persist.save(fitted(pool="threshold"), path)
    target = tmp_path / "it ran"
    with zipfile.ZipFile(path) as archive:
        model = archive.read("model.skops")
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    calls = [
        {
            "__module__": "os",
            "__class__": "mkdir",
            "__loader__": "FunctionNode",
            "content": "mkdir",
        },
        {"__module__": "builtins", "__class__": "eval", "__loader__": "TypeNode"},
        {
            "__module__": "operator",
            "__class__": "methodcaller",
            "__loader__": "OperatorFuncNode",
            "attrs": {
                "__class__": "tuple",
                "__module__": "builtins",
                "__loader__": "TupleNode",
                "content": [
                    {
                        "__class__": "str",
                        "__module__": "builtins",
                        "__loader__": "JsonNode",
                        "content": '"x"',
                        "is_json": True,
                    }
                ],
            },
        },
        {
            "__module__": "subprocess",
            "__class__": "Popen",
            "__loader__": "ObjectNode",
            "content": None,
        },
        {
            "__module__": "builtins",
            "__class__": "exec",
            "__loader__": "ObjectNode",
            "content": str(target),
        },
    ]
    for call in calls:
        planted = json.loads(json.dumps(schema))
        planted["content"]["content"]["estimator"] = {**call, "__id__": 1}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in (
                parts | {"schema.json": json.dumps(planted).encode()}
            ).items():
                archive.writestr(name, content)
        rewritten(path, model=buffer.getvalue())
        with pytest.raises(
            ValueError, match=f"{call['__module__']}.{call['__class__']}|path must"
        ):
            persist.load(path)
        assert not target.exists()


def test_a_pickle_in_disguise_is_refused_and_nothing_runs(fitted, path, tmp_path):
    import pickle

    target = tmp_path / "it ran"
    persist.save(fitted(pool="threshold"), path)
    rewritten(path, model=pickle.dumps(Planted(str(target))))
    with pytest.raises(ValueError, match="path must be a model file"):
        persist.load(path)
    assert not target.exists()


def test_something_else_that_is_trusted_is_refused(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    rewritten(path, model=skops.io.dumps(LogisticRegression()))
    with pytest.raises(ValueError, match="must hold a fitted CapeClassifier"):
        persist.load(path)


@pytest.mark.parametrize("field", ["left", "right", "feature_idx"])
def test_boosted_trees_that_point_outside_are_refused(train, field):
    learner = HistGradientBoostingClassifier(max_iter=2).fit(train.X, train.y)
    check_trees(learner)
    nodes = learner._predictors[0][0].nodes
    for wrong in (-5, 2, 10**6) if field == "feature_idx" else (10**6,):
        nodes[field][0] = wrong
        with pytest.raises(ValueError, match="points? outside"):
            check_trees({"deep": [learner]})


def test_trees_that_go_round_are_refused(train):
    learner = HistGradientBoostingClassifier(max_iter=2).fit(train.X, train.y)
    nodes = learner._predictors[0][0].nodes
    nodes["left"][0] = 0
    with pytest.raises(ValueError, match="point outside"):
        check_trees(learner)


def test_an_unfitted_model_is_refused(path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        persist.save(CapeClassifier(), path)


def test_no_pickle_is_imported_by_what_we_wrote():
    from pathlib import Path

    for file in Path(cape.__file__).parent.rglob("*.py"):
        source = file.read_text()
        assert "import pickle" not in source and "joblib.load" not in source, file
