"""Published data files: found in the folder of data, or downloaded and verified."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cape.base._packages import require_extra

_VARIABLE = "CAPE_DATA"


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


def get_file(
    name: str, url: str, sha256: str, data_home: str | os.PathLike[str] | None = None
) -> Path:
    """Return the path of a verified copy, downloaded if the folder of data has none.

    A download goes to a temporary file in the same folder, which gets its name only
    after it has been verified.

    Parameters
    ----------
    name : str
        Where the file is kept, below the folder of data.
    url : str
        Where it is published.
    sha256 : str
        Its checksum.
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
    path = data_folder(data_home) / name
    advice = (
        f"Download {url} (sha256 {sha256}) and put it at {path}, or set "
        f"data_home or {_VARIABLE} to a folder that has {name}."
    )
    if path.exists():
        with path.open("rb") as content:
            actual = hashlib.file_digest(content, "sha256").hexdigest()
        # A file that is there may be half a download, or another version.
        if actual != sha256:
            raise OSError(f"{path} has sha256 {actual}, expected {sha256}. {advice}")
        return path
    try:
        require_extra("app", "pooch", what="downloading")
        import pooch

        # Not in pooch's own cache, whose files are not where a user puts them by hand.
        pooch.retrieve(
            url,
            sha256,
            path.name,
            path.parent,
            downloader=pooch.HTTPDownloader(timeout=60),
        )
    # The errors of requests, which pooch uses, are OSErrors.
    except (OSError, ValueError, ImportError) as error:
        raise OSError(
            f"{path.name} could not be downloaded: {error}. {advice}"
        ) from error
    return path
