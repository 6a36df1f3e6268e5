"""Columns of another file: their order, their types and their spelling."""

import json

import numpy as np
import pandas as pd
import pytest

from cape._tables import TableError, missing_column
from cape.files import Columns, Notes, plain_text
from cape.files._columns import (
    check_columns_exist,
    check_named_once,
)

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


def ready(frame, notes=None):
    return COLUMNS.table(frame, "new.csv", Notes() if notes is None else notes)


def test_what_was_changed_is_said_and_missing_stays_missing():
    text, changed = plain_text(pd.Series([2.0, np.nan, 3.0]))
    assert text.isna().tolist() == [False, True, False]
    assert changed == "2.0 is read as 2"
    notes = Notes()
    ready(FRAME.assign(z=[1.0, 2.0]), notes)
    assert list(notes) == [
        "group column 'z': 1.0 is read as 1, taken as the same group."
    ]


def test_order_does_not_matter_and_kinds_are_those_of_training():
    notes = Notes()
    table = ready(FRAME[["z", "f", "d", "t", "n"]], notes)
    assert list(table) == ["n", "t", "d", "f", "z"]
    assert [table[c].dtype.kind for c in "ndf"] == ["f", "M", "f"]
    assert str(table["t"].dtype) == "str"
    assert list(notes) == []


@pytest.mark.parametrize(
    ("column", "values", "expected", "words"),
    [
        ("n", ["1.5", None], [1.5, np.nan], "holds text here and numbers in training"),
        ("n", [True, False], [1.0, 0.0], None),
        ("n", pd.to_timedelta(["1s", "2s"]), [1.0, 2.0], None),
        ("t", [7, 8], ["7", "8"], "holds numbers here and text in training"),
        ("t", [7.0, np.nan], ["7", np.nan], "holds numbers here and text in training"),
        ("t", pd.Categorical(["u", "v"]), ["u", "v"], None),
        (
            "d",
            ["2020-01-01", "2020-02-01 10:00:00"],
            pd.to_datetime(["2020-01-01 00:00", "2020-02-01 10:00"]),
            "holds text",
        ),
        (
            "d",
            pd.to_datetime(["2020-01-01", "2020-01-02"]).tz_localize("UTC"),
            pd.to_datetime(["2020-01-01", "2020-01-02"]),
            None,
        ),
        (
            "f",
            ["true", "False"],
            [1.0, 0.0],
            "holds text here and true or false in training",
        ),
        ("f", [1, 0], [1.0, 0.0], "holds numbers here"),
        ("f", [True, None], [1.0, np.nan], None),
        ("d", [None, None], [pd.NaT, pd.NaT], None),
    ],
)
def test_another_type_is_converted_when_harmless_and_said(
    column, values, expected, words
):
    notes = Notes()
    found = ready(FRAME.assign(**{column: values}), notes)[column]
    wanted = pd.Series(expected).astype(found.dtype)
    pd.testing.assert_series_equal(found, wanted, check_names=False)
    assert [words in note for note in notes] == ([True] if words else [])


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        (
            "n",
            ["1", "many"],
            r"column 'n': numbers in training, here text such as 'many' \(1 rows\)",
        ),
        (
            "n",
            pd.to_datetime(["2020-01-01"] * 2),
            r"column 'n': numbers in training, here dates",
        ),
        (
            "d",
            [2019, 2020],
            r"column 'd': dates in training, here numbers such as '2019'",
        ),
        (
            "d",
            ["soon", "later"],
            r"column 'd': dates in training, here text such as 'soon' \(2 rows\)",
        ),
        (
            "f",
            [2, 1],
            r"column 'f': true or false in training, here numbers such as '2'",
        ),
        (
            "f",
            ["maybe", "true"],
            r"column 'f': true or false in training, here text such as 'maybe'",
        ),
    ],
)
def test_another_type_that_would_lose_something_is_an_error(column, values, words):
    with pytest.raises(TableError, match=words):
        ready(FRAME.assign(**{column: values}))


def test_missing_columns_suggest_the_nearest_name():
    assert "did you mean 'Race'?" in str(
        missing_column("race", ["age", "Race"], "new.csv")
    )
    assert "did you mean 'is_recid'?" in str(
        missing_column("is_recidd", ["age", "is_recid"], "new.csv")
    )
    for name in ("quux", "target"):
        error = missing_column(name, ["age", "income"], "new.csv")
        assert "its columns are 'age', 'income'" in str(error)
    with pytest.raises(TableError, match=r"new\.csv has no column 't'"):
        COLUMNS.check_names(["n", "d", "f", "z"], "new.csv", Notes())


