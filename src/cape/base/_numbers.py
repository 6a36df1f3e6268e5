"""How numbers, lists and groups are written where people read them."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

_MOST_NAMES = 6

MOST_GROUPS = 12
"""Groups that a text shows, each with a line; of more it shows the first."""

_MINUS = "\u2212"

_QUOTES = ("'", '"')
"""What the repr of a text begins and ends with."""

KINDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "flag": "true/false values",
    "mixed": "text and numbers",
    "empty": "no values",
}
"""What a column holds."""


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
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "batch", "batches")
    ('1 row', '1,200 rows', '2 batches')
    """
    if n == 1:
        return f"1 {one}"
    return f"{n:,} {many or one + 's'}"


def rows_text(rows: int) -> str:
    """Write a number of rows, as in "1,200 rows"."""
    return counted(rows, "row")


def shortened(
    names: Iterable[str], most: int, noun: str = "", end: str = ""
) -> list[str]:
    """Keep the first names of a list, and count the others.

    Parameters
    ----------
    names : iterable of str
    most : int
        Names that are kept.
    noun : str, default=""
        What is counted, in the plural.
    end : str, default=""
        What stands before the number of the others.

    Returns
    -------
    list of str

    Examples
    --------
    >>> shortened("abcd", 2), shortened("ab", 2), shortened("abcd", 2, "files")
    (['a', 'b', '2 more'], ['a', 'b'], ['a', 'b', '2 more files'])
    """
    names = list(names)
    if len(names) <= most:
        return names
    return [*names[:most], f"{end}{len(names) - most:,} more {noun}".rstrip()]


def listed(names: Iterable[str], most: int, noun: str = "") -> str:
    """List the first names with commas, and say how many more there are.

    Examples
    --------
    >>> listed("abcd", 2), listed("ab", 2)
    ('a, b and 2 more', 'a, b')
    """
    names = list(names)
    text = ", ".join(names[:most])
    if len(names) > most:
        return f"{text} and {shortened(names, most, noun)[-1]}"
    return text


def first_of(names: Sequence[str], noun: str = "group") -> str:
    """Name the first of some things, and count the others.

    Examples
    --------
    >>> first_of(["a"]), first_of(["a", "b"]), first_of("abc", "pair")
    ('a', 'a and 1 more group', 'a and 2 more pairs')
    """
    if len(names) == 1:
        return names[0]
    return f"{names[0]} and {counted(len(names) - 1, f'more {noun}')}"


def quoted(names: Iterable[Any], most: int) -> str:
    """List the first names in quotes, and say how many more there are.

    Examples
    --------
    >>> quoted(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    return listed(map(repr, names), most)


def either(names: Sequence[str]) -> str:
    """Write alternatives, all of them.

    Examples
    --------
    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    return " or ".join([", ".join(names[:-1]), names[-1]][len(names) == 1 :])


