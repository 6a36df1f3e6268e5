"""Rows without a group value: an error, or a group."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.base._groups import MISSING_GROUP, check_groups
from cape.examination import rows_to_label
from cape_app.cli import run
from cape_app.files import count_file, predict_file, train_file
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


@pytest.fixture(scope="module")
def clf(train, gaps):
    return cape("group").fit(train.X, train.y, sensitive_features=gaps)


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


def test_batches_with_gaps(clf, batch):
    groups = with_gaps(batch.z, 1)
    has_none = pd.isna(groups)
    adaptation = clf.adapt(batch.X, sensitive_features=groups)
    evidence = clf.evidence(batch.X, sensitive_features=groups)
    assert evidence.rows[MISSING_GROUP] == has_none.sum()
    assert clf.adapt(evidence=evidence) == adaptation
    decisions = clf.predict(batch.X, sensitive_features=groups)
    given = clf.predict(batch.X, sensitive_features=groups, adaptation=adaptation)
    assert (decisions == given).all()
    probability = clf.predict_proba(batch.X, sensitive_features=groups)[:, 1]
    assert ((probability > 0.5) == decisions).all()
    drawn = rows_to_label(clf, batch.X, sensitive_features=groups, n=40)
    assert has_none[drawn.rows].any()


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
    settings = {"missing_groups": "group", "cv": 3}
    model = train_file(tables / "train.csv", None, settings=settings, **named)
    notes = Notes()
    out = tmp_path / "out.csv"
    found = predict_file(model, tables / "new.csv", out, notes=notes)
    (note,) = [note for note in notes if note.code == "missing_groups"]
    assert note.values["n"] == table["z"].isna().sum()
    assert MISSING_GROUP in found.adaptation.groups
    assert MISSING_GROUP in found.examination.observed.cape
    written = pd.read_csv(out)
    decided = model.clf.predict(table[["a", "b", "z"]])
    assert (written["prediction"] == decided).all()
    assert written["estimated_prevalence"].notna().all()


def test_an_audit_counts_them(tables):
    path = tables / "new.csv"
    table = pd.read_csv(path)
    n_missing = table["z"].isna().sum()
    named = {"label": "y", "prediction": "yhat", "group": ["z"]}
    with pytest.raises(ValueError, match=f"{n_missing} of the first {len(table)} rows"):
        count_file(path, **named)
    counts, _, _ = count_file(path, missing_groups="group", **named)
    assert counts[MISSING_GROUP].rows == n_missing


def test_a_model_that_knows_no_such_group_says_what_to_do(tables, tmp_path, capsys):
    model = str(tmp_path / "m.cape")
    train = ["train", str(tables / "train.csv"), "--label", "y", "--group", "z"]
    train += ["--out", model, "--learner", "logistic", "--drop", "yhat"]
    assert run(train) == 2
    assert "--missing-groups group" in capsys.readouterr().err
    table = pd.read_csv(tables / "train.csv").dropna(subset="z")
    table.to_csv(tmp_path / "known.csv", index=False)
    train[1] = str(tmp_path / "known.csv")
    assert run(train) == 0
    assert run(["predict", model, str(tables / "new.csv")]) == 2
    assert "--missing-groups group of cape train" in capsys.readouterr().err
    assert run([*train, "--force", "--missing-groups", "group"]) == 0
