"""Summary of real shifts: errors, intervals, PD and PE over cases and groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cape_paper._rows import Results, Row

__all__ = ["MARGIN", "summarise"]

MARGIN = 0.02
"""PD is worse than that of Max_Acc if it is larger by more than this."""


def summarise(
    shifts: Sequence[Results],
    configurations: Sequence[str],
    not_identified: Sequence[str],
) -> list[Results]:
    """Summarise all cases, and then those of which rows tell something.

    Parameters
    ----------
    shifts : sequence of dict
        An entry for each case and group, as `run_shifts` returns them.
    configurations : sequence of str
        Names of the configurations in the entries.
    not_identified : sequence of str
        Cases that the second summary leaves out.

    Returns
    -------
    list of dict
        Rows with ``cases``, ``method``, ``cells`` (how many cases and groups) and what
        a method has of: ``error``, ``error_90``, ``holds``, ``width``, ``pd``, ``pe``
        and ``worse``.
    """
    clear = [entry for entry in shifts if entry["case"] not in not_identified]
    rows = _summary("all cases", shifts, configurations)
    # Nothing new is said if no case is left out, or none is left.
    if 0 < len(clear) < len(shifts):
        title = f"without {' and '.join(not_identified)}"
        rows += _summary(title, clear, configurations)
    return rows


def _summary(
    title: str, shifts: Sequence[Results], configurations: Sequence[str]
) -> list[Results]:
    """Summarise some cases: the configurations, and then what they stand beside."""
    rows = []
    for name in configurations:
        entries = _finished(shifts, name)
        if entries:
            rows.append({"method": name, **_of_configuration(entries, name)})
    rows.append({"method": "doing nothing", **_of_doing_nothing(shifts)})
    # Both go by the learner of the first configuration.
    first = configurations[0]
    entries = _finished(shifts, first)
    if entries:
        rows.append({"method": "mean score", **_of_mean_score(entries, first)})
        rows.append({"method": "Max_Acc", **_of_max_acc(entries, first)})
    return [{"cases": title, **row} for row in rows]


def _finished(shifts: Sequence[Results], name: str) -> list[Results]:
    """List the entries in which a configuration did not fail."""
    return [entry for entry in shifts if entry[name] is not None]


def _of_configuration(entries: Sequence[Results], name: str) -> Row:
    """Summarise the errors, intervals, PD and PE of a configuration."""
    rows = [entry[name] for entry in entries]
    more_pd = np.array([row["pd"] - row["max_acc_pd"] for row in rows])
    return {
        **_errors([row["error"] for row in rows]),
        "holds": _mean([row["holds"] for row in rows]),
        "width": _mean([row["width"] for row in rows]),
        "pd": _mean([row["pd"] for row in rows]),
        "pe": _median([row["pe"] for row in rows]),
        "worse": int(np.sum(more_pd > MARGIN)),
    }


def _of_doing_nothing(entries: Sequence[Results]) -> Row:
    """Summarise the errors of keeping the training prevalence."""
    errors = []
    for entry in entries:
        errors.append(abs(entry["prevalence_train"] - entry["prevalence_test"]))
    return _errors(errors)


def _of_mean_score(entries: Sequence[Results], name: str) -> Row:
    """Summarise the errors of the mean score as an estimate."""
    errors = []
    for entry in entries:
        errors.append(abs(entry[name]["mean_score"] - entry["prevalence_test"]))
    return _errors(errors)


def _of_max_acc(entries: Sequence[Results], name: str) -> Row:
    """Summarise PD and PE of Max_Acc, which estimates nothing."""
    rows = [entry[name] for entry in entries]
    return {
        "cells": len(rows),
        "pd": _mean([row["max_acc_pd"] for row in rows]),
        "pe": _median([row["max_acc_pe"] for row in rows]),
    }


def _errors(errors: Sequence[float]) -> Row:
    """Summarise distances between estimates and truth."""
    return {
        "cells": len(errors),
        "error": _mean(errors),
        "error_90": float(np.quantile(errors, 0.9)),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _median(values: Sequence[float | None]) -> float | None:
    """Return the median; an undefined value counts as worse than any number."""
    numbers = [np.inf if value is None else value for value in values]
    median = float(np.median(numbers))
    return median if np.isfinite(median) else None
