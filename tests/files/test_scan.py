"""One pass over a file: parts, notes on them, and records of rows on disk."""

import hashlib
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from cape._tables import TableError
from cape.files import count_file, predict_file
from cape.files._notes import Notes
from cape.files._scan import (
    KeptRows,
    Scan,
    row_type,
    rows_of_a_part,
    single_thread_if_small,
)

GROUPS = ["blue", "green", ("red", 1)]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_a_scan_counts_rows_and_hashes_what_it_read(people_folder, tmp_path, suffix):
    frame = pd.read_csv(people_folder / "new.csv")
    path = tmp_path / f"new.{suffix}"
    write = {"parquet": pd.DataFrame.to_parquet, "arrow": pd.DataFrame.to_feather}
    write.get(suffix, lambda frame, path: frame.to_csv(path, index=False))(frame, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    scan = Scan(path, None)
    parts = list(scan.parts({"race": "text", "y": "text"}, 300))
    assert [len(part) for part in parts] == [300, 300, 100]
    assert (scan.rows, scan.sha256) == (700, digest)
    path.write_bytes(b"something else")
    with pytest.raises(TableError, match="has changed while it was read"):
        scan.table.check_unchanged()


def test_a_missing_column_is_found_before_any_row_is_read(tmp_path, people_model):
    (tmp_path / "new.csv").write_text("age,degree,free\nx,y,z,too,many\n")
    with pytest.raises(TableError, match=r"new\.csv has no column 'race'"):
        predict_file(people_model, tmp_path / "new.csv")


def test_pipes_and_files_without_rows_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="a pipe or a device"):
        count_file(tmp_path / "pipe.csv", label="y", prediction="p")
    (tmp_path / "empty.csv").write_text("y,p\n")
    with pytest.raises(TableError, match="has a header but no rows"):
        count_file(tmp_path / "empty.csv", label="y", prediction="p")


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_wider_tables_are_cut_into_parts_of_fewer_rows(first, second):
    narrow, wide = sorted((first, second))
    assert rows_of_a_part(wide) <= rows_of_a_part(narrow)
    assert 50_000 <= rows_of_a_part(wide) <= 400_000


@pytest.mark.parametrize("rows", [100, 20_000])
def test_a_small_table_has_one_thread(rows):
    with threadpool_limits(2):
        allowed = {library["num_threads"] for library in threadpool_info()}
        with single_thread_if_small(rows):
            inside = {library["num_threads"] for library in threadpool_info()}
    assert inside == ({1} if rows == 100 else allowed)


@given(st.lists(st.sampled_from("abcd")))
def test_each_note_is_kept_once_in_the_order_it_was_made(codes):
    notes = Notes()
    for code in codes:
        notes.say(code, n=1)
    assert [note.code for note in notes] == list(dict.fromkeys(codes))


def test_warnings_for_the_user_become_notes_and_noise_does_not():
    notes = Notes()
    with notes.listening():
        warnings.warn("look  at\nthis", UserWarning, stacklevel=1)
        warnings.warn("look at this", RuntimeWarning, stacklevel=1)
        warnings.warn("Found unknown categories in columns [0]", stacklevel=1)
        warnings.warn("Setting the shape attribute is deprecated", stacklevel=1)
        warnings.warn("soon gone", FutureWarning, stacklevel=1)
        warnings.warn("gone", DeprecationWarning, stacklevel=1)
    assert [note.values for note in notes] == [{"text": "look at this"}]
    with pytest.raises(ZeroDivisionError), notes.listening():
        raise ZeroDivisionError
    with pytest.warns(UserWarning, match="later"):
        warnings.warn("later", UserWarning, stacklevel=1)


def random_records(random, size, n_models):
    records = np.zeros(size, row_type(n_models))
    records["group"] = random.integers(0, len(GROUPS), size)
    records["positive"] = random.integers(-1, 2, size)
    records["unadapted"] = random.integers(0, 2, size)
    records["scores"] = random.integers(0, 2**32 + 1, (size, n_models))
    return records


def as_tuples(records, groups):
    """Rows with the name of their group in place of its code."""
    rows = []
    for group, label, unadapted, scores in records.tolist():
        rows.append((groups[group], label, unadapted, *scores))
    return rows


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), max_size=6),
    n_models=st.integers(1, 4),
    step=st.integers(1, 50),
    seed=st.integers(0, 9),
)
def test_rows_come_back_as_they_went_however_they_are_cut(sizes, n_models, step, seed):
    random = np.random.default_rng(seed)
    added = []
    with KeptRows(None, n_models) as kept:
        for size in sizes:
            # Each part numbers the groups in an order of its own.
            groups = [GROUPS[place] for place in random.permutation(len(GROUPS))]
            records = random_records(random, size, n_models)
            added += as_tuples(records, groups)
            kept.add(records, groups)
        for _ in range(2):
            taken = []
            kept.rewind()
            while len(records := kept.take(step)):
                taken += as_tuples(records, kept.groups)
            assert taken == added


def test_the_file_of_records_has_no_name_and_is_small(tmp_path):
    assert row_type(11).itemsize == 6 + 8 * 11
    with KeptRows(tmp_path, 1) as kept:
        kept.add(np.zeros(1000, row_type(1)), ["a"])
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_says_so(monkeypatch):
    def full_disk(dir):
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr("tempfile.TemporaryFile", full_disk)
    message = "has no room for the scores of rows, 14 bytes each"
    with KeptRows("/data", 1) as kept, pytest.raises(TableError, match=message):
        kept.add(np.zeros(1000, row_type(1)), ["a"])
