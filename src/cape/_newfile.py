"""Writing files that appear whole or not at all.

A reader never sees half a file, and an error in the middle of writing leaves the old
file as it was: `new_file` hands out a temporary file in the same folder and renames it
at the end.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["check_free", "new_file"]


def check_free(path: str | Path, *, overwrite: bool = False) -> Path:
    """Check that a file may be written at a path.

    Parameters
    ----------
    path : str or Path
        Where the file shall be.
    overwrite : bool, default=False
        Whether a file that exists there may be replaced.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    IsADirectoryError
        If the path is a folder.
    FileExistsError
        If a file exists there and ``overwrite`` is False.
    FileNotFoundError
        If the folder of the path does not exist.

    Examples
    --------
    >>> from cape._newfile import check_free
    >>> check_free(folder / "a.txt").name
    'a.txt'
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file.")
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already, and is left as it is "
            "(--force or overwrite=True replaces it)."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {path.parent} of {path.name} does not exist."
        )
    return path


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Hand out a temporary file that takes its name at the end of the block.

    If the block raises, the temporary file is deleted and nothing else has changed.

    Parameters
    ----------
    path : str or Path
        The name that the file gets at the end.
    overwrite : bool, default=False
        Whether to replace a file that exists there. If False, such a file is an error,
        also if it appears while the block runs.

    Yields
    ------
    Path
        The temporary file, to be written to.

    Examples
    --------
    >>> from cape._newfile import new_file
    >>> with new_file(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    path = check_free(path, overwrite=overwrite)
    temporary = _temporary_beside(path)
    try:
        yield temporary
        # Again, since the file may have appeared meanwhile.
        check_free(path, overwrite=overwrite)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    # KeyboardInterrupt and SystemExit must not leave a temporary file either.
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _temporary_beside(path: Path) -> Path:
    """Make an empty temporary file in the folder of ``path``.

    Only within one folder is a renaming sure to be atomic.
    """
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".part"
        )
    except OSError as error:
        # The error names the temporary file, of which the caller knows nothing.
        raise OSError(error.errno, error.strerror, str(path)) from None
    # The caller opens the file again, in whatever way it writes.
    os.close(handle)
    return Path(name)


def _umask() -> int:
    """The permissions that new files do not get.

    ``mkstemp`` makes files that only their owner can read. The umask can only be read
    by setting it.
    """
    mask = os.umask(0)
    os.umask(mask)
    return mask
