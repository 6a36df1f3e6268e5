"""Tables of results as text: a title, a heading and rows, from the numbers of a run.

The terminal and the Markdown page show the same tables. Below the means of a method
stand the standard deviations over seeds ("± sd") and the numbers that the paper prints
("print"); the labels of both are indented by two spaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from cape_paper._rows import DIFFERENCES, PARITY, Results

__all__ = [
    "PAPER_NAMES",
    "TextTable",
    "comparison_tables",
    "number",
    "synthetic_tables",
]

PAPER_NAMES = {"CAPE-D": "CAPE", "Max_Acc": "Max_Acc"}
"""How the paper's Table 1 calls our methods; it does not have our default."""

_HEADINGS = {
    "fpr": "FPR",
    "fnr": "FNR",
    "accuracy": "acc",
    "predicted_prevalence": "predicts",
    "pd": "PD",
}


@dataclass(frozen=True)
class TextTable:
    """A table as text.

    Parameters
    ----------
    title : str
        Its title.
    columns : list of str
        The heading.
    rows : list of list of str
        A row has as many cells as ``columns``. A method that did not run has a row of
        two cells, its name and the reason.

    Examples
    --------
    >>> TextTable("PD", ["method", "PD 0"], [["Max_Acc", ".352"]]).columns
    ['method', 'PD 0']
    """

    title: str
    columns: list[str]
    rows: list[list[str]]


class _Column(NamedTuple):
    """The key of a value in the results, and its heading."""

    key: str
    heading: str


_PARITY_TITLE = (
    "Parity between groups: shares, TPR, FPR and precision "
    "(the four-fifths rule asks for a share ratio of .8 or more)"
)

_PARITY_COLUMNS = [
    _Column("demographic_parity_difference", "share diff"),
    _Column("demographic_parity_ratio", "share ratio"),
    # TPR is 1 - FNR, so that both have the same difference.
    _Column("fnr_diff", "TPR diff"),
    _Column("fpr_diff", "FPR diff"),
    _Column("equalized_odds_difference", "odds diff"),
    _Column("precision_difference", "precision diff"),
]


def number(value: float | None, *, digits: int = 3) -> str:
    """Format a number as the paper prints it.

    Parameters
    ----------
    value : float or None
        None is shown as "undef".
    digits : int, default=3
        Digits behind the point.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.0456), number(None), number(-0.5)
    ('.046', 'undef', '-.500')
    """
    if value is None:
        return "undef"
    text = f"{value:.{digits}f}"
    # The paper leaves out the 0 before the point, but not that of 10.5.
    if text.startswith(("0.", "-0.")):
        return text.replace("0.", ".", 1)
    return text


def comparison_tables(results: Results) -> list[TextTable]:
    """Make the quantifier table and the results table of a comparison.

    The first table shows prevalences and their estimates. The paper's results table is
    too wide for a terminal, so it comes as two: error rates and accuracy, then
    predicted prevalence, PD and PE. Where the paper prints nothing, as of a user's own
    tables, one table has a line for each group, by its name. A last table has the
    criteria of parity.
    """
    tables = [_prevalence_table(results)]
    if _have_print(results):
        tables += _tables_as_printed(results)
    else:
        tables.append(_group_table(results))
        columns = [
            _Column(f"{rate}_diff", f"{_HEADINGS[rate]} diff") for rate in DIFFERENCES
        ]
        columns.append(_Column("pe", "PE worst"))
        tables.append(_method_table("Between groups", results, columns))
    if _have_parity(results):
        tables.append(_method_table(_PARITY_TITLE, results, _PARITY_COLUMNS))
    return tables


def _have_print(results: Results) -> bool:
    """Tell whether the paper prints a number of any method."""
    return any(row["printed"] for row in results["rows"])


def _group_table(results: Results) -> TextTable:
    """Show every method in every group, whose name stands in its line."""
    rows = []
    for row in results["rows"]:
        if row["status"] != "ok":
            rows.append([row["method"], row["status"]])
            continue
        rows += _group_rows(row, results["groups"])
    columns = ["method", "group", *_HEADINGS.values()]
    return TextTable("Every method in every group", columns, rows)


def _group_rows(row: Results, groups: list[str]) -> list[list[str]]:
    """Make the lines of one method, and below each the spread over several seeds."""
    several = row["seeds"] > 1
    name = f"{row['method']} ({row['seeds']})" if several else row["method"]
    lines = []
    for place, group in enumerate(groups):
        columns = [_Column(f"{rate}_{place}", rate) for rate in _HEADINGS]
        lines.append([name, group, *_cells(row["mean"], columns)])
        if several:
            lines.append(["", "  ± sd", *_cells(row["sd"], columns)])
        # A method is named once.
        name = ""
    return lines


