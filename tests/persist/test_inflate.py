"""An archive unfolds to no more than it may, whatever sizes it claims."""

import io
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import persist
from cape.persist import _inflate
from cape.persist._damage import Unsound
from cape.persist._inflate import inflate
from cape.persist._skops import _as_skops


def zipped(parts, compression=zipfile.ZIP_DEFLATED):
    """An archive of some parts, as bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def lying(n_bytes, claimed):
    """An archive whose part claims to be shorter than it is."""
    content = bytearray(zipped({"a": bytes(n_bytes)}))
    truth = n_bytes.to_bytes(4, "little")
    lie = claimed.to_bytes(4, "little")
    return bytes(content.replace(truth, lie))


@given(st.dictionaries(st.text("abc", min_size=1), st.binary(max_size=50), max_size=4))
def test_the_parts_stay_as_they_were(parts):
    with zipfile.ZipFile(io.BytesIO(inflate(zipped(parts)))) as plain:
        assert plain.namelist() == list(parts)
        for name, content in parts.items():
            assert plain.read(name) == content
            assert plain.getinfo(name).compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize("n_parts", [1, 5])
def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch, n_parts):
    monkeypatch.setattr(_inflate, "_ALWAYS_ALLOWED", 1 << 20)
    parts = {
        f"part {number}": bytes(20_000_000 // n_parts) for number in range(n_parts)
    }
    bomb = zipped(parts)
    assert len(bomb) < 30_000
    tracemalloc.start()
    with pytest.raises(Unsound, match="unfolds to 20,000,000 bytes, more than the"):
        inflate(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize("claimed", [10, 100_000])
def test_a_part_that_is_longer_than_it_claims_is_not_unpacked(claimed):
    """It takes the memory that it claims, not what it would unfold to."""
    bomb = lying(50_000_000, claimed)
    tracemalloc.start()
    with pytest.raises((zipfile.BadZipFile, Unsound)):
        inflate(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_a_part_that_is_shorter_than_it_claims_is_refused():
    with pytest.raises((zipfile.BadZipFile, Unsound, EOFError)):
        inflate(lying(1000, 2000))


def test_a_part_that_occurs_twice_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"2")
    with pytest.raises(Unsound, match="occurs twice"):
        inflate(buffer.getvalue())


def test_a_bomb_in_a_model_file_is_refused_by_its_name(
    fitted, path, forge, monkeypatch
):
    persist.save(fitted(pool="threshold"), path)
    monkeypatch.setattr(_inflate, "_ALWAYS_ALLOWED", 1 << 20)
    with zipfile.ZipFile(io.BytesIO(_as_skops([1]))) as archive:
        schema = archive.read("schema.json")
    forge(path, model=zipped({"schema.json": schema, "1.npy": bytes(20_000_000)}))
    with pytest.raises(ValueError, match="model.cape': its model unfolds to"):
        persist.load(path)
