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
from cape.persist._container import not_a_model_file
from cape.persist._packing import packed, unpack
from cape.persist._trees import check_trees
from cape.persist._trusted import TRUSTED

__all__ = ["dump_model", "load_model"]

_MALFORMED = (
    AttributeError,
    ImportError,
    IndexError,
    KeyError,
    TypeError,
    zipfile.BadZipFile,
)
"""Errors that skops raises for a part that it did not write."""


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
    unknown = _untrusted_types(model, TRUSTED.union(trusted))
    if unknown:
        raise ValueError(
            f"clf must be made of trusted types to be saved, got {', '.join(unknown)}. "
            "If you know them to be harmless, name them in trusted, here and in load."
        )
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
    clf = _from_skops(model, path, TRUSTED.union(trusted))
    models = getattr(clf, "models_", None)
    if not isinstance(clf, CapeClassifier) or not isinstance(models, list):
        raise ValueError(
            f"path must hold a fitted CapeClassifier, got {str(path)!r} with a "
            f"{type(clf).__name__}."
        )
    # In this order, since packed trees cannot be checked.
    unpack(clf)
    check_trees(clf)
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


def _from_skops(model: bytes, path: str | Path, allowed: frozenset[str]) -> Any:
    """Do as ``skops.io.loads``, with errors that name the file."""
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        unknown = _untrusted_types(model, allowed)
        if unknown:
            raise ValueError(
                f"path must hold trusted types only, got {str(path)!r} with "
                f"{', '.join(unknown)}. Nothing was loaded. "
                "If you know them to be harmless, name them in trusted."
            )
        # skops compares the types once more while it builds.
        return skops.io.loads(model, trusted=sorted(allowed))
    except UntrustedTypesFoundException as error:
        raise ValueError(
            f"path must hold trusted types only, got {str(path)!r}: {error}"
        ) from error
    except _MALFORMED as error:
        raise not_a_model_file(path, repr(error)) from error


def _untrusted_types(model: bytes, allowed: frozenset[str]) -> list[str]:
    """Names of the types that neither skops nor ``allowed`` trusts."""
    import skops.io

    # skops only reads the schema for this, and builds nothing.
    types = skops.io.get_untrusted_types(data=model)
    return sorted(set(types) - allowed)
