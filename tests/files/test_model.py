"""Model files: the parts they make of a table, and how they are loaded."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from cape import persist
from cape._tables import TableError, table_columns
from cape.files import Notes, file_hash, load_model
from cape.files._model import (
    rows_of_a_part,
    single_thread_if_small,
)


@pytest.fixture
def new(people_folder):
    return pd.read_csv(people_folder / "new.csv")


def parts_of(model, path, rows=1000, **options):
    return list(model.parts(path, Notes(), rows=rows, **options))


@pytest.mark.parametrize("rows", [99, 700, 10_000])
def test_parts_put_together_are_the_table(people_folder, people_model, new, rows):
    parts = parts_of(people_model, people_folder / "new.csv", rows)
    assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
    X = pd.concat([part.X for part in parts], ignore_index=True)
    positive = np.concatenate([part.positive for part in parts])
    assert list(X) == ["age", "degree", "free", "race"]
    np.testing.assert_array_equal(X["age"], new["age"])
    assert X["race"].tolist() == new["race"].tolist()
    assert positive.tolist() == new["y"].tolist()


def test_a_file_without_labels_has_parts_without_labels(tmp_path, people_model, new):
    new.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    (part,) = parts_of(people_model, tmp_path / "new.csv")
    assert part.positive is None
    assert len(part) == 700


def test_a_missing_label_is_minus_one(tmp_path, people_model, new):
    new.assign(y=new["y"].where(new.index > 0)).to_csv(
        tmp_path / "new.csv", index=False
    )
    (part,) = parts_of(people_model, tmp_path / "new.csv")
    assert part.positive[0] == -1
    assert part.positive[1:].tolist() == new["y"][1:].tolist()


def test_the_header_is_not_read_again_if_names_are_given(
    monkeypatch, people_folder, people_model
):
    path = people_folder / "new.csv"
    names = table_columns(path)
    (expected,) = parts_of(people_model, path)
    monkeypatch.setattr("cape.files._model.table_columns", None)
    (part,) = parts_of(people_model, path, names=names)
    pd.testing.assert_frame_equal(part.X, expected.X)


def test_a_missing_column_is_found_before_any_row_is_read(people_model):
    with pytest.raises(TableError, match="nowhere.csv has no column 'race'"):
        parts_of(people_model, "nowhere.csv", names=["age", "degree", "free"])


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_wider_tables_are_cut_into_parts_of_fewer_rows(first, second):
    narrow, wide = sorted((first, second))
    assert rows_of_a_part(wide) <= rows_of_a_part(narrow)
    assert 50_000 <= rows_of_a_part(wide) <= 400_000


def threads_inside(rows):
    with threadpool_limits(2), single_thread_if_small(rows):
        return {library["num_threads"] for library in threadpool_info()}


def test_a_small_table_has_one_thread():
    assert threads_inside(100) == {1}


def test_a_large_table_keeps_its_threads():
    with threadpool_limits(2):
        allowed = {library["num_threads"] for library in threadpool_info()}
    assert threads_inside(20_000) == allowed


def test_the_hash_is_that_of_the_bytes(tmp_path):
    content = bytes(range(256)) * 5000
    (tmp_path / "file").write_bytes(content)
    assert file_hash(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_a_model_is_loaded_with_the_details_of_its_header(people_folder, people_model):
    model = load_model(people_folder / "m.cape")
    assert model.clf.fingerprint_ == people_model.clf.fingerprint_
    assert model.columns == people_model.columns
    header = persist.read_header(people_folder / "m.cape")
    assert model.details == header["details"]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*m\.cape\.$"):
        load_model(tmp_path / "m.cape")


def test_a_model_that_python_saved_has_no_columns(tmp_path, people_model):
    persist.save(people_model.clf, tmp_path / "m.cape")
    message = r"was not written by cape train.*cape\.persist\.load"
    with pytest.raises(TableError, match=message):
        load_model(tmp_path / "m.cape")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learner", None),
        ("data", None),
        ("data", "text"),
        ("settings", None),
        ("columns", {}),
        ("columns", {"labels": 3}),
        ("columns", "text"),
    ],
    ids=str,
)
def test_damaged_details_are_refused_by_the_name_of_the_file(
    tmp_path, people_model, name, value
):
    details = {**people_model.details, name: value}
    if value is None:
        del details[name]
    persist.save(people_model.clf, tmp_path / "m.cape", details=details)
    with pytest.raises(TableError, match=r"m\.cape is damaged: "):
        load_model(tmp_path / "m.cape")


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(
    people_folder, monkeypatch
):
    header = persist.read_header(people_folder / "m.cape")
    other = {**header, "fingerprint": "f" * 64}
    monkeypatch.setattr(persist, "read_header", lambda path: other)
    with pytest.raises(TableError, match="replaced while it was read"):
        load_model(people_folder / "m.cape")
