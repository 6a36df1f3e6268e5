"""The summary of an audit: what the labels say about predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cape._groups import Group, unique_names
from cape._wording._numbers import joined
from cape.metrics import Confusion, audit_counts
from cape.metrics._rates import FEWEST_ROWS
from cape.report._audit_words import audit_words
from cape.report._made import stamped
from cape.report._types import Summary

__all__ = ["audit_of_counts", "audit_summary"]


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

    Returns
    -------
    dict
        All numbers of the audit page, as JSON can hold them.

    Examples
    --------
    >>> from cape.metrics import Confusion
    >>> counts = {"a": Confusion(tp=8, fp=2, fn=2, tn=8, rows=20)}
    >>> summary = audit_summary(
    ...     counts, level=0.95, file="scored.csv", file_sha256="0a1b", columns={}
    ... )
    >>> summary["title"], summary["rows"]
    ('scored.csv', 20)
    """
    name = Path(file).name
    names = unique_names(counts)
    made = {
        "files": [
            {
                "file": name,
                "sha256": file_sha256,
            }
        ],
        "columns": columns,
    }
    return {
        "kind": "audit",
        "title": title or name,
        "author": author,
        "note": note,
        "rows": sum(confusion.rows for confusion in counts.values()),
        "level": level,
        "words": audit_words(counts, names, level=level, columns=columns),
        "observed": {"cape": audit_of_counts(counts, level, names)},
        "made": stamped(made),
    }


def audit_of_counts(
    counts: Mapping[Group, Confusion],
    level: float,
    names: Mapping[Group, str],
) -> Summary:
    """Audit confusion counts, and pick out the worst pair for each metric.

    Parameters
    ----------
    counts : mapping from group to Confusion
        Confusion counts of each group.
    level : float in (0, 1)
        Confidence level of the intervals.
    names : mapping from group to str
        What the groups are called.

    Returns
    -------
    dict
        What `cape.metrics.Audit.to_dict` gives; ``worst``, the pair with the greatest
        difference or PE and that with the smallest ratio; ``small_groups``, the groups
        whose pairs are never the worst; and ``left_out``, a sentence about them.
    """
    # A board looks at the worst pair first; with ten groups there are ninety.
    audited = audit_counts(counts, level=level)
    content = audited.to_dict(names)
    worst: Summary = {}
    for metric, finding in audited.worst_pairs().items():
        worst[metric] = finding.to_dict(names)
    small = []
    for group, confusion in counts.items():
        if confusion.rows < FEWEST_ROWS:
            small.append(names[group])
    left_out = ""
    if small and content["pairs"]:
        left_out = (
            f"Pairs with {joined(small)} are left out: a group of fewer than "
            f"{FEWEST_ROWS} rows says too little."
        )
    return {
        **content,
        "worst": worst,
        "small_groups": small,
        "left_out": left_out,
    }
