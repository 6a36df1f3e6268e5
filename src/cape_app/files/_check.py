"""A look at a table before training: what is what, what is wrong, how to train on it.

`look_at_texts` and `split_labels` are what training knows, too. What is no matter of
files is in `cape.check`.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from cape import check
from cape.base._numbers import either, listed
from cape.base._table import as_kind, in_bins, plain_text, plain_value
from cape_app.files._columns import MOST_LABELS, Bins, by_value, folded, label_text
from cape_app.files._notes import Notes
from cape_app.files._reservoir import Reservoir
from cape_app.files._scan import OnRows, Scan
from cape_app.tables import Dialect, Source, TableError, check_columns_exist
from cape_app.words._check import options_of

Entry = dict[str, Any]
"""A finding: ``kind``, ``column``, ``effect`` and ``why``, as of `cape.check`."""

# ------------------------------------------------------------- numbers that are text

_SIGNS = "%€$£"
_DIGITS = r"(?:\d+|\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+)"
_MARKED = re.compile(rf"[{_SIGNS}]? ?[+-]?{_DIGITS}(?:[.,]\d+)? ?[{_SIGNS}]?")
_PLAIN = re.compile(r"[+-]?\d{1,16}(?:\.\d+)?")
_CODE = re.compile(r"[+-]?0\d")

_FEW_WORDS = 0.05
"""Largest share of words in a column of text that is most likely one of numbers."""

_FEWEST_NUMBERS = 10
"""With fewer distinct numbers, text is a matter of categories, as in 1st, 2nd, crew."""

_MOST_WORDS = 5


def look_at_texts(frame: pd.DataFrame, kinds: Mapping[str, str]) -> list[Entry]:
    """Find the columns of text that hold numbers, but for a few words or marks.

    As categories, the numbers of a later table would be new.

    Parameters
    ----------
    frame : DataFrame
    kinds : mapping from column to kind

    Returns
    -------
    list of dict
        With ``words``, which are no numbers, and ``dialect``, how to read the others:
        a dict that is empty if there is no way.

    Examples
    --------
    >>> prices = [f"{i},000" for i in range(100, 150)]
    >>> frame = pd.DataFrame({"price": [*prices, "n.v."]})
    >>> (entry,) = look_at_texts(frame, {"price": "text"})
    >>> entry["dialect"]
    {'missing': ('n.v.',), 'marks': ','}
    """
    found = []
    for name, kind in kinds.items():
        if kind != "text":
            continue
        counts = frame[name].dropna().astype(str).str.strip().value_counts()
        counts = counts[counts.index != ""]
        is_number = np.array([bool(_MARKED.fullmatch(text)) for text in counts.index])
        numbers, words = counts[is_number], counts[~is_number]
        codes = sum(bool(_CODE.match(text)) for text in numbers.index)
        is_mostly = words.sum() <= _FEW_WORDS * counts.sum() and codes <= 1
        if not is_mostly or len(numbers) < _FEWEST_NUMBERS:
            continue
        marked = [text for text in numbers.index if not _PLAIN.fullmatch(text)]
        dialect: dict[str, Any] = {}
        if 0 < len(words) <= _MOST_WORDS:
            dialect["missing"] = tuple(map(str, words.index))
        if marked:
            dialect |= _dialect_of(marked)
        shown = marked or ([] if len(words) else numbers.index)
        example = shown[0] if len(shown) else ""
        entry = {
            "kind": "numbers as text",
            "column": name,
            "effect": "stop",
            "words": {str(word): int(n) for word, n in words.items()},
            "rows": int(counts.sum()),
            "example": example,
            "dialect": dialect if len(words) <= _MOST_WORDS else {},
        }
        found.append(entry)
    return found


def mend_kinds(
    frame: pd.DataFrame, kinds: Mapping[str, str], scan: Scan
) -> dict[str, str]:
    """Convert columns that a line below the rows made text to what the rows hold.

    Parameters
    ----------
    frame : DataFrame
        It is changed.
    kinds : mapping from column to kind
    scan : Scan
        That has read it.

    Returns
    -------
    dict from column to kind
    """
    mended = dict(kinds)
    for name in scan.total:
        for kind in ("number", "date"):
            if mended.get(name) != "text":
                continue
            try:
                frame[name] = as_kind(frame[name], kind, scan.path)
            except ValueError:
                continue
            mended[name] = kind
    return mended


def _dialect_of(texts: Iterable[str]) -> dict[str, str]:
    """Tell the decimal sign and the marks of numbers.

    Examples
    --------
    >>> _dialect_of(["1.234,5", "12,5 €"])
    {'decimal': ',', 'marks': '€.'}
    >>> _dialect_of(["390,000", "45,000"]), _dialect_of(["45%", "7.5%"])
    ({'marks': ','}, {'marks': '%'})
    """
    together = " ".join(texts)
    marks = "".join(sign for sign in _SIGNS if sign in together)
    decimal = "."
    bare = [re.sub(rf"[{_SIGNS}]", "", text).strip() for text in texts]
    # Behind other than three digits, or behind another mark, a comma marks decimals.
    if any(re.search(r",(?!\d{3}(?:\D|$))|\.\d{3},\d", text) for text in bare):
        decimal = ","
    for sign in (",", ".", "'", " ", "\u00a0", "\u202f"):
        thousands = rf"\d{re.escape(sign)}\d{{3}}(?!\d)"
        # A point and three digits are decimals unless a comma marks them.
        is_mark = sign != decimal and (sign != "." or decimal == ",")
        if is_mark and any(re.search(thousands, text) for text in bare):
            marks += " " if sign in "\u00a0\u202f" else sign
    found = {"decimal": decimal} if decimal == "," else {}
    return found | ({"marks": marks} if marks else {})


def with_changes(dialect: Dialect, changes: Iterable[Mapping[str, Any]]) -> Dialect:
    """Return a dialect that reads what `look_at_texts` found."""
    for change in changes:
        marks = "".join(dict.fromkeys(dialect.marks + change.get("marks", "")))
        decimal = change.get("decimal", dialect.decimal)
        missing = dict.fromkeys((*dialect.missing, *change.get("missing", ())))
        dialect = replace(
            dialect,
            decimal=decimal,
            marks=marks.replace(decimal, ""),
            missing=tuple(missing),
        )
    return dialect


# ------------------------------------------------------------------------- the labels

_YES = {"yes", "y", "ja", "j", "true", "t", "wahr", "oui", "o", "si", "sí", "1"}
_NO = {"no", "n", "nein", "false", "f", "falsch", "non", "0"}
_NEGATION = re.compile(r"(?:not?|non|kein|nicht|un|in)\W?(.*)")
_UNKNOWN = {
    "?",
    "-",
    "--",
    ".",
    "unknown",
    "unbekannt",
    "n.v.",
    "k.a.",
    "n. v.",
    "k. a.",
}
_UNKNOWN |= {"keine angabe", "missing", "n.a.", "none", "tbd", "offen", "pending"}
_FEW_UNKNOWN = 0.2


def spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Bring the spellings of each label together, the most frequent ones first.

    Examples
    --------
    >>> spellings({"nein": 50, "Ja": 20, "ja ": 5, "J": 2})
    [['nein'], ['Ja', 'ja ', 'J']]
    """
    by_size = sorted(counts, key=lambda value: -counts[value])
    labels: dict[str, list[str]] = defaultdict(list)
    for value in by_size:
        labels[folded(value)].append(value)
    if len(labels) > 2 and labels.keys() <= _YES | _NO:
        both: dict[str, list[str]] = defaultdict(list)
        for value in by_size:
            both["yes" if folded(value) in _YES else "no"].append(value)
        labels = both
    # Two labels may differ in their capitals alone.
    return [[value] for value in by_size] if len(labels) < 2 else list(labels.values())


