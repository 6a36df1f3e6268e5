"""Arrow's tables as pandas frames, and Arrow's types in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["arrow_type", "kind_of_type", "to_frame", "to_verbatim_frame"]


def arrow_type(kind: str) -> pa.DataType:
    """Return the Arrow type as which a column of a CSV is read.

    Parameters
    ----------
    kind : {"text", "number", "date", "flag"}
        What the column holds.

    Returns
    -------
    pyarrow type
    """
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "number": pa.float64(),
        "date": pa.timestamp("us"),
        "flag": pa.bool_(),
    }
    return types[kind]


def kind_of_type(type_: pa.DataType) -> str:
    """Say in a word what a column of an Arrow type holds.

    Parameters
    ----------
    type_ : pyarrow type

    Returns
    -------
    {"number", "text", "date", "flag", "other"}
        A time of day is text, and a column without any value is numbers, as `to_frame`
        returns them.
    """
    from pyarrow import types

    # A dictionary is a way of storing values, not a kind of value.
    if types.is_dictionary(type_):
        return kind_of_type(type_.value_type)
    kinds = {
        "flag": (types.is_boolean,),
        "number": (
            types.is_integer,
            types.is_floating,
            types.is_decimal,
            types.is_null,
        ),
        "date": (types.is_date, types.is_timestamp),
        "text": (
            types.is_string,
            types.is_large_string,
            types.is_string_view,
            types.is_time,
        ),
    }
    for kind, checks in kinds.items():
        if any(check(type_) for check in checks):
            return kind
    return "other"


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas, without types that learners cannot take.

    Decimals and columns without any value become floats, dates become timestamps, and
    times of day become text.
    """
    for place, field in enumerate(table.schema):
        type_ = _learnable_type(field.type)
        if type_ != field.type:
            column = table.column(place).cast(type_)
            table = table.set_column(place, field.name, column)
    # The metadata would restore the pandas types and index of whoever wrote the file.
    return table.replace_schema_metadata(None).to_pandas()


def to_verbatim_frame(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas and keep Arrow's types, for copying a file."""
    import pandas as pd

    return table.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)


def _learnable_type(type_: pa.DataType) -> pa.DataType:
    """The type itself, or the one that a learner takes in its place."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_decimal(type_) or types.is_null(type_):
        return pa.float64()
    if types.is_time(type_):
        return pa.string()
    # pandas makes Python objects of dates. pyarrow reads timestamps of a CSV as seconds
    # where it finds them, and as microseconds where the type is given.
    if types.is_date(type_):
        return pa.timestamp("us")
    if types.is_timestamp(type_) and type_.unit == "s":
        return pa.timestamp("us", type_.tz)
    return type_
