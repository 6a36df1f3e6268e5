"""The sample of each group and label that a file of any length leaves behind."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.datasets import make_synthetic
from cape.files import Notes, train_file
from cape.files._reservoir import Reservoir

TABLE = pd.DataFrame(
    {
        "x": np.arange(3000),
        "z": np.tile(["a", "b", "b"], 1000),
        "y": np.repeat([0, 1, 0], [1200, 900, 900]),
    }
)


def filled(table, cuts=(), most=50, seed=0):
    """Fill a reservoir with a table that is cut into parts."""
    reservoir = Reservoir(["z"], "y", most=most, seed=seed)
    for rows in np.split(np.arange(len(table)), sorted(cuts)):
        reservoir.add(table.iloc[rows])
    return reservoir


@given(st.lists(st.integers(0, len(TABLE)), max_size=8))
def test_the_sample_does_not_depend_on_how_the_table_is_cut(cuts):
    sample = filled(TABLE, cuts).sample()
    pd.testing.assert_frame_equal(sample, filled(TABLE).sample())


@given(st.lists(st.integers(0, len(TABLE)), max_size=4))
def test_a_small_table_comes_out_whole_and_in_order(cuts):
    sample = filled(TABLE, cuts, most=5000).sample()
    pd.testing.assert_frame_equal(sample, TABLE)


@pytest.mark.parametrize("most", [1, 7, 50, 400])
def test_no_class_has_more_rows_than_its_most(most):
    sample = filled(TABLE, range(0, 3000, 100), most=most).sample()
    counts = sample.groupby(["z", "y"]).size()
    assert counts.max() == most
    assert counts.min() >= 1


def test_the_prevalence_of_a_group_is_that_of_the_file():
    sample = filled(TABLE, range(0, 3000, 100), most=50).sample()
    for group in ("a", "b"):
        in_sample = sample.loc[sample["z"] == group, "y"]
        in_file = TABLE.loc[TABLE["z"] == group, "y"]
        assert in_sample.mean() == pytest.approx(in_file.mean(), abs=0.01)


def test_every_row_has_the_same_chance():
    table = pd.DataFrame({"x": np.arange(40), "z": "a", "y": [0, 1] * 20})
    n_seeds = 100
    times_kept = np.zeros(40)
    for seed in range(n_seeds):
        sample = filled(table, [13], most=5, seed=seed).sample()
        times_kept[sample["x"]] += 1
    # 5 of the 20 rows of a class are kept; five standard errors of a binomial share.
    standard_error = np.sqrt(0.25 * 0.75 / n_seeds)
    assert abs(times_kept / n_seeds - 0.25).max() < 5 * standard_error


def test_another_seed_keeps_other_rows():
    one = filled(TABLE, seed=0).sample()
    other = filled(TABLE, seed=1).sample()
    assert len(one) == len(other)
    assert set(one["x"]) != set(other["x"])


def test_a_rare_label_does_not_vanish():
    table = TABLE.assign(y=0, z="a")
    table.loc[1234, "y"] = 1
    sample = filled(table, [100, 2000], most=10).sample()
    assert sample.loc[sample["y"] == 1, "x"].tolist() == [1234]


def test_missing_labels_and_groups_are_kept_to_be_found():
    table = TABLE.assign(
        y=TABLE["y"].where(TABLE["x"] != 77),
        z=TABLE["z"].where(TABLE["x"] != 99),
    )
    reservoir = filled(table, [80, 500], most=100)
    sample = reservoir.sample()
    assert sample["y"].isna().sum() == 1
    assert sample["z"].isna().sum() == 1
    assert reservoir.labels() == {0.0, 1.0, None}


def test_missing_labels_of_several_parts_are_one_class():
    table = TABLE.assign(y=np.nan, z="a")
    sample = filled(table, [1000, 2000], most=10).sample()
    assert len(sample) == 10


def test_categories_that_do_not_occur_are_no_class():
    groups = pd.Categorical(TABLE["z"], categories=["a", "b", "never"])
    sample = filled(TABLE.assign(z=groups), most=5).sample()
    assert set(sample["z"]) == {"a", "b"}


def test_without_rows_the_sample_has_only_columns():
    reservoir = Reservoir(["z"], "y", most=5)
    assert reservoir.n_rows == 0
    assert reservoir.labels() == set()
    assert list(reservoir.sample()) == ["z", "y"]
    assert len(reservoir.sample()) == 0


def test_a_sample_can_be_taken_twice():
    reservoir = filled(TABLE)
    once = reservoir.sample()
    pd.testing.assert_frame_equal(reservoir.sample(), once)


def test_at_least_one_row_must_be_kept():
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        Reservoir([], "y", most=0)


def peak_memory(n_parts):
    tracemalloc.start()
    reservoir = Reservoir(["z"], "y", most=200)
    for _ in range(n_parts):
        reservoir.add(TABLE)
    reservoir.sample()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reservoir.n_rows == 3000 * n_parts
    return peak


def test_memory_does_not_grow_with_the_file():
    assert peak_memory(120) < 1.3 * peak_memory(40)


def train(folder, **options):
    path = folder / "train.parquet"
    columns = {"label": "y", "group": ["z"], "learner": "logistic"}
    return train_file(path, None, **columns, **options)


@pytest.fixture
def folder(tmp_path):
    frame = make_synthetic(3000, prevalences=(0.3, 0.6), random_state=0).frame
    frame.to_parquet(tmp_path / "train.parquet")
    return tmp_path


def test_training_on_a_sample_of_a_file_is_noted(folder):
    notes = Notes()
    model = train(folder, most=300, notes=notes)
    data = model.details["data"]
    assert data["rows"] < 1200
    assert data["rows_in_file"] == 3000
    assert any("sample" in note for note in notes)
    assert model.clf.models_["0"].prevalence == pytest.approx(0.3, abs=0.01)
    assert model.clf.models_["1"].prevalence == pytest.approx(0.6, abs=0.01)


def test_training_on_a_whole_file_is_not(folder):
    notes = Notes()
    data = train(folder, notes=notes).details["data"]
    assert data["rows"] == 3000
    assert data["rows_in_file"] == 3000
    assert not any("sample" in note for note in notes)
