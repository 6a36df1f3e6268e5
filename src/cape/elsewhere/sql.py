"""Evidence by SQL: a database counts where its rows are, and no row leaves it.

For a model whose scores are logged, `cape.Scores`: `query` writes one statement, and
`evidence` turns its result into what `CapeClassifier.evidence` makes of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._groups import Groups, check_groups, everyone
from cape.base._packages import require_extra
from cape.base._validation import admit, check_fitted_cape
from cape.evidence._columns import (
    FIRST,
    FOREIGN,
    MISSING,
    ColumnCells,
    ColumnCounts,
    few_names,
)
from cape.evidence._evidence import PLAIN, Evidence, GroupEvidence, LabelledEvidence
from cape.evidence._histogram import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    ONE,
    RESCALE,
    WEIGHT_UNIT,
    WEIGHTS,
    ScoreHistogram,
)
from cape.training._group_model import GroupModel
from cape.training._reading import known_labels
from cape.training._scores import Scores

__all__ = ["evidence", "query"]

_NO_SCORE = -1
"""The cell of missing scores."""

_OUTSIDE = -2
"""The cell of scores that are not in [0, 1], where those of the reference table are."""

_BAD_WEIGHT = -3
"""The cell of rows whose weight is no weight."""

_SEGMENTS = 16

# A whole number below 2^52 has no digits left for fractions once 2^52 is added: the sum
# is rounded half to even, as numpy's rint does.
_ROUNDED = "({}) + 4503599627370496e0 - 4503599627370496e0"

_IS_NUMBER = "value <= 0e0 OR -value < 0e0"
"""Is false for NaN, whether a database puts it above all numbers or compares it with
none, and NULL for NULL."""

_TYPES = {"number": "DOUBLE", "date": "TIMESTAMP"}
_TABLE = "cape_table"
_DIGITS = 16
"""Digits of the fingerprint that mark a result as that of a model."""

_GREATEST = np.finfo(np.float64).max
_OF_FLAGS = np.nextafter([0, 0, 1, 1], [0, 1, 1, 2], dtype=np.float32)
"""All edges that a column of 0 and 1 can have."""

_WHOLE = ("part", "cell", "n", "total")
_WEIGHED = {
    "weight": "units",
    "product": "product",
    "high": "a * a",
    "mixed": "a * b",
    "low": "b * b",
}
"""Sums of weights, in their unit, and of weights times scores; and, of weights 2^22 a +
b, what tells the sum of their squares without overflow."""

_HALF = 1 << 22
_TRUTHS = {"true": 1.0, "t": 1.0, "false": 0.0, "f": 0.0}


def query(
    clf: Any,
    table: str,
    dialect: str = "duckdb",
    label: str | None = None,
    *,
    groups: str | Sequence[str] | None = None,
    weight: str | None = None,
) -> str:
    """Write the statement that counts the rows of a table for a model.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted, with `cape.Scores` as estimator.
    table : str
        What follows FROM: the name of a table or view, or a SELECT in parentheses. It
        is read once for the scores and once for each column that the model counts.
    dialect : str, default="duckdb"
        Any dialect of sqlglot. The statement is tested with "duckdb", "sqlite",
        "postgres" and "spark".
    label : str, default=None
        A column with the labels of some rows, NULL elsewhere. These rows must be a
        random sample of their group.
    groups : str or sequence of str, default=None
        The columns that hold the groups, of a model that was fitted with
        ``sensitive_features``. None means ``group_columns`` of the model.
    weight : str, default=None
        A column with the weights of the rows, as in `CapeClassifier.adapt`.

    Returns
    -------
    str
        One SELECT. Its result has counts, the values of groups, labels and decisions,
        and the values of text columns.

    Raises
    ------
    ValueError
        If the model has no score column, if a name is missing, or if the dialect or the
        table cannot be parsed.

    See Also
    --------
    evidence : Turn the result into evidence.

    Notes
    -----
    Columns must have the type that they had in training, which the statement cannot
    check. Times with a zone are read in the zone of the session, which must be UTC.
    Whole numbers beyond 2^53 are compared as doubles. In a column that had no value in
    training, the text NaN counts as missing. SQLite writes numbers with 15 digits: in a
    column that was 0 or 1 in training, a number that differs from the edge of a cell
    only in later digits may be counted in the next cell.

    Examples
    --------
    >>> from cape import CapeClassifier, Scores
    >>> from cape.elsewhere import sql
    >>> known = LogisticRegression().fit(train.data, train.target)
    >>> logged = train.frame.assign(p=known.predict_proba(train.data)[:, 1])
    >>> scored = CapeClassifier(Scores("p"), group_columns="z")
    >>> scored = scored.fit(logged[["z", "p"]], train.target)
    >>> statement = sql.query(scored, "loans", dialect="postgres")
    >>> 'FROM loans' in statement
    True
    """
    scores = _check(clf)
    require_extra("sql", "sqlglot", what="cape.elsewhere.sql.query")
    keys = _keys(clf, groups)
    if label is not None:
        keys["label"] = label
    selects = [_count_scores(clf, scores, keys, weight)]
    names = list(keys)
    if scores.decision is not None:
        names.append("NULL AS decision")
    for place, cells in enumerate(_columns(clf)):
        head = [*_head(clf, place + 1), *names]
        if _has_levels(cells):
            # Values are fewer than rows, and written as text when they are counted.
            is_missing = f"CASE WHEN value IS NULL THEN {MISSING} ELSE {FIRST} END"
            head += [f"{is_missing} AS cell", "CAST(value AS VARCHAR) AS level"]
            rows = _rows(keys, cells.name, weight=weight)
            by = [*keys, "value"]
        else:
            head += ["cell", "CAST(NULL AS VARCHAR) AS level"]
            found = [*keys, f"{_cell_of(cells)} AS cell", *_units(weight)]
            rows = _rows(keys, cells.name, _TYPES.get(cells.kind), weight)
            rows = _select(found, rows)
            by = [*keys, "cell"]
        sums = ["COUNT(*) AS n", "0 AS total"]
        if weight is not None:
            sums += [_sum("units", "weight"), "0 AS product"]
            sums += ["0 AS high", "0 AS mixed", "0 AS low"]
        selects.append(_select([*head, *sums], rows, by))
    return _translate(" UNION ALL ".join(selects), table, dialect)


def evidence(clf: Any, counts: Any) -> Evidence:
    """Turn the result of the statement into evidence.

    Parameters
    ----------
    clf : CapeClassifier
        The model that the statement was written for.
    counts : table
        All rows of the result, in any order, of pandas, polars or pyarrow. Results of
        several tables with different rows may be put one below the other.

    Returns
    -------
    Evidence
        Equal to what ``clf.evidence`` makes of the rows.

    Raises
    ------
    ValueError
        If the result is from another model or incomplete, or if ``clf.evidence`` would
        raise: for missing scores or groups, and unknown groups, labels and decisions.

    See Also
    --------
    query : Write the statement.
    cape.examine : Everything about the batch.

    Examples
    --------
    >>> import duckdb
    >>> from cape import CapeClassifier, Scores
    >>> from cape.elsewhere import sql
    >>> known = LogisticRegression().fit(train.data, train.target)
    >>> logged = train.frame.assign(p=known.predict_proba(train.data)[:, 1])
    >>> loans = logged[["z", "p"]]
    >>> scored = CapeClassifier(Scores("p"), group_columns="z")
    >>> scored = scored.fit(loans, train.target)
    >>> counts = duckdb.sql(sql.query(scored, "loans")).df()
    >>> sql.evidence(scored, counts) == scored.evidence(loans)
    True
    """
    scores = _check(clf)
    frame = _read(clf, counts)
    _refuse_scores(scores, frame[frame["part"] == 0])
    groups = _groups(clf, frame)
    codes = np.full(len(frame), -1)
    if "label" in frame:
        labels = known_labels(frame["label"], clf.classes_, len(frame))
        codes = labels.codes  # type: ignore[union-attr]
    if scores.decision is not None:
        frame["decided"] = _equal(frame["decision"], scores.decision_values_[1])
    edges = _edges(clf)
    found = {}
    for code, group in enumerate(groups.keys):
        model = clf.model_of(group)
        of_group = groups.codes == code
        whole = _add_up(model, edges, frame[of_group])
        if (codes[of_group] >= 0).any():
            classes = []
            for label in (1, 0):
                rows = frame[of_group & (codes == label)]
                classes.append(_add_up(model, edges, rows))
            whole = replace(whole, labelled={PLAIN: LabelledEvidence(*classes)})
        found[group] = whole
    return Evidence(clf.fingerprint_, found)


def _check(clf: Any) -> Scores:
    """Return what reads scores and decisions; raise if they are no columns."""
    check_fitted_cape(clf)
    if not isinstance(clf.estimator, Scores):
        raise ParameterError(
            "clf",
            "must have cape.Scores as estimator, since a statement reads scores "
            f"and does not compute them, got {type(clf.estimator).__name__}.",
        )
    return next(iter(clf.models_.values())).scoring_models[0]


def _edges(clf: Any) -> np.ndarray:
    """Return the edges of all groups; the cells of a group are joined from these."""
    models = [*clf.models_.values(), clf.pooled_]
    edges = [model.edges for model in models if model is not None]
    return np.unique(np.concatenate(edges))


def _columns(clf: Any) -> tuple[ColumnCells, ...]:
    """Return the columns that the model counts; they are the same for all groups."""
    columns = next(iter(clf.models_.values())).columns
    return () if columns is None else columns.cells.columns


def _keys(clf: Any, groups: str | Sequence[str] | None) -> dict[str, str]:
    """Name the group columns: as they stand in the result, and in the table."""
    if not clf.grouped_:
        if groups is not None:
            raise ValueError(
                "groups must be None: the model was fitted without groups, got "
                f"{groups!r}."
            )
        return {}
    named = clf.group_columns if groups is None else groups
    if named is None:
        raise ValueError(
            "groups must name the columns of the table that hold the groups: the model "
            "was fitted with sensitive_features, got None."
        )
    columns = list(named) if isinstance(named, (list, tuple)) else [named]
    return {f"group_{place + 1}": name for place, name in enumerate(columns)}  # type: ignore


def _head(clf: Any, part: int) -> list[str]:
    """Mark the rows of a part of the result."""
    return [f"'{clf.fingerprint_[:_DIGITS]}' AS model", f"{part} AS part"]


def _select(chosen: list[str], rows: str, by: Sequence[str] = ()) -> str:
    """Write a SELECT, which is a statement if it groups, and a table otherwise."""
    text = f"SELECT {', '.join(chosen)} FROM {rows}"
    return f"{text} GROUP BY {', '.join(by)}" if by else f"({text}) AS found"


def _sum(values: str, name: str) -> str:
    return f"CAST(SUM(CAST({values} AS BIGINT)) AS BIGINT) AS {name}"


def _units(weight: str | None) -> list[str]:
    """Hand the weights on, if there are any."""
    return [] if weight is None else ["units"]


def _rows(
    keys: dict[str, str],
    column: Any,
    kind: str | None = None,
    weight: str | None = None,
) -> str:
    """Select a column of the table as ``value``, and those that rows are grouped by.

    Weights are ``units``: rounded as Python does, and -1 where they are no weights.
    """
    value = _quoted(column)
    if kind is not None:
        value = f"CAST({value} AS {kind})"
    chosen = [f"{_quoted(name)} AS {key}" for key, name in keys.items()]
    if weight is not None:
        number = f"CAST({_quoted(weight)} AS DOUBLE)"
        units = _ROUNDED.format(f"{number} * {1 / WEIGHT_UNIT}e0")
        is_good = f"{number} = 0e0 OR ({number} >= {LEAST_WEIGHT}e0"
        is_good += f" AND {number} <= {MOST_WEIGHT}e0)"
        chosen.append(f"CASE WHEN {is_good} THEN {units} ELSE -1e0 END AS units")
    return _select([*chosen, f"{value} AS value"], _TABLE)


def _quoted(column: Any) -> str:
    """Quote the name of a column."""
    if not isinstance(column, str):
        raise ValueError(
            f"columns must have names, which the statement uses, got {column!r}: fit "
            "the model with a data frame."
        )
    doubled = column.replace('"', '""')
    return f'"{doubled}"'


def _search(is_below: Sequence[str], leaves: Sequence[str]) -> str:
    """Write a binary search: nested CASEs that end in the leaves between edges."""
    if not is_below:
        return leaves[0]
    middle = len(is_below) // 2
    below = _search(is_below[:middle], leaves[: middle + 1])
    above = _search(is_below[middle + 1 :], leaves[middle + 1 :])
    return f"CASE WHEN {is_below[middle]} THEN {below} ELSE {above} END"


def _count_scores(
    clf: Any, scores: Scores, keys: dict[str, str], weight: str | None
) -> str:
    """Count and add up scores in the cells between edges.

    A search by a thousand nested CASEs takes DuckDB a minute for 10^7 rows. So a few of
    them find a bucket that is about as wide as a cell, and cells are joined by it.
    """
    if scores.decision is not None:
        keys = {**keys, "decision": scores.decision}
    edges = _edges(clf)
    step = -(-len(edges) // _SEGMENTS)
    cuts = edges[step - 1 : -1 : step]
    starts = np.append(0, cuts)
    lengths = np.diff(starts, append=ONE)
    # Powers of two: buckets are computed without rounding, and so the same everywhere.
    widths = 2 ** np.ceil(np.log2(np.maximum(lengths / step, 1))).astype(np.int64)
    firsts = np.cumsum(np.append(0, lengths // widths + 2))

    def bucket(values: np.ndarray) -> list[int]:
        segment = np.searchsorted(cuts, values)
        places = (values - starts[segment]) / widths[segment] + firsts[segment]
        return np.rint(places).astype(np.int64).tolist()

    lows = np.append(-1, edges)
    highs = np.append(edges, ONE)
    faults = (_NO_SCORE, _OUTSIDE, _BAD_WEIGHT)
    cells = [f"({cell}, {cell - 1}, {cell}, {cell})" for cell in faults]
    lasts = bucket(highs)
    for cell, first in enumerate(bucket(lows + 1)):
        for number in range(first, lasts[cell] + 1):
            cells.append(f"({number}, {lows[cell]}, {highs[cell]}, {cell})")
    is_below = [f"s <= {cut}e0" for cut in cuts]
    leaves = []
    for start, width, first in zip(starts, widths, firsts, strict=False):
        leaves.append(f"(s - {start}e0) / {width}e0 + {first}e0")
    found = _ROUNDED.format(_search(["s < 0e0", *is_below], ["s", *leaves]))
    names = list(keys)
    rounded = _score(scores)
    sums = ["CAST(SUM(s) AS BIGINT) AS total"]
    if weight is not None:
        rounded = f"CASE WHEN units < 0e0 THEN {_BAD_WEIGHT}e0 ELSE {rounded} END"
        sums += [_sum(values, name) for name, values in _WEIGHED.items()]
    score = _select(
        [*names, f"{rounded} AS s", *_units(weight)],
        _rows(keys, scores.score, "DOUBLE", weight),
    )
    whole = [*names, "CAST(s AS BIGINT) AS s", f"CAST({found} AS BIGINT) AS bucket"]
    if weight is not None:
        half = f"{_HALF}e0"
        a = f"({_ROUNDED.format(f'units / {half}')})"
        product = _ROUNDED.format(f"units * s / {ONE}e0")
        whole += ["units", f"{product} AS product"]
        whole += [f"{a} AS a", f"units - {a} * {half} AS b"]
    joined = (
        f"{_select(whole, score)} JOIN cells ON found.bucket = cells.bucket AND "
        "found.s > cells.low AND found.s <= cells.high"
    )
    level = "CAST(NULL AS VARCHAR) AS level"
    chosen = [*_head(clf, 0), *names, "cell", level, "COUNT(*) AS n", *sums]
    return (
        f"WITH cells(bucket, low, high, cell) AS (SELECT * FROM (VALUES "
        f"{', '.join(cells)}) AS v(bucket, low, high, cell)) "
        f"{_select(chosen, joined, [*names, 'cell'])}"
    )


def _score(scores: Scores) -> str:
    """Write the score in units of 2^-32, by the operations of `Scores`."""
    if scores.centre_ is None:
        inside = _ROUNDED.format(f"value * {ONE}e0")
        return (
            f"CASE WHEN value >= 0e0 AND value <= 1e0 THEN {inside} "
            f"WHEN {_IS_NUMBER} THEN {_OUTSIDE}e0 ELSE {_NO_SCORE}e0 END"
        )
    # Further out, all scores are 0 or 1, and some databases raise where numbers
    # overflow.
    far = 2.0**40 * scores.width_
    z = f"(value - ({_number(scores.centre_)})) / {_number(scores.width_)}"
    mapped = f"5e-1 + 5e-1 * ({z} / (1e0 + ABS({z})))"
    return (
        f"CASE WHEN value <= {_number(scores.centre_ - far)} THEN 0e0 "
        f"WHEN value < {_number(scores.centre_ + far)} "
        f"THEN {_ROUNDED.format(f'({mapped}) * {ONE}e0')} "
        f"WHEN {_IS_NUMBER} THEN {ONE}e0 ELSE {_NO_SCORE}e0 END"
    )


def _number(value: float) -> str:
    """Write a number that every database reads as a double, and not as a decimal."""
    text = repr(float(np.clip(value, -_GREATEST, _GREATEST)))
    return text if "e" in text else f"{text}e0"


def _has_levels(cells: ColumnCells) -> bool:
    """Whether the values of a column are counted, and not its cells.

    So are those of text, whose rare levels a statement cannot know, and those that were
    0 or 1 in training: they may be of a type that cannot be compared with a number.
    """
    if cells.is_number and cells.kind != "date":
        return bool(np.isin(cells.edges, _OF_FLAGS).all())
    return cells.kind in ("text", "mixed")


def _cell_of(cells: ColumnCells) -> str:
    """Write the cell of the value of a column of numbers or dates."""
    if cells.kind == "empty":
        # Its type is not known, and NaN is NaN in text alone.
        is_missing = "value IS NULL OR LOWER(CAST(value AS VARCHAR)) = 'nan'"
        return f"CASE WHEN {is_missing} THEN {MISSING} ELSE {FOREIGN} END"
    edges = cells.edges
    # Python rounds numbers to float32. What is at least an edge then is at least, or
    # above, the middle between the edge and the float32 before it.
    ends = [np.nextafter(edges, np.float32(-np.inf)), edges]
    finite = [np.clip(end.astype(np.float64), -(2.0**128), 2.0**128) for end in ends]
    middles = (finite[0] + finite[1]) / 2
    with np.errstate(over="ignore"):
        belongs = middles.astype(np.float32) >= edges
    is_below = []
    for edge, middle, at_least in zip(edges, middles, belongs, strict=True):
        if cells.kind == "date":
            # Dates are whole seconds, cut off.
            second = int(np.ceil(middle)) if at_least else int(np.floor(middle)) + 1
            moment = str(np.datetime64(second, "s")).replace("T", " ")
            is_below.append(f"value < CAST('{moment}' AS TIMESTAMP)")
        elif edge == -np.inf:
            is_below.append("1 = 0")
        else:
            is_below.append(f"value {'<' if at_least else '<='} {_number(middle)}")
    leaves = [str(FIRST + cell) for cell in range(len(edges) + 1)]
    is_known = "value IS NOT NULL" if cells.kind == "date" else _IS_NUMBER
    return f"CASE WHEN {is_known} THEN {_search(is_below, leaves)} ELSE {MISSING} END"


def _translate(text: str, table: str, dialect: str) -> str:
    """Write a statement in a dialect, and put the user's table into it."""
    import sqlglot
    from sqlglot import exp

    try:
        read = sqlglot.parse(f"SELECT * FROM {table}", read=dialect)
    except (sqlglot.ParseError, sqlglot.TokenError, ValueError) as error:
        raise ParameterError(
            "table",
            "must be what follows FROM, and dialect one of sqlglot's, got "
            f"table={table!r}, dialect={dialect!r}: {error}",
        ) from None
    rows: Any = read[0]
    source: Any = rows.find(exp.From)
    clauses = {name for name, value in rows.args.items() if value}
    # What is neither would be left out, or make another statement.
    is_table = len(read) == 1 and clauses <= {"expressions", "from", "from_"}
    if not is_table or isinstance(source.this, exp.Select):
        raise ParameterError(
            "table",
            "must be the name of one table or view, or a SELECT in parentheses, "
            f"got {table!r}.",
        )
    statement = sqlglot.parse_one(text)
    for found in list(statement.find_all(exp.Table)):
        if found.name == _TABLE:
            found.replace(source.this.copy())
    return statement.sql(
        dialect=dialect, pretty=True, unsupported_level=sqlglot.ErrorLevel.IGNORE
    )


