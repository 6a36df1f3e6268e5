"""Which columns of a batch moved, and how, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cape import plot
from cape._column_words import describe_column
from cape._drift import LEVEL, ColumnDrift, GroupDrift, find_drift
from cape._groups import Group, group_labels, unique_names
from cape._notebook import InNotebook, Shown
from cape._prediction import estimate_groups, find_evidence
from cape._wording._numbers import p_value_text
from cape.classifier import CapeClassifier
from cape.diagnostics._result import json_ready
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ColumnFinding", "ColumnShift", "column_shift"]

_MOST_LINES = 5


@dataclass(frozen=True)
class ColumnFinding:
    """What was found of one column in one group.

    Parameters
    ----------
    column : str
        Name of the column.
    moved : bool
        Whether it is at fault, or differs at the 1 % level over all columns and groups.
    fault : {"type", "missing", "unseen", "units", "range", "constant", ""}
        What is plainly wrong with it; empty if nothing is.
    effect : float
        Share of the rows that would have to change their value, beyond noise.
    p_value, p_adjusted : float
        Of the test by itself, and after Holm's correction for all columns and groups.
    prevalence : float
        The prevalence that this column by itself speaks for; NaN if it cannot be tested
        or does not tell the classes apart.
    prevalence_error : float
        Standard error of that prevalence; infinite if there is none.
    what_happened : str
        In words.
    """

    column: str
    moved: bool
    fault: str
    effect: float
    p_value: float
    p_adjusted: float
    prevalence: float
    prevalence_error: float
    what_happened: str


@dataclass(frozen=True)
class ColumnShift(InNotebook):
    """Result of `column_shift`.

    Parameters
    ----------
    groups : mapping from group to tuple of ColumnFinding
        Columns at fault first, then by effect. Empty if columns were not counted.
    """

    groups: Mapping[Group, tuple[ColumnFinding, ...]]

    @property
    def counted(self) -> bool:
        """Whether the columns were counted in any group."""
        return any(self.groups.values())

    def moved(self, group: Group) -> list[ColumnFinding]:
        """Return the columns of a group that moved, the worst first."""
        return [finding for finding in self.groups[group] if finding.moved]

    def table(self) -> pd.DataFrame:
        """Return one row for each group and column, the worst first."""
        import pandas as pd

        rows = []
        labels = group_labels(self.groups)
        for group, findings in self.groups.items():
            for finding in findings:
                rows.append({"group": labels[group], **asdict(finding)})
        columns = ["group", *ColumnFinding.__dataclass_fields__]
        table = pd.DataFrame(rows, columns=columns)
        at_fault = table["fault"] != ""
        order = table.assign(at_fault=at_fault).sort_values(
            ["at_fault", "effect"], ascending=False, kind="stable"
        )
        return order[columns].reset_index(drop=True)

    def plot(self) -> Any:
        """Draw how much of each column does not fit, the worst first; needs altair.

        Returns
        -------
        altair chart
        """
        frame = self._readable()
        names = frame["column"] + ", " + frame["group"]
        frame = frame.assign(column=names, clear=frame["moved"])
        title = "Columns that are no mixture of the classes in training"
        key = "red diamond: a column that moved"
        return plot.unexplained(frame, name="column", title=title, key=key, width=300)

    def _shown(self) -> Shown:
        frame = self._readable()
        if not self.counted:
            return Shown("Columns were not counted", frame.head(0))
        names = {
            "group": "group",
            "column": "column",
            "effect": "does not fit",
            "p_adjusted": "p, adjusted",
            "what_happened": "now, and expected",
        }
        frame["p_adjusted"] = frame["p_adjusted"].map(p_value_text)
        table = frame[list(names)].rename(columns=names).set_index("group")
        n_moved = int(frame["moved"].sum())
        found = f"{n_moved} of them moved"
        if not n_moved:
            found = "no sign that one moved"
        title = f"{len(frame)} columns of groups, the worst first: {found}"
        return Shown(title, table)

    def _readable(self) -> pd.DataFrame:
        """Return the table with groups by their names."""
        return ColumnShift(
            {name: self.groups[group] for group, name in self._names().items()}
        ).table()

    def _names(self) -> dict[Group, str]:
        return unique_names(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dict that JSON can hold."""
        groups = []
        names = unique_names(self.groups)
        for group, findings in self.groups.items():
            columns = [json_ready(asdict(finding)) for finding in findings]
            groups.append({"group": names[group], "columns": columns})
        return {"alpha": LEVEL, "counted": self.counted, "groups": groups}

    def __repr__(self) -> str:
        if not self.counted:
            return "ColumnShift(columns were not counted)"
        lines = ["ColumnShift("]
        for group, name in unique_names(self.groups).items():
            lines += self._describe(group, name)
        lines.append(")")
        return "\n".join(lines)

    def _describe(self, group: Group, name: str) -> list[str]:
        moved = self.moved(group)
        if not moved:
            return [f"  {name}: no sign that a column moved"]
        lines = [f"  {name}:"]
        for finding in moved[:_MOST_LINES]:
            lines.append(f"    {finding.what_happened}")
        if len(moved) > _MOST_LINES:
            lines.append(f"    and {len(moved) - _MOST_LINES} more")
        return lines


