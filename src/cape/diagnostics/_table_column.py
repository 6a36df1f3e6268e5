"""One column of a table of any kind, read as numbers, dates or text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableColumn", "read_column"]

# What pandas calls the dates of Python in a column of objects.
_DATE_OBJECTS = ("date", "datetime", "datetime64", "period")


@dataclass(frozen=True)
class TableColumn:
    """The values of a column.

    Parameters
    ----------
    kind : {"number", "date", "text"}
        What the column holds. Categories and flags (true or false) are text.
    values : ndarray of float64 or of object, of shape (n_samples,)
        Numbers and dates are floats, NaN where missing; text is str, None where
        missing.
    """

    kind: str
    values: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Whether each value is missing, an ndarray of bool of shape (n_samples,)."""
        import pandas as pd

        return pd.isna(self.values)


def read_column(values: Any) -> TableColumn:
    """Read a column of an array, of pandas or of polars.

    Parameters
    ----------
    values : array or Series of shape (n_samples,)

    Returns
    -------
    TableColumn

    Examples
    --------
    >>> column = read_column(np.array([3, None], dtype=object))
    >>> column.kind, column.values.tolist()
    ('number', [3.0, nan])
    >>> read_column(pd.Series(["a", None])).values.tolist()
    ['a', None]
    """
    series = _as_series(values)
    dates = _as_dates(series)
    if dates is not None:
        return TableColumn("date", _as_floats(dates))
    if _holds_numbers(series):
        return TableColumn("number", series.to_numpy("float64", na_value=np.nan))
    # Any object has a text, also a list, which could not be counted.
    text = series.astype(object).map(str).to_numpy(dtype=object)
    text[series.isna()] = None
    return TableColumn("text", text)


def _as_series(values: Any) -> pd.Series:
    """Convert to pandas, with the type that the values have."""
    import pandas as pd

    if not isinstance(values, pd.Series):
        # The values of a polars column; pandas itself would need pyarrow for them.
        values = pd.Series(np.asarray(values))
    # A table of mixed types has come as an array of objects.
    series = values.reset_index(drop=True).infer_objects()
    if series.dtype.kind == "m":
        return series.dt.total_seconds()
    return series


def _as_dates(series: pd.Series) -> pd.Series | None:
    """Return the dates of a column as moments, or None if it does not hold dates."""
    import pandas as pd

    if isinstance(series.dtype, pd.PeriodDtype):
        return series.dt.to_timestamp()
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return series
    if series.dtype != object:
        return None
    if pd.api.types.infer_dtype(series, skipna=True) in _DATE_OBJECTS:
        return pd.to_datetime(series.map(str), format="ISO8601", errors="coerce")
    return None


def _as_floats(dates: pd.Series) -> np.ndarray:
    """Return moments as numbers in their order; the unit does not matter."""
    missing = dates.isna().to_numpy()
    return np.where(missing, np.nan, dates.astype("int64").to_numpy())


def _holds_numbers(series: pd.Series) -> bool:
    """Tell whether a column holds numbers or nothing; flags are no numbers."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not series.notna().any():
        return True
    return is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype)
