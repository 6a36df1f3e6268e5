"""Remarks for the user that are no errors, such as "two columns are not used"."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

# What encoders say about levels that training did not have, and what numpy says about
# code of other packages. It is normal in new data, and a user can do nothing about it.
_IGNORED_WARNINGS = (
    "unknown categories",
    "Setting the shape attribute",
    "will be encoded as all zeros",
)


class Note(NamedTuple):
    """A remark: a code, and the numbers and names that belong to it."""

    code: str
    values: dict[str, Any]


class Notes(list[Note]):
    """Remarks in the order in which they were made, each of them once.

    A file is read in parts, and the same remark would come up for each part. Functions
    of this room take a `Notes` and add their remarks with `say`; the command line
    prints them on the error stream when the command is done.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.say("columns_not_used", columns=["a"])
    >>> notes.say("columns_not_used", columns=["a"])
    >>> list(notes)
    [Note(code='columns_not_used', values={'columns': ['a']})]
    """

    def say(self, code: str, **values: Any) -> None:
        """Add a remark unless it was made before.

        Parameters
        ----------
        code : str
            What is remarked.
        **values
            Numbers and names that belong to it.
        """
        note = Note(code, values)
        if note not in self:
            self.append(note)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Turn the warnings that are issued in a ``with`` block into remarks.

        Warnings for developers (deprecations) and the chatter of encoders about
        unknown levels are dropped.

        Examples
        --------
        >>> notes = Notes()
        >>> with notes.listening():
        ...     warnings.warn("few rows in group 'a'.")
        >>> [note.values["text"] for note in notes]
        ["few rows in group 'a'."]
        """
        with warnings.catch_warnings(record=True) as caught:
            # By default Python shows a warning once per place and process; a second
            # file in the same process would get no note.
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
        for warning in caught:
            message = " ".join(str(warning.message).split())
            if not any(ignored in message for ignored in _IGNORED_WARNINGS):
                self.say("warning", text=message)
