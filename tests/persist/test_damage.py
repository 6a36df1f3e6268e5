"""Any damage is a ValueError that names the file, whatever library noticed it."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from cape import persist
from cape.persist._damage import Unsound, naming


@pytest.fixture
def saved(fitted, path):
    """A model file, as its header and the parts of its model."""
    persist.save(fitted(pool="threshold"), path)
    with zipfile.ZipFile(path) as archive:
        model = archive.read("model.skops")
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def first_array(parts):
    return next(name for name in parts if name.endswith(".npy"))


def with_array_header(parts, header):
    """Put another header before the numbers of an array."""
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    return zipped({**parts, first_array(parts): content + bytes(64)})


def with_schema(parts, change):
    schema = json.loads(parts["schema.json"])
    change(schema["content"]["content"])
    return zipped({**parts, "schema.json": json.dumps(schema)})


def flip(content, place, bits):
    altered = bytearray(content)
    altered[place] ^= bits
    return bytes(altered)


def unknown_compression(parts):
    """NotImplementedError of zipfile."""
    content = zipped(parts)
    place = content.index(b"PK\x01\x02") + 10
    return flip(content, place, 97)


def encrypted(parts):
    """RuntimeError of zipfile."""
    content = zipped(parts)
    content = flip(content, content.index(b"PK\x01\x02") + 8, 1)
    return flip(content, content.index(b"PK\x03\x04") + 6, 1)


def cut_within_a_part(parts):
    """zlib.error or EOFError of zipfile."""
    content = zipped(parts, zipfile.ZIP_DEFLATED)
    place = content.index(b"PK\x03\x04") + 60
    return content[:place] + bytes(40) + content[place + 40 :]


def endless_brackets(parts):
    """RecursionError of json."""
    return zipped({**parts, "schema.json": b"[" * 100_000})


def deep_schema(parts):
    """RecursionError of skops, or of json where Python allows skops more."""
    # As text, since json cannot write what is too deep for it to read.
    empty = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"'
    node = f'{empty}, "content": [' * 3000 + "]}" * 3000
    schema = json.loads(parts["schema.json"])
    schema["content"]["content"]["estimator"] = "HERE"
    return zipped({**parts, "schema.json": json.dumps(schema).replace('"HERE"', node)})


def half_a_shape(parts):
    """TokenError of numpy's parser."""
    return with_array_header(parts, "{'descr': '<f8', 'shape': (1,\n")


def more_than_fits(parts):
    """MemoryError of numpy."""
    return with_array_header(
        parts, "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213,)}\n"
    )


def objects_by_pickle(parts):
    """ValueError of numpy, which does not know the file."""
    return with_array_header(
        parts, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n"
    )


def no_groups(parts):
    """AttributeError of cape."""

    def change(content):
        del content["groups_"]

    return with_schema(parts, change)


def no_fingerprint(parts):
    """AttributeError of cape."""

    def change(content):
        del content["fingerprint_"]

    return with_schema(parts, change)


def no_schema(parts):
    """KeyError of zipfile."""
    return zipped({"other.json": b"{}"})


def schema_of_another_kind(parts):
    """AttributeError of skops."""
    return zipped({**parts, "schema.json": b"[1, 2]"})


def unknown_loader(parts):
    """TypeError of skops."""

    def change(content):
        content["estimator"]["__loader__"] = "NoSuchNode"

    return with_schema(parts, change)


def module_that_does_not_exist(parts):
    """TypeError or ImportError of skops."""

    def change(content):
        content["estimator"]["__module__"] = "sklearn.no_such_module"

    return with_schema(parts, change)


@pytest.mark.parametrize(
    "damage",
    [
        unknown_compression,
        encrypted,
        cut_within_a_part,
        endless_brackets,
        deep_schema,
        half_a_shape,
        more_than_fits,
        objects_by_pickle,
        no_groups,
        no_fingerprint,
        no_schema,
        schema_of_another_kind,
        unknown_loader,
        module_that_does_not_exist,
    ],
    ids=lambda damage: damage.__name__,
)
def test_damage_is_a_value_error_that_names_the_file(saved, path, forge, damage):
    forge(path, model=damage(saved))
    with pytest.raises(ValueError, match="path must") as caught:
        persist.load(path)
    assert str(path) in str(caught.value)
    # Its header is whole.
    assert persist.read_header(path)["groups"] == ["0", "1"]


def test_the_file_is_whole_without_damage(saved, path, forge, fitted, batch):
    """Otherwise the test above would say nothing."""
    forge(path, model=zipped(saved))
    clf = fitted(pool="threshold")
    np.testing.assert_array_equal(
        persist.load(path).predict(batch.X, sensitive_features=batch.z),
        clf.predict(batch.X, sensitive_features=batch.z),
    )


def test_what_is_wrong_is_said_in_a_sentence():
    with (
        pytest.raises(ValueError, match="got 'm.cape': its tree is too wide."),
        naming("m.cape"),
    ):
        raise Unsound("its tree is too wide.")


def test_a_long_message_is_cut():
    with pytest.raises(ValueError, match="it is damaged") as caught, naming("m.cape"):
        raise KeyError("x" * 10_000)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, Warning, NameError])
def test_errors_that_tell_of_no_damage_pass(error):
    """Among them a mistake in the code."""
    with pytest.raises(error), naming("m.cape"):
        raise error