def _read(clf: Any, counts: Any) -> Any:
    """Check that a table is the result of the model's statement."""
    frame = admit("counts", counts)
    # Some databases write names in capitals.
    names = [str(name).lower() for name in getattr(frame, "columns", ())]
    needed = ["model", "level", *_WHOLE]
    if clf.grouped_:
        needed.append("group_1")
    if clf.estimator.decision is not None:
        needed.append("decision")
    lacking = [name for name in needed if name not in names]
    if lacking:
        raise ValueError(
            "counts must be a table with the columns of the statement, got none named "
            f"{', '.join(lacking)}."
        )
    frame = frame.set_axis(names, axis=1)
    own = clf.fingerprint_[:_DIGITS]
    others = sorted(set(frame["model"].map(str)) - {own})
    if others:
        raise ValueError(
            f"counts must come from the statement of this model, {own}, got those of "
            f"{others[0]}."
        )
    weighed = _WEIGHED if "weight" in frame else ()
    for name in (*_WHOLE, *weighed):
        # A CSV may have been read as text.
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if numbers.dtype.kind == "f" and not (numbers.abs() < 2**53).all():
            raise ValueError(
                f"counts must have whole numbers in {name}, got others, or floats that "
                "have lost digits: read the column as integers."
            )
        frame[name] = numbers.astype(np.int64)
    if weighed:
        high, mixed, low = (
            frame[name].astype(object) for name in ("high", "mixed", "low")
        )
        frame["squares"] = (high * _HALF + 2 * mixed) * _HALF + low
        frame["weight"] = frame["weight"] * WEIGHT_UNIT
        frame["product"] = frame["product"] * (WEIGHT_UNIT * ONE)
    return frame.reset_index(drop=True)


