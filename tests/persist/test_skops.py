"""Nothing that a file brings is run, and types that nobody vouched for are refused."""

import copy
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape.persist._skops import _as_skops, dump_model, load_model


class ForeignLearner(ClassifierMixin, BaseEstimator):
    """A learner that nobody vouched for; it notes when its code runs."""

    states_set = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0] / 10))
        return np.column_stack([1 - p, p])

    def __setstate__(self, state):
        ForeignLearner.states_set.append(state)
        super().__setstate__(state)


FOREIGN = f"{ForeignLearner.__module__}.ForeignLearner"


@pytest.fixture
def foreign(train):
    """A model of a learner that nobody vouched for."""
    clf = CapeClassifier(ForeignLearner(), pool="threshold", cv=2, random_state=0)
    return clf.fit(train.X, train.y, sensitive_features=train.z)


def test_an_unknown_learner_is_not_saved(foreign, path):
    with pytest.raises(ValueError, match=f"trusted types to be saved, got {FOREIGN}"):
        persist.save(foreign, path)
    assert not path.exists()


def test_an_unknown_learner_is_not_loaded_and_does_not_run(foreign, path):
    persist.save(foreign, path, trusted=[FOREIGN])
    ForeignLearner.states_set.clear()
    with pytest.raises(ValueError, match=f"with {FOREIGN}. Nothing was loaded"):
        persist.load(path)
    assert ForeignLearner.states_set == []


def test_a_learner_that_the_user_vouches_for_is_loaded(foreign, path):
    persist.save(foreign, path, trusted=[FOREIGN])
    ForeignLearner.states_set.clear()
    loaded = persist.load(path, trusted=[FOREIGN])
    assert loaded.fingerprint_ == foreign.fingerprint_
    assert ForeignLearner.states_set != []


def test_a_learner_that_does_not_know_its_columns_is_loaded(foreign, path):
    """CatBoost has ``n_features_in_`` of None after loading."""
    for model in foreign.models_.values():
        for learner in model.learners:
            learner.n_features_in_ = None
    persist.save(foreign, path, trusted=[FOREIGN])
    loaded = persist.load(path, trusted=[FOREIGN])
    assert loaded.fingerprint_ == foreign.fingerprint_


def test_to_vouch_for_one_type_is_not_to_vouch_for_another(foreign, path):
    with pytest.raises(ValueError, match=FOREIGN):
        persist.save(foreign, path, trusted=["some.OtherLearner"])


def test_a_part_that_skops_cannot_save_is_said_so(fitted, path):
    clf = fitted(pool="threshold", cv=2)
    clf.generator_ = (number for number in range(3))
    try:
        with pytest.raises(ValueError, match="parts that skops can save, but: "):
            persist.save(clf, path)
    finally:
        del clf.generator_
    assert not path.exists()


# Each is an entry of a schema that, built carelessly, would call the function.
CALLS = {
    "a function": {
        "__module__": "os",
        "__class__": "mkdir",
        "__loader__": "FunctionNode",
        "content": "mkdir",
    },
    "a builtin": {
        "__module__": "builtins",
        "__class__": "eval",
        "__loader__": "TypeNode",
    },
    "an operator": {
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
    "a process": {
        "__module__": "subprocess",
        "__class__": "Popen",
        "__loader__": "ObjectNode",
        "content": None,
    },
    "code": {
        "__module__": "builtins",
        "__class__": "exec",
        "__loader__": "ObjectNode",
        "content": "import os; os.mkdir('it ran')",
    },
}


def with_estimator(model, entry):
    """Put an entry in the place of the estimator of a model in skops' format."""
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    schema["content"]["content"]["estimator"] = {**entry, "__id__": 1}
    parts["schema.json"] = json.dumps(schema).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_planted_call_is_refused_and_does_not_run(
    fitted, path, forge, call, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    clf = fitted(pool="threshold")
    persist.save(clf, path)
    forge(path, model=with_estimator(dump_model(clf, ()), call))
    name = f"{call['__module__']}.{call['__class__']}"
    with pytest.raises(ValueError, match=f"{name}|path must"):
        persist.load(path)
    assert os.listdir(tmp_path) == [path.name]


class Planted:
    """Makes a folder when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (self.target,)


def test_a_pickle_in_disguise_is_refused_and_does_not_run(fitted, path, forge):
    target = path.parent / "it ran"
    persist.save(fitted(pool="threshold"), path)
    forge(path, model=pickle.dumps(Planted(str(target))))
    with pytest.raises(ValueError, match="path must be a model file"):
        persist.load(path)
    assert not target.exists()


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (LogisticRegression(), "LogisticRegression"),
        ([1, 2], "list"),
        (CapeClassifier(), "CapeClassifier"),
    ],
    ids=["a learner", "a list", "a model that is not fitted"],
)
def test_trusted_types_that_are_no_fitted_model_are_refused(thing, kind):
    with pytest.raises(ValueError, match=f"it holds a {kind} and not a fitted CapeC"):
        load_model(_as_skops(thing), "model.cape", ())


def test_models_without_a_group_are_refused(fitted, path):
    clf = fitted(pool="threshold")
    plain = copy.copy(clf)
    plain.models_ = [clf.models_[0]]
    with pytest.raises(ValueError, match="shorter"):
        load_model(_as_skops(plain), "model.cape", ())


def test_our_bytes_are_those_of_skops_without_indentation():
    """The plain twin of the faster way to write."""
    learner = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    ours = _as_skops(learner)
    theirs = skops.io.dumps(learner)
    for content in (ours, theirs):
        loaded = skops.io.loads(content)
        assert loaded.get_params() == learner.get_params()
        np.testing.assert_array_equal(loaded.coef_, learner.coef_)
    schemas = []
    for content in (ours, theirs):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            schemas.append(json.loads(archive.read("schema.json")))
    assert schemas[0].keys() == schemas[1].keys()
    assert schemas[0]["protocol"] == schemas[1]["protocol"]
    assert schemas[0]["_skops_version"] == schemas[1]["_skops_version"]
