"""A sample of each group and label that a file of any length leaves behind."""

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
    reservoir = Reservoir(["z"], "y", most=most, seed=seed)
    for start, stop in zip(
        [0, *sorted(cuts)], [*sorted(cuts), len(table)], strict=True
    ):
        reservoir.add(table.iloc[start:stop])
    return reservoir


@given(st.lists(st.integers(0, len(TABLE)), max_size=8))
def test_the_sample_does_not_depend_on_how_the_table_is_cut(cuts):
    pd.testing.assert_frame_equal(filled(TABLE, cuts).sample(), filled(TABLE).sample())


@given(st.lists(st.integers(0, len(TABLE)), max_size=4))
def test_a_small_table_comes_out_whole_and_in_order(cuts):
    pd.testing.assert_frame_equal(filled(TABLE, cuts, most=5000).sample(), TABLE)


def test_prevalences_stay_and_no_label_has_more_than_its_most():
    sample = filled(TABLE, range(0, 3000, 100), most=50).sample()
    counts = sample.groupby(["z", "y"]).size()
    assert counts.max() <= 50
    for group in "ab":
        wanted = TABLE.loc[TABLE["z"] == group, "y"].mean()
        assert counts[group][1] / counts[group].sum() == pytest.approx(wanted, abs=0.01)


def test_every_row_has_the_same_chance():
    table = pd.DataFrame({"x": np.arange(40), "z": "a", "y": [0, 1] * 20})
    kept = np.zeros(40)
    for seed in range(100):
        kept[filled(table, [13], most=5, seed=seed).sample()["x"]] += 1
    assert abs(kept / 100 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 100)


def test_missing_labels_and_groups_are_kept_to_be_found():
    table = TABLE.assign(
        y=TABLE["y"].where(TABLE["x"] != 77), z=TABLE["z"].where(TABLE["x"] != 99)
    )
    sample = filled(table, [500], most=100).sample()
    assert sample["y"].isna().sum() == 1
    assert sample["z"].isna().sum() == 1


def test_memory_is_bounded():
    peaks = []
    for parts in (40, 120):
        tracemalloc.start()
        reservoir = Reservoir(["z"], "y", most=200)
        for _ in range(parts):
            reservoir.add(TABLE)
        reservoir.sample()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert reservoir.n_rows == 360_000
    assert peaks[1] < 1.3 * peaks[0]
    with pytest.raises(ValueError, match="most must be at least 1"):
        Reservoir([], "y", most=0)


def test_training_on_a_sample_of_a_file_is_said_and_noted(tmp_path):
    frame = make_synthetic(3000, prevalences=(0.3, 0.6), random_state=0).frame
    frame.to_parquet(tmp_path / "train.parquet")
    notes = Notes()
    model = train_file(
        tmp_path / "train.parquet",
        None,
        label="y",
        group=["z"],
        learner="logistic",
        most=300,
        notes=notes,
    )
    assert (
        model.details["data"]["rows"]
        < 1200
        < model.details["data"]["rows_in_file"]
        == 3000
    )
    assert any("sample" in note for note in notes)
    assert model.clf.models_["0"].prevalence == pytest.approx(0.3, abs=0.01)
    assert model.clf.models_["1"].prevalence == pytest.approx(0.6, abs=0.01)
    whole = train_file(
        tmp_path / "train.parquet", None, label="y", group=["z"], learner="logistic"
    )
    assert (
        whole.details["data"]["rows"] == whole.details["data"]["rows_in_file"] == 3000
    )
