"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["check_free", "new_file"]


def check_free(path: str | Path, *, overwrite: bool = False) -> Path:
    """The path, if a file may be written there: its folder exists, and no file is in the way unless ``overwrite``."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file.")
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already, and is left as it is (--force or overwrite=True replaces it)."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {path.parent} of {path.name} does not exist."
        )
    return path


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Hand out a temporary file in the same folder; it takes its name at the end, and vanishes after an error.

    Parameters
    ----------
    path : str or Path
    overwrite : bool, default=False
        Replace a file that is there. Otherwise one that is there, or has come meanwhile, is an error.

    Yields
    ------
    Path
        Where to write.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with new_file(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    path = check_free(path, overwrite=overwrite)
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".part"
        )
    except OSError as error:  # which names the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        check_free(path, overwrite=overwrite)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _umask() -> int:
    """The rights that new files lack; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
