"""The cells of one column: how many, what is remembered, and what is written."""

import json
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._columns import FIRST, ColumnCells
from cape._columns._cells import _hash_levels, hash_of

CELLS = [
    ColumnCells("n", "number", np.array([1.0, 2.5]), 2.0, 1.0, 2.4),
    ColumnCells("d", "date", np.array([0.0, 86400.0]), 10.0, 0.0, 86400.0),
    ColumnCells("t", "text", levels=("a", "b"), hashes=b"\x05", unseen_rate=0.1),
    ColumnCells("m", "mixed", levels=("1",)),
    ColumnCells("e", "empty"),
]


@pytest.mark.parametrize("cells", CELLS, ids=lambda cells: cells.kind)
def test_cells_come_back_from_json(cells):
    read = ColumnCells.from_json(json.loads(json.dumps(cells.to_json())))
    assert read.to_json() == cells.to_json()
    assert read.n_cells == cells.n_cells
    assert read.is_number == cells.is_number


def test_there_is_a_cell_for_everything():
    number, _, text, _, empty = CELLS
    # Below, between and above the two edges.
    assert number.n_cells == FIRST + 3
    # Two levels, the other levels of training, and levels never seen.
    assert text.n_cells == FIRST + 4
    assert empty.n_cells == FIRST


def test_hashes_are_the_same_on_every_machine():
    # The check value of CRC-32.
    assert hash_of("123456789") == 0xCBF43926
    assert isinstance(hash_of("\ud800"), int)


@given(levels=st.lists(st.text(string.printable), min_size=1, max_size=60, unique=True))
def test_rare_levels_are_known_again(levels):
    cells = ColumnCells("t", "text", hashes=_hash_levels(levels))
    assert all(cells.knows(level) for level in levels)


def test_few_unseen_levels_are_taken_for_known_ones():
    levels = [f"level {number}" for number in range(200)]
    cells = ColumnCells("t", "text", hashes=_hash_levels(levels))
    taken = [cells.knows(f"another {number}") for number in range(2000)]
    assert np.mean(taken) < 0.15


def test_without_rare_levels_none_is_known():
    assert not ColumnCells("t", "text", levels=("a",)).knows("a")
    assert _hash_levels([]) == b""
    assert len(_hash_levels([str(number) for number in range(5000)])) == 1024
