"""Problems: the paper's, and two tables with text and missing values."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from cape.datasets import _compas
from cape.datasets._files import data_folder
from cape_paper import (
    _problem,
    compas_problem,
    meps_problem,
    published,
    table_problem,
)
from cape_paper._meps import ONE_PANEL

needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


def make_table(n_rows, seed):
    """Make a table with numbers, levels, free text, dates, gaps and an empty column."""
    random = np.random.default_rng(seed)
    days = pd.to_timedelta(random.integers(0, 900, n_rows), unit="D")
    table = pd.DataFrame(
        {
            "age": random.normal(40, 10, n_rows),
            "job": random.choice(["nurse", "teacher", "clerk", None], n_rows),
            "note": [f"row {row} of {seed}" for row in range(n_rows)],
            "when": pd.to_datetime("2020-01-01") + days,
            "empty": np.nan,
            "race": random.choice(["x", "y"], n_rows),
            "sex": random.choice(["f", "m"], n_rows),
            "outcome": random.choice(["bad", "good"], n_rows),
        }
    )
    table.loc[::7, "age"] = np.nan
    return table


TRAIN = make_table(120, 0)
TEST = make_table(60, 1)
COLUMNS = {"label": "outcome", "group": "race"}


@pytest.fixture(scope="module")
def problem():
    return table_problem(TRAIN, TEST, **COLUMNS)


def test_text_dates_and_missing_values_become_numbers(problem):
    for X, table in ((problem.X_train, TRAIN), (problem.X_test, TEST)):
        assert len(X) == len(table)
        assert not X.isna().any().any()
        assert all(dtype.kind == "f" for dtype in X.dtypes)
    assert list(problem.X_train.columns) == list(problem.X_test.columns)


def test_label_and_groups_are_no_features(problem):
    for column in problem.X_train.columns:
        assert "race" not in column
        assert "outcome" not in column


def test_labels_are_0_and_1_and_groups_are_names(problem):
    assert problem.groups == ["x", "y"]
    good = TRAIN["outcome"] == "good"
    assert problem.y_train.tolist() == good.astype(int).tolist()
    assert problem.z_test.tolist() == TEST["race"].tolist()


def test_numbers_are_learned_from_the_training_table_alone(problem):
    """With fewer test rows the training numbers stay as they are."""
    other = table_problem(TRAIN, TEST[:20], **COLUMNS)
    pd.testing.assert_frame_equal(problem.X_train, other.X_train)
    pd.testing.assert_frame_equal(problem.X_test[:20], other.X_test)


def test_missing_numbers_become_the_training_median(problem):
    missing = TEST["age"].isna().to_numpy()
    [filled] = problem.X_test.loc[missing, "age"].unique()
    assert filled == pytest.approx(np.float32(TRAIN["age"].median()))


def test_the_same_tables_give_the_same_numbers(problem):
    again = table_problem(TRAIN, TEST, **COLUMNS)
    pd.testing.assert_frame_equal(problem.X_train, again.X_train)
    pd.testing.assert_frame_equal(problem.X_test, again.X_test)


def test_more_columns_in_the_test_table_and_their_order_do_not_matter(problem):
    mixed = TEST[sorted(TEST.columns)].assign(later="unused")
    other = table_problem(TRAIN, mixed, **COLUMNS)
    pd.testing.assert_frame_equal(problem.X_test, other.X_test)


def test_the_tables_themselves_are_not_changed():
    train = TRAIN.copy()
    test = TEST.copy()
    table_problem(train, test, **COLUMNS)
    pd.testing.assert_frame_equal(train, TRAIN)
    pd.testing.assert_frame_equal(test, TEST)


def test_several_group_columns_are_combined():
    problem = table_problem(TRAIN, TEST, label="outcome", group=["race", "sex"])
    assert problem.groups == ["x, f", "x, m", "y, f", "y, m"]
    assert "Groups: race, sex." in problem.notes[0]


def test_the_positive_label_can_be_chosen():
    problem = table_problem(TRAIN, TEST, **COLUMNS, positive="bad")
    bad = TRAIN["outcome"] == "bad"
    assert problem.y_train.tolist() == bad.astype(int).tolist()
    assert "Positive: outcome = 'bad'." in problem.notes[0]


@pytest.mark.parametrize("positive", [2, "2"])
def test_the_positive_label_may_be_given_as_text(positive):
    """As the command line does, which has nothing else."""
    train = TRAIN.assign(outcome=np.arange(120) % 2 + 1)
    test = TEST.assign(outcome=np.arange(60) % 2 + 1)
    problem = table_problem(train, test, **COLUMNS, positive=positive)
    assert problem.y_test.tolist() == (np.arange(60) % 2).tolist()


def test_a_group_without_test_rows_is_not_judged():
    problem = table_problem(TRAIN, TEST[TEST["race"] == "x"], **COLUMNS)
    assert problem.groups == ["x"]
    assert set(problem.z_train) == {"x", "y"}


@pytest.mark.parametrize(
    ("train", "test", "options", "message"),
    [
        (
            TRAIN.drop(columns="race"),
            TEST,
            {},
            r"the training table has no column 'race'; its columns are",
        ),
        (
            TRAIN,
            TEST.drop(columns="outcome"),
            {},
            r"the test table has no column 'outcome'",
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
            r"no group that the training table has not, got \['z'\]",
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
def test_mistakes_in_tables_are_named(train, test, options, message):
    with pytest.raises(ValueError, match=message):
        table_problem(train, test, **COLUMNS, **options)


def test_counts_are_those_of_the_tables(problem):
    x, y = problem.counts()
    assert x["group"] == "x"
    assert x["rows_train"] == (TRAIN["race"] == "x").sum()
    assert x["rows_test"] + y["rows_test"] == 60
    good = TEST["outcome"] == "good"
    assert x["prevalence_test"] == good[TEST["race"] == "x"].mean()
    assert y["prevalence_test"] == good[TEST["race"] == "y"].mean()


def test_the_digest_is_that_of_the_same_rows(problem):
    again = table_problem(TRAIN, TEST, **COLUMNS)
    assert problem.digest() == again.digest()


@pytest.mark.parametrize(
    ("train", "test", "options"),
    [
        (TRAIN, TEST, {"positive": "bad"}),
        (TRAIN.assign(age=1.0), TEST, {}),
        (TRAIN, TEST.assign(age=1.0), {}),
        (TRAIN.assign(race=TRAIN["race"].to_numpy()[::-1]), TEST, {}),
        (TRAIN, TEST.iloc[::-1], {}),
    ],
)
def test_the_digest_sees_every_part(problem, train, test, options):
    other = table_problem(train, test, **COLUMNS, **options)
    assert problem.digest() != other.digest()


def invented_data(subset, variant):
    """Rows as a loader gives them: 10 to train, 5 to test."""
    n_rows = {"train": 10, "test": 5}[subset]
    rows = np.arange(n_rows)
    return Bunch(
        data=pd.DataFrame({"x": rows}),
        target=pd.Series(rows % 2),
        sensitive_features=pd.Series(np.where(rows % 5 == 0, "Other", "White")),
        groups=["White", "Other"],
        DESCR="Invented rows.",
        variant=variant,
    )


@pytest.mark.parametrize(
    ("variant", "same_data"),
    [("MEPS", True), (f"MEPS, {ONE_PANEL}", False)],
)
def test_one_panel_of_meps_is_not_the_papers_data(monkeypatch, variant, same_data):
    def fetch(subset, data_home):
        assert data_home == "here"
        return invented_data(subset, variant)

    monkeypatch.setattr(_problem, "fetch_meps", fetch)
    problem = meps_problem("here")
    assert problem.same_data == same_data
    assert problem.title == f"{variant}, 2015 to 2016"
    assert problem.printed == published()["table_results"]["meps"]


def test_a_problem_of_the_paper_says_how_many_rows_it_has(monkeypatch):
    def fetch(subset, features, data_home):
        return invented_data(subset, "COMPAS")

    monkeypatch.setattr(_problem, "fetch_compas", fetch)
    problem = compas_problem()
    description, rows = problem.notes
    assert description == "Invented rows."
    assert rows.startswith("Rows: 10 to train (20.0% Z=1) and 5 to test (20.0%);")
    assert "the paper has 4278" in rows
    assert problem.groups == ["White", "Other"]
    assert problem.y_test.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("options", "features", "title", "chosen_by_print"),
    [
        ({}, "narrow", "COMPAS, 2013 to 2014", False),
        (
            {"features": "wide"},
            "wide",
            "COMPAS, 2013 to 2014, wide features",
            True,
        ),
    ],
)
def test_wide_features_are_marked_as_chosen_by_print(
    monkeypatch, options, features, title, chosen_by_print
):
    asked = []

    def fetch(subset, features, data_home):
        asked.append((subset, features, data_home))
        return invented_data(subset, "COMPAS")

    monkeypatch.setattr(_problem, "fetch_compas", fetch)
    problem = compas_problem("here", **options)
    assert asked == [("train", features, "here"), ("test", features, "here")]
    assert problem.name == "compas"
    assert problem.title == title
    assert problem.chosen_by_print is chosen_by_print
    assert problem.same_data
    assert problem.printed == published()["table_results"]["compas"]


@needs_compas
def test_both_sets_of_compas_features_have_the_same_rows():
    narrow = compas_problem()
    wide = compas_problem(features="wide")
    assert wide.counts() == narrow.counts()
    assert wide.X_train.shape == (4319, 49)
    # Stored cells of one set must not serve the other.
    assert wide.digest() != narrow.digest()


def test_an_unknown_set_of_features_is_an_error():
    with pytest.raises(ValueError, match="features must be one of 'narrow', 'wide'"):
        compas_problem(features="all")


@needs_compas
def test_compas_comes_with_the_printed_numbers():
    problem = compas_problem()
    assert problem.groups == ["Caucasian", "African-American"]
    assert problem.same_data
    assert problem.printed == published()["table_results"]["compas"]
    assert problem.printed_prevalences["estimate"] == [0.592, 0.644]
    assert len(problem.X_train) == 4319
    assert len(problem.X_test) == 1810


def test_title_and_notes_are_no_part_of_the_digest(problem):
    """They change no number, so that stored cells stay good."""
    renamed = dataclasses.replace(problem, title="Another", notes=["Reworded."])
    assert renamed.digest() == problem.digest()


def test_a_problem_cannot_be_changed_by_a_method(problem):
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.y_test = problem.y_train


def test_the_number_1_and_the_text_1_are_two_groups():
    names = [1, "1"] * (len(TRAIN) // 2)
    train = TRAIN.assign(race=pd.Series(names, dtype=object))
    problem = table_problem(train, train, label="outcome", group="race")
    assert problem.groups == ["'1'", "1"]
    assert [count["rows_train"] for count in problem.counts()] == [60, 60]
