"""Data: cases of the table, MEPS files of both kinds, and two tables of a user."""

import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cape_paper import _problem, compas_problem, meps_problem, published

sys.path.insert(0, str(Path(__file__).parent))
from xport import write_xport

DATA = Path(os.environ.get("CAPE_DATA") or Path.home() / ".cache" / "cape")
needs_data = pytest.mark.skipif(
    not (DATA / "gss" / "gss_2000_2018.csv.gz").exists(),
    reason="the files of the cases are not here: set CAPE_DATA",
)
needs_compas = pytest.mark.skipif(
    not (DATA / "compas" / "compas-scores-two-years.csv").exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)

# Rows to train on and to use, features, and prevalences of the first group.
EXPECTED = {
    "compas": (4319, 1810, 7, 0.328, 0.636),
    "compas-sex": (5090, 2095, 6, 0.288, 0.570),
    "compas-age": (5090, 2095, 7, 0.517, 0.746),
    "meps-15-16": (15830, 15675, 40, 0.188, 0.186),
    "meps-15-16-sex": (15830, 15675, 40, 0.133, 0.124),
    "meps-15-16-age": (15830, 15675, 41, 0.065, 0.067),
    "meps-12-13": (38687, 36715, 24, 0.188, 0.228),
    "meps-13-14": (36715, 34666, 24, 0.228, 0.237),
    "meps-13-15": (36715, 35192, 24, 0.228, 0.246),
    "meps-14-15": (34666, 35192, 25, 0.237, 0.246),
    "bank": (24003, 8000, 11, 0.043, 0.312),
    "brfss": (60000, 60000, 16, 0.189, 0.144),
    "brfss-education": (26949, 26964, 16, 0.448, 0.358),
    "nass": (3959, 4725, 9, 0.445, 0.357),
    "arrests": (2468, 2758, 5, 0.854, 0.861),
    "gss": (4802, 4362, 16, 0.379, 0.607),
}


@pytest.mark.slow
@needs_data
def test_every_case_of_the_table_is_read_with_its_rows_and_prevalences():
    problems, skipped = _problem.load_cases()
    assert skipped == []
    assert (
        [problem.name for problem in problems] == list(EXPECTED) == list(_problem.CASES)
    )
    for problem in problems:
        n_train, n_test, n_features, before, after = EXPECTED[problem.name]
        for (X, y, z), n_rows in ((problem.train, n_train), (problem.test, n_test)):
            assert X.shape == (n_rows, n_features), problem.name
            assert len(y) == len(z) == n_rows
            assert set(z) == set(problem.groups)
            assert set(np.unique(y)) == {0, 1}
            assert not set(_problem.CASES[problem.name].get("drop", ())) & set(X)
        assert list(problem.train[0]) == list(problem.test[0])
        first = problem.counts()[0]
        assert first["prevalence_train"] == pytest.approx(before, abs=5e-4)
        assert first["prevalence_test"] == pytest.approx(after, abs=5e-4)


def invented_case(folder, monkeypatch):
    """Put a small table in place of the bank's calls."""
    table = pd.DataFrame(
        {
            "year": [1, 1, 1, 2, 2],
            "colour": ["a", "b", "other", "a", "b"],
            "x": [1.0, 2.0, 3.0, 4.0, 5.0],
            "n": [-5, 10, 0, 12, 3],
        }
    )
    table.to_csv(folder / "t.csv", index=False)
    sha256 = hashlib.sha256((folder / "t.csv").read_bytes()).hexdigest()
    case = {
        "title": "T",
        "files": ["t.csv", "t.csv"],
        "train": "year == 1",
        "use": "year == 2",
        "groups": {"B": "colour == 'b'", "A": "colour == 'a'"},
        "positive": "n.clip(0) + 1 >= 11",
        "drop": ["year", "colour", "n"],
    }
    monkeypatch.setitem(_problem.CASES, "bank", case)
    monkeypatch.setitem(_problem._TABLE["sha256"], "t.csv", sha256)


def test_a_case_selects_rows_groups_labels_and_features(tmp_path, monkeypatch):
    invented_case(tmp_path, monkeypatch)
    [problem], _ = _problem.load_cases(["bank"], tmp_path)
    assert problem.groups == ["B", "A"]
    X, y, z = problem.train
    assert X.to_dict("list") == {"x": [1.0, 2.0]}
    assert (y.tolist(), z.tolist()) == ([0, 1], ["A", "B"])
    X, y, z = problem.test
    assert (X["x"].tolist(), y.tolist(), z.tolist()) == ([4, 5], [1, 0], ["A", "B"])