def test_extra_columns_are_said_once():
    notes = Notes()
    for _ in range(2):
        assert COLUMNS.check_names([*"ntdfz", "x1", "x2"], "new.csv", notes) is False
    assert COLUMNS.check_names([*"ntdfz", "y"], "new.csv", notes) is True
    assert list(notes) == ["2 columns not used by the model: 'x1', 'x2'."]


def test_labels_are_told_apart_and_a_third_is_refused():
    frame = pd.DataFrame({"y": ["yes", "no", None]})
    assert COLUMNS.positive(frame, "new.csv").tolist() == [1, 0, -1]
    with pytest.raises(
        TableError, match=r"expected 'no' or 'yes', got 'maybe' in 1 of 2 rows"
    ):
        COLUMNS.positive(pd.DataFrame({"y": ["yes", "maybe"]}), "new.csv")


@pytest.mark.parametrize(
    ("labels", "kind", "expected"),
    [
        (("0", "1"), "number", [1, 0]),
        (("-1", "0.5"), "number", [0.5, -1.0]),
        (("False", "True"), "flag", [True, False]),
        (("no", "yes"), "text", ["yes", "no"]),
    ],
)
def test_predictions_are_labels_of_the_kind_of_the_training_file(
    labels, kind, expected
):
    columns = Columns("y", labels, kind, (), {})
    assert columns.as_labels(np.array([True, False])).tolist() == expected


def test_what_is_saved_comes_back_and_nonsense_does_not():
    assert Columns.from_dict(COLUMNS.to_dict()) == COLUMNS
    with pytest.raises(
        ValueError, match=r"content must be what Columns\.to_dict gives"
    ):
        Columns.from_dict({"label": "y"})


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["no"]},
        {"labels": None},
        {"groups": None},
        {"features": ["n"]},
        {"features": None},
    ],
)
def test_content_with_a_part_of_the_wrong_type_is_refused(change):
    content = {**COLUMNS.to_dict(), **change}
    with pytest.raises(ValueError, match="content must be what"):
        Columns.from_dict(content)


def test_to_dict_holds_what_json_gives_back():
    content = COLUMNS.to_dict()
    assert json.loads(json.dumps(content)) == content


def test_the_label_is_read_only_if_it_is_there():
    without = COLUMNS.types(labels=False)
    assert without == {
        "n": "number",
        "t": "text",
        "d": "date",
        "f": "flag",
        "z": "text",
    }
    assert COLUMNS.types(labels=True) == {**without, "y": "text"}
    assert "y" not in COLUMNS.features


def test_the_index_of_the_rows_stays():
    frame = FRAME.set_axis([7, 3])
    assert ready(frame).index.tolist() == [7, 3]


def test_a_missing_group_stays_missing():
    table = ready(FRAME.assign(z=["1", None]))
    assert table["z"].isna().tolist() == [False, True]


@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], ["1", "0"], ["1.0", "0"]])
def test_labels_are_the_same_in_every_spelling(labels):
    columns = Columns("y", ("0", "1"), "number", (), {})
    positive = columns.positive(pd.DataFrame({"y": labels}), "new.csv")
    assert positive.tolist() == [1, 0]
    assert positive.dtype == np.int8


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("no", "yes"), "text"),
        (("9", "10"), "text"),
        (("9", "10"), "number"),
        (("0.5", "1.5"), "number"),
        (("False", "True"), "flag"),
        (("no", "yes"), "flag"),
    ],
)
def test_predicted_labels_can_be_read_back(labels, kind):
    columns = Columns("y", labels, kind, (), {})
    positive = np.array([True, False, True])
    written = pd.DataFrame({"y": columns.as_labels(positive)})
    assert columns.positive(written, "out.csv").tolist() == [1, 0, 1]


def test_the_first_column_that_is_missing_is_named():
    check_columns_exist(["a", "b"], iter(["b", "a"]), "new.csv")
    with pytest.raises(TableError, match="no column 'c'; its columns are 'a', 'b'"):
        check_columns_exist(["a", "c", "d"], iter(["a", "b"]), "new.csv")


def test_many_columns_are_listed_in_part():
    names = [f"column{place}" for place in range(20)]
    message = str(missing_column("quux", names, "new.csv"))
    assert message.endswith("'column11' and 8 more.")


def test_a_group_column_is_named_once():
    check_named_once([])
    check_named_once(["a", "b"])
    with pytest.raises(TableError, match="once, got 'a', 'b', 'a'"):
        check_named_once(["a", "b", "a"])
