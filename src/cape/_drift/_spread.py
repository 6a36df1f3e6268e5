"""How far columns and scores disagree on the prevalence."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, sqrt

import numpy as np

from cape._column_test import ColumnFit
from cape._group_model import GroupModel
from cape._shift_test import MixtureFit
from cape.evidence import GroupEvidence

__all__ = ["spread_of", "variance_between"]

_SCORE_INFLATION = 4.0
"""Where scores alone are known, variance of the spread in units of what the misfit of
the scores suggests. Drift tends to lie in the direction that the scores look at, where
it cannot be seen."""


def spread_of(
    model: GroupModel,
    evidence: GroupEvidence,
    estimate: float,
    score: MixtureFit | None,
    columns: Iterable[ColumnFit],
) -> float:
    """Measure how far columns and scores disagree on the prevalence."""
    if not model.quantifier.informative_:
        # Scores that do not tell the classes apart speak for no prevalence.
        return 0.0
    prevalences = []
    errors = []
    for fit in columns:
        if isfinite(fit.error):
            prevalences.append(fit.prevalence)
            errors.append(fit.error)
    variance, noise = _score_noise(model, evidence, estimate)
    if prevalences:
        if score is not None:
            prevalences.append(estimate)
            errors.append(sqrt(noise))
        return sqrt(variance_between(np.array(prevalences), np.array(errors)))
    if score is None or score.df == 0:
        return 0.0
    # The statistic has the mean df (1 + tau / noise of a row) if shares scatter by tau
    # beyond sampling; the estimate then scatters by tau times the variance of one row.
    tau = (score.statistic / score.df - 1) * noise / variance
    return sqrt(max(_SCORE_INFLATION * tau * variance, 0.0))


def _score_noise(
    model: GroupModel, evidence: GroupEvidence, estimate: float
) -> tuple[float, float]:
    """Return the variance of the estimate from one row, and from all rows.

    The second counts the noise of training, as `moment_interval` does.
    """
    rho = estimate
    quantifier = model.quantifier
    of_positives = quantifier.statistic_moments(model.positives, rho)
    of_negatives = quantifier.statistic_moments(model.negatives, rho)
    gap = max(abs(of_positives.mean - of_negatives.mean), 1e-6)
    one_row = rho * of_positives.variance + (1 - rho) * of_negatives.variance
    noise = one_row / evidence.scores.size
    noise += rho**2 * of_positives.variance / of_positives.size
    noise += (1 - rho) ** 2 * of_negatives.variance / of_negatives.size
    # Perfect scores have no noise, and one cannot divide by it.
    return max(one_row, 1e-12) / gap**2, max(noise, 1e-12) / gap**2


def variance_between(values: np.ndarray, errors: np.ndarray) -> float:
    """Estimate the variance between values beyond their errors.

    This is the estimator of DerSimonian and Laird (1986) for studies that measure the
    same quantity: here every column, and the scores, are a study of the prevalence.

    Parameters
    ----------
    values : ndarray of shape (n_studies,)
    errors : ndarray of shape (n_studies,)
        Standard errors.

    Returns
    -------
    float
        0 if the values differ by no more than their errors.

    Examples
    --------
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.1, 0.1])).round(3)
    np.float64(0.01)
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.2, 0.2]))
    0.0
    """
    weights = errors**-2.0
    centre = (weights @ values) / weights.sum()
    heterogeneity = weights @ (values - centre) ** 2
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    if scale <= 0:
        return 0.0
    return max((heterogeneity - (len(values) - 1)) / scale, 0.0)
