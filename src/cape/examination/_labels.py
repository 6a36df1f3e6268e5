"""What labels of some rows say of the estimates that were made without them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cape import plot
from cape._estimate import Estimate
from cape._groups import Group, name_index, unique_names
from cape._labelled import LabelFree, use_labels
from cape._notebook import InNotebook, Shown
from cape.adaptation import Adaptation, LabelCheck
from cape.adaptation._doubts import label_checks, refuted_groups
from cape.evidence import Evidence
from cape.examination._result import GroupResult

if TYPE_CHECKING:
    import pandas as pd

    from cape._group_model import GroupModel


@dataclass(frozen=True)
class LabelChecks(InNotebook, GroupResult):
    """What labels say of the label-free estimates of all groups.

    Parameters
    ----------
    groups : mapping from group to LabelCheck
    decide : bool
        Whether the labels corrected the estimates that members were picked for. If not,
        they were compared with the estimates and did nothing else.

    Examples
    --------
    >>> from cape import examine
    >>> groups = new.sensitive_features
    >>> labels = new.target.where(groups == 0)
    >>> seen = examine(clf, new.data, labels, sensitive_features=groups)
    >>> seen.labels.groups[0].label_verdict, seen.labels.refuted
    ('confirmed', [])
    """

    groups: Mapping[Group, LabelCheck]
    decide: bool

    @property
    def names(self) -> dict[Group, str]:
        """What the groups are called, each by a name of its own."""
        return unique_names(self.groups)

    @property
    def refuted(self) -> list[Group]:
        """Groups whose estimate labels refute, at 5 % over all groups together."""
        return refuted_groups(self.groups)

    def shares(self) -> pd.DataFrame:
        """Return the numbers of the picture, one row for each group.

        Returns
        -------
        DataFrame
            Group, rows, now (estimated without labels), low and high; and what labels
            say: compared, compared_low and compared_high, missing where they cannot be
            used.
        """
        import pandas as pd

        rows = []
        for group, check in self.groups.items():
            said = _said(check)
            row = {
                "group": self.names[group],
                "rows": check.rows,
                "now": check.label_free_estimate,
                "low": check.label_free_low,
                "high": check.label_free_high,
                "compared": said.value,
                "compared_low": said.low,
                "compared_high": said.high,
            }
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self) -> Any:
        """Draw what was estimated without labels, and what labels say; needs altair.

        Returns
        -------
        altair chart
        """
        title = "Share of positives with and without labels"
        without = "estimated without labels"
        with_labels = "according to the labels"
        return plot.moved(
            self.shares(),
            title=title,
            now=without,
            compared=with_labels,
            width=300,
        )

    def _shown(self) -> Shown:
        import pandas as pd

        rows = []
        for check in self.groups.values():
            without = (check.label_free_estimate, check.label_free_low)
            row = {
                "rows": check.rows,
                "labelled": check.labelled,
                "without labels": Estimate(*without, check.label_free_high),
                "by the labels": _said(check),
                "verdict": check.text,
            }
            rows.append(row)
        table = pd.DataFrame(rows, index=name_index(self.groups))
        title = "What labels say of the estimates that were made without them"
        return Shown(title, table)

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a dict that JSON can hold, with their words."""
        content = super().to_dict()
        for entry, check in zip(content["groups"], self.groups.values(), strict=True):
            entry["text"] = check.text
        return content

    def _facts(self) -> dict[str, Any]:
        refuted = [self.names[group] for group in self.refuted]
        return {"decide": self.decide, "refuted": refuted}


def _said(check: LabelCheck) -> Estimate:
    """Return what labels say; unknown where they cannot be used."""
    if check.label_verdict is None:
        return Estimate(math.nan, math.nan, math.nan)
    return Estimate(check.label_estimate, check.low, check.high)


def check_labels(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    decide: bool,
) -> LabelChecks | None:
    """Compare the label-free estimate of every group with the labels of its rows.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
        Evidence of the batch, with its labels.
    adaptation : Adaptation
        Adaptation to the batch, with intervals.
    decide : bool
        Whether the adaptation was made with these labels.

    Returns
    -------
    LabelChecks or None
        None if no row has a label.
    """
    if not any(part.labelled_rows for part in evidence.groups.values()):
        return None
    checks = label_checks(adaptation)
    if decide:
        return LabelChecks(checks, decide)
    level = adaptation.level
    for group, part in evidence.groups.items():
        adapted = adaptation.groups[group]
        label_free = LabelFree(adapted.estimate, adapted.low, adapted.high, level)
        findings = use_labels(models[group], part, label_free)
        checks[group] = replace(
            checks[group],
            labelled=findings.labelled,
            label_estimate=findings.label_estimate,
            low=findings.low,
            high=findings.high,
            label_verdict=findings.verdict,
            label_p_value=findings.p_value,
            sample_p_value=findings.sample_p_value,
        )
    return LabelChecks(checks, decide)
