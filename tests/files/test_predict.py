"""Prediction of files: the same as in memory, for any cut into parts."""

import warnings

import numpy as np
import pandas as pd
import pytest

from cape._tables import TableError, read_table
from cape.files import Columns, Notes, TableModel, gather_evidence, predict_file
from cape.files._predict import free_names
from cape.metrics import confusion_by_group

SUFFIXES = ["csv", "csv.gz", "parquet", "feather"]


@pytest.fixture(scope="module")
def new(people_folder):
    return pd.read_csv(people_folder / "new.csv")


@pytest.fixture(scope="module")
def in_memory(people_folder, people_model):
    """The plain way: everything in one table."""
    frame = read_table(
        people_folder / "new.csv", types=people_model.columns.types(labels=True)
    )
    X = people_model.columns.table(frame, "new.csv", Notes())
    adaptation = people_model.clf.adapt(X)
    return X, adaptation, people_model.clf.predict_proba(X, adaptation=adaptation)[:, 1]


@pytest.mark.parametrize("rows", [150, 350, 10_000])
def test_any_cut_into_parts_gives_the_predictions_of_the_whole(
    tmp_path, people_folder, people_model, in_memory, new, rows
):
    _, adaptation, probability = in_memory
    found = predict_file(
        people_model, people_folder / "new.csv", tmp_path / "out.csv", rows=rows
    )
    assert found.adaptation == adaptation and found.rows == 700
    out = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(out["probability"], probability, atol=1e-8)
    assert (out["prediction"] == (probability > 0.5)).all()
    for group in ("blue", "green"):
        assert out.loc[
            out.race == group, "estimated_prevalence"
        ].unique() == pytest.approx(adaptation.groups[group].estimate.value, abs=1e-9)
    pd.testing.assert_frame_equal(out[list(new)], new)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_in_and_out(tmp_path, people_model, new, in_memory, suffix):
    path = tmp_path / f"new.{suffix}"
    write = {"parquet": pd.DataFrame.to_parquet, "feather": pd.DataFrame.to_feather}
    write.get(suffix, lambda frame, path: frame.to_csv(path, index=False))(new, path)
    out = tmp_path / f"out.{suffix}"
    predict_file(people_model, path, out)
    table = read_table(out)
    np.testing.assert_allclose(table["probability"], in_memory[2], atol=1e-8)
    assert len(table) == len(new) and list(table)[: len(list(new))] == list(new)


@pytest.mark.parametrize(
    "settings", [{"pool": "threshold"}, {"pool": "resampled", "prevalences": 3}]
)
@pytest.mark.parametrize("scores", ["refit", "folds"])
def test_each_row_is_scored_once_and_predicted_as_in_memory(
    tmp_path, people_folder, new, monkeypatch, settings, scores
):
    from cape._group_model import GroupModel
    from cape.files import train_file

    settings = {"cv": 2, "quantifier": "spa", "scores": scores, **settings}
    model = train_file(
        people_folder / "train.csv",
        None,
        label="y",
        group=["race"],
        learner="logistic",
        settings=settings,
    )
    frame = read_table(
        people_folder / "new.csv", types=model.columns.types(labels=True)
    )
    X = model.columns.table(frame, "new.csv", Notes())
    probability = model.clf.predict_proba(X)[:, 1]
    unadapted = np.zeros(len(X))
    for group, group_model in model.clf.models_.items():
        rows = (X["race"] == group).to_numpy()
        prepared = group_model.transformer.transform(X.loc[rows].drop(columns="race"))
        without_cape = (
            group_model.pool.models
            if settings["pool"] == "threshold"
            else group_model.scoring_models
        )
        unadapted[rows] = (
            np.mean(
                [model.predict_proba(prepared)[:, 1] for model in without_cape], axis=0
            )
            > 0.5
        )

    prepared_rows = []
    plain = GroupModel.prepare
    monkeypatch.setattr("cape.files._predict.available_threads", lambda: 2)
    monkeypatch.setattr(
        GroupModel,
        "prepare",
        lambda self, X: prepared_rows.append(len(X)) or plain(self, X),
    )
    found = predict_file(
        model, people_folder / "new.csv", tmp_path / "out.csv", rows=100
    )
    assert sum(prepared_rows) == found.rows == 700
    np.testing.assert_allclose(
        pd.read_csv(tmp_path / "out.csv")["probability"], probability, atol=1e-8
    )
    for counted, called in (
        (found.examination.observed.cape, probability > 0.5),
        (found.examination.observed.unadapted, unadapted),
    ):
        assert counted == confusion_by_group(
            new["y"], called.astype(int), sensitive_features=new["race"]
        )