def order_labels(labels: Iterable[str], positive: str | None = None) -> tuple[str, str]:
    """Tell the negative from the positive label.

    Parameters
    ----------
    labels : iterable of str
        The two labels, as `plain_text` writes them.
    positive : str, optional
        The positive label as the user named it. None takes the one that says yes, or
        else the greater of the two: by value where both are numbers, else by the
        alphabet.

    Returns
    -------
    negative, positive : str

    Raises
    ------
    TableError
        If the user named a third label.

    Examples
    --------
    >>> order_labels(["10", "9"]), order_labels(["nein", "ja"])
    (('9', '10'), ('nein', 'ja'))
    >>> order_labels(["no", "yes"], "no")
    ('yes', 'no')
    """
    # As text, "10" would come before "9".
    smaller, greater = sorted(labels, key=by_value)
    wanted = None if positive is None else folded(plain_value(positive))
    says_yes = folded(smaller) in _YES and folded(greater) in _NO
    if wanted == folded(smaller) or (wanted is None and says_yes):
        return greater, smaller
    if wanted in (folded(greater), None):
        return smaller, greater
    raise TableError(
        f"the positive label must be {smaller!r} or {greater!r}, got {positive!r}."
    )


def split_labels(
    counts: Mapping[str, int], positive: Sequence[str], where: str, notes: Notes
) -> tuple[tuple[str, str], tuple[tuple[str, ...], ...]]:
    """Tell negative from positive values of a label column, which may be many.

    Parameters
    ----------
    counts : mapping from str to int
        The values, as `label_text` writes them, and the rows of each.
    positive : sequence of str
        The values that the user named, from `named_values`, in any spelling.
    where : str
        File and column, for messages.
    notes : Notes
        Collects what is set against what, where there are more than two values.

    Returns
    -------
    labels : tuple of str
        The negative and the positive label.
    values : tuple of two tuples of str
        The values that they stand for; empty if they are the values.

    Raises
    ------
    TableError
        If the values cannot be told apart in two.

    Examples
    --------
    >>> counts = {"Pass": 60, "Fail": 30, "Distinction": 10}
    >>> labels, values = split_labels(
    ...     counts, ["Pass", "Distinction"], "marks.csv, label column 'mark'", Notes()
    ... )
    >>> labels
    ('not Pass or Distinction', 'Pass or Distinction')
    >>> values
    (('Fail',), ('Pass', 'Distinction'))
    """
    by_size = sorted(counts, key=lambda value: -counts[value])
    shown = {value: f"{value[:40]!r} ({counts[value]} rows)" for value in by_size}
    named = set(map(folded, positive))
    positives = [value for value in by_size if folded(value) in named]
    negatives = [value for value in by_size if folded(value) not in named]
    for value in positive:
        if folded(value) not in map(folded, positives):
            raise TableError(
                f"{where} has no value {value!r}; its values are "
                f"{listed(shown.values(), 8)}. Give each its own --positive."
            )
    if positive and not negatives:
        raise TableError(f"{where}: --positive names all values, so none is negative.")
    labels = spellings(counts)
    if not positive:
        if len(labels) != 2:
            raise TableError(
                f"{where} must hold two values, got {len(counts)}: "
                f"{listed(shown.values(), 4)}.{_advice(labels, counts)}"
            )
        _, greater = order_labels([spelled[0] for spelled in labels])
        negatives, positives = sorted(labels, key=lambda one: one[0] == greater)
    if len(counts) == 2:
        return (negatives[0], positives[0]), ()
    names = (negatives[0], positives[0])
    if len(labels) == 2:
        notes.say("spellings", labels=names, values=[negatives, positives])
    else:
        name = either(positive)
        names = (f"not {name}", name)
        rest = listed([shown[value] for value in negatives], 8)
        quoted_names = either([repr(value) for value in positive])
        notes.say("against_rest", positive=quoted_names, rest=rest)
    return names, (tuple(negatives), tuple(positives))


