"""The summary of an audit: what the labels say about predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pandas as pd

from cape.base._groups import MISSING_GROUP, Group, combined_columns
from cape.base._json_fields import strict_json
from cape.base._numbers import short_names, unique_names
from cape.metrics import Audit
from cape.metrics._audit import audit_counts
from cape.metrics._rates import FEWEST_ROWS, Confusion
from cape.shown import _audit, _plot
from cape_app.pages._model import stamped
from cape_app.words._page import (
    ALONE,
    BESIDE_ANOTHER,
    BETWEEN_NAMES,
    COMPARED,
    MOST_ROWS,
    Summary,
    joined,
)


def audit_summary(
    counts: Mapping[Group, Confusion],
    *,
    level: float,
    file: str | Path,
    file_sha256: str,
    columns: Summary,
    note: str = "",
    group_columns: Sequence[str] = (),
    table: str | None = None,
) -> Summary:
    """Summarise predictions that anybody made, with intervals.

    Parameters
    ----------
    counts : mapping from group to Confusion
        Confusion counts of each group.
    level : float in (0, 1)
        Confidence level of the intervals.
    file : str or Path
        The table with labels and predictions.
    file_sha256 : str
        Hash of the file.
    columns : dict
        Which columns hold the labels, the predictions and the groups; ``positive`` is
        the positive label.
    note : str, default=""
        What a reader has to know first.
    group_columns : sequence of str, default=()
        Columns whose values the groups combine, if there are several.
    table : {"ll144"}, default=None
        Whether to give the tables of a bias audit instead, which needs no labels.

    Returns
    -------
    dict
        All numbers of the audit page, as JSON can hold them.

    Examples
    --------
    >>> from cape.metrics._rates import Confusion
    >>> counts = {"a": Confusion(tp=8, fp=2, fn=2, tn=8, rows=20)}
    >>> summary = audit_summary(
    ...     counts, level=0.95, file="scored.csv", file_sha256="0a1b", columns={}
    ... )
    >>> summary["title"], summary["rows"]
    ('scored.csv', 20)
    """
    name = Path(file).name
    files = [{"file": name, "sha256": file_sha256}]
    rows = sum(confusion.rows for confusion in counts.values())
    about = {
        "title": name,
        "note": note,
        "rows": rows,
        "made": stamped({"files": files, "columns": columns}),
    }
    if table is not None:
        return {"kind": table, **about, "tables": impact_tables(counts, group_columns)}
    audit = audit_counts(counts, level=level)
    names = unique_names(counts, combined_columns(group_columns))
    content = audit_content(audit, counts, names)
    return {"kind": "audit", **about, "level": level, "observed": {"cape": content}}


def impact_tables(counts: Mapping[Group, Confusion], columns: Sequence[str]) -> Summary:
    """Compute how often categories are predicted positive, and how evenly.

    Parameters
    ----------
    counts : mapping from group to Confusion
        Counts of each combination of values of the columns.
    columns : sequence of str
        Group columns, such as sex and race.

    Returns
    -------
    dict
        A table for each column and for all of them combined: how many rows are of an
        ``unknown`` category, and the known ``categories``, each with its
        ``applicants``, how many are ``selected``, their ``rate`` and its
        ``impact_ratio``, the rate divided by the highest. Categories of less than 2 %
        of the rows have no ratio and are not the highest (6 RCNY 5-301 (d)).

    Examples
    --------
    >>> from cape.metrics._rates import Confusion
    >>> counts = {"f": Confusion(2, 0, 0, 1, rows=3), "m": Confusion(1, 0, 0, 2, 3)}
    >>> tables = impact_tables(counts, ["sex"])
    >>> [entry["impact_ratio"] for entry in tables["sex"]["categories"]]
    [1.0, 0.5]
    """
    frame = pd.DataFrame(list(counts))
    places = list(frame)
    frame["applicants"] = [counted.rows for counted in counts.values()]
    frame["selected"] = [int(counted.tp + counted.fp) for counted in counts.values()]
    of_each = {name: [place] for place, name in enumerate(columns)}
    tables = {}
    for name, by in (of_each | {" x ".join(columns): places}).items():
        is_known = (frame[by] != MISSING_GROUP).all(axis=1)
        table = frame[is_known].groupby(by)[["applicants", "selected"]].sum()
        table.insert(0, "category", list(unique_names(table.index).values()))
        table["rate"] = table["selected"] / table["applicants"]
        # Smaller categories may be left out: 6 RCNY 5-301 (d).
        is_compared = table["applicants"] / table["applicants"].sum() >= 0.02
        compared = table["rate"].where(is_compared)
        # Where nobody is selected, 0 / 0 is NaN: no rate is the highest.
        table["impact_ratio"] = compared / compared.max()
        categories = strict_json(table.to_dict("records"))
        unknown = int(frame["applicants"][~is_known].sum())
        tables[name] = {"unknown": unknown, "categories": categories}
    return tables


def audit_content(
    audit: Audit, counts: Mapping[Group, Confusion], names: Mapping[Group, str]
) -> Summary:
    """Return an audit as JSON can hold it, with what differs and the worst pairs.

    Parameters
    ----------
    audit : Audit
    counts : mapping from group to Confusion
        Confusion counts of each group.
    names : mapping from group to str
        What the groups are called.

    Returns
    -------
    dict
        What `cape.metrics.Audit.to_dict` gives; ``differences`` that are more than
        chance; ``worst``, the pair of each metric; ``small_groups``, the groups
        whose pairs are never the worst; and ``left_out``, a sentence about them.
    """
    # A board looks at the worst pair first; with ten groups there are ninety.
    pairs = audit.worst_pairs().items()
    worst = {metric: finding.to_dict(names) for metric, finding in pairs}
    small = [names[group] for group in counts if counts[group].rows < FEWEST_ROWS]
    left_out = ""
    if small and audit.between:
        left_out = (
            f"Pairs with {joined(small)} are left out because groups of fewer than "
            f"{FEWEST_ROWS} rows are too small to compare."
        )
    return {
        **audit.to_dict(names),
        "accuracy": strict_json(reduce(add, counts.values()).accuracy),
        "differences": [finding.to_dict(names) for finding in audit.differences()],
        "worst": worst,
        "small_groups": small,
        "left_out": left_out,
    }


def audit_context(summary: Summary, draw: bool) -> Summary:
    """Return the rows of the first screen, and the tables of all rates."""
    context = observed_context(summary)
    columns = summary["made"]["columns"].get("groups", "").split(", ")
    group_head, short = short_names([*context["observed_groups"]], columns)
    rows = []
    shares = []
    for name, group in context["observed_groups"].items():
        found = group["classifiers"]["cape"]
        rows.append({"name": short[name], **found})
        shares += [found["prevalence"]["high"], found["predicted_prevalence"]["high"]]
    if len(rows) > MOST_ROWS:
        # The largest difference that is sure comes first.
        rows.sort(key=lambda row: row["pd"]["low"] or 0, reverse=True)
    end = _plot.share_domain(shares)[1]
    return {**context, "rows": rows, "group_head": group_head, "end": end}


def observed_context(summary: Summary) -> Summary:
    """Return the table of observed rates and that of the worst pairs."""
    observed = summary["observed"]
    both = "unadapted" in observed
    names = ALONE
    columns = _audit.RATE_NAMES
    if both:
        names = COMPARED
        columns = {rate: columns[rate] for rate in BESIDE_ANOTHER}
    groups: dict[str, Summary] = {}
    for who in names:
        for finding in observed[who]["groups"]:
            empty: Summary = {"rows": 0, "classifiers": {name: {} for name in names}}
            group = groups.setdefault(finding["group"], empty)
            # A rate counts the rows of its denominator; the greatest number is all.
            group["rows"] = max(group["rows"], finding["rows"])
            group["classifiers"][who][finding["metric"]] = finding
    between = []
    # Both classifiers predict the same rows: either both have pairs or none has.
    if observed["cape"]["pairs"]:
        for metric, label in BETWEEN_NAMES.items():
            pairs = [_worst_or_why(observed[who], metric) for who in names]
            between.append((label, pairs))
    return {
        "both": both,
        "classifiers": names,
        "observed_columns": columns,
        "observed_groups": groups,
        "between_rows": between,
    }


def _worst_or_why(audit: Summary, metric: str) -> Any:
    """Return the worst pair of a metric, or why no pair says anything."""
    if metric in audit["worst"]:
        return audit["worst"][metric]
    reasons = {pair["why"] for pair in audit["pairs"] if pair["metric"] == metric}
    # With more rows, a pair might be defined.
    return "too few rows" if "too few rows" in reasons else "undefined"
