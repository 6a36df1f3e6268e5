"""What the distribution says of itself: versions, types, citation, hooks."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import cape

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_one_version_everywhere(project, citation):
    assert project["version"] == cape.__version__ == citation["version"]


def test_citation_has_what_the_format_requires(citation):
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= reference.keys()


def test_citation_and_metadata_name_the_same_licence_and_paper(project, citation):
    assert citation["license"] == project["license"]
    doi = citation["references"][0]["doi"]
    assert project["urls"]["Paper"] == f"https://doi.org/{doi}"


def test_classifiers_name_the_oldest_python_that_is_admitted(project):
    pythons = []
    for classifier in project["classifiers"]:
        named = re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier)
        if named:
            pythons.append(named[1])
    assert project["requires-python"] == f">={pythons[0]}"
    assert pythons == ["3.11", "3.12", "3.13"]


def test_type_checkers_may_read_the_annotations():
    assert (Path(cape.__file__).parent / "py.typed").exists()


def test_hooks_run_what_make_lint_runs():
    recipe = (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0]
    commands = re.findall(r"\$\(BIN\)/([a-z -]+[a-z])", recipe)
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    entries = []
    for hook in config["repos"][0]["hooks"]:
        # Files are named by pre-commit, where make names the folder.
        entry = hook["entry"].removeprefix(".venv/bin/")
        entries.append(entry.removesuffix(" --force-exclude"))
        assert hook["language"] == "system"
    assert entries == commands
