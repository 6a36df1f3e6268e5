"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from cape.cli._app import console, give_line

__all__ = [
    "groups_table",
    "interval",
    "number",
    "show_faults",
    "table_of",
    "value_or_few",
    "values_by_group",
]


def table_of(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Table:
    """Make a table that fits 80 columns.

    Parameters
    ----------
    title : str
        Printed above the table unless it is empty.
    columns : sequence of str
        The first column is text and may wrap; the others are short and do not.
    rows : iterable of sequences
        The cells of each row.

    Returns
    -------
    rich.table.Table
    """
    # Plain rules instead of a frame: the table can be pasted into a message.
    table = Table(
        title=title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
    )
    first, *others = columns
    table.add_column(first, justify="left", overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True, overflow="fold")
    for row in rows:
        # Text instead of str: a group called [red] is no markup.
        table.add_row(*[Text(str(cell)) for cell in row])
    return table


def number(value: float | None) -> str:
    """Write a number with three decimals, and an unknown or undefined one as a dash.

    Examples
    --------
    >>> number(0.25), number(None), number(float("nan"))
    ('0.250', '-', '-')
    """
    # NaN is the only number that differs from itself.
    if value is None or value != value:
        return "-"
    return f"{value:.3f}"


def value_or_few(finding: dict[str, Any]) -> str:
    """Write the value of an audit's finding, or "few" if it rests on too few rows.

    Examples
    --------
    >>> value_or_few({"value": 0.25, "why": None})
    '0.250'
    >>> value_or_few({"value": None, "why": "too few rows"})
    'few'
    >>> value_or_few({"value": None, "why": "undefined"})
    '-'
    """
    if finding["why"] == "too few rows":
        return "few"
    return number(finding["value"])


def interval(low: float | None, high: float | None) -> str:
    """Write an interval.

    Examples
    --------
    >>> interval(0.25, 0.5)
    '0.250-0.500'
    """
    return f"{number(low)}-{number(high)}"


def groups_table(title: str, groups: Iterable[dict[str, Any]]) -> Table:
    """Make the table of the groups that a model was trained on.

    Parameters
    ----------
    title : str
    groups : iterable of dict
        From `cape.files.describe_model`.

    Returns
    -------
    rich.table.Table
    """
    # The same table after training and in cape info.
    rows = []
    for group in groups:
        prevalence = number(group["prevalence"])
        rows.append([group["group"], group["rows"], prevalence, number(group["auc"])])
    return table_of(title, ["group", "rows", "prevalence", "AUC"], rows)


def values_by_group(
    findings: Iterable[dict[str, Any]],
) -> dict[str, dict[str, dict[str, Any]]]:
    """Arrange the findings of an audit by group and metric.

    Parameters
    ----------
    findings : iterable of dict
        With ``group``, ``metric`` and what was found.

    Returns
    -------
    dict from group to dict from metric to finding

    Examples
    --------
    >>> values_by_group([{"group": "a", "metric": "pd", "value": 0.1}])["a"]["pd"]
    {'group': 'a', 'metric': 'pd', 'value': 0.1}
    """
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for finding in findings:
        metrics = groups.setdefault(finding["group"], {})
        metrics[finding["metric"]] = finding
    return groups


def show_faults(verdict: dict[str, Any], where: str) -> None:
    """Print the columns at fault, in red, before anything else is printed.

    Parameters
    ----------
    verdict : dict
        From a summary of `cape.report`.
    where : {"groups", "batches"}
        Where the faults are.
    """
    if not verdict["faults"]:
        return
    title = "COLUMNS ARE NOT WHAT THEY WERE IN TRAINING"
    console.print(Text(title, style="bold red"))
    for fault in verdict["faults"]:
        sentence = f"  {fault['what_happened']}, in {', '.join(fault[where])}"
        console.print(Text(sentence, style="red"))
    give_line(
        "Nothing can be said of the prevalences until this is mended. Predictions "
        "and rates below are worth no more than these columns."
    )
    console.print()
