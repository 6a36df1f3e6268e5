"""The archive: two parts, read whole or refused, whatever bytes were altered."""

import os
import tracemalloc
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st

from cape import persist
from cape.persist import _container
from cape.persist._container import read_header_part, read_parts, write_parts
from cape.persist._header import header_as_json

HEADER = b'{"a": 1}'
MODEL = b"a model" * 3
HEADER_ENTRIES = {
    "format": "cape-model",
    "format_version": 2,
    "saved": "2026-01-01T00:00:00+00:00",
    "versions": {},
    "columns": [],
    "groups": [],
    "classes": [],
    "settings": {},
    "fingerprint": "f",
    "sha256": "s",
    "details": {},
}


@given(header=st.binary(max_size=100), model=st.binary(max_size=100))
def test_any_parts_come_back(tmp_path_factory, header, model):
    path = tmp_path_factory.mktemp("parts") / "model.cape"
    write_parts(path, header, model, overwrite=False)
    assert read_parts(path) == (header, model)


def test_a_part_can_be_read_with_any_tool(path):
    write_parts(path, HEADER, MODEL, overwrite=False)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["header.json", "model.skops"]
        assert archive.read("header.json") == HEADER


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(path):
    write_parts(path, HEADER, MODEL, overwrite=False)
    with pytest.raises(FileExistsError):
        write_parts(path, b"other", MODEL, overwrite=False)
    assert read_parts(path).header == HEADER
    write_parts(path, b"other", MODEL, overwrite=True)
    assert read_parts(path).header == b"other"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(fitted, path, share):
    persist.save(fitted(pool="threshold"), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="cut short"):
        persist.load(path)


@pytest.mark.parametrize("flipped_bits", [0x01, 0x08, 0xFF])
def test_any_altered_byte_is_harmless_or_refused(path, flipped_bits):
    """Of an archive some bytes mean nothing here, such as the time of a part."""
    write_parts(path, HEADER, MODEL, overwrite=False)
    content = path.read_bytes()
    n_refused = 0
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= flipped_bits
        path.write_bytes(bytes(altered))
        try:
            parts = read_parts(path)
        except ValueError as error:
            n_refused += 1
            assert "path must be a model file written by cape" in str(error)
        else:
            assert parts == (HEADER, MODEL)
    assert n_refused > len(content) / 3


def test_damage_to_a_model_is_noticed(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    content = path.read_bytes()
    for place in np.linspace(200, len(content) - 200, 12).astype(int):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match="path must be"):
            persist.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"x,y\n1,2\n", b"\x80\x04\x95"], ids=["empty", "csv", "pickle"]
)
def test_a_file_that_is_no_archive_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="it is not a zip archive"):
        persist.read_header(path)


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["something.txt"],
        ["header.json"],
        ["model.skops"],
        ["header.json", "model.skops", "more.txt"],
    ],
    ids=str,
)
def test_an_archive_of_other_parts_is_refused(path, names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    with pytest.raises(ValueError, match="it holds other parts"):
        persist.load(path)


def test_a_plain_file_of_skops_is_refused(path):
    path.write_bytes(skops.io.dumps({"a": 1}))
    with pytest.raises(ValueError, match="it holds other parts"):
        persist.load(path)


def test_a_header_that_would_fill_the_memory_is_not_read(path, monkeypatch):
    write_parts(path, HEADER, MODEL, overwrite=False)
    monkeypatch.setattr(_container, "_MOST_HEADER_BYTES", len(HEADER))
    assert read_parts(path).header == HEADER
    monkeypatch.setattr(_container, "_MOST_HEADER_BYTES", len(HEADER) - 1)
    with pytest.raises(ValueError, match="its header is too long"):
        read_parts(path)


@pytest.mark.parametrize("read", [persist.load, persist.read_header])
def test_a_path_without_a_file_is_said_so(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="'.*absent', which does not exist"):
        read(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="which is a folder"):
        read(tmp_path)


def test_the_header_is_read_without_the_model(path):
    """The model would fail its checksum of zip, if a byte of it were read."""
    header = header_as_json(HEADER_ENTRIES)
    write_parts(path, header, MODEL, overwrite=False)
    content = bytearray(path.read_bytes())
    place = content.index(MODEL)
    content[place : place + len(MODEL)] = b"?" * len(MODEL)
    path.write_bytes(bytes(content))
    assert read_header_part(path) == header
    with pytest.raises(ValueError, match="Bad CRC-32"):
        read_parts(path)


def test_the_header_of_a_large_file_is_read_with_little_memory(path):
    header = header_as_json(HEADER_ENTRIES)
    write_parts(path, header, bytes(50_000_000), overwrite=False)
    tracemalloc.start()
    persist.read_header(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_compressed_part_is_refused_before_it_is_read(path, compression):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", HEADER)
        archive.writestr("model.skops", bytes(10_000_000))
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match="header.json is compressed"):
            read(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="which is a pipe"):
        persist.load(tmp_path / "pipe")
