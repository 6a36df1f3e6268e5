"""Warnings about an adaptation that may mislead."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from cape._column_words import describe_column
from cape._drift import LEVEL, GroupDrift
from cape._groups import Group, group_name
from cape._labelled import FEWEST_LABELS
from cape._shift_test import holm
from cape.adaptation._adaptation import Adaptation
from cape.adaptation._group import LabelCheck, estimate_name

__all__ = ["AdaptationWarning", "label_checks", "refuted_groups", "warn_if_doubtful"]

_WIDEST_INTERVAL = 0.5
_MOST_NAMES = 10
_MOST_COLUMNS = 5
_REFUTED = 0.05


class AdaptationWarning(UserWarning):
    """An adaptation may mislead: more moved than the prevalence, or rows are too few.

    With labels: they refute what was estimated without them, or cannot be used.

    Silence it if you look at an examination anyway.

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
        f"{where}. cape.examine(...).columns has the details.",
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
            "cape.examination.rows_needed computes how many rows are needed.",
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
