"""What a small group borrows from the other groups, where one learner scores them all.

Scores of groups are not alike, but their logarithmic odds nearly are, up to a shift and
a scale of each class: an effect of the group that the learner has found and that can be
read off it, and a rest that resembles that of groups with the same attributes. So the
positions of both classes are estimated for all groups at once, by the model of Fay and
Herriot (1979), and a small group gets the pooled shape of each class at its position.
How sure the position is says how many rows the histogram is worth: whatever reads it,
intervals and tests among them, then counts the noise of what was borrowed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from cape.base._estimate import variance_between
from cape.base._groups import Group
from cape.base._validation import take_rows
from cape.evidence._histogram import ONE, round_scores
from cape.metrics._rates import FEWEST_ROWS
from cape.training._group_model import OwnRows
from cape.training._learner import Learner, TestedRows
from cape.training._scoring import Rows, score_rows
from cape.training._shared import add_group_code, split_off_code

_FADES_OUT = (300, 1000)
"""Rows of a group between which borrowing fades. On BRFSS, 40 groups, batches of 10 to
1,000 rows under prior shift, the mean error without and with it is .206 and .150 at 20
rows a group, .168 and .126 at 50, .107 and .100 at 300, .086 and .084 at 1,500."""

_ROWS_OF_EFFECTS = 200
_ROWS_AT_ONCE = 20_000
"""Rows on which the effect of a group is read off a learner, for each group and for all
groups."""

_CLIPPED = 1e-3
"""Scores nearer to 0 or 1 count as so far: a single row must not move a position."""

_POINTS = 300
"""Quantiles that describe the shape of a class."""

_ROWS_OF_SHAPE = 50
_ROWS_OF_SCALE = 20
"""Own rows of a class from which on its shape, and its scale, are half its own."""

FEWEST_GROUPS = 5
"""Groups from which on all small groups borrow. Of fewer groups nobody knows how much
they differ, so that only those borrow that cannot have a model of their own."""

_PRIOR_GROUPS = 3
_PRIOR_VARIANCE = 0.03
"""Groups that the variance between groups is worth beforehand, and that variance in
units of the variance within a class: few groups do not tell it."""

_DEGREES = 3
"""Degrees of freedom of Student's t between groups, so that outliers stay outliers."""

_STEPS = 60
_CONVERGED = 0.01
"""Steps of EM at most, and the relative change of a variance that ends them."""

_LEAST_SPREAD = 0.03
"""Standard deviation between the share of positives of a group and its mean score, at
least."""


@dataclass(frozen=True)
class Borrowed:
    """What stands for the out-of-fold scores of a group that borrows.

    Parameters
    ----------
    tested : TestedRows
        Scores of both classes, with weights that add up to what they are worth.
    prevalence : float
        Share of positives, drawn to the mean score.
    own : OwnRows
        What the group's own rows say.
    """

    tested: TestedRows
    prevalence: float
    own: OwnRows


