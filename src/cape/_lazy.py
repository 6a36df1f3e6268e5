"""Public names that are imported when they are first used.

scikit-learn takes a second or two to import. What does not need it, such as the help of
the command line or a note on a file that exists already, should not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name, for the error.
    homes : mapping from str to str
        The module of each public name.

    Returns
    -------
    callable

    Examples
    --------
    >>> get = lazily("cape", {"Evidence": "cape.evidence"})
    >>> get("Evidence").__name__
    'Evidence'
    >>> get("evidences")
    Traceback (most recent call last):
    AttributeError: module 'cape' has no attribute 'evidences'
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return get
