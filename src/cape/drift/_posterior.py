"""What is known of the share of positives in a batch, whatever else has moved.

Under prior shift the answer of the scores is right; on real shifts drift is mixed in,
and much of it no test finds. How far shares move, and how far scores drift unseen, was
learned from the past (`cape.drift._past`). All of this is weighed at once. The result
is a distribution on a grid, so nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from cape.base._estimate import Estimate
from cape.base._groups import Group
from cape.drift._find import GroupDrift
from cape.drift._past import DRIFTS, MOVES, Past
from cape.evidence._evidence import GroupEvidence
from cape.quantify._base import Likelihood, Moments
from cape.training._group_model import GroupModel

if TYPE_CHECKING:
    from cape.labels._factor import LabelFactor

_SHIFTS = np.linspace(-2.5, 2.5, 21)
"""Moves that all groups share, in their standard deviations."""

_ROWS_OF_MOVES = np.cumsum([len(_SHIFTS) if shared else 1 for _, shared in MOVES])
"""Where the next move starts, among rows for each size of a shared move."""

_SHOWS = 0.5
_LEAST_P_VALUE = 1e-3
"""Drift that is large against the noise shows in the tests of columns and scores. With
u = kappa^2 / (1 / n + 1 / N), a p-value has the density a p^(a - 1) with
a = 1 / (1 + u / 2). Smaller p-values say no more: columns may move by themselves."""

_ALIKE = 0.2
"""Correlation of what columns say about drift, and of what groups say about the
scenario: 40 of them count as 4.5."""

SLOPES = np.array([1.25, 1.0, 0.7, 0.35, 0.0, -0.5, -1.0])
SLOPE_PRIOR = np.array([0.1, 0.4, 0.2, 0.12, 0.12, 0.03, 0.03])
"""How much of the scores still holds, in log-odds, and how likely that is before labels
are seen: 1 is all, 0 nothing; below 0, scores say the opposite of what they said. All
groups share it: the labels of all of them tell it."""

_BIASED = np.array([0.02, 0.5])
_BIASED_PRIOR = np.array([0.8, 0.2])
"""Probability that scores and training are biased in a group, small or large for all
groups, and how likely that is before labels are seen. This is the price of being
robust: without it, intervals would miss what scores do not show."""

_BIAS = 0.8
"""Standard deviation of that bias, in log-odds."""

_LABELS_OF_BIAS = 60.0
"""With fewer labels the probability of bias is smaller in proportion: they hardly tell
bias from chance, and it would make most intervals wider for nothing."""

_POINTS = 97
_FARTHEST = 4.0
"""Log-odds around the share in training that the grid is dense in."""

_NARROWEST = 1e-9
"""Stretch of shares that need not be divided further."""

_TINY = np.finfo(float).tiny
_LEAST_SHARE = 1e-4
_MOST_NOISE = 1.0
"""The log-odds of a share are known at least so well, as a variance: batches of a few
rows would make them infinite."""


@dataclass(frozen=True)
class GroupPosterior:
    """The posterior of the share of one group, on a grid.

    Parameters
    ----------
    shares : ndarray of shape (n_points,)
    prior : ndarray of shape (n_moves, n_points)
        Density of the share before the scores, for each move. Moves that groups share
        have a row for each of their sizes.
    likelihood : ndarray of shape (n_drifts, n_points)
        How likely the scores make each share, for each drift.
    weights : ndarray of shape (n_points,)
        Weights of the shares, with all scenarios as all groups tell them.
    prevalence : float
        Share in training.
    drift : float
        Mean of the drift, in standard deviations of the scores within a class.
    held_back : float
        Part of the variance of the scores' answer that the prior takes away.
    borrowed : float
        Part of the variance that other groups take away: their training rows, and the
        scenarios that they tell.
    at_fault : bool
        Whether a column is plainly not what it was, so that scores say nothing.
    rows : float
        Rows of the batch.
    given : ndarray of shape (n_moves, n_drifts, n_points) or None, default=None
        With labels: density of the share for each scenario, times its probability.
    known : float or None, default=None
        The share, if every row is labelled.
    """

    shares: np.ndarray
    prior: np.ndarray
    likelihood: np.ndarray
    weights: np.ndarray
    prevalence: float
    drift: float
    held_back: float
    borrowed: float
    at_fault: bool
    rows: float
    given: np.ndarray | None = None
    known: float | None = None

    def near(self, tolerance: float) -> float:
        """Return the probability that the estimate is off by at most a tolerance."""
        if self.known is not None:
            return 1.0
        if self.at_fault:
            return 0.0
        value = self.estimate(None).value
        ends = np.array([value - tolerance, value + tolerance])
        cumulated = np.cumsum(self.weights) - self.weights / 2
        below, above = np.interp(ends, self.shares, cumulated, left=0.0, right=1.0)
        return float(above - below)

    def estimate(self, level: float | None) -> Estimate:
        """Return the median and, unless the level is None, the central interval.

        No other point is expected to be off by less.
        """
        if self.known is not None:
            ends = () if level is None else (self.known, self.known)
            return Estimate(self.known, *ends)
        if self.at_fault:
            value = self.prevalence
            return Estimate(value) if level is None else Estimate(value, 0.0, 1.0)
        if level is None:
            return Estimate(self.quantiles([0.5])[0])
        low, value, high = self.quantiles([(1 - level) / 2, 0.5, (1 + level) / 2])
        # Shares of few rows are few numbers: an end that lies within half a row of 0 or
        # 1 does not rule out that no row, or every row, is positive.
        half_a_row = 0.5 / self.rows
        if low < half_a_row:
            low = 0.0
        if high > 1 - half_a_row:
            high = 1.0
        return Estimate(value, low, high)

    def density(self, shares: np.ndarray, biased: float = 0.0) -> np.ndarray:
        """Return the density of shares, if it is biased with some probability."""
        steps = _steps(self.shares)
        inside = steps > 0
        points, weights = self.shares[inside], self.weights[inside]
        density = np.interp(shares, points, weights / steps[inside])
        if biased:
            widened = _with_bias(points[None], weights[None])[0]
            widened = np.interp(shares, points, widened)
            density = (1 - biased) * density + biased * widened
        return density

    def log_density(self, share: float) -> np.ndarray:
        """Return the log-density of a share, given each scenario."""
        # No row, or every row, is not impossible: half a row is known no better.
        share = float(np.clip(share, 0.5 / self.rows, 1 - 0.5 / self.rows))
        densities = []
        for density in (*self.prior, *self.likelihood):
            logs = np.log(np.maximum(density, _TINY))
            densities.append(np.interp(share, self.shares, logs))
        before, by_scores = np.split(np.array(densities), [len(self.prior)])
        told = _told(self.prior, self.likelihood, _steps(self.shares))
        return before[:, None] + by_scores - np.log(told)

    def quantiles(self, levels: Sequence[float]) -> list[float]:
        """Return quantiles of the share."""
        return _quantiles(self.shares, self.weights, np.array(levels)).tolist()


@dataclass(frozen=True)
class Posterior:
    """The joint posterior of the shares of all groups of a batch.

    Parameters
    ----------
    groups : mapping from group to GroupPosterior
    scenarios : ndarray of shape (n_moves, n_drifts)
        Weights of the scenarios, in the light of all groups.
    """

    groups: Mapping[Group, GroupPosterior]
    scenarios: np.ndarray

    def learn(self, shares: Mapping[Group, float]) -> Past:
        """Return what the batch tells of scenarios once its true shares are known.

        Parameters
        ----------
        shares : mapping from group to float
            True shares of positives of some groups, or of all.

        Returns
        -------
        Past
            Of one transition; those of several add up.
        """
        logs = np.log(np.maximum(self.scenarios, _TINY))
        for group, share in shares.items():
            posterior = self.groups[group]
            logs = logs + _worth(len(shares)) * posterior.log_density(share)
        scenarios = _from_logarithms(logs)
        told = []
        for sizes in np.split(scenarios, _ROWS_OF_MOVES):
            told.append(tuple(sizes.sum(axis=0).tolist()))
        return Past(tuple(told), 1)

    def draw(
        self, n_draws: int, random: np.random.Generator
    ) -> dict[Group, np.ndarray]:
        """Draw the shares of all groups together.

        Given the scenario that they share, which is drawn first, groups are
        independent.
        """
        of_draws = random.choice(self.scenarios.size, n_draws, p=self.scenarios.ravel())
        n_drifts = self.scenarios.shape[1]
        drawn = {}
        for group, posterior in self.groups.items():
            uniform = random.random(n_draws)
            shares = np.empty(n_draws)
            steps = _steps(posterior.shares)
            for scenario in np.unique(of_draws):
                picked = of_draws == scenario
                move, drift = divmod(int(scenario), n_drifts)
                if posterior.given is None:
                    density = posterior.prior[move] * posterior.likelihood[drift]
                else:
                    density = posterior.given[move, drift]
                weights = density * steps
                shares[picked] = _quantiles(
                    posterior.shares, weights / weights.sum(), uniform[picked]
                )
            drawn[group] = shares
            if posterior.known is not None:
                drawn[group] = np.full(n_draws, posterior.known)
        return drawn


def find_posterior(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    answers: Mapping[Group, Estimate],
    drifts: Mapping[Group, GroupDrift],
    past: Past | None = None,
    labels: Mapping[Group, LabelFactor] | None = None,
    *,
    labels_alone: bool = False,
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
    past : Past, default=None
        What the user's own past tells of scenarios; None knows the public ones alone.
    labels : mapping from group to LabelFactor, default=None
        What labelled rows say, in the groups that have some.
    labels_alone : bool, default=False
        Whether these groups hear of nothing but labels.

    Returns
    -------
    Posterior

    Notes
    -----
    A scenario is a move of the shares since training and a drift of the scores; all
    groups share it. Given the scenario, ::

        log-odds of the share ~ N(log-odds in training + d, sigma^2 + noise)

    and the mean of the scores has the variance of 1 / (1 / n + kappa^2) rows. The
    scenarios are weighed by how likely they make the mean scores of all groups, and by
    how likely a drift as large shows no more in the tests than was found.

    Labels multiply the density of the share by their likelihood, with a slope of the
    scores that all groups share. With a probability that all groups share as well,
    scores and prior say nothing of the share of a group, and its labels alone do.
    """
    labels = labels or {}
    if past is None:
        past = Past()
    logs = np.log(np.maximum(_spread_out(past.weights), _TINY))
    groups = list(evidence)
    if not groups:
        return Posterior({}, _from_logarithms(logs))
    at_fault = np.array([bool(drifts[group].faults) for group in groups])
    informative = np.array([models[g].quantifier.informative_ for g in groups])
    speaks = informative & ~at_fault
    prevalences = np.array([models[group].prevalence for group in groups])
    rows = np.array([evidence[group].scores.size for group in groups])
    trained = np.array([_trained_rows(models[group]) for group in groups])
    inside = np.clip(prevalences, _LEAST_SHARE, 1 - _LEAST_SHARE)
    noise = (1 / rows + 1 / trained) / (inside * (1 - inside))
    noise = np.minimum(noise, _MOST_NOISE)

    of_scores = _likelihoods(models, evidence, answers, speaks)
    shares = _grid(inside, of_scores)
    if labels:
        shares = _with_points(shares, [labels.get(group) for group in groups])
    steps = _steps(shares)
    prior = _prior(shares, inside, noise)
    # Rows that are not what they were say nothing of the share.
    prior[at_fault] = 1
    likelihood = _of_each_drift(of_scores, shares, speaks)
    shows = np.array([_shows(models[g], evidence[g], drifts[g]) for g in groups])

    told = _told(prior, likelihood, steps)
    # In logarithms: the evidence of many groups multiplies to nothing.
    evidences = np.log(told) + shows[:, None]
    by_all = _from_logarithms(logs + _worth(len(groups)) * evidences.sum(axis=0))
    weights = _mixed(by_all / told, prior, likelihood, steps)
    given: dict[int, np.ndarray] = {}
    if labels:
        said = {}
        for place, group in enumerate(groups):
            if group in labels:
                said[place] = labels[group].likelihood(shares[place])
        of_bias = np.ones((len(groups), 1)), np.ones(1), np.ones_like(shares)
        if not labels_alone:
            rows_with_label = [labels[g].rows if g in labels else 0 for g in groups]
            chances = _tell_bias(np.array(rows_with_label))[:, None] * _BIASED
            of_bias = chances, _BIASED_PRIOR, _with_bias(shares, weights)
        scores = (prior, likelihood, steps, told)
        by_all, given = _hear_labels(said, scores, logs, shows, of_bias)
        weights = _mixed(by_all / told, prior, likelihood, steps)
        for place, density in given.items():
            weights[place] = _normalised(density.sum(axis=(0, 1)) * steps[place])

    own, own_prior = likelihood, prior
    if any(models[group].own is not None for group in groups):
        # As it would be by the own training rows of each group, which may lack a class:
        # then even its share in training is known from other groups.
        own_scores = _of_own_rows(of_scores, models, groups)
        sizes = own_scores.positives.size, own_scores.negatives.size
        knows_itself = np.minimum(*sizes) > 0
        own = _of_each_drift(own_scores, shares, speaks & knows_itself[:, 0, 0])
        own_prior = np.where(knows_itself, prior, 1.0)
        told = _told(own_prior, own, steps)
    by_itself = _from_logarithms(logs + np.log(told) + shows[:, None])
    alone = _mixed(by_itself / told, own_prior, own, steps)
    variance = _variance(shares, weights)
    borrowed = 1 - variance / _variance(shares, alone)
    # What the scores would leave open if any share were as likely as any other.
    by_scores = by_all.sum(axis=0) / (likelihood * steps[:, None]).sum(axis=2)
    by_scores = _normalised((by_scores[..., None] * likelihood).sum(axis=1) * steps)
    held_back = 1 - variance / _variance(shares, by_scores)
    borrowed = np.where(at_fault, 0.0, np.clip(borrowed, 0.0, 1.0))
    held_back = np.where(at_fault, 1.0, np.clip(held_back, 0.0, 1.0))
    drift = float(by_all.sum(axis=0) @ DRIFTS)
    found = {}
    for place, group in enumerate(groups):
        found[group] = GroupPosterior(
            shares=shares[place],
            prior=prior[place],
            likelihood=likelihood[place],
            weights=weights[place],
            prevalence=float(prevalences[place]),
            drift=drift,
            held_back=float(held_back[place]),
            borrowed=float(borrowed[place]),
            at_fault=bool(at_fault[place]) and place not in given,
            rows=float(rows[place]),
            given=given.get(place),
            known=labels[group].known if group in labels else None,
        )
    return Posterior(found, by_all)


