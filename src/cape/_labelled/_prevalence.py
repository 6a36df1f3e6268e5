"""The prevalence of a group from labels of a few rows (prediction-powered inference).

The mean prediction over all rows of the batch, corrected by the mean residual of the
labelled rows, is right whatever has moved (Angelopoulos et al. 2023). It is then moved
towards the label-free estimate as far as the two agree.

Symbols: N rows, m of them labelled, with weights w; y is 1 for positives; f is the
prediction of a row's cell; means with a bar are weighted, over labelled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from cape._labelled._sample import LabelledSample

_PRIOR_ROWS_OF_SLOPE = 8.0
"""Rows in favour of lambda = 1, before residuals have been seen."""

_GREATEST_SLOPE = 1.5

_PRIOR_ROWS_OF_VARIANCE = 5.0
"""Rows in favour of "predictions are no help", before residuals have been seen: few
residuals may all be small by chance."""

_BIASES = np.array([0.0, 0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
"""Standard deviations of the bias of a label-free estimate, equally likely."""

_TOLERATED_LOSS = 1.01
"""What a wrong label-free estimate may cost, relative to the error of labels alone."""

_GREATEST_MOVE = 1.5

_REFUTED = 0.05
_CONFIRMED_WITHIN = 0.1
_ONE_SIDED_95 = 1.645


@dataclass(frozen=True)
class PoweredEstimate:
    """The prevalence according to labels and predictions.

    Parameters
    ----------
    estimate : float
        Prediction-powered estimate, theta.
    variance : float
        Its variance.
    design_effect : float
        Variance of the estimate, relative to that of the share of positives among as
        many rows with replacement, D.
    unlabelled_share : float
        1 - m/N.
    n_labelled : float
    lowest, highest : float
        Prevalences if all rows without a label were negative, or positive.
    """

    estimate: float
    variance: float
    design_effect: float
    unlabelled_share: float
    n_labelled: float
    lowest: float
    highest: float

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the prevalence at a level; it holds for any shift."""
        if self.variance == 0:
            return self.estimate, self.estimate
        effective_rows = self.n_labelled / self.design_effect
        low, high = proportion_interval(self.estimate, effective_rows, level)
        # Without a labelled positive, the batch may have none; negatives likewise.
        if self.lowest == 0:
            low = 0.0
        if self.highest == 1:
            high = 1.0
        return max(float(low), self.lowest), min(float(high), self.highest)


def estimate_with_labels(
    sample: LabelledSample, prediction: np.ndarray
) -> PoweredEstimate:
    """Estimate the prevalence of a batch from labelled rows and predictions.

    Parameters
    ----------
    sample : LabelledSample
        Of at least two labelled rows.
    prediction : ndarray of shape (n_cells,)
        Predicted share of positives in each cell, f.

    Returns
    -------
    PoweredEstimate
    """
    n_labelled = sample.n_labelled
    lowest = float(sample.counts[1].sum() / sample.n_rows)
    highest = 1 - float(sample.counts[0].sum() / sample.n_rows)
    y_bar = sample.positive_share
    total_weight = sample.weights.sum()
    if sample.excess.sum() == 0:
        # Every row was drawn: the share is known.
        return PoweredEstimate(y_bar, 0.0, 0.0, 0.0, n_labelled, lowest, highest)
    f_bar = float(sample.weights.sum(axis=0) @ prediction / total_weight)
    f_batch = float(sample.batch @ prediction / sample.n_rows)
    g = prediction - f_bar
    # Rows are 0 for negatives and 1 for positives, as in sample.excess.
    y_centred = np.array([[-y_bar], [1 - y_bar]])
    slope = _tune_slope(sample, prediction - f_batch, g, y_centred)
    # Labelled rows are part of the batch: their labels are facts.
    estimate = float(np.clip(y_bar + slope * (f_batch - f_bar), lowest, highest))
    raw_variance = _variance(sample, y_centred - slope * g) / total_weight**2
    smoothed = (n_labelled * y_bar + 1) / (n_labelled + 2)
    one_row = smoothed * (1 - smoothed)
    prior = _PRIOR_ROWS_OF_VARIANCE * one_row / n_labelled
    no_help = sample.design_effect * sample.unlabelled_share
    design_effect = float(
        (n_labelled * raw_variance + prior * no_help) / (y_bar * (1 - y_bar) + prior)
    )
    return PoweredEstimate(
        estimate,
        one_row * design_effect / n_labelled,
        design_effect,
        sample.unlabelled_share,
        n_labelled,
        lowest,
        highest,
    )


def _variance(sample: LabelledSample, residuals: np.ndarray) -> float:
    """Compute the variance of a weighted sum of residuals, of shape (2, n_cells).

    Where rows were drawn by strata, what strata differ in is no noise: residuals are
    then centred in each of them.
    """
    if not sample.is_stratified:
        m = sample.n_labelled
        return float((sample.excess * residuals**2).sum() * m / (m - 1))
    rows = sample.strata.sum(axis=(1, 2))
    sums = (sample.strata * residuals).sum(axis=(1, 2))
    squares = (sample.strata * residuals**2).sum(axis=(1, 2))
    spread = (squares - sums**2 / rows) * rows / (rows - 1)
    return float((sample.weight**2 - sample.weight) @ spread)


