"""Names of criteria and rules, and what is said of the bounds of a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Bounds = Mapping[str, float | None]
"""Bounds that a rule keeps, by criterion; None is as near to parity as a coin."""

CRITERION_NAMES = {
    "accuracy": "accuracy",
    "proportional_equality": "proportional equality (PE)",
    "demographic_parity_difference": "difference of predicted shares",
    "demographic_parity_ratio": "ratio of predicted shares (four-fifths rule)",
    "equal_opportunity_difference": "difference of true positive rates",
    "false_positive_rate_difference": "difference of false positive rates",
    "equalized_odds_difference": "difference of both rates (equalized odds)",
}
"""How the page and the terminal call a criterion, by the name of its metric."""

CRITERION_MEANINGS = {
    "accuracy": "share of the rows that are decided right",
    "proportional_equality": (
        "how far the ratio of two groups' predicted shares is from the ratio of their "
        "true shares"
    ),
    "demographic_parity_difference": (
        "between the groups that are called positive most and least"
    ),
    "demographic_parity_ratio": (
        "smallest share called positive, relative to the greatest; the four-fifths "
        "rule asks for at least 0.8"
    ),
    "equal_opportunity_difference": "of those who are positive, how many are called so",
    "false_positive_rate_difference": (
        "of those who are negative, how many are called positive"
    ),
    "equalized_odds_difference": "the greater of the two differences of rates",
}

RULE_NAMES = {
    "prevalence": "predicted share = true share (the paper's rule)",
    "proportional_equality": "proportional equality",
    "demographic_parity": "demographic parity",
    "equal_opportunity": "equal opportunity",
    "predictive_equality": "equal false positive rates",
    "equalized_odds": "equalized odds",
    "accuracy": "best accuracy",
    "constrained": "several bounds at once",
}
"""How the page calls a rule, by its name in `cape.rules.RULES`."""

_SENTENCES = {
    "prevalence": (
        "In each group, the classifier whose predicted share of positives is nearest "
        "the estimated one."
    ),
    "accuracy": (
        "In each group, the classifier whose errors are expected to cost least."
    ),
}


def rule_sentence(name: str, bounds: Bounds) -> str:
    """Say what the rule of a batch aims at.

    Parameters
    ----------
    name : str
        Of the rule.
    bounds : mapping

    Returns
    -------
    str

    Examples
    --------
    >>> rule_sentence("equal_opportunity", {"equal_opportunity_difference": 0.05})
    'One classifier for each group, chosen together: those whose errors are expected to
    cost least among all with a difference of true positive rates of at most 0.05.'
    """
    if name in _SENTENCES:
        return _SENTENCES[name]
    wishes = []
    for criterion, bound in bounds.items():
        asked = bound_text(criterion, bound)
        wishes.append(f"a {CRITERION_NAMES[criterion]} of {asked}")
    if not wishes:
        return f"One classifier for each group, chosen by {name}."
    return (
        "One classifier for each group, chosen together: those whose errors are "
        f"expected to cost least among all with {' and '.join(wishes)}."
    )


def bound_text(name: str, bound: float | None) -> str:
    """Say what a rule asks of a criterion."""
    if bound is None:
        return "next to nothing"
    if name == "demographic_parity_ratio":
        return f"at least {bound:g}"
    return f"at most {bound:g}"


def bound_sentence(entry: Mapping[str, Any], bound: float | None) -> str:
    """Say with which probability a bound of the rule is met in a batch."""
    name = CRITERION_NAMES[entry["criterion"]]
    start = name[0].upper() + name[1:]
    if entry["value"] is None:
        return f"{start}: it cannot be told, because too few groups are compared."
    expected = (
        f"{start}: {entry['value']:.3f} is expected ({criterion_interval(entry)})"
    )
    if _is_known(entry):
        expected = f"{start}: {entry['value']:.3f}, as observed in this batch"
    if bound is None:
        return f"{expected}."
    asked = f"{bound_text(entry['criterion'], bound)} was asked for"
    met = f"which this batch meets with probability {entry['probability']:.2f}"
    return f"{expected}; {asked}, {met}."


def _is_known(entry: Mapping[str, Any]) -> bool:
    """Tell whether a criterion needs no label, as those of predicted shares."""
    if entry["low"] is None or entry["high"] is None:
        return False
    # Not ==: quantiles of equal numbers differ in their last digit.
    return math.isclose(entry["low"], entry["high"], rel_tol=1e-9)


def criterion_interval(entry: Mapping[str, Any]) -> str:
    """Write the interval of a criterion, which may be open or observed."""
    if _is_known(entry):
        return "observed"
    if entry["high"] is None:
        return f"{entry['low']:.3f} or more"
    return f"{entry['low']:.3f} to {entry['high']:.3f}"
