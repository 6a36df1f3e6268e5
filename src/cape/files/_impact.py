"""Selection rates and impact ratios of a file with decisions or scores, and no labels.

They are the tables of a bias audit by New York City's Local Law 144: 6 RCNY 5-301.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cape._groups import MISSING_GROUP, check_groups, group_labels
from cape._tables import Dialect, Source, TableError, check_columns_exist
from cape._validation import check_prevalence
from cape._wording._numbers import quoted
from cape.files import _columns
from cape.files._notes import Notes
from cape.files._scan import OnRows, Scan

LEAST_SHARE = 0.02
"""Categories of a smaller share of the rows may be left out: 6 RCNY 5-301 (d)."""

_NO_ANSWER = "unknown|undisclosed|not (disclosed|specified)|declined?( to .*)?|"
_NO_ANSWER += r"prefer not to .*|\?"
"""What forms call a question that was not answered."""


def impact_of_file(
    path: Source,
    column: str,
    *,
    is_score: bool,
    group: Sequence[str],
    positive: Sequence[str] | None,
    unknown: Sequence[str],
    min_share: float,
    dialect: Dialect,
    notes: Notes,
    on_rows: OnRows,
) -> tuple[pd.DataFrame, dict[str, Any], str]:
    """Compute selection rates and impact ratios of the groups of a file.

    The columns that are named have to fit into memory.

    Parameters
    ----------
    path : str or Path
    column : str
        The decision or, if ``is_score``, the score.
    is_score : bool
    group : sequence of str
        Group columns, such as sex and race.
    positive : sequence of str or None
        The decisions that mean "selected"; None takes the greater of two.
    unknown : sequence of str
        Values of group columns that mean that the category is not known.
    min_share : float
        See `impact_ratios`.
    dialect, notes, on_rows
        As in `cape.files.count_file`.

    Returns
    -------
    ratios : DataFrame
        From `impact_ratios`.
    facts : dict
        ``selected``, the decisions that mean "selected"; or ``median`` of all scores.
    sha256 : str
        Hash of the bytes that were read.

    Raises
    ------
    TableError
        If a column or a decision is missing, or if nobody can tell who is selected.
    """
    check_prevalence("min_share", min_share)
    _columns.check_named_once(group)
    scan = Scan(path, dialect, notes, on_rows)
    check_columns_exist([column, *group], scan.table.names, scan.path)
    types = {**dict.fromkeys(group, "text"), column: "number" if is_score else "text"}
    frames = []
    for frame in scan.parts(types, notes):
        texts = {name: _columns.group_text(frame[name], notes) for name in group}
        frames.append(frame.assign(**texts))
        scan.on_rows("counting", len(frame))
    table = pd.concat(frames, ignore_index=True)
    n_missing = int(table[column].isna().sum())
    if n_missing:
        raise TableError(
            f"{scan.path}, column {column!r}: {n_missing} of {len(table)} rows have no "
            "value. Leave out the rows of people who were not assessed."
        )
    groups = table[list(group)]
    groups = groups.mask(groups.isin(list(unknown)))
    for name in group:
        levels = pd.Series(groups[name].dropna().unique(), dtype="str")
        unanswered = levels[levels.str.lower().str.fullmatch(_NO_ANSWER)]
        for value in unanswered:
            notes.say("looks_unknown", column=name, value=value)
    facts: dict[str, Any] = {}
    if is_score:
        # The rules say "the full sample of applicants", unknown categories included.
        facts["median"] = float(table[column].median())
        chosen = table[column] > facts["median"]
    else:
        decisions = _columns.plain_text(table[column])[0]
        selected = _selected(decisions, positive, f"{scan.path}, column {column!r}")
        facts["selected"] = " or ".join(selected)
        chosen = decisions.isin(selected)
    tables = {name: groups[[name]] for name in group}
    if len(group) > 1:
        tables[" x ".join(group)] = groups
    return impact_ratios(chosen.to_numpy(), tables, min_share), facts, scan.sha256


def impact_ratios(
    chosen: np.ndarray, tables: Mapping[str, pd.DataFrame], min_share: float
) -> pd.DataFrame:
    """Compute how often the categories of some tables are selected, and how evenly.

    Parameters
    ----------
    chosen : ndarray of bool of shape (n_rows,)
        Who was selected, or has a score above the median.
    tables : mapping from str to DataFrame of n_rows rows
        Group columns, whose values may be missing.
    min_share : float in [0, 1]
        Categories of a smaller share of a table's rows have no impact ratio, and are
        not the highest rate.

    Returns
    -------
    DataFrame
        A row for each category of each table, with the columns ``table``, ``category``,
        ``applicants``, ``selected``, ``rate``, ``impact_ratio`` (the rate divided by
        the highest) and ``status``: "compared", "small" or "unknown", which counts the
        rows without a value in the table's columns. They are in no rate.

    Examples
    --------
    >>> sex = pd.DataFrame({"sex": ["f", "f", "f", "m", "m", "m", None]})
    >>> chosen = np.array([1, 1, 0, 1, 0, 0, 1], dtype=bool)
    >>> frame = impact_ratios(chosen, {"sex": sex}, 0.02)
    >>> frame[["category", "applicants", "rate", "impact_ratio"]].round(2)
        category  applicants  rate  impact_ratio
    0          f           3  0.67           1.0
    1          m           3  0.33           0.5
    2  (missing)           1   NaN           NaN
    """
    parts = []
    for name, columns in tables.items():
        groups = check_groups(columns, missing="drop")
        n = np.bincount(groups.codes)
        names = list(group_labels(groups.keys).values())
        part = pd.DataFrame({"table": name, "category": names, "applicants": n})
        part["selected"] = np.bincount(groups.codes, weights=chosen).astype(int)
        is_unknown = np.array([key == MISSING_GROUP for key in groups.keys])
        small = n < min_share * n[~is_unknown].sum()
        part["rate"] = (part["selected"] / n).mask(is_unknown)
        compared = part["rate"].mask(small)
        # Where nobody is selected, 0 / 0 is NaN: no rate is the highest.
        part["impact_ratio"] = compared / compared.max()
        part["status"] = np.select(
            [is_unknown, small], ["unknown", "small"], "compared"
        )
        parts += [part[~is_unknown], part[is_unknown]]
    return pd.concat(parts, ignore_index=True)


def _selected(
    decisions: pd.Series, positive: Sequence[str] | None, where: str
) -> list[str]:
    """Return the decisions that mean "selected", or raise if nobody can tell."""
    labels = sorted(decisions.unique(), key=_columns.by_value)
    named = _columns.named_values(positive)
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
