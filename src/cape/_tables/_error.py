"""The error that all readers and writers of tables raise."""

__all__ = ["TableError", "shortened"]


class TableError(ValueError):
    """A file that cannot be read or written as a table.

    The message is one line that names the file, what is wrong and what to do.

    Examples
    --------
    >>> raise TableError("march.csv is empty.")
    Traceback (most recent call last):
    cape._tables._error.TableError: march.csv is empty.
    """


def shortened(text: str, most: int = 60) -> str:
    r"""Quote a text on one line, cut to at most ``most`` characters.

    Examples
    --------
    >>> shortened("a long\nstory", most=9)
    "'a long...'"
    """
    text = " ".join(text.split())
    if len(text) > most:
        text = text[: most - 3] + "..."
    return repr(text)
