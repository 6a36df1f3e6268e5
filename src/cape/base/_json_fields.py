"""Read the fields of JSON, with errors that name the field."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate

_MOST_CHARACTERS = 60
_END_OF_INT64 = 1 << 63


class Fields:
    """An object of JSON, whose fields are checked as they are read.

    Parameters
    ----------
    content : object
        What JSON held at this place. It must be a mapping.
    path : str, default=""
        Where it stands, for errors.

    Examples
    --------
    >>> from cape.base._json_fields import Fields
    >>> fields = Fields({"rows": 3, "share": 0.5})
    >>> fields.whole("rows"), fields.number("share", 0, 1)
    (3, 0.5)
    >>> fields.whole("share")
    Traceback (most recent call last):
        ...
    ValueError: share must be a whole number of at least 0, got 0.5.
    """

    def __init__(self, content: Any, path: str = ""):
        if not isinstance(content, Mapping):
            where = path or "JSON"
            raise ValueError(f"{where} must be an object with fields, got {content!r}.")
        self._content = content
        self._path = path

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def check_known(self, names: Collection[str]) -> None:
        """Raise if there is a field of another name."""
        for name in self:
            if name not in names:
                raise ValueError(f"{self._where(name)} is not a known field.")

    def value(self, name: str) -> Any:
        """Return a field of any type."""
        if name not in self._content:
            raise ValueError(f"{self._where(name)} must be given, but is missing.")
        return self._content[name]

    def optional(self, name: str) -> Any:
        """Return a field of any type; None if it is not there."""
        return self._content.get(name)

    def text(self, name: str, accepted: tuple[str, ...] | None = None) -> str:
        """Return a text, one of those that are accepted."""
        value = self.value(name)
        if not isinstance(value, str):
            self.refuse(name, "a text", value)
        if accepted is not None and value not in accepted:
            self.refuse(name, f"one of {', '.join(map(repr, accepted))}", value)
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self.value(name)
        is_list = isinstance(value, list)
        if not is_list or not all(isinstance(text, str) for text in value):
            self.refuse(name, "a list of texts", value)
        return value

    def whole(self, name: str, least: int = 0) -> int:
        """Return a whole number that an int64 can hold."""
        value = self.value(name)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value < _END_OF_INT64:
            self.refuse(name, f"a whole number of at least {least}", value)
        return value

    def number(
        self,
        name: str,
        low: float = -np.inf,
        high: float = np.inf,
        *,
        may_be_unknown: bool = False,
    ) -> float:
        """Return a number between two ends; NaN for null, if it may be unknown."""
        value = self.value(name)
        if value is None and may_be_unknown:
            return float("nan")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # A comparison with NaN is False, so that NaN is refused.
        if not is_number or not low <= value <= high:
            self.refuse(name, f"a number from {low} to {high}", value)
        return float(value)

    def estimate(self, name: str, low: float, high: float) -> Estimate:
        """Return a number and its interval, whose ends may be unknown."""
        entry = self.fields(name)
        entry.check_known(Estimate._fields)
        value = entry.number("value", low, high)
        ends = [
            entry.number(end, low, high, may_be_unknown=True) for end in ("low", "high")
        ]
        return Estimate(value, *ends)

    def whole_numbers(
        self, name: str, *, length: int | None = None, least: int = 0
    ) -> np.ndarray:
        """Return a list of whole numbers as an array of int64."""
        value = self.value(name)
        wanted = f"whole numbers of at least {least}"
        if length is not None:
            wanted = f"{length} {wanted}"
        if not isinstance(value, list) or length not in (None, len(value)):
            self.refuse(name, f"a list of {wanted}", value)
        for number in value:
            is_whole = isinstance(number, int) and not isinstance(number, bool)
            if not is_whole or not least <= number < _END_OF_INT64:
                self.refuse(name, f"a list of {wanted}", number)
        return np.array(value, dtype=np.int64)

    def fields(self, name: str) -> Fields:
        """Return a field that is an object itself."""
        return Fields(self.value(name), self._where(name))

    def entries(self, name: str) -> Iterator[Fields]:
        """Yield the objects of a list."""
        value = self.value(name)
        if not isinstance(value, list):
            self.refuse(name, "a list", value)
        for place, entry in enumerate(value):
            yield Fields(entry, f"{self._where(name)}[{place}]")

    def refuse(self, name: str, wanted: str, got: Any) -> None:
        """Raise the error for a field that is not what it must be."""
        shown = repr(got)[:_MOST_CHARACTERS]
        raise ValueError(f"{self._where(name)} must be {wanted}, got {shown}.")

    def _where(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def strict_json(content: Any) -> Any:
    """Return what strict JSON can hold: null for NaN and infinity, which it lacks."""
    if isinstance(content, Estimate):
        return content.to_json()
    if isinstance(content, Mapping):
        return {name: strict_json(value) for name, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [strict_json(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def seal(state: dict[str, Any], number: int) -> str:
    """Write a state as JSON text with a format number and a hash."""
    content = {"format": number, "sha256": _hash(state), "state": state}
    return json.dumps(content, allow_nan=False)


def unseal(
    text: str, writer: str, number: int, fingerprint: str, what: str
) -> dict[str, Any]:
    """Read what `seal` wrote, and check that it is unchanged and of a model.

    Parameters
    ----------
    text, writer, number
        As in `read_format`.
    fingerprint : str
        That of the model.
    what : str
        What the state is of, for the error.

    Returns
    -------
    dict
    """
    content = read_format(text, writer, number)
    state = content.value("state")
    if content.text("sha256") != _hash(state):
        raise ValueError(
            f"text must be as {writer} wrote it, got text that was changed or damaged "
            "since."
        )
    if state["fingerprint"] != fingerprint:
        raise ParameterError(
            "clf",
            f"must be the model of the {what} (fingerprint "
            f"{state['fingerprint'][:12]}), got {fingerprint[:12]}.",
        )
    return state


def _hash(state: Any) -> str:
    """Hash a state, whatever the order of its fields."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def read_format(text: str, writer: str, number: int) -> Fields:
    """Read JSON text, and check its format number.

    Parameters
    ----------
    text : str
    writer : str
        Who writes this format, for the error.
    number : int
        The format that this version reads.

    Returns
    -------
    Fields
    """
    try:
        fields = Fields(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"text must be JSON that {writer} wrote, got "
            f"{str(text)[:_MOST_CHARACTERS]!r}."
        ) from error
    found = fields.optional("format")
    if isinstance(found, bool) or found != number:
        raise ValueError(
            f"text must have the format {number} of {writer}, got format {found!r}: it "
            "was written by another version of cape."
        )
    return fields
