"""A progress bar for training, without a dependency."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["progress"]

T = TypeVar("T")


def progress(steps: Iterable[T], total: int, *, title: str, shown: bool) -> Iterator[T]:
    """Hand ``steps`` through, drawing a bar with the time left on the error stream if ``shown``."""
    start = time.monotonic()
    for done, step in enumerate(steps, 1):
        if shown:
            left = (time.monotonic() - start) / done * (total - done)
            bar = "#" * (30 * done // total)
            end = "\n" if done == total else ""
            sys.stderr.write(
                f"\r{title} [{bar:<30}] {done}/{total}, {left:.0f} s left {end}"
            )
            sys.stderr.flush()
        yield step
