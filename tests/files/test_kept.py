"""Records of rows between two passes: all come back, in order, and no file stays."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._tables import TableError
from cape.files._kept import KeptRows, row_type

GROUPS = ["blue", "green", ("red", 1)]


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
    for record in records:
        group = groups[record["group"]]
        label = record["positive"]
        unadapted = record["unadapted"]
        rows.append((group, label, unadapted, *record["scores"]))
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
    taken = []
    with KeptRows(None, n_models) as kept:
        for size in sizes:
            # Each part numbers the groups in an order of its own.
            groups = [GROUPS[place] for place in random.permutation(len(GROUPS))]
            records = random_records(random, size, n_models)
            added += as_tuples(records, groups)
            kept.add(records, groups)
        kept.rewind()
        while len(records := kept.take(step)):
            taken += as_tuples(records, kept.groups)
    assert taken == added


@pytest.mark.parametrize("n_models", [1, 2, 11])
def test_a_row_takes_eight_bytes_a_score_and_six_more(n_models):
    assert row_type(n_models).itemsize == 6 + 8 * n_models


def test_rows_can_be_read_twice():
    with KeptRows(None, 1) as kept:
        kept.add(np.zeros(5, row_type(1)), ["a"])
        for _ in range(2):
            kept.rewind()
            assert len(kept.take(3)) == 3
            assert len(kept.take(3)) == 2
            assert len(kept.take(3)) == 0


def test_groups_are_numbered_as_they_come():
    with KeptRows(None, 1) as kept:
        for groups in (["b", "a"], ["c", "b"]):
            kept.add(np.zeros(1, row_type(1)), groups)
        assert kept.groups == ["b", "a", "c"]


def test_the_file_has_no_name(tmp_path):
    with KeptRows(tmp_path, 1) as kept:
        kept.add(np.zeros(1000, row_type(1)), ["a"])
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [None, "/data"])
def test_a_full_disk_says_so(monkeypatch, folder):
    def full_disk(dir):
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr("tempfile.TemporaryFile", full_disk)
    where = folder or "the folder for temporary files"
    message = f"^{where} has no room for the scores of rows, 14 bytes each: No space"
    with (
        KeptRows(folder, 1) as kept,
        pytest.raises(TableError, match=message),
    ):
        kept.add(np.zeros(1000, row_type(1)), ["a"])
