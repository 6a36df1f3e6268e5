"""Notes on files: what `cape.files` remarks by codes, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape._wording._numbers import quoted

_MOST_NAMES = 5

LEFT_EMPTY = (
    "Were rows with the other label left empty? --blank-means says which label that is."
)

TOTAL_ADVICE = "Is it a total below the rows? Then delete that line."

KINDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "flag": "true or false",
}
"""What a column holds."""

_NOTES = {
    "columns_not_used": "{n} {columns} not used by the model: {names}.",
    "converted": "column {column!r} holds {here} here and {training} in training: "
    "converted.",
    "respelled": "group column {column!r}: {value} is read as {read_as}, taken as the "
    "same group.",
    "training_file": "{path} is the file that the model was trained on: its "
    "predictions are of rows that the model has seen, and may look better than those "
    "of new rows.",
    "disarmed": "{n} fields that a spreadsheet would run have an apostrophe in front "
    "in {path}{advice}.",
    "rule": "{text}",
    "warning": "{text}",
    "no_label_in_sheet": "{path} has no label: no row was checked.",
    "labels_not_used": "labels of {group!r} are not used: the {returned} of {drawn} "
    "drawn rows that came back {why} (p = {p_value:.2g}).{asked}",
    "never_predicted": "--map: {column!r} never is {value!r}.",
    "sampled": "trained on a sample of {n} of {rows} rows, at most {most} of each "
    "group and label.",
    "looks_like": "read as text, though it looks like {look}, such as {example!r}: "
    "{names}. {advice}",
    "suspicious": "{kind}: {columns}. Leave a column out with --drop, all suspicious "
    "columns with --drop-suspicious.",
    "dropped": "dropped {kind}: {columns}.",
    "looks_unknown": "{value!r} in {column!r} is a category of its own. If it means "
    "that the category is not known, say so: --unknown {value!r}.",
    "one_table": "the rules of Local Law 144 ask for sex, for race/ethnicity, and for "
    "both together: name both columns with --group.",
    "missing_groups": "{n} of {rows} rows have no group: {what}.",
    "missing_labels": "{n} of {rows} rows have no label: they were left out.",
    "many_groups": "group column {column!r} has {n} values, each of which is a group; "
    "ranges would be fewer, such as --bins {column}={edges}.",
    "alike_names": "columns have the same name, or nearly: {names}; used: {used}.",
    "total": "the last line of {path} is a total ({word!r} in {column!r}) and no row: "
    "it was left out.",
    "against_rest": "positive is {positive}, negative the rest: {rest}.",
    "unseen_label": "label column {column!r}: {value!r} was not in training: it counts "
    "as {negative!r}.",
    "separator": "{path} is separated by {separator}, and was read so.",
    "missing_in_parts": "column {column!r} is not in {n} of {parts} files of {path}: "
    "its values are missing there.",
    "constant": "dropped constant columns, which tell nothing: {names}.",
    "perfect_scores": "the scores tell the classes apart almost perfectly: does a "
    "column hold the answer, or something that came after it?",
}

_LOOKS = {
    "date": ("dates", "Dates are read as 2024-12-31 or 31.12.2024."),
    "comma": (
        "numbers with ','",
        "If the comma is the decimal sign, say so (--decimal ,).",
    ),
    "point": (
        "numbers with '.'",
        "If the point is the decimal sign, say so (--decimal .).",
    ),
    "thousands": (
        "numbers with signs between thousands",
        "Numbers are read without such signs.",
    ),
}

_MISSING_GROUPS = {
    "group": "they are the group '(missing)'",
    "drop": "they were left out",
}

# A note for each kind: several columns of a file have the same fault.
_SUSPICIONS = {
    "row number": "row numbers, which mean nothing in another file",
    "tells the answer": "columns that tell the answer, perhaps because they were "
    "filled in after it was known",
    "date": "dates, which in later files come after all of training",
    "identifier": "identifiers, whose values are new in every file",
}


def note_text(code: str, values: Mapping[str, Any]) -> str:
    """Word a note of `cape.files`.

    Examples
    --------
    >>> note_text("columns_not_used", {"columns": ["id"]})
    "1 column not used by the model: 'id'."
    """
    words = dict(values)
    if code == "columns_not_used":
        names = values["columns"]
        words["n"] = len(names)
        words["columns"] = "column" if len(names) == 1 else "columns"
        words["names"] = quoted(names, _MOST_NAMES)
    elif code == "missing_groups":
        words["what"] = _MISSING_GROUPS[values["how"]]
    elif code == "alike_names":
        words["names"] = quoted(values["columns"], _MOST_NAMES)
        words["used"] = quoted(values["used"], _MOST_NAMES)
    elif code == "constant":
        words["names"] = quoted(values["columns"], _MOST_NAMES)
    elif code == "converted":
        words["here"] = KINDS[values["here"]]
        words["training"] = KINDS[values["training"]]
    elif code == "disarmed":
        words["advice"] = ""
        if values["predicted"]:
            words["advice"] = ": to predict that file again, write Parquet instead"
    elif code == "labels_not_used":
        words["asked"] = ""
        words["why"] = "are no random sample of them"
        if values["one_class"]:
            words["why"] = "all have the same label"
            words["asked"] = f" {LEFT_EMPTY}"
    elif code == "looks_like":
        words["look"], words["advice"] = _LOOKS[values["look"]]
        words["names"] = quoted(values["columns"], _MOST_NAMES)
    elif code in ("suspicious", "dropped"):
        words["kind"] = _SUSPICIONS[values["kind"]]
        listed = [f"{column!r} ({why})" for column, why in values["columns"]]
        words["columns"] = ", ".join(listed)
    text = _NOTES[code].format_map(words)
    if values.get("file"):
        return f"{values['file']}: {text}"
    return text
