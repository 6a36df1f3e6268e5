"""Notes: each remark once, in order, and warnings among them."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.files import Notes


@given(st.lists(st.sampled_from(["a", "b", "c", "d"])))
def test_each_remark_is_kept_once_in_the_order_it_was_made(remarks):
    notes = Notes()
    for remark in remarks:
        notes.say(remark)
    assert list(notes) == list(dict.fromkeys(remarks))


def test_line_breaks_and_blanks_make_no_other_remark():
    notes = Notes()
    notes.say("two  columns\nare ignored.")
    notes.say(" two columns are ignored. ")
    assert list(notes) == ["two columns are ignored."]


def test_notes_can_be_read_twice():
    notes = Notes()
    notes.say("once")
    assert list(notes) == ["once"]
    assert list(notes) == ["once"]


@pytest.mark.parametrize("category", [UserWarning, RuntimeWarning])
def test_a_warning_for_the_user_becomes_a_note(category):
    notes = Notes()
    with notes.listening():
        warnings.warn("too few rows", category, stacklevel=1)
    assert list(notes) == ["too few rows"]


@pytest.mark.parametrize("category", [DeprecationWarning, FutureWarning])
def test_a_warning_for_developers_does_not(category):
    notes = Notes()
    with notes.listening():
        warnings.warn("will change", category, stacklevel=1)
    assert list(notes) == []


@pytest.mark.parametrize(
    "message",
    [
        "Found unknown categories in columns [0] during transform.",
        "These unknown categories will be encoded as all zeros",
        "Setting the shape attribute is deprecated",
    ],
)
def test_the_chatter_of_encoders_does_not(message):
    notes = Notes()
    with notes.listening():
        warnings.warn(message, UserWarning, stacklevel=1)
    assert list(notes) == []


def test_listening_ends_with_its_block():
    notes = Notes()
    with notes.listening():
        pass
    with pytest.warns(UserWarning, match="later"):
        warnings.warn("later", UserWarning, stacklevel=1)
    assert list(notes) == []


def test_an_error_inside_the_block_is_passed_on():
    notes = Notes()
    with pytest.raises(KeyError), notes.listening():
        raise KeyError("x")
