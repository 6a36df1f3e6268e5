"""How a CSV file is written: its separator, its encoding and its decimal sign."""

from __future__ import annotations

from dataclasses import dataclass

from cape._tables._error import TableError

__all__ = ["Dialect"]


@dataclass(frozen=True)
class Dialect:
    """Separator, encoding and decimal sign of a CSV file.

    Parameters
    ----------
    separator : str, default=","
        One ASCII character, neither a quote nor the end of a line.
    encoding : str, default="utf-8"
        Any encoding that Python knows.
    decimal : {".", ","}, default="."
        What stands before the decimals of a number.

    Raises
    ------
    TableError
        If the separator is not one character, the encoding is unknown, or the decimal
        sign is neither a point nor a comma.

    Examples
    --------
    >>> Dialect(separator=";", decimal=",")
    Dialect(separator=';', encoding='utf-8', decimal=',')
    """

    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."

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
        if self.decimal not in (".", ","):
            raise TableError(f"decimal must be '.' or ',', got {self.decimal!r}.")

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8, with or without a byte order mark."""
        name = self.encoding.lower().replace("_", "-")
        return name in ("utf-8", "utf8", "utf-8-sig")

    @property
    def is_wide(self) -> bool:
        """Whether the encoding is UTF-16 or UTF-32, whose text holds zero bytes."""
        return "16" in self.encoding or "32" in self.encoding
