"""A task is data: rows, features, label and group are read off it."""

import pandas as pd
import pytest

from cape.datasets import Task, read_task

TASK = Task(
    name="visits",
    label="visits",
    positive_from=10,
    group="race",
    groups={"w": "White", "n": "Non-White"},
    period="date",
    periods={"train": "2015", "test": "2016"},
    features=("age", "sex"),
    codes={"sex": {"F": 0, "M": 1}},
    required=("charge",),
    at_least={"age": 0},
    notes="What was chosen.",
)
TABLE = pd.DataFrame(
    {
        "visits": [3, 12, 10, 9, 20, 30],
        "race": ["w", "n", "x", "w", "n", "w"],
        "date": [
            "2015-01-01",
            "2015-02-01",
            "2015-03-01",
            "2016-01-01",
            "2016-02-01",
            "2017-01-01",
        ],
        "age": [30, 40, 50, 60, -1, 70],
        "sex": ["F", "M", "F", "M", "F", "M"],
        "charge": ["a", "b", "c", "d", "e", None],
    }
)


def test_reads_rows_features_labels_and_groups_of_a_period():
    result = read_task(TASK, TABLE, "train")
    assert result.data.to_dict("list") == {"age": [30, 40], "sex": [0, 1]}
    assert result.target.tolist() == [0, 1]
    assert result.sensitive_features.tolist() == ["White", "Non-White"]
    assert result.groups == ["White", "Non-White"]
    assert list(result.frame.columns) == ["age", "sex", "group", "y"]
    assert result.DESCR == "What was chosen."


def test_filters_leave_out_other_groups_low_values_missing_values_and_other_periods():
    assert read_task(TASK, TABLE, "test").data["age"].tolist() == [60]
    assert len(read_task(TASK, TABLE).target) == 3


def test_an_unknown_period_is_an_error():
    with pytest.raises(
        ValueError, match="subset must be one of 'all', 'train', 'test', got 'valid'"
    ):
        read_task(TASK, TABLE, "valid")


def test_a_table_without_a_column_is_an_error_that_names_it():
    with pytest.raises(
        ValueError, match=r"table of visits must have the columns \['age', 'charge'\]"
    ):
        read_task(TASK, TABLE.drop(columns=["charge", "age"]))


def test_a_row_is_positive_from_the_value_named():
    labels = pd.DataFrame({**TABLE.iloc[[0] * 4], "visits": [9, 9.99, 10, 11]})
    assert read_task(TASK, labels).target.tolist() == [0, 0, 1, 1]


def test_rows_are_numbered_anew_and_the_table_is_left_as_it_was():
    before = TABLE.copy()
    for table in (TABLE, TABLE.set_index(TABLE.index + 100)):
        result = read_task(TASK, table)
        assert result.data.index.tolist() == [0, 1, 2]
        assert result.target.index.tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(TABLE, before)


def test_periods_are_read_apart_and_together():
    train = read_task(TASK, TABLE, "train")
    test = read_task(TASK, TABLE, "test")
    both = read_task(TASK, TABLE)
    parts = pd.concat([train.frame, test.frame], ignore_index=True)
    pd.testing.assert_frame_equal(both.frame, parts)


def test_a_period_may_be_a_number():
    years = TABLE.assign(date=[2015, 2015, 2015, 2016, 2016, 2017])
    assert len(read_task(TASK, years, "train").target) == 2
    assert len(read_task(TASK, years, "test").target) == 1


def test_a_value_without_a_number_is_missing():
    unknown = TABLE.assign(sex=["F", "X", "F", "M", "F", "M"])
    data = read_task(TASK, unknown, "train").data
    assert data["sex"].isna().tolist() == [False, True]


def test_a_task_without_filters_keeps_all_rows_of_its_groups_and_periods():
    plain = Task(
        name="plain",
        label="visits",
        positive_from=10,
        group="race",
        groups={"w": "White", "n": "Non-White", "x": "Other"},
        period="date",
        periods={"train": "2015", "test": "2016", "later": "2017"},
        features=("age",),
    )
    result = read_task(plain, TABLE)
    assert result.data["age"].tolist() == TABLE["age"].tolist()
    assert result.groups == ["White", "Non-White", "Other"]
    assert read_task(plain, TABLE, "later").data["age"].tolist() == [70]
