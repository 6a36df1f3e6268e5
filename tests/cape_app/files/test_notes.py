"""Remarks: each of them once, and warnings among them."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.sampled_from("abcd")))
def test_each_note_is_kept_once_in_the_order_it_was_made(make_notes, codes):
    notes = make_notes()
    for code in codes:
        notes.say(code, n=1)
    assert [note.code for note in notes] == list(dict.fromkeys(codes))


def test_warnings_for_the_user_become_notes_and_noise_does_not(notes):
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
