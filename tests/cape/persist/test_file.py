"""The file: damage is found, keys sign, sizes are bounded; what its header says."""

import io
import json
import os
import sys
import warnings
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, persist

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

sys.path.pop(0)

KEY = "a key of some length"


def test_damaged_files_are_refused(tmp_path):
    """``make fuzz`` tries thousands, of all learners."""
    learners = ["linear", "histogram boosting", "boosted tables"]
    outcomes = list(fuzz.fuzz(tmp_path, 60, seed=16, names=learners))
    assert [pair for pair in outcomes if pair[1] != "refused"] == []
    assert len(outcomes) > 55


@given(
    parts=st.dictionaries(st.text("abc", min_size=1), st.binary(max_size=50)),
    key=st.none() | st.binary(min_size=1),
)
def test_any_parts_come_back(model_file, tmp_path_factory, parts, key):
    path = tmp_path_factory.mktemp("parts") / "model.cape"
    path.write_bytes(model_file.pack(parts, key))
    assert model_file.read(path, None) == parts
    # Any tool for archives can read them too.
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == list(parts)


def test_every_altered_byte_is_found(model_file, path):
    content = model_file.pack({"header.json": b"{}", "a.npy": b"numbers"}, KEY.encode())
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 0x01 if place % 2 else 0xFF
        path.write_bytes(bytes(altered))
        with pytest.raises(ValueError, match="path must be a model file written"):
            model_file.read(path, None)


@pytest.mark.parametrize(
    "content", [b"", b"x,y\n1,2\n", b"\x80\x04\x95"], ids=["empty", "csv", "pickle"]
)
def test_a_file_of_another_kind_is_refused(path, content):
    path.write_bytes(content)
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match="damaged or cut short, or of another"):
            read(path)


@pytest.mark.parametrize("read", [persist.load, persist.read_header])
def test_a_path_without_a_file_is_said_so(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="'.*absent', which does not exist"):
        read(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="which is a folder"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="which is a pipe"):
        read(tmp_path / "pipe")


def test_a_signed_file_is_loaded_with_its_key(fitted, path, tmp_path, environ):
    clf = fitted(pool="threshold")
    persist.save(clf, path, key=KEY)
    key_file = tmp_path / "key"
    key_file.write_text(f"{KEY}\n")
    for key in (KEY, KEY.encode(), key_file):
        assert persist.load(path, key=key).fingerprint_ == clf.fingerprint_
        assert persist.read_header(path, key=key)["groups"] == ["0", "1"]
    # Who has no key cannot tell who signed the file, and may read it.
    assert persist.load(path).fingerprint_ == clf.fingerprint_
    environ("CAPE_KEY", KEY)
    assert persist.load(path).fingerprint_ == clf.fingerprint_


@pytest.mark.parametrize("saved_with", [None, "another key"])
def test_with_a_key_other_files_are_refused(fitted, path, environ, saved_with):
    persist.save(fitted(pool="threshold"), path, key=saved_with)
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match=r"model\.cape.*not signed with the key"):
            read(path, key=KEY)
        environ("CAPE_KEY", KEY)
        with pytest.raises(ValueError, match="not signed with the key"):
            read(path)
        environ("CAPE_KEY", None)


def test_the_environment_signs(fitted, path, environ):
    environ("CAPE_KEY", KEY)
    persist.save(fitted(pool="threshold"), path)
    with pytest.raises(ValueError, match="not signed with the key"):
        persist.load(path, key="another key")
    environ("CAPE_KEY", None)
    persist.load(path, key=KEY)


def test_a_signature_of_another_file_does_not_fit(fitted, path, forge):
    """The last bytes of a signed file, behind the content of a forged one."""
    persist.save(fitted(pool="threshold"), path, key=KEY)
    signed = path.read_bytes()
    forge(path, header={"fingerprint": "f" * 64}, key=b"another key")
    forged = path.read_bytes()
    n_seal = len("cape hmac-sha256 ") + 64 + len("cape sha256 ") + 64
    path.write_bytes(forged[:-n_seal] + signed[-n_seal:])
    for key in (None, KEY):
        with pytest.raises(ValueError, match="path must be a model file"):
            persist.load(path, key=key)


def test_a_key_that_can_be_guessed_is_told(fitted, path):
    with pytest.warns(UserWarning, match="only 3 characters"):
        persist.save(fitted(pool="threshold"), path, key="abc")


def test_the_name_of_a_file_is_no_key(fitted, path, tmp_path, environ, monkeypatch):
    """It signed with its own letters."""
    (tmp_path / "key.txt").write_text(KEY)
    clf = fitted(pool="threshold")
    monkeypatch.chdir(tmp_path)
    persist.save(clf, path, key=Path("key.txt"))
    for key in ("key.txt", str(tmp_path / "key.txt")):
        message = r"got the name of a file, '.*key\.txt'.* pathlib\.Path"
        with pytest.raises(ValueError, match=message):
            persist.save(clf, path.with_name("other.cape"), key=key)
        for read in (persist.load, persist.read_header):
            with pytest.raises(ValueError, match=message):
                read(path, key=key)
        with monkeypatch.context() as changed:
            changed.setenv("CAPE_KEY", key)
            with pytest.raises(ValueError, match="--key-file to a command"):
                persist.load(path)
    assert not path.with_name("other.cape").exists()