def joined(names: Sequence[str], noun: str = "groups") -> str:
    """Write names into a sentence; of more than six, five are named, others counted.

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
        shown = shortened(shown, _MOST_NAMES - 1, noun)
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def share_text(share: float | None) -> str:
    """Write a share in percent; NaN is not known.

    Examples
    --------
    >>> share_text(0.441), share_text(0.0123), share_text(float("nan"))
    ('44%', '1.2%', 'unknown')
    """
    return "unknown" if share is None or math.isnan(share) else f"{points(share)}%"


def estimate_text(estimate: Sequence[float]) -> str:
    """Write an estimate with its interval.

    Examples
    --------
    >>> estimate_text([0.25, 0.2, 0.3])
    '0.250 (0.200 to 0.300)'
    """
    value, low, high = estimate
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def points(share: float) -> str:
    """Write a share, or a difference of shares, in percentage points.

    Examples
    --------
    >>> points(0.204), points(-0.034), points(0.003), points(1.0), points(0.0997)
    ('20', '−3.4', '0.3', '100', '10')
    """
    size = 100 * abs(share)
    # Two digits that count: a share of .012 is no share of .01.
    digits = 2
    if size >= 9.95 or size == 0:
        digits = 0
    elif size >= 0.995:
        digits = 1
    number = f"{100 * share:.{digits}f}"
    if digits:
        number = number.rstrip("0").removesuffix(".")
    return number.replace("-", _MINUS)


def level_text(level: float) -> str:
    """Write a confidence level.

    Examples
    --------
    >>> level_text(0.95), level_text(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"


def p_value_text(value: float | None) -> str:
    """Write a p-value with three digits.

    Examples
    --------
    >>> p_value_text(0.0421), p_value_text(0.00001), p_value_text(None)
    ('0.042', 'below 0.001', 'unknown')
    """
    if value is None or math.isnan(value):
        return "unknown"
    if value < 0.001:
        # Further digits would claim more than a large-sample test can tell.
        return "below 0.001"
    return f"{value:.3f}"


def pairs_text(values: Mapping[str, Any]) -> str:
    """Write names and values in one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def printable(text: str) -> str:
    r"""Write out the characters of a text that nobody sees.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The text with control characters, marks that turn the direction of writing, and
        halves of surrogate pairs as escapes; spaces of all kinds stay.

    Examples
    --------
    >>> printable("a\x00b"), printable("größe\u202e")
    ('a\\x00b', 'größe\\u202e')
    """
    if text.isprintable():
        return text
    characters = []
    for character in text:
        is_space = unicodedata.category(character) == "Zs"
        if not character.isprintable() and not is_space:
            character = character.encode("unicode_escape").decode()
        characters.append(character)
    return "".join(characters)


def group_name(group: Hashable, columns: Sequence[str] | None = None) -> str:
    """Return the text that stands for a group on pages and in messages.

    Different texts, and different combinations of texts, have different names. The
    number 1 and the text "1" have the same name: see `unique_names`.

    Parameters
    ----------
    group : value, or tuple of values
    columns : sequence of str, default=None
        Names of the columns that a combination of values is of.

    Returns
    -------
    str
        Printable text. A value is quoted if it has control characters or spaces that
        nobody sees, and within a combination if it could be taken for two values.

    Examples
    --------
    >>> group_name(("x", True)), group_name(("a, b", "c")), group_name(("a", "b, c"))
    ('x, True', "'a, b', c", "a, 'b, c'")
    >>> group_name((1, 2), ["Race", "Sex"])
    'Race 1 · Sex 2'
    """
    if not isinstance(group, tuple):
        return _seen(str(group))
    between = " · " if columns is not None else ", "
    parts = []
    for value in group:
        text = str(value)
        if between in text or text.startswith(_QUOTES):
            parts.append(repr(text))
        else:
            parts.append(_seen(text))
    return _combined(parts, columns)


def unique_names(
    groups: Iterable[Hashable], columns: Sequence[str] | None = None
) -> dict[Hashable, str]:
    """Name groups that are shown together, each by a name of its own.

    Parameters
    ----------
    groups : iterable
        All groups that are shown together.
    columns : sequence of str, default=None
        Names of the columns that combinations of values are of.

    Returns
    -------
    dict from group to str
        `group_name` of each group. Where two names are equal, the values are written as
        in Python, which tells their types, and numbered if that does not help.

    Examples
    --------
    >>> unique_names([1, "1", "a"])
    {1: '1', '1': "'1'", 'a': 'a'}
    """
    names = {group: group_name(group, columns) for group in groups}
    occurrences = Counter(names.values())
    taken: set[str] = set()
    for group, name in names.items():
        if occurrences[name] > 1:
            name = _name_with_types(group, columns)
        names[group] = _numbered(name, taken)
        taken.add(names[group])
    return names


def short_names(
    names: Sequence[str], columns: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Name the columns that groups combine in the head, and not in every line.

    Returns
    -------
    head : str
    names : dict from str to str

    Examples
    --------
    >>> short_names(["Race 1 · Sex 2"], ["Race", "Sex"])
    ('Race · Sex', {'Race 1 · Sex 2': '1 · 2'})
    """
    short = {}
    for name in names:
        parts = name.split(" · ")
        if len(columns) < 2 or len(parts) != len(columns):
            return "group", dict(zip(names, names, strict=True))
        pairs = zip(parts, columns, strict=True)
        short[name] = " · ".join(part.removeprefix(f"{of} ") for part, of in pairs)
    return " · ".join(columns), short


def _combined(parts: Sequence[str], columns: Sequence[str] | None) -> str:
    """Write the values of a combination behind each other, or behind their columns."""
    if columns is None:
        return ", ".join(parts)
    pairs = zip(columns, parts, strict=True)
    return " · ".join(f"{_seen(str(column))} {part}" for column, part in pairs)


def _seen(text: str) -> str:
    """Return a text as it is, or quoted and escaped if it is not seen as it is."""
    has_unseen_spaces = not text or " ".join(text.split()) != text
    # So that no text looks like another one that was quoted.
    looks_quoted = text.startswith(_QUOTES) and text.endswith(text[0])
    if text.isprintable() and not has_unseen_spaces and not looks_quoted:
        return text
    return repr(text)


def _name_with_types(group: Hashable, columns: Sequence[str] | None) -> str:
    """Write the values of a group as in Python, text in quotes."""
    if not isinstance(group, tuple):
        return _printable_repr(group)
    return _combined([_printable_repr(value) for value in group], columns)


def _printable_repr(value: Any) -> str:
    """Return the repr of a value, without control characters."""
    # The repr of an unknown type may be anything.
    text = repr(value)
    return text if text.isprintable() else repr(text)


def _numbered(name: str, taken: set[str]) -> str:
    """Append the first number that makes a name differ from those that are taken."""
    free = name
    number = 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
