"""The table that is trained on: which columns it has, and what is wrong with it."""

import numpy as np
import pandas as pd
import pytest

from cape._tables import TableError
from cape.files import Notes
from cape.files._training_table import ColumnChoice, read_training_table

KINDS = {"x": "number", "t": "text", "z": "text", "s": "text", "y": "number"}


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": random.normal(size=60),
            "t": random.choice(["u", "v"], 60),
            "z": ["a", "b"] * 30,
            "y": [0, 1, 1] * 20,
        }
    )


def choice(label="y", group=("z",), drop=(), positive=None):
    return ColumnChoice(label, tuple(group), tuple(drop), positive)


def read(frame, tmp_path, most=1000, notes=None, on_rows=None, **chosen):
    path = tmp_path / "train.csv"
    frame.to_csv(path, index=False)
    return read_training_table(
        path,
        choice(**chosen),
        dialect=None,
        most=most,
        notes=notes or Notes(),
        on_rows=on_rows or (lambda stage, rows: None),
    )


def test_features_are_all_columns_without_another_role():
    assert choice().features(KINDS, "t.csv") == {
        "x": "number",
        "t": "text",
        "s": "text",
    }
    chosen = choice(group=["z", "s"], drop=["t"])
    assert chosen.features(KINDS, "t.csv") == {"x": "number"}
    assert list(choice(group=[]).features(KINDS, "t.csv")) == ["x", "t", "z", "s"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"label": "Y"}, r"t\.csv has no column 'Y'; did you mean 'y'\?"),
        ({"group": ["zz"]}, r"t\.csv has no column 'zz'"),
        ({"drop": ["xx"]}, r"t\.csv has no column 'xx'"),
        ({"group": ["z", "z"]}, r"a column can be a group once, got 'z', 'z'"),
        ({"label": "z"}, r"'z' cannot be both the label and a group"),
        ({"drop": ["y"]}, r"'y' is the label or a group.*cannot be dropped"),
        ({"drop": ["z"]}, r"'z' is the label or a group.*cannot be dropped"),
        ({"drop": ["x", "t", "s"]}, r"no column left to learn from"),
    ],
)
def test_columns_with_two_roles_or_none_are_refused(chosen, message):
    with pytest.raises(TableError, match=message):
        choice(**chosen).features(KINDS, "t.csv")


def test_a_column_of_lists_is_refused_unless_it_is_dropped():
    kinds = {**KINDS, "v": "other"}
    with pytest.raises(TableError, match=r"column 'v' holds lists or bytes.*--drop"):
        choice().features(kinds, "t.csv")
    assert "v" not in choice(drop=["v"]).features(kinds, "t.csv")


def test_a_small_table_is_read_whole_and_in_order(tmp_path, frame):
    table = read(frame, tmp_path)
    assert list(table.X) == ["x", "t", "z"]
    np.testing.assert_allclose(table.X["x"], frame["x"])
    assert table.y.tolist() == frame["y"].tolist()
    assert table.rows_in_file == 60
    assert table.columns.labels == ("0", "1")
    assert table.columns.label_kind == "number"


def test_a_long_table_is_sampled_with_a_note(tmp_path, frame):
    notes = Notes()
    table = read(frame, tmp_path, most=10, notes=notes)
    assert len(table.X) == 30
    assert table.rows_in_file == 60
    assert table.y.mean() == pytest.approx(2 / 3)
    assert list(notes) == [
        "trained on a sample of 30 of 60 rows, at most 10 of each group and label."
    ]


def test_progress_counts_the_rows_that_were_read(tmp_path, frame):
    counted = []
    read(frame, tmp_path, on_rows=lambda *step: counted.append(step))
    assert {stage for stage, _ in counted} == {"reading"}
    assert sum(rows for _, rows in counted) == 60


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([0, 1], "number"),
        ([0.5, 1.5], "number"),
        (["no", "yes"], "text"),
        ([True, False], "flag"),
        (["2020-01-01", "2020-01-02"], "text"),
    ],
)
def test_the_kind_of_the_label_is_kept_for_predictions(tmp_path, frame, labels, kind):
    table = read(frame.assign(y=labels * 30), tmp_path)
    assert table.columns.label_kind == kind


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 1, 2] * 20}, r"'y' must hold two values, got 3: '0' \(20 rows\)"),
        ({"y": 1}, r"'y' must hold two values, got 1: '1' \(60 rows\)"),
        ({"y": [0, None, 1] * 20}, r"label column 'y': 20 of 60 rows have no label"),
        ({"z": ["a", None] * 30}, r"group column 'z': 30 of 60 rows have no value"),
        ({"x": None, "t": None}, r"all values of all columns to learn from"),
    ],
)
def test_a_table_that_cannot_be_trained_on_is_refused(tmp_path, frame, change, message):
    with pytest.raises(TableError, match=message):
        read(frame.assign(**change), tmp_path)


def test_many_labels_are_counted_in_the_message(tmp_path, frame):
    message = r"must hold two values, got 60: .* and 56 more\.$"
    with pytest.raises(TableError, match=message):
        read(frame, tmp_path, label="x")


def test_a_table_without_rows_is_refused(tmp_path, frame):
    with pytest.raises(TableError, match="has a header but no rows"):
        read(frame.head(0), tmp_path)


def test_features_can_be_left_out(tmp_path, frame):
    table = read(frame.assign(w=frame["x"]), tmp_path)
    smaller = table.without(["x", "t"], "t.csv")
    assert smaller.columns.features == {"w": "number"}
    assert list(smaller.X) == ["w", "z"]
    assert smaller.rows_in_file == table.rows_in_file
    assert (smaller.y == table.y).all()
    # The table itself stays as it was.
    assert list(table.columns.features) == ["x", "t", "w"]
    assert list(table.X) == ["x", "t", "w", "z"]


def test_something_must_be_left_to_learn_from(tmp_path, frame):
    table = read(frame.assign(w=np.nan), tmp_path)
    with pytest.raises(TableError, match=r"t\.csv has no column left.*'x', 't', 'w'"):
        table.without(["x", "t", "w"], "t.csv")
    with pytest.raises(TableError, match=r"all values of all columns to learn from"):
        table.without(["x", "t"], "t.csv")
