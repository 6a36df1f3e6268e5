"""The posterior of each group's share of positives: what is known, before and after.

The scores of a batch say how likely each share is; drift makes them say less. Before
the batch, it is known that shares mostly stay near what rows with such scores had in
training, that all groups may move together, and that some go their own way. Where the
scores say much, the answer is theirs; where they say little, it is what was known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from scipy.special import expit, logit

from cape._drift._find import GroupDrift
from cape._estimate import Estimate
from cape._evidence import GroupEvidence
from cape._group_model import GroupModel
from cape._groups import Group

_OWN_DEVIATIONS = (0.15, 0.6, 1.5)
_OWN_SHIFTS = ((1.0, (0.54, 0.36, 0.0)),)
"""How far the log-odds of a share move by themselves: the probability of each standard
deviation. Mostly little, sometimes far; with the rest, a tenth, the share may be
anything."""

_MANY_GROUPS = 5
_OWN_SHIFTS_OF_MANY = (
    (0.65, (0.62, 0.32, 0.0)),
    (0.25, (0.2, 0.55, 0.12)),
    (0.1, (0.05, 0.1, 0.4)),
)
"""The same where there are so many groups that they tell how far groups go their own
way: three scenarios, each with its probability beforehand. On BRFSS, 40 groups of 50
training rows under prior shift, intervals hold 94 % instead of 87 % if men and women
move oppositely, 93 % instead of 85 % if every group goes its own way, and 94 % instead
of 96 %, with a width of .37 instead of .39, if all move alike."""

_SHARED_SHIFTS = np.linspace(-3, 3, 41)
_SHARED_DEVIATION = 0.8
"""How far the log-odds of all groups move together: with probability 1/2 not at all,
else by a normal number of this deviation.