def column_shift(
    clf: CapeClassifier,
    X: Any = None,
    *,
    sensitive_features: Any = None,
    evidence: Evidence | None = None,
) -> ColumnShift:
    """Find the columns of a batch that are no mixture of the two classes in training.

    Under prior shift every column of a group is distributed as in training, positives
    and negatives mixed at the prevalence of the batch. Columns that are not, tell what
    else has moved. A shift of the very column that the scores rest on most looks like a
    prior shift, and cannot be told from one without labels.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted with ``drift="cautious"``.
    X : table of shape (n_samples, n_features), default=None
        The batch. Exactly one of ``X`` and ``evidence`` must be given.
    sensitive_features : array-like or table of n_samples rows, default=None
        Groups of the rows of ``X``.
    evidence : Evidence, default=None
        Evidence of the batch, from `CapeClassifier.evidence`.

    Returns
    -------
    ColumnShift

    Examples
    --------
    >>> from cape.diagnostics import column_shift
    >>> groups = new.sensitive_features
    >>> column_shift(clf, new.data, sensitive_features=groups)
    ColumnShift(
      0: no sign that a column moved
      1: no sign that a column moved
    )
    >>> shifted = column_shift(clf, new.data * [1, 60], sensitive_features=groups)
    >>> shifted.moved(0)[0].column, shifted.moved(0)[0].fault
    ('V', 'units')
    """
    evidence = find_evidence(clf, X, sensitive_features, evidence)
    models = {group: clf.model_of(group) for group in evidence.groups}
    estimates = estimate_groups(models, evidence.groups)
    answers = {group: plain.estimate for group, plain in estimates.items()}
    found = find_drift(models, evidence.groups, answers)
    return describe_drift(found)


def describe_drift(found: Mapping[Group, GroupDrift]) -> ColumnShift:
    """Put what was found of all columns into words."""
    groups = {}
    for group, drift in found.items():
        findings = [_finding(column) for column in drift.columns]
        findings.sort(key=lambda finding: (not finding.fault, -finding.effect))
        groups[group] = tuple(findings)
    return ColumnShift(groups)


def _finding(drift: ColumnDrift) -> ColumnFinding:
    return ColumnFinding(
        column=drift.name,
        moved=drift.moved,
        fault=drift.fault,
        effect=float(drift.fit.effect),
        p_value=drift.fit.p_value,
        p_adjusted=drift.p_adjusted,
        prevalence=float(drift.fit.prevalence),
        prevalence_error=float(drift.fit.error),
        what_happened=describe_column(drift),
    )
