"""``cape check``: messy tables are trained on with the command that it prints."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

ROWS = 1200


def loans(years, seed=0):
    """A table of several years, in which two columns tell something of the label."""
    random = np.random.default_rng(seed)
    n = ROWS
    y = random.random(n) < 0.35
    return pd.DataFrame(
        {
            "year": np.sort(random.choice(years, n)),
            "sex": random.choice(["f", "m"], n),
            "income": np.round(random.lognormal(10, 0.4, n) * (1 + 0.9 * y), 2),
            "score": np.round(random.normal(size=n) + 1.3 * y, 3),
            "job": random.choice(["cook", "nurse", "clerk"], n),
            "y": y.astype(int),
        }
    )


def german(table, random, k):
    table["income"] = table["income"].map(lambda v: f"{v:,.2f}".translate(GERMAN))
    table["score"] = table["score"].map(lambda v: f"{v:.3f}".translate(GERMAN))
    table["Kündigung"] = table.pop("y").map({1: "ja", 0: "nein"})
    table["seit"] = [f"{day:02d}.03.{21 + k}" for day in random.integers(1, 28, ROWS)]
    return {"sep": ";", "encoding": "cp1252"}


GERMAN = str.maketrans(",.", ".,")


def american(table, random, k):
    table["price"] = [f"{v:,}" for v in random.integers(90_000, 990_000, ROWS)]
    table["rate"] = [f"{v:.1f}%" for v in random.random(ROWS) * 100]
    table["income"] = table["income"].map(lambda v: f"${v:,.0f}")
    table.loc[[3, 80], "score"] = np.nan
    table["score"] = table["score"].map(str)
    table.loc[[5, 90], "score"] = "n.v."


def spelled(table, random, k):
    positive, negative = [["Ja", "ja ", "JA"], ["Nein", "nein", "NEIN"]]
    words = np.where(
        table.pop("y") == 1,
        random.choice(positive, ROWS),
        random.choice(negative, ROWS),
    )
    table["readmitted"] = words
    table.loc[[4, 9], "readmitted"] = "?"


def persons(table, random, k):
    table["patient_id"] = np.repeat(np.arange(ROWS // 3), 3) + 5000 * k
    table["case"] = [f"{21 + k}/{i:05d}" for i in random.permutation(99_999)[:ROWS]]
    table["fee"] = np.where(table["y"] == 1, random.random(ROWS), 0.0)
    table["note"] = [f"she called on day {i} about it" for i in range(ROWS)]
    table["month"] = random.integers(1, 4, ROWS) + 3 * k


def totalled(table, random, k):
    table.insert(0, "Nr", np.arange(ROWS).astype(object))
    rows = pd.DataFrame(columns=table.columns, index=[ROWS, ROWS + 1])
    rows["Nr"] = ["Summe", "Quelle: Amt für Statistik"]
    rows.loc[ROWS, "income"] = 1e6
    for name in table:
        if name != "Nr":
            table[name] = table[name].astype(object)
    for place, row in rows.iterrows():
        table.loc[place] = row


MESSES = [german, american, spelled, persons, totalled]


@pytest.fixture
def written(tmp_path):
    """Write the table of a past with three years, and one of the year after."""

    def write(mess):
        for k, (name, years) in enumerate(
            {"past": [2019, 2020, 2021], "new": [2022]}.items()
        ):
            table = loans(years, seed=k)
            how = mess(table, np.random.default_rng(k), k) or {}
            table.to_csv(tmp_path / f"{name}.csv", index=False, **how)
        return tmp_path / "past.csv", tmp_path / "new.csv"

    return write


@pytest.mark.parametrize("mess", MESSES, ids=lambda mess: mess.__name__)
def test_the_command_it_prints_trains_and_the_next_year_can_be_predicted(
    cape, written, work_in, tmp_path, mess
):
    past, new = written(mess)
    work_in(tmp_path)
    code, out, _ = cape("check", past)
    train, backtest = out.splitlines()[-2:]
    assert code == 0
    assert shlex.split(backtest)[:3] == ["cape", "backtest", str(past)]
    assert {"--time", "year", "--group", "sex"} <= set(shlex.split(backtest))
    code, _, err = cape(*shlex.split(train)[1:], "--learner", "logistic")
    assert code == 0, err
    assert not any(line.startswith("note: left out") for line in err.splitlines())
    code, out, err = cape("predict", "model.cape", new)
    assert code == 0, err
    assert "do not use" not in out.lower()


def test_what_is_what(cape, written):
    past, _ = written(spelled)
    code, out, _ = cape("check", past, "--json")
    content = json.loads(out)
    assert code == 0
    label = content["label"]
    assert (label["column"], label["missing"]) == ("readmitted", ["?"])
    positives = {one["value"] for one in label["values"] if one["positive"]}
    assert positives == {"Ja", "ja ", "JA"}
    assert content["group"]["columns"] == ["sex"]
    assert content["time"] == {"column": "year", "periods": 3, "freq": None}
    (finding,) = content["findings"]
    assert (finding["column"], finding["effect"]) == ("year", "drop")
    assert content["train"][:2] == ["--read-as-missing", "?"]
    assert set(content["expected"]["groups"]) == {"f", "m"}


def test_what_is_said_counts(cape, written):
    past, _ = written(persons)
    options = ["--label", "sex", "--group", "job", "--positive", "m", "--drop", "y"]
    code, out, err = cape("check", past, *options, "--json")
    content = json.loads(out)
    assert code == 0, err
    assert content["label"]["column"] == "sex"
    start = "--label sex --group job --positive m --drop y"
    assert content["train"][:8] == start.split()
    assert {entry["column"] for entry in content["findings"]} == {
        *("year", "patient_id", "case", "note", "month")
    }


@pytest.mark.parametrize("left_out", [[], ["year"]])
def test_no_command_is_printed_that_has_nothing_to_learn_from(cape, tmp_path, left_out):
    path = tmp_path / "t.csv"
    loans([2019, 2020])[["sex", "y", *left_out]].to_csv(path, index=False)
    code, out, err = cape("check", path)
    assert (code, err) == (0, "")
    assert "No column is left to learn from" in out
    assert "cape train t.csv" not in out
    assert "cape backtest" not in out
    assert json.loads(cape("check", path, "--json")[1])["train"] == []


def test_a_clean_table_takes_a_few_lines(cape, tmp_path):
    loans([2019]).drop(columns="year").to_csv(tmp_path / "t.csv", index=False)
    code, out, err = cape("check", tmp_path / "t.csv", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["findings"] == []
    assert json.loads(out)["backtest"] is None
    text = " ".join(cape("check", tmp_path / "t.csv")[1].split())
    assert text.count(". ") < 9


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({"y": 1}, (), "no column has two values that could be the label"),
        ({"y": 1}, ("--label", "y"), "add rows with the other label"),
        ({}, ("--label", "income"), "Make a column of two values of it first"),
        ({}, ("--label", "Y"), "did you mean 'y'?"),
        ({}, ("--group", "race"), "no column 'race'"),
        ({}, ("--marks", "x"), "--marks must be signs"),
    ],
)
def test_mistakes(cape, refused, tmp_path, change, options, says):
    table = loans([2019]).drop(columns="sex").assign(**change)
    table.to_csv(tmp_path / "t.csv", index=False)
    refused("check", tmp_path / "t.csv", *options, says=says)


def test_weights_are_no_feature_and_stay_in_the_command(cape, tmp_path):
    """The share of a group is that of the population that the rows stand for."""
    table = loans([2021])
    table["people"] = np.where(table["y"] == 1, 1.0, 4.0)
    table.to_csv(tmp_path / "survey.csv", index=False)
    given = ("--label", "y", "--group", "sex", "--weight", "people", "--json")
    code, out, _ = cape("check", tmp_path / "survey.csv", *given)
    content = json.loads(out)
    assert code == 0
    command = content["train"]
    assert command[command.index("--weight") + 1] == "people"
    assert not [one for one in content["findings"] if one["column"] == "people"]
    share = np.average(table["y"], weights=table["people"])
    for group in content["group"]["groups"].values():
        assert group["prevalence"] == pytest.approx(share, abs=0.05)
    given = ("--label", "y", "--weight", "job")
    code, _, err = cape("check", tmp_path / "survey.csv", *given)
    assert code == 2
    assert "weight" in err
