"""Estimate the prevalences of all groups, and let the rule pick members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cape._drift import (
    GroupDrift,
    HeldBack,
    PriorShiftEstimate,
    find_drift,
    hold_back,
    ignore_drift,
    mean_score,
)
from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape._labelled import (
    LabelFindings,
    LabelFree,
    check_calls,
    corrected_rates,
    use_labels,
)
from cape._prediction._batch import batch_of
from cape._prediction._labels import known_labels
from cape._prediction._reading import read_batch, zero_evidence
from cape._validation import check_fitted_cape
from cape.adaptation import Adaptation, GroupAdaptation
from cape.evidence import Evidence, GroupEvidence
from cape.rules import GroupSituation, Prevalence, Rule, describe_rule

__all__ = [
    "adapt",
    "adapt_and_test",
    "adapt_groups",
    "check_same_model",
    "choose_members",
    "estimate_groups",
    "find_evidence",
    "refuse_row_keepers",
    "situations_of",
]


def find_evidence(
    clf: Any,
    X: Any,
    sensitive_features: Any,
    evidence: Evidence | None,
    *,
    y: Any = None,
    inclusion_probability: Any = None,
    columns: bool = True,
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
    y : array-like or None, default=None
        Labels of some rows of ``X``.
    inclusion_probability : array-like or None, default=None
        How these rows were drawn.
    columns : bool, default=True
        Whether to count the columns of the batch.

    Returns
    -------
    Evidence
    """
    check_fitted_cape(clf)
    if (X is None) == (evidence is None):
        given = "neither" if X is None else "both"
        raise ValueError(f"exactly one of X and evidence must be given, got {given}.")
    if evidence is None:
        batch = batch_of(clf, X, sensitive_features)
        labels = known_labels(y, clf.classes_, len(batch), inclusion_probability)
        _, counted = read_batch(batch, labels=labels, columns=columns)
        return Evidence(clf.fingerprint_, counted)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given, which has its "
            "groups."
        )
    if y is not None or inclusion_probability is not None:
        raise ValueError(
            "y and inclusion_probability must be None when evidence is given, which "
            "has its labels."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    for group, part in evidence.groups.items():
        _check_fits(group, clf.model_of(group), part)
    return evidence


def _check_fits(group: Group, model: GroupModel, evidence: GroupEvidence) -> None:
    """Raise unless evidence has the cells of the model that it claims to be from.

    Evidence may have come as text, and an index beyond an array must not reach a
    quantifier.
    """
    parts = [evidence]
    for rows in evidence.labelled.values():
        parts += [rows.positives, rows.negatives]
    nothing = zero_evidence(model)
    for part in parts:
        if not part.has_cells_of(nothing):
            raise ValueError(
                f"evidence of group {group_name(group)!r} must have the cells of this "
                "model, got other cells: it was damaged or changed."
            )


def adapt(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    *,
    level: float | None = None,
    rule: Rule | None = None,
    drift: str = "cautious",
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
    drift : {"cautious", "ignore"}, default="cautious"
        Whether what else has moved holds the estimates back.

    Returns
    -------
    Adaptation
    """
    adaptation, _ = adapt_and_test(
        models, evidence, level=level, rule=rule, drift=drift
    )
    return adaptation


def adapt_and_test(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    *,
    level: float | None = None,
    rule: Rule | None = None,
    drift: str = "cautious",
) -> tuple[Adaptation, dict[Group, GroupDrift]]:
    """Adapt as `adapt` does, and return what speaks against a prior shift as well.

    The second is empty if nobody looked: plain prediction that ignores drift has no use
    for the tests.
    """
    estimates = estimate_groups(models, evidence.groups, level=level)
    found = {}
    if drift == "cautious" or level is not None:
        answers = {group: plain.estimate for group, plain in estimates.items()}
        columns = drift == "cautious"
        found = find_drift(models, evidence.groups, answers, columns=columns)
    if rule is None:
        rule = Prevalence()
    notes: list[str] = []
    groups = adapt_groups(
        models,
        evidence.groups,
        estimates,
        found,
        level=level,
        rule=rule,
        cautious=drift == "cautious",
        # Plain prediction, which asks for no intervals, shows no notes either.
        notes=None if level is None else notes,
    )
    stated_level = float("nan") if level is None else level
    adaptation = Adaptation(
        evidence.fingerprint,
        groups,
        stated_level,
        drift,
        rule=describe_rule(rule),
        notes=tuple(notes),
    )
    return adaptation, found


def estimate_groups(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    *,
    level: float | None = None,
) -> dict[Group, PriorShiftEstimate]:
    """Ask the quantifier of each group.

    Parameters
    ----------
    models, level
        As in `adapt`.
    evidence : mapping from group to GroupEvidence

    Returns
    -------
    dict from group to PriorShiftEstimate
    """
    estimates = {}
    for group, part in evidence.items():
        quantifier = models[group].quantifier
        estimate = quantifier.estimate(part.scores)
        low = high = float("nan")
        # Plain prediction never looks at intervals, and some of them cost a hundred
        # times the estimate.
        if level is not None:
            low, high = quantifier.interval(part.scores, level, estimate=estimate)
        estimates[group] = PriorShiftEstimate(estimate, low, high)
    return estimates


def adapt_groups(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    estimates: Mapping[Group, PriorShiftEstimate],
    found: Mapping[Group, GroupDrift],
    *,
    level: float | None = None,
    rule: Rule | None = None,
    cautious: bool = True,
    notes: list[str] | None = None,
) -> dict[Group, GroupAdaptation]:
    """Hold the estimates back where drift was found, and let the rule pick members.

    Parameters
    ----------
    models, level, rule
        As in `adapt`.
    evidence : mapping from group to GroupEvidence
    estimates : mapping from group to PriorShiftEstimate
    found : mapping from group to GroupDrift
        Empty if nobody looked for drift.
    cautious : bool, default=True
        Whether drift holds the estimates back.
    notes : list of str, default=None
        Gets what the rule has to say of its choice. None does not ask the rule.

    Returns
    -------
    dict from group to GroupAdaptation
    """
    n_rows = sum(part.scores.size for part in evidence.values())
    # All groups are estimated before any member is picked: a rule may weigh one group
    # against another.
    cautious_estimates = {}
    findings = {}
    situations = {}
    for group, part in evidence.items():
        model = models[group]
        if cautious:
            held = hold_back(
                estimates[group],
                found[group],
                mean_score=mean_score(model, part),
                training_prevalence=model.prevalence,
                level=level,
            )
        else:
            held = ignore_drift(estimates[group], found.get(group))
        cautious_estimates[group] = held
        labels = _use_labels(model, part, held, level)
        findings[group] = labels
        situations[group] = _situation(model, part, labels, n_rows)
    chosen = choose_members(situations, rule, notes)
    groups = {}
    for group, part in evidence.items():
        groups[group] = _describe(
            models[group],
            part,
            estimates[group],
            cautious_estimates[group],
            findings[group],
            situations[group],
            int(chosen[group]),
        )
    return groups


def _situation(
    model: GroupModel, evidence: GroupEvidence, found: LabelFindings, n_rows: float
) -> GroupSituation:
    """Put together what a rule sees of a group."""
    rates = model.pool.rates
    if found.calls is not None:
        rates = corrected_rates(rates, found.calls)
    return GroupSituation(
        share=evidence.scores.size / n_rows,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        thetas=model.pool.thetas,
        predicted_prevalences=model.pool.called(evidence) / evidence.scores.size,
        rates=rates,
    )


def situations_of(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
) -> dict[Group, GroupSituation]:
    """Return what the rule saw when a batch was adapted to.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        To the same batch.

    Returns
    -------
    dict from group to GroupSituation
    """
    n_rows = sum(evidence.rows.values())
    situations = {}
    for group, part in evidence.groups.items():
        adapted = adaptation.groups[group]
        calls = None
        if adapted.label_verdict is not None:
            calls = check_calls(models[group], part)
        found = LabelFindings(
            adapted.labelled, adapted.estimate, adapted.low, adapted.high, calls=calls
        )
        situations[group] = _situation(models[group], part, found, n_rows)
    return situations


def _use_labels(
    model: GroupModel, evidence: GroupEvidence, held: HeldBack, level: float | None
) -> LabelFindings:
    """Correct the estimate of a group by the labels of its rows, if there are any."""
    if level is None:
        # Plain prediction has no labels.
        return LabelFindings(0, held.estimate, held.low, held.high)
    label_free = LabelFree(held.estimate, held.low, held.high, level)
    return use_labels(model, evidence, label_free)


def choose_members(
    situations: Mapping[Group, GroupSituation],
    rule: Rule | None = None,
    notes: list[str] | None = None,
) -> dict[Group, Any]:
    """Let the rule pick a member for every group: it is called here alone."""
    if rule is None:
        rule = Prevalence()
    chosen = rule.choose(situations)
    _check_chosen(rule, situations, chosen)
    if notes is not None:
        notes.extend(rule.notes(situations, chosen))
    return chosen


def _check_chosen(
    rule: Rule, situations: Mapping[Group, GroupSituation], chosen: Mapping[Group, Any]
) -> None:
    """Raise unless a rule, which may be the user's, picked a member of every group."""
    for group, situation in situations.items():
        n_members = len(situation.thetas)
        member = chosen.get(group)
        index = np.asarray(member)
        is_index = index.dtype.kind in "iu"
        if not is_index or (index < 0).any() or (index >= n_members).any():
            raise ValueError(
                f"{type(rule).__name__}.choose must return the index of a member for "
                f"every group, below {n_members} for {group_name(group)!r}, got "
                f"{member!r}."
            )


def _describe(
    model: GroupModel,
    evidence: GroupEvidence,
    plain: PriorShiftEstimate,
    held: HeldBack,
    labels: LabelFindings,
    situation: GroupSituation,
    member: int,
) -> GroupAdaptation:
    """Write down what was estimated for a group and which member was picked."""
    predicted = float(situation.predicted_prevalences[member])
    # PD <= |q - rho-hat_J| + delta_1, with delta_1 from the interval: the bound of the
    # paper's Theorem 2 that can be computed without labels. It holds if the interval
    # does (docs/design.md, decision 6).
    delta_1 = max(labels.estimate - labels.low, labels.high - labels.estimate)
    pd_bound = abs(labels.estimate - predicted) + delta_1
    return GroupAdaptation(
        rows=int(evidence.scores.size),
        labelled=labels.labelled,
        training_prevalence=model.prevalence,
        estimate=float(labels.estimate),
        low=float(labels.low),
        high=float(labels.high),
        label_free_estimate=float(held.estimate),
        label_free_low=float(held.low),
        label_free_high=float(held.high),
        prior_shift_estimate=float(plain.estimate),
        prior_shift_low=float(plain.low),
        prior_shift_high=float(plain.high),
        mean_score=mean_score(model, evidence),
        label_estimate=labels.label_estimate,
        drift=float(held.drift),
        held_back=float(held.held_back),
        verdict=held.verdict,
        label_verdict=labels.verdict,
        label_p_value=labels.p_value,
        sample_p_value=labels.sample_p_value,
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
