"""What columns of text hold: numbers, flags, dates, words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cape.base._table import MISSING, dotted_dates
from cape_app.tables._source import Dialect

FLAGS = ["0", "1", "false", "False", "FALSE", "true", "True", "TRUE"]
"""What pyarrow reads as false or true."""

# A failing conversion runs to its end: some values are tried before all of them.
_FIRST = 20

# A number that would be written otherwise than it was is text: 007, 0x1F, and an
# identifier of more digits than a number has.
_CODE = r"^\s*[+-]?0[0-9xX]"
_NO_PLAIN_NUMBER = {"integer": _CODE, "number": rf"{_CODE}|^\s*[+-]?[0-9]{{17,}}\s*$"}

# Four digits of the year: "1.2.24" may be the version of a program.
_DATE = r"^\s*(\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})(\D|$)"


class KindFinder:
    """Find what columns of text hold, part by part.

    Each column starts as the narrowest kind that its first values have, and is text as
    soon as a value does not fit: numbers followed by a word in row 1,000,000 are text.
    What would look otherwise when it is written again, such as "007", is text, too.

    Parameters
    ----------
    dialect : Dialect, optional
        How numbers are written.

    Attributes
    ----------
    kinds : dict from column to {"integer", "number", "flag", "date", "text"}
        Of the columns that have values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> finder = KindFinder()
    >>> finder.add("a", pa.array(["1", "2"]))
    >>> finder.add("b", pa.array(["2024-01-31", None]))
    >>> finder.add("a", pa.array(["x", "3"]))
    >>> finder.kinds
    {'a': 'text', 'b': 'date'}
    """

    def __init__(self, dialect: Dialect | None = None):
        self.kinds: dict[str, str] = {}
        self._dialect = dialect or Dialect()

    def add(self, name: str, texts: pa.Array) -> None:
        """Take more values of a column into account."""
        kind = self.kinds.get(name)
        texts = texts.drop_null()
        if kind != "text" and len(texts):
            self.kinds[name] = self._narrowest(texts, kind)

    def _narrowest(self, texts: pa.Array, kind: str | None) -> str:
        """Return the first kind that fits these values, and those before them."""
        candidates = [kind] if kind else ["integer", "number", "flag", "date"]
        if kind == "integer":
            candidates = ["integer", "number"]
        for candidate in candidates:
            if self._fits(texts[:_FIRST], candidate) and self._fits(texts, candidate):
                return candidate
        return "text"

    def _fits(self, texts: pa.Array, kind: str) -> bool:
        if kind in _NO_PLAIN_NUMBER:
            changed = pc.match_substring_regex(texts, _NO_PLAIN_NUMBER[kind])
            if pc.any(changed).as_py():
                return False
        return converted(texts, kind, self._dialect) is not None


def without_missing(
    texts: pa.Array, known: Sequence[str] = (), more: Sequence[str] = ()
) -> pa.Array:
    """Make missing what stands for a missing value, unless it is known as a value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_missing(pa.array(["NA", "n/a", "b"]), ["NA"]).to_pylist()
    ['NA', None, 'b']
    """
    words = [word for word in (*MISSING, *more) if word not in known]
    is_missing = pc.is_in(texts, pa.array(words, texts.type))
    if not pc.any(is_missing).as_py():
        return texts
    return pc.if_else(is_missing, pa.scalar(None, texts.type), texts)


def arrow_type(kind: str | None) -> pa.DataType:
    """Return the Arrow type of a kind of values; what is no other kind is text."""
    types = {
        "number": pa.float64(),
        "integer": pa.int64(),
        "flag": pa.bool_(),
        "date": pa.timestamp("us"),
    }
    return types.get(kind or "", pa.string())


def converted(
    texts: pa.Array, kind: str, dialect: Dialect | None = None
) -> pa.Array | None:
    """Convert text to what it holds.

    Parameters
    ----------
    texts : Array of strings
        Missing values stay missing.
    kind : {"integer", "number", "flag", "date", "text"}
    dialect : Dialect, optional
        How numbers are written.

    Returns
    -------
    Array or None
        None if a value does not fit. Dates are moments in UTC, without a zone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> converted(pa.array(["1,5", "2"]), "number", Dialect(decimal=",")).to_pylist()
    [1.5, 2.0]
    >>> converted(pa.array(["3,900", "45%"]), "number", Dialect(marks=",%")).to_pylist()
    [3900.0, 45.0]
    >>> converted(pa.array(["1.5", "x"]), "number") is None
    True
    """
    if kind in ("text", "other"):
        return texts
    if kind == "date":
        return _dates(texts)
    if kind == "flag":
        known = pc.or_kleene(pc.is_in(texts, pa.array(FLAGS)), pc.is_null(texts))
        if not pc.all(known, min_count=0).as_py():
            return None
        return pc.cast(texts, pa.bool_())
    if dialect is not None and dialect.marks:
        texts = _without_marks(texts, dialect)
    if texts is not None and dialect is not None and dialect.decimal == ",":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            return None
        texts = pc.replace_substring(texts, ",", ".")
    if texts is None:
        return None
    type_ = pa.int64() if kind == "integer" else pa.float64()
    return _cast(texts, type_)


def _without_marks(texts: pa.Array, dialect: Dialect) -> pa.Array | None:
    """Leave marks out of numbers; None if one stands where no number has it."""
    # Blanks that do not break stand between thousands, too.
    blanks = "\u00a0\u202f" if " " in dialect.marks else ""
    signs = re.sub(r"([]\\^])", r"\\\1", dialect.marks)
    mark = f"[{signs}{blanks}]"
    # Between digits, a mark is followed by three of them: no date is a number.
    number = (
        rf"^\s*{mark}*\s*[+-]?{mark}*\s*(\d+|\d{{1,3}}({mark}\d{{3}})+)"
        rf"([{dialect.decimal}]\d*)?\s*{mark}*\s*$"
    )
    if not pc.all(pc.match_substring_regex(texts, number), min_count=0).as_py():
        return None
    return pc.replace_substring_regex(texts, rf"{mark}|\s", "")


def _cast(texts: pa.Array, type_: pa.DataType) -> pa.Array | None:
    """Cast text, with or without the blanks around it; None if that is impossible."""
    try:
        return pc.cast(texts, type_)
    except pa.ArrowInvalid:
        # As pyarrow reads a CSV: a blank that does not break is no blank to it.
        trimmed = pc.utf8_trim(texts, " \t")
    try:
        return pc.cast(trimmed, type_)
    except pa.ArrowInvalid:
        return None


def _dates(texts: pa.Array) -> pa.Array | None:
    """Convert dates in ISO format, with or without a zone, or as 31.12.2024."""
    # As a rule all are written alike, and Arrow reads them.
    for zone in (None, "UTC"):
        dates = _cast(texts, pa.timestamp("us", zone))
        if dates is not None:
            return dates.cast(pa.timestamp("us"))
    if not pc.all(pc.match_substring_regex(texts, _DATE)).as_py():
        return None
    series = texts.to_pandas().astype("str")
    moments = pd.to_datetime(series, format="ISO8601", errors="coerce", utc=True)
    moments = moments.dt.tz_localize(None).astype("datetime64[us]")
    left = moments.isna()
    moments[left] = dotted_dates(series[left])
    if moments.isna().sum() > texts.null_count:
        return None
    return pa.Array.from_pandas(moments, type=pa.timestamp("us"))
