"""Adaptations: what was found in a batch and chosen for it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from scipy.special import ndtr, ndtri

from cape.base._estimate import Estimate
from cape.base._groups import Group, GroupResult, group_from_json, group_to_json
from cape.base._json_fields import nan_for_none, seal, strict_json, unseal
from cape.base._limits import TOLERANCE
from cape.base._numbers import level_text
from cape.drift._find import GroupDrift
from cape.drift._mixture import holm
from cape.drift._posterior import Posterior
from cape.labels._use import LabelFindings
from cape.rules._criteria import GroupSituation
from cape.rules._rules import Prevalence, describe_rule
from cape.shown import _plot
from cape.shown import _results as words
from cape.shown._notebook import InNotebook
from cape.shown._results import column_line

_FORMAT = 3
"""Number of the JSON format; it changes when older text can no longer be read."""

WAYS_OF_LABELS = ("with_scores", "alone")

_REFUTED = 0.05
"""Level, over all groups together, at which labels refute estimates."""

_MOST_SENTENCES = 10
"""Sentences on labels that a notebook shows, one a group."""


class AdaptationWarning(UserWarning):
    """An adaptation may mislead: more than the prevalence changed, or rows are too few.

    With labels: they refute the label-free estimate, or cannot be used.

    Silence it if you read the examination anyway.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)
    """


@dataclass(frozen=True, eq=False)
class GroupAdaptation:
    """What CAPE estimated and chose for one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence : float
        Share of positives in training; NaN for fewer than ten training rows, whose
        labels it would reveal.
    estimate : Estimate
        Prevalence of the batch.
    without_labels : Estimate
        The same without labels; equal to the estimate if no label was used.
    quantifier_estimate : Estimate
        The quantifier's answer; right if only the prevalence changed.
    mean_score : float
        The share of positives that rows with these scores had in training; right if
        P(y | x) has not changed.
    drift : float
        How far other changes moved the mean of the scores, in standard deviations
        within a class: the mean of what is likely. The batch is then worth at most
        ``1 / drift**2`` rows. NaN if nothing was tested.
    held_back : float
        How far the estimate rests on what was known before: the part that this takes
        from the variance that scores alone leave. 0 is not at all, 1 is completely.
    borrowed : float
        Part of the training rows behind its scores that come from other groups, by what
        they are worth.
    verdict : {"consistent", "some_drift", "drifted", "uncertain", \
"weighted", "not_tested"}
        Whether scores and columns contradict a prior shift, and whether they say enough
        to decide by.
    labels : LabelFindings
        What labels of some rows say: the number of ``rows`` with a label, their
        ``estimate``, their ``verdict`` on the label-free estimate, and its ``p_value``.
    classifier : int
        Index of the picked classifier in the pool of the group.
    made_for : float
        Prevalence for which that classifier was made, theta in the paper; NaN if it
        stands for decisions as they were made (`cape.Scores`).
    predicted_prevalence : float
        Share of the group's rows that it predicts positive.
    pd_bound : float
        Upper bound on the prevalence difference, at the level of the interval. It holds
        if the interval does.
    worth : float or None, default=None
        Rows of equal weight that these rows are worth, on which intervals and tests
        rest; None if they have no weights.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.groups[0].rows
    500
    """

    rows: int
    training_prevalence: float
    estimate: Estimate
    without_labels: Estimate
    quantifier_estimate: Estimate
    mean_score: float
    drift: float
    held_back: float
    borrowed: float
    verdict: str
    labels: LabelFindings
    classifier: int
    made_for: float
    predicted_prevalence: float
    pd_bound: float
    worth: float | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupAdaptation):
            return NotImplemented
        # NaN, which is unknown, is equal to itself.
        return strict_json(self.to_json()) == strict_json(other.to_json())

    __hash__ = None  # type: ignore[assignment]

    @property
    def effective_rows(self) -> float:
        """Rows of equal weight that the rows are worth."""
        return self.rows if self.worth is None else self.worth

    @property
    def fully_labelled(self) -> bool:
        """Whether all rows have a label."""
        return self.labels.rows == self.rows

    @property
    def move_cannot_be_told(self) -> bool:
        """Whether too little is known to say if the prevalence moved."""
        is_open = self.verdict == "uncertain"
        return is_open and self.labels.verdict is None

    def to_json(self) -> dict[str, Any]:
        """Return a dict that `Adaptation.to_json` writes."""
        content = {**vars(self), "labels": dict(vars(self.labels))}
        if self.worth is None:
            del content["worth"]
        return content

    def flat(self) -> dict[str, Any]:
        """Return a row of `Adaptation.table`: an estimate takes three columns."""
        row: dict[str, Any] = {}
        for name, value in self.to_json().items():
            if name == "labels":
                row |= {"labelled": value.pop("rows")}
                row |= {f"label_{key}": number for key, number in value.items()}
            elif isinstance(value, Estimate):
                prefix = "" if name == "estimate" else f"{name}_"
                row |= {name: value.value}
                row |= {f"{prefix}low": value.low, f"{prefix}high": value.high}
            else:
                row[name] = value
        return row


def refuted_groups(groups: Mapping[Group, GroupAdaptation]) -> list[Group]:
    """Return the groups whose estimate labels refute, at 5 % over all of them together.

    A verdict is about one group: of twenty good estimates, one is refuted by chance. An
    alarm needs Holm's method.
    """
    p_values = {}
    for group, adapted in groups.items():
        if adapted.labels.verdict is not None:
            p_values[group] = adapted.labels.p_value
    adjusted = zip(p_values, holm(list(p_values.values())), strict=True)
    return [group for group, p_value in adjusted if p_value < _REFUTED]


@dataclass(frozen=True, repr=False)
class Adaptation(InNotebook, GroupResult):
    """What CAPE estimated and chose for a batch, group by group.

    Given an adaptation, each row is predicted on its own. It is small, can be saved as
    JSON, and is all that a process needs to predict rows.

    Parameters
    ----------
    fingerprint : str
        Hash of the model that made it; other models reject it.
    groups : mapping from group to GroupAdaptation
    level : float, default=0.95
        Confidence level of the intervals and of the bound on PD; NaN if intervals were
        not requested.
    drift : {"cautious", "ignore"}, default="cautious"
        Whether other changes hold the estimates back.
    rule : mapping, default={"name": "prevalence"}
        Name and parameters of the rule that picked the members.
    notes : tuple of str, default=()
        Notes of the rule on its choice, such as a bound that it misses.
    drifts : mapping from group to GroupDrift, default={}
        What the tests of scores and columns found. Empty if they were not run. Neither
        JSON nor a pickle keeps it.
    situations : mapping from group to GroupSituation, default={}
        What the rule was given. Neither JSON nor a pickle keeps it.
    posterior : Posterior or None, default=None
        What is known about the prevalences of all groups; None if drift is
        ignored. Neither JSON nor a pickle keeps it.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names. JSON does
        not keep it.
    labels : {"with_scores", "alone"}, default="with_scores"
        What the shares of groups with labels were judged by.

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
    drifts: Mapping[Group, GroupDrift] = field(default_factory=dict, compare=False)
    situations: Mapping[Group, GroupSituation] = field(
        default_factory=dict, compare=False
    )
    posterior: Posterior | None = field(default=None, compare=False, repr=False)
    labels: str = "with_scores"

    def chance(self, group: Group, tolerance: float = TOLERANCE) -> float:
        """Return the probability that a share is within a tolerance of its estimate.

        Parameters
        ----------
        group : value, or tuple of values
        tolerance : float in (0, 1), default=0.05

        Returns
        -------
        float
            By the posterior. Where drift is ignored there is none, and the interval is
            taken for that of a normal distribution.
        """
        if self.posterior is not None:
            return self.posterior.groups[group].near(tolerance)
        half_width = self.groups[group].estimate.width / 2
        if half_width == 0:
            return 1.0
        deviations = tolerance / half_width * ndtri((1 + self.level) / 2)
        return float(2 * ndtr(deviations) - 1)

    def __getstate__(self) -> dict[str, Any]:
        # Workers need what was picked, and not the road to it.
        return {**self.__dict__, "drifts": {}, "situations": {}, "posterior": None}

    @property
    def refuted(self) -> list[Group]:
        """Groups whose estimate labels refute, at 5 % over all groups together."""
        return refuted_groups(self.groups)

    def shares(self) -> pd.DataFrame:
        """Return the numbers of the picture, one row for each group.

        Returns
        -------
        DataFrame
            Where labels corrected an estimate, it is compared with what was estimated
            without them.
        """
        rows = []
        names = self.names
        for group, adapted in self.groups.items():
            row: dict[str, Any] = {
                "group": names[group],
                "rows": adapted.rows,
                "training": adapted.training_prevalence,
            }
            row |= zip(("now", "low", "high"), adapted.estimate, strict=True)
            if adapted.labels.verdict is not None:
                compared = ("compared", "compared_low", "compared_high")
                row |= zip(compared, adapted.without_labels, strict=True)
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(self) -> Any:
        """Draw the prevalences in training and now; needs altair.

        Returns
        -------
        altair chart
        """
        title = f"Share of positives in training and now{self._interval_words()}"
        without = "estimated without labels"
        return _plot.moved(self.shares(), title=title, compared=without)

    def _interval_words(self) -> str:
        if math.isnan(self.level):
            return ""
        return f", with {level_text(self.level)} intervals"

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        rows = []
        for adapted in self.groups.values():
            row = {
                "rows": adapted.rows,
                "training": adapted.training_prevalence,
                "now": adapted.estimate,
            }
            if adapted.worth is not None:
                row["worth"] = round(adapted.worth)
            if any(one.labels.verdict for one in self.groups.values()):
                row["without labels"] = adapted.without_labels
            row |= {
                "predicted": adapted.predicted_prevalence,
                "PD at most": adapted.pd_bound,
                "verdict": words.describe_verdict(adapted),
            }
            rows.append(row)
        title = f"Share of positives of each group{self._interval_words()}"
        if not rows:
            title = "Adaptation to no rows"
        names = self.names
        sentences = []
        for group, adapted in self.groups.items():
            if adapted.labels.rows:
                sentences.append(f"{names[group]}: {words.describe_labels(adapted)}.")
        return title, rows, [*sentences[:_MOST_SENTENCES], *self.notes]

    def to_json(self) -> str:
        """Write the adaptation as JSON text."""
        groups = []
        for group, adapted in self.groups.items():
            groups.append({"group": group_to_json(group), **adapted.to_json()})
        state = {
            "fingerprint": self.fingerprint,
            "level": self.level,
            "drift": self.drift,
            "labels": self.labels,
            "rule": dict(self.rule),
            "notes": list(self.notes),
            "groups": groups,
        }
        return seal(strict_json(state), _FORMAT)

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
            If the text is of another format, or was changed since it was written.
        """
        state = unseal(text, "Adaptation.to_json", _FORMAT)
        groups = {}
        for entry in state["groups"]:
            group = group_from_json(entry.pop("group"))
            groups[group] = _group_from_json(entry)
        level = nan_for_none(state)["level"]
        notes = tuple(state["notes"])
        known = {**state, "groups": groups, "level": level, "notes": notes}
        return cls(**known)


def _group_from_json(entry: dict[str, Any]) -> GroupAdaptation:
    """Read what was estimated and picked for one group."""
    labels = entry.pop("labels")
    verdict = labels.pop("verdict")
    fields = nan_for_none(entry)
    for name in ("estimate", "without_labels", "quantifier_estimate"):
        fields[name] = Estimate(**nan_for_none(fields[name]))
    findings = LabelFindings(**nan_for_none(labels), verdict=verdict)
    return GroupAdaptation(**fields, labels=findings)


def warn_if_doubtful(adaptation: Adaptation) -> None:
    """Warn of groups in which more than the prevalence moved, and of wide intervals.

    Labels that refute an estimate, or that cannot be used, are named as well.
    """
    for sentence in words.doubts(
        adaptation, adaptation.names, _faults(adaptation), adaptation.refuted
    ):
        warnings.warn(sentence, AdaptationWarning, stacklevel=3)


def warn_of_faults(adaptation: Adaptation) -> None:
    """Warn of columns that are plainly not what they were in training."""
    faults = _faults(adaptation)
    if not faults:
        return
    for sentence in words.of_faults(adaptation, faults):
        warnings.warn(sentence, AdaptationWarning, stacklevel=4)


def _faults(adaptation: Adaptation) -> list[str]:
    """Describe each column at fault once: it mostly is in every group."""
    faults: dict[str, str] = {}
    for drift in adaptation.drifts.values():
        for column in drift.faults:
            if column.column not in faults:
                faults[column.column] = column_line(column.column, column.what_happened)
    return list(faults.values())
