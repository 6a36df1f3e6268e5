"""The results of an audit, as tables, as a dict for JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group, group_labels, unique_names
from cape.metrics._rates import FEWEST_ROWS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audit", "Finding"]


@dataclass(frozen=True)
class Finding:
    """One metric of a group, or of an ordered pair of groups, with its interval.

    Parameters
    ----------
    metric : str
        Of a group: "fpr", "fnr", "accuracy", "precision", "prevalence",
        "predicted_prevalence" or "pd". Of an ordered pair: "pe", "fpr_difference",
        "fnr_difference", "accuracy_difference", "predicted_prevalence_difference" or
        "predicted_prevalence_ratio".
    group : group
        The group, or the first group of the pair.
    other : group or None
        The second group of the pair; None for the metric of a single group.
    value : float
        NaN where the metric is undefined.
    low, high : float
        Ends of the interval.
    rows : int
        Rows in the denominator of the metric; for a pair, those of the group that has
        fewer.
    enough : bool
        Whether the value is defined and rests on at least ten rows, which weighted rows
        must be worth. What rests on fewer rows is never the worst of a headline.

    Examples
    --------
    >>> Finding("fpr", "a", None, 0.1, 0.05, 0.2, rows=90, enough=True).high
    0.2
    """

    metric: str
    group: Group
    other: Group | None
    value: float
    low: float
    high: float
    rows: int
    enough: bool

    @property
    def why(self) -> str | None:
        """Why the value says nothing: "undefined", "too few rows", or None."""
        if self.enough:
            return None
        # One person compared with one person is a matter of rows, even where the
        # ratio of the two is undefined as well.
        if self.rows == 0 or (np.isnan(self.value) and self.rows >= FEWEST_ROWS):
            return "undefined"
        return "too few rows"


@dataclass(frozen=True)
class Audit:
    """Metrics of every group and of every ordered pair of groups, with intervals.

    `audit` and `audit_counts` make it.

    Parameters
    ----------
    findings : tuple of Finding
        Metrics of single groups.
    between : tuple of Finding
        Metrics of ordered pairs of groups.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> finding = Finding("fpr", "a", None, 0.1, 0.05, 0.2, rows=90, enough=True)
    >>> Audit((finding,), (), level=0.95)
    Audit(level=0.95
      a: fpr 0.100 (0.050 to 0.200), 90 rows
    )
    """

    findings: tuple[Finding, ...]
    between: tuple[Finding, ...]
    level: float

    def table(self) -> pd.DataFrame:
        """Metrics of single groups.

        Returns
        -------
        DataFrame
            Indexed by group and metric, with the columns value, low, high, rows and
            enough.
        """
        return _frame(self.findings, ["group", "metric"])

    def pairs(self) -> pd.DataFrame:
        """Metrics of ordered pairs of groups.

        Returns
        -------
        DataFrame
            Indexed by group, other and metric, with the columns value, low, high, rows
            and enough.
        """
        return _frame(self.between, ["group", "other", "metric"])

    def to_dict(self, names: Mapping[Group, str] | None = None) -> dict[str, Any]:
        """Return the audit as a dict that JSON can hold.

        Parameters
        ----------
        names : mapping from group to str, default=None
            What the groups are called where they stand beside groups without labels.

        Returns
        -------
        dict
            "level", "groups" and "pairs". The value of a finding is None where it says
            nothing, and its entry "why" then has the reason, "too few rows" or
            "undefined". Ends of intervals that are not finite are None.
        """
        if names is None:
            names = self._names()
        return {
            "level": self.level,
            "groups": [_to_dict(finding, names) for finding in self.findings],
            "pairs": [_to_dict(finding, names) for finding in self.between],
        }

    def _names(self) -> dict[Group, str]:
        """Name the groups."""
        return unique_names(_groups_of((*self.findings, *self.between)))

    def __repr__(self) -> str:
        lines = [f"Audit(level={self.level:g}"]
        names = self._names()
        for finding in (*self.findings, *self.between):
            lines.append(f"  {_in_words(finding, names)}")
        lines.append(")")
        return "\n".join(lines)


def _frame(findings: Sequence[Finding], index_names: list[str]) -> pd.DataFrame:
    """One row for each finding, indexed by the fields named."""
    import pandas as pd

    columns = ["value", "low", "high", "rows", "enough"]
    frame = pd.DataFrame(list(findings), columns=[*index_names, *columns])
    # Tuples, which are combinations of groups, cannot be labels of an index.
    labels = group_labels(_groups_of(findings))
    for name in index_names[:-1]:
        frame[name] = [labels[getattr(finding, name)] for finding in findings]
    return frame.set_index(index_names)


def _groups_of(findings: Sequence[Finding]) -> list[Group]:
    """List the groups that findings are about."""
    groups = [finding.group for finding in findings]
    for finding in findings:
        if finding.other is not None:
            groups.append(finding.other)
    return groups


def _to_dict(finding: Finding, names: Mapping[Group, str]) -> dict[str, Any]:
    """One finding as JSON can hold it, which has neither NaN nor infinity."""
    entry: dict[str, Any] = {"metric": finding.metric}
    entry["group"] = names[finding.group]
    if finding.other is not None:
        entry["other"] = names[finding.other]
    for name in ("value", "low", "high"):
        entry[name] = _number_or_none(getattr(finding, name))
    # A rate of two rows would be read, sorted and plotted as any other.
    if not finding.enough:
        entry["value"] = None
    entry["rows"] = finding.rows
    entry["enough"] = finding.enough
    entry["why"] = finding.why
    return entry


def _number_or_none(number: float) -> float | None:
    """Return a finite number; the interval of PE may be unbounded."""
    if np.isfinite(number):
        return number
    return None


def _in_words(finding: Finding, names: Mapping[Group, str]) -> str:
    """One finding as a line of text."""
    whose = names[finding.group]
    if finding.other is not None:
        whose = f"{whose} / {names[finding.other]}"
    interval = f"({finding.low:.3f} to {finding.high:.3f})"
    value = f"{finding.value:.3f}"
    if finding.why is not None:
        value = finding.why
    return f"{whose}: {finding.metric} {value} {interval}, {finding.rows} rows"