@pytest.mark.parametrize("key", ["", b"", " \n"])
def test_an_empty_key_is_refused(fitted, path, key, environ):
    with pytest.raises(ValueError, match="key must not be empty"):
        persist.save(fitted(pool="threshold"), path, key=key)
    if isinstance(key, str):
        environ("CAPE_KEY", key)
        with pytest.raises(ValueError, match="key must not be empty"):
            persist.load(path)
    assert not path.exists()


def as_array(header, length):
    """An array with any header before some zeros."""
    buffer = io.BytesIO(b"")
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + bytes(length)


def in_archive(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", content)
    return buffer.getvalue()


def array_of(shape, kind="<f8", length=80):
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    return as_array(header, length)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npy", array_of((10**9,))),
        ("a.npy", array_of((2305843009213693952, 8))),
        ("a.npy", array_of((10**9,), kind="|V0", length=0)),
        ("a.npy", array_of((2,))),
        ("a.npy", b"no array"),
        ("a.npz", in_archive(array_of((10**9,)))),
        ("a.npz", in_archive(bytes(200_000_000))),
        ("a.bin", bytes(200_000_000)),
    ],
    ids=["more", "too many", "of nothing", "fewer", "none", "within", "bomb", "zeros"],
)
def test_more_than_a_file_has_room_for_is_refused(model_file, path, name, content):
    path.write_bytes(model_file.pack({name: content}, None))
    with pytest.raises(ValueError, match=r"model\.cape.*damaged or was altered"):
        model_file.read(path, None)


@pytest.mark.parametrize("values", [b"[],", b'{"a":1},', b'"a",', b"1,"])
@pytest.mark.parametrize("name", ["schema.json", "header.json", "adaptation.json"])
def test_json_of_too_many_values_is_refused(model_file, path, values, name):
    """A schema of 60 MB of lists took 40 s and 2.8 GB."""
    content = b"[" + values * 4_000_001 + b"1]"
    path.write_bytes(model_file.pack({name: content}, None))
    with pytest.raises(ValueError, match=f"{name} holds more than 4,000,000 values"):
        model_file.read(path, None)
    if name == "header.json":
        with pytest.raises(ValueError, match="header.json holds more than"):
            persist.read_header(path)


@pytest.mark.parametrize("factor", [1, 2, 8])
def test_numbers_of_parts_that_share_a_hash_are_refused(fitted, path, forge, factor):
    """A dict of multiples of 2^61 - 1 made loading quadratic."""
    persist.save(fitted(pool="threshold"), path)

    def renumber(schema):
        schema["__id__"] = factor * (2**61 - 1)

    forge(path, schema=renumber)
    with pytest.raises(ValueError, match="a part has the number"):
        persist.load(path)


def test_arrays_that_fit_are_read(model_file, path):
    matrix = scipy.sparse.csr_matrix(np.eye(30))
    sparse = io.BytesIO()
    scipy.sparse.save_npz(sparse, matrix)
    arrays = [np.arange(7.0), np.array(3), np.empty((0, 3)), np.array(["a", "bc"])]
    parts = {"matrix.npz": sparse.getvalue()}
    for number, array in enumerate(arrays):
        buffer = io.BytesIO()
        np.save(buffer, array)
        parts[f"{number}.npy"] = buffer.getvalue()
    path.write_bytes(model_file.pack(parts, None))
    read = model_file.read(path, None)
    for number, array in enumerate(arrays):
        content = np.load(io.BytesIO(read[f"{number}.npy"]))
        np.testing.assert_array_equal(content, array)
    loaded = scipy.sparse.load_npz(io.BytesIO(read["matrix.npz"]))
    np.testing.assert_array_equal(loaded.toarray(), np.eye(30))


