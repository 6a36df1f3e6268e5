"""Adaptations: what was found in a batch and chosen for it."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from cape import plot
from cape._column_words import describe_column
from cape._drift import LEVEL, GroupDrift
from cape._groups import (
    Group,
    group_from_json,
    group_labels,
    group_name,
    group_to_json,
    name_index,
    unique_names,
)
from cape._json_fields import Fields, read_format
from cape._labelled import FEWEST_LABELS
from cape._notebook import Estimate, InNotebook, Shown, percent
from cape._shift_test import holm
from cape.rules import Prevalence, describe_rule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Adaptation", "AdaptationWarning", "GroupAdaptation", "LabelCheck"]

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

_WIDEST_INTERVAL = 0.5
_MOST_NAMES = 10
_MOST_COLUMNS = 5
_REFUTED = 0.05


@dataclass(frozen=True, eq=False)
class GroupAdaptation:
    """What CAPE estimated and picked for one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    labelled : int
        Rows whose label is known.
    training_prevalence : float
        Share of positives in training.
    estimate, low, high : float
        Estimated prevalence of the batch, and its interval.
    label_free_estimate, label_free_low, label_free_high : float
        The same without labels; equal to the estimate if no label was used.
    prior_shift_estimate, prior_shift_low, prior_shift_high : float
        What the quantifier says: right if nothing but the prevalence has moved.
    mean_score : float
        Mean score of the batch, corrected by what it misses in training: right if
        P(y | x) has not moved.
    label_estimate : float
        What the labels say, before they were combined with the label-free estimate:
        right whatever has moved. NaN if no label was used.
    drift : float
        What else has moved: the standard deviation between the prevalences that single
        columns and the scores speak for, beyond noise. NaN if nobody looked.
    held_back : float
        How far the estimate slid from the quantifier's answer towards the mean score or
        the training prevalence: 0 is not at all, 1 is all the way.
    verdict : {"consistent", "some_drift", "drifted", "cannot_tell", "not_tested"}
        What the tests of scores and columns say of the assumption of a prior shift.
    label_verdict : {"confirmed", "not_contradicted", "refuted"} or None
        What the labels say of the label-free estimate. None if no label was used.
    label_p_value : float
        Probability of a difference as large between the two, if the label-free estimate
        were right.
    sample_p_value : float
        Probability that a random sample of the batch differs from it as much as the
        labelled rows do. Below 0.01 they are no sample, and no label is used.
    member : int
        Index of the picked member in the group's pool.
    theta : float
        Prevalence for which the member was made.
    predicted_prevalence : float
        Share of the group's rows that the member calls positive.
    pd_bound : float
        Upper bound on the prevalence difference, at the level of the interval. It holds
        if the interval does.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> adaptation.groups[0].rows
    500
    """

    rows: int
    labelled: int
    training_prevalence: float
    estimate: float
    low: float
    high: float
    label_free_estimate: float
    label_free_low: float
    label_free_high: float
    prior_shift_estimate: float
    prior_shift_low: float
    prior_shift_high: float
    mean_score: float
    label_estimate: float
    drift: float
    held_back: float
    verdict: str
    label_verdict: str | None
    label_p_value: float
    sample_p_value: float
    member: int
    theta: float
    predicted_prevalence: float
    pd_bound: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupAdaptation):
            return NotImplemented
        pairs = zip(astuple(self), astuple(other), strict=True)
        return all(_are_equal(one, another) for one, another in pairs)

    __hash__ = None  # type: ignore[assignment]


def _are_equal(one: Any, other: Any) -> bool:
    """Compare two numbers or words; NaN, which is unknown, is equal to itself."""
    both_unknown = one != one and other != other
    return both_unknown or one == other


@dataclass(frozen=True)
class LabelCheck:
    """What labels say of the label-free estimate of one group.

    Parameters
    ----------
    rows, labelled : int
        Rows of the group in the batch, and those whose label is known.
    label_free_estimate, label_free_low, label_free_high : float
        Prevalence that was estimated without labels, and its interval.
    label_estimate : float
        What the labels say: the true share if all rows have one. NaN if the labels
        cannot be used.
    low, high : float
        Interval with labels; the label-free one if they cannot be used.
    label_verdict : {"confirmed", "not_contradicted", "refuted"} or None
    label_p_value, sample_p_value : float
        As in `GroupAdaptation`.

    Examples
    --------
    >>> groups = new.sensitive_features
    >>> labels = new.target.where(groups == 0)
    >>> adaptation = clf.adapt(new.data, labels, sensitive_features=groups)
    >>> check = LabelCheck.of(adaptation.groups[0])
    >>> check.text
    'labels of all 500 rows confirm the label-free estimate to within 0.1'
    """

    rows: int
    labelled: int
    label_free_estimate: float
    label_free_low: float
    label_free_high: float
    label_estimate: float
    low: float
    high: float
    label_verdict: str | None
    label_p_value: float
    sample_p_value: float

    @classmethod
    def of(cls, adapted: GroupAdaptation) -> LabelCheck:
        """Take the check out of an adaptation that was made with labels."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(adapted, name) for name in names})

    @property
    def is_complete(self) -> bool:
        """Whether all rows have a label."""
        return self.labelled == self.rows

    @property
    def text(self) -> str:
        """The verdict in words, without a full stop."""
        return describe_labels(self)


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
        return f", with {percent(self.level)} intervals"

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
        return [*sentences[:_MOST_NAMES], *self.notes]

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
            lines.append(f"  {names[group]}: {_describe(adapted)}")
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


