"""How functions that work on files report their progress."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["OnRows", "ignore_progress"]

OnRows = Callable[[str, int], None]
"""Called with the stage of the work and the number of rows that have just been done."""


def ignore_progress(stage: str, rows: int) -> None:
    """Do nothing; the default of ``on_rows``.

    Parameters
    ----------
    stage : str
        What is being done, such as "reading".
    rows : int
        How many rows have just been done.
    """
