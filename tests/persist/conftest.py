"""A place for a model file, and a way to forge one."""

import hashlib
import json
import zipfile

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a test may write a model file."""
    return tmp_path / "model.cape"


@pytest.fixture
def forge():
    """Change parts of a model file, and its checksum to what fits the new parts."""

    def forge(path, *, header=None, model=None):
        with zipfile.ZipFile(path) as archive:
            new_header = json.loads(archive.read("header.json"))
            new_model = archive.read("model.skops")
        if model is not None:
            new_model = model
            new_header["sha256"] = hashlib.sha256(model).hexdigest()
        new_header.update(header or {})
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps(new_header))
            archive.writestr("model.skops", new_model)

    return forge
