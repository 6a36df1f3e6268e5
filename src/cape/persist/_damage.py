"""One kind of error for whatever is wrong with a model file.

The bytes of a file go through zipfile, zlib, json, numpy, scipy and skops, and each of
them has its own errors for bytes that it did not write. All of them become a
`ValueError` that names the file. The errors are listed, so that an error of another
class is still seen as what it is: a mistake in cape.
"""

from __future__ import annotations

import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Unsound", "naming", "not_a_model_file"]

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,  # a part that claims to end after the file
    OSError,  # a part that claims to begin before the file
    RuntimeError,  # encryption, unknown compression, brackets nested without end
    MemoryError,  # an array that claims to have more rows than fit
    tokenize.TokenError,  # numpy's parser of the shape of an array
    SyntaxError,  # the same parser
    json.JSONDecodeError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    TypeError,
    ValueError,
)
"""Errors of zipfile, json, numpy, scipy, skops and scikit-learn for foreign bytes."""


class Unsound(ValueError):
    """Says what is wrong with the content of a file; `naming` adds its name."""


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Turn errors about the content of a file into one that names the file.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    ValueError
        If an error within the block tells of damage.

    Examples
    --------
    >>> from cape.persist._damage import naming
    >>> with naming("model.cape"):
    ...     {}["missing"]
    Traceback (most recent call last):
    ValueError: path must be a model file written by cape, got 'model.cape': it is
    damaged or was altered (KeyError: 'missing').
    """
    try:
        yield
    except Unsound as error:
        raise not_a_model_file(path, str(error)) from error
    except _DAMAGE as error:
        # The message may be long, if it quotes the content.
        cause = f"{type(error).__name__}: {error}"
        if len(cause) > 200:
            cause = f"{cause[:200]} ..."
        raise not_a_model_file(
            path, f"it is damaged or was altered ({cause})."
        ) from error


def not_a_model_file(path: str | Path, reason: str) -> ValueError:
    """Make the error for a file that cape did not write."""
    return ValueError(
        f"path must be a model file written by cape, got {str(path)!r}: {reason}"
    )
