"""A place for a model file, and a way to forge one."""

import json
from types import SimpleNamespace

import pytest

from cape.persist._file import pack, read_parts


@pytest.fixture
def path(tmp_path):
    """Where a test may write a model file."""
    return tmp_path / "model.cape"


@pytest.fixture(scope="session")
def model_file():
    """Pack parts into a model file, and read them."""
    return SimpleNamespace(pack=pack, read=read_parts)


@pytest.fixture
def forge():
    """Change parts of a model file, and its hash to what fits the new parts."""

    def forge(path, *, header=None, schema=None, parts=None, key=None):
        content = {**read_parts(path, None), **(parts or {})}
        for name, change in (("header.json", header), ("schema.json", schema)):
            if change is not None:
                entries = json.loads(content[name])
                # A function changes the entries in place.
                if callable(change):
                    change(entries)
                else:
                    entries.update(change)
                content[name] = json.dumps(entries).encode()
        path.write_bytes(pack(content, key))

    return forge
