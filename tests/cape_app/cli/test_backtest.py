"""``cape backtest``: a history of files, its page, and a model that knows its past."""

import json

import numpy as np
import pandas as pd
import pytest

from cape import backtest
from cape_app.cli._app import run
from cape_app.files import load_model
from cape_app.files._train import prepare
from cape_app.pages import to_html

ROLES = ("--label", "y", "--group", "z", "--learner", "logistic")


def draw(year, rows=400):
    rng = np.random.default_rng(year)
    group = rng.choice(["a", "b"], rows)
    share = np.where(group == "a", 0.3, 0.6) + 0.04 * (year % 3)
    y = rng.random(rows) < share
    x = rng.normal(size=rows) + 1.5 * y
    # The year would tell nothing, and the day all.
    frame = pd.DataFrame({"x": x, "u": rng.normal(size=rows), "z": group})
    return frame.assign(year=year, y=np.where(y, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backtest")
    years = [draw(year) for year in range(2018, 2023)]
    pd.concat(years).to_csv(folder / "history.csv", index=False)
    for frame in years[:3]:
        year = frame["year"].iloc[0]
        frame.drop(columns="year").to_csv(folder / f"{year}.csv", index=False)
    return folder


def answer(cape, *call):
    code, out, err = cape("backtest", *call, *ROLES, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture(scope="module")
def trained(folder):
    """What is said of the history; it leaves a model."""
    call = ["backtest", folder / "history.csv", "--time", "year", "--labels", 40]
    call += ["--out", folder / "m.cape", "--report", folder / "b.json", *ROLES]
    assert run([*map(str, call)]) == 0
    return json.loads((folder / "b.json").read_text())


def test_the_answer_is_that_of_python(trained, folder):
    """Files are read as cape train reads them, and the year is no feature."""
    prepared = prepare(
        folder / "history.csv", label="y", group=["z"], time="year", learner="logistic"
    )
    assert list(prepared.X) == ["x", "u", "z"]
    there = backtest(prepared.clf, prepared.X, prepared.y, period=prepared.period)
    assert trained["transitions"] == there.summary["transitions"] == 4
    assert trained["off"] == pytest.approx(there.summary["off"])
    assert (trained["first"], trained["last"]) == (2018, 2022)


def test_files_in_order_are_periods(cape, folder, trained):
    """The order is that of the command, and not that of the names."""
    years = [folder / f"{year}.csv" for year in (2018, 2019, 2020)]
    forth = answer(cape, *years)
    for there, row in zip(forth["rows"], trained["rows"][:4], strict=True):
        assert there["truth"] == row["truth"]
        assert there["estimate"] == pytest.approx(row["estimate"])
    back = answer(cape, *years[::-1])
    assert [row["period"] for row in back["rows"]] == ["2019", "2019", "2018", "2018"]


def test_a_part_of_the_past(cape, folder):
    call = (folder / "history.csv", "--time", "year")
    found = answer(cape, *call, "--from", "2020", "--train", "2")
    assert [row["period"] for row in found["rows"]] == [2022, 2022]
    found = answer(cape, *call, "--horizon", "2", "--train", "all", "--jobs", "2")
    assert found["transitions"] == 3


def test_the_model_is_of_the_newest_year_and_knows_its_past(cape, folder, trained):
    model = load_model(folder / "m.cape")
    assert model.details["data"]["rows"] == 400
    record = model.details["past"]
    assert record["held"] == trained["held"] and record["last"] == 2022
    draw(2023).drop(columns=["y", "year"]).to_csv(folder / "new.csv", index=False)
    code, out, _ = cape("predict", folder / "m.cape", folder / "new.csv")
    assert code == 0
    assert f"on your past: held {trained['held']} of 8" in out.lower()
    code, out, _ = cape("info", folder / "m.cape")
    assert "learned from 4 transitions, 2018 to 2022" in " ".join(out.split())
    page = to_html(trained)
    assert "learned from 4 transitions, 2018 to 2022" in page
    assert page.count("<figure") == 2


def test_conditions_end_with_a_code(cape, folder):
    call = ("backtest", folder / "history.csv", "--time", "year", *ROLES)
    assert cape(*call, "--fail-if", "held<0.01")[0] == 0
    code, out, _ = cape(*call, "--fail-if", "off>0.0001")
    assert code == 1 and "off>0.0001" in out
    # The first line says how it compares with the last share, whoever wins.
    assert "the last share" in out.split("\n")[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (("history.csv",), "--time must name the column"),
        (("history.csv", "--time", "nope"), "nope"),
        (("history.csv", "--time", "z"), "--time must be a column other than"),
        (("2018.csv", "2019.csv", "--time", "x"), "--time must name the column"),
        (("history.csv", "--time", "year", "--train", "some"), "--train must be"),
        (("history.csv", "--time", "year", "--from", "1990"), "--from must be one of"),
        (("history.csv", "--time", "year", "--fail-if", "nope>1"), "--fail-if must be"),
        (("history.csv", "--time", "year", "--from", "2022"), "--time must give 2"),
    ],
)
def test_mistakes_are_named(cape, folder, work_in, call, says):
    work_in(folder)
    code, _, err = cape("backtest", *call, *ROLES)
    assert code == 2
    assert says in err