These numbers were compared on 16 real shifts of 7 sources and on pure prior shifts
(docs/trust.md). Without a tenth for any share, a large shift was inside its interval in
two cases of three; without a shared shift, errors were 3 to 5 % larger."""

_SHARED_PRIOR = np.exp(-((_SHARED_SHIFTS / _SHARED_DEVIATION) ** 2) / 2)
_SHARED_PRIOR /= 2 * _SHARED_PRIOR.sum()
_SHARED_PRIOR[len(_SHARED_PRIOR) // 2] += 0.5

Scenarios = tuple[tuple[float, tuple[float, ...]], ...]

DRIFT_INFLATION = 2.0
"""Variance of the drift of an estimate, in units of the variance between columns: the
scores rest on a few columns that move together, so little is averaged out."""

_LARGE_EFFECT = (0.4, 1.0)
"""Share of the rows of a column that moved, between which the anchor goes from the mean
score to the training prevalence: the learner has seen ever fewer rows like these."""

_POINTS = 129
_LEAST_LOG_LIKELIHOOD = -25.0
"""What is less likely than this, to the most likely share, is left out of the grid: no
prior makes up for it."""

_NARROWEST = 1e-9
"""Stretch of shares that need not be divided further."""

_LEAST_SHARE = 1e-4
_MOST_NOISE = 1.0
"""The log-odds of an anchor are known at least so well, as a variance: batches of a few
rows would make them infinite."""


@dataclass(frozen=True)
class GroupPosterior:
    """The posterior of the share of one group, on a grid.

    Parameters
    ----------
    shares : ndarray of shape (n_points,)
    likelihood : ndarray of shape (n_points,)
        How likely the scores make each share.
    weights : ndarray of shape (n_points,)
        Weights of the shares, with the shared shift as the other groups tell it.
    anchor, noise : float
        Centre of the prior, but for the shared shift, and its variance.
    held_back : float
        Part of the variance of the scores' answer that the prior takes away.
    borrowed : float
        Part of the variance that other groups take away: their training rows, and the
        shift that they tell.
    at_fault : bool
        Whether a column is plainly not what it was, so that scores say nothing.
    rows : float
        Rows of the batch.
    """

    shares: np.ndarray
    likelihood: np.ndarray
    weights: np.ndarray
    anchor: float
    noise: float
    held_back: float
    borrowed: float
    at_fault: bool
    rows: float

    def estimate(self, level: float | None) -> Estimate:
        """Return the mean and, unless the level is None, the central interval."""
        value = self.anchor if self.at_fault else float(self.shares @ self.weights)
        if level is None:
            return Estimate(value)
        if self.at_fault:
            return Estimate(value, 0.0, 1.0)
        ends = _quantiles(
            self.shares, self.weights, np.array([(1 - level) / 2, (1 + level) / 2])
        )
        low, high = float(min(ends[0], value)), float(max(ends[1], value))
        # Shares of few rows are few numbers: an end that lies within half a row of 0 or
        # 1 does not rule out that no row, or every row, is positive.
        half_a_row = 0.5 / self.rows
        if low < half_a_row:
            low = 0.0
        if high > 1 - half_a_row:
            high = 1.0
        return Estimate(value, low, high)


@dataclass(frozen=True)
class Posterior:
    """The joint posterior of the shares of all groups of a batch.

    Parameters
    ----------
    groups : mapping from group to GroupPosterior
    shift : ndarray of shape (n_shifts,)
        Weights of the shared shifts, in the light of all groups.
    scenarios : tuple
        How far groups may go their own way.
    """

    groups: Mapping[Group, GroupPosterior]
    shift: np.ndarray
    scenarios: Scenarios

    def draw(
        self, n_draws: int, random: np.random.Generator
    ) -> dict[Group, np.ndarray]:
        """Draw the shares of all groups together.

        Given the shift that they share, which is drawn first, groups are independent.
        """
        shifts = random.choice(len(self.shift), n_draws, p=self.shift)
        drawn = {}
        for group, posterior in self.groups.items():
            uniform = random.random(n_draws)
            shares = np.empty(n_draws)
            # A matrix for each of many groups is computed again rather than kept.
            given_shift = posterior.likelihood * _prior(
                posterior.shares, posterior.anchor, posterior.noise, self.scenarios
            )
            if posterior.at_fault:
                given_shift[:] = posterior.likelihood
            for shift in np.unique(shifts):
                picked = shifts == shift
                weights = _normalised(given_shift[shift])
                shares[picked] = _quantiles(posterior.shares, weights, uniform[picked])
            drawn[group] = shares
        return drawn


def find_posterior(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    answers: Mapping[Group, Estimate],
    drifts: Mapping[Group, GroupDrift],
) -> Posterior:
    """Combine what the scores of all groups say with what was known before.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
    answers : mapping from group to Estimate
        What the quantifiers say.
    drifts : mapping from group to GroupDrift
        What speaks against a prior shift.

    Returns
    -------
    Posterior

    Notes
    -----
    Let a be the log-odds of the anchor, with the variance v: that of its training rows,
    and that of the labels that rows with these scores happen to have. Let d be the
    shift that all groups share. Then, before the scores of the group are looked at, ::

        log-odds of the share ~ sum_i p_i N(a + d, sigma_i^2 + v)

    or, with the rest of the probability, the share is uniform on [0, 1]. What the
    scores say is `Likelihood.log`, with the variance of drift added. The two are
    multiplied on a grid of shares and shared shifts. Every group hears of the shift
    from the others alone, so that its own scores count once.
    """
    scenarios = _OWN_SHIFTS_OF_MANY if len(evidence) >= _MANY_GROUPS else _OWN_SHIFTS
    beforehand = np.concatenate([chance * _SHARED_PRIOR for chance, _ in scenarios])
    parts = {}
    for group, part in evidence.items():
        model = models[group]
        drift = drifts[group]
        anchor, noise = _anchor(model, part, drift)
        shares, likelihood, own = _likelihood(
            model, part, answers[group], drift, anchor
        )
        prior = _prior(shares, anchor, noise, scenarios)
        if drift.faults:
            # Rows that are not what they were say nothing, nor does their mean score.
            prior = np.ones_like(prior)
        by_itself = _normalised(beforehand @ prior * own)
        if model.own is not None and not model.own.has_both_classes:
            # Nor would its anchor be known without the others.
            by_itself = _normalised(own)
        alone = _variance(shares, by_itself)
        parts[group] = shares, likelihood, prior * likelihood, (anchor, noise), alone
    # In logarithms: the likelihoods of many groups multiply to nothing.
    told = {group: np.log(part[2].sum(axis=1)) for group, part in parts.items()}
    by_all = np.log(beforehand) + sum(told.values())
    groups = {}
    for group, (shares, likelihood, given_shift, centre, alone) in parts.items():
        by_others = _from_logarithms(by_all - told[group])
        weights = _normalised(by_others @ given_shift)
        at_fault = bool(drifts[group].faults)
        variance = _variance(shares, weights)
        kept = variance / _variance(shares, _normalised(likelihood))
        held_back = 1.0 if at_fault else min(max(1 - kept, 0.0), 1.0)
        borrowed = 0.0 if at_fault else min(max(1 - variance / alone, 0.0), 1.0)
        groups[group] = GroupPosterior(
            shares=shares,
            likelihood=likelihood,
            weights=weights,
            anchor=centre[0],
            noise=centre[1],
            held_back=held_back,
            borrowed=borrowed,
            at_fault=at_fault,
            rows=evidence[group].scores.size,
        )
    return Posterior(groups, _from_logarithms(by_all), scenarios)


def _anchor(
    model: GroupModel, evidence: GroupEvidence, drift: GroupDrift
) -> tuple[float, float]:
    """Return where the prior is centred, and its variance.

    It is the mean score, recalibrated; the more a column has moved, the less has the
    learner seen of rows like these, and the anchor goes back to the training share.
    """
    anchor, variance = mean_score(model, evidence)
    first, last = _LARGE_EFFECT
    extrapolated = (drift.largest_effect - first) / (last - first)
    extrapolated = drift.weight_of_evidence * min(max(extrapolated, 0.0), 1.0)
    if drift.faults:
        extrapolated = 1.0
    anchor += extrapolated * (model.prevalence - anchor)
    return float(np.clip(anchor, _LEAST_SHARE, 1 - _LEAST_SHARE)), variance


def _likelihood(
    model: GroupModel,
    evidence: GroupEvidence,
    answer: Estimate,
    drift: GroupDrift,
    anchor: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid of shares, and how likely the scores make each of its points.

    The last of the three is how likely they would be by the group's own training rows.

    The points are evenly spaced where the likelihood is, and evenly in log-odds around
    the anchor, where the prior may be much narrower. Each counts as much as the stretch
    of shares that it stands for.
    """
    even = expit(logit(anchor) + np.linspace(-4, 4, _POINTS))
    low, high = 0.0, 1.0
    if drift.faults or not model.quantifier.informative_:
        shares = np.unique([*np.linspace(low, high, _POINTS), *even])
        return shares, _stretches(shares), _stretches(shares)
    likelihood = model.quantifier.likelihood(evidence.scores, answer.value)
    variance = DRIFT_INFLATION * drift.significant_spread**2
    while high - low > _NARROWEST:
        shares = np.linspace(low, high, _POINTS)
        logs = likelihood.log(shares, variance)
        inside = shares[logs >= logs.max() + _LEAST_LOG_LIKELIHOOD]
        step = shares[1] - shares[0]
        first, last = max(inside[0] - step, 0.0), min(inside[-1] + step, 1.0)
        if last - first > (high - low) / 4:
            break
        low, high = first, last
    near = even[(even > first) & (even < last)]
    shares = np.unique([*np.linspace(first, last, _POINTS), *near])
    stretches = _stretches(shares)
    logs = likelihood.log(shares, variance)
    by_all = np.exp(logs - logs.max()) * stretches
    if model.own is None:
        return shares, by_all, by_all
    if not model.own.has_both_classes:
        return shares, by_all, stretches
    logs = likelihood.log(shares, variance, (model.own.positives, model.own.negatives))
    return shares, by_all, np.exp(logs - logs.max()) * stretches


