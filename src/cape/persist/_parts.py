"""Walking through all objects that a model is made of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["parts_of"]

_SIMPLE = (str, bytes, int, float, type(None), type, ModuleType)
"""Types of values that have no parts; they are not walked over either.

A spline of scipy 1.18 holds a module. No file can hold one: the spline finds it anew.
"""


def parts_of(thing: Any) -> Iterator[Any]:
    """Walk over an object and all objects within it, each once.

    Parameters
    ----------
    thing : object
        A model, or a list or dict of models.

    Yields
    ------
    object
        The object itself, then the values of its attributes, items and elements, and
        theirs. Numbers, texts, types and modules are left out.

    Examples
    --------
    >>> from cape.persist._parts import parts_of
    >>> list(parts_of([{"a": (1, 2)}]))
    [[{'a': (1, 2)}], {'a': (1, 2)}, (1, 2)]
    """
    # By identity, since models can refer to the same object twice, or to themselves.
    visited: set[int] = set()
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if id(part) in visited or isinstance(part, _SIMPLE):
            continue
        visited.add(id(part))
        yield part
        waiting.extend(_children(part))


def _children(part: Any) -> list[Any]:
    """List the objects that an object holds directly."""
    children: list[Any] = []
    if isinstance(part, dict):
        children.extend(part.values())
    if isinstance(part, (list, tuple, set)):
        children.extend(part)
    # Gradient boosting keeps its trees in an array of objects.
    if isinstance(part, np.ndarray) and part.dtype == object:
        children.extend(part.ravel().tolist())
    if isinstance(part, partial):
        children.extend([part.func, part.args, part.keywords])
    # Not in place of the items: an object can be a dict and have attributes too.
    children.extend(getattr(part, "__dict__", {}).values())
    return children
