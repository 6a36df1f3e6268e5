"""The header says what the file holds, and headers of another kind are refused."""

import json
import zipfile
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, persist
from cape.persist._file import pack


def test_the_header_says_what_the_file_is(fitted, path):
    clf = fitted(pool="threshold")
    before = datetime.now(UTC).replace(microsecond=0)
    persist.save(clf, path, details={"label": "y", "groups": ["z"]})
    header = persist.read_header(path)
    assert header["format"] == "cape-model"
    assert header["format_version"] == 3
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
def test_headers_of_another_kind_are_refused(path, content):
    parts = {} if content is None else {"header.json": content}
    path.write_bytes(pack(parts, None))
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match=r"model\.cape': its header is"):
            read(path)


@pytest.mark.parametrize("number", [0, 2, 99, -1, True, 3.0, "3", None, [3]])
def test_another_format_is_refused_with_both_numbers(fitted, path, forge, number):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header={"format_version": number})
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match="this cape reads 3") as caught:
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


def test_the_header_can_be_read_with_any_tool(fitted, path):
    persist.save(fitted(pool="threshold"), path)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "header.json"
        header = json.loads(archive.read("header.json"))
    assert header == persist.read_header(path)