def _describe(adapted: GroupAdaptation) -> str:
    parts = [
        f"{adapted.rows} rows",
        f"prevalence {adapted.training_prevalence:.3f} -> "
        f"{adapted.estimate:.3f} ({adapted.low:.3f} to {adapted.high:.3f})",
    ]
    check = LabelCheck.of(adapted)
    if check.label_verdict is not None:
        parts.append(describe_label_free(check))
    if check.labelled:
        parts.append(check.text)
    parts += [
        describe_verdict(adapted),
        f"member for {adapted.theta:.3f} predicts {adapted.predicted_prevalence:.3f}",
        f"PD at most {adapted.pd_bound:.3f}",
    ]
    return ", ".join(parts)


def describe_label_free(check: LabelCheck) -> str:
    """Say in a few words what was estimated without labels."""
    return (
        f"without labels {check.label_free_estimate:.3f} "
        f"({check.label_free_low:.3f} to {check.label_free_high:.3f})"
    )


def describe_labels(check: LabelCheck) -> str:
    """Say in a few words what labels say of the label-free estimate.

    Parameters
    ----------
    check : LabelCheck

    Returns
    -------
    str
        A sentence without its full stop.
    """
    if check.labelled == 0:
        return "no row has a label"
    labels = f"labels of {check.labelled:,} rows"
    if check.labelled == check.rows:
        labels = f"labels of all {check.rows:,} rows"
    p_value = _p_text(check.label_p_value)
    if check.label_verdict == "confirmed":
        return f"{labels} confirm the label-free estimate to within 0.1"
    if check.label_verdict == "not_contradicted":
        return f"{labels} do not contradict the label-free estimate ({p_value})"
    if check.label_verdict == "refuted":
        return f"{labels} refute the label-free estimate ({p_value})"
    if check.labelled < FEWEST_LABELS:
        return f"fewer than {FEWEST_LABELS} labels ({check.labelled}): not used"
    return (
        "labels were not used: the labelled rows do not look drawn from the batch "
        f"({_p_text(check.sample_p_value)})"
    )


def _p_text(p_value: float) -> str:
    # Further digits would claim more than a large-sample test can tell.
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}"


def label_checks(adaptation: Adaptation) -> dict[Group, LabelCheck]:
    """Take the check of every group out of an adaptation."""
    checks = {}
    for group, adapted in adaptation.groups.items():
        checks[group] = LabelCheck.of(adapted)
    return checks


