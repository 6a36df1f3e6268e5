"""Problems: the paper's, and tables of one's own with text and missing values."""

import numpy as np
import pandas as pd
import pytest

from cape.datasets import _compas
from cape.datasets._files import data_folder
from cape.experiments import compas_problem, published, table_problem

needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


def own_table(n, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "job": rng.choice(["nurse", "teacher", "clerk", None], n),
            "note": [f"row {i} of {seed}" for i in range(n)],
            "when": pd.to_datetime("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "empty": np.nan,
            "race": rng.choice(["x", "y"], n),
            "sex": rng.choice(["f", "m"], n),
            "outcome": rng.choice(["bad", "good"], n),
        }
    )
    table.loc[::7, "age"] = np.nan
    return table


TRAIN, TEST = own_table(120, 0), own_table(60, 1)


def test_text_dates_and_missing_values_become_numbers():
    problem = table_problem(TRAIN, TEST, label="outcome", group="race")
    for X, table in ((problem.X_train, TRAIN), (problem.X_test, TEST)):
        assert len(X) == len(table)
        assert not X.isna().any().any()
        assert all(dtype.kind == "f" for dtype in X.dtypes)
    assert list(problem.X_train.columns) == list(problem.X_test.columns)
    assert not [
        column
        for column in problem.X_train.columns
        if "race" in column or "outcome" in column
    ]
    assert problem.groups == ["x", "y"]
    assert problem.y_train.tolist() == (TRAIN["outcome"] == "good").astype(int).tolist()


def test_numbers_are_learned_from_the_training_table_alone():
    """Other test rows do not change the training numbers, and missing ages become the training median."""
    problem = table_problem(TRAIN, TEST, label="outcome", group="race")
    other = table_problem(TRAIN, TEST[:20], label="outcome", group="race")
    pd.testing.assert_frame_equal(problem.X_train, other.X_train)
    missing = problem.X_test.loc[TEST["age"].isna().to_numpy(), "age"].unique()
    assert missing == pytest.approx(np.float32(TRAIN["age"].median()))


def test_several_group_columns_are_combined_and_the_positive_label_can_be_chosen():
    problem = table_problem(
        TRAIN, TEST, label="outcome", group=["race", "sex"], positive="bad"
    )
    assert problem.groups == ["x, f", "x, m", "y, f", "y, m"]
    assert problem.y_train.tolist() == (TRAIN["outcome"] == "bad").astype(int).tolist()
    assert "'bad'" in problem.notes[0]


@pytest.mark.parametrize(
    ("train", "test", "options", "message"),
    [
        (
            TRAIN.drop(columns="race"),
            TEST,
            {},
            r"training table must have the columns \['race'\]",
        ),
        (
            TRAIN,
            TEST.drop(columns="outcome"),
            {},
            r"test table must have the columns \['outcome'\]",
        ),
        (
            TRAIN,
            TEST.drop(columns="age"),
            {},
            r"test table must have all columns .* \['age'\]",
        ),
        (
            TRAIN,
            TEST,
            {"positive": "great"},
            r"positive must be one of \['bad', 'good'\], got 'great'",
        ),
        (
            TRAIN,
            TEST.replace({"outcome": {"bad": "awful"}}),
            {},
            r"test table's label must be one of .* \['awful'\]",
        ),
        (
            TRAIN,
            TEST.replace({"race": {"x": "z"}}),
            {},
            r"groups of the training table alone, got also \['z'\]",
        ),
        (
            TRAIN,
            TEST.assign(race=[None] * 5 + ["x"] * 55),
            {},
            "must name a group in every row, got 5 missing of 60",
        ),
        (
            TRAIN,
            TEST.assign(outcome=[None] + ["bad"] * 59),
            {},
            "must have a label in every row",
        ),
        (TRAIN.assign(outcome="bad"), TEST, {}, "must hold two classes"),
    ],
)
def test_bad_tables_are_told(train, test, options, message):
    with pytest.raises(ValueError, match=message):
        table_problem(train, test, label="outcome", group="race", **options)


def test_counts_and_digest_follow_the_rows():
    problem = table_problem(TRAIN, TEST, label="outcome", group="race")
    first = problem.counts()[0]
    assert first["group"] == "x" and first["rows_train"] == (TRAIN["race"] == "x").sum()
    assert first["prevalence_test"] == np.mean(
        TEST["outcome"][TEST["race"] == "x"] == "good"
    )
    again = table_problem(TRAIN, TEST, label="outcome", group="race")
    other = table_problem(TRAIN, TEST, label="outcome", group="race", positive="bad")
    assert problem.digest() == again.digest() != other.digest()


@needs_compas
def test_compas_comes_with_the_printed_numbers():
    problem = compas_problem()
    assert problem.groups == ["Caucasian", "African-American"] and problem.same_data
    assert problem.printed == published()["table_results"]["compas"]
    assert len(problem.X_train) == 4319 and len(problem.X_test) == 1810
    assert "4278" in problem.notes[1]
