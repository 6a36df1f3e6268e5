"""The summary of an audit: what the labels say about predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cape._app_wording._audit import LAST_CHANGED, left_out_groups
from cape._app_wording._page import Summary
from cape._groups import Group, combined_columns
from cape._tables import Source, source_files
from cape._wording._numbers import unique_names
from cape.metrics import Audit
from cape.metrics._audit import audit_counts
from cape.metrics._rates import FEWEST_ROWS, Confusion
from cape.report._model import stamped

if TYPE_CHECKING:
    import pandas as pd


def audit_summary(
    counts: Mapping[Group, Confusion],
    *,
    level: float,
    file: str | Path,
    file_sha256: str,
    columns: Summary,
    title: str | None = None,
    author: str = "",
    note: str = "",
    group_columns: Sequence[str] | None = None,
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
    title : str, default=None
        Heading of the page; None is the name of the file.
    author, note : str, default=""
        Who made the audit, and what a reader has to know first.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine, if there are several.

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
    names = unique_names(counts, combined_columns(group_columns))
    audit = audit_counts(counts, level=level)
    files = [{"file": name, "sha256": file_sha256}]
    rows = sum(confusion.rows for confusion in counts.values())
    return {
        "kind": "audit",
        "title": title or name,
        "author": author,
        "note": note,
        "rows": rows,
        "level": level,
        "observed": {"cape": audit_content(audit, counts, names)},
        "made": stamped({"files": files, "columns": columns}),
    }


def impact_summary(
    ratios: pd.DataFrame,
    facts: Summary,
    *,
    source: Source,
    file_sha256: str,
    columns: Summary,
    min_share: float,
    data_source: str | None,
    data_date: str | None,
    title: str | None,
    **words: str,
) -> Summary:
    """Summarise selection rates and impact ratios, for the page of a bias audit.

    Parameters
    ----------
    ratios, facts
        From `cape.files._audit.impact_of_file`.
    source : str, Path or Query
        What was read.
    file_sha256, columns, title
        As in `audit_summary`.
    min_share : float
        Below it, categories have no impact ratio.
    data_source, data_date : str or None
        Where the data come from, and of which time they are. By default the name of the
        file, and the day on which it was last changed.
    **words
        Author and note.

    Returns
    -------
    dict
        All that the page says; ``tables`` has the rows of each table.
    """
    name = Path(str(source)).name
    if data_date is None:
        latest = max(file.stat().st_mtime for file in source_files(source))
        changed = datetime.fromtimestamp(latest, UTC)
        data_date = LAST_CHANGED.format(changed.date())
    tables: Summary = {}
    for row in ratios.astype(object).where(ratios.notna(), None).to_dict("records"):
        tables.setdefault(row.pop("table"), []).append(row)
    files = [{"file": name, "sha256": file_sha256}]
    return {
        "kind": "ll144",
        "title": title or name,
        **words,
        "rows": sum(row["applicants"] for row in next(iter(tables.values()))),
        "rate": "scoring_rate" if "median" in facts else "selection_rate",
        **facts,
        "min_share": min_share,
        "source": data_source or name,
        "data_date": data_date,
        "tables": tables,
        "made": stamped({"files": files, "columns": columns}),
    }


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
        left_out = left_out_groups(small, FEWEST_ROWS)
    return {
        **audit.to_dict(names),
        "differences": [finding.to_dict(names) for finding in audit.differences()],
        "worst": worst,
        "small_groups": small,
        "left_out": left_out,
    }
