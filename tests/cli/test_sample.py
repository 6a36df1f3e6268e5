"""``cape sample`` and ``cape predict --checked``: what is written and printed."""

import json

import pandas as pd
import pytest


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


def one_line(text):
    return " ".join(text.split())


def test_the_table_says_how_many_rows_were_drawn(cape, base, tmp_path, read_rows):
    path = tmp_path / "sheet.csv"
    code, out, err = cape("sample", *base, "--out", path)
    sheet = pd.read_csv(path)
    assert (code, err) == (0, "")
    assert out.startswith("100 rows to check")
    for name, _, drawn in read_rows(out, "blue", "green"):
        assert int(drawn) == (sheet["race"] == name).sum() == 50
    assert "Fill in 'y'" in out
    assert f"rows to check: {path}" in out


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
    refused("sample", *base, *out, "--rows", 0, says="got 0")
    refused("sample", *base, *out, "--rows", 9, "--width", 0.1, says="got both")
    refused("sample", *base, *out, "--spread", "all", says="got 'all'")


def test_predict_says_what_the_labels_say_of_each_group(cape, base, sheet):
    code, out, err = cape("predict", *base, "--checked", sheet)
    text = one_line(out)
    content = json.loads(cape("predict", *base, "--checked", sheet, "--json")[1])
    assert (code, err) == (0, "")
    assert [entry["returned"] for entry in content["checked"]] == [60, 60]
    for group in content["groups"]:
        labels = f"{group['estimate']:.3f} ({group['low']:.3f}-{group['high']:.3f})"
        sentence = (
            f"{group['group']}: 60 of 60 drawn rows were checked; "
            f"{group['without_labels']:.3f} ({group['without_labels_low']:.3f}-"
            f"{group['without_labels_high']:.3f}) without labels, "
            f"{labels} with them: labels of 60 rows"
        )
        assert sentence in text


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (lambda rows: rows["race"] == "green", "no label came back"),
        (
            lambda rows: rows.groupby("race").cumcount() < 9,
            "fewer than 10 labels (9): not used",
        ),
        (lambda rows: rows["age"] < 35, "are no random sample of those drawn"),
    ],
)
def test_labels_that_cannot_be_used_are_told(cape, base, sheet, wanted, says):
    rows = pd.read_csv(sheet)
    rows[wanted(rows)].to_csv(sheet, index=False)
    code, out, _ = cape("predict", *base, "--checked", sheet)
    assert code == 0
    assert says in one_line(out)


def test_labels_that_refute_the_estimate_say_so(cape, base, sheet):
    pd.read_csv(sheet).assign(y=0).to_csv(sheet, index=False)
    text = one_line(cape("predict", *base, "--checked", sheet)[1])
    assert "labels of 60 rows refute the label-free estimate (p < 0.001)" in text


def test_without_a_sheet_nothing_is_said_of_checked_rows(cape, base):
    assert "drawn rows" not in cape("predict", *base)[1]
    assert json.loads(cape("predict", *base, "--json")[1])["checked"] is None


def test_a_sheet_of_another_file_is_refused_and_nothing_is_written(
    refused, base, sheet, people_folder, tmp_path
):
    refused(
        "predict",
        base[0],
        people_folder / "train.csv",
        "--checked",
        sheet,
        "--out",
        tmp_path / "p.csv",
        "--report",
        tmp_path / "r.html",
        says=["line 2", "is not that of a row of this file"],
    )
    text = sheet.read_text()
    sheet.write_text(text.replace(",1\n", ",perhaps\n", 1))
    refused("predict", *base, "--checked", sheet, says=["line ", "'perhaps'"])
    missing = tmp_path / "missing.csv"
    refused("predict", *base, "--checked", missing, says="missing.csv")


def test_help_teaches(cape):
    text = one_line(cape("sample", "--help")[1])
    assert "random sample" in text
    assert "cape_key" in text
    assert "--checked" in one_line(cape("predict", "--help")[1])
