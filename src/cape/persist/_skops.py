"""A model as bytes in the format of skops, and back.

skops writes the attributes of known types, not instructions to be run. The names of all
types in a file are compared with `TRUSTED` before anything is built.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cape.classifier import CapeClassifier
from cape.persist._damage import Unsound, naming
from cape.persist._inflate import inflate
from cape.persist._packing import packed, unpack
from cape.persist._sound import check_sound, unchecked_types
from cape.persist._trusted import TRUSTED

__all__ = ["dump_model", "load_model"]


def dump_model(clf: CapeClassifier, trusted: Iterable[str]) -> bytes:
    """Turn a fitted model into bytes.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model; it is the same afterwards.
    trusted : iterable of str
        Full names of types that are accepted besides those in `TRUSTED`.

    Returns
    -------
    bytes
        The model in the format of skops.

    Raises
    ------
    ValueError
        If skops cannot save a part of the model, or if a type is not trusted, so that
        loading would fail.
    """
    # A shallow copy, in which an attribute can be replaced. A group may be a tuple, and
    # skops does not save dicts with tuples for keys.
    plain = copy.copy(clf)
    plain.models_ = [clf.models_[group] for group in clf.groups_]
    try:
        with packed(plain):
            model = _as_skops(plain)
    except ImportError:
        # skops is an extra; its absence says nothing about the model.
        raise
    except Exception as error:
        raise ValueError(
            f"clf must be made of parts that skops can save, but: {error}"
        ) from error
    # Better refused now than when the file is all that is left of the model.
    unknown = _untrusted_types(inflate(model), TRUSTED.union(trusted))
    unknown += unchecked_types(clf, trusted)
    if unknown:
        raise ValueError(
            f"clf must be made of trusted types to be saved, got {', '.join(unknown)}. "
            "If you know them to be harmless, name them in trusted, here and in load."
        )
    try:
        check_sound(clf)
    except Unsound as error:
        raise ValueError(f"clf cannot be saved, since loading fails: {error}") from None
    return model


def load_model(
    model: bytes, path: str | Path, trusted: Iterable[str]
) -> CapeClassifier:
    """Build a model from the bytes of `dump_model`.

    Parameters
    ----------
    model : bytes
        The model in the format of skops.
    path : str or Path
        The file that it is from, for the error.
    trusted : iterable of str
        Full names of types that are accepted besides those in `TRUSTED`.

    Returns
    -------
    CapeClassifier
        The model.

    Raises
    ------
    ValueError
        If the bytes hold a type that is not trusted, trees that point outside their
        tables, or anything else than a fitted model.
    """
    # skops is an extra; its absence says nothing about the file.
    import skops.io  # noqa: F401

    allowed = TRUSTED.union(trusted)
    with naming(path):
        plain = inflate(model)
        unknown = _untrusted_types(plain, allowed)
    if unknown:
        raise ValueError(
            f"path must hold trusted types only, got {str(path)!r} with "
            f"{', '.join(unknown)}. Nothing was loaded. "
            "If you know them to be harmless, name them in trusted."
        )
    with naming(path):
        return _build(plain, allowed)


def _build(model: bytes, allowed: frozenset[str]) -> CapeClassifier:
    """Build a model of types that are allowed, and check what is in it."""
    import skops.io

    # skops compares the types once more while it builds.
    clf = skops.io.loads(model, trusted=sorted(allowed))
    models = getattr(clf, "models_", None)
    if not isinstance(clf, CapeClassifier) or not isinstance(models, list):
        raise Unsound(
            f"it holds a {type(clf).__name__} and not a fitted CapeClassifier."
        )
    # In this order, since packed trees cannot be checked.
    unpack(clf)
    unchecked = unchecked_types(clf, allowed)
    if unchecked:
        raise Unsound(
            f"it holds {', '.join(unchecked)}, whose numbers cape cannot check. "
            "If you know the file to be harmless, name the types in trusted."
        )
    check_sound(clf)
    clf.models_ = dict(zip(clf.groups_, clf.models_, strict=True))
    return clf


def _as_skops(thing: Any) -> bytes:
    """Do as ``skops.io.dumps``, but do not indent the schema.

    The indentation takes most of the time and of the room of ``dumps``.
    """
    import skops
    from skops.io._utils import SaveContext, get_state

    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        context = SaveContext(zip_file=archive)
        schema = get_state(thing, context)
        context.clear_memo()
        schema["protocol"] = context.protocol
        schema["_skops_version"] = skops.__version__
        archive.writestr("schema.json", json.dumps(schema))
    return buffer.getvalue()


def _untrusted_types(model: bytes, allowed: frozenset[str]) -> list[str]:
    """Names of the types that neither skops nor ``allowed`` trusts."""
    import skops.io

    # skops only reads the schema for this, and builds nothing.
    types = skops.io.get_untrusted_types(data=model)
    return sorted(set(types) - allowed)
