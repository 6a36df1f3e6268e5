"""Monitoring: one batch at a time, with the numbers of predicting each alone."""

import pandas as pd
import pytest

from cape._tables import TableError
from cape.files import monitor_files, predict_file


@pytest.mark.parametrize("labelled", [True, False])
def test_each_batch_is_what_it_is_alone(
    people_folder, people_model, tmp_path, labelled
):
    frame = pd.read_csv(people_folder / "new.csv")
    path = tmp_path / "new.csv"
    frame.drop(columns=[] if labelled else "y").to_csv(path, index=False)
    (batch,) = monitor_files(people_model, [path], rows=200, level=0.9)
    alone = predict_file(people_model, path, level=0.9)
    examination = alone.examination
    assert (batch.rows, batch.name, batch.sha256) == (700, "new.csv", alone.sha256)
    assert [entry["group"] for entry in batch.groups] == ["blue", "green"]
    for entry in batch.groups:
        group = entry["group"]
        adapted = alone.adaptation.groups[group]
        estimate = adapted.estimate
        assert entry["estimate"] == estimate.value
        assert (entry["low"], entry["high"]) == (estimate.low, estimate.high)
        assert entry["pd_bound"] == adapted.pd_bound
        assert entry["theta"] == adapted.made_for
        assert entry["p_moved"] == examination.moved.groups[group].p_value
        assert entry["verdict"] == "consistent" and entry["moved"]
        assert entry["clear"] and entry["columns"] == []
        assert entry["fpr"] == examination.expected.groups[group].fpr.value
    assert batch.pe is not None and batch.pe < 0.5


def test_batches_are_read_when_asked_for(people_folder, people_model, tmp_path):
    told = []
    found = monitor_files(
        people_model,
        [people_folder / "new.csv", tmp_path / "not-there.csv"],
        on_batch=lambda *done: told.append(done),
    )
    assert next(found).rows == 700
    with pytest.raises(FileNotFoundError, match=r"not-there\.csv"):
        next(found)
    assert told == [("batches", 1)]


def test_a_batch_that_is_no_mixture_is_marked(people_folder, people_model, tmp_path):
    frame = pd.read_csv(people_folder / "new.csv")
    frame.assign(age=35.0, degree="F").to_csv(tmp_path / "odd.csv", index=False)
    (batch,) = monitor_files(people_model, [tmp_path / "odd.csv"])
    for found in batch.groups:
        assert found["verdict"] == "fault"
        assert found["columns"][0]["column"] == "age"


def test_a_small_batch_and_a_missing_group_are_no_error(
    people_folder, people_model, tmp_path
):
    frame = pd.read_csv(people_folder / "new.csv")
    frame[frame.race == "blue"].head(3).to_csv(tmp_path / "small.csv", index=False)
    (batch,) = monitor_files(people_model, [tmp_path / "small.csv"])
    (found,) = batch.groups
    assert found["verdict"] == "cannot_tell" and batch.pe is None


def test_an_unknown_group_names_the_file(people_folder, people_model, tmp_path):
    frame = pd.read_csv(people_folder / "new.csv").assign(race="red")
    frame.to_csv(tmp_path / "red.csv", index=False)
    with pytest.raises(TableError, match=r"red\.csv .*not in training.*'red'"):
        list(monitor_files(people_model, [tmp_path / "red.csv"]))