def _tables_as_printed(results: Results) -> list[TextTable]:
    """Make the results table of the paper, as two."""
    n_groups = len(results["groups"])
    # The paper's order of columns.
    error_columns = []
    for rate in ("fpr", "fnr", "accuracy"):
        error_columns += _columns_of(rate, n_groups)
    fairness_columns = []
    for rate in ("predicted_prevalence", "pd"):
        fairness_columns += _columns_of(rate, n_groups)
    # PE of the first pair is the paper's.
    fairness_columns.append(_Column("pe_01", "PE 0,1"))
    fairness_columns.append(_Column("pe", "PE worst"))
    return [
        _method_table("Error rates and accuracy", results, error_columns),
        _method_table("Predicted prevalence, PD and PE", results, fairness_columns),
    ]


def synthetic_tables(results: Results) -> list[TextTable]:
    """Make the tables of the synthetic experiment.

    They are the paper's Table 1 with printed numbers, the points of its figure, and
    the parts of Theorem 3's bound.
    """
    return [_table_1(results), _figure_points(results), _theorem_table(results)]


def _columns_of(rate: str, n_groups: int) -> list[_Column]:
    """List a column for each group, and the difference if the paper has one."""
    heading = _HEADINGS[rate]
    columns = [_Column(f"{rate}_{z}", f"{heading} {z}") for z in range(n_groups)]
    if rate in DIFFERENCES:
        columns.append(_Column(f"{rate}_diff", f"{heading} diff"))
    return columns


def _prevalence_table(results: Results) -> TextTable:
    """Show rows, prevalences and the estimates of all quantifiers by group.

    It is the paper's quantifier table with a line for each quantifier.
    """
    groups = list(results["groups"])
    if _have_print(results):
        # The columns of the other tables have the numbers of the groups.
        groups = [f"{z} {group}" for z, group in enumerate(groups)]
    training_rows = ["training rows"]
    test_rows = ["test rows"]
    training_prevalences = ["training prevalence"]
    test_prevalences = ["test prevalence"]
    for part in results["data"]:
        training_rows.append(str(part["rows_train"]))
        test_rows.append(str(part["rows_test"]))
        training_prevalences.append(number(part["prevalence_train"]))
        test_prevalences.append(number(part["prevalence_test"]))
    # In the order of the paper's quantifier table: what is known, then estimates.
    rows = [training_rows, test_rows, training_prevalences, test_prevalences]
    for estimates in results["quantifiers"]:
        rows += _estimate_rows(estimates)
    title = "Prevalences, and what quantifiers estimate from unlabelled test rows"
    return TextTable(title, ["", *groups], rows)


def _method_table(title: str, results: Results, columns: list[_Column]) -> TextTable:
    """Show every method: its means, the spread below, and what the paper prints."""
    rows = []
    for row in results["rows"]:
        rows += _method_rows(row, columns)
    return TextTable(title, ["method (seeds)", *_headings(columns)], rows)


def _have_parity(results: Results) -> bool:
    """Tell whether the rows have columns of parity; stored results may have none."""
    finished = [row["mean"] for row in results["rows"] if row["status"] == "ok"]
    return bool(finished) and all(set(PARITY) <= set(mean) for mean in finished)


def _headings(columns: list[_Column]) -> list[str]:
    """List what stands above the columns."""
    return [column.heading for column in columns]


def _estimate_rows(estimates: Results) -> list[list[str]]:
    """Make the lines of one quantifier."""
    cells = [f"estimate, {estimates['quantifier']}"]
    spreads = estimates["sd"]
    for place, mean in enumerate(estimates["mean"]):
        cell = number(mean)
        # One seed has no spread.
        if estimates["seeds"] > 1:
            cell += f" ± {number(spreads[place])}"
        cells.append(cell)
    lines = [cells]
    if estimates["printed"]:
        printed = _numbers(estimates["printed"])
        lines.append(["  print", *printed])
    return lines


def _method_rows(row: Results, columns: list[_Column]) -> list[list[str]]:
    """Make the lines of one method.

    A method that did not run has its name and the reason, and print below.
    """
    # The number of seeds is shown where there is a spread over them.
    several = row["seeds"] > 1
    name = f"{row['method']} ({row['seeds']})" if several else row["method"]
    lines = []
    if row["status"] == "ok":
        means = _cells(row["mean"], columns)
        lines.append([name, *means])
        if several:
            spreads = _cells(row["sd"], columns)
            lines.append(["  ± sd", *spreads])
    else:
        lines.append([name, row["status"]])
    if row["printed"]:
        printed = _printed_cells(row["printed"], columns)
        lines.append(["  print", *printed])
    return lines


