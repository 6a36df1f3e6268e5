"""What is kept of rows between two passes: all of it, in order, and nothing left behind."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._tables import TableError
from cape.files._kept import KeptRows, row_type


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), max_size=6),
    n_models=st.integers(1, 4),
    steps=st.integers(1, 50),
    seed=st.integers(0, 9),
)
def test_rows_come_back_as_they_went_however_they_are_cut(sizes, n_models, steps, seed):
    random = np.random.default_rng(seed)
    names, went = ["blue", "green", ("red", 1)], []
    with KeptRows(None, n_models) as kept:
        for size in sizes:
            order = random.permutation(3)  # each part has codes of its own
            records = np.zeros(size, row_type(n_models))
            records["group"] = random.integers(0, 3, size)
            records["positive"] = random.integers(-1, 2, size)
            records["unadapted"] = random.integers(0, 2, size)
            records["scores"] = random.integers(0, 2**32 + 1, (size, n_models))
            groups = [names[i] for i in order]
            went += [
                (groups[r["group"]], r["positive"], r["unadapted"], *r["scores"])
                for r in records
            ]
            kept.add(records, groups)
        kept.rewind()
        came = []
        while len(records := kept.take(steps)):
            came += [
                (kept.groups[r["group"]], r["positive"], r["unadapted"], *r["scores"])
                for r in records
            ]
    assert came == went


def test_the_file_has_no_name(tmp_path):
    with KeptRows(tmp_path, 1) as kept:
        kept.add(np.zeros(1000, row_type(1)), ["a"])
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_says_so(monkeypatch):
    monkeypatch.setattr(
        "tempfile.TemporaryFile", lambda dir: Path("/dev/full").open("wb", buffering=0)
    )  # noqa: SIM115
    with (
        KeptRows(None, 1) as kept,
        pytest.raises(
            TableError,
            match="no room for the scores of rows, 14 bytes each: No space left",
        ),
    ):
        kept.add(np.zeros(1000, row_type(1)), ["a"])
