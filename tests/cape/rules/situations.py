"""Invented groups for tests of rules, and the best choice by trying all of them."""

from itertools import product

import numpy as np

from cape import Estimate
from cape.rules import GroupSituation
from cape.rules._problem import expected_costs
from cape.training._group_model import MemberRates


def situation(tpr, fpr, predicted, *, estimate=0.4, share=1.0, thetas=None, rows=1000):
    """A group whose members have these rates, on so many rows of each class.

    ``rows`` may be a pair: those of the positives and those of the negatives.
    """
    tpr = np.asarray(tpr, dtype=float)
    fpr = np.asarray(fpr, dtype=float)
    if thetas is None:
        thetas = np.linspace(0.9, 0.1, len(tpr))
    positives, negatives = (
        np.ones(len(tpr)) * of_class
        for of_class in (rows if isinstance(rows, tuple) else (rows, rows))
    )
    return GroupSituation(
        share=share,
        estimate=Estimate(estimate),
        thetas=np.asarray(thetas, dtype=float),
        predicted_prevalences=np.asarray(predicted, dtype=float),
        rates=MemberRates(tpr * positives, positives, fpr * negatives, negatives),
    )


def invent(seed, n_groups, most_members, *, monotone=True):
    """Invent groups with different prevalences, sizes and numbers of members."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(n_groups))
    groups = {}
    for place in range(n_groups):
        n_members = int(random.integers(2, most_members + 1))
        # Few distinct values, so that ties happen.
        false = random.integers(0, 41, n_members) / 40
        gain = random.integers(0, 41, n_members) / 40
        true = np.minimum(false + gain * (1 - false), 1)
        if monotone:
            false = np.sort(false)[::-1]
            true = np.sort(true)[::-1]
        q = float(random.integers(1, 20) / 20)
        noise = random.normal(0, 0.02, n_members)
        predicted = np.clip(q * true + (1 - q) * false + noise, 0, 1)
        predicted = np.round(predicted, 2)
        if monotone:
            predicted = np.sort(predicted)[::-1]
        groups[f"g{place}"] = situation(
            true, false, predicted, estimate=q, share=float(shares[place]), rows=200
        )
    return groups


def every_choice(groups):
    """All combinations of members: (n_choices, n_groups)."""
    return np.array(
        list(product(*[range(len(group.thetas)) for group in groups.values()]))
    )


def of_choices(groups, choices, field):
    """A field of the chosen members: (n_choices, n_groups)."""
    columns = []
    for group, members in zip(groups.values(), np.transpose(choices), strict=True):
        columns.append(getattr(group, field)[members])
    return np.transpose(columns)


def metric(name, groups, choices):
    """Compute a metric of every choice from its definition, apart from the rules."""
    predicted = of_choices(groups, choices, "predicted_prevalences")
    difference_of_tpr = np.ptp(of_choices(groups, choices, "tpr"), axis=1)
    difference_of_fpr = np.ptp(of_choices(groups, choices, "fpr"), axis=1)
    if name == "proportional_equality":
        q = np.array([group.estimate.value for group in groups.values()])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = predicted[:, :, None] / predicted[:, None, :]
        pe = np.abs(q[:, None] / q - ratios).max(axis=(1, 2))
        return np.where(predicted.min(axis=1) > 0, pe, np.inf)
    if name == "demographic_parity_difference":
        return np.ptp(predicted, axis=1)
    if name == "demographic_parity_ratio":
        most = predicted.max(axis=1)
        return np.where(most > 0, predicted.min(axis=1) / np.maximum(most, 1e-9), 1.0)
    if name == "equal_opportunity_difference":
        return difference_of_tpr
    if name == "false_positive_rate_difference":
        return difference_of_fpr
    return np.maximum(difference_of_tpr, difference_of_fpr)


def missed_by(bounds, groups, choices):
    """By how much every choice misses the bounds; at most 0 if it meets all."""
    excess = []
    for name, bound in bounds.items():
        sign = -1 if name.endswith("ratio") else 1
        excess.append(sign * (metric(name, groups, choices) - bound))
    return np.max(excess, axis=0)


def total_costs(groups, cost_fp=1.0, cost_fn=1.0):
    """Expected cost of every choice, in the order of `every_choice`."""
    total = np.zeros(())
    for group in groups.values():
        own = expected_costs(group, cost_fp=cost_fp, cost_fn=cost_fn, use_shares=True)
        total = total[..., None] + group.share * own
    return total.ravel()
