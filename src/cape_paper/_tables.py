"""Tables of results: DataFrames of text, from the numbers of a run.

The terminal and the Markdown page show the same tables. Below the means of a method
stand the standard deviations over seeds ("± sd") and the numbers that the paper prints
("print").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cape_paper._cells import Results
from cape_paper._comparison import DIFFERENCES, PARITY

PAPER_NAMES = {"CAPE-D": "CAPE", "Max_Acc": "Max_Acc"}
"""How the paper's Table 1 calls our methods; it does not have our default."""

_HEADINGS = {
    "fpr": "FPR",
    "fnr": "FNR",
    "accuracy": "acc",
    "predicted_prevalence": "predicts",
    "pd": "PD",
}
_PARITY_TITLE = (
    "Parity between groups: shares, TPR, FPR and precision "
    "(the four-fifths rule asks for a share ratio of .8 or more)"
)
_PARITY_COLUMNS = {
    "demographic_parity_difference": "share diff",
    "demographic_parity_ratio": "share ratio",
    # TPR is 1 - FNR, so that both have the same difference.
    "fnr_diff": "TPR diff",
    "fpr_diff": "FPR diff",
    "equalized_odds_difference": "odds diff",
    "precision_difference": "precision diff",
}
_TABLE_1_COLUMNS = {
    "accuracy_0": "accuracy 0",
    "accuracy_1": "accuracy 1",
    "pd_0": "PD 0",
    "pd_1": "PD 1",
    "pe_01": "PE 0,1",
}
_THEOREM_COLUMNS = {
    "pd": "PD",
    "delta_1": "delta_1",
    "delta_2": "delta_2",
    "theorem_3": "Theorem 3",
    "our_bound": "our bound",
    "within_our_bound": "PD within ours",
}
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

Tables = dict[str, pd.DataFrame]
"""Tables of text by their titles."""


def results_tables(results: Results) -> Tables:
    """Make the tables of a run.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.

    Returns
    -------
    dict from str to DataFrame
        By their titles; all cells are text.
    """
    makers = {
        "synthetic": _synthetic_tables,
        "shifts": _shift_tables,
        "logged": _logged_tables,
    }
    return makers.get(results["experiment"], _comparison_tables)(results)


def number(value: Any, digits: int = 3) -> str:
    """Format a number as the paper prints it.

    Parameters
    ----------
    value : float, int, str or None
        None is shown as "undef", NaN as nothing; text and whole numbers stay.
    digits : int, default=3
        Digits behind the point.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.0456), number(None), number(-0.5), number(12)
    ('.046', 'undef', '-.500', '12')
    """
    if value is None:
        return "undef"
    if isinstance(value, (str, int)):
        return str(value)
    if value != value:
        return ""
    text = f"{value:.{digits}f}"
    # The paper leaves out the 0 before the point, but not that of 10.5.
    if text.startswith(("0.", "-0.")):
        return text.replace("0.", ".", 1)
    return text


def _table(lines: Sequence[Results], columns: dict[str, str]) -> pd.DataFrame:
    """Make a table of lines; a key that a line lacks is an empty cell."""
    # As objects: None is undefined, and NaN is a key that a line lacks.
    frame = pd.DataFrame(lines, columns=list(columns), dtype=object)
    return frame.map(number).set_axis(list(columns.values()), axis=1)


def _comparison_tables(results: Results) -> Tables:
    """Make the quantifier table and the results table of a comparison.

    The first table shows prevalences and their estimates. The paper's results table is
    too wide for a terminal, so it comes as two: error rates and accuracy, then
    predicted prevalence, PD and PE. Where the paper prints nothing, as of a user's own
    tables, one table has a line for each group, by its name. A last table has the
    criteria of parity.
    """
    have_print = any(row["printed"] for row in results["rows"])
    title = "Prevalences, and what quantifiers estimate from unlabelled test rows"
    tables = {title: _prevalence_table(results, have_print)}
    lines = []
    for row in results["rows"]:
        lines += _method_lines(row)
    method = {"method": "method (seeds)"}
    if have_print:
        n_groups = len(results["groups"])
        errors = _columns_of(("fpr", "fnr", "accuracy"), n_groups)
        tables["Error rates and accuracy"] = _table(lines, method | errors)
        fairness = _columns_of(("predicted_prevalence", "pd"), n_groups)
        # PE of the first pair is the paper's.
        fairness |= {"pe_01": "PE 0,1", "pe": "PE worst"}
        title = "Predicted prevalence, PD and PE"
        tables[title] = _table(lines, method | fairness)
    else:
        tables["Every method in every group"] = _group_table(results)
        between = {f"{rate}_diff": f"{_HEADINGS[rate]} diff" for rate in DIFFERENCES}
        between["pe"] = "PE worst"
        tables["Between groups"] = _table(lines, method | between)
    finished = [row["mean"] for row in results["rows"] if row["status"] == "ok"]
    # Stored results may have no columns of parity.
    if finished and all(set(PARITY) <= set(mean) for mean in finished):
        tables[_PARITY_TITLE] = _table(lines, method | _PARITY_COLUMNS)
    # Stored results may not name learners.
    if all("learner" in row for row in results["rows"]):
        learners = {"method": "method", "learner": "learner"}
        tables["Learners of the methods"] = _table(results["rows"], learners)
    return tables


