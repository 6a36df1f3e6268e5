"""The header of a model file: what it holds, and with which versions it was made.

The header is JSON, so that anybody can read it without cape and without building the
model. It carries a format number; files of another format are refused.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._packages import package_versions
from cape.persist._file import Key, not_a_model_file, read_parts

if TYPE_CHECKING:
    from cape.classifier import CapeClassifier

HEADER = "header.json"

_FORMAT = "cape-model"
_FORMAT_VERSION = 3
_ENTRIES = {
    "saved": str,
    "versions": dict,
    "columns": list,
    "groups": list,
    "classes": list,
    "settings": dict,
    "fingerprint": str,
    "details": dict,
}
"""The entries of a header besides its format, and their types."""

_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skops", "skrub")
_HARMLESS = ("python", "skops")
"""Packages whose version does not change what a loaded model predicts."""


def make_header(clf: CapeClassifier, details: Mapping[str, Any] | None) -> bytes:
    """Describe a fitted model in JSON, as `read_header` documents it.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model.
    details : mapping or None
        Further entries of the caller, which JSON must be able to hold.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If JSON cannot hold ``details``.
    """
    # Imported here: to read a header takes no scikit-learn, which groups need.
    from cape._groups import unique_names

    settings = {}
    for name, value in clf.get_params(deep=False).items():
        # How many processors there are is no matter of the model.
        if name != "n_jobs":
            settings[name] = _as_json_value(value)
    columns = getattr(clf, "feature_names_in_", range(clf.n_features_in_))
    header = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": package_versions(_PACKAGES),
        "columns": [str(name) for name in columns],
        "groups": list(unique_names(clf.groups_).values()),
        "classes": _as_json_value(clf.classes_.tolist()),
        "settings": settings,
        "fingerprint": clf.fingerprint_,
        "details": dict(details or {}),
    }
    # Without NaN, which Python writes but other readers of JSON refuse.
    try:
        return json.dumps(header, indent=1, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"details must be a mapping that JSON can hold, got {details!r}: {error}"
        ) from error


def read_header(path: str | Path, *, key: Key = None) -> dict[str, Any]:
    """Read what a model file says about itself, without building the model.

    Parameters
    ----------
    path : str or Path
        The file.
    key : bytes, str or Path, default=None
        As for `load`.

    Returns
    -------
    dict
        ``format``, ``format_version``, ``saved`` (time, UTC), ``versions`` of packages,
        ``columns``, ``groups``, ``classes``, ``settings``, ``fingerprint``, and the
        ``details`` that were given to `save`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, if it is not a model file of cape, or if it is not
        signed with the key.

    Examples
    --------
    >>> from cape.persist import read_header, save
    >>> header = read_header(save(clf, folder / "model.cape"))
    >>> header["columns"], header["groups"]
    (['U', 'V'], ['0', '1'])
    """
    return parse_header(read_parts(path, key, only=HEADER), path)


def parse_header(parts: dict[str, bytes], path: str | Path) -> dict[str, Any]:
    """Read a header, and check that it is of the format that this cape reads.

    Parameters
    ----------
    parts : dict from str to bytes
        The parts of the file.
    path : str or Path
        The file, for the error.

    Returns
    -------
    dict
        The header.

    Raises
    ------
    ValueError
        If it is not a header of a model file, or of another format version.
    """
    try:
        header = json.loads(parts[HEADER])
    # Brackets nested a thousand times are a RecursionError.
    except (KeyError, ValueError, RecursionError) as error:
        raise not_a_model_file(path, "its header is not JSON.") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise not_a_model_file(path, "its header is of another kind.")
    # Before the other entries, since another format may have others.
    version = header.get("format_version")
    # True is no number of a format, though Python takes it for 1.
    if type(version) is not int or version != _FORMAT_VERSION:
        raise not_a_model_file(
            path,
            f"its format is version {version!r}, this cape reads {_FORMAT_VERSION}.",
        )
    for name, type_ in _ENTRIES.items():
        if not isinstance(header.get(name), type_):
            raise not_a_model_file(
                path, f"{name} in its header must be a {type_.__name__}."
            )
    return header


def warn_of_other_versions(header: dict[str, Any], path: str | Path) -> None:
    """Warn if the model was saved with other versions of packages than are installed.

    The warning points at the caller of the function that calls this one.
    """
    installed = package_versions(_PACKAGES)
    differences = []
    for package, version in header["versions"].items():
        here = installed.get(package, "missing")
        if package not in _HARMLESS and here != version:
            differences.append(f"{package} {version} (here {here})")
    if differences:
        warnings.warn(
            f"{str(path)!r} was saved with {', '.join(differences)}: predictions may "
            "differ, or fail.",
            stacklevel=3,
        )


def _as_json_value(value: Any) -> Any:
    """Return a value in a form that JSON can hold; for any other type, its text."""
    if isinstance(value, (list, tuple)):
        return [_as_json_value(part) for part in value]
    # Classes and settings are often scalars of numpy, of which JSON holds none.
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return str(value)
