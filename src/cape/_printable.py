"""Names and numbers where people read them."""

from __future__ import annotations

import math
import unicodedata

__all__ = ["p_value_text", "printable"]


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
