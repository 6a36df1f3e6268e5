"""What is wrong with a file, in one line."""

__all__ = ["TableError"]


class TableError(ValueError):
    """A file that cannot be read as a table; the message names the file, what is wrong and what to do.

    Examples
    --------
    >>> raise TableError("march.csv is empty.")
    Traceback (most recent call last):
    cape._tables._error.TableError: march.csv is empty.
    """
