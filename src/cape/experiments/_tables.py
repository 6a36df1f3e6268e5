"""Tables of results for people: a title, a heading and rows of text, from the numbers of a run.

The terminal and the Markdown page show the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cape.experiments._rows import DIFFERENCES

__all__ = ["TextTable", "comparison_tables", "number", "synthetic_tables"]

_NAMES = {
    "fpr": "FPR",
    "fnr": "FNR",
    "accuracy": "acc",
    "predicted_prevalence": "predicts",
    "pd": "PD",
}


@dataclass(frozen=True)
class TextTable:
    """A table as text. A row has as many cells as ``columns``, or one fewer cell than text to span them all."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def number(value: float | None, *, digits: int = 3) -> str:
    """A number as the paper prints it; "undef" for None.

    Examples
    --------
    >>> number(0.0456), number(None), number(-0.5)
    ('.046', 'undef', '-.500')
    """
    if value is None:
        return "undef"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def comparison_tables(results: dict[str, Any]) -> list[TextTable]:
    """The quantifier table and the results table of a comparison, printed numbers below ours."""
    groups = results["groups"]
    columns = [(c, _NAMES[c], groups) for c in ("fpr", "fnr", "accuracy")]
    fairness = [(c, _NAMES[c], groups) for c in ("predicted_prevalence", "pd")]
    return [
        _prevalences(results),
        _results(
            "Error rates and accuracy",
            results,
            [cell for column in columns for cell in _cells(*column)],
        ),
        _results(
            "Predicted prevalence, PD and PE",
            results,
            [cell for column in fairness for cell in _cells(*column)]
            + _pe_cells(results),
        ),
    ]


def synthetic_tables(results: dict[str, Any]) -> list[TextTable]:
    """Table 1 with printed numbers, the figure's points, and Theorem 3 at work."""
    return [_table_1(results), _figure_points(results), _theorem(results)]


def _cells(column: str, name: str, groups: Sequence[str]) -> list[tuple[str, str]]:
    cells = [(f"{column}_{z}", f"{name} {z}") for z in range(len(groups))]
    return cells + (
        [(f"{column}_diff", f"{name} diff")] if column in DIFFERENCES else []
    )


def _pe_cells(results: dict[str, Any]) -> list[tuple[str, str]]:
    two = len(results["groups"]) == 2
    return [("pe_01", "PE 0,1"), ("pe", "PE worst")] if two else [("pe", "PE worst")]


def _prevalences(results: dict[str, Any]) -> TextTable:
    columns = ["", *(f"{z} {group}" for z, group in enumerate(results["groups"]))]
    rows = [
        ["training rows", *(str(part["rows_train"]) for part in results["data"])],
        ["test rows", *(str(part["rows_test"]) for part in results["data"])],
        [
            "training prevalence",
            *(number(part["prevalence_train"]) for part in results["data"]),
        ],
        [
            "test prevalence",
            *(number(part["prevalence_test"]) for part in results["data"]),
        ],
    ]
    for found in results["quantifiers"]:
        cells = zip(found["mean"], found["sd"], strict=True)
        rows.append(
            [
                f"estimate, {found['quantifier']}",
                *(f"{number(m)} ± {number(s)}" for m, s in cells),
            ]
        )
        if found["printed"]:
            rows.append(["  print", *map(number, found["printed"])])
    return TextTable(
        "Prevalences, and what quantifiers estimate from unlabelled test rows",
        columns,
        rows,
    )


def _results(
    title: str, results: dict[str, Any], cells: list[tuple[str, str]]
) -> TextTable:
    rows = []
    for row in results["rows"]:
        name = (
            f"{row['method']} ({row['seeds']})" if row["seeds"] > 1 else row["method"]
        )
        if row["status"] != "ok":
            rows.append([name, row["status"]])
        else:
            rows.append([name, *(number(row["mean"][key]) for key, _ in cells)])
            if row["seeds"] > 1:
                rows.append(["  ± sd", *(number(row["sd"][key]) for key, _ in cells)])
        if row["printed"]:
            printed = row["printed"]
            rows.append(
                [
                    "  print",
                    *(
                        number(printed[key]) if key in printed else ""
                        for key, _ in cells
                    ),
                ]
            )
    return TextTable(title, ["method (seeds)", *(name for _, name in cells)], rows)


def _table_1(results: dict[str, Any]) -> TextTable:
    pairs = {
        (pair["rho_0"], pair["rho_1"]): pair["methods"] for pair in results["pairs"]
    }
    cells = [
        ("accuracy_0", "accuracy 0"),
        ("accuracy_1", "accuracy 1"),
        ("pd_0", "PD 0"),
        ("pd_1", "PD 1"),
        ("pe_01", "PE 0,1"),
    ]
    rows = []
    for printed in results["printed"]:
        at = (printed["rho_0"], printed["rho_1"])
        if at not in pairs:
            continue
        for method, found in pairs[at].items():
            rows.append(
                [
                    f"{at[0]} {at[1]}",
                    method,
                    *(number(found["mean"][key]) for key, _ in cells),
                ]
            )
            rows.append(
                [
                    "",
                    "  ± sd",
                    *(number(found["sd"][key], digits=4) for key, _ in cells),
                ]
            )
            paper = {"CAPE-D": "CAPE", "Max_Acc": "Max_Acc"}.get(method)
            if paper:
                values = [
                    *printed["accuracy"][paper],
                    *printed["pd"][paper],
                    printed["pe_01"][paper],
                ]
                rows.append(["", "  print", *map(number, values)])
    title = (
        f"Table 1: both groups have moved from 0.5 (mean of {results['repetitions']})"
    )
    return TextTable(title, ["rho 0, 1", "method", *(name for _, name in cells)], rows)


def _figure_points(results: dict[str, Any]) -> TextTable:
    cells = [("accuracy_1", "accuracy 1"), ("pd_1", "PD 1"), ("pe_01", "PE 0,1")]
    rows = [
        [
            str(pair["rho_1"]),
            method,
            *(
                f"{number(found['mean'][k])} ± {number(found['sd'][k], digits=4)}"
                for k, _ in cells
            ),
        ]
        for pair in results["pairs"]
        if pair["rho_0"] == 0.5
        for method, found in pair["methods"].items()
    ]
    title = f"The figure's points: rho 0 is 0.5 (mean ± sd of {results['repetitions']})"
    return TextTable(title, ["rho 1", "method", *(name for _, name in cells)], rows)


def _theorem(results: dict[str, Any]) -> TextTable:
    cells = ("pd", "delta_1", "delta_2", "theorem_3", "our_bound", "within_our_bound")
    rows = [
        [str(found["rho_1"]), *(number(found["mean"][1][key]) for key in cells)]
        for found in results["theorem"]
        if found["rho_0"] == 0.5
    ]
    names = ["PD", "delta_1", "delta_2", "Theorem 3", "our bound", "PD within ours"]
    return TextTable(
        "Theorem 3 at work in group 1, CAPE-D (means; rho 0 is 0.5)",
        ["rho 1", *names],
        rows,
    )