def _with_points(
    shares: np.ndarray, labels: Sequence[LabelFactor | None]
) -> np.ndarray:
    """Add the points to the grid of each group that its labels need."""
    more = [np.empty(0) if one is None else one.points() for one in labels]
    longest = max(map(len, more))
    rows = []
    for row, points in zip(shares, more, strict=True):
        # Points at an end that is there already stand for nothing.
        ends = np.zeros(longest - len(points))
        rows.append(np.sort(np.concatenate([row, points, ends])))
    return np.array(rows)


def _tell_bias(labels: Any) -> Any:
    return np.minimum(labels / _LABELS_OF_BIAS, 1)


def chance_of_bias(labels: float) -> float:
    """Return the probability that what is known of a group without labels is biased."""
    return float(_tell_bias(labels) * (_BIASED @ _BIASED_PRIOR))


def _with_bias(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the density of shares if what is known without labels is biased."""
    inside = np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE)
    log_odds = logit(inside)
    mean = (log_odds * weights).sum(axis=1, keepdims=True)
    variance = ((log_odds - mean) ** 2 * weights).sum(axis=1, keepdims=True) + _BIAS**2
    bell = np.exp(-((log_odds - mean) ** 2) / (2 * variance))
    return bell / (np.sqrt(2 * np.pi * variance) * inside * (1 - inside))


def _hear_labels(
    said: Mapping[int, np.ndarray],
    scores: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    logs: np.ndarray,
    shows: np.ndarray,
    of_bias: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Weigh scenarios, slopes and bias by what labels and scores say of all groups.

    Returns
    -------
    scenarios : ndarray of shape (n_moves, n_drifts)
    given : dict from int to ndarray of shape (n_moves, n_drifts, n_points)
        For each group with labels, the density of its share with each scenario.
    """
    prior, likelihood, steps, told = scores
    chances, chances_prior, with_bias = of_bias
    without = [place for place in range(len(told)) if place not in said]
    alike = _worth(len(told))
    evidences = np.log(told[without]) + shows[without][:, None]
    # The axes are moves, drifts, slopes and the chance of bias.
    by_all = (logs + alike * evidences.sum(axis=0))[:, :, None, None]
    by_all = by_all + np.log(SLOPE_PRIOR)[:, None] + np.log(chances_prior)
    both = {}
    for place, labels in said.items():
        weighed = labels * steps[place]
        sound = (prior[place, :, None] * likelihood[place]) @ weighed.T
        biased = told[place, :, :, None] * (weighed @ with_bias[place])
        chance = chances[place]
        both[place] = (1 - chance) * sound[..., None] + chance * biased[..., None]
        both[place] = np.maximum(both[place], _TINY)
        by_all = by_all + alike * (np.log(both[place]) + shows[place][:, None, None])
    by_all = np.exp(by_all - by_all.max())
    by_all /= by_all.sum()
    given = {}
    for place, labels in said.items():
        ratio = by_all / both[place]
        chance = chances[place]
        sound = (ratio @ (1 - chance)) @ labels
        sound *= prior[place, :, None] * likelihood[place]
        biased = ((ratio @ chance) * told[place, :, :, None]) @ labels
        given[place] = sound + biased * with_bias[place]
    return by_all.sum(axis=(2, 3)), given


def _trained_rows(model: GroupModel) -> float:
    """Return the training rows of a group, without those it borrows; at least one."""
    rows = model.positives.size + model.negatives.size
    if model.own is not None:
        rows = model.own.positives + model.own.negatives
    return float(max(rows, 1))


def _spread_out(weights: np.ndarray) -> np.ndarray:
    """Give moves that all groups share a row for each of their sizes."""
    bell = _normalised(np.exp(-(_SHIFTS**2) / 2))
    rows = []
    for (_, shared), chances in zip(MOVES, weights, strict=False):
        rows += list(np.outer(bell, chances)) if shared else [chances]
    return np.array([*rows, weights[-1]])


def _likelihoods(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    answers: Mapping[Group, Estimate],
    speaks: np.ndarray,
) -> Likelihood:
    """Return the moments of the statistics of all groups, as arrays."""
    moments = np.ones((3, 3, len(speaks), 1, 1))
    for place, (group, part) in enumerate(evidence.items()):
        if speaks[place]:
            quantifier = models[group].quantifier
            likelihood = quantifier.likelihood(part.scores, answers[group].value)
            moments[:, :, place, 0, 0] = likelihood
    # Where scores are nearly perfect, a few rows on the wrong side are all the noise
    # there is, and training may have none of them: half a row is added to each class.
    gaps = moments[0, 0] - moments[1, 0]
    moments[:2, 1] += gaps**2 / (2 * moments[:2, 2])
    return Likelihood(*[Moments(*values) for values in moments])


def _of_own_rows(
    of_scores: Likelihood, models: Mapping[Group, GroupModel], groups: list[Group]
) -> Likelihood:
    """Return the moments as they would be by each group's own training rows."""
    positives, negatives, batch = of_scores
    sizes = np.stack([positives.size, negatives.size])
    for place, group in enumerate(groups):
        own = models[group].own
        if own is not None:
            sizes[:, place, 0, 0] = own.positives, own.negatives
    return Likelihood(
        positives._replace(size=sizes[0]), negatives._replace(size=sizes[1]), batch
    )


def _grid(prevalences: np.ndarray, of_scores: Likelihood) -> np.ndarray:
    """Return a grid of shares for each group, of shape (n_groups, n_points).

    It is dense around the answer of the scores without drift, ever less so farther
    away, and in log-odds around the share in training, where the prior may be narrow.
    """
    centre, error = of_scores.answer()
    centre, error = centre[:, 0], np.maximum(error[:, 0], _NARROWEST)
    farthest = np.arcsinh(1 / error)
    around = centre + error * np.sinh(farthest * np.linspace(-1, 1, _POINTS))
    log_odds = np.linspace(-_FARTHEST, _FARTHEST, _POINTS)
    known = expit(logit(prevalences)[:, None] + log_odds)
    ends = np.tile([0.0, 1.0], (len(prevalences), 1))
    shares = np.concatenate([ends, np.clip(around, 0, 1), known], axis=1)
    return np.sort(shares, axis=1)


def _steps(shares: np.ndarray) -> np.ndarray:
    """Return how much of the line each point stands for (the trapezoid rule)."""
    gaps = np.diff(shares, axis=-1)
    nothing = np.zeros((*shares.shape[:-1], 1))
    before = np.concatenate([nothing, gaps], axis=-1)
    return (before + np.concatenate([gaps, nothing], axis=-1)) / 2


def _prior(
    shares: np.ndarray, prevalences: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Return the density of shares before the scores, with a row for each move."""
    inside = np.clip(shares, _LEAST_SHARE**2, 1 - _LEAST_SHARE**2)
    distance = logit(inside) - logit(prevalences)[:, None]
    slope = np.sqrt(2 * np.pi) * inside * (1 - inside)
    densities = []
    for own, shared in MOVES:
        width = np.sqrt(own**2 + noise)[:, None]
        for shift in shared * _SHIFTS if shared else [0.0]:
            bell = np.exp(-(((distance - shift) / width) ** 2) / 2)
            densities.append(bell / (width * slope))
    return np.stack([*densities, np.ones_like(shares)], axis=1)


def _of_each_drift(
    of_scores: Likelihood, shares: np.ndarray, speaks: np.ndarray
) -> np.ndarray:
    """Return how likely the scores make each share, for each drift."""
    squares = np.array(DRIFTS)[:, None] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = of_scores.log(shares[:, None], squares)
    logs = np.where(speaks[:, None, None], logs, 0.0)
    return np.exp(logs - logs.max(axis=(1, 2), keepdims=True))


def _shows(model: GroupModel, evidence: GroupEvidence, drift: GroupDrift) -> np.ndarray:
    """Return the log-density of the p-values of the tests, for each drift."""
    p_values = drift.p_values
    # Unequal weights of training rows may be all that the tests have found.
    if drift.faults or drift.weighted or not p_values:
        return np.zeros(len(DRIFTS))
    trained = model.positives.size + model.negatives.size
    noise = 1 / evidence.scores.size + 1 / trained
    shape = 1 / (1 + _SHOWS * np.array(DRIFTS) ** 2 / noise)
    logs = np.log(np.maximum(p_values, _LEAST_P_VALUE))
    density = len(logs) * np.log(shape) + (shape - 1) * logs.sum()
    return _worth(len(logs)) * density


def _worth(n: int) -> float:
    """Return what one of so many columns or groups counts that say the same."""
    return 1 / (1 + _ALIKE * (n - 1))


def _told(prior: np.ndarray, likelihood: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return how likely each scenario makes the scores of each group."""
    told = prior @ (likelihood * steps[..., None, :]).swapaxes(-2, -1)
    return np.maximum(told, _TINY)


def _mixed(
    scenarios: np.ndarray, prior: np.ndarray, likelihood: np.ndarray, steps: np.ndarray
) -> np.ndarray:
    """Return the weights of the shares, mixed over the scenarios."""
    by_drift = scenarios.swapaxes(1, 2) @ prior
    return _normalised((by_drift * likelihood).sum(axis=1) * steps)


def _normalised(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(axis=-1, keepdims=True)


def _from_logarithms(logs: np.ndarray) -> np.ndarray:
    weights = np.exp(logs - logs.max(axis=(-2, -1), keepdims=True))
    return weights / weights.sum(axis=(-2, -1), keepdims=True)


def _variance(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    mean = (points * weights).sum(axis=-1, keepdims=True)
    variance = ((points - mean) ** 2 * weights).sum(axis=-1)
    return np.maximum(variance, _TINY)


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