def _advice(labels: Sequence[Sequence[str]], counts: Mapping[str, int]) -> str:
    """Say what to do about a column that has not two labels."""
    if len(labels) < 2:
        return " Nothing can be learned from one: add rows with the other label."
    if len(counts) > MOST_LABELS:
        return " Make a column of two values of it first, such as 1 above a limit."
    likely, _ = likely_positive([spelled[0] for spelled in labels], counts)
    option = shlex.join(["--positive", likely])
    return (
        " If one is a mistake, correct it; if one means that the label is unknown, say "
        "so (--read-as-missing); else name those that count as positive, and the rest "
        f"is negative, such as {option}."
    )


def likely_positive(
    labels: Iterable[str], counts: Mapping[str, int]
) -> tuple[str, str]:
    """Guess which label is the positive one, and say why.

    Examples
    --------
    >>> likely_positive(["nein", "ja"], {"nein": 5, "ja": 9})
    ('ja', 'says yes')
    >>> likely_positive(["good", "bad"], {"good": 50, "bad": 9})
    ('bad', 'the rarest')
    """
    labels = sorted(labels, key=lambda label: counts[label])
    if not any(is_text for is_text, *_ in map(by_value, labels)):
        return max(labels, key=by_value), "the greater"
    for label in labels:
        if folded(label) in _YES:
            return label, "says yes"
    for label in labels:
        negation = _NEGATION.fullmatch(folded(label))
        if negation and negation[1] in map(folded, labels):
            opposite = [one for one in labels if folded(one) == negation[1]]
            return opposite[0], f"the opposite of {label!r}"
    return labels[0], "the rarest"


