"""Columns of another file: their order, their types and their spelling."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.base._table import (
    as_kind,
    plain_text,
    plain_value,
)
from cape_app.files._columns import (
    Columns,
)
from cape_app.files._notes import Notes

COLUMNS = Columns(
    "y",
    ("no", "yes"),
    "text",
    ("z",),
    {"n": "number", "t": "text", "d": "date", "f": "flag"},
)
FRAME = pd.DataFrame(
    {
        "n": [1, 2],
        "t": ["a", None],
        "d": pd.to_datetime(["2020-01-01", None]),
        "f": [True, False],
        "z": ["1", "2"],
    }
)
DAYS = pd.to_datetime(["2020-01-01", "2020-01-02"])


def test_order_does_not_matter_and_kinds_are_those_of_training(notes):
    shuffled = FRAME[["z", "f", "d", "t", "n"]].set_axis([7, 3])
    table = COLUMNS.trained.table(shuffled, "new.csv", notes)
    assert list(table) == ["n", "t", "d", "f", "z"]
    assert [table[c].dtype.kind for c in "ndf"] == ["f", "M", "f"]
    assert str(table["t"].dtype) == "str"
    assert table.index.tolist() == [7, 3]
    assert list(notes) == []


@pytest.mark.parametrize(
    ("values", "kind", "expected", "said"),
    [
        ([1.5, -2.0], "number", [1.5, -2.0], None),
        (["1.5", None], "number", [1.5, np.nan], ("text", "number")),
        (["1", "  ", ""], "number", [1.0, np.nan, np.nan], ("text", "number")),
        ([True, None, False], "number", [1.0, np.nan, 0.0], None),
        (pd.array([1, None], dtype="Int64"), "number", [1.0, np.nan], None),
        (pd.to_timedelta(["1min", None]), "number", [60.0, np.nan], None),
        ([Decimal("1.5"), None], "number", [1.5, np.nan], None),
        ([None, None], "number", [np.nan, np.nan], None),
        (["a", "007"], "text", ["a", "007"], None),
        ([7.0, np.nan], "text", ["7", np.nan], ("number", "text")),
        (pd.Categorical(["u", "v"]), "text", ["u", "v"], None),
        ([None, None], "text", [np.nan, np.nan], None),
        (DAYS, "date", DAYS, None),
        (list(DAYS.date), "date", DAYS, None),
        (["2020-01-01", "2020-01-02 00:00:00"], "date", DAYS, ("text", "date")),
        (["01.01.2020", "2.1.2020"], "date", DAYS, ("text", "date")),
        (DAYS.tz_localize("UTC").tz_convert("Europe/Vienna"), "date", DAYS, None),
        ([None, None], "date", [pd.NaT, pd.NaT], None),
        ([True, None], "flag", [1.0, np.nan], None),
        (pd.array([True, None], dtype="boolean"), "flag", [1.0, np.nan], None),
        (["true", "False"], "flag", [1.0, 0.0], ("text", "flag")),
        ([1, 0], "flag", [1.0, 0.0], ("number", "flag")),
        ([None, None], "flag", [np.nan, np.nan], None),
    ],
)
def test_another_type_is_converted_when_harmless_and_said(
    notes, values, kind, expected, said
):
    column = as_kind(pd.Series(values, name="c"), kind, "new.csv", notes)
    wanted = pd.Series(expected).astype(column.dtype)
    pd.testing.assert_series_equal(column, wanted, check_names=False)
    noted = [(note.values["here"], note.values["training"]) for note in notes]
    assert noted == ([said] if said else [])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10))
def test_numbers_in_text_are_the_same_numbers(make_notes, values):
    texts = pd.Series([repr(value) for value in values], name="c")
    column = as_kind(texts, "number", "new.csv", make_notes())
    # pandas 3.0 reads some texts to the number beside.
    np.testing.assert_array_max_ulp(column.to_numpy(), np.array(values), maxulp=1)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["1", "many"], "number", r"numbers in training, here text such as 'many'"),
        (DAYS, "number", r"numbers in training, here dates .* \(2 rows\)"),
        ([2019, 2020], "date", r"dates in training, here numbers such as '2019'"),
        (["soon", "later"], "date", r"here text such as 'soon' \(2 rows\)"),
        ([2, 1], "flag", r"true/false values in training, here numbers such as '2'"),
        (["x" * 41, "true"], "flag", r"here text such as 'x{40}' \(1 rows\)"),
    ],
)
def test_a_conversion_that_would_lose_values_is_refused(notes, values, kind, message):
    with pytest.raises(ValueError, match=rf"^new\.csv, column 'c': .*{message}"):
        as_kind(pd.Series(values, name="c"), kind, "new.csv", notes)
    assert list(notes) == []


def test_names_are_checked_and_extra_columns_are_noted_once(notes):
    for _ in range(2):
        assert COLUMNS.check_names([*"ntdfz", "x1", "x2"], "new.csv", notes) is False
    assert COLUMNS.check_names([*"ntdfz", "y"], "new.csv", notes) is True
    assert [note.values for note in notes] == [{"columns": ["x1", "x2"]}]
    with pytest.raises(ValueError, match=r"new\.csv has no column 't'"):
        COLUMNS.check_names(["n", "d", "f", "z"], "new.csv", notes)


def test_labels_are_told_apart_and_a_third_is_refused(notes):
    frame = pd.DataFrame({"y": ["yes", "no", None]})
    assert COLUMNS.positive(frame, "new.csv", notes).tolist() == [1, 0, -1]
    with pytest.raises(ValueError, match=r"got 'maybe' in 1 of 2 rows"):
        COLUMNS.positive(pd.DataFrame({"y": ["yes", "maybe"]}), "new.csv", notes)


def test_an_unseen_label_is_part_of_the_rest(notes):
    columns = Columns("y", ("not a", "a"), "text", (), {}, (("b", "c"), ("a",)))
    frame = pd.DataFrame({"y": ["a", "b", "d", None, "not a"]})
    assert columns.positive(frame, "new.csv", notes).tolist() == [1, 0, 0, -1, 0]
    assert [note.values["value"] for note in notes] == ["d"]


@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], ["1", "0"], ["1.0", "0"]])
def test_labels_are_the_same_in_every_spelling(labels, notes):
    columns = Columns("y", ("0", "1"), "number", (), {})
    positive = columns.positive(pd.DataFrame({"y": labels}), "new.csv", notes)
    assert positive.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        (("0", "1"), "number", [1, 0]),
        (("-1", "0.5"), "number", [0.5, -1.0]),
        (("9", "10"), "text", ["10", "9"]),
        (("False", "True"), "flag", [True, False]),
        (("no", "yes"), "flag", ["yes", "no"]),
    ],
)
def test_predictions_are_labels_of_the_kind_of_the_training_file(
    labels, kind, expected, notes
):
    columns = Columns("y", labels, kind, (), {})
    written = columns.as_labels(np.array([True, False]))
    assert written.tolist() == expected
    back = columns.positive(pd.DataFrame({"y": written}), "out.csv", notes)
    assert back.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(one, "1") for one in (1, 1.0, "1", "1.0", "1.00", "1,0", np.float32(1))]
    + [(text, text) for text in ("007", "1.5", "a", "", "1e0", "1.", "1,000", "1.0a")]
    + [("-3.0", "-3"), (-3.0, "-3"), (1e20, "100000000000000000000")],
)
def test_whole_numbers_have_one_spelling_and_other_text_its_own(value, expected):
    assert plain_value(value) == expected
    assert plain_text(pd.Series([value, value])).tolist() == [expected, expected]


@given(st.lists(st.integers(-(2**40), 2**40) | st.none(), min_size=1, max_size=20))
def test_integers_floats_and_text_agree(values):
    integers = pd.Series(values, dtype="Int64")
    words = [None if value is None else str(value) for value in values]
    expected = plain_text(pd.Series(words, dtype="str"))
    for series in (integers, integers.astype("float64")):
        pd.testing.assert_series_equal(plain_text(series), expected)


@settings(max_examples=15)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=20))
def test_plain_text_of_plain_text_is_itself(values):
    once = plain_text(pd.Series(values, dtype="str"))
    notes = Notes()
    assert plain_text(once, notes).tolist() == once.tolist()
    assert list(notes) == []


def test_a_group_column_that_is_respelled_is_noted_once(notes):
    values = pd.Series([2.0, np.nan, 3.0], index=[7, 5, 6], name="ward")
    for _ in range(2):
        text = plain_text(values, notes)
    assert text.isna().tolist() == [False, True, False]
    assert text.index.tolist() == [7, 5, 6]
    assert [note.values for note in notes] == [
        {"column": "ward", "value": 2.0, "read_as": "2"}
    ]
    plain_text(pd.Series(["north", "south"]), notes)
    assert len(list(notes)) == 1
