"""numpydoc finds no fault with the docstring of any public name."""

import importlib
import importlib.util
import inspect
from pathlib import Path
from types import FunctionType

import pytest
from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location(
    "public_api", ROOT / "docs" / "public_api.py"
)
public_api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(public_api)

OFF = {
    # Our summaries follow the opening quotes, and short docstrings are one line (PEP
    # 257, checked by ruff).
    "GL01",
    "GL02",
    # Some summaries are noun phrases: those of classes, records and properties.
    "SS05",
    # A summary may say it all.
    "ES01",
    # Pages of a module list what belongs together.
    "SA01",
    # tests/test_docs.py says which names need an example.
    "EX01",
    # Parameters that are keywords come in the order of their importance, and those of a
    # dataclass in that of its bases.
    "PR03",
    # A name and a type may say all there is to say: `path : path`.
    "PR07",
    # Parameters of another function may be described together, and it has their types.
    "PR04",
    # So may the type of a result below the summary. It may have a name.
    "RT02",
    "RT03",
    # The generators are context managers and yield nothing.
    "YD01",
}
EXCEPTIONS = {}

MEMBERS = (FunctionType, property, classmethod, staticmethod)


def documented_things():
    """Return the full names of public classes and functions, and of their methods."""
    full_names = []
    for home in sorted(public_api.first_homes().values()):
        module, _, name = home.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        if public_api.is_constant(thing):
            continue
        full_names.append(home)
        if inspect.isclass(thing):
            full_names += [f"{home}.{member}" for member in own_members(thing)]
    return full_names


def own_members(owner):
    """Return the public methods and properties that a class defines itself."""
    names = []
    for name, member in vars(owner).items():
        # scikit-learn adds methods for metadata routing to every estimator.
        if name.startswith("_") or name.endswith("_request"):
            continue
        if isinstance(member, MEMBERS):
            names.append(name)
    return names


def faults_of(full_name):
    """Return what numpydoc says of a docstring, but for what is off."""
    result = validate(full_name)
    text = result["docstring"].strip()
    off = OFF | EXCEPTIONS.get(full_name, set())
    # "Return the rows as JSON." needs no section that says it again.
    if text.startswith("Return "):
        off = off | {"RT01"}
    # "Return the model of the member." says of `models_of(member)` all there is to say.
    if "\n" not in text and takes_one_argument(full_name):
        off = off | {"PR01", "RT01"}
    faults = []
    for code, message in result["errors"]:
        if code not in off:
            faults.append(f"{code} {message}")
    return faults


def takes_one_argument(full_name):
    """Tell whether this is a method of one argument at most, beside ``self``."""
    owner, _, name = full_name.rpartition(".")
    module, _, owner_name = owner.rpartition(".")
    owner_class = getattr(importlib.import_module(module or owner), owner_name, None)
    if not inspect.isclass(owner_class):
        return False
    method = getattr(owner_class, name)
    if not callable(method):
        return True
    return len(set(inspect.signature(method).parameters) - {"self"}) <= 1


@pytest.mark.parametrize("full_name", documented_things())
def test_numpydoc_finds_no_fault(full_name):
    assert faults_of(full_name) == []
