"""What is known of the share of positives in a batch, whatever else has moved.

Under prior shift the answer of the scores is right; on real shifts drift is mixed in,
and much of it no test finds. How far shares move, and how far scores drift unseen, was
learned from the past (`cape.drift._past`). All of this is weighed at once. The result
is a distribution on a grid, so nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from cape.base._estimate import Estimate
from cape.base._groups import Group
from cape.base._limits import TOLERANCE
from cape.drift._find import GroupDrift
from cape.drift._past import DRIFTS, MOVES, Past
from cape.evidence._evidence import GroupEvidence
from cape.quantify._base import Answers, Likelihood, Moments, interpolate
from cape.training._group_model import GroupModel

if TYPE_CHECKING:
    from cape.labels._factor import LabelFactor

_SHIFTS = np.linspace(-2.5, 2.5, 21)
"""Moves that all groups share, in their standard deviations."""

_ROWS_OF_MOVES = np.cumsum([len(_SHIFTS) if shared else 1 for _, shared in MOVES])
"""Where the next move starts, among rows for each size of a shared move."""

_PUBLIC = Past().weights
"""Scenarios as public series alone tell them."""

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
    likelihood : ndarray of shape (n_drifts, n_points)
        How likely the scores make each share, for each drift.
    weights : ndarray of shape (n_points,)
        Weights of the shares, with all scenarios as all groups tell them.
    prevalence : float
        Share in training.
    noise : float
        Variance of the log-odds of the share, if nothing moved.
    drift : float
        Mean of the drift, in standard deviations of the scores within a class.
    held_back : float
        Part of the variance of the scores' answer that the prior takes away.
    faulty : bool
        Whether a column is plainly not what it was, so that scores say nothing.
    rows : float
        Rows of the batch.
    heard : HeardLabels or None, default=None
        What labels of the group say.
    """

    shares: np.ndarray
    likelihood: np.ndarray
    weights: np.ndarray
    prevalence: float
    noise: float
    drift: float
    held_back: float
    faulty: bool
    rows: float
    heard: HeardLabels | None = None

    @cached_property
    def prior(self) -> np.ndarray:
        """Density of the share before the scores, of shape (n_moves, n_points).

        Moves that groups share have a row for each of their sizes.
        """
        numbers = np.array([self.prevalence]), np.array([self.noise])
        return _prior(self.shares[None], *numbers, np.array([self.faulty]))[0]

    @property
    def known(self) -> float | None:
        """The share, if every row is labelled."""
        return None if self.heard is None else self.heard.known

    def near(self, tolerance: float) -> float:
        """Return the probability that the estimate is off by at most a tolerance."""
        return float(estimate_shares([self], None, tolerance)[0, 3])

    def estimate(self, level: float | None) -> Estimate:
        """Return the median and, unless the level is None, the central interval.

        No other point is expected to be off by less.
        """
        return Estimate(*estimate_shares([self], level)[0, :3].tolist())

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

    def given(self, move: int, drift: int) -> np.ndarray:
        """Return the density of the share in a scenario, up to a factor."""
        density = self.prior[move] * self.likelihood[drift]
        return density if self.heard is None else self.heard.given(density, move, drift)