@pytest.mark.parametrize("order", [range(699), [*range(700), 0], range(699, -1, -1)])
def test_a_file_that_changes_between_the_passes(tmp_path, people_model, new, order):
    path = tmp_path / "new.csv"
    new.to_csv(path, index=False)

    def change_it(stage, rows):
        new.iloc[order].to_csv(path, index=False)

    with pytest.raises(TableError, match=r"new\.csv has changed while it was read"):
        predict_file(people_model, path, tmp_path / "out.csv", on_rows=change_it)
    assert [file.name for file in tmp_path.iterdir()] == ["new.csv"]


def test_an_error_in_one_of_two_threads_leaves_no_file(
    tmp_path, people_folder, people_model, monkeypatch
):
    from cape._group_model import GroupModel

    def fail_in_the_middle(self, X):
        seen.append(len(X))
        if len(seen) == 5:
            raise RuntimeError("no more")
        return plain(self, X)

    seen, plain = [], GroupModel.prepare
    monkeypatch.setattr(GroupModel, "prepare", fail_in_the_middle)
    monkeypatch.setattr("cape.files._predict.available_threads", lambda: 2)
    with pytest.raises(RuntimeError, match="no more"):
        predict_file(
            people_model, people_folder / "new.csv", tmp_path / "out.csv", rows=100
        )
    assert list(tmp_path.iterdir()) == []


def test_what_is_warned_of_in_a_thread_is_a_note(
    people_folder, people_model, monkeypatch
):
    from cape._group_model import GroupModel

    plain = GroupModel.prepare
    monkeypatch.setattr(
        GroupModel,
        "prepare",
        lambda self, X: warnings.warn("odd", stacklevel=1) or plain(self, X),
    )
    monkeypatch.setattr("cape.files._predict.available_threads", lambda: 2)
    notes = Notes()
    predict_file(people_model, people_folder / "new.csv", rows=100, notes=notes)
    assert list(notes).count("odd") == 1


def test_from_csv_to_a_format_with_types_numbers_are_numbers(
    tmp_path, people_model, new
):
    new.to_csv(tmp_path / "new.csv", index=False)
    predict_file(people_model, tmp_path / "new.csv", tmp_path / "out.parquet", rows=300)
    out = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(out[list(new)], new, check_dtype=False)
    assert out["prediction"].dtype == out["y"].dtype and out["y"].dtype.kind == "i"


def test_fields_with_an_apostrophe_are_counted(tmp_path, people_model, new):
    new.assign(note=np.where(new.index % 7 == 0, "=1+1", "fine")).to_csv(
        tmp_path / "new.csv", index=False
    )
    for name, said in {"out.csv": True, "out.parquet": False}.items():
        notes = Notes()
        predict_file(
            people_model, tmp_path / "new.csv", tmp_path / name, rows=300, notes=notes
        )
        assert (
            any(
                note.startswith("100 fields that a spreadsheet would run")
                for note in notes
            )
            == said
        )


def test_a_table_without_columns(tmp_path, people_model):
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "bare.parquet")
    with pytest.raises(TableError, match="has no column"):
        predict_file(people_model, tmp_path / "bare.parquet")


def test_nothing_is_kept_when_nothing_is_asked_for(
    tmp_path, people_model, new, monkeypatch
):
    new.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.setattr("cape.files._predict.KeptRows", None)
    assert predict_file(people_model, tmp_path / "new.csv").rows == 700


