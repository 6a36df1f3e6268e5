"""The package is the first user of the library: it uses public names alone."""

import ast
import importlib
from pathlib import Path

import pytest

import cape_paper

MODULES = sorted(Path(cape_paper.__file__).parent.glob("*.py"))


def names_of_cape(tree):
    """Yield what a module imports of cape: the module, and a name of it or None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "cape":
            for alias in node.names:
                yield node.module, alias.name
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "cape":
                    yield alias.name, None


def is_public(module, name):
    parts = module.split(".")[1:]
    if any(part.startswith("_") for part in (*parts, name or "")):
        return False
    if name is None:
        return True
    imported = importlib.import_module(module)
    # A name of the module, or a public module below it.
    return name in imported.__all__ or hasattr(
        importlib.import_module(f"{module}.{name}"), "__all__"
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_only_public_names_of_cape_are_imported(path):
    for module, name in names_of_cape(ast.parse(path.read_text(encoding="utf-8"))):
        assert is_public(module, name), f"{path.name} imports {module}.{name}"


def test_no_private_attribute_of_an_object_is_read():
    """What begins with an underscore is read of ``self`` and of our modules alone."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                owner = node.value
                if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
                    continue
                assert node.attr.endswith("__"), f"{path.name}, line {node.lineno}"