def test_a_part_that_occurs_twice_is_refused(model_file, path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.npy", b"")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("data.npy", b"")
    path.write_bytes(model_file.pack({"a.npz": buffer.getvalue()}, None))
    with pytest.raises(ValueError, match="a part occurs twice"):
        model_file.read(path, None)


def test_the_header_says_what_the_file_is(fitted, path):
    clf = fitted(pool="threshold")
    before = datetime.now(UTC).replace(microsecond=0)
    persist.save(clf, path, details={"label": "y", "groups": ["z"]})
    header = persist.read_header(path)
    assert header["format"] == "cape-model"
    assert header["format_version"] == 5
    assert before <= datetime.fromisoformat(header["saved"]) <= datetime.now(UTC)
    assert header["versions"]["cape"] == cape.__version__
    assert header["versions"]["numpy"] == np.__version__
    assert header["columns"] == ["0", "1"]
    assert header["groups"] == ["0", "1"]
    assert header["classes"] == [0, 1]
    assert header["settings"]["pool"] == "threshold"
    assert header["settings"]["estimator"] == "LogisticRegression()"
    assert "n_jobs" not in header["settings"]
    assert header["fingerprint"] == clf.fingerprint_
    assert header["details"] == {"label": "y", "groups": ["z"]}


def test_names_of_columns_classes_and_groups_are_kept(train, path):
    X = pd.DataFrame(train.X, columns=["age", "priors"])
    y = np.where(train.y == 1, "yes", "no")
    groups = pd.DataFrame({"race": np.where(train.z, "a", "b"), "old": train.z == 1})
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    persist.save(clf.fit(X, y, sensitive_features=groups), path)
    header = persist.read_header(path)
    assert header["columns"] == ["age", "priors"]
    assert header["classes"] == ["no", "yes"]
    assert len(header["groups"]) == 2
    assert header["details"] == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([0.25, 0.5]), "[0.25 0.5 ]"),
        ([np.float64(0.25), 0.5], [0.25, 0.5]),
        (np.int64(5), 5),
    ],
    ids=repr,
)
def test_settings_become_values_of_json(fitted, path, value, expected):
    persist.save(fitted(pool="threshold", prevalences=value), path)
    assert persist.read_header(path)["settings"]["prevalences"] == expected


@pytest.mark.parametrize(
    "details",
    [{"what": object()}, {"what": {1, 2}}, {"share": float("nan")}],
    ids=["object", "set", "NaN"],
)
def test_details_that_json_cannot_hold_are_refused(fitted, path, details):
    with pytest.raises(ValueError, match="details must be a mapping that JSON can"):
        persist.save(fitted(pool="threshold"), path, details=details)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b'{"format": "other"}', None],
    ids=lambda content: str(content)[:20],
)
def test_headers_of_another_kind_are_refused(model_file, path, content):
    parts = {} if content is None else {"header.json": content}
    path.write_bytes(model_file.pack(parts, None))
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match=r"model\.cape': its header is"):
            read(path)


@pytest.mark.parametrize("number", [3, True, "4", None])
def test_another_format_is_refused_with_both_numbers(fitted, path, forge, number):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header={"format_version": number})
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match="this cape reads 5") as caught:
            read(path)
        assert f"its format is version {number!r}" in str(caught.value)


def test_entries_of_another_type_are_refused(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    entries = set(persist.read_header(path)) - {"format", "format_version"}
    content = path.read_bytes()
    for name in sorted(entries):
        path.write_bytes(content)
        forge(path, header={name: None})
        with pytest.raises(ValueError, match=f"cape': {name} in its header must"):
            persist.read_header(path)


def test_another_fingerprint_is_refused(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header={"fingerprint": "f" * 64})
    with pytest.raises(ValueError, match="the fingerprint of another model"):
        persist.load(path)


def test_other_versions_give_a_warning_that_names_them(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    versions = persist.read_header(path)["versions"]
    versions |= {"python": "3.99.0", "skops": "0.1"}
    forge(path, header={"versions": versions})
    persist.load(path)
    versions |= {"scikit-learn": "1.2.3", "no-such-package": "4.5"}
    forge(path, header={"versions": versions})
    with pytest.warns(UserWarning, match="predictions may differ") as caught:
        persist.load(path)
    message = str(caught[0].message)
    assert "scikit-learn 1.2.3 (here 1." in message
    assert "no-such-package 4.5 (here missing)" in message
    assert "numpy" not in message and "skops" not in message
    # The warning points at the line that loads.
    assert caught[0].filename == __file__


def test_a_file_that_other_versions_cannot_build_names_them_and_the_way(
    fitted, path, forge
):
    persist.save(fitted(pool="threshold"), path)
    versions = persist.read_header(path)["versions"]
    versions |= {"scikit-learn": "1.2.3"}

    def break_it(schema):
        schema["content"]["content"]["models_"]["content"].clear()

    forge(path, header={"versions": versions}, schema=break_it)
    with (
        pytest.warns(UserWarning, match="may differ"),
        pytest.raises(ValueError, match=r"pip install scikit-learn==1\.2\.3"),
    ):
        persist.load(path)


def test_encoders_of_another_version_are_not_built(path, forge):
    X = pd.DataFrame({"x": np.arange(60.0), "text": ["a", "b", "c"] * 20})
    y = np.arange(60) % 2
    clf = CapeClassifier(cv=2, random_state=0)
    with warnings.catch_warnings():
        # Labels that nothing tells.
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    persist.save(clf, path)
    versions = persist.read_header(path)["versions"]
    forge(path, header={"versions": versions | {"skrub": "0.1.0"}})
    with pytest.raises(ValueError, match=r"pip install skrub==0\.1\.0"):
        persist.load(path)


def test_the_header_can_be_read_with_any_tool(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "header.json"
        header = json.loads(archive.read("header.json"))
    assert header == persist.read_header(path)