def _method_lines(row: Results) -> list[Results]:
    """Make the lines of one method; one that did not run has its name alone."""
    several = row["seeds"] > 1
    lines = [{"method": _name(row), **row.get("mean", {})}]
    if several:
        lines.append({"method": "± sd", **row["sd"]})
    if row["printed"]:
        lines.append({"method": "print", **row["printed"]})
    return lines


def _name(row: Results) -> str:
    """Name a method, with the number of seeds where there is a spread over them."""
    return f"{row['method']} ({row['seeds']})" if row["seeds"] > 1 else row["method"]


def _columns_of(rates: Sequence[str], n_groups: int) -> dict[str, str]:
    """List a column for each group, and the difference if the paper has one."""
    columns = {}
    for rate in rates:
        for place in range(n_groups):
            columns[f"{rate}_{place}"] = f"{_HEADINGS[rate]} {place}"
        if rate in DIFFERENCES:
            columns[f"{rate}_diff"] = f"{_HEADINGS[rate]} diff"
    return columns


def _group_table(results: Results) -> pd.DataFrame:
    """Show every method in every group, and below each the spread over seeds."""
    lines = []
    for row in results["rows"]:
        if row["status"] != "ok":
            lines.append({"method": row["method"]})
            continue
        name = _name(row)
        for place, group in enumerate(results["groups"]):
            for label, values in ((group, row["mean"]), ("± sd", row["sd"])):
                if label == "± sd" and row["seeds"] == 1:
                    continue
                rates = {rate: values[f"{rate}_{place}"] for rate in _HEADINGS}
                lines.append({"method": name, "group": label, **rates})
                # A method is named once.
                name = ""
    return _table(lines, {"method": "method", "group": "group", **_HEADINGS})


def _prevalence_table(results: Results, have_print: bool) -> pd.DataFrame:
    """Show rows, prevalences and the estimates of all quantifiers by group.

    It is the paper's quantifier table with a line for each quantifier.
    """
    lines = {
        "training rows": [part["rows_train"] for part in results["data"]],
        "test rows": [part["rows_test"] for part in results["data"]],
        "training prevalence": [part["prevalence_train"] for part in results["data"]],
        "test prevalence": [part["prevalence_test"] for part in results["data"]],
    }
    for row in results["quantifiers"]:
        cells = [number(mean) for mean in row["mean"]]
        # One seed has no spread.
        if row["seeds"] > 1:
            spreads = [number(sd) for sd in row["sd"]]
            pairs = zip(cells, spreads, strict=True)
            cells = [" ± ".join(pair) for pair in pairs]
        lines[f"estimate, {row['quantifier']}"] = cells
        if row["printed"]:
            lines["print"] = row["printed"]
    groups = list(results["groups"])
    if have_print:
        # The columns of the other tables have the numbers of the groups.
        groups = [f"{place} {group}" for place, group in enumerate(groups)]
    frame = pd.DataFrame(lines, index=groups, dtype=object).T
    return frame.map(number).rename_axis("").reset_index()


def _synthetic_tables(results: Results) -> Tables:
    """Make the tables of the synthetic experiment.

    They are the paper's Table 1 with printed numbers, the points of its figure, in
    which group 0 stays at 0.5, and the parts of Theorem 3's bound. Theorem 3 needs the
    true prevalence; our bound holds at the level of the interval, if nothing but the
    prevalence has moved.
    """
    points = []
    for pair in results["pairs"]:
        if pair["rho_0"] != 0.5:
            continue
        for method, summary in pair["methods"].items():
            line = {"rho": str(pair["rho_1"]), "method": method}
            for key in ("accuracy_1", "pd_1", "pe_01"):
                # Spreads are of the order 10^-3: they need a fourth digit.
                sd = number(summary["sd"][key], digits=4)
                line[key] = f"{number(summary['mean'][key])} ± {sd}"
            points.append(line)
    figure = {"rho": "rho 1", "method": "method", "accuracy_1": "accuracy 1"}
    figure |= {"pd_1": "PD 1", "pe_01": "PE 0,1"}
    theorem = []
    for entry in results["theorem"]:
        if entry["rho_0"] == 0.5:
            theorem.append({"rho": str(entry["rho_1"]), **entry["mean"][1]})
    times = results["repetitions"]
    return {
        f"Table 1: both groups have moved from 0.5 (mean of {times})": _table_1(
            results
        ),
        f"The figure's points: rho 0 is 0.5 (mean ± sd of {times})": _table(
            points, figure
        ),
        "Theorem 3 at work in group 1, CAPE-D (means; rho 0 is 0.5)": _table(
            theorem, {"rho": "rho 1", **_THEOREM_COLUMNS}
        ),
    }


