"""Files whose rows stand for different numbers of people."""

import numpy as np
import pandas as pd
import pytest

from cape_app.files import (
    backtest_file,
    count_file,
    load_model,
    predict_file,
    sample_file,
    train_file,
)
from cape_app.files._notes import Notes
from cape_app.words._notes import note_text

READING = {"label": "y", "group": ["z"], "learner": "logistic"}


def people(n, shares, seed):
    random = np.random.default_rng(seed)
    z = random.integers(0, 2, n)
    y = (random.random(n) < np.array(shares)[z]).astype(int)
    X = (random.normal(size=(n, 2)) + y[:, None]).round(6)
    weights = random.integers(1, 6, n)
    return pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "z": np.array(["m", "f"])[z], "w": weights, "y": y}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    people(2000, [0.3, 0.5], 0).to_csv(folder / "train.csv", index=False)
    people(1200, [0.5, 0.3], 1).to_csv(folder / "new.csv", index=False)
    train_file(folder / "train.csv", folder / "m.cape", weight="w", **READING)
    return folder


def predicted(folder, name="new.csv", **given):
    notes = Notes()
    model = load_model(folder / "m.cape")
    out = predict_file(model, folder / name, notes=notes, **given)
    return out, " ".join(note_text(note.code, note.values) for note in notes)


def test_a_file_says_what_python_says(folder):
    model = load_model(folder / "m.cape")
    assert "w" not in model.columns.features
    frame = pd.read_csv(folder / "new.csv", dtype={"z": "str"})
    found, said = predicted(folder, rows=500, out=folder / "out.csv", overwrite=True)
    X = frame[["a", "b", "z"]]
    assert model.clf.adapt(X, sample_weight=frame["w"]) == found.adaptation
    assert "the 1,200 rows are worth" in said
    decided = pd.read_csv(folder / "out.csv")["prediction"]
    assert decided.tolist() == model.clf.predict(X, sample_weight=frame["w"]).tolist()
    for group, counts in found.examination.observed.cape.items():
        rows = frame["z"] == group
        weights = frame.loc[rows, "w"]
        share = np.average(frame.loc[rows, "y"], weights=weights)
        assert counts.rows == rows.sum()
        assert counts.total == pytest.approx(found.adaptation.groups[group].worth)
        assert (counts.tp + counts.fn) / counts.total == pytest.approx(share)


def test_files_with_other_weights_than_training(folder):
    new = pd.read_csv(folder / "new.csv")
    new.drop(columns="w").to_csv(folder / "without.csv", index=False)
    found, said = predicted(folder, "without.csv")
    assert "give both their weights (sample_weight, --weight)" in said
    new.assign(w=3).to_csv(folder / "alike.csv", index=False)
    alike, said = predicted(folder, "alike.csv")
    assert "are worth" not in said
    for group, adapted in alike.adaptation.groups.items():
        assert adapted.estimate == found.adaptation.groups[group].estimate


@pytest.mark.parametrize("bad", [-1, np.nan])
def test_bad_weights_are_refused(folder, bad):
    new = pd.read_csv(folder / "new.csv")
    new.assign(w=[bad, *new["w"][1:]]).to_csv(folder / "bad.csv", index=False)
    with pytest.raises(ValueError, match="sample_weight must be at least 0 in every"):
        predicted(folder, "bad.csv")
    with pytest.raises(ValueError, match="sample_weight must be at least 0 in every"):
        train_file(folder / "bad.csv", None, weight="w", **READING)
    with pytest.raises(ValueError, match="weight must be a column other than the"):
        train_file(folder / "new.csv", None, weight="y", **READING)


def test_a_sheet_of_labels_keeps_the_weights(folder):
    model = load_model(folder / "m.cape")
    sample_file(model, folder / "new.csv", folder / "sheet.csv", n=200, overwrite=True)
    new, sheet = pd.read_csv(folder / "new.csv"), pd.read_csv(folder / "sheet.csv")
    sheet["y"] = new["y"].to_numpy()[sheet["cape_row"] - 1]
    sheet.to_csv(folder / "sheet.csv", index=False)
    found, _ = predicted(folder, checked=folder / "sheet.csv")
    for group, adapted in found.adaptation.groups.items():
        assert adapted.labels.rows == 100
        rows = new["z"] == group
        share = np.average(new.loc[rows, "y"], weights=new.loc[rows, "w"])
        assert adapted.estimate.low < share < adapted.estimate.high


def test_audits_count_what_rows_are_worth(folder):
    new = pd.read_csv(folder / "new.csv")
    new.assign(p=(new["a"] > 0.5).astype(int)).to_csv(folder / "p.csv", index=False)
    given = {"label": "y", "prediction": "p", "group": ["z"], "rows": 500}
    counts, _, _ = count_file(folder / "p.csv", weight="w", **given)
    plain, _, _ = count_file(folder / "p.csv", **given)
    for group, of_group in counts.items():
        weights = new.loc[new["z"] == group, "w"]
        called = new.loc[new["z"] == group, "a"] > 0.5
        share = np.average(called, weights=weights)
        assert (of_group.tp + of_group.fp) / of_group.total == pytest.approx(share)
        worth = weights.sum() ** 2 / (weights**2).sum()
        assert of_group.total == pytest.approx(worth)
        assert of_group.rows == plain[group].rows == plain[group].total
    new.assign(p=new["y"], w=2.7).to_csv(folder / "p.csv", index=False)
    alike, _, _ = count_file(folder / "p.csv", weight="w", **given)
    assert alike == count_file(folder / "p.csv", **given)[0]


def test_audits_count_no_rows_that_weigh_nothing(folder):
    new = pd.read_csv(folder / "new.csv")
    given = {"label": "y", "prediction": "y", "group": ["z"], "weight": "w"}
    new.assign(w=(new["z"] == "f").astype(int)).to_csv(folder / "p.csv", index=False)
    counts, _, _ = count_file(folder / "p.csv", **given)
    assert (counts["m"].rows, counts["m"].total) == (0, 0)
    assert counts["f"].rows == counts["f"].total == (new["z"] == "f").sum()
    new.assign(w=0).to_csv(folder / "p.csv", index=False)
    with pytest.raises(ValueError, match="positive in some row, got all zeros"):
        count_file(folder / "p.csv", **given)


def test_backtests_of_files_weigh_rows(folder):
    history = people(1800, [0.3, 0.5], 3)
    history["year"] = np.repeat([2021, 2022, 2023], 600)
    history.to_csv(folder / "history.csv", index=False)
    path = folder / "history.csv"
    result, model = backtest_file([path], time="year", weight="w", **READING)
    rows = history[(history["year"] == 2023) & (history["z"] == "f")]
    truth = result.table().loc[(2023, "f"), "truth"]
    assert truth == pytest.approx(np.average(rows["y"], weights=rows["w"]))
    assert model.columns.weight == "w"
    assert all(one.weighted for one in model.clf.models_.values())
