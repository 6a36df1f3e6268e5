"""The file itself: a zip archive with a header that people can read, and a model.

``header.json`` can be read with any tool. ``model.skops`` is in the format of skops.
The archive is not compressed, since the model is already.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from cape._newfile import new_file

__all__ = ["Parts", "not_a_model_file", "read_parts", "write_parts"]

_HEADER = "header.json"
_MODEL = "model.skops"

_MOST_HEADER_BYTES = 1 << 24
"""Longest header that is read, so that a crafted file cannot fill the memory."""

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,  # a part that claims to end after the file
    ValueError,  # a part that claims to begin before the file
    RuntimeError,  # a part that claims to be encrypted, or in an unknown compression
)
"""Errors that zipfile raises when bytes of an archive were altered."""


class Parts(NamedTuple):
    """The two parts of a model file, as bytes.

    Parameters
    ----------
    header : bytes
        JSON, see `cape.persist._header`.
    model : bytes
        The model in the format of skops, see `cape.persist._skops`.
    """

    header: bytes
    model: bytes


def write_parts(path: Path, header: bytes, model: bytes, *, overwrite: bool) -> None:
    """Write a model file, whole or not at all."""
    with (
        new_file(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        archive.writestr(_HEADER, header)
        archive.writestr(_MODEL, model)


def read_parts(path: str | Path) -> Parts:
    """Read the two parts of a model file; neither is looked into.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Parts
        The header and the model.

    Raises
    ------
    FileNotFoundError
        If the path is a folder or does not exist.
    ValueError
        If the file is not an archive of exactly these two parts.
    """
    if Path(path).is_dir():
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which is a folder."
        )
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which does not exist."
        )
    # Read at once, so that the file may be replaced meanwhile.
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(content) as archive:
            complaint = _complaint_about(archive)
            if complaint is None:
                return Parts(archive.read(_HEADER), archive.read(_MODEL))
    except _DAMAGED as error:
        raise not_a_model_file(
            path, "it is not a zip archive, or it is damaged or cut short."
        ) from error
    raise not_a_model_file(path, complaint)


def _complaint_about(archive: zipfile.ZipFile) -> str | None:
    """Say why an archive is not a model file; None if it may be one."""
    if sorted(archive.namelist()) != [_HEADER, _MODEL]:
        return f"it holds other parts than {_HEADER} and {_MODEL}."
    if archive.getinfo(_HEADER).file_size > _MOST_HEADER_BYTES:
        return "its header is too long."
    return None


def not_a_model_file(path: str | Path, reason: str) -> ValueError:
    """Make the error for a file that cape did not write."""
    return ValueError(
        f"path must be a model file written by cape, got {str(path)!r}: {reason}"
    )
