"""The header says what the file holds, and headers of another kind are refused."""

import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, persist
from cape.persist._header import _as_json_value, header_as_json, parse_header

HEADER = {
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

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda values: (
        st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3)
    ),
    max_leaves=8,
)


def test_the_header_says_what_the_file_is(fitted, path):
    clf = fitted(pool="threshold")
    persist.save(clf, path, details={"label": "y", "groups": ["z"]})
    header = persist.read_header(path)
    assert header["format"] == "cape-model"
    assert header["format_version"] == 2
    assert header["versions"]["cape"] == cape.__version__
    assert header["versions"]["numpy"] == np.__version__
    assert header["columns"] == ["0", "1"]
    assert header["groups"] == ["0", "1"]
    assert header["classes"] == [0, 1]
    assert header["settings"]["pool"] == "threshold"
    assert header["settings"]["estimator"] == "LogisticRegression()"
    assert header["fingerprint"] == clf.fingerprint_
    assert header["details"] == {"label": "y", "groups": ["z"]}


def test_the_time_of_saving_is_in_utc(fitted, path):
    before = datetime.now(UTC).replace(microsecond=0)
    persist.save(fitted(pool="threshold"), path)
    saved = datetime.fromisoformat(persist.read_header(path)["saved"])
    assert before <= saved <= datetime.now(UTC)
    assert saved.utcoffset().total_seconds() == 0


def test_names_of_columns_classes_and_groups_are_kept(train, path):
    X = pd.DataFrame(train.X, columns=["age", "priors"])
    y = np.where(train.y == 1, "yes", "no")
    groups = pd.DataFrame({"race": np.where(train.z, "a", "b"), "old": train.z == 1})
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    persist.save(clf.fit(X, y, sensitive_features=groups), path)
    header = persist.read_header(path)
    assert header["columns"] == ["age", "priors"]
    assert header["classes"] == ["no", "yes"]
    assert header["groups"] == ["a, True", "b, False"]
    assert header["details"] == {}


def test_settings_that_json_cannot_hold_become_text(fitted, path):
    clf = fitted(pool="threshold", prevalences=np.array([0.25, 0.5]))
    persist.save(clf, path)
    assert persist.read_header(path)["settings"]["prevalences"] == "[0.25 0.5 ]"


def test_numbers_that_json_cannot_hold_become_text():
    numbers = [float("inf"), -np.inf, np.float64("nan")]
    assert _as_json_value(numbers) == ["inf", "-inf", "nan"]


@given(json_values)
def test_values_of_json_stay_as_they_are(value):
    if isinstance(value, dict):
        assert _as_json_value(value) == str(value)
    elif not isinstance(value, list):
        assert _as_json_value(value) == value
    json.dumps(_as_json_value(value), allow_nan=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ((1, np.int8(2)), [1, 2]),
        ([(np.float32(0.5),), None], [[0.5], None]),
        (LogisticRegression(C=2), "LogisticRegression(C=2)"),
    ],
    ids=repr,
)
def test_scalars_of_numpy_become_those_of_python(value, expected):
    result = _as_json_value(value)
    assert result == expected
    assert json.loads(json.dumps(result)) == expected


@pytest.mark.parametrize(
    "details",
    [{"what": object()}, {"what": {1, 2}}, {"share": float("nan")}],
    ids=["object", "set", "NaN"],
)
def test_details_that_json_cannot_hold_are_refused(fitted, path, details):
    with pytest.raises(ValueError, match="details must be a mapping that JSON can"):
        persist.save(fitted(pool="threshold"), path, details=details)
    assert list(path.parent.iterdir()) == []


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_any_header_comes_back(details):
    header = {**HEADER, "details": details}
    assert parse_header(header_as_json(header), "model.cape") == header


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its header is not JSON"),
        (b"{", "its header is not JSON"),
        (b"\xff\xfe", "its header is not JSON"),
        (b"[" * 100_000, "its header is not JSON"),
        (b"[]", "its header is of another kind"),
        (b"{}", "its header is of another kind"),
        (b'{"format": "other"}', "its header is of another kind"),
        (b'{"format": "cape-model"}', "its format is version None"),
        (
            b'{"format": "cape-model", "format_version": 99}',
            "its format is version 99, this cape reads 2",
        ),
        (
            b'{"format": "cape-model", "format_version": 2, "versions": {}}',
            "its header lacks saved, columns, groups, classes, settings, fingerprint",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_headers_of_another_kind_are_refused(content, message):
    with pytest.raises(ValueError, match="path must be a model file") as caught:
        parse_header(content, "model.cape")
    assert message in str(caught.value)
    assert "'model.cape'" in str(caught.value)


@pytest.mark.parametrize("number", [0, 1, 99, -1, True, 2.0, "2", None, [2]])
def test_another_format_is_refused_with_both_numbers(number):
    content = header_as_json({**HEADER, "format_version": number})
    with pytest.raises(ValueError, match="this cape reads 2") as caught:
        parse_header(content, "model.cape")
    assert f"its format is version {number!r}" in str(caught.value)


@pytest.mark.parametrize("name", [name for name in HEADER if "format" not in name])
@pytest.mark.parametrize("value", [None, 3, [[]], "text"], ids=repr)
def test_entries_of_another_type_are_refused(name, value):
    if type(value) is type(HEADER[name]):
        value = 0.5
    content = header_as_json({**HEADER, name: value})
    with pytest.raises(ValueError, match=f"'model.cape': {name} in its header must"):
        parse_header(content, "model.cape")


@pytest.mark.parametrize("header", [{"format": "other"}, {"format_version": 99}])
def test_files_with_another_header_are_not_loaded(fitted, path, forge, header):
    persist.save(fitted(pool="threshold"), path)
    forge(path, header=header)
    for read in (persist.load, persist.read_header):
        with pytest.raises(ValueError, match="another kind|version 99"):
            read(path)


def test_other_versions_give_a_warning_that_names_them(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    versions = persist.read_header(path)["versions"]
    versions |= {"scikit-learn": "1.2.3", "no-such-package": "4.5"}
    forge(path, header={"versions": versions})
    with pytest.warns(UserWarning, match="predictions may differ") as caught:
        persist.load(path)
    message = str(caught[0].message)
    assert "scikit-learn 1.2.3 (here 1." in message
    assert "no-such-package 4.5 (here missing)" in message
    assert "numpy" not in message
    # The warning points at the line that loads.
    assert caught[0].filename == __file__


def test_other_versions_of_python_and_skops_give_no_warning(fitted, path, forge):
    persist.save(fitted(pool="threshold"), path)
    versions = persist.read_header(path)["versions"]
    versions |= {"python": "3.99.0", "skops": "0.1"}
    forge(path, header={"versions": versions})
    persist.load(path)
