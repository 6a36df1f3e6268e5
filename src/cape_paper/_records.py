"""Records of estimates: judged by the truth, and averaged over batches and cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cape import Estimate
from cape_paper._cells import Results


def mean_records(records: Sequence[Results], keys: list[str]) -> list[Results]:
    """Average records that agree in all keys, and count them as ``times``.

    Examples
    --------
    >>> records = [{"case": "a", "error": 0.1}, {"case": "a", "error": 0.3}]
    >>> mean_records(records, ["case"])
    [{'case': 'a', 'error': 0.2, 'times': 2}]
    """
    if not records:
        return []
    frame = pd.DataFrame(records)
    groups = frame.groupby(keys, sort=False)
    means = groups.mean().assign(times=groups.size())
    return as_records(means.reset_index())


def as_records(frame: pd.DataFrame) -> list[Results]:
    """Return the rows of a table, without what is missing."""
    records = []
    for row in frame.to_dict("records"):
        records.append({str(key): row[key] for key in row if row[key] == row[key]})
    return records


def judged(estimate: Any, truth: float) -> Results:
    """Compare an estimate, with or without an interval, with the truth."""
    if not isinstance(estimate, Estimate):
        return {"estimate": float(estimate), "error": abs(float(estimate) - truth)}
    return {
        "estimate": estimate.value,
        "error": abs(estimate.value - truth),
        "low": estimate.low,
        "high": estimate.high,
        # Numbers, so that the mean is a share.
        "holds": float(estimate.low <= truth <= estimate.high),
        "width": estimate.high - estimate.low,
    }


def over_cases(records: Any, keys: list[str], column: str) -> pd.DataFrame:
    """Average a column over cases, each of which counts alike.

    Parameters
    ----------
    records : sequence of dict or DataFrame
        Means, with ``case``, or ``seed``, and ``times``, how many each is the mean of.
    keys : list of str
        What to average by.
    column : str
        What to average; records without it are left out.

    Returns
    -------
    DataFrame
        ``mean``, ``sem`` (its standard error) and ``batches``, by the keys.

    Examples
    --------
    >>> records = [
    ...     {"case": "a", "method": "m", "error": 0.1, "times": 2},
    ...     {"case": "b", "method": "m", "error": 0.3, "times": 1},
    ... ]
    >>> means = over_cases(records, ["method"], "error")
    >>> means.loc["m", "mean"].round(3), means.loc["m", "batches"]
    (np.float64(0.2), np.int64(3))
    """
    frame = pd.DataFrame(records).dropna(subset=column)
    unit = "case" if "case" in frame else "seed"
    frame["total"] = frame[column] * frame["times"]
    sums = frame.groupby([*keys, unit], sort=False)[["total", "times"]].sum()
    means = (sums["total"] / sums["times"]).groupby(level=keys, sort=False)
    batches = sums["times"].groupby(level=keys, sort=False).sum()
    return pd.DataFrame({"mean": means.mean(), "sem": means.sem(), "batches": batches})
