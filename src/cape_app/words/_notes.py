"""Notes on files: what `cape_app.files` remarks by codes, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape.base._numbers import counted, quoted
from cape.shown._results import KINDS

_MOST_NAMES = 5

LEFT_EMPTY = (
    "Were rows with the other label left blank? If so, pass it as --blank-means."
)

TOTAL_ADVICE = "If it is a total, delete that line."

_NOTES = {
    "columns_not_used": "the model does not use {n}: {names}.",
    "converted": "column {column!r} holds {here}, but held {training} in training. It "
    "was converted.",
    "respelled": "group column {column!r}: {value} is read as {read_as}, the same "
    "group.",
    "training_file": "{path} is the file the model was trained on. Predictions for "
    "rows it has seen may look better than those for new rows.",
    "disarmed": "{path}: {n} that spreadsheets would run as formulas got a leading "
    "apostrophe.{advice}",
    "no_label_in_sheet": "{path} has no labels, so nothing was checked.",
    "labels_not_used": "labels for {group!r} are not used: {returned} of the {drawn} "
    "rows drawn came back and {why} (p = {p_value:.2g}).{asked}",
    "never_predicted": "--map: {value!r} never occurs in {column!r}.",
    "same_as_label": "{column!r} equals {label!r} in every row. Is it a copy of the "
    "label rather than a prediction?",
    "sampled": "the model was trained on a sample of {n} of {rows} rows, at most "
    "{most} per group and label.",
    "looks_like": "read {names} as text, but the values look like {look}, such as "
    "{example!r}. {advice}",
    "few_words": "read {column!r} as text because of {n}, such as {value!r}; all other "
    "values are numbers. If it means that the number is unknown, leave it blank.",
    "suspicious": "{kind}: {columns}. Leave out a column with --drop, or all "
    "suspicious ones with --drop-suspicious.",
    "dropped": "dropped {kind}: {columns}.",
    "missing_groups": "{n} of {rows} rows have no group and {what}.",
    "missing_labels": "{n} of {rows} rows have no label and were left out.",
    "many_groups": "group column {column!r} has {n} values, each a group of its own. "
    "To use ranges instead, pass --bins {column}={edges}.",
    "alike_names": "some columns have the same or nearly the same name: {names}. The "
    "model uses {used}.",
    "total": "the last line of {path} is a total ({word!r} in {column!r}), not a row, "
    "and was left out.",
    "against_rest": "positive: {positive}; negative: the rest ({rest}).",
    "unseen_label": "label column {column!r}: {value!r} did not occur in training and "
    "counts as {negative!r}.",
    "separator": "{path} uses {separator} as the separator and was read that way.",
    "missing_in_parts": "column {column!r} is missing from {n} of {parts} files of "
    "{path}; its values count as missing there.",
    "own_columns": "dropped columns that cape predict wrote: {names}.",
    "constant": "dropped columns with a single value: {names}.",
    "not_read": "{why} This batch is left out; the others are included.",
    "perfect_scores": "the scores tell the classes apart almost perfectly. Does a "
    "column hold the answer, or something recorded once it was known?",
}

_LOOKS = {
    "date": ("dates", "Write dates as 2024-12-31 or 31.12.2024."),
    "comma": ("numbers with ','", "If the comma marks decimals, pass --decimal ','."),
    "point": ("numbers with '.'", "If the period marks decimals, pass --decimal '.'."),
    "thousands": ("numbers with thousands separators", "Leave the separators out."),
}

_MISSING_GROUPS = {"group": "form the group '(missing)'", "drop": "were left out"}

# A note for each kind: several columns of a file have the same fault.
_SUSPICIONS = {
    "row number": "row numbers, which mean nothing in another file",
    "tells the answer": "columns that give the answer away, perhaps because they were "
    "filled in after it was known",
    "date": "dates, which in later files all come after the dates in training",
    "identifier": "identifiers, which are new in every file",
}


def note_text(code: str, values: Mapping[str, Any]) -> str:
    """Word a note of `cape_app.files`.

    Examples
    --------
    >>> note_text("columns_not_used", {"columns": ["id"]})
    "the model does not use 1 column: 'id'."
    """
    words = dict(values)
    if code in ("suspicious", "dropped"):
        words["kind"] = _SUSPICIONS[values["kind"]]
        listed = [f"{column!r} ({why})" for column, why in values["columns"]]
        words["columns"] = ", ".join(listed)
    elif "columns" in values:
        words["names"] = quoted(values["columns"], _MOST_NAMES)
    if code == "columns_not_used":
        words["n"] = counted(len(values["columns"]), "column")
    elif code == "few_words":
        words["n"] = counted(values["n"], "value")
    elif code == "missing_groups":
        words["what"] = _MISSING_GROUPS[values["how"]]
    elif code == "alike_names":
        words["used"] = quoted(values["used"], _MOST_NAMES)
    elif code == "converted":
        words["here"] = KINDS[values["here"]]
        words["training"] = KINDS[values["training"]]
    elif code == "disarmed":
        words["n"] = counted(values["n"], "field")
        words["advice"] = ""
        if values["predicted"]:
            words["advice"] = " To use that file as input, write Parquet instead."
    elif code == "labels_not_used":
        words["asked"] = ""
        words["why"] = "are not a random sample"
        if values["one_class"]:
            words["why"] = "all have the same label"
            words["asked"] = f" {LEFT_EMPTY}"
    elif code == "looks_like":
        words["look"], words["advice"] = _LOOKS[values["look"]]
    text = _NOTES.get(code, "{text}").format_map(words)
    if values.get("file"):
        return f"{values['file']}: {text}"
    return text
