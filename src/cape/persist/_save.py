"""Saving and loading a fitted model without pickle: loading a file never runs code that the file brings.

A file is a zip of two parts: ``header.json``, which anybody can read, and ``model.skops``, in the format of skops. Its
types are checked against `TRUSTED` before anything is built.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import platform
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import cape
from cape._groups import group_name
from cape._newfile import check_free, new_file
from cape._validation import check_is_fitted
from cape.classifier import CapeClassifier
from cape.persist._packing import packed, unpack
from cape.persist._trusted import TRUSTED, check_trees

__all__ = ["TRUSTED", "load", "read_header", "save"]

_FORMAT = "cape-model"
_FORMAT_VERSION = 1
_HEADER, _MODEL = "header.json", "model.skops"
_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skops", "skrub")
_MOST_HEADER_BYTES = 1 << 24


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
        Fitted.
    path : str or path
    details : mapping, default=None
        What the caller wants to find again in the header; must be JSON-able.
    overwrite : bool, default=False
        Whether to replace a file that is there.
    trusted : iterable of str, default=()
        Types beyond `TRUSTED`, by full name, that may be in the file; `load` must be given them too.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(400, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(clf, f"{folder}/model.cape", details={"label": "y"})
    ...     again = load(path)
    ...     read_header(path)["details"]
    {'label': 'y'}
    >>> again.fingerprint_ == clf.fingerprint_
    True
    """
    check_is_fitted(clf)
    path = check_free(path, overwrite=overwrite)
    model = _dump(clf, trusted)
    header = json.dumps(_header(clf, model, details), indent=1)
    _write(path, {_HEADER: header.encode(), _MODEL: model}, overwrite=overwrite)
    return path


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> CapeClassifier:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path
    trusted : iterable of str, default=()
        Types beyond `TRUSTED`, by full name. Give one only if you know that its code does no harm.

    Returns
    -------
    CapeClassifier

    Raises
    ------
    ValueError
        If the file is cut short, altered, no model of cape's, or holds a type that is not trusted.

    Examples
    --------
    >>> load("nowhere.cape")
    Traceback (most recent call last):
      ...
    FileNotFoundError: path must be a model file, got 'nowhere.cape', which does not exist.
    """
    header, model = _read(path)
    if hashlib.sha256(model).hexdigest() != header["sha256"]:
        raise ValueError(
            f"path must be a whole model file, got {str(path)!r}, whose content was altered or damaged."
        )
    _warn_of_other_versions(header, path)
    clf = _undump(model, path, trusted)
    if clf.fingerprint_ != header["fingerprint"]:
        raise ValueError(
            f"path must be a whole model file, got {str(path)!r}, whose fingerprint is not its model's."
        )
    return clf


def read_header(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself; nothing of the model is built.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict
        ``format``, ``format_version``, ``saved`` (time, UTC), ``versions`` of packages, ``columns``, ``groups``,
        ``classes``, ``settings``, ``fingerprint``, ``sha256`` of the model and the caller's ``details``.

    Examples
    --------
    >>> read_header(__file__)
    Traceback (most recent call last):
      ...
    ValueError: path must be a model file written by cape, got ...: it is no zip archive or is cut short.
    """
    return _read(path)[0]


def _dump(clf: CapeClassifier, trusted: Iterable[str]) -> bytes:
    import skops.io

    plain = copy.copy(clf)
    plain.models_ = [
        clf.models_[group] for group in clf.groups_
    ]  # skops takes no tuple for a key
    try:
        with packed(plain):
            model = _as_skops(plain)
    except Exception as error:
        raise ValueError(
            f"clf must be made of parts that skops can save, but: {error}"
        ) from error
    unknown = sorted(
        set(skops.io.get_untrusted_types(data=model)) - TRUSTED - set(trusted)
    )
    if unknown:
        raise ValueError(
            f"clf must be made of trusted types to be saved, got {', '.join(unknown)}. "
            "If you know them to be harmless, name them in trusted, here and in load."
        )
    return model


def _as_skops(thing: Any) -> bytes:
    """As ``skops.io.dumps``, but without indenting the schema, which takes most of its time and room."""
    import skops
    from skops.io._utils import SaveContext, get_state

    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        context = SaveContext(zip_file=archive)
        state = get_state(thing, context)
        context.clear_memo()
        state |= {"protocol": context.protocol, "_skops_version": skops.__version__}
        archive.writestr("schema.json", json.dumps(state))
    return buffer.getvalue()