# -------------------------------------------------------------------------- the roles

_LABELS = {"label", "target", "outcome", "y", "class", "default", "defaulted", "churn"}
_LABELS |= {"churned", "survived", "readmitted", "response", "result", "event", "ziel"}
_LABELS |= {"converted", "bought", "fraud", "approved", "accepted", "admitted", "hired"}
_LABELS |= {"passed", "died", "death", "recid", "repaid", "ergebnis", "ausfall", "paid"}
_LABELS |= {"gekündigt", "kündigung", "bestanden", "zahlungsausfall", "complication"}
_GROUPS = (
    {"race", "ethnicity", "ethnic", "ethnie", "rasse", "herkunft"},
    {"sex", "gender", "geschlecht", "sexe", "sexo"},
    {"nationality", "nationalität", "staatsangehörigkeit", "religion", "disability"},
    {"age", "alter", "altersgruppe"},
)
_MOST_GROUPS = 20
_FEWEST_PERIODS = 3
_FEWEST_ROWS_OF_PERIOD = 100
_FREQUENCIES = {"year": 900, "quarter": 270, "month": 80}
"""Lengths of periods, and days from which on there are enough of them."""


def _words_of(name: str) -> set[str]:
    """Return the words of a name: "ageGroup" and "age_group" have two."""
    parted = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÄÖÜ])", "_", name)
    return {name.casefold(), *re.split(r"[\W\d_]+", parted.casefold())}


def find_label(frame: pd.DataFrame, counts: Mapping[str, Mapping[str, int]]) -> Any:
    """Guess the label column, and say why; None if no column has two values.

    Parameters
    ----------
    frame : DataFrame
    counts : mapping from column to mapping from value to int
        The values of the columns that have few.
    """
    two = []
    for name, values in counts.items():
        known = {
            value: n for value, n in values.items() if folded(value) not in _UNKNOWN
        }
        is_group = any(_words_of(name) & words for words in _GROUPS)
        if len(spellings(known)) == 2 and not is_group:
            two.append(name)
    for name in two:
        if folded(name) in _LABELS:
            return name, "named"
    for name in two[::-1]:
        if _words_of(name) & _LABELS:
            return name, "named"
    if not two:
        return None
    return two[-1], "only" if len(two) == 1 else "last"


