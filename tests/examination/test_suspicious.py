"""The result of `suspicious_columns`, and what it finds in real tables."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from cape.datasets import _compas
from cape.datasets._files import data_folder
from cape.examination import suspicious_columns

N = 400


@pytest.fixture
def y():
    return np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture
def table(y):
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, N),
            "row": range(N),
            "income": np.exp(random.normal(10, 1, N)),
            "case": [f"{i:06d}CF" for i in random.permutation(N)],
            "again": np.where(y == 1, "yes", "no"),
            "day": pd.Timestamp("2013-01-01")
            + pd.to_timedelta(random.integers(0, 365, N), unit="D"),
            "job": random.choice(["cook", "clerk", "nurse"], N),
        }
    )


EXPECTED = {
    "row": "row number",
    "case": "identifier",
    "again": "tells the answer",
    "day": "date",
}


def test_columns_are_named_in_the_order_of_the_table(table, y):
    found = suspicious_columns(table, y)
    assert found.columns == list(EXPECTED)
    assert found.table()["kind"].to_dict() == EXPECTED
    assert found.table().index.name == "column"
    assert [one.column for one in found.of_kind("date")] == ["day"]
    assert (found.rows, found.rows_in_table) == (N, N)
    assert list(table.drop(columns=found.columns)) == ["age", "income", "job"]


def test_the_result_as_dict_and_in_print(table, y):
    found = suspicious_columns(table[["age", "row"]], y)
    assert json.loads(json.dumps(found.to_dict())) == {
        "rows": N,
        "rows_in_table": N,
        "findings": [{"column": "row", "kind": "row number", "why": "counts the rows"}],
    }
    text = "SuspiciousColumns(\n  row: row number, counts the rows\n)"
    assert repr(found) == text


def test_nothing_found(table, y):
    found = suspicious_columns(table[["age", "income", "job"]], y)
    assert repr(found) == "SuspiciousColumns(none found)"
    assert found.columns == []
    assert found.to_dict()["findings"] == []
    assert list(found.table().columns) == ["kind", "why"]
    assert len(found.table()) == 0


def test_arrays_and_polars_are_read_as_pandas_is(table, y):
    expected = suspicious_columns(table, y)
    assert suspicious_columns(pl.DataFrame(table.to_dict("list")), y) == expected
    assert suspicious_columns(table.set_index("income", drop=False), y) == expected
    from_array = suspicious_columns(table.to_numpy(dtype=object), y)
    assert suspicious_columns(table.to_numpy(dtype=object).tolist(), y) == from_array
    assert from_array.columns == [1, 3, 4, 5]
    assert [one.why for one in from_array.findings] == [
        one.why for one in expected.findings
    ]
    numbers = suspicious_columns(table[["age", "row"]].to_numpy(), y)
    assert numbers.table()["kind"].to_dict() == {1: "row number"}


def test_two_columns_of_the_same_name(table, y):
    twice = table[["row", "row"]].set_axis(["a", "a"], axis=1)
    assert suspicious_columns(twice, y).columns == ["a", "a"]


def test_labels_of_any_type(table, y):
    expected = suspicious_columns(table, y)
    assert suspicious_columns(table, np.where(y == 1, "yes", "no")) == expected
    assert suspicious_columns(table, y.astype(bool).tolist()) == expected


def test_a_sample_finds_what_the_table_has():
    random = np.random.default_rng(0)
    n = 30_000
    y = random.integers(0, 2, n)
    table = pd.DataFrame(
        {
            "x": random.normal(size=n) + y,
            "row": np.arange(n) + 7,
            "id": np.cumsum(random.integers(1, 9, n)),
            "member": random.permutation(3 * n)[:n],
            "amount": random.integers(0, 10_000, n),
        }
    )
    found = suspicious_columns(table, y, max_rows=2000)
    assert found.table()["kind"].to_dict() == {
        "row": "row number",
        "id": "identifier",
        "member": "identifier",
    }
    assert (found.rows, found.rows_in_table) == (2000, n)
    assert suspicious_columns(table, y, max_rows=2000) == found
    other = suspicious_columns(table, y, max_rows=2000, random_state=1)
    assert other.columns == found.columns
    assert suspicious_columns(table, y).rows == 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": sparse.eye_array(N, format="csr")}, "got a sparse matrix"),
        ({"X": np.arange(N)}, r"X must be a table .* got an array of shape \(400,\)"),
        ({"X": None}, r"X must be a table .* got an array of shape \(\)"),
        ({"X": np.zeros((N, 2, 2))}, r"X must be a table .* \(400, 2, 2\)"),
        ({"y": np.zeros(N)}, "y must hold two classes"),
        ({"y": [0, 1]}, "X.*400.*y.*2"),
        ({"max_rows": 0}, "max_rows must be at least 1, got 0"),
    ],
)
def test_mistakes(table, y, change, message):
    with pytest.raises(ValueError, match=message):
        suspicious_columns(**{"X": table, "y": y, **change})


needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


@needs_compas
def test_compas_as_it_was_published():
    frame = pd.read_csv(data_folder() / _compas.FILE.path)
    found = suspicious_columns(frame.drop(columns="is_recid"), frame["is_recid"])
    names = {kind: [one.column for one in found.of_kind(kind)] for kind in KINDS}
    assert names == COMPAS


KINDS = ["row number", "tells the answer", "date", "identifier"]

COMPAS = {
    "row number": [],
    "tells the answer": [
        "r_case_number",
        "r_charge_degree",
        "r_days_from_arrest",
        "r_offense_date",
        "r_charge_desc",
        "r_jail_in",
        "r_jail_out",
        "is_violent_recid",
        "vr_case_number",
        "vr_charge_degree",
        "vr_offense_date",
        "vr_charge_desc",
        "event",
        "two_year_recid",
    ],
    "date": [
        "compas_screening_date",
        "dob",
        "c_jail_in",
        "c_jail_out",
        "c_offense_date",
        "c_arrest_date",
        "screening_date",
        "v_screening_date",
        "in_custody",
        "out_custody",
    ],
    "identifier": ["id", "name", "c_case_number"],
}

NO_ALARMS = {
    "bank/bank-full.csv.gz": "y",
    "meps/meps_fy2015_panel19.csv": "Probability",
    "meps/meps_fy2016_panel21.csv": "Probability",
}


@pytest.mark.parametrize("path", NO_ALARMS)
def test_no_false_alarm(path):
    if not (data_folder() / path).exists():
        pytest.skip("the file is not here: set CAPE_DATA to a folder that has it")
    frame = pd.read_csv(data_folder() / path)
    for rows in (frame, frame.head(300), frame.sample(3000, random_state=0)):
        y = rows[NO_ALARMS[path]]
        assert suspicious_columns(rows.drop(columns=y.name), y).columns == []
