"""Are a batch's scores any mixture of the two classes' training scores? The test of the prior-shift assumption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from cape._groups import Group
from cape.histogram import ONE, ScoreHistogram

__all__ = [
    "CheckedGroup",
    "MixtureFit",
    "check_prior_shift",
    "fit_mixture",
    "holm",
    "count_agreements",
]

_CELLS = (4, 8, 16)  # nested: how finely a batch is looked at depends on its rows
_ROWS_PER_CELL = 8


@dataclass(frozen=True)
class MixtureFit:
    """How well the best mixture of the classes explains a batch.

    Parameters
    ----------
    prevalence : float
        Of the best mixture.
    statistic : float
        Squared distance to it, in units of its noise; chi-square with ``df`` degrees of freedom under prior shift.
    df : int
        0 when there were too few rows, or too few different scores, to test.
    p_value : float
    effect : float
        Share of the batch that no mixture explains, beyond what noise would leave.
    """

    prevalence: float
    statistic: float
    df: int
    p_value: float
    effect: float


def fit_mixture(
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
    batch: ScoreHistogram,
    agreements: np.ndarray | None = None,
) -> MixtureFit:
    """Fit rho P + (1 - rho) N to a batch by generalised least squares, and test the fit.

    With p, n and b the shares of cells among the positives, the negatives and the batch, the residual
    b - rho p - (1 - rho) n has, under prior shift, mean 0 and the covariance

        (rho S(p) + (1 - rho) S(n)) / rows + rho^2 S(p) / N1 + (1 - rho)^2 S(n) / N0,    S(p) = diag(p) - p p',

    whose last two terms are the noise of the training histograms. The least weighted square over rho is chi-square
    with cells - 2 degrees of freedom, and cells - 1 when the best rho lies outside [0, 1] and is held at its end.

    Parameters
    ----------
    positives, negatives : ScoreHistogram
        Out-of-fold scores of the two classes in training.
    batch : ScoreHistogram
    agreements : ndarray of int64, default=None
        Of a batch with several scores a row, how often two of them fell agreements; see `count_agreements`.

    Examples
    --------
    >>> from cape.histogram import edges_for, round_scores
    >>> random = np.random.default_rng(0)
    >>> positives, negatives = round_scores(random.beta(3, 1, 500)), round_scores(random.beta(1, 3, 500))
    >>> edges = edges_for(positives, negatives)
    >>> classes = [ScoreHistogram.of(scores, edges) for scores in (positives, negatives)]
    >>> mixed = round_scores(np.concatenate([random.beta(3, 1, 60), random.beta(1, 3, 140)]))
    >>> fit_mixture(*classes, ScoreHistogram.of(mixed, edges)).p_value > 0.05
    True
    >>> fit_mixture(*classes, ScoreHistogram.of(round_scores(random.beta(9, 9, 200)), edges)).p_value < 0.001
    True
    """
    fineness = _fineness(min(positives.size, negatives.size, batch.size))
    cuts = (
        _nested_cuts(positives, negatives)[fineness] if fineness >= 0 else np.empty(0)
    )
    if len(cuts) < 2:
        return MixtureFit(float("nan"), 0.0, 0, 1.0, 0.0)
    b = batch.merged(cuts) / batch.counts.sum()
    p, n = _smoothed(positives.merged(cuts)), _smoothed(negatives.merged(cuts))
    rows = batch.size / (
        1.0 if agreements is None else _design_effect(b, agreements[fineness], batch)
    )
    d, r = (p - n)[:-1], (b - n)[:-1]
    rho = free = 0.5
    for _ in range(20):
        inverse = np.linalg.inv(
            _covariance(p, n, rho, positives.size, negatives.size, rows)
        )
        information = d @ inverse @ d
        free = float(d @ inverse @ r / information) if information > 0 else 0.5
        moved, rho = abs(min(max(free, 0.0), 1.0) - rho), min(max(free, 0.0), 1.0)
        if moved < 1e-4:
            break
    residual = b - rho * p - (1 - rho) * n
    statistic = max(float(residual[:-1] @ inverse @ residual[:-1]), 0.0)
    df = len(b) - 2 + (free != rho)
    beyond_noise = np.sqrt(max(1 - df / statistic, 0.0)) if statistic > 0 else 0.0
    effect = float(np.abs(residual).sum() / 2 * beyond_noise)
    return MixtureFit(rho, statistic, df, float(chdtrc(df, statistic)), effect)


def count_agreements(
    scores: np.ndarray, positives: ScoreHistogram, negatives: ScoreHistogram
) -> np.ndarray:
    """How often two scores of a row, by two models or twice by one, lie in one cell of the test; it adds up over rows.

    With ``scores="folds"`` a row has K scores, which agree more or less. The less they do, the less noise their
    histogram has; pooled counts cannot tell, so evidence carries this number for each fineness of the test.

    Parameters
    ----------
    scores : ndarray of int64 of shape (n_models, n_rows)
    positives, negatives : ScoreHistogram
        Of training; they fix the cells.

    Returns
    -------
    ndarray of int64 of shape (3,)
        From n_models (no two agreements) to n_models^2 (all agreements) a row, for 4, 8 and 16 cells.

    Examples
    --------
    >>> from cape.histogram import edges_for, round_scores
    >>> low, high = round_scores([0.1, 0.2, 0.3]), round_scores([0.7, 0.8, 0.9])
    >>> edges = edges_for(high, low)
    >>> classes = ScoreHistogram.of(high, edges), ScoreHistogram.of(low, edges)
    >>> count_agreements(round_scores([[0.1, 0.1], [0.1, 0.9]]), *classes).tolist()
    [6, 6, 6]
    """
    nested = _nested_cuts(positives, negatives)
    finest = nested[-1]
    cells = np.searchsorted(finest, scores, side="left").astype(np.int8)
    found = []
    for cuts in nested:
        coarser = np.searchsorted(cuts, np.append(finest, ONE), side="left").astype(
            np.int8
        )[cells]
        pairs = sum(
            np.count_nonzero(one == other) for one, other in combinations(coarser, 2)
        )
        found.append(scores.size + 2 * pairs)
    return np.array(found, dtype=np.int64)


def _design_effect(b: np.ndarray, agreements: int, batch: ScoreHistogram) -> float:
    """Variance of a row's share in the cells, over that of a row with one score: total over cells, as survey design."""
    one_score = 1 - b @ b
    within = agreements / (batch.size * batch.unit**2) - b @ b
    return (
        float(min(max(within / one_score, 1 / batch.unit), 1.0))
        if one_score > 0
        else 1.0
    )


