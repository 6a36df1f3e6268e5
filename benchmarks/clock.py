"""Timing as ratios: every round runs all competitors in turn, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np


def compare(
    competitors: dict[str, Callable[[], object]],
    *,
    rounds: int,
    baseline: str | None = None,
    settle: float = 0.05,
) -> list[dict]:
    """Time competitors, interleaved.

    Before each measurement there is a pause, in which threads of the competitor before go to sleep: else they wait for
    more work, and burn a core while they do.

    Returns one record each: median seconds, and the ratio to the baseline (the first, if not named) within each round:
    its median, and its quartiles as the spread.
    """
    names = list(competitors)
    baseline = names[0] if baseline is None else baseline
    for name in names:  # imports, caches and threads are warm before the first round
        competitors[name]() if rounds > 1 else None
    seconds: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for turn in range(rounds):
        for name in names if turn % 2 == 0 else names[::-1]:
            time.sleep(settle)
            start = time.perf_counter()
            competitors[name]()
            seconds[name].append(time.perf_counter() - start)
    base = np.array(seconds[baseline])
    records = []
    for name in names:
        ratio = np.array(seconds[name]) / base
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        records.append(
            {
                "what": name,
                "seconds": float(np.median(seconds[name])),
                "ratio": float(middle),
                "low": float(low),
                "high": float(high),
                "rounds": rounds,
            }
        )
    return records


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log time against log size: 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
