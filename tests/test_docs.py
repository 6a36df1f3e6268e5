"""What is documented: every public name, with examples, and pages whose code runs."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import tomllib
from dataclasses import is_dataclass
from pathlib import Path
from types import FunctionType

import pytest
from numpydoc.validate import validate

import cape
from cape.shown._action import ACTIONS, REASONS

ROOT = Path(__file__).parents[1]


def load(name):
    """Return a program of the folder of documents as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


public_api = load("public_api")
check_links = load("check_links")

PUBLIC = public_api.public_names()
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
CLASSES = [(module, name) for module, name in NAMES if not name.isupper()]
WITH_EXAMPLES = (
    "cape",
    "cape.rules",
    "cape.quantify",
    "cape.metrics",
    "cape.training",
    "cape.datasets",
    "cape.examination",
    "cape.persist",
    "cape.watch",
)
AT_MOST = 60
"""Public names that a person can be expected to look through."""


def public_modules():
    """Name the rooms that offer names, and the modules of cape.elsewhere."""
    names = [f"cape.{room.name}" for room in pkgutil.iter_modules(cape.__path__)]
    names += ["cape", "cape.elsewhere.dask", "cape.elsewhere.sql"]
    return [name for name in names if hasattr(importlib.import_module(name), "__all__")]


def test_the_list_has_what_the_public_modules_offer():
    listed = {getattr(importlib.import_module(at), name) for at, name in CLASSES}
    for name in public_modules():
        offered = {n for n in importlib.import_module(name).__all__ if n[0] != "_"}
        if name in PUBLIC:
            assert offered == set(PUBLIC[name]), name
        else:
            # A module that is the home of a name of another page, such as classifier.
            module = importlib.import_module(name)
            assert {getattr(module, one) for one in offered} <= listed, name


def test_there_are_no_more_names_than_a_person_can_look_through():
    # A name in two modules, such as examine, is one name.
    assert len(set(public_api.first_homes().values())) <= AT_MOST


MOST_FOR_THE_APP = 88


def names_of_the_app():
    """Names that modules of the app import from the library, by module."""
    found = {}
    for file in (ROOT / "src" / "cape_app").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules = {alias.name.partition(".")[0] for alias in node.names}
                assert "cape" not in modules, f"{file}: import names of the library"
            elif isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names}
                if (node.module or "").partition(".")[0] == "cape":
                    found.setdefault(node.module, set()).update(names)
    return found


def test_the_app_takes_public_names_and_those_of_its_own_list():
    public = {id(getattr(importlib.import_module(at), one)) for at, one in NAMES}
    private = {}
    for module, names in names_of_the_app().items():
        home = importlib.import_module(module)
        for name in names:
            thing = getattr(home, name, None)
            if id(thing) not in public and f"{module}.{name}" not in PUBLIC:
                private.setdefault(module, set()).add(name)
    listed = {at: set(names.split()) for at, names in public_api.FOR_THE_APP.items()}
    assert private == listed
    assert sum(map(len, listed.values())) <= MOST_FOR_THE_APP


def test_every_public_name_is_on_the_page_of_its_module(tmp_path):
    public_api.write_api(tmp_path)
    first_page = (tmp_path / "index.rst").read_text(encoding="utf-8")
    for module, names in PUBLIC.items():
        assert f":doc:`{module}`" in first_page
        page = (tmp_path / f"{module}.rst").read_text(encoding="utf-8")
        listed = set(re.findall(r"^(?:   |\.\. py:data:: )~?([\w.]+)$", page, re.M))
        assert {name.rpartition(".")[2] for name in listed} >= set(names), module


@pytest.mark.parametrize(
    ("module", "name"), NAMES, ids=[".".join(pair) for pair in NAMES]
)
def test_every_public_name_is_documented(module, name):
    thing = getattr(importlib.import_module(module), name)
    if public_api.is_constant(thing):
        assert public_api.constant_text(module, name), (
            f"{module}.{name} needs a string below its assignment that says what it is."
        )
        return
    text = inspect.getdoc(thing) or ""
    own_docstring = thing.__doc__ or ""
    first_line = own_docstring.split("\n")[0]
    assert len(first_line) > 10, (
        f"{module}.{name} needs a docstring that begins with one sentence."
    )
    # A function of the module returns the record, and its example shows it.
    is_record = is_dataclass(thing) and module not in ("cape", "cape.watch._stream")
    if module in WITH_EXAMPLES and not is_record:
        assert "Examples\n--------\n>>>" in text, (
            f"{module}.{name} needs an Examples section that runs."
        )


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Sphinx writes these pages.
GENERATED = ("api/", "gallery/")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    # An item of a table that is called looks like a link.
    sentences = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#:]+)[)#]", sentences):
        if target.startswith(GENERATED):
            continue
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_a_table_of_contents():
    listed = {"index"}
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"```{toctree}\n(.*?)```", text, re.S):
            listed.update(re.findall(r"^[\w-]+$", block, re.M))
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} <= listed


