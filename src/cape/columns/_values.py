"""The values of one column, of whatever library they came."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Column", "column_names", "take_column"]


class Column:
    """The values of one column, of whatever library they came."""

    def __init__(self, values: Any):
        import pandas as pd

        if hasattr(values, "to_pandas"):
            # polars; with Arrow it would need pyarrow for types that numpy has not.
            values = _polars_values(values)
        self._values = pd.Series(values)
        self.missing = self._values.isna().to_numpy()
        self.kind = _kind(self._values, self.missing)

    def __len__(self) -> int:
        return len(self._values)

    def is_text_like(self, kind: str) -> bool:
        """Tell whether values can be compared with levels of a text column."""
        if kind == "mixed":
            return True
        return self.kind in ("text", "mixed")

    @property
    def numbers(self) -> np.ndarray:
        """The values as float32, dates in seconds; missing values are NaN.

        Single precision is enough for cells, and twice as fast to compare.
        """
        with np.errstate(over="ignore"):
            return self._doubles().astype(np.float32)

    def _doubles(self) -> np.ndarray:
        import pandas as pd

        if self.kind == "date":
            moments = pd.to_datetime(self._values, utc=True).dt.tz_localize(None)
            whole = moments.to_numpy().astype("datetime64[s]").astype(np.int64)
            return np.where(self.missing, np.nan, whole)
        values = self._values
        if values.dtype.kind in "fiub" and isinstance(values.dtype, np.dtype):
            return values.to_numpy()
        return pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)

    def levels(self) -> tuple[np.ndarray, list[str]]:
        """Number the distinct values; -1 is missing."""
        place, distinct = self._values.factorize()
        texts = [str(value) for value in distinct]
        if len(set(texts)) < len(texts):
            # 1 and "1" are one level.
            place, distinct = self._values.astype(str).where(~self.missing).factorize()
            texts = [str(value) for value in distinct]
        return place, texts


def _polars_values(values: Any) -> Any:
    import pandas as pd

    if values.dtype.is_numeric() or values.dtype.is_temporal():
        return values.to_numpy()
    return pd.Series(values.to_list(), dtype=object)


def _kind(values: Any, missing: np.ndarray) -> str:
    """Tell what a column holds."""
    import pandas as pd

    if missing.all():
        return "empty"
    dtype = values.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date"
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.CategoricalDtype):
        texts = pd.api.types.infer_dtype(dtype.categories) == "string"
        return "text" if texts else "mixed"
    held = pd.api.types.infer_dtype(values, skipna=True)
    if held in ("string", "bytes"):
        return "text"
    if held in ("datetime", "datetime64", "date"):
        return "date"
    if held in ("integer", "floating", "mixed-integer-float", "boolean", "decimal"):
        return "number"
    return "mixed"


def column_names(X: Any) -> list[str]:
    """Name the columns of a table; empty if it has none that can be counted."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return [str(name) for name in X.columns]
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return [f"x{position}" for position in range(X.shape[1])]
    return []


def take_column(X: Any, position: int) -> Column:
    """Take one column out of a table."""
    if hasattr(X, "iloc"):
        return Column(X.iloc[:, position])
    return Column(X[:, position])
