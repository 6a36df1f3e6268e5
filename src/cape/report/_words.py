"""How numbers and names are written where people read them."""

from __future__ import annotations

from collections.abc import Sequence

from cape._printable import p_value_text

__all__ = [
    "EACH_BY_ITSELF",
    "counted",
    "joined",
    "p_value_text",
    "percent",
    "points",
    "rows_text",
]

_MOST_NAMES = 6
_MINUS = "\u2212"

# docs/design.md, decision 15: what stands side by side is corrected for the number of
# groups on both sides or on none.
EACH_BY_ITSELF = (
    "An interval, and a p-value beside it, is that of a group by itself. Whether a "
    "group has moved is judged over all groups together, by Holm's method at the 5 % "
    "level."
)


def counted(n: int, one: str, many: str = "") -> str:
    """Write a number with its noun.

    Parameters
    ----------
    n : int
        The number.
    one : str
        The noun for one thing.
    many : str, default=""
        The noun for several things; empty adds an "s" to ``one``.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "group"), counted(2, "batch", "batches")
    ('1 group', '2 batches')
    """
    if n == 1:
        return f"1 {one}"
    return f"{n} {many or one + 's'}"


def rows_text(rows: int) -> str:
    """Write a number of rows.

    Examples
    --------
    >>> rows_text(1200)
    '1,200 rows'
    """
    return f"{rows:,} rows"


def joined(names: Sequence[str], noun: str = "groups") -> str:
    """Write a list of names; of more than six, five are named and the others counted.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    >>> joined(list("abcdefgh"), "batches")
    'a, b, c, d, e and 3 more batches'
    """
    # Thirty names would hide the sentence they stand in.
    shown = list(names)
    if len(shown) > _MOST_NAMES:
        left_out = len(shown) - _MOST_NAMES + 1
        shown = [*shown[: _MOST_NAMES - 1], f"{left_out} more {noun}"]
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float) -> str:
    """Write a share in percent, with more digits where it is small.

    Examples
    --------
    >>> percent(0.5764), percent(0.0123), percent(0.00045), percent(float("nan"))
    ('58 %', '1.2 %', '0.04 %', 'an unknown share')
    """
    # NaN is the only number that differs from itself.
    if share != share:
        return "an unknown share"
    return f"{points(share)} %"


def points(share: float) -> str:
    """Write a share, or a difference of shares, in percentage points.

    Examples
    --------
    >>> points(0.204), points(-0.034), points(0.0), points(1.0)
    ('20', '−3.4', '0', '100')
    """
    size = 100 * abs(share)
    # Two digits that count: a share of .012 is no share of .01.
    digits = 2
    if size >= 10 or size == 0:
        digits = 0
    elif size >= 1:
        digits = 1
    number = f"{100 * share:.{digits}f}"
    return number.replace("-", _MINUS)
