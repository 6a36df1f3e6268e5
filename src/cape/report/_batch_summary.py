"""The summary of a batch: all that its page says, from an `Examination` alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group
from cape._wording._numbers import p_value_text
from cape._wording._results import describe_labels
from cape.adaptation import GroupAdaptation
from cape.evidence import GroupEvidence
from cape.examination import Examination
from cape.metrics._between import worst_pe
from cape.report._audit_summary import audit_of_counts
from cape.report._criteria_summary import bound_sentences
from cape.report._explorer import BatchRates, explorer_data, members_of, outcomes
from cape.report._frontier_summary import frontier_summary
from cape.report._label_summary import compared_summary, label_summary
from cape.report._made import facts_of_classifier, stamped
from cape.report._types import Summary
from cape.report._verdict import batch_verdict, moved_columns

__all__ = ["batch_summary"]

# Below it, two decimals hide what a share is: 0.004 would be 0.00.
_SMALL_SHARE = 0.1


def batch_summary(examination: Examination, *, title: str = "Batch") -> Summary:
    """Summarise an examined batch.

    Parameters
    ----------
    examination : Examination
        From `cape.examine`.
    title : str, default="Batch"
        What the page calls the batch.

    Returns
    -------
    dict
        All numbers and sentences of the batch page, as JSON can hold them.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> summary = batch_summary(seen, title="March")
    >>> summary["title"], summary["rows"], summary["verdict"]["word"]
    ('March', 1000, 'consistent')
    """
    # Nothing is computed here that `examine` has computed; a summary only arranges.
    content = examination.to_dict()
    estimates = _estimates(examination)
    return {
        "kind": "batch",
        "title": title,
        "rows": examination.rows,
        "level": examination.level,
        "positive": _positive_label(examination),
        "drift": examination.adaptation.drift,
        "rule": dict(examination.adaptation.rule),
        "verdict": batch_verdict(examination),
        "labels": label_summary(examination),
        "groups": _group_entries(examination, content["adaptation"]),
        "shift_test": content["shift_test"],
        "columns": {
            **content["columns"],
            "moved": moved_columns(examination),
        },
        "expected": {
            **content["expected"],
            "unadapted": _expected_unadapted(examination),
        },
        "criteria": content["criteria"],
        "aims": bound_sentences(content["rule"], content["criteria"]),
        "frontiers": frontier_summary(examination),
        "histograms": _histograms(examination),
        "observed": _observed(examination),
        "compared": compared_summary(examination),
        "explorer": explorer_data(examination.clf, estimates, _rates(examination)),
        "made": _made(examination),
    }


def _estimates(examination: Examination) -> dict[Group, float]:
    """Return the estimated prevalence of each group."""
    estimates = {}
    for group, chosen in examination.adaptation.groups.items():
        estimates[group] = chosen.estimate.value
    return estimates


def _rates(examination: Examination) -> dict[Group, BatchRates]:
    """Return what to expect of all members; where CAPE chose, as the page says it."""
    rates = {}
    for group, chosen in examination.adaptation.groups.items():
        tpr, fpr = examination.draws.groups[group].member_rates
        expected = examination.expected.groups[group]
        fpr = fpr.copy()
        # Members that call as many rows positive as the chosen one are left out:
        # rounded, they would be as near to the estimate, or nearer.
        called = examination.draws.situations[group].predicted_prevalences
        tpr = np.where(called == called[chosen.classifier], np.nan, tpr)
        # Labels may have set limits to the rates of the member that decides.
        tpr[chosen.classifier] = 1 - expected.fnr.value
        fpr[chosen.classifier] = expected.fpr.value
        rates[group] = BatchRates(tpr, fpr, chosen.classifier)
    return rates


def _positive_label(examination: Examination) -> str:
    """Return which label is the positive one, in the words of the user's table."""
    if examination.provenance is not None and "columns" in examination.provenance:
        columns = examination.provenance["columns"]
        return f"{columns['label']} = {columns['labels'][1]}"
    return f"label {examination.clf.classes_[1]}"


def _group_entries(examination: Examination, adapted: list[Summary]) -> list[Summary]:
    """Return what was estimated, chosen and tested in each group."""
    entries = []
    names = examination.names
    groups = examination.adaptation.groups
    for entry_of_group, group in zip(adapted, groups, strict=True):
        chosen = groups[group]
        moved = examination.moved.groups[group]
        verdict = examination.verdict(group)
        entry = {
            **entry_of_group,
            "group": names[group],
            # With the reason, which the adaptation alone does not know.
            "verdict": verdict.word,
            "verdict_text": verdict.text,
            "moved": moved.moved,
            # The interval beside it is that of the group by itself, too.
            "p_moved": moved.p_value,
            "p_moved_adjusted": moved.p_adjusted,
            "moved_text": _moved_text(examination, group),
            "sentence": _sentence(names[group], chosen),
            "label_text": _label_text(examination, group),
        }
        entries.append(entry)
    return entries