def refuted_groups(checks: Mapping[Group, LabelCheck]) -> list[Group]:
    """List the groups whose label-free estimate labels refute, over all groups.

    A verdict is that of a group by itself: of twenty good estimates, one is refuted by
    chance. An alarm needs Holm's method.

    Parameters
    ----------
    checks : mapping from group to LabelCheck

    Returns
    -------
    list of groups
    """
    p_values = {}
    for group, check in checks.items():
        if check.label_verdict is not None:
            p_values[group] = check.label_p_value
    adjusted = holm(list(p_values.values()))
    together = zip(p_values, adjusted, strict=True)
    return [group for group, p_value in together if p_value < _REFUTED]


def describe_verdict(adapted: GroupAdaptation) -> str:
    """Say in a few words what the tests say of the assumption of a prior shift.

    Parameters
    ----------
    adapted : GroupAdaptation

    Returns
    -------
    str
    """
    if adapted.verdict == "consistent":
        return "consistent with a prior shift"
    if adapted.verdict == "some_drift":
        return f"some drift{_widened(adapted)}"
    if adapted.verdict == "drifted":
        return (
            f"more moved than the prevalence: {estimate_name(adapted)} was held back "
            f"from {adapted.prior_shift_estimate:.3f}"
        )
    if adapted.verdict == "cannot_tell":
        return f"cannot tell the prevalence{without_labels(adapted)}"
    return "not tested for other shifts"


def estimate_name(adapted: GroupAdaptation) -> str:
    """Name the estimate that tests without labels are about."""
    if adapted.label_verdict is None:
        return "the estimate"
    return "the label-free estimate"


def without_labels(adapted: GroupAdaptation) -> str:
    """Restrict what is said to the estimate without labels, where labels were used."""
    if adapted.label_verdict is None:
        return ""
    return " without labels"


def _widened(adapted: GroupAdaptation) -> str:
    before = adapted.prior_shift_high - adapted.prior_shift_low
    after = adapted.label_free_high - adapted.label_free_low
    if not after > before:
        return ""
    interval = "interval"
    if adapted.label_verdict is not None:
        interval = "label-free interval"
    return f": {interval} widened from {before:.2f} to {after:.2f}"


class AdaptationWarning(UserWarning):
    """An adaptation may mislead: more moved than the prevalence, or rows are too few.

    With labels: they refute what was estimated without them, or cannot be used.

    Silence it if you look at the diagnostics anyway.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)
    """


def warn_if_doubtful(adaptation: Adaptation, found: Mapping[Group, GroupDrift]) -> None:
    """Warn of groups in which more than the prevalence moved, and of too few rows.

    Labels that refute an estimate, or that cannot be used, are named as well.

    Parameters
    ----------
    adaptation : Adaptation
    found : mapping from group to GroupDrift
        What speaks against a prior shift.
    """
    _warn_of_faults(adaptation, found)
    _warn_of_drift(adaptation, found)
    _warn_of_untested_scores(found)
    _warn_of_wide_intervals(adaptation, found)
    _warn_of_refuted(adaptation)
    _warn_of_unused_labels(adaptation)
    for note in adaptation.notes:
        warnings.warn(note, AdaptationWarning, stacklevel=3)


def _warn_of_faults(adaptation: Adaptation, found: Mapping[Group, GroupDrift]) -> None:
    """Warn of columns that are plainly not what they were in training."""
    sentences = []
    uses_labels = False
    for group, drift in found.items():
        for column in drift.faults:
            sentences.append(describe_column(column))
            uses_labels |= adaptation.groups[group].label_verdict is not None
    if sentences:
        nothing = "Without labels, nothing" if uses_labels else "Nothing"
        # Mostly the same column is at fault in every group, in much the same words.
        distinct = _few(list(dict.fromkeys(sentences)), _MOST_COLUMNS)
        warnings.warn(
            f"columns are not what they were in training: {'; '.join(distinct)}. "
            f"{nothing} can be said of the prevalences until this is mended.",
            AdaptationWarning,
            stacklevel=4,
        )


