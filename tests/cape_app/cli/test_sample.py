"""``cape sample`` and ``cape predict --checked``."""

import json

import pandas as pd
import pytest

from cape.base._numbers import share_text


@pytest.fixture
def base(people_folder):
    return people_folder / "m.cape", people_folder / "new.csv"


@pytest.fixture
def sheet(cape, base, tmp_path):
    """Write a sheet of 120 rows, with all labels filled in."""
    path = tmp_path / "sheet.csv"
    assert cape("sample", *base, "--rows", 120, "--out", path)[0] == 0
    rows = pd.read_csv(path)
    truth = pd.read_csv(base[1])["y"].to_numpy()
    rows["y"] = truth[rows["cape_row"] - 1]
    rows.to_csv(path, index=False)
    return path


def test_the_table_says_how_many_rows_were_drawn(cape, base, tmp_path, read_rows):
    path = tmp_path / "sheet.csv"
    code, out, err = cape("sample", *base, "--out", path)
    sheet = pd.read_csv(path)
    assert (code, err) == (0, "")
    for name, _, drawn in read_rows(out, "blue", "green"):
        assert int(drawn) == (sheet["race"] == name).sum() > 0
    assert f"rows to label: {path}" in out


def test_json_says_the_same(cape, base, tmp_path):
    path = tmp_path / "sheet.csv"
    options = ("--rows", 70, "--spread", "proportional", "--seed", 5, "--json")
    content = json.loads(cape("sample", *base, "--out", path, *options)[1])
    new = pd.read_csv(base[1])
    assert content["out"] == str(path)
    for group in content["groups"]:
        rows = (new["race"] == group["group"]).sum()
        assert group["rows"] == rows
        assert group["drawn"] == pytest.approx(rows / 10, abs=1)
    assert sum(group["drawn"] for group in content["groups"]) == 70


def test_no_file_is_replaced_and_bad_options_are_told(refused, base, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("mine")
    refused("sample", *base, "--out", path, says="sheet.csv")
    out = ("--out", tmp_path / "new.csv")
    refused("sample", *base, *out, "--rows", 9, "--width", 0.1, says="got both")
    refused("sample", *base, *out, "--spread", "all", says="got 'all'")


def test_predict_says_what_the_labels_say_of_each_group(cape, base, sheet):
    code, out, err = cape("predict", *base, "--checked", sheet, "--verbose")
    text = " ".join(out.split())
    content = json.loads(cape("predict", *base, "--checked", sheet, "--json")[1])
    assert (code, err) == (0, "")
    assert [entry["returned"] for entry in content["checked"]] == [60, 60]
    for group in content["groups"]:
        said = f"60 labels put the share at {share_text(group['estimate'])}"
        assert said in text
        assert f"{group['estimate']:.3f} ({group['low']:.3f}-" in text


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (lambda rows: rows["race"] == "green", "no row has a label"),
        (lambda rows: rows["age"] < 35, "not a random sample"),
    ],
)
def test_labels_that_cannot_be_used_are_told(cape, base, sheet, wanted, says):
    rows = pd.read_csv(sheet)
    rows[wanted(rows)].to_csv(sheet, index=False)
    code, out, err = cape("predict", *base, "--checked", sheet, "--verbose")
    assert code == 0
    assert says in " ".join((err + out).split())


def test_a_sheet_of_another_file_is_refused_and_nothing_is_written(
    refused, base, sheet, people_folder, tmp_path
):
    files = ("--out", tmp_path / "p.csv", "--report", tmp_path / "r.html")
    checked = ("--checked", sheet)
    other = people_folder / "train.csv"
    says = ["line 2", "does not belong to a row of this file"]
    refused("predict", base[0], other, *checked, *files, says=says)
    sheet.write_text(sheet.read_text().replace(",1\n", ",perhaps\n", 1))
    refused("predict", *base, *checked, says=["line ", "'perhaps'"])
    missing = tmp_path / "missing.csv"
    refused("predict", *base, "--checked", missing, says="missing.csv")


def test_the_rows_that_are_drawn_are_those_that_predict_asks_for(cape, base, tmp_path):
    """Also if they are most of the rows, and if the file already has labels."""
    few = pd.read_csv(base[1]).head(60)
    few.to_csv(tmp_path / "few.csv", index=False)
    few.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    _, out, _ = cape("predict", base[0], tmp_path / "new.csv", "--json")
    asked = json.loads(out)["action"]["groups"]
    sheet = tmp_path / "sheet.csv"
    _, out, _ = cape("sample", base[0], tmp_path / "few.csv", "--out", sheet, "--json")
    drawn = json.loads(out)
    numbers = [group["drawn"] for group in drawn["groups"]]
    assert numbers == [group["labels"] for group in asked]
    assert all(group["expected_labels"] < group["labels"] for group in asked)
    assert drawn["enough"] == sum(numbers)
