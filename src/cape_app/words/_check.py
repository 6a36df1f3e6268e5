"""What ``cape check`` says of a table, and why training stops."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cape.base._numbers import counted, listed, points, quoted
from cape.shown import _check
from cape_app.words._terminal import Block, Styled, TextTable

_MOST_NAMES = 8
_MOST_FINDINGS = 25

_WHY_COLUMN = {
    "given": "as you said",
    "named": "by its name",
    "only": "the only column of two values",
    "last": "the last column of two values",
    "identifier": "none: the column named looks like an identifier",
}

_OTHER_KINDS = {
    "numbers as text": "numbers that are text",
    "other": "lists or bytes, which no learner takes",
}


def options_of(dialect: Mapping[str, Any]) -> list[str]:
    """Write how a table is to be read as options.

    Examples
    --------
    >>> options_of({"marks": ",", "missing": ["n.v."]})
    ['--marks', ',', '--read-as-missing', 'n.v.']
    """
    options = []
    for name in ("separator", "encoding", "decimal", "marks"):
        if dialect.get(name):
            options += [f"--{name}", dialect[name]]
    for word in dialect.get("missing", ()):
        options += ["--read-as-missing", word]
    return options


def texts_stop(entry: Mapping[str, Any]) -> str:
    """Say which numbers are text, and how to read them.

    Parameters
    ----------
    entry : mapping
        From `cape_app.files._check.look_at_texts`.
    """
    name = entry["column"]
    text = f"column {name!r}: {texts_why(entry)}, so it would be read as text."
    ways = [f"leave it out ({shlex.join(['--drop', name])})"]
    if entry["dialect"]:
        ways.insert(0, f"read it with {shlex.join(options_of(entry['dialect']))}")
    other = _other_way(entry)
    if other:
        ways.insert(1, other)
    return f"{text} {' or '.join(ways).capitalize()[:1]}{' or '.join(ways)[1:]}."


def texts_why(entry: Mapping[str, Any]) -> str:
    """Say how numbers are written that are text."""
    seen = []
    if entry["example"]:
        seen.append(f"numbers are written as {entry['example']!r}")
    if entry["words"]:
        n = sum(entry["words"].values())
        words = quoted(entry["words"], 3)
        seen.append(
            f"{n:,} of {counted(entry['rows'], 'row')} say {words}, the others numbers"
        )
    return "; ".join(seen)


def _other_way(entry: Mapping[str, Any]) -> str:
    """Offer the other reading of 390,000, which may be thousands or decimals."""
    if entry["dialect"].get("marks") != ",":
        return ""
    number = entry["example"].strip("+-% ")
    thousands = number.replace(",", "")
    decimals = number.replace(",", ".")
    if number.count(",") != 1 or "." in number:
        return ""
    return f"with --decimal , if {number!r} is {decimals} and not {thousands}"


def groups_stop(columns: Sequence[str], reason: Sequence[Any]) -> str:
    """Say that groups are too many, and what to do."""
    groups = _check.reason_text(*reason)
    return (
        f"{' and '.join(map(repr, columns))} would make {groups}, which looks like "
        "an identifier. Name a column with fewer values (--group), cut "
        "numbers into ranges (--bins), or put rare values together in the file."
    )


def checked(content: Mapping[str, Any], file: str) -> Iterator[Block]:
    """Say what a table is, what is wrong with it, and how to train on it.

    Parameters
    ----------
    content : mapping
        From `cape_app.files._check.check_file`.
    file : str
        As it was named.
    """
    columns = counted(content["columns"], "column")
    yield f"{content['file']}: {counted(content['rows'], 'row')}, {columns}."
    yield _label_text(content["label"])
    yield from _group_blocks(content["group"])
    time = content["time"]
    if time:
        periods = counted(time["periods"], "period")
        yield f"Time: {time['column']!r}{', ' + periods if time['periods'] else ''}."
    rows = []
    for entry in content["findings"]:
        if entry["effect"] == "drop":
            rows.append([str(entry["column"]), _why(entry)])
    if rows:
        kept = rows[:_MOST_FINDINGS]
        more = len(rows) - len(kept)
        yield TextTable("Left out:", ["column", "because"], kept)
        if more:
            yield f"and {counted(more, 'more column')}; --json lists all."
    for entry in content["findings"]:
        if entry["kind"] == "spelled":
            why = texts_why(entry)
            yield f"Numbers: {entry['column']!r}, {why} ({_read_as(entry)})."
        elif entry["effect"] == "note":
            yield f"{_check.KINDS[entry['kind']].what}: {entry['why']}.".capitalize()
    yield from _check.expected_texts(content["expected"])
    if not content["train"]:
        yield (
            "No column is left to learn from: add one, or keep one of those left out "
            "(cape train --keep)."
        )
        return
    yield Styled(shlex.join(["cape", "train", file, *content["train"]]), "command")
    if content["backtest"]:
        yield Styled(
            shlex.join(["cape", "backtest", file, *content["backtest"]]), "command"
        )


def _why(entry: Mapping[str, Any]) -> str:
    if entry["kind"] == "numbers as text":
        return texts_why(entry)
    return entry["why"] or _OTHER_KINDS[entry["kind"]]


def _read_as(entry: Mapping[str, Any]) -> str:
    """Say how numbers are read, and how else they could be."""
    text = shlex.join(options_of(entry["dialect"]))
    other = _other_way(entry)
    return f"{text}; or {other}" if other else text


def _label_text(label: Mapping[str, Any]) -> str:
    """Name the label, and its values with their rows."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for one in label["values"]:
        sides[one["positive"]].append(f"{one['value']!r} ({one['rows']:,} rows)")
    text = (
        f"Label: {label['column']!r}, {_WHY_COLUMN[label['why']]}. Positive, "
        f"{points(label['prevalence'])}%: {listed(sides[True], _MOST_NAMES)}, "
        f"{_WHY_POSITIVE.get(label['why_positive'], label['why_positive'])}; negative: "
        f"{listed(sides[False], _MOST_NAMES)}."
    )
    if label["missing"]:
        text += f" Read as missing: {quoted(label['missing'], _MOST_NAMES)}."
    return text


_WHY_POSITIVE = {"given": "as you said"}


def _group_blocks(group: Mapping[str, Any]) -> Iterator[Block]:
    """Name the group columns, and the groups."""
    if not group["columns"]:
        why = _WHY_COLUMN.get(group["why"], "no column is called like one")
        yield f"Groups: {why}; name a column with --group."
        return
    names = quoted(group["columns"], _MOST_NAMES)
    sizes = []
    for name, facts in group["groups"].items():
        sizes.append(f"{name} ({facts['rows']:,} rows, {points(facts['prevalence'])}%)")
    text = (
        f"Groups: {names}, {_WHY_COLUMN[group['why']]}: {listed(sizes, _MOST_NAMES)}."
    )
    if group["missing"]:
        text += f" {counted(group['missing'], 'row')} without a value form one, too."
    yield text