def _undump(model: bytes, path: Any, trusted: Iterable[str]) -> CapeClassifier:
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    allowed = TRUSTED | set(trusted)
    try:
        unknown = sorted(set(skops.io.get_untrusted_types(data=model)) - allowed)
        if unknown:
            raise ValueError(
                f"path must hold trusted types only, got {str(path)!r} with {', '.join(unknown)}. Nothing was loaded. "
                "If you know them to be harmless, name them in trusted."
            )
        clf = skops.io.loads(model, trusted=sorted(allowed))
    except UntrustedTypesFoundException as error:
        raise ValueError(
            f"path must hold trusted types only, got {str(path)!r}: {error}"
        ) from error
    except (
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        zipfile.BadZipFile,
        ImportError,
    ) as error:
        raise ValueError(
            f"path must be a model file written by cape, got {str(path)!r}: {error!r}"
        ) from error
    if not isinstance(clf, CapeClassifier) or not isinstance(
        getattr(clf, "models_", None), list
    ):
        raise ValueError(
            f"path must hold a fitted CapeClassifier, got {str(path)!r} with a {type(clf).__name__}."
        )
    unpack(clf)
    check_trees(clf)
    clf.models_ = dict(zip(clf.groups_, clf.models_, strict=True))
    return clf


def _header(
    clf: CapeClassifier, model: bytes, details: Mapping[str, Any] | None
) -> dict[str, Any]:
    header = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "columns": list(
            map(str, getattr(clf, "feature_names_in_", range(clf.n_features_in_)))
        ),
        "groups": [group_name(group) for group in clf.groups_],
        "classes": list(map(_plain, clf.classes_.tolist())),
        "settings": {
            name: _plain(value) for name, value in clf.get_params(deep=False).items()
        },
        "fingerprint": clf.fingerprint_,
        "sha256": hashlib.sha256(model).hexdigest(),
        "details": {} if details is None else dict(details),
    }
    try:
        json.dumps(header["details"], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"details must be a mapping that JSON can hold, got {details!r}: {error}"
        ) from error
    return header


def _plain(value: Any) -> Any:
    """A value as JSON can hold it, or its text."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return (
        value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "cape": cape.__version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _warn_of_other_versions(header: dict[str, Any], path: Any) -> None:
    here = _versions()
    other = [
        f"{package} {there} (here {here.get(package, 'missing')})"
        for package, there in header["versions"].items()
        if package not in ("python", "skops") and here.get(package) != there
    ]
    if other:
        warnings.warn(
            f"{str(path)!r} was saved with {', '.join(other)}: predictions may differ, or fail.",
            stacklevel=3,
        )


def _write(path: Path, parts: Mapping[str, bytes], *, overwrite: bool) -> None:
    with (
        new_file(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        for part, content in parts.items():
            archive.writestr(part, content)


def _read(path: Any) -> tuple[dict[str, Any], bytes]:
    """The header, checked, and the bytes of the model."""
    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "does not exist"
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which {what}."
        )
    refused = f"path must be a model file written by cape, got {str(path)!r}: "
    try:
        with zipfile.ZipFile(io.BytesIO(Path(path).read_bytes())) as archive:
            if sorted(archive.namelist()) != sorted([_HEADER, _MODEL]):
                raise ValueError(
                    f"{refused}it holds other parts than {_HEADER} and {_MODEL}."
                )
            if archive.getinfo(_HEADER).file_size > _MOST_HEADER_BYTES:
                raise ValueError(f"{refused}its header is too long.")
            header, model = json.loads(archive.read(_HEADER)), archive.read(_MODEL)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{refused}it is no zip archive or is cut short.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{refused}its header is no JSON.") from error
    needed = {"format", "format_version", "versions", "fingerprint", "sha256"}
    if (
        not isinstance(header, dict)
        or header.get("format") != _FORMAT
        or not needed <= set(header)
    ):
        raise ValueError(f"{refused}its header is of another kind.")
    if header["format_version"] != _FORMAT_VERSION:
        raise ValueError(
            f"{refused}its format is version {header['format_version']!r}, this cape reads {_FORMAT_VERSION}."
        )
    return header, model
