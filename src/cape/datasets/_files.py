"""Files of data that others publish: find, download, verify, keep."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cape._newfile import new_file

__all__ = ["RemoteFile", "data_folder", "get_file"]

VARIABLE = "CAPE_DATA"


@dataclass(frozen=True)
class RemoteFile:
    """Where a file comes from, where it is kept, and how it is recognised.

    Parameters
    ----------
    path : str
        Below the folder of data.
    url : str
    sha256 : str or None
        None where the publisher's sum is not known to us: the file is a zip archive then, and its own checksums are
        verified instead.
    terms : str
        What a user agrees to by downloading it.
    """

    path: str
    url: str
    sha256: str | None
    terms: str = ""


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder of data: ``data_home``, or the environment variable CAPE_DATA, or a cache in the home folder.

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    return Path(
        data_home or os.environ.get(VARIABLE) or Path.home() / ".cache" / "cape"
    ).expanduser()


def get_file(file: RemoteFile, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Path of a verified copy, downloaded if the folder of data has none.

    A download goes to a temporary file in the same folder and gets its name only when it has been verified.

    Raises
    ------
    OSError
        When the file cannot be had or is not the right one; it says what to download, from where, and where to put it.
    """
    path = data_folder(data_home) / file.path
    if not path.exists():
        _download(file, path)
    elif why := _why_wrong(path, file.sha256):
        raise OSError(f"{path} {why}. {_by_hand(file, path)}")
    return path


def _download(file: RemoteFile, path: Path) -> None:
    try:
        fetch = _downloader()
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as part:
            fetch(file.url, str(part))
            if why := _why_wrong(part, file.sha256):
                raise OSError(f"what came {why}")
    except (OSError, ValueError, ImportError) as error:  # requests' errors are OSErrors
        raise OSError(
            f"{path.name} could not be downloaded: {error}. {_by_hand(file, path)}"
        ) from error


def _downloader() -> Callable[[str, str], None]:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloading needs pooch (install cape-fair[app])") from error
    fetch = pooch.HTTPDownloader(timeout=60)
    return lambda url, name: fetch(url, name, None)


def _why_wrong(path: Path, sha256: str | None) -> str:
    """Why a file is not the one expected; empty if it is."""
    if sha256 is None:
        try:
            with zipfile.ZipFile(path) as archive:
                bad = archive.testzip()
        except zipfile.BadZipFile:
            return "is no zip archive, or only a part of one"
        return f"has a damaged member, {bad}" if bad else ""
    with path.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    return "" if found == sha256 else f"has sha256 {found}, expected {sha256}"


def _by_hand(file: RemoteFile, path: Path) -> str:
    recognised = f" (sha256 {file.sha256})" if file.sha256 else ""
    terms = f" {file.terms}" if file.terms else ""
    return (
        f"Download {file.url}{recognised} and put it at {path}, or set data_home or {VARIABLE} to a folder that has "
        f"{file.path}.{terms}"
    )
