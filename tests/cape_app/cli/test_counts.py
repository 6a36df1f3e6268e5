"""``cape evidence``, and ``--counts`` in place of rows: the same numbers."""

import json
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

from cape_app.cli import run
from cape_app.files import load_model
from cape_app.files._notes import Notes
from cape_app.files._scan import read_counts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose scores are logged, and a batch, of which 100 rows have labels."""
    folder = tmp_path_factory.mktemp("counts")
    random = np.random.default_rng(0)

    def table(n, shares):
        city = random.choice(["it's", "B"], n)
        positive = random.random(n) < pd.Series(city).map(shares)
        p = 1 / (1 + np.exp(-random.normal(1.5 * positive - 0.7)))
        return pd.DataFrame(
            {
                "city": city,
                "age": random.integers(18, 80, n),
                "p": p,
                "approved": np.where(p > 0.5, "yes", "no"),
                "employer": random.choice(["NA", "NULL", "", "a,b", "c"], n),
                "since": pd.Timestamp("2019-01-01")
                + pd.to_timedelta(random.integers(0, 1000, n), "D"),
                "member": random.random(n) < 0.3,
                "y": np.where(positive, "good", "bad"),
            }
        )

    shares = {"it's": 0.3, "B": 0.5}
    table(1000, shares).to_parquet(folder / "reference.parquet")
    batch = table(600, {**shares, "it's": 0.7})
    batch.drop(columns="y").to_parquet(folder / "batch.parquet")
    batch["checked"] = batch.pop("y").where(random.random(600) < 0.2)
    batch.rename(columns={"city": "town"}).to_parquet(folder / "checked.parquet")
    arguments = "--label y --positive good --score p --decision approved --group city"
    trained = ["train", str(folder / "reference.parquet"), *arguments.split()]
    trained += ["--group", "age", "--bins", "age=40", "--unknown-groups", "pooled"]
    trained += ["--keep", "since"]
    assert run([*trained, "--out", str(folder / "watch.cape")]) == 0
    return folder


@pytest.fixture
def statement(cape, folder):
    """Print the statement for a table of the folder."""

    def write(name, *options):
        table = f"read_parquet('{folder / name}')"
        asked = ["evidence", folder / "watch.cape", "--table", table]
        code, out, err = cape(*asked, *options)
        assert (code, err) == (0, "")
        return out

    return write


@pytest.fixture
def counts(statement, tmp_path):
    """The result of the statement, as DuckDB writes it."""
    path = tmp_path / "counts.parquet"
    duckdb.sql(f"copy ({statement('batch.parquet')}) to '{path}'")
    return path


def told(out, name):
    """What JSON says of a batch, but for the name and the hash of its file."""
    content = json.loads(out.replace(name, "file"))
    content.pop("made")
    return content


@pytest.mark.parametrize("n_files", [1, 2])
def test_counts_tell_what_rows_tell(cape, folder, counts, n_files, tmp_path):
    asked = ["predict", folder / "watch.cape", "--fail-if", "moved>0.1", "--json"]
    asked += ["--level", 0.9]
    code, of_rows, notes = cape(*asked, *[folder / "batch.parquet"] * n_files)
    assert (code, notes) == (1, "")
    page = tmp_path / "page.html"
    code, of_counts, notes = cape(
        *asked, "--counts", *[counts] * n_files, "--report", page
    )
    assert (code, notes) == (1, "")
    assert told(of_counts, counts.name) == told(of_rows, "batch.parquet")
    assert "it&#39;s" in page.read_text()


def test_counts_of_no_rows_are_refused(refused, folder, counts, tmp_path):
    pd.read_parquet(counts)[:0].to_parquet(tmp_path / "none.parquet")
    asked = ["predict", folder / "watch.cape", "--counts", tmp_path / "none.parquet"]
    refused(*asked, says="has no rows to adapt to")


@pytest.mark.parametrize(
    "table", ["loans; drop table loans", "select * from loans", "loans where age > 30"]
)
def test_what_is_no_table_is_refused(refused, folder, table):
    asked = ("evidence", folder / "watch.cape", "--table", table)
    refused(*asked, says=["table must be", repr(table)])


def test_counts_come_as_csv_and_from_a_database(cape, folder, counts, tmp_path):
    duckdb.sql(f"copy (from '{counts}') to '{tmp_path / 'duck.csv'}'")
    asked = ["evidence", folder / "watch.cape", "--dialect", "sqlite"]
    of_sqlite = cape(*asked)[1]
    with closing(sqlite3.connect(":memory:")) as bank:
        batch = pd.read_parquet(folder / "batch.parquet")
        batch.to_sql("batch", bank, index=False)
        found = pd.read_sql(of_sqlite, bank)
    found.to_csv(tmp_path / "lite.csv", index=False)
    model = load_model(folder / "watch.cape")
    notes = Notes()
    expected, _ = read_counts(model, counts, None, notes)
    for source in (tmp_path / "duck.csv", tmp_path / "lite.csv"):
        assert read_counts(model, source, None, notes)[0] == expected, source
    assert list(notes) == []


def test_labels_of_a_sample_correct_the_estimates(cape, folder, statement, tmp_path):
    columns = ["--label", "checked", "--group", "town", "--group", "age"]
    counting = statement("checked.parquet", *columns)
    path = tmp_path / "counts.parquet"
    duckdb.sql(f"copy ({counting}) to '{path}'")
    asked = ["predict", folder / "watch.cape", "--counts", path, "--json"]
    content = json.loads(cape(*asked)[1])
    assert content["labels"]["used"]


def test_rows_without_a_group_are_said(cape, folder, tmp_path):
    batch = pd.read_parquet(folder / "batch.parquet")
    batch.loc[:9, "city"] = None
    batch.to_parquet(tmp_path / "batch.parquet")
    reference = pd.read_parquet(folder / "reference.parquet")
    reference.loc[:99, "city"] = None
    reference.to_parquet(tmp_path / "reference.parquet")
    model = tmp_path / "watch.cape"
    train = ["train", tmp_path / "reference.parquet", "--out", model, "--label", "y"]
    train += ["--positive", "good", "--score", "p", "--group", "city"]
    train += ["--keep", "since"]
    assert cape(*train, "--missing-groups", "group")[0] == 0
    table = f"read_parquet('{tmp_path / 'batch.parquet'}')"
    _, counting, _ = cape("evidence", model, "--table", table)
    path = tmp_path / "counts.parquet"
    duckdb.sql(f"copy ({counting}) to '{path}'")
    of_counts = cape("predict", model, "--json", "--counts", path)
    of_rows = cape("predict", model, "--json", tmp_path / "batch.parquet")
    assert of_counts[2] == of_rows[2] != ""


def test_what_counts_cannot_do_is_refused(refused, folder, counts, tmp_path):
    asked = ["predict", folder / "watch.cape", "--counts", counts]
    refused(*asked, "--out", tmp_path / "rows.csv", says=["--out", "rows"])
    refused(*asked, "--checked", counts, says="--checked")
    rows = ["predict", folder / "watch.cape", "--counts", folder / "batch.parquet"]
    refused(*rows, says="model")
    unknown = ["evidence", folder / "watch.cape", "--dialect", "cobol"]
    refused(*unknown, says=["--dialect", "cobol"])


def test_a_model_that_scores_itself_has_no_statement(refused, people_folder):
    refused("evidence", people_folder / "m.cape", says=["MODEL", "Scores"])