def test_fields_of_a_csv_are_copied_as_they_stand(
    tmp_path, people_folder, people_model
):
    lines = (people_folder / "new.csv").read_text().splitlines()
    predict_file(people_model, people_folder / "new.csv", tmp_path / "out.csv")
    copied = (tmp_path / "out.csv").read_text().splitlines()
    assert all(
        copy.startswith(f"{line},") for line, copy in zip(lines, copied, strict=True)
    )


def test_labels_are_counted_for_cape_and_for_the_model_as_trained(
    people_folder, people_model, in_memory, new
):
    X, _, probability = in_memory
    found = predict_file(people_model, people_folder / "new.csv", rows=400)
    expected = confusion_by_group(
        new["y"], (probability > 0.5).astype(int), sensitive_features=new["race"]
    )
    assert found.examination.observed.cape == expected
    for group, group_model in people_model.clf.models_.items():
        rows = (X["race"] == group).to_numpy()
        prepared = group_model.transformer.transform(X.loc[rows].drop(columns="race"))
        by_learners = [
            learner.predict_proba(prepared)[:, 1] for learner in group_model.pool.models
        ]
        scores = np.mean(by_learners, axis=0)
        plain = confusion_by_group(new["y"][rows], (scores > 0.5).astype(int))[
            "everyone"
        ]
        assert found.examination.observed.unadapted[group] == plain
    moved = {
        g: abs(c.prevalence_difference)
        for g, c in found.examination.observed.unadapted.items()
    }
    adapted = {
        g: abs(c.prevalence_difference)
        for g, c in found.examination.observed.cape.items()
    }
    assert sum(adapted.values()) < sum(moved.values())


def test_rows_without_labels_are_left_out_of_the_counts(
    tmp_path, people_folder, people_model, new
):
    some = new.astype({"y": "Int64"})
    some.loc[some.index >= 100, "y"] = pd.NA
    some.to_csv(tmp_path / "some.csv", index=False)
    found = predict_file(
        people_model, tmp_path / "some.csv", tmp_path / "out.csv", rows=300
    )
    assert (
        sum(c.rows for c in found.examination.observed.cape.values()) == 100
        and found.rows == 700
    )
    new.drop(columns="y").to_csv(tmp_path / "none.csv", index=False)
    assert (
        predict_file(people_model, tmp_path / "none.csv").examination.observed is None
    )


@pytest.mark.parametrize("rows", [150, 10_000])
def test_labels_of_the_file_judge_the_estimates_and_do_not_touch_them(
    tmp_path, people_folder, people_model, new, in_memory, rows
):
    found = predict_file(people_model, people_folder / "new.csv", rows=rows)
    assert found.adaptation == in_memory[1]
    labels = found.examination.labels
    assert not labels.decide and labels.refuted == []
    for group, check in labels.groups.items():
        share = new.loc[new["race"] == group, "y"].mean()
        assert check.is_complete
        assert (check.labels.estimate, check.estimate.low, check.estimate.high) == (
            pytest.approx(share),
        ) * 3
    assert len(found.examination.expected_and_observed()) == 8
    new.assign(y=1 - new["y"]).to_csv(tmp_path / "flipped.csv", index=False)
    flipped = predict_file(people_model, tmp_path / "flipped.csv", rows=rows)
    assert flipped.adaptation == in_memory[1]
    assert flipped.examination.labels.refuted == ["blue", "green"]


def test_labels_of_some_rows_are_judged_as_a_sample_or_not_at_all(
    tmp_path, people_model, new
):
    random = np.random.default_rng(0)
    cases = {"sample": random.random(700) < 0.3, "early": (new["age"] < 35)}
    verdicts = {}
    for name, known in cases.items():
        some = new.assign(y=new["y"].astype("Int64").where(known))
        some.to_csv(tmp_path / f"{name}.csv", index=False)
        found = predict_file(people_model, tmp_path / f"{name}.csv").examination
        verdicts[name] = {c.label_verdict for c in found.labels.groups.values()}
        assert found.expected_and_observed() is None
    assert verdicts["sample"] <= {"confirmed", "not_contradicted"}
    assert verdicts["early"] == {None}


