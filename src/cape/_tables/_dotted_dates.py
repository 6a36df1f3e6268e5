"""Dates as many spreadsheets write them, with the day first: 31.12.2024."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["begins_dotted", "dotted_dates", "with_dates"]

# Four digits of the year: "1.2.24" may be the version of a program.
_DOTTED = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d{4}(\s|$)")
_FORMATS = ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")


def begins_dotted(text: str | None) -> bool:
    """Tell whether a text looks like a date with the day first.

    Examples
    --------
    >>> begins_dotted("1.12.2024 08:30"), begins_dotted("2024-12-01")
    (True, False)
    """
    return text is not None and _DOTTED.match(text) is not None


def dotted_dates(texts: pd.Series) -> pd.Series:
    """Convert dates such as 31.12.2024, 31.12.2024 08:30 or 31.12.2024 08:30:15.

    Parameters
    ----------
    texts : Series of str of shape (n_samples,)

    Returns
    -------
    Series of datetime64[us] of shape (n_samples,)
        What is no such date, as 31.02.2024, is missing.

    Examples
    --------
    >>> dates = dotted_dates(pd.Series(["31.12.2024", "31.02.2024"]))
    >>> dates.dt.year.tolist()
    [2024.0, nan]
    """
    import pandas as pd

    # Not by pyarrow, which takes 31.02.2024 for the second of March.
    texts = texts.str.strip()
    dates = pd.Series(pd.NaT, index=texts.index, dtype="datetime64[us]")
    for format_ in _FORMATS:
        left = dates.isna() & texts.notna()
        if not left.any():
            break
        found = pd.to_datetime(texts[left], format=format_, errors="coerce")
        dates[left] = found.astype("datetime64[us]")
    return dates


def with_dates(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """Convert columns of text to dates.

    Parameters
    ----------
    batch : RecordBatch
    names : list of str
        Columns that hold dates with the day first, as text.

    Returns
    -------
    RecordBatch

    Raises
    ------
    ValueError
        If a text is no such date; the message names column and text.
    """
    import pyarrow as pa

    for name in names:
        place = batch.schema.get_field_index(name)
        texts = batch.column(place).to_pandas()
        dates = dotted_dates(texts.astype("str"))
        wrong = texts[dates.isna() & texts.notna()]
        if len(wrong):
            raise ValueError(
                f"column {name!r}: expected dates such as 31.12.2024, "
                f"got {wrong.iloc[0]!r}."
            )
        moments = pa.Array.from_pandas(dates, type=pa.timestamp("us"))
        batch = batch.set_column(place, name, moments)
    return batch
