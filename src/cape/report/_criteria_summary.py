"""What the page says of fairness criteria: what is given up, and what to aim at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cape.report._types import Summary
from cape.rules._names import bounds_of

__all__ = [
    "CRITERION_NAMES",
    "RULE_NAMES",
    "bound_sentences",
    "criteria_columns",
    "criteria_rows",
    "rule_sentence",
]

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

_MEANINGS = {
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


def rule_sentence(rule: Mapping[str, Any]) -> str:
    """Say what the rule of a batch aims at.

    Parameters
    ----------
    rule : mapping
        From `cape.rules.describe_rule`.

    Returns
    -------
    str

    Examples
    --------
    >>> rule_sentence({"name": "equal_opportunity", "tolerance": 0.05})
    'One classifier for each group, chosen together: those whose errors are expected to
    cost least among all with a difference of true positive rates of at most 0.05.'
    """
    if rule["name"] in _SENTENCES:
        return _SENTENCES[rule["name"]]
    wishes = []
    for name, bound in bounds_of(rule).items():
        wishes.append(f"a {CRITERION_NAMES[name]} of {_bound_text(name, bound)}")
    if not wishes:
        return f"One classifier for each group, chosen by {rule['name']}."
    return (
        "One classifier for each group, chosen together: those whose errors are "
        f"expected to cost least among all with {' and '.join(wishes)}."
    )


def _bound_text(name: str, bound: float | None) -> str:
    if bound is None:
        return "next to nothing"
    if name == "demographic_parity_ratio":
        return f"at least {bound:g}"
    return f"at most {bound:g}"


def bound_sentences(rule: Mapping[str, Any], criteria: list[Summary]) -> list[str]:
    """Say with which probability the bounds of the rule are met in a batch.

    Parameters
    ----------
    rule : mapping
        From `cape.rules.describe_rule`.
    criteria : list of dict
        From `ExpectedCriteria.to_dict`.

    Returns
    -------
    list of str
        One sentence for each criterion that the rule aims at.
    """
    entries = {entry["criterion"]: entry for entry in criteria}
    sentences = []
    for name, bound in bounds_of(rule).items():
        sentences.append(_bound_sentence(entries[name], bound))
    return sentences


def _bound_sentence(entry: Summary, bound: float | None) -> str:
    name = CRITERION_NAMES[entry["criterion"]]
    start = name[0].upper() + name[1:]
    if entry["value"] is None:
        return f"{start}: it cannot be told, because too few groups are compared."
    expected = f"{start}: {entry['value']:.3f} is expected ({_interval(entry)})"
    if _is_known(entry):
        expected = f"{start}: {entry['value']:.3f}, as observed in this batch"
    if bound is None:
        return f"{expected}."
    asked = f"{_bound_text(entry['criterion'], bound)} was asked for"
    met = f"which this batch meets with probability {entry['probability']:.2f}"
    return f"{expected}; {asked}, {met}."


def _is_known(entry: Summary) -> bool:
    """Tell whether a criterion needs no label, as those of predicted shares."""
    if entry["low"] is None or entry["high"] is None:
        return False
    # Not ==: quantiles of equal numbers differ in their last digit.
    return math.isclose(entry["low"], entry["high"], rel_tol=1e-9)


def _interval(entry: Summary) -> str:
    if _is_known(entry):
        return "observed"
    if entry["high"] is None:
        return f"{entry['low']:.3f} or more"
    return f"{entry['low']:.3f} to {entry['high']:.3f}"


def criteria_columns(summary: Summary) -> list[str]:
    """Return the heads of the table of criteria.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    list of str
        What was asked for is left out if the rule asks for nothing.
    """
    columns = ["criterion", "expected", "interval"]
    if bounds_of(summary["rule"]):
        columns += ["asked for", "met with probability"]
    return columns


def criteria_rows(summary: Summary) -> list[dict[str, Any]]:
    """Return the table of all criteria, in plain words.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    list of dict
        Name, meaning, whether the rule aims at it, and the texts of the cells.
    """
    aims = bounds_of(summary["rule"])
    n_cells = len(criteria_columns(summary)) - 1
    rows = []
    for entry in summary["criteria"]:
        name = entry["criterion"]
        rows.append(
            {
                "name": CRITERION_NAMES[name],
                "meaning": _MEANINGS[name],
                "aimed_at": name in aims,
                "cells": _cells(entry, name in aims)[:n_cells],
            }
        )
    return rows


def _cells(entry: Summary, aimed_at: bool) -> list[str]:
    if entry["value"] is None:
        return ["unknown", "", "", ""]
    asked = ""
    probability = ""
    if aimed_at:
        asked = _bound_text(entry["criterion"], entry["bound"])
    if entry["probability"] is not None:
        probability = f"{entry['probability']:.2f}"
    return [f"{entry['value']:.3f}", _interval(entry), asked, probability]
