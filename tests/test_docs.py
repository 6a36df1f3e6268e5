"""What is documented: every public name, with examples, and pages whose code runs."""

import importlib
import importlib.util
import inspect
import re
import tomllib
from dataclasses import is_dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
make_api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_api)

PUBLIC = make_api.public_names()
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
WITH_EXAMPLES = (
    "cape",
    "cape.adaptation",
    "cape.evidence",
    "cape.histogram",
    "cape.columns",
    "cape.pool",
    "cape.rules",
    "cape.quantify",
    "cape.metrics",
    "cape.sampling",
    "cape.datasets",
    "cape.diagnostics",
    "cape.persist",
    "cape.stream",
)


def sections():
    """Return the names that the API page lists under each module."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    # Behind the text before the first module, modules and their texts alternate.
    _, *parts = re.split(r"^`(cape[.\w]*)`$", page, flags=re.MULTILINE)
    listed = {}
    for module, text in zip(parts[::2], parts[1::2], strict=True):
        listed[module] = re.findall(r"^- `(\w+)`", text, re.MULTILINE)
    return listed


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_on_the_api_page(module):
    listed = sections().get(module, [])
    missing = set(PUBLIC[module]) - set(listed)
    gone = set(listed) - set(PUBLIC[module])
    remedy = "run `python docs/make_api.py` and commit it."
    assert not missing, f"docs/api.md lacks {sorted(missing)} of {module}: {remedy}"
    assert not gone, f"docs/api.md lists {sorted(gone)}, not in {module}: {remedy}"


def test_every_public_module_has_a_title():
    unknown = set(PUBLIC) - set(make_api.TITLES)
    assert not unknown, f"give {sorted(unknown)} a title in TITLES of docs/make_api.py."


@pytest.mark.parametrize(
    ("module", "name"), NAMES, ids=[".".join(pair) for pair in NAMES]
)
def test_every_public_name_is_documented(module, name):
    thing = getattr(importlib.import_module(module), name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    text = inspect.getdoc(thing) or ""
    own_docstring = thing.__doc__ or ""
    first_line = own_docstring.split("\n")[0]
    assert len(first_line) > 10, (
        f"{module}.{name} needs a docstring that begins with one sentence."
    )
    # A function of the module returns the record, and its example shows it.
    is_record = is_dataclass(thing) and module not in ("cape", "cape.stream")
    if module in WITH_EXAMPLES and not is_record:
        assert "Examples\n--------\n>>>" in text, (
            f"{module}.{name} needs an Examples section that runs."
        )


def test_methods_of_the_classifier_are_documented():
    from cape import CapeClassifier

    for name, method in inspect.getmembers(CapeClassifier, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("cape"):
            text = inspect.getdoc(method)
            assert "Parameters\n-----" in text, name
            assert "Returns\n-----" in text, name
            documented = re.findall(r"^(\w+) : ", text, re.MULTILINE)
            parameters = set(inspect.signature(method).parameters) - {"self"}
            assert parameters <= set(documented), name


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name
)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_layers_of_the_design_page_are_those_that_are_checked():
    """docs/design.md draws the layers of pyproject.toml, from the top to the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    checked = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    picture = page.split("## The layers")[1].split("```")[1].strip().splitlines()
    drawn = []
    for line in picture:
        modules = re.split(r"\s{2,}", line.strip())[0]
        drawn.append(re.findall(r"\w+", modules))
    assert drawn == checked
