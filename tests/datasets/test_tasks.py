"""A task is data: rows, features, label and group are read off it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cape.datasets import Task, read_task
from cape.datasets._tasks import regrouped

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


def filling(*columns):
    """The task with features whose missing values become training medians."""
    return replace(TASK, features=("age", "days"), codes={}, median_filled=columns)


def with_charges(n_values, **changes):
    """The task with features of the commonest charges."""
    return replace(TASK, commonest={"charge": n_values}, **changes)


# Rows 0 and 1 are the task's training rows, row 3 is its test row; row 2 belongs to
# another group, row 4 has too low an age, row 5 lies in another period.
DAYS = TABLE.assign(days=[1.0, 5.0, 900.0, np.nan, 900.0, 900.0])


@pytest.mark.parametrize("subset", ["all", "test"])
def test_missing_values_become_the_median_of_the_training_rows(subset):
    data = read_task(filling("days"), DAYS, subset).data
    assert data["days"].tolist()[-1] == 3
    assert data["age"].tolist()[-1] == 60


def test_test_rows_do_not_move_the_median():
    later = pd.concat([DAYS, DAYS.iloc[[3] * 20].assign(days=70.0)])
    train = later.assign(days=later["days"].where(later["date"] != "2015-01-01"))
    assert read_task(filling("days"), train, "train").data["days"].tolist() == [5, 5]


def test_missing_values_of_other_features_stay_missing():
    data = read_task(filling("age"), DAYS).data
    assert data["days"].isna().tolist() == [False, False, True]


def test_values_that_are_not_missing_stay_as_they_are():
    data = read_task(filling("days"), DAYS, "train").data
    assert data["days"].tolist() == [1, 5]


def many_charges():
    """Ten training rows and two test rows with charges of known counts."""
    charges = ["b"] * 4 + ["a"] * 3 + ["d", "c", "e"] + ["z", "b"]
    dates = ["2015-01-01"] * 10 + ["2016-01-01"] * 2
    constants = {"visits": 3, "race": "w", "age": 30, "sex": "F"}
    return pd.DataFrame({"charge": charges, "date": dates, **constants})


def test_the_commonest_values_become_columns_of_0_and_1():
    data = read_task(with_charges(2), many_charges(), "train").data
    assert list(data.columns) == ["age", "sex", "charge_b", "charge_a"]
    assert data["charge_b"].tolist() == [1] * 4 + [0] * 6
    assert data["charge_a"].tolist() == [0] * 4 + [1] * 3 + [0] * 3
    assert {dtype.kind for dtype in data.dtypes} == {"i"}


def test_test_rows_have_the_columns_of_the_training_rows():
    """A charge that is commonest only in the test rows has no column."""
    table = pd.concat([many_charges(), many_charges().iloc[[10] * 50]])
    data = read_task(with_charges(2), table, "test").data
    assert list(data.columns) == ["age", "sex", "charge_b", "charge_a"]
    assert data["charge_b"].sum() == 1
    assert data["charge_a"].sum() == 0


def test_rows_that_the_task_leaves_out_do_not_count_among_the_commonest():
    others = many_charges().iloc[[7] * 50].assign(race="x")
    data = read_task(with_charges(1), pd.concat([many_charges(), others])).data
    assert list(data.columns) == ["age", "sex", "charge_b"]


@pytest.mark.parametrize("seed", range(3))
def test_of_equally_common_values_the_order_of_rows_does_not_choose(seed):
    shuffled = many_charges().sample(frac=1, random_state=seed)
    columns = read_task(with_charges(4), shuffled).data.columns
    assert list(columns[2:]) == ["charge_b", "charge_a", "charge_c", "charge_d"]


def test_fewer_values_than_asked_for_are_all_features():
    columns = read_task(with_charges(100), many_charges()).data.columns
    assert list(columns[2:]) == [f"charge_{value}" for value in "bacde"]


def test_a_missing_category_is_0_in_every_column():
    unknown = many_charges()
    unknown.loc[0, "charge"] = None
    data = read_task(with_charges(5, required=()), unknown, "train").data
    assert data.iloc[0, 2:].tolist() == [0] * 5
    assert list(data.columns[2:4]) == ["charge_a", "charge_b"]


def test_periods_with_learned_features_are_read_apart_and_together():
    task = replace(
        with_charges(3), features=("age", "days"), codes={}, median_filled=("days",)
    )
    table = many_charges().assign(days=[np.nan, *range(10), np.nan])
    parts = [read_task(task, table, subset).frame for subset in ("train", "test")]
    pd.testing.assert_frame_equal(
        read_task(task, table).frame, pd.concat(parts, ignore_index=True)
    )


@pytest.mark.parametrize("task", [filling("days"), with_charges(2)])
def test_medians_and_commonest_values_without_training_rows_are_an_error(task):
    test_rows = DAYS[DAYS["date"].str.startswith("2016")]
    with pytest.raises(
        ValueError, match="table of visits must have training rows.* none among 2 rows"
    ):
        read_task(task, test_rows, "test")


def test_a_table_without_the_column_of_categories_is_an_error_that_names_it():
    task = with_charges(2, required=())
    with pytest.raises(ValueError, match=r"must have the columns \['charge'\]"):
        read_task(task, TABLE.drop(columns="charge"))


def test_a_regrouped_task_keeps_label_and_rows_of_all_former_groups():
    by_sex = regrouped(TASK, "sex", "sex", {"F": "women", "M": "men"})
    result = read_task(by_sex, TABLE, "train")
    assert result.sensitive_features.tolist() == ["women", "men", "women"]
    assert result.target.tolist() == [0, 1, 1]
    assert list(result.data.columns) == ["age"]
    assert result.variant == "visits, by sex"
    assert result.DESCR.endswith("Here the groups are by sex: women, men.")
    assert TASK.features == ("age", "sex")


def test_a_feature_that_is_not_the_group_stays_with_its_codes():
    by_charge = regrouped(TASK, "charge", "charge", {"a": "a", "b": "b"})
    result = read_task(by_charge, TABLE, "train")
    assert result.data.to_dict("list") == {"age": [30, 40], "sex": [0, 1]}
