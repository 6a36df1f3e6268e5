"""What is documented: every public name, with examples, and pages whose code runs."""

import importlib
import importlib.util
import inspect
import re
import sys
import tomllib
from dataclasses import is_dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]



def program(name):
    """Import a program of the folder docs, which is no package."""
    path = ROOT / "docs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up here.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


make_api = program("make_api")
pages = program("run_page")

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


PAGES_THAT_RUN = [
    "README.md",
    "docs/a_hundred_labels.md",
    "docs/columns_to_leave_out.md",
    "docs/production.md",
    "docs/reading_the_report.md",
    "docs/text_columns.md",
    "docs/trust.md",
    "docs/tutorial.md",
    "docs/verdicts.md",
    "docs/what_to_aim_at.md",
]


@pytest.mark.parametrize("page", PAGES_THAT_RUN)
def test_code_on_pages_runs_and_says_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(pages.COLUMNS))
    text = (ROOT / page).read_text(encoding="utf-8")
    if not pages.lay_out_data(text, tmp_path):
        pytest.skip("COMPAS is not here: set CAPE_DATA, or fetch it once")
    steps = pages.run_page(text, tmp_path)
    assert steps
    for step in steps:
        assert step.exit_code == step.expected_exit_code, (step.code, step.printed)
        missing = words_of_first_line(step.shown) - set(words(step.printed))
        remedy = f"run `python docs/run_page.py {page}` and look at what changed."
        assert not missing, f"{step.code} does not say {missing}: {remedy}"


def words(text):
    """Return the words of a text; numbers may differ from machine to machine."""
    return re.findall(r"[A-Za-z]{3,}", text)


def words_of_first_line(shown):
    """Return the words by which a reader recognises an output."""
    lines = shown.splitlines() or [""]
    return set(words(lines[0]))


def test_pages_with_code_are_run():
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    with_code = set()
    for file in files:
        if pages.steps_of(file.read_text(encoding="utf-8")):
            with_code.add(file.relative_to(ROOT).as_posix())
    assert with_code == set(PAGES_THAT_RUN)


def test_a_page_is_read_into_steps():
    text = (
        "```python\nprint(1)\n```\n\n```text\n2\n```\n"
        "```console\n$ pip install x\nno output\n$ cape info \\\n  m\nerror: no\n```\n"
    )
    first, second = pages.steps_of(text)
    assert (first.code, first.shown) == ("print(1)\n", "2\n")
    assert (second.code, second.shown) == ("cape info    m", "error: no\n")
    assert second.expected_exit_code == 2
    first.run({})
    second.printed = "ok\n"
    assert pages.with_outputs(text, [first, second]) == text.replace(
        "\n2\n", "\n1\n"
    ).replace("error: no", "ok")


def test_an_excerpt_stays_as_it_is():
    text = "```console\n$ cape --version\nca\n...\n```\n"
    steps = pages.steps_of(text)
    steps[0].printed = "else\n"
    assert pages.with_outputs(text, steps) == text


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
