"""The file itself: a zip archive with a header that people can read, and a model.

``header.json`` can be read with any tool. ``model.skops`` is in the format of skops.
The archive is not compressed, since the model is already. A part that claims to be
compressed is refused, so that no part is longer than the file.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cape._newfile import new_file
from cape.persist._damage import Unsound, naming

__all__ = ["Parts", "read_header_part", "read_parts", "write_parts"]

_HEADER = "header.json"
_MODEL = "model.skops"

_MOST_HEADER_BYTES = 1 << 24
"""Longest header that is read, so that a crafted file cannot fill the memory."""


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
    # Both through one open file, so that the path may be replaced meanwhile.
    with _open_file(path) as file, naming(path), _open_archive(file) as archive:
        return Parts(archive.read(_HEADER), archive.read(_MODEL))


def read_header_part(path: str | Path) -> bytes:
    """Read the header of a model file alone; of the model, not a byte is read.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    bytes
        The header.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_parts`.
    """
    with _open_file(path) as file, naming(path), _open_archive(file) as archive:
        return archive.read(_HEADER)


def _open_file(path: str | Path) -> BinaryIO:
    """Open a file, and raise if there is none; a pipe is none."""
    if Path(path).is_dir():
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which is a folder."
        )
    if not Path(path).exists():
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which does not exist."
        )
    # To open a pipe would wait for its writer.
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"path must be a model file, got {str(path)!r}, which is a pipe or a "
            "device."
        )
    return Path(path).open("rb")


def _open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open an archive, and check that it holds the two parts and nothing else."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise Unsound("it is not a zip archive, or it is cut short.") from error
    if sorted(archive.namelist()) != [_HEADER, _MODEL]:
        raise Unsound(f"it holds other parts than {_HEADER} and {_MODEL}.")
    for part in archive.infolist():
        if part.compress_type != zipfile.ZIP_STORED:
            raise Unsound(f"its part {part.filename} is compressed.")
    if archive.getinfo(_HEADER).file_size > _MOST_HEADER_BYTES:
        raise Unsound("its header is too long.")
    return archive
