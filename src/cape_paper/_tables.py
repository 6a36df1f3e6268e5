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
from cape_paper._records import over_cases

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
        "quantifiers": _quantifier_tables,
        "small-groups": _small_group_tables,
        "logged": _logged_tables,
    }
    # A run of which every cell failed has no records.
    if results.get("records") == []:
        return {}
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
    predicted prevalence, PD and PE. A last table has the criteria of parity.
    """
    title = "Prevalences, and what quantifiers estimate from unlabelled test rows"
    tables = {title: _prevalence_table(results)}
    lines = []
    for row in results["rows"]:
        lines += _method_lines(row)
    method = {"method": "method (seeds)"}
    n_groups = len(results["groups"])
    errors = _columns_of(("fpr", "fnr", "accuracy"), n_groups)
    tables["Error rates and accuracy"] = _table(lines, method | errors)
    fairness = _columns_of(("predicted_prevalence", "pd"), n_groups)
    # PE of the first pair is the paper's.
    fairness |= {"pe_01": "PE 0,1", "pe": "PE worst"}
    tables["Predicted prevalence, PD and PE"] = _table(lines, method | fairness)
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


def _prevalence_table(results: Results) -> pd.DataFrame:
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
    # The columns of the other tables have the numbers of the groups.
    groups = [f"{place} {group}" for place, group in enumerate(results["groups"])]
    frame = pd.DataFrame(lines, index=groups, dtype=object).T
    return frame.map(number).rename_axis("").reset_index()


def _synthetic_tables(results: Results) -> Tables:
    """Make the tables of the synthetic experiment.

    They are the paper's Table 1 with printed numbers, the points of its figure, in
    which group 0 stays at 0.5, and the parts of Theorem 3's bound. Theorem 3 needs the
    true prevalence; our bound holds at the level of the interval, if nothing but the
    prevalence has moved.
    """
    times = results["repetitions"]
    points = []
    for pair in results["pairs"]:
        if pair["rho_0"] != 0.5:
            continue
        for method, summary in pair["methods"].items():
            line = {"rho": str(pair["rho_1"]), "method": method}
            for key in ("accuracy_1", "pd_1", "pe_01"):
                line[key] = number(summary["mean"][key])
                if times > 1:
                    # Spreads are of the order 10^-3: they need a fourth digit.
                    line[key] += f" ± {number(summary['sd'][key], digits=4)}"
            points.append(line)
    figure = {"rho": "rho 1", "method": "method", "accuracy_1": "accuracy 1"}
    figure |= {"pd_1": "PD 1", "pe_01": "PE 0,1"}
    theorem = []
    for entry in results["theorem"]:
        if entry["rho_0"] == 0.5:
            theorem.append({"rho": str(entry["rho_1"]), **entry["mean"][1]})
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
            if results["repetitions"] > 1:
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


def _with_spread(means: pd.DataFrame) -> pd.Series:
    """Format means with their standard errors, which one case does not have."""
    mean = means["mean"].map(number)
    spread = " ± " + means["sem"].map(number)
    return mean + spread.where(means["sem"].notna(), "")


def _pivoted(means: pd.Series, column: str) -> pd.DataFrame:
    """Spread the values of one key over columns, and make the others columns, too."""
    table = means.unstack(column, sort=False).fillna("").reset_index()
    return table.rename_axis(columns=None).map(number)


def _error_table(records: Sequence[Results], keys: list[str]) -> pd.DataFrame:
    """Show mean errors by the size of the batch."""
    means = over_cases(records, [*keys, "size"], "error")
    return _pivoted(_with_spread(means), "size")


def _interval_table(records: Sequence[Results], keys: list[str]) -> pd.DataFrame:
    """Show how often intervals hold, and how wide they are, by size of the batch."""
    columns = {}
    for column in ("holds", "width"):
        means = _with_spread(over_cases(records, [*keys, "size"], column))
        for size, values in means.unstack("size", sort=False).items():
            columns[f"{column}, {size}"] = values
    return pd.DataFrame(columns).fillna("").reset_index().map(number)


_VERDICTS = (
    *("consistent", "some_drift", "drifted", "too_little_known", "cannot_tell"),
    "not_tested",
)


def _shift_tables(results: Results) -> Tables:
    """Make the tables of a run on real shifts."""
    sizes = ("30", "100", "300", "all")
    records = sorted(
        results["records"],
        key=lambda row: (sizes.index(row["size"]), _VERDICTS.index(row["verdict"])),
    )
    with_labels = ("CAPE, labels", "labels alone")
    unlabelled = [row for row in records if row["method"] not in with_labels]
    of_cape = [row for row in unlabelled if row["method"] == "CAPE"]
    means = over_cases(unlabelled, ["size", "verdict", "method"], "error")
    by_verdict = _pivoted(_with_spread(means), "method")
    batches = means.xs("CAPE", level="method")["batches"].to_numpy()
    by_verdict.insert(2, "batches", [str(count) for count in batches])
    at_all = [row for row in records if row["size"] == "all"]
    labelled = [row for row in at_all if row["method"] in ("CAPE", *with_labels)]
    labels = _with_spread(over_cases(labelled, ["method"], "error")).to_frame("error")
    for column in ("holds", "width"):
        labels[column] = _with_spread(over_cases(labelled, ["method"], column))
    tables = {
        "Mean error, by rows of each group in the batch": _error_table(
            unlabelled, ["method"]
        ),
        "Mean error, by rows of each group and CAPE's verdict": by_verdict,
        "95 % intervals: how often they hold, and their width": _interval_table(
            unlabelled, ["method"]
        ),
        "95 % intervals of CAPE, by its verdict": _interval_table(of_cape, ["verdict"]),
        "All later rows, and 100 labels of each group": labels.reset_index(),
    }
    tables |= _case_tables(results)
    for table in tables.values():
        if "verdict" in table:
            table["verdict"] = table["verdict"].str.replace("_", " ")
    return tables


def _case_tables(results: Results) -> Tables:
    """Show each case and group, with all later rows as the batch."""
    lines = []
    for entry in results["shifts"]:
        place = (entry["case"], entry["group"])
        line = {
            "case": ", ".join(place),
            "train": entry["prevalence_train"],
            "truth": entry["prevalence_test"],
        }
        for row in results["records"]:
            if (row["case"], row["group"], row["size"]) != (*place, "all"):
                continue
            line[row["method"]] = row["estimate"]
            if row["method"] == "CAPE":
                kept = ("low", "high", "holds", "verdict")
                line |= {key: row[key] for key in kept}
        for row in results["decisions"]:
            if (row["case"], row["group"]) == place:
                line[f"PD {row['method']}"] = row["pd"]
                line[f"PE {row['method']}"] = row.get("pe")
        lines.append(line)
    case = {"case": "case, group"}
    shares = [*case, "train", "truth", "CAPE"]
    methods = dict.fromkeys(row["method"] for row in results["records"])
    estimated = [name for name in methods if "label" not in name]
    estimated.remove("last year's share")
    decided = []
    for metric in ("PD", "PE"):
        decided += [f"{metric} {name}" for name in ("CAPE", "paper", "Max_Acc")]

    def columns(names: Sequence[str]) -> dict[str, str]:
        return {name: name for name in names} | case

    intervals = columns([*shares, "low", "high", "holds", "verdict"])
    return {
        "Share of positives in all later rows, and what CAPE says": _table(
            lines, intervals
        ),
        "Share of positives in all later rows: all estimates": _table(
            lines, columns([*case, "truth", *estimated, "train"])
        ),
        "Prevalence difference and proportional equality, all later rows": _table(
            lines, columns([*case, *decided])
        ),
    }


_KINDS = {
    "pure": "Pure prior shift",
    "real": "Real shifts",
    "alike": "Prior shift, groups move alike",
    "apart": "Prior shift, each group moves its own way",
}


def _quantifier_tables(results: Results) -> Tables:
    """Make the tables of quantifiers: one for each kind of shift."""
    tables = {}
    for kind in ("pure", "real"):
        of_kind = [row for row in results["records"] if row["kind"] == kind]
        title = f"{_KINDS[kind]}: mean error, by rows of each group in the batch"
        tables[title] = _error_table(of_kind, ["method"])
    return tables


def _small_group_tables(results: Results) -> Tables:
    """Make the tables of small groups: errors, then intervals, by kind of shift."""
    tables = {}
    for kind in ("real", "alike", "apart"):
        of_kind = [row for row in results["records"] if row["kind"] == kind]
        of_kind.sort(key=lambda row: row["rows"])
        title = f"{_KINDS[kind]}: mean error, by rows of each group in the batch"
        tables[title] = _error_table(of_kind, ["rows", "method"])
        title = f"{_KINDS[kind]}: how often 95 % intervals hold, and their width"
        tables[title] = _interval_table(of_kind, ["rows", "method"])
    renamed = {"rows": "training rows"}
    return {title: table.rename(columns=renamed) for title, table in tables.items()}


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
