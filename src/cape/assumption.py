"""Whether a batch gives reason to doubt its adaptation, over all groups."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cape._validation import Group, group_name
from cape.adaptation import Adaptation
from cape.evidence import Evidence
from cape.group import GroupModel
from cape.mixture import MixtureFit, fit_mixture

__all__ = ["AdaptationWarning", "CheckedGroup", "check_assumption", "holm", "warn_of_doubts"]

_WARNING_LEVEL = 0.01
_WIDEST = 0.5


class AdaptationWarning(UserWarning):
    """An adaptation that may mislead: the batch is no prior shift, or says too little.

    Examples
    --------
    >>> import warnings
    >>> from cape import AdaptationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdaptationWarning)  # for those who look at the diagnostics themselves
    """


class CheckedGroup(NamedTuple):
    """How the best mixture fits a group, and its p-value after correction for the number of groups."""

    fit: MixtureFit
    p_adjusted: float


def check_assumption(models: Mapping[Group, GroupModel], evidence: Evidence) -> dict[Group, CheckedGroup]:
    """Test each group of the evidence that has a model in ``models``; p-values are adjusted by Holm's method."""
    fits = {
        group: fit_mixture(models[group].positives, models[group].negatives, found.scores, found.together)
        for group, found in evidence.groups.items()
        if group in models
    }
    adjusted = holm([fit.p_value for fit in fits.values()])
    return {group: CheckedGroup(fit, p) for (group, fit), p in zip(fits.items(), adjusted, strict=True)}


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for as many tests, by Holm's step-down method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(adjusted, 1.0)
    return result.tolist()


def warn_of_doubts(models: Mapping[Group, GroupModel], evidence: Evidence, adaptation: Adaptation) -> None:
    """Warn, once for all groups, of batches that are no prior shift, and once of those that say too little.

    The first is said at the 1 % level over all groups, and only where the test is sound; the second where the interval
    of the prevalence is wider than 0.5.
    """
    sound = {group: model for group, model in models.items() if model.follows}
    tested = check_assumption(sound, evidence)
    odd = {group: found.fit.effect for group, found in tested.items() if found.p_adjusted < _WARNING_LEVEL}
    if odd:
        listed = ", ".join(f"{group_name(group)!r} ({effect:.0%} of its rows)" for group, effect in odd.items())
        warnings.warn(
            f"more than the prevalence has moved in {listed}: no mixture of the two classes as they were in training "
            "has such scores. The estimated prevalences and the choice of members rest on that assumption; "
            "cape.diagnostics.prior_shift_test tells more.",
            AdaptationWarning,
            stacklevel=3,
        )
    vague = [group for group, found in adaptation.groups.items() if found.high - found.low > _WIDEST]
    if vague:
        listed = ", ".join(f"{group_name(group)!r} ({adaptation.groups[group].rows} rows)" for group in vague[:10])
        more = f" and {len(vague) - 10} more" if len(vague) > 10 else ""
        warnings.warn(
            f"the batch says too little of {listed}{more}: the interval of the prevalence is wider than {_WIDEST}. "
            "cape.diagnostics.rows_needed tells how many rows would do.",
            AdaptationWarning,
            stacklevel=3,
        )