def _warn_of_drift(adaptation: Adaptation, found: Mapping[Group, GroupDrift]) -> None:
    """Warn of groups in which more than the prevalence has moved, at 1 %."""
    listed = []
    columns: dict[str, None] = {}
    for group, drift in found.items():
        if drift.faults or drift.p_adjusted >= LEVEL:
            continue
        adapted = adaptation.groups[group]
        held = adapted.held_back
        kept = "kept" if held == 0 else f"held back by {held:.0%}"
        name = estimate_name(adapted).removeprefix("the ")
        listed.append(f"{group_name(group)!r} ({name} {kept})")
        columns.update(dict.fromkeys(column.name for column in drift.moved_columns))
    if not listed:
        return
    where = "the scores"
    if columns:
        where = f"the columns {', '.join(_few(list(columns), _MOST_COLUMNS))}"
    warnings.warn(
        f"more than the prevalence has moved in {', '.join(_few(listed))}: look at "
        f"{where}. cape.diagnostics.column_shift has the details.",
        AdaptationWarning,
        stacklevel=4,
    )


def _warn_of_untested_scores(found: Mapping[Group, GroupDrift]) -> None:
    """Warn of learners whose scores cannot be tested."""
    listed = [group_name(group) for group in found if found[group].score is None]
    if listed:
        names = ", ".join(_few([repr(name) for name in listed]))
        warnings.warn(
            f"the scores of {names} were not tested: those of a flexible learner that "
            "was refitted on all rows do not follow its out-of-fold scores. Fit with "
            "scores='folds' for a test that keeps its level.",
            AdaptationWarning,
            stacklevel=4,
        )


def _few(names: list[str], most: int = _MOST_NAMES) -> list[str]:
    """Shorten a list of names."""
    if len(names) <= most:
        return names
    return [*names[:most], f"{len(names) - most} more"]


def _warn_of_wide_intervals(
    adaptation: Adaptation, found: Mapping[Group, GroupDrift]
) -> None:
    """Warn where the interval of the prevalence is wider than 0.5 for lack of rows."""
    listed = []
    for group, adapted in adaptation.groups.items():
        if adapted.label_verdict is not None:
            # Labels say how wide the interval is, and more rows would not narrow it.
            continue
        width = adapted.prior_shift_high - adapted.prior_shift_low
        if width > _WIDEST_INTERVAL and not found[group].faults:
            listed.append(f"{group_name(group)!r} ({adapted.rows} rows)")
    if listed:
        warnings.warn(
            f"too few rows to estimate the prevalence of {', '.join(_few(listed))}: "
            f"its {100 * adaptation.level:g}% interval is wider than "
            f"{_WIDEST_INTERVAL}. "
            "cape.diagnostics.rows_needed computes how many rows are needed.",
            AdaptationWarning,
            stacklevel=4,
        )


def _warn_of_refuted(adaptation: Adaptation) -> None:
    """Warn where labels refute the label-free estimate, at 5 % over all groups."""
    listed = []
    for group in refuted_groups(label_checks(adaptation)):
        adapted = adaptation.groups[group]
        listed.append(
            f"{group_name(group)!r} ({adapted.label_free_estimate:.3f} without labels, "
            f"{adapted.estimate:.3f} with {adapted.labelled} of them)"
        )
    if listed:
        warnings.warn(
            f"labels refute the label-free estimate of {', '.join(_few(listed))}. The "
            "estimate was corrected by them.",
            AdaptationWarning,
            stacklevel=4,
        )


def _warn_of_unused_labels(adaptation: Adaptation) -> None:
    """Warn where labels were given and cannot be used."""
    listed = []
    for group, check in label_checks(adaptation).items():
        if check.labelled and check.label_verdict is None:
            listed.append(f"{group_name(group)!r}: {check.text}")
    if listed:
        warnings.warn(
            f"{'; '.join(_few(listed))}. The label-free estimate stays. Labels must be "
            "those of a random sample of the batch, at least "
            f"{FEWEST_LABELS} in a group.",
            AdaptationWarning,
            stacklevel=4,
        )
