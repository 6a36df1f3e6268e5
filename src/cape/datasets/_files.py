"""Published data files: found in the folder of data, or downloaded and verified."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cape._newfile import new_file

__all__ = ["RemoteFile", "data_folder", "get_file"]

_VARIABLE = "CAPE_DATA"


@dataclass(frozen=True)
class RemoteFile:
    """Where a file comes from, where it is kept, and how it is recognised.

    Parameters
    ----------
    path : str
        Where the file is kept, below the folder of data.
    url : str
        Where the file is published; empty if no address of exactly this file is known.
    sha256 : str or None
        Checksum of the file. None where the publisher's checksum is not known: the file
        is then a zip archive, whose own checksums are verified instead.
    terms : str, default=""
        What a user agrees to by downloading the file.
    """

    path: str
    url: str
    sha256: str | None
    terms: str = ""


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of data.

    Parameters
    ----------
    data_home : path, default=None
        None is the environment variable CAPE_DATA or, without it, a cache in the home
        folder.

    Returns
    -------
    Path

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    cache = Path.home() / ".cache" / "cape"
    folder = data_home or os.environ.get(_VARIABLE) or cache
    return Path(folder).expanduser()


def get_file(file: RemoteFile, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a verified copy, downloaded if the folder of data has none.

    A download goes to a temporary file in the same folder, which gets its name only
    after it has been verified.

    Parameters
    ----------
    file : RemoteFile
        The file wanted.
    data_home : path, default=None
        Folder of data; see `data_folder`.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the folder of data has no copy and the file has no address. The message says
        where to put it.
    OSError
        If the file cannot be downloaded or is not the expected one. The message says
        what to download, from where, and where to put it.
    """
    path = data_folder(data_home) / file.path
    if not path.exists():
        _download(file, path)
        return path
    # A file that is there may be half a download, or another version.
    mismatch = _mismatch(path, file.sha256)
    if mismatch:
        raise OSError(f"{path} {mismatch}. {_advice(file, path)}")
    return path


def _download(file: RemoteFile, path: Path) -> None:
    """Download a file, verify it, and give it its name."""
    if not file.url:
        raise FileNotFoundError(
            f"{path.name} is not in the folder of data, and no public address of "
            f"exactly this file is known. {_advice(file, path)}"
        )
    try:
        download = _downloader()
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as temporary:
            download(file.url, str(temporary))
            mismatch = _mismatch(temporary, file.sha256)
            if mismatch:
                raise OSError(f"the file downloaded {mismatch}")
    # The errors of requests, which pooch uses, are OSErrors.
    except (OSError, ValueError, ImportError) as error:
        raise OSError(
            f"{path.name} could not be downloaded: {error}. {_advice(file, path)}"
        ) from error


def _downloader() -> Callable[[str, str], None]:
    """A function that writes what is at a URL to a file; tests replace it."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloading needs pooch (install cape-fair[app])") from error
    # pooch's own cache is not used: our checksums may be unknown, and its files would
    # not be where a user puts them by hand.
    downloader = pooch.HTTPDownloader(timeout=60)

    def download(url: str, file_name: str) -> None:
        downloader(url, file_name, None)

    return download


def _mismatch(path: Path, sha256: str | None) -> str:
    """Why a file is not the expected one; empty if it is."""
    # MEPS: the archive's own CRC-32 tells a damaged file, not a replaced one.
    if sha256 is None:
        return _damage_of_archive(path)
    with path.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual == sha256:
        return ""
    return f"has sha256 {actual}, expected {sha256}"


def _damage_of_archive(path: Path) -> str:
    """What the checksums within a zip archive reveal; empty if they agree."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged_member = archive.testzip()
    except zipfile.BadZipFile:
        return "is no zip archive, or only a part of one"
    if damaged_member is None:
        return ""
    return f"has a damaged member, {damaged_member}"


def _advice(file: RemoteFile, path: Path) -> str:
    """How to get the file by hand."""
    checksum = f" (sha256 {file.sha256})" if file.sha256 else ""
    terms = f" {file.terms}" if file.terms else ""
    to_get = f"Download {file.url}{checksum} and put it at {path}"
    if not file.url:
        to_get = f"Put the file{checksum} at {path}"
    return (
        f"{to_get}, or set data_home or {_VARIABLE} to a folder that has "
        f"{file.path}.{terms}"
    )
