"""Rows without a group value: an error, a group, or left out of estimates."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.base._groups import MISSING_GROUP, check_groups
from cape.examination import rows_to_label
from cape_app.cli import run
from cape_app.files import count_file, load_model, predict_file, train_file
from cape_app.files._notes import Notes

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


@pytest.fixture(scope="module")
def gaps(train):
    """The group of each training row, as text; one in ten has none."""
    return with_gaps(train.z, 0)


def with_gaps(z, seed):
    groups = np.array(["blue", "red"], dtype=object)[z]
    groups[np.random.default_rng(seed).random(len(z)) < 0.1] = None
    return groups


def cape(missing_groups):
    return CapeClassifier(
        LogisticRegression(), cv=3, random_state=0, missing_groups=missing_groups
    )


@pytest.fixture(scope="module", params=["group", "drop"])
def clf(request, train, gaps):
    return cape(request.param).fit(train.X, train.y, sensitive_features=gaps)


def test_the_error_has_count_rows_and_remedy(train, gaps):
    first = np.flatnonzero(pd.isna(gaps))[:5].tolist()
    n_missing = pd.isna(gaps).sum()
    message = f"got {n_missing} missing of {len(gaps)}, the first in rows {first[0]}, "
    with pytest.raises(ValueError, match=message + ".*missing_groups='group'"):
        cape("error").fit(train.X, train.y, sensitive_features=gaps)


def test_several_columns():
    table = pd.DataFrame({"race": ["a", None, "b"], "sex": ["f", "f", None]})
    as_group = check_groups(table, missing="group")
    assert as_group.keys == [(MISSING_GROUP, "f"), ("a", "f"), ("b", MISSING_GROUP)]
    left_out = check_groups(table, missing="drop")
    assert [left_out.keys[code] for code in left_out.codes] == [
        ("a", "f"),
        MISSING_GROUP,
        MISSING_GROUP,
    ]


def test_batches_with_gaps(clf, batch):
    groups = with_gaps(batch.z, 1)
    has_none = pd.isna(groups)
    adaptation = clf.adapt(batch.X, sensitive_features=groups)
    evidence = clf.evidence(batch.X, sensitive_features=groups)
    n_missing = 0 if clf.missing_groups == "drop" else has_none.sum()
    assert evidence.rows.get(MISSING_GROUP, 0) == n_missing
    assert clf.adapt(evidence=evidence) == adaptation
    # The same decisions with and without the adaptation; the others do not notice.
    decisions = clf.predict(batch.X, sensitive_features=groups)
    given = clf.predict(batch.X, sensitive_features=groups, adaptation=adaptation)
    assert (decisions == given).all()
    there = clf.predict(batch.X[~has_none], sensitive_features=groups[~has_none])
    if clf.missing_groups == "drop":
        assert (decisions[~has_none] == there).all()
    probability = clf.predict_proba(batch.X, sensitive_features=groups)[:, 1]
    assert ((probability > 0.5) == decisions).all()
    drawn = rows_to_label(clf, batch.X, sensitive_features=groups, n=40)
    assert has_none[drawn.rows].any() == (clf.missing_groups == "group")


def test_rows_that_are_left_out_are_decided_by_all_groups_together(train, gaps, batch):
    clf = cape("drop").fit(train.X, train.y, sensitive_features=gaps)
    assert clf.groups_ == ["blue", "red"]
    rest = ~pd.isna(gaps)
    same = cape("drop").fit(train.X[rest], train.y[rest], sensitive_features=gaps[rest])
    assert same.fingerprint_ == clf.fingerprint_
    groups = with_gaps(batch.z, 1)
    adaptation = clf.adapt(batch.X, sensitive_features=groups)
    mean = np.average(
        [adapted.estimate.value for adapted in adaptation.groups.values()],
        weights=[adapted.rows for adapted in adaptation.groups.values()],
    )
    member = np.abs(clf.pooled_.pool.thetas - mean).argmin()
    cut = clf.pooled_.pool.cuts[member] / 2**32
    has_none = pd.isna(groups)
    scores = clf.pooled_.scoring_models[0].predict_proba(batch.X[has_none])[:, 1]
    decisions = clf.predict(batch.X[has_none], sensitive_features=groups[has_none])
    # A batch of such rows alone has no estimate but the share of training.
    assert decisions.shape == scores.shape
    decisions = clf.predict(batch.X, sensitive_features=groups)[has_none]
    assert (decisions == (scores > cut)).all()


@pytest.fixture(scope="module")
def tables(tmp_path_factory, train, gaps, batch):
    folder = tmp_path_factory.mktemp("gaps")
    for name, rows, groups in (
        ("train", train, gaps),
        ("new", batch, with_gaps(batch.z, 1)),
    ):
        frame = pd.DataFrame(rows.X, columns=["a", "b"])
        frame = frame.assign(z=groups, y=rows.y, yhat=rows.y)
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_files(tables, tmp_path):
    table = pd.read_csv(tables / "new.csv")
    of_training = pd.read_csv(tables / "train.csv")
    lines = (np.flatnonzero(of_training["z"].isna()) + 2).tolist()
    named = {"label": "y", "group": ["z"], "drop": ["yhat"], "learner": "logistic"}
    with pytest.raises(ValueError, match=f"lines {lines[0]}, {lines[1]}, .*group"):
        train_file(tables / "train.csv", None, **named)
    for missing in ("group", "drop"):
        settings = {"missing_groups": missing, "cv": 3}
        path = tmp_path / f"{missing}.cape"
        train_file(tables / "train.csv", path, settings=settings, **named)
        notes = Notes()
        out = tmp_path / f"{missing}.csv"
        found = predict_file(load_model(path), tables / "new.csv", out, notes=notes)
        (note,) = [note for note in notes if note.code == "missing_groups"]
        assert note.values["n"] == table["z"].isna().sum()
        assert (MISSING_GROUP in found.adaptation.groups) == (missing == "group")
        of_groups = found.examination.observed.cape
        assert (MISSING_GROUP in of_groups) == (missing == "group")
        written = pd.read_csv(out)
        decided = load_model(path).clf.predict(table[["a", "b", "z"]])
        assert (written["prediction"] == decided).all()
        assert written["estimated_prevalence"].notna().all()
    strict = load_model(tmp_path / "drop.cape", missing_groups="error")
    with pytest.raises(ValueError, match="--missing-groups drop"):
        predict_file(strict, tables / "new.csv")


def test_an_audit_counts_them(tables):
    path = tables / "new.csv"
    table = pd.read_csv(path)
    n_missing = table["z"].isna().sum()
    named = {"label": "y", "prediction": "yhat", "group": ["z"]}
    with pytest.raises(ValueError, match=f"{n_missing} of {len(table)} rows"):
        count_file(path, **named)
    counts, _, _ = count_file(path, missing_groups="group", **named)
    assert counts[MISSING_GROUP].rows == n_missing
    notes = Notes()
    counts, _, _ = count_file(path, missing_groups="drop", notes=notes, **named)
    assert sum(count.rows for count in counts.values()) == len(table) - n_missing
    left_out = [note.values["n"] for note in notes if note.code == "missing_groups"]
    assert left_out == [n_missing]


@pytest.mark.parametrize("command", ["predict", "sample", "audit"])
def test_the_option_of_the_commands(tables, tmp_path, capsys, command):
    model = str(tmp_path / "m.cape")
    train = [str(tables / "train.csv"), "--label", "y", "--group", "z", "--out", model]
    options = ["--missing-groups", "drop", "--drop", "yhat", "--learner", "logistic"]
    assert run(["train", *train, *options]) == 0
    arguments = [model, str(tables / "new.csv")]
    if command == "sample":
        arguments += ["--out", str(tmp_path / "sheet.csv")]
    if command == "audit":
        arguments = [str(tables / "new.csv"), "--label", "y", "--prediction", "yhat"]
        arguments += ["--group", "z"]
    capsys.readouterr()
    assert run([command, *arguments, "--missing-groups", "error"]) != 0
    assert "--missing-groups group" in capsys.readouterr().err
    assert run([command, *arguments, "--missing-groups", "drop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]


def test_what_the_model_cannot_do_is_not_offered(tables, tmp_path, capsys):
    model = str(tmp_path / "m.cape")
    train = ["train", str(tables / "train.csv"), "--label", "y", "--group", "z"]
    table = pd.read_csv(tables / "train.csv").dropna(subset="z")
    table.to_csv(tmp_path / "known.csv", index=False)
    train[1] = str(tmp_path / "known.csv")
    assert run([*train, "--out", model, "--learner", "logistic"]) == 0
    assert run(["predict", model, str(tables / "new.csv")]) == 2
    error = capsys.readouterr().err
    assert "train again" in error and "--missing-groups group" not in error
