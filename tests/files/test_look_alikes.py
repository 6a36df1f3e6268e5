"""Columns of text that look like numbers or dates are named in training."""

import pandas as pd
import pytest

from cape.files import Notes
from cape.files._look_alikes import note_look_alikes


def notes_on(**columns):
    notes = Notes()
    frame = pd.DataFrame(columns)
    note_look_alikes(frame, dict.fromkeys(columns, "text"), notes)
    return list(notes)


@pytest.mark.parametrize(
    "texts",
    [["1,5", "2"], ["-0,5", "+3,25"], [None, "1,5"], ["1,234", "5,678,901"]],
)
def test_numbers_with_commas_are_named(texts):
    (note,) = notes_on(size=texts)
    assert "looks like numbers with a comma" in note
    assert "'size'. If the comma is the decimal sign, say so (--decimal ,)" in note


@pytest.mark.parametrize(
    "text", ["12/31/2024", "31.12.24", "31-12-2024", "1/2/24 8:30"]
)
def test_dates_of_other_kinds_are_named(text):
    (note,) = notes_on(when=[text, text])
    assert f"looks like dates, such as {text!r}: 'when'." in note


@pytest.mark.parametrize(
    "texts",
    [["1,5", "x"], ["a,b", "c"], ["1", "2"], [None, None], ["12/31/2024", "soon"]],
)
def test_other_text_is_not(texts):
    assert notes_on(words=pd.Series(texts, dtype="str")) == []


def test_one_note_for_many_columns():
    columns = {f"c{number}": ["1,5"] for number in range(30)}
    (note,) = notes_on(**columns)
    assert "'c0', 'c1', 'c2', 'c3', 'c4' and 25 more." in note


def test_columns_that_are_no_text_are_left_alone():
    notes = Notes()
    frame = pd.DataFrame({"n": [1.0, 2.0]})
    note_look_alikes(frame, {"n": "number"}, notes)
    assert list(notes) == []
