"""Text that people see: what is invisible in a name is written out."""

from __future__ import annotations

import unicodedata

__all__ = ["printable"]


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
