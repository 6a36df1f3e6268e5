"""Adaptations: what was found in a batch and chosen for it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cape import plot
from cape._estimate import Estimate
from cape._groups import (
    Group,
    group_from_json,
    group_labels,
    group_to_json,
    name_index,
    unique_names,
)
from cape._json_fields import Fields, read_format
from cape._notebook import InNotebook, Shown
from cape._wording._numbers import level_text
from cape.adaptation._group import (
    GroupAdaptation,
    LabelCheck,
    describe_group,
    describe_verdict,
)
from cape.rules import Prevalence, describe_rule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Adaptation", "frame_of_shares"]

_FORMAT = 1
"""Number of the JSON format; it changes when older text can no longer be read."""

_VERDICTS = ("consistent", "some_drift", "drifted", "cannot_tell", "not_tested")
_LABEL_VERDICTS = ("confirmed", "not_contradicted", "refuted")

_SHARES = (
    "training_prevalence",
    "estimate",
    "low",
    "high",
    "label_free_estimate",
    "label_free_low",
    "label_free_high",
    "prior_shift_estimate",
    "prior_shift_low",
    "prior_shift_high",
    "mean_score",
    "label_estimate",
    "held_back",
    "label_p_value",
    "sample_p_value",
    "theta",
    "predicted_prevalence",
    "pd_bound",
)
_MAY_BE_UNKNOWN = (
    "low",
    "high",
    "label_free_low",
    "label_free_high",
    "prior_shift_low",
    "prior_shift_high",
    "label_estimate",
    "label_p_value",
    "sample_p_value",
    "pd_bound",
)

_MOST_SENTENCES = 10
"""Sentences on labels that a notebook shows, one a group."""


@dataclass(frozen=True)
class Adaptation(InNotebook):
    """What CAPE estimated in a batch and picked for it, group by group.

    Given an adaptation, prediction is row by row. It is small, can be saved as JSON,
    and is all that has to be sent to where rows are predicted.

    Parameters
    ----------
    fingerprint : str
        Hash of the model that made it; other models reject it.
    groups : mapping from group to GroupAdaptation
    level : float, default=0.95
        Confidence level of the intervals and of the bound on PD; NaN if nobody asked
        for intervals.
    drift : {"cautious", "ignore"}, default="cautious"
        Whether what else has moved holds the estimates back.
    rule : mapping, default={"name": "prevalence"}
        The rule that picked the members, as `cape.rules.describe_rule` describes it:
        its name and its parameters.
    notes : tuple of str, default=()
        What the rule has to say of its choice, such as a bound that it misses.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.table()["rows"].to_dict()
    {0: 500, 1: 500}
    >>> Adaptation.from_json(adaptation.to_json()) == adaptation
    True
    """

    fingerprint: str
    groups: Mapping[Group, GroupAdaptation]
    level: float = 0.95
    drift: str = "cautious"
    rule: Mapping[str, Any] = field(default_factory=lambda: describe_rule(Prevalence()))
    notes: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each group."""
        import pandas as pd

        labels = group_labels(self.groups)
        rows = [asdict(group) for group in self.groups.values()]
        columns = list(GroupAdaptation.__dataclass_fields__)
        index = pd.Index(list(labels.values()), name="group")
        return pd.DataFrame(rows, index=index, columns=columns)

    def plot(self) -> Any:
        """Draw the prevalences in training and now; needs altair.

        Returns
        -------
        altair chart
        """
        title = f"Share of positives in training and now{self._interval_words()}"
        without = "estimated without labels"
        return plot.moved(
            frame_of_shares(self), title=title, compared=without, width=300
        )

    def _interval_words(self) -> str:
        if math.isnan(self.level):
            return ""
        return f", with {level_text(self.level)} intervals"

    def _shown(self) -> Shown:
        import pandas as pd

        rows = []
        for adapted in self.groups.values():
            now = Estimate(adapted.estimate, adapted.low, adapted.high)
            row = {
                "rows": adapted.rows,
                "in training": adapted.training_prevalence,
                "now": now,
                "called positive": adapted.predicted_prevalence,
                "PD at most": adapted.pd_bound,
                "verdict": describe_verdict(adapted),
            }
            rows.append(row)
        table = pd.DataFrame(rows, index=name_index(self.groups))
        title = f"Share of positives of each group{self._interval_words()}"
        return Shown(title, table, self._labels_in_words())

    def _labels_in_words(self) -> list[str]:
        """Say what labels say, and what the rule has to say."""
        sentences = []
        names = unique_names(self.groups)
        for group, adapted in self.groups.items():
            if adapted.labelled:
                sentences.append(f"{names[group]}: {LabelCheck.of(adapted).text}.")
        return [*sentences[:_MOST_SENTENCES], *self.notes]

    def to_json(self) -> str:
        """Write the adaptation as JSON text."""
        groups = []
        for group, adapted in self.groups.items():
            groups.append({"group": group_to_json(group), **asdict(adapted)})
        content = {
            "format": _FORMAT,
            "fingerprint": self.fingerprint,
            "level": self.level,
            "drift": self.drift,
            "rule": dict(self.rule),
            "notes": list(self.notes),
            "groups": groups,
        }
        return json.dumps(content, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Adaptation:
        """Read the text that `to_json` wrote.

        Parameters
        ----------
        text : str
            JSON text.

        Returns
        -------
        Adaptation

        Raises
        ------
        ValueError
            If the text is of another format, or if a field is not what it must be. The
            message names the field.
        """
        content = read_format(text, "Adaptation.to_json", _FORMAT)
        groups: dict[Group, GroupAdaptation] = {}
        for entry in content.entries("groups"):
            group = group_from_json(entry.value("group"))
            if group in groups:
                entry.refuse("group", "another one than before", group)
            groups[group] = _group_from_json(entry)
        content.fields("rule").text("name")
        return cls(
            fingerprint=content.text("fingerprint"),
            groups=groups,
            level=content.number("level", 0, 1, may_be_unknown=True),
            drift=content.text("drift", ("cautious", "ignore")),
            rule=content.value("rule"),
            notes=tuple(content.texts("notes")),
        )

    def __repr__(self) -> str:
        if not self.groups:
            return "Adaptation(no rows)"
        lines = ["Adaptation("]
        names = unique_names(self.groups)
        for group, adapted in self.groups.items():
            lines.append(f"  {names[group]}: {describe_group(adapted)}")
        lines.append(")")
        return "\n".join(lines)


def frame_of_shares(adaptation: Adaptation) -> pd.DataFrame:
    """Return the numbers that `cape.plot.moved` draws of an adaptation.

    Parameters
    ----------
    adaptation : Adaptation

    Returns
    -------
    DataFrame
        One row for each group. Where labels corrected an estimate, it is compared with
        what was estimated without them.
    """
    import pandas as pd

    rows = []
    names = unique_names(adaptation.groups)
    for group, adapted in adaptation.groups.items():
        row: dict[str, Any] = {
            "group": names[group],
            "rows": adapted.rows,
            "training": adapted.training_prevalence,
            "now": adapted.estimate,
            "low": adapted.low,
            "high": adapted.high,
        }
        if adapted.label_verdict is not None:
            row["compared"] = adapted.label_free_estimate
            row["compared_low"] = adapted.label_free_low
            row["compared_high"] = adapted.label_free_high
        rows.append(row)
    return pd.DataFrame(rows)


def _group_from_json(entry: Fields) -> GroupAdaptation:
    """Read what was estimated and picked for one group."""
    entry.check_known(["group", *GroupAdaptation.__dataclass_fields__])
    rows = entry.whole("rows", least=1)
    labelled = entry.whole("labelled")
    if labelled > rows:
        entry.refuse("labelled", f"at most {rows}, the number of rows", labelled)
    label_verdict = entry.value("label_verdict")
    if label_verdict is not None:
        label_verdict = entry.text("label_verdict", _LABEL_VERDICTS)
    shares = {}
    for name in _SHARES:
        shares[name] = entry.number(name, 0, 1, may_be_unknown=name in _MAY_BE_UNKNOWN)
    return GroupAdaptation(
        rows=rows,
        labelled=labelled,
        verdict=entry.text("verdict", _VERDICTS),
        label_verdict=label_verdict,
        member=entry.whole("member"),
        drift=entry.number("drift", 0, may_be_unknown=True),
        **shares,
    )