def estimate_shares(
    groups: Sequence[GroupPosterior],
    level: float | None = None,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Return estimates of shares, and how likely they are near enough.

    Parameters
    ----------
    groups : sequence of GroupPosterior
        With grids of the same length.
    level : float, default=None
        Level of intervals; None computes none.
    tolerance : float, default=0.05

    Returns
    -------
    ndarray of shape (n_groups, 4)
        Medians, the ends of central intervals, and the probability that the median is
        off by at most the tolerance.
    """
    if not groups:
        return np.empty((0, 4))
    shares = np.array([group.shares for group in groups])
    weights = np.array([group.weights for group in groups])
    below = np.cumsum(weights, axis=1) - weights / 2
    ends = np.nan if level is None else (1 - level) / 2
    levels = np.tile([0.5, ends, 1 - ends], (len(groups), 1))
    found = interpolate(levels, below, shares)
    found[:, np.isnan(levels[0])] = np.nan
    value = found[:, :1]
    around = value + np.array([-tolerance, tolerance])
    chance = np.clip(interpolate(around, shares, below), 0, 1)
    chance = np.where(around < 0, 0.0, np.where(around > 1, 1.0, chance))
    # Shares of few rows are few numbers: an end that lies within half a row of 0 or 1
    # does not rule out that no row, or every row, is positive.
    half_a_row = 0.5 / np.array([group.rows for group in groups])
    found[found[:, 1] < half_a_row, 1] = 0.0
    found[found[:, 2] > 1 - half_a_row, 2] = 1.0
    found = np.column_stack([found, chance[:, 1] - chance[:, 0]])
    for row, group in zip(found, groups, strict=True):
        if group.known is not None:
            row[:] = [*[group.known] * 3, 1.0]
        elif group.faulty and group.heard is None:
            row[:] = [group.prevalence, 0.0, 1.0, 0.0]
    if level is None:
        found[:, 1:3] = np.nan
    return found


@dataclass(frozen=True)
class HeardLabels:
    """What labels of a group, and those of all groups, make of its scenarios.

    Parameters
    ----------
    labels : ndarray of shape (n_slopes, n_points)
        How likely the labels make each share.
    sound, biased : ndarray of shape (n_moves, n_drifts, n_slopes)
        Weights where scores and prior are sound, and where they are biased.
    with_bias : ndarray of shape (n_points,)
        Density of the share if they are.
    known : float or None
        The share, if every row is labelled.
    """

    labels: np.ndarray
    sound: np.ndarray
    biased: np.ndarray
    with_bias: np.ndarray
    known: float | None

    def density(self, prior: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
        """Return the density of the share, mixed over all scenarios."""
        # The axes are drifts, slopes and points.
        sound = np.tensordot(self.sound, prior, axes=(0, 0)) * likelihood[:, None]
        biased = self.biased.sum(axis=(0, 1))[:, None] * self.with_bias
        return ((sound.sum(axis=0) + biased) * self.labels).sum(axis=0)

    def given(self, density: np.ndarray, move: int, drift: int) -> np.ndarray:
        """Return the density of the share in a scenario, with its labels."""
        sound = (self.sound[move, drift] @ self.labels) * density
        return sound + (self.biased[move, drift] @ self.labels) * self.with_bias


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

    def estimates(
        self, level: float | None
    ) -> tuple[dict[Group, Estimate], dict[Group, float]]:
        """Return the estimates of all groups, and chances that they are near enough.

        Parameters
        ----------
        level : float or None
            Level of intervals; None computes none.

        Returns
        -------
        estimates : dict from group to Estimate
        chances : dict from group to float
            Of being off by at most `TOLERANCE`.
        """
        numbers = estimate_shares(list(self.groups.values()), level).tolist()
        estimates = {}
        chances = {}
        for group, (*estimate, chance) in zip(self.groups, numbers, strict=True):
            estimates[group] = Estimate(*estimate)
            chances[group] = chance
        return estimates, chances

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
                weights = posterior.given(move, drift) * steps
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
    answers: Answers,
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
    answers : Answers
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
    known = _PUBLIC if past is None else past.weights
    logs = np.log(np.maximum(_spread_out(known), _TINY))
    groups = list(evidence)
    if not groups:
        return Posterior({}, _from_logarithms(logs))
    factors = [labels.get(group) for group in groups]
    longest = max(0 if factor is None else factor.points.size for factor in factors)
    blocks = []
    for first in range(0, len(groups), _GROUPS_AT_ONCE):
        rows = slice(first, first + _GROUPS_AT_ONCE)
        points = _with_points(factors[rows], longest)
        blocks.append(_Block(models, evidence, drifts, answers, points, rows))
    shows = np.array([_shows(models[g], evidence[g], drifts[g]) for g in groups])
    told = np.concatenate([block.told() for block in blocks])
    # In logarithms: the evidence of many groups multiplies to nothing.
    evidences = np.log(told) + shows[:, None]
    by_all = _from_logarithms(logs + _worth(len(groups)) * evidences.sum(axis=0))
    heard: dict[int, HeardLabels] = {}
    if labels:
        scenarios = by_all / told, logs, shows
        by_all, heard = _hear_labels(factors, blocks, told, scenarios, labels_alone)
    drift = float(by_all.sum(axis=0) @ DRIFTS)
    found = {}
    for block in blocks:
        weights = block.weights(by_all / told[block.place], heard)
        held_back = block.held_back(weights, by_all)
        for row, group in enumerate(block.groups):
            found[group] = GroupPosterior(
                shares=block.shares[row],
                likelihood=block.likelihood[row],
                weights=weights[row],
                prevalence=float(block.prevalences[row]),
                noise=float(block.noise[row]),
                drift=drift,
                held_back=float(held_back[row]),
                faulty=bool(block.at_fault[row]),
                rows=float(block.rows[row]),
                heard=heard.get(block.place.start + row),
            )
    return Posterior(found, by_all)


_GROUPS_AT_ONCE = 64
"""Grids of so many groups fit into the cache of a processor."""


class _Block:
    """The grids of some groups, and what is known of their points.

    Priors are large: they are kept if there are few groups, else computed again.
    """

    def __init__(
        self,
        models: Mapping[Group, GroupModel],
        evidence: Mapping[Group, GroupEvidence],
        drifts: Mapping[Group, GroupDrift],
        answers: Answers,
        points: np.ndarray,
        place: slice,
    ):
        self.place = place
        self.groups = list(evidence)[place]
        self.at_fault = np.array([bool(drifts[group].faults) for group in self.groups])
        self.prevalences = np.array([models[group].prevalence for group in self.groups])
        self.rows = np.array([evidence[g].scores.size for g in self.groups], float)
        trained = np.array([_trained_rows(models[group]) for group in self.groups])
        inside = np.clip(self.prevalences, _LEAST_SHARE, 1 - _LEAST_SHARE)
        noise = (1 / self.rows + 1 / trained) / (inside * (1 - inside))
        self.noise = np.minimum(noise, _MOST_NOISE)
        self.speaks = answers.informative[place] & ~self.at_fault
        moments = np.array(answers.likelihood)[..., place]
        moments = np.where(self.speaks, moments, 1.0)[..., None, None]
        # Where scores are nearly perfect, a few rows on the wrong side are all the
        # noise there is, and training may have none of them: half a row is added to
        # each class.
        gaps = moments[0, 0] - moments[1, 0]
        moments[:2, 1] += gaps**2 / (2 * moments[:2, 2])
        of_scores = Likelihood(*[Moments(*values) for values in moments])
        shares = np.concatenate([_grid(inside, of_scores), points], axis=1)
        self.shares = np.sort(shares, axis=1)
        self.steps = _steps(self.shares)
        self.likelihood = _of_each_drift(of_scores, self.shares, self.speaks)
        self._prior: Any = None
        if len(evidence) <= _GROUPS_AT_ONCE:
            self._prior = self.prior()

    def prior(self) -> np.ndarray:
        """Return the density of shares before the scores, with a row for each move."""
        if self._prior is not None:
            return self._prior
        return _prior(self.shares, self.prevalences, self.noise, self.at_fault)

    def told(self) -> np.ndarray:
        """Return how likely each scenario makes the scores of each group."""
        return _told(self.prior(), self.likelihood, self.steps)

    def weights(
        self, scenarios: np.ndarray, heard: Mapping[int, HeardLabels]
    ) -> np.ndarray:
        """Return the weights of the shares, mixed over the scenarios."""
        prior = self.prior()
        weights = _mixed(scenarios, prior, self.likelihood, self.steps)
        for row in range(len(weights)):
            labels = heard.get(self.place.start + row)
            if labels is not None:
                density = labels.density(prior[row], self.likelihood[row])
                weights[row] = _normalised(density * self.steps[row])
        return weights

    def held_back(self, weights: np.ndarray, scenarios: np.ndarray) -> np.ndarray:
        """Return the part of the variance of the scores' answer that priors take."""
        # What the scores would leave open if any share were as likely as any other.
        told = (self.likelihood * self.steps[:, None]).sum(axis=2)
        by_drift = scenarios.sum(axis=0) / told
        by_scores = (by_drift[..., None] * self.likelihood).sum(axis=1)
        by_scores = _variance(self.shares, _normalised(by_scores * self.steps))
        part = np.clip(1 - _variance(self.shares, weights) / by_scores, 0, 1)
        return np.where(self.at_fault, 1.0, part)


def _with_points(labels: Sequence[LabelFactor | None], longest: int) -> np.ndarray:
    """Return the points that the labels of each group need on its grid."""
    # Points at an end that is there already stand for nothing.
    points = np.zeros((len(labels), longest))
    for row, factor in zip(points, labels, strict=True):
        if factor is not None:
            row[: factor.points.size] = factor.points
    return points


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
    labels: Sequence[LabelFactor | None],
    blocks: Sequence[_Block],
    told: np.ndarray,
    without: tuple[np.ndarray, np.ndarray, np.ndarray],
    alone: bool,
) -> tuple[np.ndarray, dict[int, HeardLabels]]:
    """Weigh scenarios, slopes and bias by what labels and scores say of all groups.

    Parameters
    ----------
    labels : sequence of LabelFactor or None
        Of each group.
    blocks : sequence of _Block
    told : ndarray of shape (n_groups, n_moves, n_drifts)
        How likely scenarios make the scores.
    without : tuple of ndarray
        What is known of scenarios without labels: of each group's mixture, before the
        batch, and what tests show of drifts.
    alone : bool
        Whether groups hear of nothing but their labels.

    Returns
    -------
    scenarios : ndarray of shape (n_moves, n_drifts)
    heard : dict from int to HeardLabels
        By the places of the groups that have labels.
    """
    mixtures, logs, shows = without
    chances = np.ones(1) if alone else _BIASED_PRIOR
    alike = _worth(len(told))
    # The axes are moves, drifts, slopes and the chance of bias.
    by_all = logs[..., None, None] + np.log(SLOPE_PRIOR)[:, None] + np.log(chances)
    both = {}
    parts = {}
    for block in blocks:
        of_block = labels[block.place]
        prior = block.prior() if any(of_block) else np.empty(0)
        with_bias = np.ones_like(block.shares)
        if any(of_block) and not alone:
            weights = block.weights(mixtures[block.place], {})
            with_bias = _with_bias(block.shares, weights)
        for row, factor in enumerate(of_block):
            place = block.place.start + row
            if factor is None:
                evidence = np.log(told[place])[..., None, None]
            else:
                said = factor.likelihood(block.shares[row])
                weighed = said * block.steps[row]
                chance = np.ones(1) if alone else _tell_bias(factor.rows) * _BIASED
                scores = prior[row][:, None] * block.likelihood[row]
                sound = (scores @ weighed.T)[..., None]
                biased = told[place][..., None] * (weighed @ with_bias[row])
                evidence = (1 - chance) * sound + chance * biased[..., None]
                both[place] = np.maximum(evidence, _TINY)
                evidence = np.log(both[place])
                parts[place] = said, chance, with_bias[row], factor.known
            by_all = by_all + alike * (evidence + shows[place][:, None, None])
    by_all = np.exp(by_all - by_all.max())
    by_all /= by_all.sum()
    heard = {}
    for place, (said, chance, with_bias, known) in parts.items():
        ratio = by_all / both[place]
        biased = (ratio @ chance) * told[place][..., None]
        heard[place] = HeardLabels(said, ratio @ (1 - chance), biased, with_bias, known)
    return by_all.sum(axis=(2, 3)), heard


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
    return np.concatenate([ends, np.clip(around, 0, 1), known], axis=1)


