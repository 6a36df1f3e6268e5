"""The bytes of a model file: a zip archive whose last bytes are a hash of all others.

The comment of the archive holds a SHA-256 of every byte before it and, if the file was
saved with a key, an HMAC of the same bytes. Both are compared before the archive is
opened. So no damage goes unnoticed, and a person who does not have the key can neither
alter a file nor make one.

The first part is the header: what the file holds, and with which versions it was made.
It is JSON, so that anybody can read it without cape and without building the model. It
carries a format number; files of another format are refused.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cape.base._errors import ParameterError
from cape.base._packages import package_versions

if TYPE_CHECKING:
    from cape.classifier import CapeClassifier

Key = bytes | str | Path | None

_SIGNED = b"cape hmac-sha256 "
_SHORT = 8
_HASHED = b"cape sha256 "
_DIGITS = 64

_MOST_RATIO = 100
"""Models shrink to a half or a tenth; a part of equal numbers to a thousandth."""

_ALWAYS_ALLOWED = 1 << 26
"""64 MB: a small model may shrink as far as it likes."""

_MOST_VALUES = 4_000_000
"""Values of a part that is JSON. Each becomes an object of Python; a model of 500
groups has 800,000."""

HEADER = "header.json"

_FORMAT = "cape-model"
_FORMAT_VERSION = 5
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


def not_a_model_file(path: str | Path, reason: str) -> ValueError:
    """Make the error for a file that cape did not write."""
    return ParameterError(
        "path", f"must be a model file written by cape, got {str(path)!r}: {reason}"
    )


@contextmanager
def naming(
    path: str | Path, others: Mapping[str, tuple[str, str]] | None = None
) -> Iterator[None]:
    """Turn every error about the content of a file into one that names the file.

    The bytes go through zipfile, json, numpy, scipy, skops and scikit-learn, and each
    of them has its own errors for bytes that it did not write. Where the file was saved
    with other versions (`other_versions`), they are the cause.

    Examples
    --------
    >>> from cape.persist._file import naming
    >>> with naming("model.cape"):
    ...     {}["missing"]
    Traceback (most recent call last):
    cape.base._errors.ParameterError: path must be a model file written by cape, got
    'model.cape': it is damaged or was altered (KeyError: 'missing').
    """
    try:
        yield
    except Exception as error:
        # The message may be long, if it quotes the content.
        cause = f"{type(error).__name__}: {error}"
        if len(cause) > 200:
            cause = f"{cause[:200]} ..."
        if others:
            raise of_other_versions(path, others, cause) from error
        raise not_a_model_file(
            path, f"it is damaged or was altered ({cause})."
        ) from error


def of_other_versions(
    path: str | Path, others: Mapping[str, tuple[str, str]], cause: str
) -> ValueError:
    """Make the error for a file that the installed versions cannot read."""
    there = [f"{package}=={version}" for package, (version, _) in others.items()]
    return ParameterError(
        "path",
        "must be a model that the installed versions can read, got "
        f"{str(path)!r}, saved with {in_words(others)} ({cause}). Train the model "
        f"again, or install what it was saved with: pip install {' '.join(there)}.",
    )


def in_words(others: Mapping[str, tuple[str, str]]) -> str:
    """List the versions of a file, and those that are installed."""
    return ", ".join(
        f"{package} {version} (here {here})"
        for package, (version, here) in others.items()
    )


def key_bytes(key: Key) -> bytes | None:
    """Return the key that signs files, or None if there is none.

    Parameters
    ----------
    key : bytes, str, Path or None
        The key, or a Path: the file that holds it. White space at its ends does not
        count. None takes the environment variable ``CAPE_KEY``.

    Returns
    -------
    bytes or None

    Raises
    ------
    ValueError
        If the key is empty, or a text that names a file.

    Examples
    --------
    >>> from cape.persist._file import key_bytes
    >>> key_bytes(" a secret ")
    b'a secret'
    """
    if key is None:
        key = os.environ.get("CAPE_KEY")
        if key is None:
            return None
    if isinstance(key, Path):
        key = key.read_bytes()
    if isinstance(key, str):
        if os.path.isfile(os.path.expanduser(key)):
            # The name of a file is no secret, and would have signed.
            raise ValueError(
                f"key must be the secret itself, got the name of a file, {key!r}. To "
                f"read the secret from it, pass pathlib.Path({key!r}), or --key-file "
                "to a command."
            )
        # As the system gave it: a variable may hold bytes that are no text.
        key = os.fsencode(key)
    key = key.strip()
    if not key:
        raise ValueError("key must not be empty: it signs model files.")
    if len(key) < _SHORT:
        text = f"key has only {len(key)} characters and can be guessed: use 16 or more."
        warnings.warn(text, stacklevel=3)
    return key


def pack(parts: dict[str, bytes], key: bytes | None) -> bytes:
    """Make the bytes of a model file from its parts.

    Parameters
    ----------
    parts : dict from str to bytes
        What the archive holds.
    key : bytes or None
        Signs the file, unless it is None.

    Returns
    -------
    bytes
    """
    comment = _HASHED + bytes(_DIGITS)
    if key is not None:
        comment = _SIGNED + bytes(_DIGITS) + comment
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = comment
        for name, content in parts.items():
            archive.writestr(name, content)
    content = buffer.getvalue()[: -len(comment)]
    if key is not None:
        content += _SIGNED
        content += _signature(content, key)
    content += _HASHED
    return content + _hash(content)


def read_parts(path: str | Path, key: Key, only: str | None = None) -> dict[str, bytes]:
    """Read the parts of a model file, after its hash and its signature.

    Parameters
    ----------
    path : str or Path
        The file.
    key : bytes, str, Path or None
        See `key_bytes`. With a key, a file that is not signed with it is refused.
    only : str, optional
        The part to read; None reads all.

    Returns
    -------
    dict from str to bytes

    Raises
    ------
    FileNotFoundError
        If the path is a folder, a pipe or a device, or does not exist.
    ValueError
        If a byte of the file was altered, if it is not signed with the key, or if it
        unfolds to more than a hundred times its size.
    """
    secret = key_bytes(key)
    file = Path(path)
    # To open a pipe would wait for its writer.
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "is a pipe or a device"
        if not file.exists():
            kind = "does not exist"
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which {kind}."
        )
    content = file.read_bytes()
    signed = content[: -len(_HASHED) - _DIGITS]
    if content[len(signed) :] != _HASHED + _hash(content[:-_DIGITS]):
        raise not_a_model_file(
            path, "it is damaged or cut short, or of another kind or version."
        )
    if secret is not None and not _is_signed(signed, secret):
        raise not_a_model_file(path, "it is not signed with the key.")
    with naming(path):
        return _unfold(content, len(content), only)


def _is_signed(content: bytes, key: bytes) -> bool:
    """Whether bytes end with their signature by a key."""
    signature = content[-_DIGITS:]
    content = content[:-_DIGITS]
    is_equal = hmac.compare_digest(signature, _signature(content, key))
    return is_equal and content.endswith(_SIGNED)


def _signature(content: bytes, key: bytes) -> bytes:
    return hmac.digest(key, content, "sha256").hex().encode()


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _unfold(content: bytes, n_bytes: int, only: str | None = None) -> dict[str, bytes]:
    """Unpack an archive, but never more of a part than it claims to have.

    Parameters
    ----------
    content : bytes
        The archive.
    n_bytes : int
        The size of the file, by which is judged how much it may unfold to.
    only : str, optional
        The part to read; None reads all, and checks arrays.

    Returns
    -------
    dict from str to bytes
    """
    parts = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        claimed = sum(info.file_size for info in infos)
        if claimed > max(_ALWAYS_ALLOWED, _MOST_RATIO * n_bytes):
            raise ValueError(f"it unpacks to {claimed:,} bytes, too many for its size")
        if len({info.filename for info in infos}) < len(infos):
            raise ValueError("a part occurs twice")
        for info in infos:
            if only in (None, info.filename):
                with archive.open(info) as file:
                    # With no number, zipfile unpacks more than a part claims.
                    part = file.read(info.file_size + 1)
                if len(part) != info.file_size:
                    raise ValueError(f"{info.filename} is not the size it claims to be")
                # Brackets open values, and commas part them.
                n_values = sum(map(part.count, (b"[", b"{", b",")))
                if info.filename.endswith(".json") and n_values > _MOST_VALUES:
                    raise ValueError(
                        f"{info.filename} holds more than {_MOST_VALUES:,} values"
                    )
                parts[info.filename] = part
    if only is None:
        for name, part in parts.items():
            parts[name] = _checked(name, part, n_bytes)
    return parts


def _checked(name: str, part: bytes, n_bytes: int) -> bytes:
    """Check that an array has the size that it claims; numpy makes room for it first.

    A sparse matrix is an archive of arrays, and is returned unfolded.
    """
    if name.endswith(".npz"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for inner, content in _unfold(part, n_bytes).items():
                archive.writestr(inner, content)
        return buffer.getvalue()
    if name.endswith(".npy"):
        stream = io.BytesIO(part)
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            reader = np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(stream)
        n_numbers = math.prod(shape)
        length = len(part) - stream.tell()
        if n_numbers * dtype.itemsize != length or n_numbers > max(length, 1):
            raise ValueError(f"the array {name} is not the size it claims to be")
    return part


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
    from cape.base._groups import unique_names

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
    """Read the header of a model file, without building the model.

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
            f"its format is version {version!r}, this cape reads {_FORMAT_VERSION}. "
            "Train the model again, or use the cape that wrote it.",
        )
    for name, type_ in _ENTRIES.items():
        if not isinstance(header.get(name), type_):
            raise not_a_model_file(
                path, f"{name} in its header must be a {type_.__name__}."
            )
    return header


def other_versions(header: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Find the packages whose version may matter and is not that of the file.

    Returns
    -------
    dict from str to tuple of str
        For each such package, the version of the file and the one that is installed.
    """
    installed = package_versions(_PACKAGES)
    others = {}
    for package, version in header["versions"].items():
        here = installed.get(package, "missing")
        if package not in _HARMLESS and here != version:
            others[package] = (str(version), here)
    return others


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
