"""Batches in files: the same as in memory, for any cut into parts."""

import hashlib
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from cape import CapeClassifier
from cape.metrics import confusion_by_group
from cape_app.files import TableModel, count_file, predict_file

FORMATS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": pd.DataFrame.to_parquet,
    "feather": pd.DataFrame.to_feather,
}


@pytest.fixture(scope="module")
def new(people_folder):
    return pd.read_csv(people_folder / "new.csv")


@pytest.fixture(scope="module")
def in_memory(people_model, new):
    """The plain way: everything in one table."""
    X = new.drop(columns="y").astype({"free": float})
    adaptation = people_model.clf.adapt(X)
    return X, adaptation, people_model.clf.predict_proba(X, adaptation=adaptation)[:, 1]


@pytest.mark.parametrize("rows", [150, 10_000])
def test_any_cut_into_parts_gives_the_predictions_of_the_whole(
    tmp_path, people_folder, people_model, in_memory, new, rows
):
    _, adaptation, probability = in_memory
    told = []
    found = predict_file(
        people_model,
        people_folder / "new.csv",
        tmp_path / "out.csv",
        rows=rows,
        on_rows=lambda *step: told.append(step),
    )
    assert found.adaptation == adaptation and found.rows == 700
    out = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(out["probability"], probability, atol=1e-8)
    assert (out["prediction"] == (probability > 0.5)).all()
    for group, adapted in adaptation.groups.items():
        of_group = out.loc[out["race"] == group, "estimated_prevalence"]
        assert of_group.unique() == pytest.approx(adapted.estimate.value, abs=1e-9)
    pd.testing.assert_frame_equal(out[list(new)], new)
    for stage in ("reading", "predicting"):
        assert sum(n for name, n in told if name == stage) == 700
    # Fields are copied as they stand.
    lines = (people_folder / "new.csv").read_text().splitlines()
    copied = (tmp_path / "out.csv").read_text().splitlines()
    pairs = zip(lines, copied, strict=True)
    assert all(copy.startswith(f"{line},") for line, copy in pairs)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_in_and_out(tmp_path, people_model, new, in_memory, suffix):
    path = tmp_path / f"new.{suffix}"
    FORMATS[suffix](new, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found = predict_file(people_model, path, tmp_path / "out.parquet", rows=300)
    assert (found.rows, found.sha256) == (700, digest)
    out = pd.read_parquet(tmp_path / "out.parquet")
    np.testing.assert_allclose(out["probability"], in_memory[2], atol=1e-8)
    pd.testing.assert_frame_equal(out[list(new)], new, check_dtype=False)
    assert out["prediction"].dtype == out["y"].dtype and out["y"].dtype.kind == "i"


@pytest.mark.parametrize(
    "chosen", [{"pool": "threshold"}, {"pool": "resampled", "prevalences": 3}]
)
@pytest.mark.parametrize("scores", ["refit", "folds"])
def test_each_row_is_scored_once_and_predicted_as_in_memory(
    tmp_path, people_folder, people_model, new, monkeypatch, chosen, scores
):
    chosen = {"cv": 2, "quantifier": "spa", "scores": scores, **chosen}
    columns = replace(people_model.columns, features={"age": "number"})
    train = pd.read_csv(people_folder / "train.csv")[["age", "race", "y"]]
    train["age"] = train["age"].fillna(40)
    clf = CapeClassifier(
        LogisticRegression(), group_columns=["race"], random_state=0, **chosen
    )
    model = TableModel(clf.fit(train[["age", "race"]], train["y"]), columns, {})
    frame = new[["age", "race", "y"]].assign(age=new["age"].fillna(40))
    frame.to_csv(tmp_path / "new.csv", index=False)
    X = frame[["age", "race"]]
    probability = clf.predict_proba(X)[:, 1]
    unadapted = np.zeros(len(X))
    for group, group_model in clf.models_.items():
        rows = (X["race"] == group).to_numpy()
        learners = group_model.scoring_models
        if chosen["pool"] == "threshold":
            learners = group_model.pool.models
        features = X.loc[rows, ["age"]]
        by_learner = [one.predict_proba(features)[:, 1] for one in learners]
        cut = group_model.training_cut / 2**32
        unadapted[rows] = np.mean(by_learner, axis=0) > cut

    scored_rows = []
    GroupModel = type(group_model)
    plain = GroupModel.score
    monkeypatch.setattr("cape_app.files._scan.available_threads", lambda: 2)

    def score(self, rows, **models):
        scored_rows.append(len(rows))
        return plain(self, rows, **models)

    monkeypatch.setattr(GroupModel, "score", score)
    found = predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv", rows=100)
    assert sum(scored_rows) == found.rows == 700
    out = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(out["probability"], probability, atol=1e-8)
    for counted, called in (
        (found.examination.observed.cape, probability > 0.5),
        (found.examination.observed.unadapted, unadapted),
    ):
        assert counted == confusion_by_group(
            new["y"], called.astype(int), sensitive_features=new["race"]
        )


@pytest.fixture(scope="module")
def small(people_model):
    """A model with a pooled small group, for tables of 90 rows."""
    kinds = {"x": "number", "u": "number"}
    columns = replace(people_model.columns, groups=("z",), features=kinds)
    frame = small_table(300)
    # "c" is a small group.
    is_small = (frame["z"] != "c") | (frame.index < 60)
    frame["z"] = frame["z"].where(is_small, "b")
    clf = CapeClassifier(
        LogisticRegression(),
        cv=2,
        pool="threshold",
        random_state=0,
        group_columns=["z"],
        min_group_size=30,
        small_groups="pooled",
        unknown_groups="pooled",
    )
    return TableModel(clf.fit(frame.drop(columns="y"), frame["y"]), columns, {})


def small_table(n, seed=0):
    random = np.random.default_rng(seed)
    z = random.choice(["a", "b", "c"], n)
    y = (random.random(n) < 0.4).astype(int)
    x = random.normal(size=n) + y
    return pd.DataFrame({"x": x, "u": random.normal(size=n), "z": z, "y": y})


@settings(max_examples=5, deadline=None)
@given(
    rows=st.integers(8, 100), order=st.permutations(range(90)), unknown=st.booleans()
)
def test_any_cut_and_any_order_predict_as_in_memory(
    tmp_path_factory, small, rows, order, unknown
):
    folder = tmp_path_factory.mktemp("cut")
    frame = small_table(90, seed=1).iloc[order].reset_index(drop=True)
    if unknown:
        frame["z"] = frame["z"].where(frame["u"] < 0.5, "stranger")
    frame.to_csv(folder / "new.csv", index=False)
    found = predict_file(small, folder / "new.csv", folder / "out.csv", rows=rows)
    probability = small.clf.predict_proba(frame.drop(columns="y"))[:, 1]
    out = pd.read_csv(folder / "out.csv")
    np.testing.assert_allclose(out["probability"], probability, atol=1e-8)
    assert found.evidence == small.clf.evidence(frame.drop(columns="y"))
    assert found.examination.observed.cape == confusion_by_group(
        frame["y"], (probability > 0.5).astype(int), sensitive_features=frame["z"]
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_value_out_of_range_in_a_few_rows_of_a_file_is_named(
    tmp_path, people_model, new, suffix
):
    column = next(n for n, k in people_model.columns.features.items() if k == "number")
    odd = new.copy()
    odd.loc[::15, column] = 98_765
    FORMATS[suffix](odd, tmp_path / f"odd.{suffix}")
    found = predict_file(people_model, tmp_path / f"odd.{suffix}").examination
    assert found.action.code == "do_not_use" and found.action.columns == [column]
    faults = [
        fault for drift in found.adaptation.drifts.values() for fault in drift.faults
    ]
    assert faults and all("mostly 98765" in fault.what_happened for fault in faults)


@pytest.mark.parametrize("order", [range(699), [*range(700), 0], range(699, -1, -1)])
def test_a_file_that_changes_between_the_passes(tmp_path, people_model, new, order):
    path = tmp_path / "new.csv"
    new.to_csv(path, index=False)

    def change_it(stage, rows):
        new.iloc[order].to_csv(path, index=False)

    with pytest.raises(ValueError, match=r"new\.csv changed while it was being read"):
        predict_file(people_model, path, tmp_path / "out.csv", on_rows=change_it)
    assert [file.name for file in tmp_path.iterdir()] == ["new.csv"]


def test_an_error_in_one_of_two_threads_leaves_no_file(
    tmp_path, people_folder, people_model, monkeypatch, notes
):
    def fail_in_the_middle(self, rows, **models):
        seen.append(len(rows))
        if len(seen) == 5:
            raise RuntimeError("no more")
        warnings.warn("odd", stacklevel=1)
        return plain(self, rows, **models)

    GroupModel = type(people_model.clf.models_["blue"])
    seen, plain = [], GroupModel.score
    monkeypatch.setattr(GroupModel, "score", fail_in_the_middle)
    monkeypatch.setattr("cape_app.files._scan.available_threads", lambda: 2)
    path = people_folder / "new.csv"
    with pytest.raises(RuntimeError, match="no more"):
        predict_file(people_model, path, tmp_path / "out.csv", rows=100)
    assert list(tmp_path.iterdir()) == []
    # What is warned of in a thread is a note.
    predict_file(people_model, path, rows=100, notes=notes)
    assert [note.values for note in notes if note.code == "warning"] == [
        {"text": "odd"}
    ]


def test_numbers_with_leading_zeros_stay_text_from_csv_to_parquet(
    tmp_path, people_model, new
):
    case = [f"{number:07}" for number in range(1, 701)]
    new.assign(case=case).to_csv(tmp_path / "new.csv", index=False)
    predict_file(people_model, tmp_path / "new.csv", tmp_path / "out.parquet", rows=300)
    assert pd.read_parquet(tmp_path / "out.parquet")["case"].tolist() == case


def test_fields_with_an_apostrophe_are_counted(tmp_path, people_model, new, notes):
    note = np.where(new.index % 7 == 0, "=1+1", "fine")
    new.assign(note=note).to_csv(tmp_path / "new.csv", index=False)
    for name in ("out.csv", "out.parquet"):
        path = tmp_path / "new.csv"
        predict_file(people_model, path, tmp_path / name, rows=300, notes=notes)
    found = [note.values for note in notes if note.code == "disarmed"]
    assert found == [{"n": 100, "path": str(tmp_path / "out.csv"), "predicted": True}]


def test_nothing_is_kept_when_nothing_is_asked_for(
    tmp_path, people_model, new, monkeypatch
):
    new.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.setattr("tempfile.TemporaryFile", None)
    found = predict_file(people_model, tmp_path / "new.csv")
    assert found.rows == 700
    assert found.examination.observed is None


def test_cape_is_nearer_to_the_labels_than_the_model_as_trained(
    people_folder, people_model
):
    observed = predict_file(people_model, people_folder / "new.csv").examination
    observed = observed.observed

    def differences(counts):
        return sum(abs(count.prevalence_difference) for count in counts.values())

    assert differences(observed.cape) < differences(observed.unadapted)


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
        assert check.labels.rows == check.rows
        assert (check.labels.estimate, check.estimate.low, check.estimate.high) == (
            pytest.approx(share),
        ) * 3
    assert len(found.examination.expected_and_observed()) == 8
    new.assign(y=1 - new["y"]).to_csv(tmp_path / "flipped.csv", index=False)
    flipped = predict_file(people_model, tmp_path / "flipped.csv", rows=rows)
    assert flipped.adaptation == in_memory[1]
    for check in flipped.examination.labels.groups.values():
        assert check.labels.contradict_scores


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
        counted = sum(count.rows for count in found.observed.cape.values())
        assert counted == known.sum()
        verdicts[name] = {c.labels.verdict for c in found.labels.groups.values()}
        assert found.expected_and_observed() is None
    assert verdicts["sample"] <= {"confirmed", "not_contradicted"}
    assert verdicts["early"] == {None}


def broken(new):
    age = new["age"].astype(object)
    age[699] = "old"
    return {
        "red": (
            new.assign(race=new["race"].where(new.index % 10 != 0, "red")),
            r"not in training, by race: 'red'\. The model knows 'blue'",
        ),
        "case": (
            new.assign(race=new["race"].str.upper() + " "),
            r"race: 'BLUE ', 'GREEN '.*\. Did you mean 'blue'\?",
        ),
        "gap": (
            new.assign(race=new["race"].where(new.index % 7 != 0)),
            r"72 of the first 500 rows have no value in 'race'",
        ),
        "last": (new.assign(age=age), r"column 'age': expected numbers, got .*old"),
        "empty": (new.head(0), "has a header but no rows"),
    }


@pytest.mark.parametrize("case", ["red", "case", "gap", "last", "empty"])
def test_an_error_leaves_the_file_that_was_there(tmp_path, people_model, new, case):
    frame, message = broken(new)[case]
    frame.to_csv(tmp_path / "bad.csv", index=False)
    out = tmp_path / "out.csv"
    out.write_text("precious")
    with pytest.raises(ValueError, match=message):
        predict_file(people_model, tmp_path / "bad.csv", out, rows=500, overwrite=True)
    with pytest.raises(FileExistsError):
        predict_file(people_model, tmp_path / "bad.csv", out)
    assert out.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_table_without_columns(tmp_path, people_model):
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "bare.parquet")
    with pytest.raises(ValueError, match="has no column"):
        predict_file(people_model, tmp_path / "bare.parquet")


@pytest.mark.parametrize("kind", ["int", "float", "category", "Int8"])
def test_group_values_of_another_type_are_the_same_group(tmp_path, small, kind, notes):
    numbers = small_table(90, seed=1)
    numbers["z"] = (numbers["z"] == "a").astype(int)
    fit = small_table(300)
    fit["z"] = (fit["z"] == "a").astype(int).astype(str)
    clf = CapeClassifier(
        LogisticRegression(), cv=2, group_columns=["z"], random_state=0
    )
    model = TableModel(clf.fit(fit.drop(columns="y"), fit["y"]), small.columns, {})
    numbers.to_csv(tmp_path / "text.csv", index=False)
    numbers.astype({"z": kind}).to_parquet(tmp_path / "typed.parquet")
    expected = predict_file(model, tmp_path / "text.csv")
    found = predict_file(model, tmp_path / "typed.parquet", rows=7, notes=notes)
    assert found.evidence == expected.evidence
    assert any(note.code == "respelled" for note in notes) == (kind == "float")


def test_added_names_do_not_collide(tmp_path, people_model, new):
    taken = new.assign(prediction=1, cape_prediction=2, estimated_prevalence=3)
    taken.to_csv(tmp_path / "new.csv", index=False)
    predict_file(people_model, tmp_path / "new.csv", tmp_path / "out.csv")
    assert list(pd.read_csv(tmp_path / "out.csv"))[-3:] == [
        "cape_cape_prediction",
        "probability",
        "cape_estimated_prevalence",
    ]


def test_one_group_and_no_group_column(tmp_path, people_folder, people_model):
    train = pd.read_csv(people_folder / "train.csv").fillna({"age": 40})
    clf = CapeClassifier(make_pipeline(SimpleImputer(), LogisticRegression()), cv=2)
    kinds = {"age": "number"}
    columns = replace(people_model.columns, groups=(), features=kinds)
    model = TableModel(clf.fit(train[["age"]], train["y"]), columns, {})
    found = predict_file(model, people_folder / "new.csv", tmp_path / "out.csv")
    assert list(found.adaptation.groups) == ["everyone"]
    assert len(pd.read_csv(tmp_path / "out.csv")) == 700


def test_a_missing_column_is_found_before_any_row_is_read(tmp_path, people_model):
    (tmp_path / "new.csv").write_text("age,degree,free\nx,y,z,too,many\n")
    with pytest.raises(ValueError, match=r"new\.csv has no column 'race'"):
        predict_file(people_model, tmp_path / "new.csv")


def test_pipes_and_files_without_rows_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="a pipe or a device"):
        count_file(tmp_path / "pipe.csv", label="y", prediction="p")
    (tmp_path / "empty.csv").write_text("y,p\n")
    with pytest.raises(ValueError, match="has a header but no rows"):
        count_file(tmp_path / "empty.csv", label="y", prediction="p")


def test_a_full_disk_says_so(monkeypatch, people_folder, people_model, tmp_path):
    def full_disk(dir):
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr("tempfile.TemporaryFile", full_disk)
    with pytest.raises(ValueError, match="has no room for the scores of rows, 14 byte"):
        predict_file(people_model, people_folder / "new.csv", tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_small_batch_and_a_missing_group_are_no_error(
    people_folder, people_model, tmp_path
):
    frame = pd.read_csv(people_folder / "new.csv")
    frame[frame.race == "blue"].head(3).to_csv(tmp_path / "small.csv", index=False)
    examination = predict_file(people_model, tmp_path / "small.csv").examination
    assert examination.verdict("blue").word == "uncertain"
    assert examination.expected.worst_pair() is None


def test_an_unknown_group_names_the_file(people_folder, people_model, tmp_path):
    frame = pd.read_csv(people_folder / "new.csv").assign(race="red")
    frame.to_csv(tmp_path / "red.csv", index=False)
    with pytest.raises(ValueError, match=r"red\.csv .*not in training.*'red'"):
        predict_file(people_model, tmp_path / "red.csv")
