"""What is said of single columns of a table."""

from __future__ import annotations

from typing import Any


def suspicion_text(code: str, *numbers: Any) -> str:
    """Say why a column should not be learned from.

    Parameters
    ----------
    code : str
        What was seen.
    *numbers
        What belongs to it: see `cape.examination.suspicious_columns`.

    Returns
    -------
    str

    Examples
    --------
    >>> suspicion_text("differ", 500, 500, 1998.0)
    'all 500 values differ, among 1,998 possible ones'
    >>> suspicion_text("all positive", 1200, "with", 3.0)
    'all 1,200 rows with 3 are positive'
    """
    if code == "differ":
        return _differ(*numbers)
    if code == "in order":
        n, direction, share = numbers
        how_often = "" if share == 1 else f" in {share:.1%} of the rows"
        return f"all {n:,} values differ and {direction}{how_often}"
    if code == "all positive":
        n, which, *level = numbers
        words = " ".join([which, *map(_level_name, level)])
        return f"all {n:,} rows {words} are positive"
    return _SUSPICIONS[code].format(*numbers)


_SUSPICIONS = {
    "counts": "counts the rows",
    "auc": "alone has an AUC of {:.3f}",
    "dates": "holds dates",
    "text as dates": "text that reads as dates ({})",
    "numbers as dates": "numbers that read as dates ({})",
    "since 1970": "numbers that read as dates ({} since 1970)",
}


def _differ(n_distinct: int, n: int, n_possible: float | None = None) -> str:
    differ = f"{n_distinct:,} of {n:,} values differ"
    if n_distinct == n:
        differ = f"all {n:,} values differ"
    if n_possible is None:
        return differ
    return f"{differ}, among {n_possible:,.0f} possible ones"


def _level_name(name: object) -> str:
    """Write a level: a number in short, a text in quotes."""
    if isinstance(name, str):
        return repr(name[:40])
    return f"{name:g}"