def _tune_slope(
    sample: LabelledSample,
    centred_prediction: np.ndarray,
    g: np.ndarray,
    y_centred: np.ndarray,
) -> float:
    """Choose how much of the predictions to believe, lambda.

    It is the slope of the regression of y on f, which has the least variance, with a
    few rows in favour of 1.
    """
    variance = float(sample.batch @ centred_prediction**2 / sample.n_rows)
    mean_excess = sample.excess.sum() / sample.n_labelled
    prior = _PRIOR_ROWS_OF_SLOPE * variance * mean_excess
    covariance = float((sample.excess * y_centred * g).sum())
    spread = float((sample.excess * g**2).sum())
    if spread + prior == 0:
        # All predictions are equal.
        return 0.0
    return float(np.clip((covariance + prior) / (spread + prior), 0, _GREATEST_SLOPE))


def proportion_interval(estimate, rows, level: float):
    """Return the mean of Wilson's and Jeffreys' interval of a proportion.

    Wilson's holds a little too rarely for proportions near 1/2 of few rows, Jeffreys'
    near 0 and 1; their mean holds for both.

    Parameters
    ----------
    estimate : float or ndarray
    rows : float or ndarray
        Effective number of rows.
    level : float

    Returns
    -------
    low, high : float or ndarray
    """
    z = float(ndtri((1 + level) / 2))
    centre = (estimate + z**2 / (2 * rows)) / (1 + z**2 / rows)
    spread = estimate * (1 - estimate) / rows + z**2 / (4 * rows**2)
    half_width = z * np.sqrt(spread) / (1 + z**2 / rows)
    positives = estimate * rows + 0.5
    negatives = (1 - estimate) * rows + 0.5
    jeffreys_low = betaincinv(positives, negatives, (1 - level) / 2)
    jeffreys_high = betaincinv(positives, negatives, (1 + level) / 2)
    low = (np.maximum(centre - half_width, 0) + jeffreys_low) / 2
    high = (np.minimum(centre + half_width, 1) + jeffreys_high) / 2
    # Jeffreys' interval leaves 0 out where no row is positive, and 1 likewise.
    return np.minimum(low, estimate), np.maximum(high, estimate)


def combine(
    labels: PoweredEstimate, label_free: float, standard_error: float, level: float
) -> float:
    """Move the estimate of labels towards the label-free one, as far as they agree.

    The label-free estimate has a bias that nobody knows: several sizes are equally
    likely before labels are seen, and the labels tell them apart. The move is bounded
    by what predictions have saved already, so that a wrong label-free estimate can cost
    hardly more than labels alone.

    Parameters
    ----------
    labels : PoweredEstimate
    label_free, standard_error : float
        The label-free estimate.
    level : float
        The result stays inside the interval of this level.

    Returns
    -------
    float
    """
    if labels.variance == 0:
        return labels.estimate
    difference = labels.estimate - label_free
    move = -difference * shrinkage(difference, labels.variance, standard_error)
    # D' = D / (1 - m/N) <= 1 is what is left of the variance thanks to predictions.
    left = min(labels.design_effect / labels.unlabelled_share, 1.0)
    saved = max(0.0, _TOLERATED_LOSS / sqrt(left) - 1)
    budget = min(_GREATEST_MOVE, sqrt(2 * saved)) * sqrt(labels.variance)
    low, high = labels.interval(level)
    return float(np.clip(labels.estimate + np.clip(move, -budget, budget), low, high))


def shrinkage(difference, variance, standard_error):
    """Return the share of a difference that the noise of labels explains.

    With bias tau and T = V + s0^2 + tau^2, it is V/T, averaged over the sizes of the
    bias with weights T^-1/2 exp(-difference^2 / 2T).
    """
    total = np.asarray(variance)[..., None] + np.asarray(standard_error)[..., None] ** 2
    total = total + _BIASES**2
    log_weight = -(np.asarray(difference)[..., None] ** 2) / (2 * total)
    log_weight = log_weight - np.log(total) / 2
    weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
    share = np.asarray(variance)[..., None] / total
    return (weight * share).sum(axis=-1) / weight.sum(axis=-1)


@dataclass(frozen=True)
class LabelVerdict:
    """What labels say of the label-free estimate.

    Parameters
    ----------
    verdict : {"confirmed", "not_contradicted", "refuted"}
    p_value : float
        Probability of a difference as large if the label-free estimate were right.
    """

    verdict: str
    p_value: float


def compare_with_labels(
    labels: PoweredEstimate, label_free: float, standard_error: float
) -> LabelVerdict:
    """Test the label-free estimate against labels.

    Parameters
    ----------
    labels : PoweredEstimate
    label_free, standard_error : float
        The label-free estimate.

    Returns
    -------
    LabelVerdict
        "refuted" at 5 %; else "confirmed" if they differ by at most 0.1, at 95 %
        confidence; else "not_contradicted".
    """
    m = labels.n_labelled
    difference = abs(labels.estimate - label_free)
    # The variance if both were the same, as in the test of two proportions.
    between = (m * (labels.estimate + label_free) + 2) / (2 * m + 4)
    variance = between * (1 - between) * labels.design_effect / m
    noise = sqrt(variance + standard_error**2)
    p_value = 1.0
    if difference > 0:
        p_value = 2 * float(ndtr(-difference / noise)) if noise > 0 else 0.0
    if p_value < _REFUTED:
        return LabelVerdict("refuted", p_value)
    if difference + _ONE_SIDED_95 * sqrt(labels.variance) <= _CONFIRMED_WITHIN:
        return LabelVerdict("confirmed", p_value)
    return LabelVerdict("not_contradicted", p_value)
