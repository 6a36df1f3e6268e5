"""The list of trusted types follows from the classes, and holds nothing that runs."""

import importlib

import pytest
from sklearn.model_selection import StratifiedKFold

from cape import CapeClassifier, ScoreHistogram
from cape.persist import TRUSTED
from cape.persist._trusted import _full_names
from cape.pool import ResampledPool, ThresholdPool
from cape.quantify import QUANTIFIERS, Quantifier
from cape.rules import RULES, Constrained


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_every_quantifier_that_has_a_name_is_trusted(name):
    cls = QUANTIFIERS[name]
    assert f"{cls.__module__}.{cls.__qualname__}" in TRUSTED


@pytest.mark.parametrize(
    "cls", [CapeClassifier, ScoreHistogram, ResampledPool, ThresholdPool]
)
def test_the_classes_of_a_model_are_trusted(cls):
    assert f"{cls.__module__}.{cls.__qualname__}" in TRUSTED


def test_names_are_those_that_skops_writes():
    from skops.io._utils import get_module

    for cls in (*QUANTIFIERS.values(), StratifiedKFold):
        assert _full_names([cls]) == {f"{get_module(cls)}.{cls.__name__}"}


def exists(name):
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False


def names_of(package):
    return [name for name in TRUSTED if name.split(".")[0] == package]


@pytest.mark.parametrize("package", ["cape", "sklearn", "functools", "numpy"])
def test_every_name_exists(package):
    assert [name for name in names_of(package) if not exists(name)] == []


@pytest.mark.parametrize(("package", "share"), [("skrub", 0.8), ("scipy", 0.3)])
def test_names_of_several_versions_are_those_of_modules(package, share):
    """Not all exist in each version of these packages."""
    pytest.importorskip(package)
    names = names_of(package)
    assert sum(exists(name) for name in names) > share * len(names)


def test_a_quantifier_of_a_user_is_not_trusted():
    class Own(Quantifier):
        pass

    assert not _full_names([Own]) & TRUSTED


@pytest.mark.parametrize(
    "dangerous",
    [
        "builtins.eval",
        "builtins.exec",
        "builtins.getattr",
        "os.system",
        "subprocess.Popen",
        "operator.methodcaller",
        "sklearn.preprocessing._function_transformer.FunctionTransformer",
        "cape.quantify._foreign.QuaPyQuantifier",
    ],
)
def test_nothing_that_calls_what_it_is_given_is_trusted(dangerous):
    assert dangerous not in TRUSTED


def test_the_list_cannot_be_changed():
    assert isinstance(TRUSTED, frozenset)


@pytest.mark.parametrize("cls", [*RULES.values(), Constrained])
def test_every_rule_is_trusted(cls):
    assert f"{cls.__module__}.{cls.__qualname__}" in TRUSTED