def _steps(shares: np.ndarray) -> np.ndarray:
    """Return how much of the line each point stands for (the trapezoid rule)."""
    gaps = np.diff(shares, axis=-1)
    nothing = np.zeros((*shares.shape[:-1], 1))
    before = np.concatenate([nothing, gaps], axis=-1)
    return (before + np.concatenate([gaps, nothing], axis=-1)) / 2


def _prior(
    shares: np.ndarray,
    prevalences: np.ndarray,
    noise: np.ndarray,
    at_fault: np.ndarray,
) -> np.ndarray:
    """Return the density of shares before the scores, with a row for each move."""
    moves = []
    for own, shared in MOVES:
        moves += [(own, shift) for shift in (shared * _SHIFTS if shared else [0.0])]
    own, shifts = np.array(moves).T
    prevalences = np.clip(prevalences, _LEAST_SHARE, 1 - _LEAST_SHARE)
    inside = np.clip(shares, _LEAST_SHARE**2, 1 - _LEAST_SHARE**2)
    distance = logit(inside) - logit(prevalences)[:, None]
    width = np.sqrt(own**2 + noise[:, None])[..., None]
    density = np.ones((len(shares), len(moves) + 1, shares.shape[1]))
    bell = density[:, :-1]
    np.subtract(distance[:, None], shifts[:, None], out=bell)
    bell /= width
    bell *= bell
    bell /= -2
    np.exp(bell, out=bell)
    bell /= width
    bell /= (np.sqrt(2 * np.pi) * inside * (1 - inside))[:, None]
    # Rows that are not what they were say nothing of the share.
    density[at_fault] = 1
    return density


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
