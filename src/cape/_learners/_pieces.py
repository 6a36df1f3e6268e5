"""A batch in pieces: copies of rows stay short, and threads share the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TypeVar

from cape._learners._threads import available_threads, blas_in_one_thread, in_threads

__all__ = ["map_pieces"]

T = TypeVar("T")

_MOST_ROWS_LINEAR = 125_000
_MOST_ROWS = 250_000
"""Rows of a group in one piece."""

_FEWEST_ROWS = 50_000
"""Rows of a piece: below, threads cost more than they save."""


def map_pieces(
    work: Callable[[slice], T], n_rows: int, *, n_groups: int, linear: bool
) -> Iterator[T]:
    """Do some work on consecutive pieces of a batch, and yield the results in order.

    Parameters
    ----------
    work : callable
        Takes the slice of rows to work on.
    n_rows : int
        Rows of the batch.
    n_groups : int
        Groups of the batch. A piece with more groups may hold more rows.
    linear : bool
        Whether the work is made of matrix products. Pieces are then worked on side by
        side, each in one thread; other learners start threads of their own.

    Yields
    ------
    The result of each piece.

    Examples
    --------
    >>> list(map_pieces(lambda rows: rows, 3, n_groups=2, linear=False))
    [slice(0, 3, None)]
    """
    threads = 1
    most_rows = _MOST_ROWS * n_groups
    if linear:
        threads = available_threads()
        most_rows = _MOST_ROWS_LINEAR * n_groups
    share_of_a_thread = -(-n_rows // threads)
    size = min(most_rows, max(share_of_a_thread, _FEWEST_ROWS))
    pieces = []
    for start in range(0, n_rows, max(size, 1)):
        pieces.append(slice(start, min(start + size, n_rows)))
    with blas_in_one_thread() if linear else nullcontext():
        yield from in_threads(work, pieces, min(threads, len(pieces)))
