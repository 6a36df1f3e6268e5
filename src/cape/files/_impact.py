"""The table of a bias audit, from a file with decisions or scores and no labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cape._tables import Dialect, TableError, check_columns_exist
from cape._wording._numbers import quoted
from cape.files._columns import (
    by_value,
    check_named_once,
    group_text,
    named_values,
    plain_text,
)
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan
from cape.metrics._impact import LEAST_SHARE, impact_ratios

_NO_ANSWER = (
    "unknown",
    "undisclosed",
    "not disclosed",
    "not specified",
    "declined",
    "decline to state",
    "prefer not to say",
    "?",
)
"""What forms call a question that was not answered, in small letters."""


def impact_of_file(
    path: str | Path,
    *,
    group: Sequence[str],
    prediction: str | None = None,
    score: str | None = None,
    positive: Sequence[str] | None = None,
    unknown: Sequence[str] = (),
    min_share: float = LEAST_SHARE,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: OnRows | None = None,
) -> tuple[pd.DataFrame, str | None, str]:
    """Compute selection rates and impact ratios of the groups of a file.

    The columns that are named have to fit into memory.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet or Arrow.
    group : sequence of str
        Group columns, such as sex and race.
    prediction, score : str, optional
        Column with the decision or, instead, with the score.
    positive : sequence of str, optional
        The decisions that mean "selected"; by default the greater of two.
    unknown : sequence of str, default=()
        Values of group columns that mean that the category is not known.
    min_share : float, default=0.02
        See `impact_ratios`.
    dialect, notes, on_rows
        As in `cape.files.count_file`.

    Returns
    -------
    table : DataFrame
        From `impact_ratios`.
    selected : str or None
        The decisions that mean "selected"; None for scores.
    sha256 : str
        Hash of the bytes that were read.

    Raises
    ------
    TableError
        If a column or a decision is missing, or if nobody can tell who is selected.
    """
    notes = Notes() if notes is None else notes
    check_named_once(group)
    scan = Scan(path, dialect, on_rows)
    # As text, decisions 1 and 1.0 are the same.
    column, kind = str(prediction), "text"
    if score is not None:
        column, kind = score, "number"
    check_columns_exist([column, *group], scan.table.names, path)
    frames = []
    for frame in scan.parts({**dict.fromkeys(group, "text"), column: kind}, notes):
        texts = {}
        for name in group:
            text = group_text(frame[name], notes)
            texts[name] = text.mask(text.isin(unknown))
        frames.append(frame.assign(**texts))
        scan.on_rows("counting", len(frame))
    table = pd.concat(frames, ignore_index=True)
    n_missing = int(table[column].isna().sum())
    if n_missing:
        raise TableError(
            f"{path}, column {column!r}: {n_missing} of {len(table)} rows have no "
            "value. Leave out the rows of people who were not assessed."
        )
    for name in group:
        levels = table[name].dropna().unique()
        unanswered = [level for level in levels if level.lower() in _NO_ANSWER]
        if unanswered:
            notes.say("looks_unknown", column=name, value=unanswered[0])
    groups = table[list(group)]
    if score is not None:
        ratios = impact_ratios(
            y_score=table[column], sensitive_features=groups, min_share=min_share
        )
        return ratios, None, scan.sha256
    decisions = plain_text(table[column])[0]
    selected = _selected(decisions, positive, f"{path}, column {column!r}")
    ratios = impact_ratios(
        decisions.isin(selected),
        sensitive_features=groups,
        pos_label=True,
        min_share=min_share,
    )
    return ratios, " or ".join(selected), scan.sha256


def _selected(
    decisions: pd.Series, positive: Sequence[str] | None, where: str
) -> list[str]:
    """Return the decisions that mean "selected", or raise if nobody can tell."""
    labels = sorted(decisions.unique(), key=by_value)
    named = named_values(positive)
    missing = [value for value in named if value not in labels]
    # Of one value it may be that nobody is selected.
    if missing and len(labels) > 1:
        raise TableError(f"{where} never is {missing[0]!r}, but {quoted(labels, 5)}.")
    if named:
        return named
    if len(labels) == 2:
        return labels[1:]
    if labels in (["0"], ["1"]):
        return ["1"]
    raise TableError(
        f"{where} holds {quoted(labels, 5)}: say which of them mean selected "
        "(--positive) or, if they are scores, name the column with --score."
    )