def _cells(
    values: Results,
    columns: list[_Column],
    digits: int = 3,
) -> list[str]:
    """Format the values of the columns.

    Parameters
    ----------
    values : dict
        Means or standard deviations by key.
    columns : list of _Column
        The columns of the table.
    digits : int, default=3
        Digits behind the point.
    """
    return [number(values[column.key], digits=digits) for column in columns]


def _printed_cells(printed: Results, columns: list[_Column]) -> list[str]:
    """Format printed values; the cell of a column that print does not have is empty."""
    cells = []
    for column in columns:
        cell = ""
        if column.key in printed:
            cell = number(printed[column.key])
        cells.append(cell)
    return cells


def _numbers(values: Iterable[float | None]) -> list[str]:
    """Format several numbers."""
    return [number(value) for value in values]


def _table_1(results: Results) -> TextTable:
    """Show the three settings of the paper's Table 1, as far as they were run."""
    columns = [
        _Column("accuracy_0", "accuracy 0"),
        _Column("accuracy_1", "accuracy 1"),
        _Column("pd_0", "PD 0"),
        _Column("pd_1", "PD 1"),
        _Column("pe_01", "PE 0,1"),
    ]
    methods_of_pair = {}
    for pair in results["pairs"]:
        methods_of_pair[pair["rho_0"], pair["rho_1"]] = pair["methods"]
    rows = []
    for printed in results["printed"]:
        pair = (printed["rho_0"], printed["rho_1"])
        # A run may have other prevalences: then the setting has no lines.
        methods = methods_of_pair.get(pair, {})
        for method, summary in methods.items():
            means = _cells(summary["mean"], columns)
            # Spreads are of the order 10^-3: they need a fourth digit.
            spreads = _cells(summary["sd"], columns, digits=4)
            rows.append([f"{pair[0]} {pair[1]}", method, *means])
            rows.append(["", "  ± sd", *spreads])
            if method in PAPER_NAMES:
                values = _printed_values(printed, PAPER_NAMES[method])
                rows.append(["", "  print", *_numbers(values)])
    repetitions = results["repetitions"]
    title = f"Table 1: both groups have moved from 0.5 (mean of {repetitions})"
    return TextTable(title, ["rho 0, 1", "method", *_headings(columns)], rows)


def _printed_values(printed: Results, name: str) -> list[float]:
    """List the printed values of a method in the order of our Table 1.

    In print each metric is a pair of numbers, one for each group.
    """
    accuracies = printed["accuracy"][name]
    differences = printed["pd"][name]
    return [*accuracies, *differences, printed["pe_01"][name]]


def _figure_points(results: Results) -> TextTable:
    """Show the points of the paper's figure, in which group 0 stays at 0.5.

    The figure has accuracy and PD of group 1, which moves, and PE of both.
    """
    keys = ("accuracy_1", "pd_1", "pe_01")
    rows = []
    for pair in results["pairs"]:
        if pair["rho_0"] != 0.5:
            continue
        for method, summary in pair["methods"].items():
            cells = [str(pair["rho_1"]), method]
            for key in keys:
                sd = number(summary["sd"][key], digits=4)
                cells.append(f"{number(summary['mean'][key])} ± {sd}")
            rows.append(cells)
    repetitions = results["repetitions"]
    title = f"The figure's points: rho 0 is 0.5 (mean ± sd of {repetitions})"
    return TextTable(title, ["rho 1", "method", "accuracy 1", "PD 1", "PE 0,1"], rows)


def _theorem_table(results: Results) -> TextTable:
    """Show PD of group 1 beside the bound of Theorem 3 and the bound we can compute.

    Theorem 3 needs the true prevalence; our bound holds at the level of the interval,
    if nothing but the prevalence has moved.
    """
    columns = [
        _Column("pd", "PD"),
        _Column("delta_1", "delta_1"),
        _Column("delta_2", "delta_2"),
        _Column("theorem_3", "Theorem 3"),
        _Column("our_bound", "our bound"),
        _Column("within_our_bound", "PD within ours"),
    ]
    rows = []
    for entry in results["theorem"]:
        if entry["rho_0"] == 0.5:
            group_1 = entry["mean"][1]
            rho_1 = str(entry["rho_1"])
            rows.append([rho_1, *_cells(group_1, columns)])
    title = "Theorem 3 at work in group 1, CAPE-D (means; rho 0 is 0.5)"
    return TextTable(title, ["rho 1", *_headings(columns)], rows)