def _refuse_scores(scores: Scores, frame: Any) -> None:
    """Raise as `Scores` does if scores or decisions are missing or not known."""
    rows = frame.groupby("cell")["n"].sum()
    if _NO_SCORE in rows:
        missing = np.full(rows[_NO_SCORE], np.nan)
        scores.predict_proba(pd.DataFrame({scores.score: missing}))
    if _BAD_WEIGHT in rows:
        raise ParameterError(
            "weight",
            f"must be {WEIGHTS}, got others in {rows[_BAD_WEIGHT]} rows: {RESCALE}.",
        )
    if _OUTSIDE in rows:
        raise ValueError(
            f"score column {scores.score!r} must hold scores in [0, 1], as the "
            f"reference table does, got others in {rows[_OUTSIDE]} rows."
        )
    if scores.decision is not None:
        known = _equal(frame["decision"], *scores.decision_values_)
        unknown = frame[~known]
        refused = unknown["decision"].repeat(unknown["n"])
        scores.decided(pd.DataFrame({scores.decision: refused}))


def _equal(values: Any, *wanted: Any) -> np.ndarray:
    """Tell which values are one of those that are wanted, as Python compares them."""
    # As objects: 1, 1.0 and True are equal, and the text "1" is not.
    found = values.notna() & values.astype(object).isin(list(wanted))
    return found.to_numpy(dtype=bool)


