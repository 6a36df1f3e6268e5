"""Estimate the prevalences of all groups, and let the rule pick members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group
from cape._validation import check_is_fitted
from cape.adaptation import Adaptation, GroupAdaptation
from cape.evidence import Evidence, GroupEvidence
from cape.rules import GroupSituation, Prevalence, Rule

__all__ = [
    "adapt",
    "adapt_groups",
    "check_same_model",
    "choose_members",
    "find_evidence",
    "refuse_row_keepers",
]


def find_evidence(
    clf: Any, X: Any, sensitive_features: Any, evidence: Evidence | None
) -> Evidence:
    """Return the evidence given, or count that of a batch.

    Everything that takes either a batch or its evidence calls this function.

    Parameters
    ----------
    clf : CapeClassifier
    X : table or None
        The batch. Exactly one of ``X`` and ``evidence`` is given.
    sensitive_features : array-like, table or None
    evidence : Evidence or None

    Returns
    -------
    Evidence
    """
    check_is_fitted(clf)
    if (X is None) == (evidence is None):
        given = "neither" if X is None else "both"
        raise ValueError(f"exactly one of X and evidence must be given, got {given}.")
    if evidence is None:
        return clf.evidence(X, sensitive_features=sensitive_features)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given, which has its "
            "groups."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    return evidence


def adapt(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    *,
    level: float | None = None,
    rule: Rule | None = None,
) -> Adaptation:
    """Estimate the prevalence of every group and pick its member.

    Parameters
    ----------
    models : mapping from group to GroupModel
        At least for the groups of the evidence.
    evidence : Evidence
    level : float, default=None
        Confidence level of intervals; None computes no intervals.
    rule : Rule, default=None
        None is the paper's, `Prevalence`.

    Returns
    -------
    Adaptation
    """
    groups = adapt_groups(models, evidence.groups, level=level, rule=rule)
    stated_level = float("nan") if level is None else level
    return Adaptation(evidence.fingerprint, groups, stated_level)


def adapt_groups(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    *,
    level: float | None = None,
    rule: Rule | None = None,
) -> dict[Group, GroupAdaptation]:
    """Adapt the groups of a batch together, as `adapt` does.

    Parameters
    ----------
    models, level, rule
        As in `adapt`.
    evidence : mapping from group to GroupEvidence

    Returns
    -------
    dict from group to GroupAdaptation
    """
    rows = {group: part.scores.size for group, part in evidence.items()}
    n_rows = sum(rows.values())
    # All groups are estimated before any member is picked: a rule may weigh one group
    # against another.
    situations = {}
    for group, part in evidence.items():
        share = rows[group] / n_rows
        predicted = models[group].pool.called(part) / rows[group]
        situations[group] = _situation(models[group], part, share, predicted, level)
    chosen = choose_members(situations, rule)
    groups = {}
    for group, situation in situations.items():
        member = int(chosen[group])
        groups[group] = _describe(models[group], int(rows[group]), situation, member)
    return groups


def choose_members(
    situations: Mapping[Group, GroupSituation], rule: Rule | None = None
) -> dict[Group, Any]:
    """Let the rule pick a member for every group: it is called here alone."""
    if rule is None:
        rule = Prevalence()
    return rule.choose(situations)


def _situation(
    model: GroupModel,
    evidence: GroupEvidence,
    share: float,
    predicted_prevalences: np.ndarray,
    level: float | None,
) -> GroupSituation:
    """Gather what the rule sees of one group."""
    quantifier = model.quantifier
    estimate = quantifier.estimate(evidence.scores)
    low = high = float("nan")
    # Plain prediction never looks at intervals, and some of them cost a hundred times
    # the estimate.
    if level is not None:
        low, high = quantifier.interval(evidence.scores, level, estimate=estimate)
    return GroupSituation(
        share=share,
        estimate=estimate,
        low=low,
        high=high,
        thetas=model.pool.thetas,
        predicted_prevalences=predicted_prevalences,
        rates=model.pool.rates,
    )


def _describe(
    model: GroupModel, rows: int, situation: GroupSituation, member: int
) -> GroupAdaptation:
    """Write down what was estimated for a group and which member was picked."""
    estimate = float(situation.estimate)
    predicted = float(situation.predicted_prevalences[member])
    # PD <= |q - rho-hat_J| + delta_1, with delta_1 from the interval: the bound of the
    # paper's Theorem 2 that can be computed without labels. It holds if the assumption
    # does (docs/design.md, decision 6).
    delta_1 = max(estimate - situation.low, situation.high - estimate)
    pd_bound = abs(estimate - predicted) + delta_1
    return GroupAdaptation(
        rows=rows,
        training_prevalence=model.prevalence,
        estimate=estimate,
        low=situation.low,
        high=situation.high,
        member=member,
        theta=float(model.pool.thetas[member]),
        predicted_prevalence=predicted,
        pd_bound=min(pd_bound, 1.0),
    )


def check_same_model(clf: Any, name: str, thing: Any, kind: type[Any]) -> None:
    """Raise unless evidence or an adaptation was made by this model.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    name : str
        What the thing is called in the error.
    thing : Evidence or Adaptation
    kind : type
        The type that it must have.
    """
    if not isinstance(thing, kind):
        raise TypeError(
            f"{name} must be of type {kind.__name__}, got {type(thing).__name__}."
        )
    if thing.fingerprint != clf.fingerprint_:
        raise ValueError(
            f"{name} must come from this model (fingerprint {clf.fingerprint_[:12]}), "
            f"got one made by another ({thing.fingerprint[:12]})."
        )


def refuse_row_keepers(clf: Any, caller: str) -> None:
    """Raise if a quantifier needs every score of a batch at once.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    caller : str
        Who cannot serve that quantifier.
    """
    for model in clf.models_.values():
        if model.quantifier.keeps_rows:
            raise TypeError(
                f"quantifier must be one that counts for {caller}, got "
                f"{model.quantifier!r}, which keeps every row."
            )
