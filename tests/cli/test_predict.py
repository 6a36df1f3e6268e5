"""``cape predict``: what is printed and written is what Python gives."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cape._tables import read_table
from cape.files import Notes, predict_file
from cape.metrics import audit


@pytest.fixture
def base(people_folder):
    return "predict", people_folder / "m.cape", people_folder / "new.csv"


def without(path, folder, *columns):
    """The batch without some of its columns."""
    pd.read_csv(path).drop(columns=list(columns)).to_csv(
        folder / "less.csv", index=False
    )
    return folder / "less.csv"


def test_the_file_holds_the_predictions_of_the_classifier_beside_the_rows_as_they_came(
    cape, base, tmp_path, people_model
):
    code, _, err = cape(*base, "--out", tmp_path / "p.csv")
    X = people_model.columns.table(read_table(base[2]), base[2], Notes())
    written = pd.read_csv(tmp_path / "p.csv")
    assert code == 0
    assert err == ""
    assert written["prediction"].tolist() == people_model.clf.predict(X).tolist()
    np.testing.assert_allclose(
        written["probability"], people_model.clf.predict_proba(X)[:, 1], atol=1e-9
    )
    adaptation = people_model.clf.adapt(X)
    for group, rows in written.groupby("race"):
        estimate = adaptation.groups[group].estimate.value
        np.testing.assert_allclose(rows["estimated_prevalence"], estimate, atol=1e-9)
    pd.testing.assert_frame_equal(written.iloc[:, :-3], pd.read_csv(base[2]))


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_json_and_table_hold_what_the_python_function_finds(
    cape, base, people_model, read_rows, level
):
    examination = predict_file(people_model, base[2], level=level).examination
    found = examination.adaptation
    content = json.loads(cape(*base, "--level", level, "--json")[1])
    _, out, _ = cape(*base, "--level", level)
    shown = {
        row[0]: row[1:]
        for row in read_rows(out, "blue", "green")
        if len(row) == 7 and "-" in row[4]
    }
    assert content["level"] == level
    assert f"{level:.0%}" in out
    assert "\n700 rows; prevalence in training" in out
    assert [g["group"] for g in content["groups"]] == list(found.groups) == list(shown)
    for group in content["groups"]:
        one = found.groups[group["group"]]
        check = examination.labels.groups[group["group"]]
        names = ("training_prevalence", "estimate", "low", "high", "theta", "pd_bound")
        numbers = [getattr(one, name) for name in names]
        assert [group[name] for name in names] == numbers
        assert shown[group["group"]] == [
            str(one.rows),
            f"{one.training_prevalence:.3f}",
            f"{one.estimate:.3f}",
            f"{one.low:.3f}-{one.high:.3f}",
            # The file has its labels: what they say stands beside the estimate.
            f"{check.labels.estimate:.3f}",
            f"{one.pd_bound:.3f}",
        ]


def test_what_the_labels_say_is_the_audit_of_the_predictions_written(
    cape, base, tmp_path, read_rows
):
    content = json.loads(cape(*base, "--out", tmp_path / "p.csv", "--json")[1])
    p = pd.read_csv(tmp_path / "p.csv")
    expected = audit(p["y"], p["prediction"], sensitive_features=p["race"])
    assert content["out"] == str(tmp_path / "p.csv")
    assert content["notes"] == []
    assert content["observed"]["cape"]["groups"] == expected.to_dict()["groups"]
    _, out, _ = cape(*base)
    value = expected.table()["value"]
    rows = [row for row in read_rows(out, "blue", "green") if row[1] == "CAPE"]
    metrics = ("fpr", "fnr", "accuracy", "prevalence", "pd")
    assert rows == [
        [g, "CAPE", *(f"{value[g, m]:.3f}" for m in metrics)] for g in ("blue", "green")
    ]
    observed = content["observed"]
    adapted = observed["cape"]["worst"]["pe"]["value"]
    unadapted = observed["unadapted"]["worst"]["pe"]["value"]
    line = f"PE of the worst pair: CAPE {adapted:.3f}, as trained {unadapted:.3f}\n"
    assert line in out


def test_without_labels_nothing_is_said_of_them(cape, base, tmp_path):
    code, out, err = cape(*base[:2], without(base[2], tmp_path, "y"))
    assert code == 0
    assert err == ""
    assert "labels" not in out
    assert "as trained" not in out
    assert "blue, green: consistent with a prior shift\n" in out
    assert (
        json.loads(cape(*base[:2], tmp_path / "less.csv", "--json")[1])["observed"]
        is None
    )


@pytest.mark.parametrize("name", ["p.csv.gz", "p.parquet", "p.feather", "p.arrow"])
def test_the_name_tells_the_format(cape, base, tmp_path, name):
    cape(*base, "--out", tmp_path / "p.csv")
    code, out, _ = cape(*base, "--out", tmp_path / name)
    assert code == 0
    assert f"predictions: {tmp_path / name}" in out.replace("\n", "")
    start = {"gz": b"\x1f\x8b", "parquet": b"PAR1"}.get(name.split(".")[-1], b"ARROW1")
    assert (tmp_path / name).read_bytes().startswith(start)
    one, other = (
        read_table(tmp_path / file, types={"age": "number"}) for file in ("p.csv", name)
    )
    np.testing.assert_array_equal(one["prediction"], other["prediction"])
    np.testing.assert_allclose(one["probability"], other["probability"])


def test_separator_and_encoding_are_those_of_both_files(cape, base, tmp_path):
    new = pd.read_csv(base[2]).assign(note="é")
    new.to_csv(tmp_path / "n.csv", sep=";", encoding="latin-1", index=False)
    options = ("--separator", ";", "--encoding", "latin-1")
    code, _, _ = cape(
        *base[:2], tmp_path / "n.csv", "--out", tmp_path / "p.csv", *options
    )
    written = pd.read_csv(tmp_path / "p.csv", sep=";", encoding="latin-1")
    cape(*base, "--out", tmp_path / "plain.csv")
    plain = pd.read_csv(tmp_path / "plain.csv")
    assert code == 0
    assert set(written["note"]) == {"é"}
    pd.testing.assert_frame_equal(written.drop(columns="note"), plain)


def test_columns_called_like_ours_are_kept(cape, base, tmp_path):
    pd.read_csv(base[2]).assign(prediction="mine").to_csv(
        tmp_path / "n.csv", index=False
    )
    code, _, err = cape(*base[:2], tmp_path / "n.csv", "--out", tmp_path / "p.csv")
    written = pd.read_csv(tmp_path / "p.csv")
    assert code == 0
    assert err == "note: 1 column not used by the model: 'prediction'.\n"
    assert set(written["prediction"]) == {"mine"}
    assert set(written["cape_prediction"]) == {0, 1}


def test_notes_are_beside_the_result_and_in_the_json(cape, base, tmp_path):
    pd.read_csv(base[2]).assign(extra=1).to_csv(tmp_path / "n.csv", index=False)
    _, out, err = cape(*base[:2], tmp_path / "n.csv", "--json")
    assert json.loads(out)["notes"] == ["1 column not used by the model: 'extra'."]
    assert err == "note: 1 column not used by the model: 'extra'.\n"
    _, out, err = cape(*base[:2], tmp_path / "n.csv")
    assert "not used" in err
    assert "not used" not in out


def test_force_replaces_predictions_and_report(cape, refused, base, tmp_path):
    out, report = tmp_path / "p.csv", tmp_path / "r.json"
    out.write_text("mine")
    refused(
        *base,
        "--out",
        out,
        "--report",
        report,
        says=[f"{out} exists already", "--force"],
    )
    report.write_text("mine")
    refused(
        *base,
        "--out",
        tmp_path / "q.csv",
        "--report",
        report,
        says=f"{report} exists already",
    )
    code, printed, _ = cape(
        *base, "--out", out, "--report", report, "--force", "--json"
    )
    printed = json.loads(printed)
    assert code == 0
    assert len(pd.read_csv(out)) == 700
    assert json.loads(report.read_text()) == {
        k: v for k, v in printed.items() if k not in ("out", "checked")
    }


def test_mistakes_leave_no_file(refused, base, tmp_path):
    out, new = ("--out", tmp_path / "p.csv"), pd.read_csv(base[2])
    table = tmp_path / "n.csv"

    def changed(**columns):
        new.assign(**columns).to_csv(table, index=False)
        return (*base[:2], table, *out)

    refused(
        *changed(race=new["race"].where(new.index > 3)),
        says="4 of 700 rows have no value in 'race', so no group",
    )
    refused(
        *changed(race=new["race"].where(new.index > 3, "teal")),
        says=["'teal' (4 rows)", "knows 'blue', 'green'"],
    )
    refused(*changed(age="old"), says=["n.csv", "column 'age'", "'old'"])
    refused(
        *changed(y=new["y"].where(new.index > 0, 7)),
        says="expected '0' or '1', got '7' in 1 of 700 rows",
    )
    refused(
        *base,
        "--out",
        tmp_path / "p.xls",
        says=["p.xls must end in one of .csv", ".parquet"],
    )
    (tmp_path / "folder.csv").mkdir()
    refused(*base, "--out", tmp_path / "folder.csv", says="is a folder: name a file")
    refused(
        *base, "--out", tmp_path / "no" / "p.csv", says="no of p.csv does not exist"
    )
    refused(
        *base,
        *out,
        "--report",
        tmp_path / "r.txt",
        says="a report must end in .html or .json, got 'r.txt'",
    )
    refused(*base, *out, "--level", 0, says="level must be in (0, 1), got 0.0")
    refused(
        *base,
        *out,
        "--separator",
        "tab",
        says=["seems to be separated by a comma", "(--separator)"],
    )
    refused(
        "predict",
        base[2],
        base[2],
        *out,
        says=["must be a model file written by cape", "new.csv"],
    )
    refused(
        *base,
        "extra.csv",
        says=["unexpected extra argument", "extra.csv", "cape predict --help"],
    )
    refused(
        *base,
        "--ouput",
        "p.csv",
        says=["No such option", "--ouput", "cape predict --help"],
    )


def test_a_tsv_has_tabs(cape, base, tmp_path):
    assert cape(*base, "--out", tmp_path / "p.tsv")[0] == 0
    assert list(pd.read_csv(tmp_path / "p.tsv", sep="\t"))[-3:] == [
        "prediction",
        "probability",
        "estimated_prevalence",
    ]


def test_no_input_is_replaced(refused, base, tmp_path):
    """Neither the batch nor the model, under whatever name and however forced."""
    table = tmp_path / "t.csv"
    table.write_bytes(Path(base[2]).read_bytes())
    model = tmp_path / "m.json"
    model.write_bytes(Path(base[1]).read_bytes())
    command = [base[0], model, table]
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "hard.csv").hardlink_to(table)
    (tmp_path / "folder").mkdir()
    spelled = tmp_path / "folder" / ".." / "t.csv"
    for name in ("t.csv", "link.csv", "hard.csv", spelled):
        out = tmp_path / name
        refused(*command, "--out", out, "--force", says="which is read")
    refused(*command, "--report", model, "--force", says="which is read")
    twice = tmp_path / "new.json"
    refused(*command, "--out", twice, "--report", twice, says="twice")


def test_a_fault_stands_before_any_number_and_other_columns_below(
    cape, base, tmp_path, people_model
):
    frame = pd.read_csv(base[2]).drop(columns="y")
    recoded = frame["degree"].map({"F": "felony", "M": "misdemeanour"})
    frame.assign(degree=recoded).to_csv(tmp_path / "recoded.csv", index=False)
    code, out, err = cape(*base[:2], tmp_path / "recoded.csv")
    assert code == 0
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "COLUMNS ARE NOT WHAT THEY WERE IN TRAINING"
    assert "never seen in training: felony, misdemeanour" in lines[1]
    assert "blue, green: cannot tell the prevalence because of `degree`" in out


def test_columns_that_moved_stand_below_the_verdict(cape, base, tmp_path):
    frame = pd.read_csv(base[2]).drop(columns="y")
    random = np.random.default_rng(0)
    some = random.random(len(frame)) < 0.5
    frame.assign(degree=frame["degree"].where(some, "M")).to_csv(
        tmp_path / "odd.csv", index=False
    )
    _, out, _ = cape(*base[:2], tmp_path / "odd.csv")
    assert "COLUMNS ARE NOT" not in out
    assert "\n  `degree`: " in out


def test_drift_is_passed_on(cape, refused, base, tmp_path, people_model):
    frame = pd.read_csv(base[2]).drop(columns="y").assign(age=33.0)
    frame.to_csv(tmp_path / "odd.csv", index=False)
    odd = (*base[:2], tmp_path / "odd.csv")
    content = json.loads(cape(*odd, "--drift", "ignore", "--json")[1])
    expected = predict_file(people_model, odd[2], drift="ignore").adaptation
    assert content["drift"] == "ignore"
    for group in content["groups"]:
        found = expected.groups[group["group"]]
        assert group["estimate"] == found.estimate == found.quantifier_estimate.value
        assert group["held_back"] == 0
    refused(*odd, "--drift", "brave", says="drift must be 'cautious' or 'ignore'")


def test_a_rule_is_passed_on(cape, refused, base):
    content = json.loads(cape(*base, "--rule", "demographic_parity", "--json")[1])
    assert content["rule"]["name"] == "demographic_parity"
    shares = [group["predicted_prevalence"] for group in content["groups"]]
    assert max(shares) - min(shares) < 0.05
    plain = json.loads(cape(*base, "--json")[1])
    assert plain["rule"] == {"name": "prevalence"}
    out = cape(*base, "--rule", "accuracy")[1]
    assert "rule: accuracy, cost_fp 1, cost_fn 1." in out
    assert "rule:" not in cape(*base)[1]
    refused(*base, "--rule", "fair", says="rule must be one of 'prevalence'")


def test_a_rule_says_with_which_probability_its_bound_is_met(cape, base):
    content = json.loads(cape(*base, "--rule", "equal_opportunity", "--json")[1])
    [sentence] = content["aims"]
    _, out, _ = cape(*base, "--rule", "equal_opportunity")
    assert " ".join(sentence.split()) in " ".join(out.split())
    entries = {entry["criterion"]: entry for entry in content["criteria"]}
    value = entries["equal_opportunity_difference"]["value"]
    assert f"{value:.3f} is expected" in sentence
    # The paper's rule bounds nothing, and nothing is printed of it.
    _, plain, _ = cape(*base)
    assert "is expected" not in plain