def _groups(clf: Any, frame: Any) -> Groups:
    """Read the group of each row of the result."""
    if not clf.grouped_:
        return everyone(len(frame))
    names = [name for name in frame if name.startswith("group_")]
    missing = frame[names].isna().any(axis=1) & (frame["part"] == 0)
    n_missing = frame["n"][missing].sum()
    if n_missing and clf.missing_groups == "error":
        raise ValueError(
            f"counts must name a group in every row, got {n_missing} missing of "
            f"{frame['n'][frame['part'] == 0].sum()}. Leave these rows out of the "
            "table, or let CapeClassifier make them a group: missing_groups='group'."
        )
    # As they were named: group_10 comes after group_2.
    names.sort(key=lambda name: (len(name), name))
    groups = check_groups(frame[names], "counts", clf.missing_groups)
    # Databases without truth values have 1 for True.
    known = {key: key for key in clf.groups_}
    return Groups(groups.codes, [known.get(key, key) for key in groups.keys])


def _add_up(model: GroupModel, edges: np.ndarray, frame: Any) -> GroupEvidence:
    """Make the evidence of a group, or of a class of it, of its rows of the result."""
    counted = _sum_up(model, edges, frame, "n", "total")
    if "weight" not in frame:
        return counted
    rows = frame[frame["part"] == 0]
    squares = np.zeros(len(model.edges) + 1, dtype=object)
    np.add.at(squares, _places(model, edges, rows), rows["squares"].to_numpy())
    weighed = _sum_up(model, edges, frame, "weight", "product")
    return replace(counted, weighed=weighed, squares=squares)