def find_group(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Guess the group column by its name."""
    names = list(names)
    for words in _GROUPS:
        for name in names:
            n_values = frame[name].nunique()
            few = n_values <= _MOST_GROUPS or words is _GROUPS[-1]
            if _words_of(name) & words and n_values >= 2 and few:
                return name
    return None


def edges_of(values: pd.Series) -> list[float]:
    """Cut numbers into ranges of as many rows each, at round numbers."""
    quartiles = np.nanquantile(values, [0.25, 0.5, 0.75])
    step = 5 if np.ptp(quartiles) >= 10 else 1
    return sorted({float(step * round(quartile / step)) for quartile in quartiles})


def find_periods(values: pd.Series) -> tuple[int, str | None] | None:
    """Count the periods of a column and name their length; None if there are too few.

    Only of what `cape backtest` can sort: dates, numbers, and text such as 2023-Q1.
    """
    freq = None
    if values.dtype.kind == "M":
        days = (values.max() - values.min()).days
        wanted = [name for name, least in _FREQUENCIES.items() if days >= least]
        if not wanted:
            return None
        freq = wanted[0]
        values = values.dt.to_period(freq[0].upper())
    elif (
        values.dtype.kind not in "iuf"
        and not values.astype(str).str.match(r"\d{4}\b|\d{4}[-/]?[QHW]").all()
    ):
        return None
    n_periods = values.nunique()
    enough = len(values) >= _FEWEST_ROWS_OF_PERIOD * n_periods
    if values.isna().any() or n_periods < _FEWEST_PERIODS or not enough:
        return None
    return n_periods, freq


# --------------------------------------------------------------------------- the whole

_MOST_ROWS = 20_000
_MOST_LEVELS = 30
_MOST_ROUNDS = 3
_ALL = "\0all"
_WINDOWS = "cp1252"
"""What spreadsheets of western Europe write where it is not UTF-8."""


def check_file(
    path: Source,
    *,
    label: str | None = None,
    group: Sequence[str] = (),
    time: str | None = None,
    drop: Sequence[str] = (),
    positive: Sequence[str] = (),
    bins: Bins | None = None,
    weight: str | None = None,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> dict[str, Any]:
    """Look at a table, and find out how to train on it.

    Parameters
    ----------
    path : str or Path
        As in `train_file`.
    label, time : str, optional
        The column; by default it is guessed.
    group : sequence of str, default=()
        Columns that make the groups; by default one is guessed.
    drop : sequence of str, default=()
        Columns that must not be used.
    positive : sequence of str, default=()
        The values of the label that count as positive; by default they are guessed.
    bins : mapping from str to sequence of float, optional
        Edges of the ranges of group columns.
    weight : str, optional
        Column with the weight of each row, which is no feature.
    dialect : Dialect, optional
        How the table is written.
    notes : Notes, optional
        Collects remarks.
    on_rows : callable, optional
        Called with the stage and the rows just done.

    Returns
    -------
    dict
        ``rows`` and ``columns`` of the table; ``label``, ``group`` and ``time`` with
        their reasons; ``findings``; ``expected``, see `cape.check`; and ``train`` and
        ``backtest``, the arguments of these commands, where a column is left to learn
        from.

    Examples
    --------
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> content = check_file(folder / "train.csv", group=["z"])
    >>> content["label"]["column"], content["findings"]
    ('y', [])
    """
    notes = Notes() if notes is None else notes
    dialect = dialect or Dialect()
    spelled: list[Entry] = []
    for _ in range(_MOST_ROUNDS):
        try:
            scan, kinds, frame = _read(path, dialect, notes, on_rows)
        except TableError as error:
            if not dialect.is_utf8 or not isinstance(error.__cause__, UnicodeError):
                raise
            dialect = replace(dialect, encoding=_WINDOWS)
            continue
        named = [*drop, *group, *([] if weight is None else [weight])]
        check_columns_exist(named, scan.table.names, scan.path)
        texts = look_at_texts(frame, kinds)
        changed = dialect
        if scan.table.by_hand:
            changed = with_changes(dialect, [entry["dialect"] for entry in texts])
        if changed == dialect:
            break
        spelled += [entry | {"kind": "spelled", "effect": "note"} for entry in texts]
        dialect = changed
    used = [str(name) for name in frame if name not in (*drop, weight)]
    counts = {}
    for name in used:
        # To write all numbers of a table as text would take long.
        if frame[name].nunique() <= _MOST_LEVELS:
            levels = label_text(frame[name]).value_counts()
            counts[name] = {str(value): int(n) for value, n in levels.items()}
    label_entry = _look_at_label(scan, frame, counts, label, positive, notes)
    label = label_entry["column"]
    words = label_entry["missing"]
    dialect = with_changes(dialect, [{"missing": words}])
    text = label_text(frame[label])
    frame = frame[text.notna() & ~text.isin(words)]
    text = text[frame.index]
    positives = [one["value"] for one in label_entry["values"] if one["positive"]]
    y = text.isin(positives).to_numpy()
    why = "given"
    if not group:
        guessed = find_group(frame, [name for name in used if name != label])
        group, why = ([guessed], "named") if guessed else ([], "none")
    bins = dict(bins or {})
    z = pd.DataFrame(index=frame.index)
    for name in group:
        is_number = kinds[name] == "number" and frame[name].nunique() > _MOST_GROUPS
        if is_number and name not in bins and why == "named":
            bins[name] = edges_of(frame[name])
        values = frame[name]
        if name in bins:
            values = in_bins(values, bins[name], scan.path)
        z[name] = plain_text(values).fillna("(missing)")
    n_without = int(frame[list(group)].isna().any(axis=1).sum())
    unread = [entry["column"] for entry in texts]
    features = [
        name for name in used if name not in (label, *group) and name not in unread
    ]
    others = [name for name, kind in kinds.items() if kind == "other"]
    found = check(
        frame[features],
        y,
        sensitive_features=z if len(z.columns) else None,
        sample_weight=None if weight is None else frame[weight],
    )
    entries: list[Entry] = [*found.to_dict()["findings"]]
    texts = [entry for entry in texts if entry["column"] not in (label, *group)]
    entries += [entry | {"effect": "drop"} for entry in texts]
    entries += [entry for entry in spelled if entry["column"] not in unread]
    entries += [
        {"kind": "other", "column": name, "effect": "drop", "why": ""}
        for name in others
    ]
    if any(entry["kind"] == "groups" for entry in entries):
        group, n_without, why = [], 0, "identifier"
    time_entry = _look_at_time(frame, entries, time)
    left_out = [*drop, *(one["column"] for one in entries if one["effect"] == "drop")]
    written = {
        name: value
        for name, value in asdict(dialect).items()
        if value != getattr(Dialect(), name)
    }
    arguments = [*options_of(written), "--label", label]
    for name in group:
        arguments += ["--group", name]
    for value in label_entry["named"]:
        arguments += ["--positive", value]
    for name, edges in bins.items():
        arguments += ["--bins", f"{name}={','.join(f'{edge:g}' for edge in edges)}"]
    if n_without:
        arguments += ["--missing-groups", "group"]
    if weight is not None:
        arguments += ["--weight", weight]
    for name in left_out:
        arguments += ["--drop", name]
    something_is_left = bool({*used} - {label, *group, *left_out})
    to_backtest = None
    if something_is_left and time_entry and time_entry["periods"]:
        place = arguments.index(time_entry["column"]) - 1
        freq = time_entry["freq"]
        to_backtest = [*arguments[:place], "--time", *arguments[place + 1 :]]
        to_backtest += [] if freq is None else ["--freq", freq]
    return {
        "file": scan.path.name,
        "rows": scan.rows,
        "looked_at": len(frame),
        "columns": len(scan.table.names),
        "label": label_entry,
        "group": {
            "columns": list(group),
            "why": why,
            "missing": n_without,
            "groups": found.groups if group else {},
        },
        "time": time_entry,
        "findings": entries,
        "dialect": {"decimal": dialect.decimal, "marks": dialect.marks},
        "expected": found.expected,
        "train": [*arguments, "--out", "model.cape"] if something_is_left else [],
        "backtest": to_backtest,
    }


def _read(
    path: Source, dialect: Dialect, notes: Notes, on_rows: OnRows | None
) -> tuple[Scan, dict[str, str], pd.DataFrame]:
    """Read a table, or a random sample of its rows."""
    scan = Scan(path, dialect, notes, on_rows)
    kinds = scan.table.kinds()
    types = {name: kind for name, kind in kinds.items() if kind != "other"}
    reservoir = Reservoir([], _ALL, most=_MOST_ROWS)
    for part in scan.parts(types):
        reservoir.add(part.assign(**{_ALL: 0}))
        scan.on_rows("reading", len(part))
    frame = reservoir.sample().drop(columns=_ALL)
    return scan, mend_kinds(frame, kinds, scan), frame


def _look_at_label(
    scan: Scan,
    frame: pd.DataFrame,
    counts: Mapping[str, Mapping[str, int]],
    label: str | None,
    positive: Sequence[str],
    notes: Notes,
) -> Entry:
    """Find the label, its spellings, and which of them are positive."""
    why = "given"
    if label is None:
        guessed = find_label(frame, counts)
        if guessed is None:
            raise TableError(
                f"{scan.path}: no column has two values that could be the label; name "
                "it (--label)."
            )
        label, why = guessed
    check_columns_exist([label], scan.table.names, scan.path)
    where = f"{scan.path}, label column {label!r}"
    values = label_text(frame[label]).value_counts()
    known = {str(value): int(n) for value, n in values.items()}
    missing = [value for value in known if folded(value) in _UNKNOWN]
    n_missing = sum(known[value] for value in missing)
    if len(known) - len(missing) < 2 or n_missing > _FEW_UNKNOWN * len(frame):
        missing = []
    known = {value: n for value, n in known.items() if value not in missing}
    if len(known) < 2 or len(known) > MOST_LABELS:
        # An error that says what to do.
        split_labels(known, [], where, notes)
    labels = {spelled[0]: spelled for spelled in spellings(known)}
    totals = {name: sum(known[value] for value in labels[name]) for name in labels}
    named = list(positive)
    reason = "given"
    if not named:
        name, reason = likely_positive(labels, totals)
        # "J" is no other spelling of "ja".
        distinct: dict[str, str] = {}
        for value in labels[name]:
            distinct.setdefault(folded(value), value)
        named = list(distinct.values())
    names, of_names = split_labels(known, named, where, Notes())
    positives = of_names[1] if of_names else names[1:]
    is_default = len(labels) == 2 and order_labels(labels)[1] == named[0]
    listed_values = [
        {"value": value, "rows": n, "positive": value in positives}
        for value, n in known.items()
    ]
    return {
        "column": label,
        "why": why,
        "positive": named[0],
        "why_positive": reason,
        "named": [] if is_default and not positive else named,
        "values": listed_values,
        "missing": missing,
        "prevalence": sum(known[value] for value in positives) / sum(known.values()),
    }


def _look_at_time(
    frame: pd.DataFrame, entries: list[Entry], time: str | None
) -> Entry | None:
    """Find the column of periods among the dates, and count them."""
    dates = [entry["column"] for entry in entries if entry["kind"] == "date"]
    if time is not None:
        if time not in dates:
            entries.append(
                {"kind": "date", "column": time, "effect": "drop", "why": "given"}
            )
        dates = [time]
    for name in dates:
        periods = find_periods(frame[name])
        if periods is not None:
            n_periods, freq = periods
            return {"column": name, "periods": n_periods, "freq": freq}
    return {"column": dates[0], "periods": 0, "freq": None} if dates else None
