"""Estimate the prevalences of all groups, let the rule pick members, and decide."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from cape.base._estimate import Estimate
from cape.base._groups import Group, group_name
from cape.base._limits import FEWEST_ROWS_TO_ADAPT
from cape.base._validation import (
    all_if_none,
    check_choice,
    check_fitted_cape,
    check_same_model,
    check_same_order,
)
from cape.drift._find import GroupDrift, find_drift, judge
from cape.drift._past import PRIOR_SHIFT, Past
from cape.drift._posterior import GroupPosterior, find_posterior, mean_score
from cape.evidence._evidence import Evidence, GroupEvidence
from cape.labels._factor import LabelFactor
from cape.labels._rates import check_calls, corrected_rates
from cape.labels._use import (
    LabelFindings,
    read_labels,
)
from cape.quantify._base import Answers, answer_groups
from cape.rules import GroupSituation, Prevalence, Rule
from cape.rules._adaptation import (
    WAYS_OF_LABELS,
    Adaptation,
    AdaptationWarning,
    GroupAdaptation,
    warn_of_faults,
)
from cape.rules._rules import choose_members, describe_rule, rule_of
from cape.shown import _results as words
from cape.training._group_model import GroupModel
from cape.training._reading import (
    Batch,
    Reading,
    batch_of,
    check_types,
    known_labels,
    read_batch,
    readings_of,
)


def find_evidence(
    clf: Any,
    X: Any,
    sensitive_features: Any,
    evidence: Evidence | None,
    *,
    y: Any = None,
    inclusion_probability: Any = None,
    sample_weight: Any = None,
    columns: bool = True,
    whole: bool = True,
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
    sample_weight : array-like or None, default=None
        Weights of the rows of ``X``.
    columns : bool, default=True
        Whether to count the columns of the batch.
    whole : bool, default=True
        Whether no other evidence will be added.

    Returns
    -------
    Evidence
    """
    check_fitted_cape(clf)
    if (X is None) == (evidence is None):
        given = "neither" if X is None else "both"
        raise ValueError(f"exactly one of X and evidence must be given, got {given}.")
    if evidence is None:
        batch = batch_of(clf, X, sensitive_features, sample_weight, whole=whole)
        check_same_order(
            X=X,
            sensitive_features=sensitive_features,
            y=y,
            inclusion_probability=inclusion_probability,
        )
        labels = known_labels(y, clf.classes_, len(batch), inclusion_probability)
        _, counted = read_batch(batch, labels=labels, columns=columns)
        return Evidence(clf.fingerprint_, counted)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given: evidence has its "
            "own groups."
        )
    if any(given is not None for given in (y, inclusion_probability, sample_weight)):
        raise ValueError(
            "y, inclusion_probability and sample_weight must be None when evidence is "
            "given: evidence has its own labels and weights."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    return evidence


def adapt(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    *,
    level: float | None = None,
    rule: Rule | None = None,
    drift: str = "cautious",
    drifts: Mapping[Group, GroupDrift] | None = None,
    past: Past | None = None,
    group_columns: Sequence[str] | None = None,
    correct_rates: bool = True,
    labels: str = "with_scores",
) -> Adaptation:
    """Estimate the prevalence of each group, and let the rule pick its member.

    Parameters
    ----------
    models : mapping from group to GroupModel
        The models of the groups of the evidence.
    evidence : Evidence
        Of the batch.
    level : float, default=None
        Confidence level of intervals; None computes no intervals.
    rule : Rule, default=None
        None is the paper's, `Prevalence`.
    drift : {"cautious", "ignore"}, default="cautious"
        Whether other changes hold the estimates back.
    drifts : mapping from group to GroupDrift, default=None
        What speaks against a prior shift; None looks for it.
    past : Past, default=None
        What is known of one's own past.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine.
    correct_rates : bool, default=True
        Whether labels correct the rates of members.
    labels : {"with_scores", "alone"}, default="with_scores"
        What the share of a group with labels is judged by.

    Returns
    -------
    Adaptation
    """
    if rule is None:
        rule = Prevalence()
    check_choice("labels", labels, WAYS_OF_LABELS)
    parts = evidence.effective().groups
    alone = labels == "alone"
    cautious = drift == "cautious"
    # Plain prediction asks for no intervals, has no labels, and is read by nobody.
    is_read = level is not None
    answers = estimate_groups(models, parts, level=level)
    if drifts is None:
        drifts = {}
        if cautious or is_read:
            drifts = find_drift(models, parts, answers, columns=cautious)
    posterior = None
    known: Mapping[Group, GroupPosterior] = {}
    free = dict(answers.estimates)
    chances = dict.fromkeys(parts, 1.0)
    if cautious:
        posterior = find_posterior(models, parts, answers, drifts, past)
        known = posterior.groups
        free, chances = posterior.estimates(level)
    estimates = dict(free)
    findings = dict.fromkeys(parts, LabelFindings(0))
    factors: dict[Group, LabelFactor] = {}
    if level is not None:
        findings, factors = read_labels(models, parts, free, level, drifts, alone=alone)
    if factors:
        before = past if cautious else PRIOR_SHIFT
        posterior = find_posterior(
            models,
            parts,
            answers,
            drifts,
            before,
            factors,
            labels_alone=alone,
        )
        if not cautious:
            # The other groups keep the quantifier's answer.
            of_labels = {group: posterior.groups[group] for group in factors}
            posterior = replace(posterior, groups=of_labels)
        # Labels of a group tell of the others, too.
        estimates |= posterior.estimates(level)[0]
    # All groups are estimated before any member is picked: a rule may weigh one group
    # against another.
    labelled = factors if correct_rates else {}
    situations = _situations(models, parts, estimates, labelled)
    chosen = choose_members(situations, rule)
    groups = {}
    for group, part in parts.items():
        width = free[group].high - free[group].low
        groups[group] = GroupAdaptation(
            rows=part.rows,
            worth=None if part.counted is None else float(part.scores.size),
            training_prevalence=models[group].shown_prevalence,
            estimate=estimates[group],
            without_labels=free[group],
            quantifier_estimate=answers.estimates[group],
            mean_score=mean_score(models[group], part)[0] if is_read else nan,
            borrowed=models[group].borrowed,
            verdict=judge(drifts.get(group), width, chances[group]),
            labels=findings[group],
            **_sources(known.get(group), group in drifts),
            **_picked(situations[group], int(chosen[group])),
        )
    return Adaptation(
        evidence.fingerprint,
        groups,
        level if level is not None else nan,
        drift,
        rule=describe_rule(rule),
        notes=_notes(models, parts, rule, situations, chosen) if is_read else (),
        drifts=drifts,
        situations=situations,
        posterior=posterior,
        group_columns=group_columns,
        labels=labels,
    )


def _situations(
    models: Mapping[Group, GroupModel],
    parts: Mapping[Group, GroupEvidence],
    estimates: Mapping[Group, Estimate],
    labelled: Collection[Group],
) -> dict[Group, GroupSituation]:
    """Collect what a rule chooses by; labels correct the rates of their group."""
    weight = sum(part.weight for part in parts.values())
    situations = {}
    for group, part in parts.items():
        model = models[group]
        rates = model.pool.rates
        if group in labelled:
            rates = corrected_rates(rates, check_calls(model, part))
        situations[group] = GroupSituation(
            share=part.weight / weight,
            estimate=estimates[group],
            thetas=model.pool.thetas,
            predicted_prevalences=model.pool.called(part) / part.scores.size,
            rates=rates,
            unchanged=model.unchanged,
        )
    return situations


def _sources(known: GroupPosterior | None, is_tested: bool) -> dict[str, Any]:
    """Say what moved an estimate without labels away from that of the scores."""
    if known is None:
        drift = 0.0 if is_tested else nan
        return {"drift": drift, "held_back": 0.0}
    return {"drift": known.drift, "held_back": known.held_back}


def _picked(situation: GroupSituation, member: int) -> dict[str, Any]:
    """Describe the member that the rule has picked."""
    predicted = float(situation.predicted_prevalences[member])
    # PD <= |q - rho-hat_J| + delta_1, with delta_1 from the interval: the bound of the
    # paper's Theorem 2 that can be computed without labels. It holds if the interval
    # does (docs/design.md, decision 6).
    q, low, high = situation.estimate
    return {
        "classifier": member,
        "made_for": float(situation.thetas[member]),
        "predicted_prevalence": predicted,
        "pd_bound": min(abs(q - predicted) + max(q - low, high - q), 1.0),
    }


def _notes(
    models: Mapping[Group, GroupModel],
    parts: Mapping[Group, GroupEvidence],
    rule: Rule,
    situations: Mapping[Group, GroupSituation],
    chosen: Mapping[Group, Any],
) -> tuple[str, ...]:
    """Say what a user has to know of the quantifier and of the rule's choice."""
    notes = []
    for quantifier in [model.quantifier for model in models.values()][:1]:
        if quantifier.borrows_interval:
            notes.append(words.borrowed_interval(type(quantifier).__name__))
    on_one_side = []
    little = []
    for group, part in parts.items():
        if models[group].weighted != part.scores.is_weighted:
            on_one_side.append(group_name(group))
        if part.scores.size < FEWEST_ROWS_TO_ADAPT <= part.rows:
            little.append(group_name(group))
    if on_one_side:
        notes.append(words.weighted(on_one_side))
    if little:
        notes.append(words.worth_little(little))
    return (*notes, *rule.notes(situations, chosen))


def estimate_groups(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    *,
    level: float | None = None,
) -> Answers:
    """Ask the quantifier of each group; see `answer_groups`."""
    quantifiers = {group: models[group].quantifier for group in evidence}
    batches = {group: part.scores for group, part in evidence.items()}
    return answer_groups(quantifiers, batches, level)


_ROWS_AT_ONCE = 1000
"""Rows whose decisions by all members are held in memory at the same time."""


def predict_batch(
    clf: Any, batch: Batch, adaptation: Adaptation | None, *, probabilities: bool
) -> np.ndarray:
    """Decide on all rows of a batch, adapting to it unless an adaptation is given.

    Parameters
    ----------
    clf : CapeClassifier
    batch : Batch
    adaptation : Adaptation or None
        Given an adaptation, only the model of the picked member reads a row.
    probabilities : bool

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if adaptation is None:
        readings: Iterable[Reading]
        if 0 < len(batch) < FEWEST_ROWS_TO_ADAPT:
            text = words.few_rows(len(batch))
            warnings.warn(text, AdaptationWarning, stacklevel=3)
        readings, counted = read_batch(
            batch, probabilities=probabilities, columns=clf.drift == "cautious"
        )
        evidence = Evidence(clf.fingerprint_, counted)
        rule = rule_of(clf)
        adaptation = adapt(
            batch.models, evidence, rule=rule, drift=clf.drift, past=clf.past
        )
        if any(found.faults for found in adaptation.drifts.values()):
            warn_of_faults(adaptation)
    else:
        # Members are positions in the pools of one model.
        check_same_model(clf, "adaptation", adaptation, Adaptation)
        readings = _read_with(batch, adaptation)
    return decide(readings, adaptation, n_rows=len(batch), probabilities=probabilities)


def _read_with(batch: Batch, adaptation: Adaptation) -> Iterator[Reading]:
    """Read a batch with the members that an adaptation has picked."""
    check_types(batch)
    members = {}
    for group in batch.groups.keys:
        if group not in adaptation.groups:
            raise ValueError(
                f"adaptation must hold every group of X, got "
                f"{list(adaptation.groups)} without {group!r}."
            )
        n_members = len(batch.models[group].pool.thetas)
        members[group] = adaptation.groups[group].classifier
        if members[group] >= n_members:
            raise ValueError(
                f"adaptation must pick a member below {n_members} for group "
                f"{group!r}, got {members[group]}."
            )
    return readings_of(batch, members)


def decide(
    readings: Iterable[Reading],
    adaptation: Adaptation,
    *,
    n_rows: int,
    probabilities: bool = False,
) -> np.ndarray:
    """Apply an adaptation: let the picked member of each group decide its rows.

    Parameters
    ----------
    readings : iterable of Reading
    adaptation : Adaptation
        Holds every group of the readings.
    n_rows : int
        Rows of the batch.
    probabilities : bool, default=False

    Returns
    -------
    ndarray of shape (n_rows,)
        Whether each row is called positive; or the probability of that.
    """
    decisions = np.zeros(n_rows, dtype=float if probabilities else bool)
    for reading in readings:
        member = adaptation.groups[reading.group].classifier
        rows = all_if_none(reading.index)
        if probabilities:
            decisions[rows] = reading.probability(member)
        else:
            decisions[rows] = reading.calls(member)
    return decisions


def decide_individually(batch: Batch) -> np.ndarray:
    """Decide on each row as a batch of its own (CAPE-1 of the paper).

    The predicted prevalence of a member is then 0 or 1.

    Parameters
    ----------
    batch : Batch

    Returns
    -------
    ndarray of bool of shape (n_rows,)
    """
    check_types(batch)
    decisions = np.zeros(len(batch), dtype=bool)
    for reading in readings_of(batch):
        decisions[all_if_none(reading.index)] = _each_row_by_itself(reading)
    return decisions


def _each_row_by_itself(reading: Reading) -> np.ndarray:
    """Let the paper's rule pick a member for each single row, then decide."""
    model = reading.model
    members = np.flatnonzero(~np.isnan(model.pool.thetas)).tolist()
    n_rows = reading.scores.shape[1]
    decisions = np.zeros(n_rows, dtype=bool)
    # A threshold pool has a thousand members, so that all decisions of all rows would
    # not fit into memory.
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        estimates = model.quantifier.estimate_each(reading.scores[:, rows])
        block = replace(reading, deciding=reading.deciding[:, rows])
        calls = np.array([block.calls(member) for member in members]).T
        situation = GroupSituation(
            share=1.0,
            estimate=Estimate(estimates),  # type: ignore[arg-type]
            thetas=model.pool.thetas[members],
            predicted_prevalences=calls.astype(float),
            rates=model.pool.rates,
        )
        chosen = choose_members({reading.group: situation})[reading.group]
        decisions[rows] = calls[np.arange(len(chosen)), chosen]
    return decisions
