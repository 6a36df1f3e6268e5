"""What ``--json`` prints: one object, by the schema of the command."""

import json
from importlib.resources import files

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

SCHEMA = json.loads(files("cape_app.cli").joinpath("schema.json").read_text("utf-8"))
AUDIT = "audit scored.csv --label y --prediction yhat --group race"
CALLS = {
    "train": "train train.csv --label y --group race --learner logistic --out n.cape",
    "check": "check train.csv --label y",
    "backtest": "backtest new.csv train.csv --label y --group race --labels 30 "
    "--learner logistic --out b.cape --fail-if off>0",
    "info": "info m.cape",
    "info, a past": "info b.cape",
    "predict, a past": "predict b.cape new.csv --force",
    "predict": "predict m.cape new.csv --out p.csv",
    "predict, no labels": "predict m.cape unlabelled.csv --rule equal_opportunity",
    "predict, a fault": "predict m.cape broken.csv --fail-if fault --fail-if pd>0",
    "predict, checked": "predict m.cape new.csv --checked checked.csv",
    "sample": "sample m.cape new.csv --rows 20 --out s.csv",
    "batches": "predict m.cape new.csv broken.csv few.csv --fail-if moved>=0",
    "watch": "watch log.cape scored.csv --state watch.json",
    "audit": AUDIT,
    "audit, few rows": AUDIT.replace("scored", "people") + " --fail-if pe>0",
    "ll144": AUDIT.replace("--label y", "--table ll144 --positive 1"),
    "failed": "predict m.cape nowhere.csv",
    "failed, usage": "predict m.cape new.csv --no-such-option",
    "failed, input": "predict m.cape new.csv --level 2",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, people_folder):
    folder = tmp_path_factory.mktemp("json")
    for name in ("m.cape", "train.csv", "new.csv"):
        (folder / name).write_bytes((people_folder / name).read_bytes())
    new = pd.read_csv(folder / "new.csv")
    new.drop(columns="y").to_csv(folder / "unlabelled.csv", index=False)
    new.assign(age=new["age"] * 365).to_csv(folder / "broken.csv", index=False)
    new.head(5).to_csv(folder / "few.csv", index=False)
    scored = new.assign(age=range(len(new)), yhat=new["age"] > new["age"].median())
    scored = scored.astype({"yhat": int})
    scored.to_csv(folder / "scored.csv", index=False)
    scored.head(15).to_csv(folder / "people.csv", index=False)
    return folder


def refuse_constant(name):
    raise AssertionError(f"{name} is no JSON")


def faults_of(answer, name):
    """What is wrong with an answer by the definition of the command."""
    whole = {**SCHEMA, "$ref": f"#/$defs/{name}"}
    del whole["oneOf"]
    return [error.message for error in Draft202012Validator(whole).iter_errors(answer)]


@pytest.mark.parametrize("name", CALLS)
def test_every_answer_is_what_the_schema_says(cape, folder, work_in, name):
    work_in(folder)
    if name == "watch":
        roles = "--label y --group race --score age --decision yhat --drop degree"
        cape("train", "scored.csv", *roles.split(), "--out", "log.cape")
    if name == "predict, checked":
        cape("sample", "m.cape", "new.csv", "--rows", 60, "--out", "drawn.csv")
        sheet, new = pd.read_csv("drawn.csv"), pd.read_csv("new.csv")
        sheet["y"] = new["y"].to_numpy()[sheet["cape_row"] - 1]
        sheet.to_csv("checked.csv", index=False)
    code, out, err = cape(*CALLS[name].split(), "--json")
    answer = json.loads(out, parse_constant=refuse_constant)
    assert faults_of(answer, name.partition(",")[0]) == []
    assert Draft202012Validator(SCHEMA).is_valid(answer)
    if "error" in answer:
        assert code == answer["error"]["exit_code"] == 2
        assert err == f"error: {answer['error']['message']}\n"
    else:
        assert code == int(bool(answer.get("breaches") or answer.get("alarms")))


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)
    commands = [one["$ref"].rpartition("/")[2] for one in SCHEMA["oneOf"]]
    assert {name.partition(",")[0] for name in CALLS} == set(commands)


def test_a_result_whose_page_cannot_be_written_is_still_one_object(
    cape, folder, tmp_path, monkeypatch
):
    def fail(*arguments, **settings):
        raise OSError("no room")

    monkeypatch.setattr("cape_app.pages.write_report", fail)
    call = ("predict", folder / "m.cape", folder / "new.csv", "--json")
    code, out, err = cape(*call, "--report", tmp_path / "r.html")
    answer = json.loads(out)
    assert faults_of(answer, "predict") == []
    assert (code, answer["error"]["code"]) == (2, "file")
    assert err == "error: no room\n"


def test_a_mistake_in_cape_has_a_code_of_its_own(cape, folder, monkeypatch):
    def fail(path, key):
        raise KeyError("x")

    monkeypatch.setattr("cape_app.files._model.describe_file", fail)
    code, out, _ = cape("info", folder / "m.cape", "--json")
    answer = json.loads(out)
    assert faults_of(answer, "failed") == []
    assert (code, answer["error"]["code"]) == (3, "bug")