def _prior(
    shares: np.ndarray, anchor: float, noise: float, scenarios: Scenarios
) -> np.ndarray:
    """Return the density of shares before the scores.

    It has a row for each scenario and shared shift.
    """
    noise = min(noise / (anchor * (1 - anchor)) ** 2, _MOST_NOISE)
    inside = np.clip(shares, _LEAST_SHARE**2, 1 - _LEAST_SHARE**2)
    distance = logit(inside) - logit(anchor) - _SHARED_SHIFTS[:, None]
    slope = sqrt(2 * pi) * inside * (1 - inside)
    bells = []
    for deviation in _OWN_DEVIATIONS:
        variance = deviation**2 + noise
        bells.append((np.exp(-(distance**2) / (2 * variance)), sqrt(variance)))
    densities = []
    for _, probabilities in scenarios:
        density = np.zeros_like(distance)
        rest = 1.0
        for probability, (bell, width) in zip(probabilities, bells, strict=True):
            density += probability * bell / width
            rest -= probability
        densities.append(density / slope + rest)
    return np.concatenate(densities)


def _stretches(points: np.ndarray) -> np.ndarray:
    """Return how much of the line each point stands for (the trapezoid rule)."""
    gaps = np.diff(points)
    return (np.append(gaps, 0) + np.insert(gaps, 0, 0)) / 2


def _normalised(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def _from_logarithms(logs: np.ndarray) -> np.ndarray:
    return _normalised(np.exp(logs - logs.max()))


def _variance(points: np.ndarray, weights: np.ndarray) -> float:
    mean = points @ weights
    return max(float((points - mean) ** 2 @ weights), np.finfo(float).tiny)


def _quantiles(
    points: np.ndarray, weights: np.ndarray, levels: np.ndarray
) -> np.ndarray:
    """Return quantiles; the weight of a point lies around it, half on each side."""
    return np.interp(levels, np.cumsum(weights) - weights / 2, points)


def mean_score(model: GroupModel, evidence: GroupEvidence) -> tuple[float, float]:
    """Return the mean score of a batch, recalibrated, and its variance.

    This is the share of positives that rows with these scores had in training: the
    share of the batch in each cell of the score, times the share of positives of that
    cell in training. It is the prevalence if P(y | x) has not moved, as the
    quantifier's answer is if P(x | y) has not.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence

    Returns
    -------
    share : float
    variance : float
        That of the training shares, and that of the labels of the batch itself, which
        vary around them.
    """
    cuts, shares, rows = model.calibration
    batch = _normalised(evidence.scores.merged(cuts))
    one_row = shares * (1 - shares)
    noise = batch @ one_row / evidence.scores.size + batch**2 @ (one_row / rows)
    return float(batch @ shares), float(noise)
