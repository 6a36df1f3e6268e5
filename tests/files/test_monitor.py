"""Monitoring: one batch at a time, with the numbers of predicting each alone."""

import pandas as pd
import pytest

from cape._tables import TableError
from cape.files import monitor_files, predict_file


def test_each_batch_is_what_it_is_alone(people_folder, people_model):
    (batch,) = monitor_files(people_model, [people_folder / "new.csv"], rows=200)
    alone = predict_file(people_model, people_folder / "new.csv").adaptation
    assert batch.rows == 700 and batch.name == "new.csv"
    for found in batch.groups:
        assert found["estimate"] == alone.groups[found["group"]].estimate
        assert found["pd_bound"] == alone.groups[found["group"]].pd_bound
        assert found["verdict"] == "consistent" and found["moved"]
        assert found["clear"] and found["columns"] == []
        assert 0 <= found["fpr"] <= 1 and found["accuracy"] > 0.5
    assert batch.pe is not None and batch.pe < 0.5


def test_batches_are_read_when_asked_for(people_folder, people_model, tmp_path):
    found = monitor_files(
        people_model, [people_folder / "new.csv", tmp_path / "not-there.csv"]
    )
    assert next(found).rows == 700
    with pytest.raises(FileNotFoundError, match=r"not-there\.csv"):
        next(found)


def test_a_batch_that_is_no_mixture_is_marked(people_folder, people_model, tmp_path):
    frame = pd.read_csv(people_folder / "new.csv")
    frame.assign(age=35.0, degree="F").to_csv(tmp_path / "odd.csv", index=False)
    (batch,) = monitor_files(people_model, [tmp_path / "odd.csv"])
    for found in batch.groups:
        assert found["verdict"] == "fault"
        assert found["columns"][0]["column"] == "age"
        assert "all values are about" in found["columns"][0]["what_happened"]


def test_a_small_batch_and_a_missing_group_are_no_error(
    people_folder, people_model, tmp_path
):
    frame = pd.read_csv(people_folder / "new.csv")
    frame[frame.race == "blue"].head(3).to_csv(tmp_path / "small.csv", index=False)
    told = []
    (batch,) = monitor_files(
        people_model, [tmp_path / "small.csv"], on_batch=lambda *done: told.append(done)
    )
    (found,) = batch.groups
    assert found["verdict"] == "cannot_tell" and batch.pe is None
    assert found["verdict_text"].startswith("cannot tell from so few rows: 3 are")
    assert told == [("batches", 1)]


def test_an_unknown_group_names_the_file(people_folder, people_model, tmp_path):
    pd.read_csv(people_folder / "new.csv").assign(race="red").to_csv(
        tmp_path / "red.csv", index=False
    )
    with pytest.raises(
        TableError,
        match=r"red\.csv has groups that were not in training: 'red' \(700 rows\)",
    ):
        list(monitor_files(people_model, [tmp_path / "red.csv"]))
