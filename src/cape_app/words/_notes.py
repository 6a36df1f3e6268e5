"""Notes on files: what `cape_app.files` remarks by codes, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from cape.base._numbers import KINDS, counted, listed, quoted
from cape.shown import _check

_MOST_NAMES = 5

_COUNTED = {"columns_not_used": "column", "disarmed": "field"}

LEFT_EMPTY = (
    "Were rows with the other label left blank? If so, pass it as --blank-means."
)

TOTAL_ADVICE = "If it is a total, delete that line."

_NOTES = tomllib.loads(
    files("cape_app.words").joinpath("notes.toml").read_text(encoding="utf-8")
)


def note_text(code: str, values: Mapping[str, Any]) -> str:
    """Word a note of `cape_app.files`.

    Examples
    --------
    >>> note_text("columns_not_used", {"columns": ["id"]})
    "the model does not use 1 column: 'id'."
    """
    words = dict(values)
    if code == "left_out":
        words["kind"] = _check.KINDS[values["kind"]].what
        named = [f"{column!r} ({why})" for column, why in values["columns"]]
        words["columns"] = listed(named, _MOST_NAMES)
    elif code == "spellings":
        words["n"] = sum(map(len, values["values"]))
        words["names"] = quoted(values["labels"], 2)
    elif "columns" in values:
        words["names"] = quoted(values["columns"], _MOST_NAMES)
    if code in _COUNTED:
        n = values["n"] if "n" in values else len(values["columns"])
        words["n"] = counted(n, _COUNTED[code])
    if code == "converted":
        words["here"] = KINDS[values["here"]]
        words["training"] = KINDS[values["training"]]
    elif code == "disarmed":
        words["advice"] = ""
        if values["predicted"]:
            words["advice"] = " To use that file as input, write Parquet instead."
    elif code == "labels_not_used":
        words["asked"] = ""
        words["why"] = "are not a random sample"
        if values["one_class"]:
            words["why"] = "all have the same label"
            words["asked"] = f" {LEFT_EMPTY}"
    text = _NOTES.get(code, "{text}").format_map(words)
    if values.get("file"):
        return f"{values['file']}: {text}"
    return text
