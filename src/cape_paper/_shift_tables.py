"""Tables of real shifts: estimates and their intervals, PD and PE, summaries."""

from __future__ import annotations

from cape_paper._rows import Results
from cape_paper._tables import TextTable, number

__all__ = ["shift_tables"]

_FAILED = "failed"

_SUMMARY_COLUMNS = {
    "cells": "cells",
    "error": "error mean",
    "error_90": "error 90 %",
    "holds": "interval holds",
    "width": "interval width",
    "pd": "PD mean",
    "pe": "PE median",
    "worse": "PD worse",
}


def shift_tables(results: Results) -> list[TextTable]:
    """Make the tables of a run on real shifts.

    Parameters
    ----------
    results : dict
        From `run_shifts`.

    Returns
    -------
    list of TextTable
    """
    tables = [
        _interval_table(results),
        _estimate_table(results),
        _fairness_table(results),
    ]
    # A dict keeps the order and drops repetitions.
    for cases in dict.fromkeys(row["cases"] for row in results["summary"]):
        tables.append(_summary_table(results, cases))
    return tables


def _interval_table(results: Results) -> TextTable:
    """Show what the first configuration says beside the truth."""
    first = results["configurations"][0]
    columns = ["case, group", "train", "truth", first, "low", "high"]
    columns += ["holds", "verdict"]
    rows = []
    for entry in results["shifts"]:
        row = entry[first]
        cells = [
            _label(entry),
            number(entry["prevalence_train"]),
            number(entry["prevalence_test"]),
            _value(row, "estimate"),
            _value(row, "low"),
            _value(row, "high"),
            _holds(row, results["seeds"]),
            _verdict(row),
        ]
        rows.append(cells)
    title = f"Share of positives: the truth, and what {first} says (95 % interval)"
    return TextTable(title, columns, rows)


def _estimate_table(results: Results) -> TextTable:
    """Show all estimates beside the truth; doing nothing estimates "train"."""
    configurations = results["configurations"]
    columns = ["case, group", "truth", *configurations, "mean score", "train"]
    rows = []
    for entry in results["shifts"]:
        cells = [_label(entry), number(entry["prevalence_test"])]
        cells += [_value(entry[name], "estimate") for name in configurations]
        cells.append(_value(entry[configurations[0]], "mean_score"))
        cells.append(number(entry["prevalence_train"]))
        rows.append(cells)
    return TextTable("Share of positives: all estimates", columns, rows)


def _fairness_table(results: Results) -> TextTable:
    """Show PD and PE of the configurations, Max_Acc beside the first."""
    first, *remaining = results["configurations"]
    columns = ["case, group"]
    for metric in ("PD", "PE"):
        columns += [f"{metric} {first}", f"{metric} Max_Acc"]
        columns += [f"{metric} {name}" for name in remaining]
    rows = []
    for entry in results["shifts"]:
        cells = [_label(entry)]
        for metric in ("pd", "pe"):
            cells.append(_value(entry[first], metric))
            cells.append(_value(entry[first], f"max_acc_{metric}"))
            cells += [_value(entry[name], metric) for name in remaining]
        rows.append(cells)
    title = "Prevalence difference and proportional equality"
    return TextTable(title, columns, rows)


def _summary_table(results: Results, cases: str) -> TextTable:
    """Show the summary of some cases; a method has no value where it claims nothing."""
    rows = []
    for row in results["summary"]:
        if row["cases"] != cases:
            continue
        cells = [row["method"]]
        for key in _SUMMARY_COLUMNS:
            cells.append(_summary_cell(row, key))
        rows.append(cells)
    columns = ["method", *_SUMMARY_COLUMNS.values()]
    return TextTable(f"Summary, {cases}", columns, rows)


def _summary_cell(row: Results, key: str) -> str:
    """Format a value of the summary."""
    if key not in row:
        return ""
    if key in ("cells", "worse"):
        return str(row[key])
    return number(row[key])


def _label(entry: Results) -> str:
    return f"{entry['case']}, {entry['group']}"


def _value(row: Results | None, key: str) -> str:
    """Format a value of a configuration, which may have failed."""
    if row is None:
        return _FAILED
    return number(row[key])


def _verdict(row: Results | None) -> str:
    """Show the verdict in words."""
    if row is None:
        return _FAILED
    return row["verdict"].replace("_", " ")


def _holds(row: Results | None, seeds: int) -> str:
    """Say in how many seeds the interval holds the truth."""
    if row is None:
        return _FAILED
    times = round(row["holds"] * seeds)
    if times == seeds:
        return "yes"
    if times == 0:
        return "no"
    return f"{times} of {seeds}"