def test_unknown_and_missing_groups_are_counted_to_the_end(tmp_path, people_model, new):
    frame = new.assign(race=new["race"].where(new.index % 10 != 0, "red"))
    frame.to_csv(tmp_path / "red.csv", index=False)
    with pytest.raises(
        TableError,
        match=r"not in training: 'red' \(70 rows\)\. The model knows 'blue', 'green'",
    ):
        predict_file(people_model, tmp_path / "red.csv", tmp_path / "out.csv", rows=500)
    frame.assign(race=new["race"].where(new.index % 7 != 0)).to_csv(
        tmp_path / "gap.csv", index=False
    )
    with pytest.raises(TableError, match=r"100 of 700 rows have no value in 'race'"):
        predict_file(people_model, tmp_path / "gap.csv", tmp_path / "out.csv", rows=500)
    assert not (tmp_path / "out.csv").exists()


def test_an_error_in_the_last_part_leaves_no_file(tmp_path, people_model, new):
    bad = new.assign(age=new["age"].astype(object))
    bad.loc[699, "age"] = "old"
    bad.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(TableError, match=r"column 'age': expected numbers, got .*old"):
        predict_file(people_model, tmp_path / "bad.csv", tmp_path / "out.csv", rows=500)
    assert [f.name for f in tmp_path.iterdir()] == ["bad.csv"]


def test_group_values_of_another_type_are_the_same_group(tmp_path):
    from cape.files import train_file

    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    frame = pd.DataFrame(
        {"x": random.normal(size=300) + y, "z": random.integers(1, 3, 300), "y": y}
    )
    frame.to_csv(tmp_path / "train.csv", index=False)
    people_model = train_file(
        tmp_path / "train.csv",
        None,
        label="y",
        group=["z"],
        learner="logistic",
        settings={"cv": 2},
    )
    found = []
    for name, z in {
        "int": frame.z,
        "float": frame.z.astype(float),
        "text": frame.z.astype(str),
    }.items():
        frame.assign(z=z).to_parquet(tmp_path / f"{name}.parquet")
        notes = Notes()
        found.append(
            predict_file(
                people_model, tmp_path / f"{name}.parquet", notes=notes
            ).adaptation
        )
        assert any(
            "1.0 is read as 1" in note or "2.0 is read as 2" in note for note in notes
        ) == (name == "float")
    assert found[0] == found[1] == found[2]


def test_added_names_do_not_collide():
    assert free_names(["x"]) == {
        "prediction": "prediction",
        "probability": "probability",
        "estimated_prevalence": "estimated_prevalence",
    }
    taken = ["prediction", "cape_prediction", "estimated_prevalence"]
    assert free_names(taken)["prediction"] == "cape_cape_prediction"
    assert free_names(taken)["estimated_prevalence"] == "cape_estimated_prevalence"


def test_a_table_without_rows(tmp_path, people_model, new):
    new.head(0).to_csv(tmp_path / "empty.csv", index=False)
    with pytest.raises(TableError, match="has a header but no rows"):
        gather_evidence(people_model, tmp_path / "empty.csv")


def test_one_group_and_no_group_column(tmp_path, people_folder):
    from cape.files import train_file

    people_model = train_file(
        people_folder / "train.csv",
        None,
        label="y",
        learner="logistic",
        settings={"cv": 2},
    )
    assert isinstance(people_model, TableModel) and isinstance(
        people_model.columns, Columns
    )
    found = predict_file(people_model, people_folder / "new.csv", tmp_path / "out.csv")
    assert list(found.adaptation.groups) == ["everyone"]
    assert len(pd.read_csv(tmp_path / "out.csv")) == 700


def test_progress_is_told(people_folder, people_model):
    told = []
    predict_file(
        people_model,
        people_folder / "new.csv",
        rows=300,
        on_rows=lambda stage, n: told.append((stage, n)),
    )
    assert told == [
        (stage, n) for stage in ("reading", "predicting") for n in (300, 300, 100)
    ]
