"""Files that appear whole or not at all, and the progress bar of Python code.

A reader never sees half a file, and an error in the middle of writing leaves the old
file as it was: `new_file` hands out a temporary file in the same folder and renames it
at the end. A symbolic link is followed: the file that it names is written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a file that does not fit on its disk."""

_unfinished: set[Path] = set()

_WIDTH = 30
"""Characters of a full progress bar."""


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
    OSError
        If the path is a pipe or a device, or a symbolic link that leads to itself.

    Examples
    --------
    >>> from cape.base._io import check_free
    >>> check_free(folder / "a.txt").name
    'a.txt'
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file.")
    # A link that leads nowhere is there, too: whoever made it did so for a reason.
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(
            f"{path} already exists, and is left as it is (overwrite=True replaces it)."
        )
    target = _target(path)
    if target.is_symlink():
        raise OSError(f"{path} is a symbolic link that leads to itself.")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is a pipe or a device: name a file.")
    if not target.parent.is_dir():
        # In the user's words, unless a link leads elsewhere.
        folder = target.parent if path.is_symlink() else path.parent
        raise FileNotFoundError(f"the folder {folder} of {path.name} does not exist.")
    return path


def check_report(path: str | Path, *, overwrite: bool = False) -> Path:
    """Check that `cape_app.pages.write_report` can write to a path, before any work.

    Parameters
    ----------
    path : str or Path
        Must end in .html, .htm or .json, in a folder that exists.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the ending is another one.
    FileExistsError
        If the file exists and ``overwrite`` is False.

    Examples
    --------
    >>> check_report(folder / "march.pdf")
    Traceback (most recent call last):
    ValueError: a report must end in .html or .json, got 'march.pdf'.
    """
    path = Path(path)
    if path.suffix not in (".html", ".htm", ".json"):
        raise ValueError(f"a report must end in .html or .json, got {path.name!r}.")
    return check_free(path, overwrite=overwrite)


def check_apart(
    outputs: Iterable[str | Path | None], inputs: Iterable[str | Path]
) -> None:
    """Check that no file to be written is read, and that none is written twice.

    Files are compared and not names: links and other spellings count, too.

    Parameters
    ----------
    outputs : iterable of str, Path or None
        Files to be written; None is left out.
    inputs : iterable of str or Path
        Files to be read.

    Raises
    ------
    ValueError
        If two of them are the same file.

    Examples
    --------
    >>> from cape.base._io import check_apart
    >>> check_apart([folder / "out.csv", None], [folder / "in.csv"])
    >>> check_apart(["a.csv"], ["./a.csv"])
    Traceback (most recent call last):
    ValueError: a.csv is ./a.csv, which is being read: name another file to write.
    """
    read = list(inputs)
    written: list[str | Path] = []
    for output in outputs:
        if output is None:
            continue
        for other in read:
            if _is_same_file(output, other):
                raise ValueError(
                    f"{output} is {other}, which is being read: name another file to "
                    "write."
                )
        for other in written:
            if _is_same_file(output, other):
                raise ValueError(f"{output} would be written twice.")
        written.append(output)


def _is_same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to the same file, which need not exist."""
    targets = _target(one), _target(other)
    if targets[0] == targets[1]:
        return True
    try:
        # Hard links, and names that differ in case where that makes no difference.
        return os.path.samefile(one, other)
    except OSError:
        # Whether case will make a difference is not known before there is a file.
        if any(target.exists() for target in targets):
            return False
        return str(targets[0]).casefold() == str(targets[1]).casefold()


def _target(path: str | Path) -> Path:
    """Return the file that a path leads to once all links are followed."""
    return Path(os.path.realpath(path))


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Hand out a temporary file that takes its name at the end of the block.

    If the block raises, the temporary file is deleted and nothing else has changed.

    Parameters
    ----------
    path : str or Path
        The name that the file gets at the end. A symbolic link is followed.
    overwrite : bool, default=False
        Whether to replace a file that exists there. If False, such a file is an error,
        also if it appears while the block runs.

    Yields
    ------
    Path
        The temporary file, to be written to.

    Examples
    --------
    >>> from cape.base._io import new_file
    >>> with new_file(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    path = check_free(path, overwrite=overwrite)
    target = _target(path)
    # Only within one folder is a renaming sure to be atomic.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        # In here, so that a signal finds no file without a try around it.
        _unfinished.add(temporary)
        _create(temporary, target)
        yield temporary
        # Again, since the file may have appeared meanwhile.
        check_free(path, overwrite=overwrite)
        temporary.replace(target)
    # KeyboardInterrupt and SystemExit must not leave a temporary file either.
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        # Errors of writing name no file or the temporary one, and libraries have words
        # of their own.
        names_part = str(getattr(error, "filename", None)) == str(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            no_room = error.errno in NO_ROOM and error.filename is None
            if names_part or no_room:
                reason = os.strerror(error.errno)
                raise OSError(error.errno, reason, str(path)) from error
        raise
    finally:
        _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Delete the temporary files of all blocks of `new_file` that have not ended.

    For a process that is about to end without leaving them.
    """
    for temporary in list(_unfinished):
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Let one process at a time read a file and replace it.

    The folder is locked, since the file itself is another one after it was replaced.
    Where a file system cannot lock folders, nobody waits.

    Parameters
    ----------
    path : str or Path
        The file, which need not exist.

    Examples
    --------
    >>> from cape.base._io import locked
    >>> with locked(folder / "state.json"):
    ...     pass
    """
    handle = os.open(_target(path).parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create(temporary: Path, target: Path) -> None:
    """Make an empty temporary file for a target."""
    # The system takes the umask from the permissions, as it does for every new file.
    # ``tempfile`` makes files for their owner alone, and the umask could only be read
    # by setting it, which files that other threads make meanwhile would see.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        handle = os.open(temporary, flags, 0o666)
    except OSError as error:
        # The error names the temporary file, of which the caller knows nothing.
        raise OSError(error.errno, error.strerror, str(target)) from None
    # The caller opens the file again, in whatever way it writes.
    os.close(handle)


def progress(steps: Iterable[T], total: int, *, title: str, shown: bool) -> Iterator[T]:
    """Pass steps through, and draw a bar with the number of steps done.

    The bar also shows the time left, as if the steps to come took as long as the steps
    done. It ends with a new line at step number ``total``.

    Parameters
    ----------
    steps : iterable
        The steps, passed through as they come; a step counts as done when it arrives.
    total : int
        Number of steps.
    title : str
        Text before the bar.
    shown : bool
        Whether to draw. If False, the steps only pass through.

    Yields
    ------
    object
        The steps, in order.

    Examples
    --------
    >>> from cape.base._io import progress
    >>> list(progress("ab", 2, title="training", shown=False))
    ['a', 'b']
    """
    start = time.monotonic()
    if shown:
        _draw(title, 0, total, 0.0)
    for done, step in enumerate(steps, 1):
        if shown:
            seconds = time.monotonic() - start
            _draw(title, done, total, seconds)
        yield step


def _draw(title: str, done: int, total: int, seconds: float) -> None:
    """Draw the bar over the one drawn before, which the carriage return does."""
    left = ""
    if done:
        left = f", {seconds / done * (total - done):.0f} s left "
    bar = "#" * (_WIDTH * done // total)
    line = f"\r{title} [{bar:<{_WIDTH}}] {done}/{total}{left}"
    if done == total:
        line += "\n"
    # The error stream, so that the output of a program can still be piped.
    sys.stderr.write(line)
    sys.stderr.flush()
