"""The progress bar of Python code, drawn on the error stream without a dependency."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["progress"]

T = TypeVar("T")

_WIDTH = 30
"""Characters of a full bar."""


def progress(steps: Iterable[T], total: int, *, title: str, shown: bool) -> Iterator[T]:
    """Pass steps through, and draw a bar with the number of steps done.

    The bar also shows the time left, as if the steps to come took as long as the steps
    done. It ends with a new line at step number ``total``.

    Parameters
    ----------
    steps : iterable
        The steps, passed through as they come; a step counts as done when it arrives.
    total : int
        Number of steps.
    title : str
        Text before the bar.
    shown : bool
        Whether to draw. If False, the steps only pass through.

    Yields
    ------
    object
        The steps, in order.

    Examples
    --------
    >>> from cape._progress import progress
    >>> list(progress("ab", 2, title="training", shown=False))
    ['a', 'b']
    """
    start = time.monotonic()
    for done, step in enumerate(steps, 1):
        if shown:
            seconds = time.monotonic() - start
            _draw(title, done, total, seconds)
        yield step


def _draw(title: str, done: int, total: int, seconds: float) -> None:
    """Draw the bar over the one drawn before, which the carriage return does."""
    seconds_left = seconds / done * (total - done)
    bar = "#" * (_WIDTH * done // total)
    line = f"\r{title} [{bar:<{_WIDTH}}] {done}/{total}, {seconds_left:.0f} s left "
    if done == total:
        line += "\n"
    # The error stream, so that the output of a program can still be piped.
    sys.stderr.write(line)
    sys.stderr.flush()