def _places(model: GroupModel, edges: np.ndarray, rows: Any) -> np.ndarray:
    """Find the cells of a group that cells of the statement lie in."""
    tops = np.append(edges, ONE)
    ends = tops[_within(rows["cell"], len(tops))]
    return np.searchsorted(model.edges, ends)


def _sum_up(
    model: GroupModel, edges: np.ndarray, frame: Any, n: str, total: str
) -> GroupEvidence:
    """Sum up rows, or their weights."""
    rows = frame[frame["part"] == 0]
    places = _places(model, edges, rows)
    scores = _histogram(model.edges, places, rows[n], rows[total])
    tally = None
    if "decided" in frame:
        decided = rows[rows["decided"]]
        places = _places(model, edges, decided)
        tally = _histogram(model.edges, places, decided[n], decided[total])
    if model.columns is None:
        return GroupEvidence(scores, tally)
    cells = model.columns.cells
    counts = np.zeros(cells.starts[-1], dtype=frame[n].dtype)
    unseen = {}
    parts = dict(list(frame.groupby("part")))
    for place, column in enumerate(cells.columns):
        of_column = parts.get(place + 1, frame[:0])
        if of_column[n].sum() != scores.size:
            raise ValueError(
                "counts must hold the whole result of the statement, got "
                f"{of_column[n].sum()} rows of column {column.name!r} and "
                f"{scores.size} scores."
            )
        codes = _within(of_column["cell"], column.n_cells)
        if _has_levels(column):
            codes, names = _level_cells(column, of_column)
            if names and n == "n":
                unseen[place] = few_names(names)
        np.add.at(cells.of_column(counts, place), codes, of_column[n].to_numpy())
    return GroupEvidence(scores, tally, columns=ColumnCounts(counts, unseen))


