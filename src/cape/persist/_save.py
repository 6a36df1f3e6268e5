"""Save a model, and load it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cape._extras import require_extra
from cape._newfile import check_free
from cape._validation import check_fitted_cape
from cape.classifier import CapeClassifier
from cape.persist._container import read_parts, write_parts
from cape.persist._damage import naming
from cape.persist._header import (
    header_as_json,
    make_header,
    parse_header,
    warn_of_other_versions,
)
from cape.persist._skops import dump_model, load_model

__all__ = ["load", "save"]


def save(
    clf: CapeClassifier,
    path: str | Path,
    *,
    details: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    trusted: Iterable[str] = (),
) -> Path:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model.
    path : str or Path
        The file to write.
    details : mapping, default=None
        Anything else that the header shall hold, for the caller to read again with
        `read_header`. JSON must be able to hold it.
    overwrite : bool, default=False
        Whether to replace a file that exists.
    trusted : iterable of str, default=()
        Full names of types that the file may hold besides those in `TRUSTED`. `load`
        needs them too.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model holds a type that is not trusted or that skops cannot save, or if
        JSON cannot hold ``details``.
    FileExistsError
        If the file exists and ``overwrite`` is False.

    Examples
    --------
    >>> from cape.persist import load, read_header, save
    >>> path = save(clf, folder / "model.cape", details={"label": "y"})
    >>> load(path).fingerprint_ == clf.fingerprint_
    True
    >>> read_header(path)["details"]
    {'label': 'y'}
    """
    require_extra("app", "skops", what="cape.persist")
    check_fitted_cape(clf)
    # Before the work, which may take long; `write_parts` checks again.
    path = check_free(path, overwrite=overwrite)
    model = dump_model(clf, trusted)
    header = make_header(clf, _checksum(model), details)
    write_parts(path, header_as_json(header), model, overwrite=overwrite)
    return path


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> CapeClassifier:
    """Read a model that `save` wrote.

    A warning names the packages whose versions differ from those with which the model
    was saved.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : iterable of str, default=()
        Full names of types that the file may hold besides those in `TRUSTED`. Name a
        type only if you know that its code does no harm.

    Returns
    -------
    CapeClassifier
        The model, as it was saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is cut short or altered, if it is not a model file of cape, or if it
        holds a type that is not trusted.

    Examples
    --------
    >>> from cape.persist import load
    >>> load("nowhere.cape")
    Traceback (most recent call last):
      ...
    FileNotFoundError: path must be a model file, got 'nowhere.cape', which does not
    exist.
    """
    require_extra("app", "skops", what="cape.persist")
    parts = read_parts(path)
    header = parse_header(parts.header, path)
    # skops need not cope with damaged bytes.
    if _checksum(parts.model) != header["sha256"]:
        raise ValueError(
            f"path must be a whole model file, got {str(path)!r}, whose content was "
            "altered or damaged."
        )
    warn_of_other_versions(header, path)
    clf = load_model(parts.model, path, trusted)
    # The checksum says that the model is whole, this that the header is its own.
    with naming(path):
        fingerprints = {clf.fingerprint_, clf._compute_fingerprint()}
    if fingerprints != {header["fingerprint"]}:
        raise ValueError(
            f"path must be a whole model file, got {str(path)!r}, whose header has the "
            "fingerprint of another model."
        )
    return clf


def _checksum(model: bytes) -> str:
    """SHA-256 of the part that holds the model; the header carries it."""
    return hashlib.sha256(model).hexdigest()
