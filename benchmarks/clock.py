"""Time competitors as ratios.

Every round runs all competitors in turn, so that a slow minute of the machine hits all
of them alike.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np

Work = Callable[[], object]


def compare(
    competitors: dict[str, Work],
    *,
    rounds: int,
    baseline: str | None = None,
    settle: float = 0.05,
) -> list[dict]:
    """Time competitors, interleaved.

    Parameters
    ----------
    competitors : dict from name to callable
        Each is called without arguments.
    rounds : int
        How often each competitor is timed. With one round nothing is warmed up.
    baseline : str, default=None
        The competitor whose time is 1; None means the first.
    settle : float, default=0.05
        Seconds to wait before each measurement. Threads of the competitor before go to
        sleep meanwhile; else they wait for more work, and burn a core while they do.

    Returns
    -------
    list of dict
        One record for each competitor: its median seconds, and the median and the
        quartiles of its ratio to the baseline within each round.
    """
    names = list(competitors)
    if baseline is None:
        baseline = names[0]
    if rounds > 1:
        # Imports, caches and threads are warm before the first round.
        for work in competitors.values():
            work()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for turn in range(rounds):
        # Every other round is in reverse, so that nobody always follows the same one.
        in_turn = names if turn % 2 == 0 else names[::-1]
        for name in in_turn:
            time.sleep(settle)
            start = time.perf_counter()
            competitors[name]()
            seconds[name].append(time.perf_counter() - start)
    return [_record(name, seconds[name], seconds[baseline]) for name in names]


def _record(name: str, seconds: list[float], of_baseline: list[float]) -> dict:
    ratios = np.array(seconds) / np.array(of_baseline)
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return {
        "what": name,
        "seconds": float(np.median(seconds)),
        "ratio": float(middle),
        "low": float(low),
        "high": float(high),
        "rounds": len(seconds),
    }