METHOD = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")


def test_the_tests_that_the_method_names_exist():
    named = re.findall(r"\[`(test_\w+)`\]\(\.\./(tests/[\w/]+\.py)\)", METHOD)
    # No test is named without a link to its file.
    assert len(named) == METHOD.count("`test_") > 0
    for name, path in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert f"\ndef {name}(" in source, f"{path} has no {name}"


def test_every_section_of_the_method_is_checked_by_a_test():
    for section in re.split(r"^## ", METHOD, flags=re.M)[1:]:
        assert "*Checked by*" in section, section.partition("\n")[0]


def test_the_method_has_every_quantifier_criterion_and_question():
    listed = set(re.findall(r"`([\w>.]+)`", METHOD))
    assert {*cape.quantify.QUANTIFIERS, *cape.rules.CRITERIA} <= listed
    text = (
        inspect.getdoc(cape.Watch).partition("questions :")[2].partition("alpha :")[0]
    )
    questions = set(re.findall(r'"([a-z_]+)(?:>[\d.]+)?"', text))
    assert {"moved", "pd"} <= questions <= listed


def test_references_of_the_method_are_in_the_bibliography():
    project = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")
    references = [
        line.split("|")[1] for line in project.split("\n") if line[:2] == "| "
    ]
    cited = re.findall(r"\[([^\]]+) (\d{4})\]\(project.md#bibliography\)", METHOD)
    assert cited
    for author, year in cited:
        # The author who is named is the first.
        first = [line for line in references if re.match(rf"[^,]* {author}\b", line)]
        assert any(year in line for line in first), f"{author} {year}"


SITE = {
    "index.html": """<h1 id="here">One</h1>
        <a href="#here">x</a> <a href="sub/two.html#there">x</a>
        <a href="https://elsewhere.example">x</a> <img src="data:image/png;base64,">""",
    "sub/two.html": """<p id="there"><a href="../index.html">x</a> <a href="#">x</a>""",
}


def write_site(folder, pages):
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


FAULTS = {
    '<a href="three.html">x</a>': "three.html is not there",
    '<a href="sub">x</a>': "sub is not there",
    '<a href="sub/two.html#no">x</a>': "no place 'no'",
    '<a href="#no">x</a>': "no place 'no'",
    '<img src="no.png">': "no.png is not there",
    '<script src="https://cdn.example/a.js">': "<script> fetches https://cdn",
    '<link href="//cdn.example/a.css">': "<link> fetches //cdn",
}


def test_links_that_lead_nowhere_are_named(tmp_path, capsys):
    assert check_links.main([str(write_site(tmp_path, SITE))]) == 0
    assert capsys.readouterr().err == ""
    for fault, words in FAULTS.items():
        write_site(tmp_path, {"index.html": SITE["index.html"] + fault})
        assert check_links.main([str(tmp_path)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("index.html: ")
        assert words in line


def test_the_rooms_of_the_design_page_are_those_that_are_checked():
    """docs/design.md draws the rooms of pyproject.toml, from the top to the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][1]
    checked = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    picture = page.split("## The rooms")[1].split("```")[1].strip().splitlines()
    drawn = []
    for line in picture:
        modules = re.split(r"\s{2,}", line.strip())[0]
        drawn.append(re.findall(r"\w+", modules))
    assert drawn == checked


def test_every_sentence_is_on_the_page_of_words(tmp_path):
    load("words").write_words(tmp_path / "words.md")
    page = (tmp_path / "words.md").read_text(encoding="utf-8")
    assert "- labels for all {rows} rows" in page
    assert "No test without labels catches everything." in page
    for module in (
        "cape/shown/_action",
        "cape_app/words/_notes",
        "cape_app/pages/page/batch",
    ):
        assert f"## {module}" in page


# numpydoc finds no fault with the docstring of any public name.


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


def test_the_page_of_verdicts_has_the_table_of_codes():
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for code, action in ACTIONS.items():
        words = action.words.format(rows="N rows", more="")
        assert f"| {words.removesuffix(': ')} | `{code}` | {action.meaning} |" in page
    for code, reason in REASONS.items():
        helps = reason.helps.format(columns="the column", drop="--drop")
        row = f"| {reason.words} | `{code}` | {reason.meaning} | {helps} |"
        assert row in page, row


def test_no_two_codes_share_a_name():
    names = [one.words for one in [*ACTIONS.values(), *REASONS.values()]]
    assert len(set(names)) == len(names)
