"""What labels of some rows say of the estimates that were made without them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cape import _plot
from cape._adaptation import Adaptation, GroupAdaptation
from cape._estimate import Estimate
from cape._evidence import Evidence
from cape._groups import Group, unique_names
from cape._labelled import use_labels
from cape._notebook import InNotebook, Shown
from cape._wording import _examination as words
from cape._wording._results import describe_labels
from cape.examination._result import GroupResult, json_ready, shown

if TYPE_CHECKING:
    import pandas as pd

    from cape._group_model import GroupModel


@dataclass(frozen=True)
class LabelChecks(InNotebook, GroupResult):
    """What labels say of the label-free estimates of all groups.

    Parameters
    ----------
    groups : mapping from group to GroupAdaptation
        Their ``estimate`` is the one with labels, even where these did not decide.
    decide : bool
        Whether the labels corrected the estimates that members were picked for. If not,
        they were compared with the estimates and did nothing else.

    Examples
    --------
    >>> from cape import examine
    >>> groups = new.sensitive_features
    >>> labels = new.target.where(groups == 0)
    >>> seen = examine(clf, new.data, labels, sensitive_features=groups)
    >>> seen.labels.groups[0].labels.verdict, seen.labels.refuted
    ('confirmed', [])
    """

    groups: Mapping[Group, GroupAdaptation]
    decide: bool

    @property
    def names(self) -> dict[Group, str]:
        """What the groups are called, each by a name of its own."""
        return unique_names(self.groups)

    @property
    def refuted(self) -> list[Group]:
        """Groups whose estimate labels refute, at 5 % over all groups together."""
        return Adaptation("", self.groups).refuted

    def by_labels(self, group: Group) -> Estimate:
        """Return what labels say of a group; unknown where they cannot be used."""
        check = self.groups[group]
        if check.labels.verdict is None:
            return Estimate(math.nan)
        return check.estimate._replace(value=check.labels.estimate)

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
            row: dict[str, Any] = {
                "group": self.names[group],
                "rows": check.rows,
            }
            row |= zip(("now", "low", "high"), check.without_labels, strict=True)
            compared = ("compared", "compared_low", "compared_high")
            row |= zip(compared, self.by_labels(group), strict=True)
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self) -> Any:
        """Draw what was estimated without labels, and what labels say; needs altair.

        Returns
        -------
        altair chart
        """
        return _plot.moved(
            self.shares(),
            title=words.WITH_AND_WITHOUT_LABELS,
            now=words.WITHOUT_LABELS,
            compared=words.BY_LABELS,
            width=300,
        )

    def _shown(self) -> Shown:
        return shown(self.groups, *words.labels_shown(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a dict that JSON can hold, with their words."""
        entries = []
        for group, check in self.groups.items():
            entry = {"group": self.names[group], **json_ready(check.flat())}
            entries.append({**entry, "text": describe_labels(check)})
        refuted = [self.names[group] for group in self.refuted]
        return {"decide": self.decide, "refuted": refuted, "groups": entries}


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
    if decide:
        return LabelChecks(adaptation.groups, decide)
    checks = {}
    for group, part in evidence.groups.items():
        adapted = adaptation.groups[group]
        findings, estimate, _ = use_labels(
            models[group], part, adapted.estimate, adaptation.level
        )
        checks[group] = replace(adapted, labels=findings, estimate=estimate)
    return LabelChecks(checks, decide)
