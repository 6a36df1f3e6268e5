"""The results of an audit, as tables, as a dict for JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cape import plot
from cape._estimate import Estimate
from cape._groups import Group, group_labels, name_index, unique_names
from cape._notebook import InNotebook, Shown
from cape._wording._numbers import level_text
from cape.metrics._rates import FEWEST_ROWS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audit", "Finding"]

_MOST_LINES = 26
"""Lines of a text that are seen at once: two groups are told whole."""

_MOST_GROUPS = 12

_METRICS = {
    "predicted_prevalence": "called positive",
    "prevalence": "positive",
    "pd": "PD",
    "fpr": "FPR",
    "fnr": "FNR",
    "precision": "precision",
    "accuracy": "accuracy",
}
"""Metrics of a group, and what a notebook calls them."""


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

    def to_dict(self, names: Mapping[Group, str]) -> dict[str, Any]:
        """Return the finding as JSON can hold it, which has neither NaN nor infinity.

        Parameters
        ----------
        names : mapping from group to str
            What the groups are called.

        Returns
        -------
        dict
            See `Audit.to_dict`.
        """
        entry: dict[str, Any] = {"metric": self.metric}
        entry["group"] = names[self.group]
        if self.other is not None:
            entry["other"] = names[self.other]
        for name in ("value", "low", "high"):
            entry[name] = _number_or_none(getattr(self, name))
        # A rate of two rows would be read, sorted and plotted as any other.
        if not self.enough:
            entry["value"] = None
        entry["rows"] = self.rows
        entry["enough"] = self.enough
        entry["why"] = self.why
        return entry


@dataclass(frozen=True)
class Audit(InNotebook):
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

    def worst_pairs(self) -> dict[str, Finding]:
        """Find the worst pair of each metric.

        Returns
        -------
        dict from str to Finding
            The pair with the greatest difference or PE, and that with the smallest
            ratio. Pairs that rest on too few rows are left out.
        """
        worst: dict[str, Finding] = {}
        for finding in self.between:
            # Undefined, or one person compared with another.
            if not finding.enough:
                continue
            so_far = worst.get(finding.metric)
            if so_far is None or _is_worse(finding, so_far):
                worst[finding.metric] = finding
        return worst

    def plot(self) -> Any:
        """Draw the predicted against the true share of each group; needs altair.

        Returns
        -------
        altair chart
        """
        return plot.audit(self._shares(), title=self._title(), width=300)

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
            "groups": [finding.to_dict(names) for finding in self.findings],
            "pairs": [finding.to_dict(names) for finding in self.between],
        }

    def _names(self) -> dict[Group, str]:
        """Name the groups."""
        return unique_names(_groups_of((*self.findings, *self.between)))

    def _by_group(self) -> dict[Group, dict[str, Finding]]:
        """Findings of each group, by metric."""
        by_group: dict[Group, dict[str, Finding]] = {}
        for finding in self.findings:
            by_group.setdefault(finding.group, {})[finding.metric] = finding
        return by_group

    def _shares(self) -> pd.DataFrame:
        """Return the numbers of the picture."""
        import pandas as pd

        names = self._names()
        rows = []
        for group, findings in self._by_group().items():
            row: dict[str, Any] = {"group": names[group]}
            row["rows"] = _most_rows(findings)
            row.update(_share("predicted", findings.get("predicted_prevalence")))
            row.update(_share("true", findings.get("prevalence")))
            rows.append(row)
        columns = ["group", "rows", *_share("predicted", None), *_share("true", None)]
        return pd.DataFrame(rows, columns=columns)

    def _title(self) -> str:
        return f"Called positive and positive, with {level_text(self.level)} intervals"

    def _shown(self) -> Shown:
        import pandas as pd

        names = self._names()
        by_group = self._by_group()
        rows = []
        for findings in by_group.values():
            row: dict[str, Any] = {"rows": _most_rows(findings)}
            for metric, name in _METRICS.items():
                if metric in findings:
                    row[name] = _estimate(findings[metric])
            rows.append(row)
        title = (
            f"Audit of {len(by_group)} groups, with {level_text(self.level)} "
            'intervals. "positive" is the share by the labels.'
        )
        table = pd.DataFrame(rows, index=name_index(by_group))
        return Shown(title, table, self._worst_in_words(names))

    def _worst_in_words(self, names: Mapping[Group, str]) -> list[str]:
        """Describe the worst pair of each metric, and say where all pairs are."""
        if not self.between:
            return []
        lines = []
        for finding in self.worst_pairs().values():
            lines.append(f"worst pair: {_in_words(finding, names)}")
        lines.append(f"pairs() has all {len(self.between)} findings between pairs")
        return lines

    def __repr__(self) -> str:
        names = self._names()
        findings = [*self.findings, *self.between]
        lines = [_in_words(finding, names) for finding in findings]
        if len(lines) > _MOST_LINES:
            lines = self._groups_in_words(names) + self._worst_in_words(names)
        text = "".join(f"  {line}\n" for line in lines)
        return f"Audit(level={self.level:g}\n{text})"

    def _groups_in_words(self, names: Mapping[Group, str]) -> list[str]:
        """Write the values of the first groups as lines of a table."""
        import pandas as pd

        by_group = self._by_group()
        rows = {}
        for group, findings in by_group.items():
            row = {}
            for metric, name in _METRICS.items():
                if metric in findings:
                    row[name] = _value_in_words(findings[metric])
            rows[names[group]] = row
        table = pd.DataFrame.from_dict(rows, orient="index")
        lines = table.head(_MOST_GROUPS).to_string().splitlines()
        left_out = len(table) - _MOST_GROUPS
        if left_out > 0:
            lines.append(f"and {left_out} more groups")
        return [*lines, "table() has the intervals of all groups"]


def _most_rows(findings: Mapping[str, Finding]) -> int:
    """Rows of a group: an accuracy has all of them in its denominator."""
    return max(finding.rows for finding in findings.values())


def _share(name: str, finding: Finding | None) -> dict[str, float]:
    """Return a share and its interval as three columns of a picture."""
    value = low = high = np.nan
    if finding is not None:
        low, high = finding.low, finding.high
        # A share of two rows would be seen as any other; its interval is drawn.
        if finding.enough:
            value = finding.value
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _estimate(finding: Finding) -> Estimate:
    """Return a cell of a table: the value, or why it says nothing."""
    value: float | str = finding.value
    if finding.why is not None:
        value = finding.why
    return Estimate(value, finding.low, finding.high)  # type: ignore[arg-type]


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


def _is_worse(finding: Finding, other: Finding) -> bool:
    """Compare two findings of a metric: a small ratio is bad, or a large difference."""
    if finding.metric.endswith("_ratio"):
        return finding.value < other.value
    return finding.value > other.value


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
    value = _value_in_words(finding)
    return f"{whose}: {finding.metric} {value} {interval}, {finding.rows} rows"


def _value_in_words(finding: Finding) -> str:
    """Write the value of a finding, or why it says nothing."""
    if finding.why is not None:
        return finding.why
    return f"{finding.value:.3f}"