def group_effects(learner: Learner, n_groups: int) -> np.ndarray:
    """Read off a learner how its log-odds depend on the group alone.

    Parameters
    ----------
    learner : Learner
        Of all groups.
    n_groups : int

    Returns
    -------
    ndarray of shape (n_models, n_groups)
        By each model that scores batches, around a common mean. All 0 if the learner
        does not know the groups.
    """
    if learner.codes is None:
        return np.zeros((1, n_groups))
    n_rows = min(_ROWS_OF_EFFECTS, len(learner.y), max(_ROWS_AT_ONCE // n_groups, 10))
    picked = np.linspace(0, len(learner.y) - 1, n_rows).astype(np.int64)
    table, _ = split_off_code(learner.rows.take(picked).table())
    models = learner.scoring_models
    # The same rows in every group, at once: a call costs more than its rows.
    repeated = take_rows(table, np.tile(np.arange(n_rows), n_groups))
    codes = np.repeat(np.arange(n_groups), n_rows)
    rows = Rows(add_group_code(repeated, codes))
    effects = np.zeros((len(models), n_groups))
    for place, model in enumerate(models):
        scores = score_rows(model, rows, learner.data.positive) / ONE
        odds = logit(np.clip(scores, _CLIPPED, 1 - _CLIPPED))
        effects[place] = odds.reshape(n_groups, n_rows).mean(axis=1)
    return effects - effects.mean()


def borrow(
    tested: Mapping[Group, TestedRows], offsets: np.ndarray, fully: Collection[Group]
) -> dict[Group, Borrowed]:
    """Find what small groups borrow.

    Parameters
    ----------
    tested : mapping from group to TestedRows
        Out-of-fold scores of all groups by one learner. A group may have no row.
    offsets : ndarray of shape (n_models, n_groups)
        Effect of each group on the log-odds, by each model that scores batches.
    fully : collection of Group
        Groups that borrow whatever their size.

    Returns
    -------
    dict from group to Borrowed
        Only of the groups that borrow.

    Notes
    -----
    Let l be the log-odds of a score less the effect of the group. The class means of l,
    two numbers, have the sampling variances s_y / n_gy and lie around a common mean,
    plus an effect of each attribute of the group, with covariances that EM finds. The
    posterior mean is the position of the group. Its covariance C makes class y worth
    s_y / (C_yy (1 + r)) rows, where r is the correlation of the two positions: if both
    err in the same direction, so does any mixture of the two classes.
    """
    groups = list(tested)
    # Labels of fewer than ten people are not used: the model would give them away.
    enough = np.array([len(rows.scores) >= FEWEST_ROWS for rows in tested.values()])
    classes = [_ClassScores.of(tested, offsets, enough, y) for y in (False, True)]
    members, attributes = _levels(groups)
    positions, covariances = _fay_herriot(
        means=np.column_stack([scores.means for scores in classes]),
        sizes=np.column_stack([scores.sizes for scores in classes]),
        within=np.array([scores.within for scores in classes]),
        members=members,
        attributes=attributes,
    )
    prevalences = _prevalences(list(tested.values()), enough)
    borrowed = {}
    for place, group in enumerate(groups):
        first, last = _FADES_OUT
        n_rows = len(tested[group].scores)
        fade = float(np.clip((last - n_rows) / (last - first), 0, 1))
        if group in fully:
            fade = 1.0
        if fade == 0:
            continue
        covariance = covariances[place]
        both = max(covariance[0, 1], 0) / np.sqrt(np.prod(np.diag(covariance)))
        scores = []
        worth = []
        for y, of_class in enumerate(classes):
            rows_worth = of_class.within / (covariance[y, y] * (1 + both))
            odds, weights = of_class.standing(
                place, positions[place, y], offsets[:, place], rows_worth, fade
            )
            scores.append(round_scores(expit(odds)))
            worth.append(weights)
        rows = TestedRows(
            scores=np.concatenate(scores),
            is_positive=np.repeat([False, True], [len(part) for part in scores]),
            weights=np.concatenate(worth),
            positions=np.empty(0, dtype=np.int64),
            folds=np.empty(0, dtype=np.int64),
        )
        own = OwnRows(
            positives=float(classes[1].sizes[place]),
            negatives=float(classes[0].sizes[place]),
            auc=tested[group].auc(),
        )
        prevalence = float(prevalences[place])
        if fade < 1:
            own_share = own.positives / (own.positives + own.negatives)
            prevalence = own_share + fade * (prevalence - own_share)
        borrowed[group] = Borrowed(rows, prevalence, own)
    return borrowed


@dataclass(frozen=True)
class _ClassScores:
    """The log-odds of one class in all groups.

    Parameters
    ----------
    odds : list of ndarray
        Of the rows of each group, as the learner scores them.
    weights : list of ndarray
        Of these rows.
    sizes, means, squares : ndarray of shape (n_groups,)
        Rows, and mean and sum of squares of the log-odds less the group's effect.
    within : float
        Variance within groups.
    shape : ndarray
        Quantiles around the mean of a group, with that variance.
    """

    odds: list[np.ndarray]
    weights: list[np.ndarray]
    sizes: np.ndarray
    means: np.ndarray
    squares: np.ndarray
    within: float
    shape: np.ndarray

    @classmethod
    def of(
        cls,
        tested: Mapping[Group, TestedRows],
        offsets: np.ndarray,
        enough: np.ndarray,
        label: bool,
    ) -> _ClassScores:
        """Collect the rows of a class."""
        odds = []
        all_weights = []
        residuals = []
        moments = []
        for place, rows in enumerate(tested.values()):
            of_class = rows.is_positive == label
            shares = np.clip(rows.scores[of_class] / ONE, _CLIPPED, 1 - _CLIPPED)
            weights = np.ones(len(shares))
            if rows.weights is not None:
                weights = rows.weights[of_class]
            models = rows.folds[of_class] if len(offsets) > 1 else 0
            aligned = logit(shares) - offsets[models, place]
            mean = np.average(aligned, weights=weights) if weights.sum() > 0 else 0.0
            odds.append(logit(shares))
            all_weights.append(weights)
            residuals.append(aligned - mean)
            moments.append((weights.sum(), mean, weights @ (aligned - mean) ** 2))
        sizes, means, squares = np.array(moments).T
        degrees = np.maximum(sizes - 1, 0).sum()
        within = max(squares.sum() / max(degrees, 1), 1e-3)
        shape = np.quantile(
            np.concatenate(residuals),
            (np.arange(_POINTS) + 0.5) / _POINTS,
            weights=np.concatenate(all_weights),
            method="inverted_cdf",
        )
        shape = shape - shape.mean()
        shape *= np.sqrt(within / max(shape.var(), 1e-12))
        return cls(
            odds, all_weights, sizes * enough, means, squares * enough, within, shape
        )

    def standing(
        self,
        place: int,
        position: float,
        offsets: np.ndarray,
        rows_worth: float,
        fade: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log-odds and weights that stand for the rows of a group.

        They are the pooled shape and the own rows, both at the group's position. A
        batch has a score by each model, and so has the shape.
        """
        n_own = self.sizes[place]
        variance = _ROWS_OF_SCALE * self.within + self.squares[place]
        scale = np.sqrt(variance / (_ROWS_OF_SCALE + n_own) / self.within)
        others = (position + scale * self.shape + offsets[:, None]).ravel()
        if n_own == 0:
            return others, np.full(len(others), rows_worth / len(others))
        of_others = fade * _ROWS_OF_SHAPE / (n_own + _ROWS_OF_SHAPE)
        rows_worth = fade * rows_worth + (1 - fade) * n_own
        own = self.odds[place] + fade * (position - self.means[place])
        weights = [
            np.full(len(others), rows_worth * of_others / len(others)),
            self.weights[place] * rows_worth * (1 - of_others) / n_own,
        ]
        return np.concatenate([others, own]), np.concatenate(weights)


def _levels(groups: Sequence[Group]) -> tuple[np.ndarray, np.ndarray]:
    """Tell which groups have which level of an attribute.

    Returns
    -------
    members : ndarray of shape (n_levels, n_groups)
        Groups of a single attribute share no level, and then there is none.
    attributes : ndarray of shape (n_levels,)
        The attribute of each level.
    """
    members = [np.empty((0, len(groups)))]
    if all(isinstance(group, tuple) for group in groups):
        for level_of_group in zip(*groups, strict=True):  # type: ignore[misc]
            levels = list(dict.fromkeys(level_of_group))
            codes = np.array([levels.index(level) for level in level_of_group])
            members.append(np.arange(len(levels))[:, None] == codes)
    attributes = np.repeat(np.arange(len(members)) - 1, [len(part) for part in members])
    return np.concatenate(members).astype(float), attributes


def _fay_herriot(
    means: np.ndarray,
    sizes: np.ndarray,
    within: np.ndarray,
    members: np.ndarray,
    attributes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the means of both classes in all groups at once.

    Parameters
    ----------
    means, sizes : ndarray of shape (n_groups, 2)
        Means of the own rows, and their number; it may be 0.
    within : ndarray of shape (2,)
        Variance of a row.
    members, attributes
        Of `_levels`.

    Returns
    -------
    means : ndarray of shape (n_groups, 2)
    covariances : ndarray of shape (n_groups, 2, 2)

    Notes
    -----
    With the noise N and the prior V - N, of which the precision P is the inverse of V,
    the means are y - N P (y - c) with the covariance N - N P N, but for that of c.
    """
    n_groups = len(means)
    noise = (within / np.maximum(sizes, 1e-3))[..., None] * np.eye(2)
    beforehand = _PRIOR_VARIANCE * np.diag(within)
    of_group = 3 * beforehand
    of_attribute = np.tile(3 * beforehand, (attributes.max(initial=-1) + 1, 1, 1))
    # A group that lies far out has a wider distribution: Student's t as a mixture.
    widths = np.ones(n_groups)
    for _ in range(_STEPS):
        alone = np.linalg.inv(widths[:, None, None] * of_group + noise)
        precision = _Precision(alone, members, of_attribute[attributes])
        # Each class has a mean of its own over all groups.
        weighted = precision @ np.tile(np.eye(2), (n_groups, 1, 1))
        of_centre = np.linalg.inv(weighted.sum(axis=0))
        centre = of_centre @ (weighted.swapaxes(1, 2) @ means[..., None]).sum(axis=0)
        pulls = (precision @ (means[..., None] - centre))[..., 0]

        squares = _squares(of_group, widths, pulls, precision.of_groups())
        distances = np.einsum("ab,gba->g", np.linalg.inv(of_group), squares)
        updated = [_average(squares / widths[:, None, None], beforehand)]
        squares = _squares(
            of_attribute[attributes],
            np.ones(len(attributes)),
            members @ pulls,
            precision.of_levels(),
        )
        for place in range(len(of_attribute)):
            updated.append(_average(squares[attributes == place], beforehand))
        before = np.diagonal([of_group, *of_attribute], axis1=1, axis2=2)
        after = np.diagonal(updated, axis1=1, axis2=2)
        if np.abs(after / before - 1).max() < _CONVERGED:
            break
        of_group = updated[0]
        of_attribute = np.array(updated[1:]).reshape(of_attribute.shape)
        widths = (_DEGREES + distances) / (_DEGREES + 2)
    missed = noise @ weighted
    covariances = noise - noise @ precision.of_groups() @ noise
    covariances += missed @ of_centre @ missed.swapaxes(1, 2)
    return means - (noise @ pulls[..., None])[..., 0], covariances


def _squares(
    variance: np.ndarray, widths: np.ndarray, pulls: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    """Return the expected squares of effects, given the means."""
    widths = widths[:, None, None]
    gain = pulls[:, :, None] * pulls[:, None, :] - precision
    return widths * variance + widths**2 * (variance @ gain @ variance)


def _average(squares: np.ndarray, beforehand: np.ndarray) -> np.ndarray:
    total = squares.sum(axis=0) + _PRIOR_GROUPS * beforehand
    return total / (len(squares) + _PRIOR_GROUPS)


class _Precision:
    """The inverse of the covariance of the means of all groups, never written out.

    Groups by themselves have blocks of two classes, which are inverted one by one; the
    levels of attributes add a matrix of low rank (Woodbury 1950). What has a row for
    each group or level is an array of shape (n, 2, ...).
    """

    def __init__(self, alone: np.ndarray, members: np.ndarray, of_levels: np.ndarray):
        self._alone = alone
        self._members = members
        n_levels = members.shape[0]
        gain = np.empty((n_levels, 2, n_levels, 2))
        for row, column in np.ndindex(2, 2):
            weighted = members * alone[:, row, column]
            gain[:, row, :, column] = weighted @ members.T
        own = np.arange(n_levels)
        self._information = gain.copy()
        gain[own, :, own, :] += np.linalg.inv(of_levels)
        size = 2 * n_levels
        self._learned = np.linalg.inv(gain.reshape(size, size)).reshape(gain.shape)

    def __matmul__(self, values: np.ndarray) -> np.ndarray:
        weighted = self._alone @ values
        flat = weighted.reshape(len(weighted), -1)
        sums = (self._members @ flat).reshape(-1, *weighted.shape[1:])
        learned = np.tensordot(self._learned, sums, 2)
        back = self._members.T @ learned.reshape(len(sums), flat.shape[1])
        return weighted - self._alone @ back.reshape(weighted.shape)

    def of_groups(self) -> np.ndarray:
        """Return the block of each group."""
        learned = np.empty_like(self._alone)
        by_group = self._members.T
        for row, column in np.ndindex(2, 2):
            of_levels = by_group @ self._learned[:, row, :, column]
            learned[:, row, column] = (by_group * of_levels).sum(axis=1)
        return self._alone - self._alone @ learned @ self._alone

    def of_levels(self) -> np.ndarray:
        """Return the block of each level, summed over the groups that have it."""
        known = self._information
        explained = np.tensordot(np.tensordot(known, self._learned, 2), known, 2)
        own = np.arange(len(known))
        return (known - explained)[own, :, own, :]


def _prevalences(tested: Sequence[TestedRows], enough: np.ndarray) -> np.ndarray:
    """Return shares of positives that are drawn to the mean scores."""
    counts = []
    for rows in tested:
        weights = np.ones(len(rows.scores)) if rows.weights is None else rows.weights
        sums = (weights @ rows.scores / ONE, weights @ rows.is_positive)
        counts.append((weights.sum(), *sums))
    n_rows, sums, positives = np.array(counts).T
    # A group without a row has the mean score of all groups, and few rows are drawn to
    # it.
    overall = sums.sum() / n_rows.sum()
    mean_scores = (sums + overall) / (n_rows + 1)
    variances = mean_scores * (1 - mean_scores)
    spread = _LEAST_SPREAD**2
    if enough.sum() > 1:
        shares = positives[enough] / n_rows[enough] - mean_scores[enough]
        errors = np.sqrt(variances[enough] / n_rows[enough])
        spread = max(variance_between(shares, errors), spread)
    prior_rows = variances / spread
    total = positives * enough + prior_rows * mean_scores
    return total / (n_rows * enough + prior_rows)
