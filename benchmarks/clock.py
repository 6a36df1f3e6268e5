"""Time competitors as ratios, in processor time.

Processor time does not count what else the machine does. The callers give one thread to
libraries of linear algebra: how long several wait for each other depends on the machine
more than on the code.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np

Work = Callable[[], object]

TIGHT = 0.1
"""Rounds end when all quartiles lie within this part of their median."""

SLOW = 0.5
"""Seconds a competitor from which on a first round is no warm-up, but counts."""


def compare(
    competitors: dict[str, Work],
    *,
    rounds: tuple[int, int] = (3, 9),
    seconds: float = 6.0,
    clock: Callable[[], float] = time.process_time,
    **facts: object,
) -> list[dict]:
    """Time competitors, interleaved.

    Parameters
    ----------
    competitors : dict from name to callable
        Each is called without arguments. The time of the first is 1.
    rounds : (int, int), default=(3, 9)
        The fewest and the most rounds.
    seconds : float, default=6.0
        After so long no round begins beyond the fewest.
    clock : callable, optional
        What returns the time in seconds; by default, processor time of this process.
    **facts
        Fields to put before each record.

    Returns
    -------
    list of dict
        One record for each competitor: its median seconds, and the median and the
        quartiles of its ratio to the first within each round.
    """
    names = list(competitors)
    taken: dict[str, list[float]] = {name: [] for name in names}
    fewest, most = rounds
    begin = clock()
    records: list[dict] = []
    for turn in range(-1, most):
        gc.collect()
        if turn == 0 and clock() - begin < SLOW * len(names):
            # Imports, caches and threads were cold in a round that was short.
            taken = {name: [] for name in names}
        # Every other round is in reverse, so that nobody always follows the same one.
        for name in names if turn % 2 == 0 else names[::-1]:
            start = clock()
            competitors[name]()
            taken[name].append(clock() - start)
        records = [
            facts | _record(name, taken[name], taken[names[0]]) for name in names
        ]
        spreads = [(r["high"] - r["low"]) / r["ratio"] for r in records]
        is_over = clock() - begin > seconds
        done = len(taken[names[0]])
        if done >= fewest and (is_over or (done >= 5 and max(spreads) < TIGHT)):
            break
    return records


def _record(name: str, seconds: list[float], of_first: list[float]) -> dict:
    ratios = np.array(seconds) / np.array(of_first)
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return {
        "what": name,
        "seconds": float(np.median(seconds)),
        "ratio": float(middle),
        "low": float(low),
        "high": float(high),
        "rounds": len(seconds),
    }
