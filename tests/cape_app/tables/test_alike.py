"""One rule for all files: five formats of one table are the same table."""

import sqlite3
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from cape import CapeClassifier, persist
from cape_app.files import count_file, load_model, predict_file, save_model, train_file
from cape_app.files._notes import Notes
from cape_app.tables import TableError
from cape_app.tables._open import open_table

FORMATS = ["csv", "jsonl", "sqlite", "xlsx", "parquet"]


def people(n, seed):
    """Rows with blanks around a name, words for missing values, and codes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            " age": rng.integers(18, 80, n) + 20 * y,
            "income": rng.normal(3, 1, n).round(9),
            "job ": rng.choice(["clerk", "NA", "n/a", "cook, chef", "null"], n),
            "zip": rng.choice(["007", "100", "012"], n),
            "rate": rng.choice(["1.50", "2", "3e1"], n),
            "ward": rng.choice(["a", "b"], n),
            "y": y,
        }
    )
    frame.loc[::7, "income"] = None
    return frame


def save(frame, path):
    """Write a table in the format that the ending tells, and return its name."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        with sqlite3.connect(path) as connection:
            frame.to_sql("t", connection, index=False)
        connection.close()
    return path


@pytest.mark.parametrize("trained_on", FORMATS)
def test_five_formats_of_a_table_give_the_same_predictions(tmp_path, trained_on):
    train = save(people(300, 0), tmp_path / f"train.{trained_on}")
    model = train_file(train, None, label="y", group=["ward"], learner="logistic")
    assert set(model.columns.features) == {"age", "income", "job", "zip", "rate"}
    assert model.columns.features["zip"] == "text"
    predicted = []
    for name in FORMATS:
        new = save(people(200, 1), tmp_path / f"new.{name}")
        notes = Notes()
        predict_file(model, new, tmp_path / f"{name}.out.csv", notes=notes)
        assert {note.code for note in notes} <= {"converted"}
        predicted.append(pd.read_csv(tmp_path / f"{name}.out.csv")["probability"])
    for other in predicted[1:]:
        pd.testing.assert_series_equal(other, predicted[0], check_exact=True)


def test_what_would_come_back_otherwise_stays_text_in_a_copy(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["12345678901234567890,007,NA,1.5,7,", "00045678901234567890,1,x,NA,,9"]
    path.write_text("\n".join(["id,code,word,n,whole,last", *rows]) + "\n")
    parts = list(open_table(path).parts(verbatim=True, typed=True))
    pd.concat(parts).to_parquet(tmp_path / "t.parquet")
    copied = pd.read_parquet(tmp_path / "t.parquet")
    assert copied["id"].tolist() == ["12345678901234567890", "00045678901234567890"]
    assert copied["code"].tolist() == ["007", "1"]
    assert copied["word"].tolist() == ["NA", "x"]
    assert copied["n"].tolist() == ["1.5", "NA"]
    assert copied["whole"].iloc[0] == 7 and copied["whole"].isna().iloc[1]


def test_a_word_that_training_knew_as_a_value_is_one(tmp_path):
    X = people(300, 0).rename(columns=str.strip)
    y = X.pop("y")
    clf = CapeClassifier(cv=2, group_columns=["ward"], random_state=0).fit(X, y)
    model = load_model(save_model(clf, tmp_path / "m.cape", X, label="y"))
    assert set(model.columns.known["job"]) == {"NA", "n/a", "null"}
    expected = clf.predict_proba(X)[:, 1].round(9)
    for name in ("csv", "parquet", "jsonl"):
        path = save(X.assign(y=y), tmp_path / f"t.{name}")
        predict_file(model, path, tmp_path / f"{name}.out.csv")
        found = pd.read_csv(tmp_path / f"{name}.out.csv")["probability"]
        np.testing.assert_array_equal(found, expected)


def test_a_data_frame_is_taken_as_it_is_with_a_warning(tmp_path):
    path = save(people(300, 0), tmp_path / "t.parquet")
    train_file(path, tmp_path / "m.cape", label="y", group=["ward"], learner="logistic")
    clf = persist.load(tmp_path / "m.cape")
    X = people(100, 1).rename(columns=str.strip)
    with pytest.warns(UserWarning, match="'job' of X holds"):
        clf.evidence(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        clf.evidence(X.replace(["NA", "n/a", "null"], None))


def test_another_sheet_is_another_table(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        for name, seed in {"May": 0, "June": 1, "Again": 0}.items():
            people(50, seed).to_excel(book, sheet_name=name, index=False)
    may, june, again = (
        open_table(tmp_path / f"t.xlsx::{name}").sha256()
        for name in ("May", "June", "Again")
    )
    assert may == again != june


def test_a_cell_far_from_the_others_is_refused(tmp_path):
    pd.DataFrame({"a": [1]}).to_excel(tmp_path / "t.xlsx", index=False)
    far = b'<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row></sheetData>'
    with (
        zipfile.ZipFile(tmp_path / "t.xlsx") as book,
        zipfile.ZipFile(tmp_path / "far.xlsx", "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in book.namelist():
            content = book.read(name).replace(b"</sheetData>", far)
            copy.writestr(name, content)
    with pytest.raises(TableError, match="row 1,048,576 and column 16,384"):
        open_table(tmp_path / "far.xlsx")


@pytest.mark.parametrize("before", [False, True])
def test_a_word_that_occurs_before_is_no_total(tmp_path, before):
    words = ["a", "b"] * 200
    if before:
        words[3] = "Total"
    frame = pd.DataFrame({"name": [*words, "Total"], "z": "g", "y": 0})
    frame["y"] = np.arange(len(frame)) % 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    notes = Notes()
    # The word stands in the first of several parts.
    counts, _, _ = count_file(
        tmp_path / "t.csv", label="y", prediction="y", rows=100, notes=notes
    )
    assert sum(one.rows for one in counts.values()) == 400 + before
    assert ("total" in [note.code for note in notes]) == (not before)
