"""What the user should know but need not act on, each thing said once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Notes"]

_NOISE = (
    "unknown categories",
    "Setting the shape attribute",
    "will be encoded as all zeros",
)


class Notes:
    """A list of remarks without repetition.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.say("column 'a' is ignored.")
    >>> notes.say("column 'a' is ignored.")
    >>> list(notes)
    ["column 'a' is ignored."]
    """

    def __init__(self) -> None:
        self._said: dict[str, None] = {}

    def say(self, remark: str) -> None:
        """Add a remark unless it is there."""
        self._said.setdefault(" ".join(remark.split()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Turn warnings into remarks, but for what encoders say of levels they have not seen."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
        for warning in caught:
            if not any(noise in str(warning.message) for noise in _NOISE):
                self.say(str(warning.message))
