"""JSON that cape reads again: sealed by a hash, so that no damage goes unnoticed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate

_MOST_CHARACTERS = 60


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


def nan_for_none(content: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `strict_json` for fields that are numbers, unknown ones among them."""
    return {
        name: math.nan if value is None else value for name, value in content.items()
    }


def seal(state: Mapping[str, Any], number: int) -> str:
    """Write a state as JSON text with a format number and a hash.

    Examples
    --------
    >>> from cape.base._json_fields import seal, unseal
    >>> unseal(seal({"rows": 3}, 1), "Thing.to_json", 1)
    {'rows': 3}
    """
    text = _as_text(state, allow_nan=False)
    # As json.dumps would, but a large state is written once.
    return f'{{"format": {number}, "sha256": "{_hash(text)}", "state": {text}}}'


def unseal(
    text: str, writer: str, number: int, fingerprint: str | None = None
) -> dict[str, Any]:
    """Read what `seal` wrote, and check that nobody has changed it.

    Parameters
    ----------
    text : str
    writer : str
        Who writes this format, for the error.
    number : int
        The format that this version reads.
    fingerprint : str, default=None
        That of the model that the state must be of.

    Returns
    -------
    dict
    """
    try:
        content = json.loads(text)
        found = content.get("format")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ParameterError(
            "text",
            f"must be JSON that {writer} wrote, got {str(text)[:_MOST_CHARACTERS]!r}.",
        ) from error
    if type(found) is not int or found != number:
        raise ParameterError(
            "text",
            f"must have the format {number} of {writer}, got format {found!r:.60}: it "
            "was written by another version of cape.",
        )
    state = content.get("state")
    if content.get("sha256") != _hash(_as_text(state)):
        raise ParameterError(
            "text",
            f"must be as {writer} wrote it, got text that was changed or damaged "
            "since.",
        )
    if fingerprint is not None and fingerprint != state["fingerprint"]:
        raise ParameterError(
            "clf",
            f"must be the model of {writer} (fingerprint {state['fingerprint'][:12]}), "
            f"got {fingerprint[:12]}.",
        )
    return state


def _as_text(state: Any, allow_nan: bool = True) -> str:
    """Write a state in one way, whatever the order of its fields."""
    return json.dumps(state, sort_keys=True, allow_nan=allow_nan)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
