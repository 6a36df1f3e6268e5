"""Every command takes every source, and all sources give the same predictions."""

import sqlite3

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

SOURCES = ["new.jsonl", "data.sqlite::new", "book.xlsx::new", "new", "new/*.parquet"]
PREDICTED = ["prediction", "probability", "estimated_prevalence"]


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(3, 1, n).round(12),
            "job": rng.choice(["clerk", "cook, chef", 'says "x"'], n),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "ward": rng.choice(["01", "02"], n),
            "repaid": np.where(rng.random(n) < 0.4, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A training table and a batch, in every format."""
    folder = tmp_path_factory.mktemp("sources")
    frames = {"train": people(400, 0), "new": people(300, 1)}
    with pd.ExcelWriter(folder / "book.xlsx") as book:
        for name, frame in frames.items():
            frame.to_csv(folder / f"{name}.csv", index=False)
            frame.to_json(
                folder / f"{name}.jsonl",
                orient="records",
                lines=True,
                date_format="iso",
            )
            frame.to_excel(book, sheet_name=name, index=False)
            (folder / name).mkdir()
            frame[:100].to_parquet(folder / name / "1.parquet")
            frame[100:].to_parquet(folder / name / "2.parquet")
    connection = sqlite3.connect(folder / "data.sqlite")
    for name, frame in frames.items():
        frame.to_sql(name, connection, index=False)
    connection.close()
    return folder


@pytest.fixture(scope="module")
def predicted(folder):
    """Train on the CSV, and predict the CSV."""
    from cape_app.cli import run

    train = ["train", "train.csv", "--label", "repaid", "--group", "ward"]
    train += ["--learner", "logistic", "--out", "m.cape"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(train) == 0
        assert run(["predict", "m.cape", "new.csv", "--out", "csv.csv"]) == 0
    return pd.read_csv(folder / "csv.csv")


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_rows_get_the_same_predictions(
    cape, folder, predicted, monkeypatch, tmp_path, source
):
    monkeypatch.chdir(folder)
    out = tmp_path / "p.csv"
    code, _, err = cape("predict", "m.cape", source, "--out", out)
    assert code == 0, err
    found = pd.read_csv(out)
    pd.testing.assert_frame_equal(
        found[PREDICTED], predicted[PREDICTED], check_exact=True
    )
    assert list(found) == list(predicted)


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_trains_the_same_model(
    cape, folder, predicted, monkeypatch, tmp_path, source
):
    monkeypatch.chdir(folder)
    model, out = tmp_path / "m.cape", tmp_path / "p.csv"
    train = ("--label", "repaid", "--group", "ward", "--learner", "logistic")
    code, _, err = cape("train", source.replace("new", "train"), *train, "--out", model)
    assert code == 0, err
    code, _, err = cape("predict", model, source, "--out", out)
    assert code == 0, err
    found = pd.read_csv(out)
    pd.testing.assert_frame_equal(
        found[PREDICTED], predicted[PREDICTED], check_exact=True
    )


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "m.cape"),
        ("sample", "m.cape", "--out", "{out}"),
        (
            "audit",
            "--label",
            "repaid",
            "--prediction",
            "job",
            "--group",
            "ward",
            "--positive",
            "clerk",
        ),
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("source", ["data.sqlite::new", "new/*.parquet"])
def test_every_command_takes_sources(
    cape, folder, predicted, monkeypatch, tmp_path, command, source
):
    monkeypatch.chdir(folder)
    words = [word.format(out=tmp_path / "s.csv") for word in command]
    if command[0] == "audit":
        words += [
            "--map",
            "clerk=yes",
            "--map",
            "cook, chef=no",
            "--map",
            'says "x"=no',
        ]
        words[words.index("clerk")] = "yes"
    code, _, err = cape(*words, source)
    assert code == 0, err


def test_a_sheet_comes_back_from_a_spreadsheet(
    cape, folder, predicted, monkeypatch, tmp_path
):
    monkeypatch.chdir(folder)
    sheet = tmp_path / "s.csv"
    assert cape("sample", "m.cape", "new.jsonl", "--rows", 60, "--out", sheet)[0] == 0
    rows = pd.read_csv(sheet, dtype=str)
    rows["repaid"] = people(300, 1)["repaid"].to_numpy()[
        rows["cape_row"].astype(int) - 1
    ]
    rows.to_excel(tmp_path / "s.xlsx", index=False)
    rows.to_csv(sheet, index=False)
    printed = []
    for name in ("s.csv", "s.xlsx"):
        code, out, err = cape(
            "predict", "m.cape", "new.jsonl", "--checked", tmp_path / name, "--json"
        )
        assert code == 0, err
        printed.append(out)
    assert '"returned": 30' in printed[0]
    assert printed[0].replace("s.csv", "s.xlsx") == printed[1]


def test_a_table_is_named_or_asked_for(refused, folder, predicted, monkeypatch):
    monkeypatch.chdir(folder)
    refused("predict", "m.cape", says="FILE")
    refused("predict", "m.cape", "data.sqlite", says=["2 tables", "data.sqlite::new"])
    refused("predict", "m.cape", "new.jsonl::x", says="name it without ::x")
    refused("predict", "m.cape", "nwe/*.csv", says="no file matches")


def test_a_damaged_page_is_an_error(refused, people_folder, tmp_path):
    new = pd.read_csv(people_folder / "new.csv").head(300)
    path = tmp_path / "new.parquet"
    # Random digits, so that a page is long; three groups of rows.
    new["age"] = np.random.default_rng(0).random(len(new))
    new.to_parquet(path, row_group_size=100, compression=None)
    column = pq.ParquetFile(path).metadata.row_group(1).column(list(new).index("age"))
    content = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    for place in range(start, start + 20):
        content[place] ^= 0xA5
    path.write_bytes(bytes(content))
    model = people_folder / "m.cape"
    says = ["new.parquet cannot be read: ", "get the file again"]
    refused("predict", model, path, "--out", tmp_path / "out.csv", says=says)