def _table_1(results: Results) -> pd.DataFrame:
    """Show the three settings of the paper's Table 1, as far as they were run."""
    methods_of = {}
    for pair in results["pairs"]:
        methods_of[pair["rho_0"], pair["rho_1"]] = pair["methods"]
    lines = []
    for printed in results["printed"]:
        pair = (printed["rho_0"], printed["rho_1"])
        # A run may have other prevalences: then the setting has no lines.
        for method, summary in methods_of.get(pair, {}).items():
            rho = f"{pair[0]} {pair[1]}"
            lines.append({"rho": rho, "method": method, **summary["mean"]})
            spreads = {}
            for key in _TABLE_1_COLUMNS:
                spreads[key] = number(summary["sd"][key], digits=4)
            lines.append({"rho": "", "method": "± sd", **spreads})
            if method in PAPER_NAMES:
                name = PAPER_NAMES[method]
                # In print each metric is a pair of numbers, one for each group.
                values = [*printed["accuracy"][name], *printed["pd"][name]]
                values.append(printed["pe_01"][name])
                line = dict(zip(_TABLE_1_COLUMNS, values, strict=True))
                lines.append({"rho": "", "method": "print", **line})
    return _table(lines, {"rho": "rho 0, 1", "method": "method", **_TABLE_1_COLUMNS})


def _shift_tables(results: Results) -> Tables:
    """Make the tables of a run on real shifts."""
    first, *remaining = results["configurations"]
    lines = []
    for entry in results["shifts"]:
        line = {
            "case": f"{entry['case']}, {entry['group']}",
            "train": entry["prevalence_train"],
            "truth": entry["prevalence_test"],
        }
        for name in results["configurations"]:
            # None if the configuration failed.
            row = entry[name]
            for key in ("estimate", "pd", "pe"):
                line[f"{key} {name}"] = "failed" if row is None else row[key]
            if name == first:
                line |= _first_columns(row, results["seeds"])
        lines.append(line)
    case = {"case": "case, group"}
    estimates = {f"estimate {name}": name for name in results["configurations"]}
    intervals = case | {"train": "train", "truth": "truth", f"estimate {first}": first}
    for key in ("low", "high", "holds", "verdict"):
        intervals[key] = key
    fairness = dict(case)
    for key in ("pd", "pe"):
        heading = key.upper()
        fairness |= {
            f"{key} {first}": f"{heading} {first}",
            f"max_acc_{key}": f"{heading} Max_Acc",
        }
        for name in remaining:
            fairness[f"{key} {name}"] = f"{heading} {name}"
    everything = case | {"truth": "truth"} | estimates
    everything |= {"mean_score": "mean score", "train": "train"}
    title = f"Share of positives: the truth, and what {first} says (95 % interval)"
    tables = {
        title: _table(lines, intervals),
        "Share of positives: all estimates": _table(lines, everything),
        "Prevalence difference and proportional equality": _table(lines, fairness),
    }
    for cases in dict.fromkeys(row["cases"] for row in results["summary"]):
        of_cases = [row for row in results["summary"] if row["cases"] == cases]
        # A method has no value where it claims nothing.
        columns = {"method": "method", **_SUMMARY_COLUMNS}
        tables[f"Summary, {cases}"] = _table(of_cases, columns)
    return tables


def _first_columns(row: Results | None, seeds: int) -> Results:
    """Show what the first configuration says beside its estimate."""
    keys = ("low", "high", "mean_score", "max_acc_pd", "max_acc_pe")
    if row is None:
        return dict.fromkeys((*keys, "holds", "verdict"), "failed")
    times = round(row["holds"] * seeds)
    # In how many seeds the interval holds the truth.
    answers = {seeds: "yes", 0: "no"}
    return {
        **{key: row[key] for key in keys},
        "holds": answers.get(times, f"{times} of {seeds}"),
        "verdict": row["verdict"].replace("_", " "),
    }


def _logged_tables(results: Results) -> Tables:
    """Make the tables of a run on logged decisions."""
    columns = {
        "learner": "learner",
        "rate": "rate",
        "method": "method",
        "error": "mean error",
        "spread": "±",
        "holds": "interval holds",
        "width": "interval width",
    }
    tables = {
        "Errors and intervals over all cells": _table(results["summary"], columns)
    }
    if results["cases"]:
        errors = {name: name for name in results["cases"][0]}
        tables["Mean errors of each case"] = _table(results["cases"], errors)
    return tables
