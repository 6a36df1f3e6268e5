"""Reading a compressed archive without letting it fill the memory.

A few kilobytes of zip can unfold to gigabytes. So the sizes that an archive claims are
added up before a byte is unpacked, and no part is unpacked further than it claims.
"""

from __future__ import annotations

import io
import zipfile

from cape.persist._damage import Unsound

__all__ = ["inflate"]

_MOST_RATIO = 100
"""Models shrink to a half or a tenth; a part of equal numbers to a thousandth."""

_ALWAYS_ALLOWED = 1 << 26
"""64 MB: a small model may shrink as far as it likes."""


def inflate(content: bytes) -> bytes:
    """Turn an archive into one with the same parts that is not compressed.

    skops reads every part twice; unpacked beforehand, it is unpacked once.

    Parameters
    ----------
    content : bytes
        A zip archive.

    Returns
    -------
    bytes
        The archive, its parts in the same order.

    Raises
    ------
    Unsound
        If it unfolds to more than a hundred times its size, if a part occurs twice, or
        if a part is longer than it claims.
    """
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as compressed,
        zipfile.ZipFile(buffer, "w") as plain,
    ):
        _check_sizes(compressed, len(content))
        for part in compressed.infolist():
            plain.writestr(part.filename, _read_part(compressed, part))
    return buffer.getvalue()


def _check_sizes(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Raise if the parts of an archive are too long, or if a name occurs twice."""
    names = archive.namelist()
    if len(set(names)) != len(names):
        raise Unsound("a part of its model occurs twice.")
    claimed = sum(part.file_size for part in archive.infolist())
    allowed = max(_ALWAYS_ALLOWED, _MOST_RATIO * n_bytes)
    if claimed > allowed:
        raise Unsound(
            f"its model unfolds to {claimed:,} bytes, more than the {allowed:,} that "
            "are read from a file of its size."
        )


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Read a part, but never more of it than it claims to have."""
    with archive.open(part) as file:
        # One byte more than claimed. With no number, zipfile would unpack a part to
        # its very end before it looks at what the part claims.
        content = file.read(part.file_size + 1)
    if len(content) != part.file_size:
        raise Unsound(f"the part {part.filename} of its model is shorter than it says.")
    return content
