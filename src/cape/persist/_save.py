"""Save a model, and load it.

skops writes the attributes of known types, not instructions to be run; `SchemaCheck`
compares what it wrote with the list of what may be built.
"""

from __future__ import annotations

import copy
import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from cape.base._io import check_free, new_file
from cape.base._packages import require_extra
from cape.base._validation import check_fitted_cape
from cape.classifier import CapeClassifier, FrozenCape
from cape.persist import _file
from cape.persist._packing import packed, unpack
from cape.persist._schema import SchemaCheck
from cape.rules._adaptation import Adaptation

_SCHEMA = "schema.json"

_ADAPTATION = "adaptation.json"
"""The part that a frozen model has besides."""

_VARIABLE = "CAPE_TRUSTED"
"""Environment variable with the types that every command and `load` trust."""


def save(
    clf: CapeClassifier | FrozenCape,
    path: str | Path,
    *,
    key: _file.Key = None,
    details: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    trusted: Iterable[str] = (),
) -> Path:
    """Write a fitted model to a file, completely or not at all.

    Parameters
    ----------
    clf : CapeClassifier or FrozenCape
        The fitted model. A frozen one is saved with its adaptation.
    path : str or Path
        The file to write.
    key : bytes, str or Path, default=None
        Secret that signs the file (HMAC-SHA256), or a Path: the file that holds it. The
        name of a file as text is refused. None takes the environment variable
        ``CAPE_KEY``; without that, the file is not signed.
    details : mapping, default=None
        Anything else to keep in the header, where `read_header` finds it. JSON must be
        able to hold it.
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
    adaptation = None
    if isinstance(clf, FrozenCape):
        adaptation = clf.adaptation
        clf = clf.estimator
    check_fitted_cape(clf)
    # Before the work, which may take long; `new_file` checks again.
    path = check_free(path, overwrite=overwrite)
    secret = _file.key_bytes(key)
    parts = {_file.HEADER: _file.make_header(clf, details), **_dump(clf, trusted)}
    if adaptation is not None:
        parts[_ADAPTATION] = adaptation.to_json().encode()
    content = _file.pack(parts, secret)
    with new_file(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)
    return path


def load(
    path: str | Path, *, key: _file.Key = None, trusted: Iterable[str] = ()
) -> Any:
    """Read a model that `save` wrote.

    A warning names the packages whose versions differ from those with which the model
    was saved.

    Parameters
    ----------
    path : str or Path
        The file.
    key : bytes, str or Path, default=None
        The secret with which the file was saved, or a Path: the file that holds it. A
        model file that is not signed, or signed with another key, is rejected. None
        takes the environment variable ``CAPE_KEY``; without that, signatures are not
        checked.
    trusted : iterable of str, default=()
        Full names of types that the file may hold in addition to those in `TRUSTED` and
        those in the environment variable ``CAPE_TRUSTED``, which are separated by
        commas. Name a type only if you know that its code does no harm.

    Returns
    -------
    CapeClassifier or FrozenCape
        The model, as it was saved; ``n_jobs`` is None in all of its parts.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is cut short or altered, if it is not a model file of cape, if it is
        not signed with the key, if it holds a type that is not trusted, or if the
        installed versions of scikit-learn and skrub cannot read it.

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
    trusted = {*trusted, *os.environ.get(_VARIABLE, "").split(",")} - {""}
    parts = _file.read_parts(path, key)
    header = _file.parse_header(parts, path)
    check = SchemaCheck(trusted)
    with _file.naming(path):
        check.read(json.loads(parts[_SCHEMA]))
    others = _file.other_versions(header)
    if check.unknown:
        versions = f" It was saved with {_file.in_words(others)}." if others else ""
        raise ValueError(
            f"path must hold trusted types only, got {str(path)!r} with "
            f"{', '.join(sorted(check.unknown))}. Nothing was loaded.{versions} "
            "If you know them to be harmless, name them in trusted, or in the "
            f"environment variable {_VARIABLE}, separated by commas."
        )
    there, here = others.get("skrub", ("", ""))
    same = there.split(".")[:2] == here.split(".")[:2]
    if not same and any(name.startswith("skrub.") for name in check.names):
        # Their attributes are renamed from one minor version to the next: they would be
        # built, and fail at the first row.
        cause = "the encoders of skrub are read by their own version alone"
        raise _file.of_other_versions(path, others, cause)
    if others:
        warnings.warn(
            f"{str(path)!r} was saved with {_file.in_words(others)}: predictions may "
            "differ, or fail.",
            stacklevel=2,
        )
    with _file.naming(path, others):
        clf = _build(parts, check.names.union(trusted))
        is_of_header = clf.fingerprint_ == header["fingerprint"]
    if not is_of_header:
        raise _file.not_a_model_file(
            path, "its header has the fingerprint of another model."
        )
    if _ADAPTATION in parts:
        with _file.naming(path):
            return clf.freeze(Adaptation.from_json(parts[_ADAPTATION].decode()))
    return clf


def _dump(clf: CapeClassifier, trusted: Iterable[str]) -> dict[str, bytes]:
    """Turn a fitted model into the parts of an archive of skops."""
    # A shallow copy, in which an attribute can be replaced. A group may be a tuple, and
    # skops does not save dicts with tuples for keys.
    plain = copy.copy(clf)
    plain.models_ = [clf.models_[group] for group in clf.groups_]
    try:
        with packed(plain) as plain.shared_:
            parts, schema = _as_skops(plain)
    except ImportError:
        # skops is an extra; its absence says nothing about the model.
        raise
    except Exception as error:
        raise ValueError(
            f"clf must be made of parts that skops can save, but: {error}"
        ) from error
    # Better refused now than when the file is all that is left of the model.
    check = SchemaCheck(trusted)
    check.read(schema)
    if check.unknown:
        raise ValueError(
            "clf must be made of trusted types to be saved, got "
            f"{', '.join(sorted(check.unknown))}. If you know them to be harmless, "
            "name them in trusted, here and in load."
        )
    return parts


def _as_skops(thing: Any) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Do as ``skops.io.dumps``, but do not indent the schema.

    The indentation takes most of the time and of the room of ``dumps``.
    """
    import skops
    from skops.io._utils import SaveContext, get_state

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        context = SaveContext(zip_file=archive)
        schema = get_state(thing, context)
        context.clear_memo()
        schema["protocol"] = context.protocol
        schema["_skops_version"] = skops.__version__
        parts = {_SCHEMA: json.dumps(schema).encode()}
        for name in archive.namelist():
            parts[name] = archive.read(name)
    return parts, schema


def _build(parts: dict[str, bytes], names: set[str]) -> CapeClassifier:
    """Build a model of types that have been checked."""
    import skops.io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with warnings.catch_warnings():
        # One for every part of the model; `load` warns of other versions once.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        # skops compares the types once more.
        clf = skops.io.loads(buffer.getvalue(), trusted=sorted(names))
    models = getattr(clf, "models_", None)
    if not isinstance(clf, CapeClassifier) or not isinstance(models, list):
        raise TypeError(
            f"it holds a {type(clf).__name__} and not a fitted CapeClassifier"
        )
    unpack(clf, clf.__dict__.pop("shared_"))
    clf.models_ = dict(zip(clf.groups_, clf.models_, strict=True))
    return clf