def _moved_text(examination: Examination, group: Group) -> str:
    """Say whether one group has clearly moved."""
    if _cannot_tell(examination.adaptation.groups[group]):
        return "whether it has moved cannot be told"
    moved = examination.moved.groups[group]
    if not moved.moved and moved.p_adjusted < examination.moved.alpha:
        return "no clear sign that it has moved: what else moved may look like it"
    p_value = p_value_text(moved.p_value)
    if not p_value.startswith("below"):
        p_value = f"= {p_value}"
    if moved.moved:
        return f"it has moved (p {p_value})"
    return f"no clear sign that it has moved (p {p_value})"


def _cannot_tell(chosen: GroupAdaptation) -> bool:
    """Tell whether the prevalence of a group is unknown, with or without labels."""
    return chosen.verdict == "cannot_tell" and chosen.labels.verdict is None


def _sentence(name: str, chosen: GroupAdaptation) -> str:
    """Say how far one group has moved."""
    digits = _digits(chosen.training_prevalence, chosen.estimate.value)
    training = (
        f"{name}: prevalence was {chosen.training_prevalence:.{digits}f} in training"
    )
    interval = f"{chosen.estimate.low:.{digits}f} to {chosen.estimate.high:.{digits}f}"
    if _cannot_tell(chosen):
        return f"{training}; what it is now cannot be told ({interval})"
    return f"{training}, is now {chosen.estimate.value:.{digits}f} ({interval})"


def _digits(*shares: float) -> int:
    """Return how many decimals tell shares apart: small shares need one more."""
    return 3 if min(shares) < _SMALL_SHARE else 2


def _label_text(examination: Examination, group: Group) -> str:
    """Say what the labels of a group say of its label-free estimate; may be empty."""
    if examination.labels is None:
        return ""
    check = examination.labels.groups[group]
    said = describe_labels(check)
    if check.labels.verdict is None:
        return said
    digits = _digits(check.without_labels.value, check.labels.estimate)
    if examination.labels.decide:
        value, low, high = check.without_labels
        interval = f"({low:.{digits}f} to {high:.{digits}f})"
        return f"{said}; without them it would be {value:.{digits}f} {interval}"
    _, low, high = check.estimate
    share = f"{check.labels.estimate:.{digits}f}"
    if not check.fully_labelled:
        share += f" ({low:.{digits}f} to {high:.{digits}f})"
    return f"{said}; according to them it is {share}"


def _expected_unadapted(examination: Examination) -> Summary:
    """Return what the model as trained would do at the estimated prevalences."""
    entries = []
    estimates = []
    predicted = []
    names = examination.names
    for group, estimate in _estimates(examination).items():
        model = examination.clf.model_of(group)
        # One member only, so that the rule picks it whatever the estimate.
        rates = outcomes(members_of(model).unadapted, estimate)
        entry: Summary = {"group": names[group]}
        for name, value in rates.items():
            entry[name] = float(value)
        entries.append(entry)
        estimates.append(estimate)
        predicted.append(entry["predicted"])
    pe = worst_pe(estimates, predicted)
    # JSON has no NaN.
    return {
        "groups": entries,
        "pe": None if math.isnan(pe) else pe,
    }


def _histograms(examination: Examination) -> list[Summary]:
    """Return the scores of each group, and the mixture that should explain them."""
    entries = []
    names = examination.names
    for group, evidence in examination.evidence.groups.items():
        model = examination.clf.model_of(group)
        # The best mixture is the quantifier's, even where drift held the estimate back.
        estimate = examination.adaptation.groups[group].quantifier_estimate.value
        shares = _histogram(model, evidence, estimate)
        entries.append(
            {
                "group": names[group],
                **shares,
            }
        )
    return entries


def _histogram(model: GroupModel, evidence: GroupEvidence, estimate: float) -> Summary:
    """Return shares of scores in 20 cells, of the batch and of the best mixture."""
    batch = evidence.scores.shares_of_even_cells()
    positives = model.positives.shares_of_even_cells()
    negatives = model.negatives.shares_of_even_cells()
    # Under prior shift, P(s) = rho P(s | positive) + (1 - rho) P(s | negative).
    mixture = estimate * positives + (1 - estimate) * negatives
    return {
        "batch": batch.round(5).tolist(),
        "mixture": mixture.round(5).tolist(),
    }


def _observed(examination: Examination) -> Summary | None:
    """Return the audits of CAPE and of the model as trained, if there are labels."""
    observed = examination.observed
    # A file may have a label column in which every label is missing.
    if observed is None or not observed.cape:
        return None
    # The names of all groups, even if those with labels alone would have shorter ones.
    names = examination.names
    level = examination.level
    return {
        "cape": audit_of_counts(observed.cape, level, names),
        "unadapted": audit_of_counts(observed.unadapted, level, names),
    }


def _made(examination: Examination) -> Summary:
    """Return how the page was made, from files or from the classifier alone."""
    provenance: Mapping[str, Any] | None = examination.provenance
    if provenance is None:
        return stamped(facts_of_classifier(examination.clf))
    return stamped(
        {
            "fingerprint": examination.clf.fingerprint_,
            **provenance,
        }
    )
