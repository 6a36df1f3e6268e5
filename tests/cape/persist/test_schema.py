"""Nothing that a file brings is run, and types that nobody vouched for are refused."""

import importlib
import json
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cape
from cape import CapeClassifier, persist
from cape.persist import TRUSTED
from cape.quantify import QUANTIFIERS, Quantifier


class ForeignLearner(ClassifierMixin, BaseEstimator):
    """A learner that nobody vouched for; it notes when its code runs."""

    states_set = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        # As CatBoost has after loading.
        self.n_features_in_ = None
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0] / 10))
        return np.column_stack([1 - p, p])

    def __setstate__(self, state):
        ForeignLearner.states_set.append(state)
        super().__setstate__(state)


FOREIGN = f"{ForeignLearner.__module__}.ForeignLearner"


def test_a_type_needs_somebody_who_vouches_for_it(train, path, monkeypatch):
    clf = CapeClassifier(ForeignLearner(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    for trusted in ([], ["some.OtherLearner"]):
        with pytest.raises(ValueError, match=f"types to be saved, got {FOREIGN}"):
            persist.save(clf, path, trusted=trusted)
    assert not path.exists()
    persist.save(clf, path, trusted=[FOREIGN])
    ForeignLearner.states_set.clear()
    with pytest.raises(ValueError, match=f"with {FOREIGN}. Nothing was loaded"):
        persist.load(path)
    assert ForeignLearner.states_set == []
    loaded = persist.load(path, trusted=[FOREIGN])
    with pytest.raises(ValueError, match="CAPE_TRUSTED"):
        persist.load(path)
    monkeypatch.setenv("CAPE_TRUSTED", f"some.OtherLearner,{FOREIGN}")
    assert persist.load(path).fingerprint_ == clf.fingerprint_
    assert loaded.fingerprint_ == clf.fingerprint_
    assert ForeignLearner.states_set != []


def test_a_function_needs_somebody_who_vouches_for_it(train, path):
    learner = make_pipeline(FunctionTransformer(np.abs), LogisticRegression())
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.raises(ValueError, match=r"got numpy\S*\.absolute\.") as error:
        persist.save(clf, path)
    # Older versions of skops write where numpy keeps the function.
    (name,) = re.findall(r"got (\S+)\. If", str(error.value))
    persist.save(clf, path, trusted=[name])
    loaded = persist.load(path, trusted=[name])
    assert loaded.estimator[0].func is np.abs


def test_a_part_that_skops_cannot_save_is_said_so(fitted, path):
    clf = fitted(pool="threshold", cv=2)
    clf.generator_ = (number for number in range(3))
    try:
        with pytest.raises(ValueError, match="parts that skops can save, but: "):
            persist.save(clf, path)
    finally:
        del clf.generator_
    assert not path.exists()


def node(loader, name, number=1, **more):
    """A node of a schema."""
    module, _, class_name = name.rpartition(".")
    names = {"__module__": module, "__class__": class_name}
    return {**names, "__loader__": loader, "__id__": number, **more}


def text(value, number=2):
    content = json.dumps(value)
    return node("JsonNode", "builtins.str", number, content=content, is_json=True)


def items(*nodes, number=3, kind="tuple"):
    loader = f"{kind.title()}Node"
    return node(loader, f"builtins.{kind}", number, content=list(nodes))


def entries(key_type, number=4):
    """A dict of one entry, whose key is made by calling a type."""
    key_types = items(key_type, number=number + 1, kind="list")
    content = {"16": text(1)}
    return node(
        "DictNode", "builtins.dict", number, content=content, key_types=key_types
    )


CHECK = "sklearn.utils.validation.check_array"
PARTIAL = {
    "func": node("FunctionNode", CHECK, 5),
    "args": items(text([1, 2], 11)),
    "kwds": entries(node("TypeNode", "builtins.str", 9), 6),
    "namespace": text(None, 8),
}
GENERATOR = {
    "bit_generator": entries(node("TypeNode", "builtins.str", 9), 6),
    "seed_seq": text(None, 8),
}
ARGUMENTS = items(text("it ran"))

# Each is a node that, built carelessly, calls what it names.
CALLS = {
    "a function": node("FunctionNode", "os.mkdir"),
    "a function of numpy": node("FunctionNode", "numpy.exp"),
    "a function of scikit-learn": node("FunctionNode", CHECK),
    "a builtin": node("TypeNode", "builtins.eval"),
    "an iterator": node("TypeNode", "builtins.map"),
    "an operator": node("OperatorFuncNode", "operator.methodcaller", attrs=ARGUMENTS),
    "a process": node("ObjectNode", "subprocess.Popen", content=None),
    "code": node("ObjectNode", "builtins.exec", content=ARGUMENTS),
    "a call": node("ConstructorFromReduceNode", "os.mkdir", content=ARGUMENTS),
    "a call of a list": node("ListNode", "os.mkdir", content=[text("it ran")]),
    "a call of a dict": node(
        "DictNode", "os.getcwd", content={}, key_types=items(kind="list")
    ),
    "a call of a set": node("SetNode", CHECK, content=[text([1])]),
    "a call of a key": entries(node("TypeNode", "os.mkdir")),
    "a call of a key by a function": entries(node("FunctionNode", "os.mkdir")),
    "many keys": entries(node("TypeNode", "builtins.bytearray")),
    "a method": node(
        "MethodNode", "builtins.str", content={"func": "format", "obj": text("a")}
    ),
    "bound arguments": node("PartialNode", "functools.partial", content=PARTIAL),
    "a scorer": node("ObjectNode", "sklearn.metrics._scorer._Scorer", content=None),
    "a bunch": node("ObjectNode", "sklearn.utils._bunch.Bunch", content=None),
    "a default": node("DefaultDictNode", "collections.defaultdict", content={}),
    "a generator": node(
        "RandomGeneratorNode", "numpy.random._generator.Generator", content=GENERATOR
    ),
    "a distance": node(
        "ObjectNode", "sklearn.metrics._dist_metrics.PyFuncDistance64", content=None
    ),
    "nothing that is": node("NoSuchNode", "builtins.int"),
}


def plant(entry):
    """Put a node in the place of the estimator of a model."""

    def change(schema):
        schema["content"]["content"]["estimator"] = entry

    return change


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_planted_call_is_refused_and_does_not_run(fitted, path, forge, call, work_in):
    work_in(path.parent)
    persist.save(fitted(pool="threshold"), path)
    forge(path, schema=plant(call))
    with pytest.raises(ValueError, match="Nothing was loaded") as caught:
        persist.load(path)
    assert str(path) in str(caught.value)
    assert os.listdir() == [path.name]


def test_what_is_planted_is_loaded_if_it_is_harmless(fitted, path, forge):
    """Otherwise the test above would say nothing."""
    persist.save(fitted(pool="threshold"), path)
    key_type = node("TypeNode", "builtins.int", 9)
    forge(path, schema=plant(items(entries(key_type), number=10)))
    assert persist.load(path).estimator == ({16: 1},)


def nested(depth, width):
    """Tuples of tuples, of which each is named by its number after the first time."""
    inner = items(number=100)
    for level in range(depth):
        again = {**inner, "content": []}
        inner = items(inner, *[again] * (width - 1), number=101 + level)
    return inner


def chain(length):
    inner = text(1)
    for level in range(length):
        inner = items(inner, number=100 + level, kind="list")
    return inner


FILE = {"type": "numpy", "file": "7.npy"}
ARRAYS = [node("NdArrayNode", "numpy.ndarray", 20 + i, **FILE) for i in range(3)]
SQUARE = {"type": "json", "shape": items(text(1), text(1)), "content": []}

# Each takes long, or more room than the file.
TRAPS = {
    "tuples nested ten deep": nested(depth=10, width=10),
    "lists nested 3000 deep": chain(150),
    "a tuple in itself": items(items(number=3), number=3),
    "a bare reference": items({"__id__": 3}),
    "no number": {**text(1), "__id__": 0},
    "true for a number": {**text(1), "__id__": True},
    "another part of the same number": items(text(1), text(2)),
    "an array read often": items(*ARRAYS, number=10),
    "an array of several axes": node("NdArrayNode", "numpy.ndarray", 20, **SQUARE),
    "an array of the schema": node(
        "NdArrayNode", "numpy.ndarray", type="numpy", file="schema.json"
    ),
    "no content": node("ListNode", "builtins.list"),
    "no loader": {"__class__": "int", "__module__": "builtins"},
    "a module that is not there": node("ObjectNode", "sklearn.nothing.Here"),
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_trap_is_refused_at_once(fitted, path, forge, trap):
    persist.save(fitted(pool="threshold"), path)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("npy"))
        array = archive.read(name)
    forge(path, schema=plant(trap), parts={"7.npy": array})
    with pytest.raises(ValueError, match="path must") as caught:
        persist.load(path)
    assert str(path) in str(caught.value)


def without(name):
    def change(schema):
        del schema["content"]["content"][name]

    return change


@pytest.mark.parametrize(
    "parts",
    [
        {"schema.json": pickle.dumps({"a": 1})},
        {"schema.json": b"[" * 100_000},
        {"schema.json": b"[1, 2]"},
        {"schema.json": json.dumps(items(kind="list")).encode()},
        {"schema.json": json.dumps(text([1, 2])).encode()},
    ],
    ids=["a pickle", "brackets", "a list", "an empty list", "a text"],
)
def test_anything_but_a_model_is_refused(fitted, path, forge, parts):
    persist.save(fitted(pool="threshold"), path)
    forge(path, parts=parts)
    with pytest.raises(ValueError, match=r"model\.cape.*damaged or was altered"):
        persist.load(path)


@pytest.mark.parametrize("name", ["groups_", "fingerprint_", "models_"])
def test_a_model_without_its_attributes_is_refused(fitted, path, forge, name):
    persist.save(fitted(pool="threshold"), path)
    forge(path, schema=without(name))
    with pytest.raises(ValueError, match=r"model\.cape.*damaged or was altered"):
        persist.load(path)


def test_no_module_of_cape_reads_pickles():
    for file in Path(cape.__file__).parent.rglob("*.py"):
        source = file.read_text()
        assert "import pickle" not in source, file
        assert "joblib.load" not in source, file


def is_class(name):
    module, _, attribute = name.rpartition(".")
    try:
        return isinstance(getattr(importlib.import_module(module), attribute), type)
    except (ModuleNotFoundError, AttributeError):
        return False


def test_the_list_holds_classes_alone():
    """skrub is of one version here, and the list of several."""
    assert isinstance(TRUSTED, frozenset)
    others = [name for name in TRUSTED if not is_class(name)]
    assert all(name.startswith("skrub.") for name in others)
    assert len(others) < 6


def test_every_quantifier_that_has_a_name_is_trusted():
    for cls in QUANTIFIERS.values():
        assert f"{cls.__module__}.{cls.__qualname__}" in TRUSTED
    assert f"{Quantifier.__module__}.Quantifier" not in TRUSTED
