"""The progress bar of Python code."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import _progress
from cape._progress import progress

LINE = re.compile(r"training \[(#*)( *)\] (\d+)/(\d+), (\d+) s left ")


class Clock:
    """A clock that a test turns by hand."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    return clock


def bars(text):
    """The bars that were drawn one over the other."""
    lines = text.removesuffix("\n").split("\r")
    assert lines[0] == ""
    return [LINE.fullmatch(line) for line in lines[1:]]


def test_steps_pass_through_and_the_bar_fills(capsys):
    assert list(progress("abcd", 4, title="training", shown=True)) == list("abcd")
    drawn = capsys.readouterr().err
    lengths = [len(bar[1]) for bar in bars(drawn)]
    assert lengths == [7, 15, 22, 30]
    assert [bar[3] for bar in bars(drawn)] == ["1", "2", "3", "4"]
    assert drawn.endswith("0 s left \n")


@pytest.mark.parametrize("total", [1, 2, 7, 30, 100])
def test_the_bar_is_always_as_wide_and_full_at_the_end_only(capsys, total):
    list(progress(range(total), total, title="training", shown=True))
    drawn = bars(capsys.readouterr().err)
    assert len(drawn) == total
    for bar in drawn:
        assert len(bar[1]) + len(bar[2]) == 30
    full = [len(bar[1]) == 30 for bar in drawn]
    assert full == [False] * (total - 1) + [True]


def test_the_time_left_follows_from_the_time_taken(capsys, clock):
    def steps():
        for number in range(4):
            clock.now += 10
            yield number

    list(progress(steps(), 4, title="training", shown=True))
    seconds_left = [int(bar[5]) for bar in bars(capsys.readouterr().err)]
    assert seconds_left == [30, 20, 10, 0]


def test_a_new_line_is_drawn_at_the_end_only(capsys):
    steps = progress("abc", 3, title="training", shown=True)
    next(steps)
    next(steps)
    assert "\n" not in capsys.readouterr().err
    next(steps)
    assert capsys.readouterr().err.endswith("\n")


def test_the_bar_is_not_on_the_output_stream(capsys):
    list(progress("ab", 2, title="training", shown=True))
    assert capsys.readouterr().out == ""


def test_nothing_is_drawn_unless_asked_for(capsys):
    assert list(progress("ab", 2, title="training", shown=False)) == ["a", "b"]
    assert capsys.readouterr().err == ""


def test_no_step_is_taken_before_it_is_needed():
    taken = []

    def steps():
        for number in range(3):
            taken.append(number)
            yield number

    passed = progress(steps(), 3, title="training", shown=False)
    assert taken == []
    next(passed)
    assert taken == [0]


def test_an_error_in_a_step_comes_through():
    def steps():
        yield 1
        raise RuntimeError("a learner failed")

    passed = progress(steps(), 2, title="training", shown=False)
    assert next(passed) == 1
    with pytest.raises(RuntimeError, match="a learner failed"):
        next(passed)


@given(st.lists(st.integers()), st.booleans())
def test_any_steps_pass_through(steps, shown):
    assert list(progress(steps, len(steps), title="t", shown=shown)) == steps