def test_a_file_that_is_not_the_expected_one_is_refused(tmp_path, monkeypatch):
    invented_case(tmp_path, monkeypatch)
    (tmp_path / "t.csv").write_text("x\n1\n")
    with pytest.raises(OSError, match="has sha256 .*, expected"):
        _problem.load_cases(["bank"], tmp_path)


def test_cases_without_files_are_skipped_unless_they_are_named(tmp_path, monkeypatch):
    for name in [name for name in _problem.CASES if name not in ("bank", "gss")]:
        monkeypatch.delitem(_problem.CASES, name)
    problems, skipped = _problem.load_cases(None, tmp_path)
    assert problems == []
    assert [sentence.split()[0] for sentence in skipped] == ["bank", "gss"]
    with pytest.raises(
        FileNotFoundError, match="bank-full.csv.gz is not in the folder"
    ):
        _problem.load_cases(["bank"], tmp_path)


@needs_compas
def test_the_paper_has_compas_and_its_printed_numbers():
    problem = compas_problem()
    assert problem.groups == ["Caucasian", "African-American"]
    first, second = problem.counts()
    assert (first["rows_train"], first["rows_test"]) == (1737, 708)
    assert second["prevalence_test"] == pytest.approx(0.705, abs=5e-4)
    assert problem.printed == published()["table_results"]["compas"]
    assert problem.printed_estimates == [0.592, 0.644]
    assert "4319 to train (59.8% Z=1; the paper has 4278, 59.7%)" in problem.notes[1]
    wide = compas_problem(features="wide")
    assert wide.name == "compas-wide" and wide.title.endswith("wide features")
    assert wide.train[0].shape == (4319, 49)


def survey_table(year, rows):
    """Columns of a full-year file; ``rows`` says what differs from an ordinary row."""
    names = "{features} {trips}".format(**_problem._SURVEY)
    names = names.format(yy=str(year)[-2:]).split()
    ordinary = dict.fromkeys([*names, "EDUCYR", "HIDEG", "RACEV2X", "OTHER"], 1.0)
    table = [{**ordinary, "HISPANX": 2.0, "DUPERSID": "x1", **row} for row in rows]
    return pd.DataFrame(table)


def put_survey(folder, year, rows):
    buffer = io.BytesIO()
    name = {2015: "h181ssp.zip", 2016: "h192ssp.zip"}[year]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name[:4]}.ssp", write_xport(survey_table(year, rows)))
    (folder / "meps").mkdir(exist_ok=True)
    (folder / "meps" / name).write_bytes(buffer.getvalue())


def test_the_surveys_own_files_are_read_by_the_recipe(tmp_path):
    rows = [
        {},
        # Hispanic: Non-White. A woman.
        {"HISPANX": 1.0, "SEX": 2.0},
        # 6 and 4 other trips: positive; 5 and 4: not.
        {"RACEV2X": 2.0, "OBTOTV15": 6.0},
        {"OBTOTV15": 5.0},
    ]
    put_survey(tmp_path, 2015, rows)
    put_survey(tmp_path, 2016, [{"HHTOTD16": 30.0, "AGE53X": 0.0}])
    problem = meps_problem(tmp_path)
    assert problem.title == "MEPS, 2015 to 2016"
    X, y, z = problem.train
    assert z.tolist() == ["White", "Non-White", "Non-White", "White"]
    assert y.tolist() == [0, 0, 1, 0]
    assert X["sex"].tolist() == [0, 1, 0, 0]
    assert list(X.columns[:5]) == ["REGION", "AGE", "sex", "MARRY", "FTSTU"]
    assert X.shape == (4, 40)
    assert problem.test[1].tolist() == [1]
    assert problem.test[0]["AGE"].tolist() == [0]


@needs_data
def test_both_kinds_of_meps_files_have_the_same_columns(tmp_path):
    put_survey(tmp_path, 2015, [{}])
    put_survey(tmp_path, 2016, [{}])
    assert list(meps_problem(tmp_path).train[0]) == list(meps_problem().train[0])


@pytest.mark.parametrize(
    ("column", "value", "kept"),
    [
        ("REGION53", -1, False),
        ("AGE53X", -1, False),
        ("ASTHDX", -1, False),
        ("EDUCYR", -8, False),
        ("HIDEG", -1, True),
        ("POVCAT15", -2, False),
        # Not categorical: no filter.
        ("PCS42", -9, True),
    ],
)
def test_keeps_the_rows_that_the_recipe_keeps(tmp_path, column, value, kept):
    put_survey(tmp_path, 2015, [{column: float(value)}, {}])
    table = _problem._read_survey(tmp_path, "15", "h181ssp.zip")
    assert len(table) == 1 + kept
