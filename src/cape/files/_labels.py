"""Which of the two labels of a table is the positive one."""

from __future__ import annotations

from collections.abc import Iterable

from cape._tables import TableError
from cape.files._plain_text import by_value, plain_value

__all__ = ["order_labels"]


def order_labels(labels: Iterable[str], positive: str | None) -> tuple[str, str]:
    """Tell the negative from the positive label.

    Parameters
    ----------
    labels : iterable of str
        The two labels, as `plain_text` writes them.
    positive : str or None
        The positive label as the user named it. None takes the greater of the two:
        by value where both are numbers, else by the alphabet.

    Returns
    -------
    negative, positive : str

    Raises
    ------
    TableError
        If the user named a third label.

    Examples
    --------
    >>> order_labels(["10", "9"], None)
    ('9', '10')
    >>> order_labels(["no", "yes"], "no")
    ('yes', 'no')
    """
    # As text, "10" would come before "9".
    smaller, greater = sorted(labels, key=by_value)
    if positive is None:
        return smaller, greater
    wanted = plain_value(positive)
    if wanted == smaller:
        return greater, smaller
    if wanted == greater:
        return smaller, greater
    raise TableError(
        f"the positive label must be {smaller!r} or {greater!r}, got {positive!r}."
    )