def _covariance(p, n, rho, n_positives, n_negatives, rows) -> np.ndarray:
    """Of the residual, without its last cell, which the others determine."""
    a = rho / rows + rho**2 / n_positives
    b = (1 - rho) / rows + (1 - rho) ** 2 / n_negatives
    p, n = p[:-1], n[:-1]
    return np.diag(a * p + b * n) - a * np.outer(p, p) - b * np.outer(n, n)


def _fineness(rows: float) -> int:
    """Which of the nested cells give every histogram rows enough; -1 if none does."""
    return sum(rows >= cells * _ROWS_PER_CELL for cells in _CELLS) - 1


def _nested_cuts(
    positives: ScoreHistogram, negatives: ScoreHistogram
) -> list[np.ndarray]:
    """Edges at quantiles of the training scores, both classes weighing the same; a finer list holds the coarser."""
    tally = np.cumsum(positives.shares + negatives.shares)[:-1] / 2
    finest = np.searchsorted(tally, np.arange(1, _CELLS[-1]) / _CELLS[-1] - 1e-9)
    edges, last = positives.edges, len(positives.edges)
    nested = (
        np.unique(finest[step - 1 :: step])
        for step in (_CELLS[-1] // cells for cells in _CELLS)
    )
    return [edges[places[places < last]] for places in nested]


def _smoothed(counts: np.ndarray) -> np.ndarray:
    return (counts + 0.5) / (counts.sum() + 0.5 * len(counts))


class CheckedGroup(NamedTuple):
    """How the best mixture fits a group, and its p-value after correction for the number of groups."""

    fit: MixtureFit
    p_adjusted: float


def check_prior_shift(
    models: Mapping[Group, Any], evidence: Mapping[Group, Any]
) -> dict[Group, CheckedGroup]:
    """Test each group of the evidence that has a model in ``models``; p-values are adjusted by Holm's method."""
    fits = {
        group: fit_mixture(
            models[group].positives,
            models[group].negatives,
            found.scores,
            found.agreements,
        )
        for group, found in evidence.items()
        if group in models
    }
    adjusted = holm([fit.p_value for fit in fits.values()])
    return {
        group: CheckedGroup(fit, p)
        for (group, fit), p in zip(fits.items(), adjusted, strict=True)
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for as many tests, by Holm's step-down method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(adjusted, 1.0)
    return result.tolist()
