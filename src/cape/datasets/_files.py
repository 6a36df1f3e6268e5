"""Published data files: found in the folder of data, or downloaded and verified."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cape.base._io import new_file

_VARIABLE = "CAPE_DATA"


@dataclass(frozen=True)
class RemoteFile:
    """Where a file comes from, where it is kept, and how it is recognised.

    Parameters
    ----------
    path : str
        Where the file is kept, below the folder of data.
    url : str
        Where the file is published.
    sha256 : str
        Checksum of the file.
    """

    path: str
    url: str
    sha256: str


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as temporary:
            _fetch(file.url, temporary)
            mismatch = _mismatch(temporary, file.sha256)
            if mismatch:
                raise OSError(f"the file downloaded {mismatch}")
    # The errors of requests, which pooch uses, are OSErrors.
    except (OSError, ValueError, ImportError) as error:
        raise OSError(
            f"{path.name} could not be downloaded: {error}. {_advice(file, path)}"
        ) from error


def _fetch(url: str, path: Path) -> None:
    """Write what is at a URL to a file; tests replace it."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            'downloading needs pooch: pip install "cape-fair[app]"'
        ) from error
    # pooch's own cache is not used: its files would not be where a user puts them by
    # hand.
    pooch.HTTPDownloader(timeout=60)(url, str(path), None)


def _mismatch(path: Path, sha256: str) -> str:
    """Why a file is not the expected one; empty if it is."""
    with path.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual == sha256:
        return ""
    return f"has sha256 {actual}, expected {sha256}"


def _advice(file: RemoteFile, path: Path) -> str:
    """How to get the file by hand."""
    return (
        f"Download {file.url} (sha256 {file.sha256}) and put it at {path}, or set "
        f"data_home or {_VARIABLE} to a folder that has {file.path}."
    )
