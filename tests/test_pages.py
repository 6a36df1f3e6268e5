"""The pages: their code runs, their commands say what is shown, their links lead on."""

import importlib.util
import itertools
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

spec = importlib.util.spec_from_file_location("run_page", ROOT / "docs" / "run_page.py")
run_page = importlib.util.module_from_spec(spec)
# Its dataclass looks its module up here.
sys.modules["run_page"] = run_page
spec.loader.exec_module(run_page)


def text_of(page):
    return page.read_text(encoding="utf-8")


WITH_CODE = [page for page in PAGES if run_page.steps_of(text_of(page))]


def test_pages_with_code_are_found():
    names = {page.name for page in WITH_CODE}
    assert {"README.md", "tutorial.md", "production.md", "trust.md"} <= names


def page_with_code(page):
    """Return the parameter of a page; the tutorial trains on the whole of COMPAS."""
    marks = [pytest.mark.slow] if page.name == "tutorial.md" else []
    return pytest.param(page, id=page.name, marks=marks)


@pytest.mark.parametrize("page", [page_with_code(page) for page in WITH_CODE])
def test_code_on_pages_runs_and_says_what_the_page_shows(page, tmp_path, environ):
    environ("COLUMNS", str(run_page.COLUMNS))
    text = text_of(page)
    if not run_page.lay_out_data(text, tmp_path):
        pytest.skip("COMPAS is not here: set CAPE_DATA, or fetch it once")
    for step in run_page.run_page(text, tmp_path):
        assert step.exit_code == step.expected_exit_code, (step.code, step.printed)
        missing = words_of_first_line(step.shown) - words(step.printed)
        remedy = f"run `python docs/run_page.py {page.name}` and look at what changed."
        assert not missing, f"{step.code} does not say {missing}: {remedy}"


def words(text):
    """Return the words of a text; numbers may differ from machine to machine."""
    return set(re.findall(r"[A-Za-z]{3,}", text))


def words_of_first_line(shown):
    """Return the words by which a reader recognises an output."""
    first_line = shown.split("\n", 1)[0]
    return words(first_line)


PAGE = """```python
print(1)
```

```text
2
```

```console
$ pip install x
no output
$ cape info \\
  m
error: no
```
"""


def test_a_page_is_read_into_steps():
    code, command = run_page.steps_of(PAGE)
    assert (code.code, code.shown) == ("print(1)\n", "2\n")
    assert (command.code.split(), command.shown) == (
        ["cape", "info", "m"],
        "error: no\n",
    )
    assert code.expected_exit_code == 0
    assert command.expected_exit_code == 2


def test_outputs_are_put_where_they_belong():
    code, command = run_page.steps_of(PAGE)
    code.run({})
    command.printed = "ok\n"
    new = run_page.with_outputs(PAGE, [code, command])
    assert new == PAGE.replace("\n2\n", "\n1\n").replace("error: no", "ok")


def test_an_excerpt_stays_as_it_is():
    text = "```console\n$ cape --version\nca\n...\n```\n"
    (command,) = run_page.steps_of(text)
    command.printed = "else\n"
    assert run_page.with_outputs(text, [command]) == text


def anchors(page):
    """Return the places of a page that a link can name: headings and targets."""
    code = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
    text = code.sub("", text_of(page))
    places = {"", *re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)}
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        places.add(plain.replace(" ", "-"))
    return places


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings(page):
    for name, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", text_of(page)):
        target = page.parent / name if name else page
        assert anchor in anchors(target), f"{page.name} links to {name}#{anchor}"


# The others show a file of the root folder, title and all.
WRITTEN = [page for page in PAGES if "```{include}" not in text_of(page)]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_a_page_has_one_title_and_headings_in_order(page):
    without_code = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", without_code, re.MULTILINE)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    for above, below in itertools.pairwise(levels):
        assert below <= above + 1
