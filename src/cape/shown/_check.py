"""What is said of a labelled table before training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cape.base._numbers import counted, quoted, rows_text

if TYPE_CHECKING:
    import pandas as pd

    from cape.examination._check import Check

_MOST_NAMES = 8


class Kind(NamedTuple):
    """A kind of finding: what follows from it, and what is found."""

    effect: str
    what: str


KINDS = {
    "constant": Kind("drop", "columns of a single value"),
    "row number": Kind("drop", "row numbers, which mean nothing in another table"),
    "tells the answer": Kind(
        "drop",
        "columns that give the answer away, perhaps because they were filled in after "
        "it was known",
    ),
    "date": Kind("drop", "dates, which in later tables all come after those here"),
    "identifier": Kind("drop", "identifiers, which are new in every table"),
    "free text": Kind("drop", "free text, which nobody can check for what it tells"),
    "groups": Kind("stop", "groups that look like identifiers"),
    "small groups": Kind("note", "small groups, which borrow from the others"),
}
"""What `cape.check` finds. Training stops, leaves the column out, or goes on."""


def reason_text(code: str, *numbers: Any) -> str:
    """Say what was seen.

    Parameters
    ----------
    code : str
    *numbers
        What belongs to it: see `cape.check`.

    Returns
    -------
    str

    Examples
    --------
    >>> reason_text("differ", 500, 500, 1998.0)
    'all 500 values are distinct, out of 1,998 possible'
    >>> reason_text("all positive", 1200, "with", 3.0)
    'all 1,200 rows with 3 are positive'
    """
    if code == "differ":
        return _differ(*numbers)
    if code == "in order":
        n, direction, share = numbers
        text = f"all {n:,} values are distinct and {direction}"
        return text if share == 1 else f"{text} in {share:.1%} of the rows"
    if code == "all positive":
        n, which, *level = numbers
        words = " ".join([which, *map(_level_name, level)])
        return f"all {n:,} rows {words} are positive"
    if code == "small groups":
        return quoted(numbers, _MOST_NAMES)
    return _REASONS[code].format(*numbers)


_REASONS: Mapping[str, str] = {
    "single": "has a single value",
    "empty": "has no value",
    "counts": "goes up by one in each row",
    "auc": "has an AUC of {:.3f} on its own",
    "dates": "holds dates",
    "text as dates": "text that looks like dates ({})",
    "text as periods": "text that looks like periods",
    "numbers as dates": "numbers that look like dates ({})",
    "since 1970": "numbers that look like dates ({} since 1970)",
    "years": "looks like years, {} to {}",
    "periods": "looks like numbered periods, {} to {}",
    "comes again": "looks like an identifier with {:,} values in {:,} rows",
    "codes": "{0:,} codes of the form {2} in {1:,} rows",
    "words": "has sentences of {:.0f} words",
    "many groups": "{:,} groups in {:,} rows",
}


def _differ(n_distinct: int, n: int, n_possible: float | None = None) -> str:
    differ = f"{n_distinct:,} of {n:,} values are distinct"
    if n_distinct == n:
        differ = f"all {n:,} values are distinct"
    if n_possible is None:
        return differ
    return f"{differ}, out of {n_possible:,.0f} possible"


def _level_name(name: object) -> str:
    """Write a level: a number in short, a text in quotes."""
    if isinstance(name, str):
        return repr(name[:40])
    return f"{name:g}"


def check_shown(check: Check) -> tuple[str, pd.DataFrame, list[str]]:
    """Show what to leave out, the groups, and what to expect."""
    dropped = counted(len(check.columns), "column")
    title = f"{dropped} to leave out, of {rows_text(check.rows)}"
    if not check.columns:
        title = f"No column to leave out, of {rows_text(check.rows)}"
    notes = []
    for one in check.findings:
        if one.effect != "drop":
            notes.append(f"{KINDS[one.kind].what}: {one.why}.")
    notes += expected_texts(check.expected)
    columns = [one.effect == "drop" for one in check.findings]
    return title, check.table().loc[columns, ["kind", "why"]], notes


def expected_texts(expected: Mapping[str, Any] | None) -> list[str]:
    """Say what to expect of a next table.

    Parameters
    ----------
    expected : mapping or None
        Of `Check`.
    """
    if expected is None:
        return []
    if not expected:
        return ["Too few rows to say what to expect."]
    groups = expected["groups"].values()
    narrowest = min(group["width"] for group in groups)
    widest = max(group["width"] for group in groups)
    wide = f"{narrowest:.2f}"
    if f"{widest:.2f}" != wide:
        wide += f" to {widest:.2f}"
    n_labels = sum(group["labels"] for group in groups)
    labels = "No labels would be needed"
    if n_labels:
        labels = f"About {counted(n_labels, 'label')} would be needed"
    auc = "unknown" if expected["auc"] is None else f"{expected['auc']:.2f}"
    rows = rows_text(expected["rows"])
    return [
        f"A quick model has an AUC of {auc}. Trained on {rows} and adapted to as many "
        f"others, its intervals of the shares are {wide} wide. {labels}."
    ]
