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


@pytest.mark.parametrize("package", ["cape", "sklearn", "functools", "numpy", "scipy"])
def test_every_name_exists(package):
    """Names of skrub are of several versions, so that not all exist in each."""
    for name in TRUSTED:
        if name.split(".")[0] == package:
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), name


def test_names_of_skrub_are_those_of_its_modules():
    pytest.importorskip("skrub")
    existing = 0
    names = [name for name in TRUSTED if name.startswith("skrub.")]
    for name in names:
        module, _, attribute = name.rpartition(".")
        try:
            existing += hasattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError:
            continue
    assert existing > 0.8 * len(names)


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