def _within(cells: Any, n_cells: int) -> np.ndarray:
    """Return numbers of cells, after checking that there are such cells."""
    numbers = cells.to_numpy()
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < n_cells:
        raise ValueError(
            f"counts must have cells below {n_cells}, got {numbers.min()} to "
            f"{numbers.max()}: they were changed."
        )
    return numbers


def _histogram(
    edges: np.ndarray, cells: np.ndarray, sizes: Any, totals: Any
) -> ScoreHistogram:
    """Add up numbers and sums of scores in the cells of a group."""
    counts = np.zeros(len(edges) + 1, dtype=sizes.dtype)
    sums = np.zeros(len(edges) + 1, dtype=totals.dtype)
    np.add.at(counts, cells, sizes.to_numpy())
    np.add.at(sums, cells, totals.to_numpy())
    return ScoreHistogram(edges, counts, sums)


def _level_cells(column: ColumnCells, rows: Any) -> tuple[np.ndarray, dict[str, int]]:
    """Find the cell of each value of a column, and name levels never seen."""
    codes = []
    names: dict[str, int] = {}
    # A file may not tell an empty text from a missing one; the cell does.
    levels = rows["level"].where(rows["level"].notna(), "").map(str)
    for cell, level, n in zip(rows["cell"], levels, rows["n"], strict=True):
        code = MISSING
        if cell != MISSING and column.is_number:
            code = _flag_cell(column, level)
        elif cell != MISSING:
            code = column.cell_of(level)
            if code == column.n_cells - 1:
                names[level] = names.get(level, 0) + n
        codes.append(code)
    return np.array(codes, dtype=np.intp), names


def _flag_cell(column: ColumnCells, level: str) -> int:
    """Find the cell of a number or truth value that was written as text."""
    try:
        with np.errstate(over="ignore"):
            number = np.float32(_TRUTHS.get(level.lower(), level))
    except ValueError:
        return FOREIGN
    if np.isnan(number):
        return MISSING
    return FIRST + int(np.searchsorted(column.edges, number, side="right"))
