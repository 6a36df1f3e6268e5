"""How a CSV file is written: its separator and its encoding."""

from __future__ import annotations

from dataclasses import dataclass

from cape._tables._error import TableError

__all__ = ["Dialect"]


@dataclass(frozen=True)
class Dialect:
    """Separator and encoding of a CSV file.

    Parameters
    ----------
    separator : str, default=","
        One ASCII character, neither a quote nor the end of a line.
    encoding : str, default="utf-8"
        Any encoding that Python knows.

    Raises
    ------
    TableError
        If the separator is not one character or the encoding is unknown.

    Examples
    --------
    >>> Dialect(separator=";")
    Dialect(separator=';', encoding='utf-8')
    """

    separator: str = ","
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        one_character = len(self.separator) == 1 and self.separator.isascii()
        if not one_character or self.separator in '"\r\n':
            raise TableError(
                f"separator must be one character, got {self.separator!r}: "
                "say , or ; or a tab."
            )
        # Python is asked and not a list: encodings have many names.
        try:
            "".encode(self.encoding)
        except LookupError:
            raise TableError(
                "encoding must be a known one such as utf-8 or latin-1, "
                f"got {self.encoding!r}."
            ) from None

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8, with or without a byte order mark."""
        name = self.encoding.lower().replace("_", "-")
        return name in ("utf-8", "utf8", "utf-8-sig")

    @property
    def is_wide(self) -> bool:
        """Whether the encoding is UTF-16 or UTF-32, whose text holds zero bytes."""
        return "16" in self.encoding or "32" in self.encoding
