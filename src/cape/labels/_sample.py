"""Labels of a few rows: how many rows each stands for, and whether they look drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import betaincinv, chdtrc, expit, logit, ndtri

from cape.drift._mixture import holm
from cape.evidence._evidence import PLAIN, GroupEvidence
from cape.evidence._histogram import ONE, ScoreHistogram
from cape.training._group_model import GroupModel

_SMALLEST_PREVALENCE = 0.05
"""Predictions are not made for prevalences below this, nor above its complement: one
that is wrong by far would be nearly constant, and of no help."""

_LARGEST_SHORTFALL = 4.0
"""Standard deviations by which weights of independent draws may fall short of the rows
of the batch."""


@dataclass(frozen=True)
class LabelledSample:
    """The labelled rows of one group, and the batch that they were drawn from.

    A labelled row stands for ``w`` rows of the batch: 1 / inclusion probability, or
    N / m if m of N rows were drawn plainly. Rows of one weight are a stratum. The axes
    of ``strata`` are stratum, class (negatives, positives) and cell; ``counts``,
    ``weights`` and ``squares`` are sums over strata.

    Parameters
    ----------
    batch : ndarray of shape (n_cells,)
        Rows of the batch in each cell of their score, labelled or not.
    strata : ndarray of shape (n_strata, 2, n_cells)
        Labelled rows.
    weight : ndarray of shape (n_strata,)
        The weight w of a row of each stratum.
    """

    batch: np.ndarray
    strata: np.ndarray
    weight: np.ndarray

    @cached_property
    def counts(self) -> np.ndarray:
        """Labelled rows."""
        return self.strata.sum(axis=0)

    @cached_property
    def weights(self) -> np.ndarray:
        """Sum of w over the labelled rows."""
        return np.tensordot(self.weight, self.strata, axes=1)

    @cached_property
    def squares(self) -> np.ndarray:
        """Sum of w^2 over the labelled rows."""
        return np.tensordot(self.weight**2, self.strata, axes=1)

    @property
    def n_rows(self) -> float:
        """Rows of the batch, N."""
        return float(self.batch.sum())

    @property
    def n_labelled(self) -> float:
        """Labelled rows, m."""
        return float(self.counts.sum())

    @property
    def limits(self) -> tuple[float, float]:
        """Prevalences if all rows without a label were negative, or positive."""
        negatives, positives = self.counts.sum(axis=1)
        return float(positives / self.n_rows), 1 - float(negatives / self.n_rows)

    @cached_property
    def excess(self) -> np.ndarray:
        """Sum of w^2 - w over the labelled rows, of shape (2, n_cells).

        This is what a row contributes to the variance of a total over a finite batch
        (Horvitz and Thompson 1952, independent draws): 0 if every row was drawn.
        """
        return np.maximum(self.squares - self.weights, 0.0)

    @property
    def positive_share(self) -> float:
        """Weighted share of positives among the labelled rows."""
        return float(self.weights[1].sum() / self.weights.sum())


def labelled_sample(evidence: GroupEvidence) -> LabelledSample:
    """Collect the labelled rows of a group.

    Parameters
    ----------
    evidence : GroupEvidence
        With labelled rows.

    Returns
    -------
    LabelledSample
    """
    if evidence.labelled_rows == 0:
        raise ValueError("evidence must have labelled rows, got none.")
    strata = []
    for rows in evidence.labelled.values():
        strata.append([score_cells(rows.negatives), score_cells(rows.positives)])
    return LabelledSample(
        score_cells(evidence), np.array(strata), row_weights(evidence)
    )


def row_weights(evidence: GroupEvidence) -> np.ndarray:
    """Return how many rows of the batch a labelled row stands for.

    If every row is labelled, each stands for itself, however it was drawn. If labelled
    rows stand for fewer rows than there are, and chance does not explain it, labels of
    drawn rows are missing: the known ones stand for them as well.

    Parameters
    ----------
    evidence : GroupEvidence
        With labelled rows.

    Returns
    -------
    ndarray of shape (n_strata,)
        The weight w for each inclusion probability of ``evidence.labelled``.
    """
    n_rows = evidence.scores.size
    rows = np.array([part.size for part in evidence.labelled.values()])
    probabilities = np.array(list(evidence.labelled)) / ONE
    if evidence.labelled_rows >= evidence.rows:
        return np.ones(len(rows))
    if PLAIN in evidence.labelled:
        return n_rows / rows
    weights = 1 / probabilities
    stand_for = float(rows @ weights)
    noise = sqrt(float(rows @ (weights**2 - weights)))
    if n_rows - stand_for > _LARGEST_SHORTFALL * noise:
        weights = weights * (n_rows / stand_for)
    return weights


def score_cells(evidence: GroupEvidence) -> np.ndarray:
    """Count rows in the cells of one score a row, if there is one.

    Where the mean of fold models decides, its histogram is used. A resampled pool has
    none: each row then counts 1/K in the cells of its K fold scores. This keeps all
    means, and makes variances of residuals greater, so that intervals are too wide
    rather than too narrow.
    """
    histogram = evidence.scores
    if isinstance(evidence.tally, ScoreHistogram) and histogram.unit > 1:
        histogram = evidence.tally
    return histogram.counts / histogram.unit


def predictions(model: GroupModel, prevalence: float) -> np.ndarray:
    """Predict the share of positives in each cell of the score, at a prevalence.

    Parameters
    ----------
    model : GroupModel
    prevalence : float
        The label-free estimate.

    Returns
    -------
    ndarray of shape (n_cells,)
    """
    clipped = np.clip(prevalence, _SMALLEST_PREVALENCE, 1 - _SMALLEST_PREVALENCE)
    return expit(logit(clipped) + model.log_odds)


_ROWS_PER_CELL = 5

SAMPLE_LEVEL = 0.01
"""Labelled rows with a smaller p-value are no sample of the batch."""

_MOST_PARTS = 6
_SHUFFLES = 9_999


def drawn_p_value(
    model: GroupModel, evidence: GroupEvidence, sample: LabelledSample
) -> float:
    """Test whether scores and columns of labelled rows look drawn from the batch.

    Parameters
    ----------
    model : GroupModel
    evidence : GroupEvidence
    sample : LabelledSample
        The labelled rows of the evidence.

    Returns
    -------
    float
        The smallest p-value of scores and columns, adjusted by Holm's method; 1 if
        every row is labelled.
    """
    if sample.excess.sum() == 0:
        return 1.0
    # The variance of a weighted mean is that of so many rows (Kish 1965), less the
    # finite batch correction: m / (1 - m/N) if rows were drawn plainly.
    effective_rows = sample.weights.sum() ** 2 / sample.excess.sum()
    p_values = [_p_value(sample.batch, sample.weights.sum(axis=0), effective_rows)]
    if model.columns is not None and evidence.columns is not None:
        cells = model.columns.cells
        labelled = np.zeros(len(evidence.columns.counts))
        for weight, rows in zip(sample.weight, evidence.labelled.values(), strict=True):
            for part in (rows.positives, rows.negatives):
                labelled += weight * part.columns.counts  # type: ignore[union-attr]
        both = np.array([evidence.columns.counts, labelled])
        for batch, drawn in np.split(both, cells.starts[1:-1], axis=1):
            p_values.append(_p_value(batch, drawn, effective_rows))
    return min(holm(p_values))


def returned_p_value(cells: np.ndarray, returned: np.ndarray) -> float:
    """Test whether rows whose label came back look drawn from the rows that were drawn.

    Drawn rows are cut into up to six parts of their score, and the numbers that came
    back are compared with those of random rows.

    Parameters
    ----------
    cells : ndarray of int of shape (n_drawn,)
        Cells of the scores of the rows drawn.
    returned : ndarray of bool of shape (n_drawn,)
        Whether their labels came back.

    Returns
    -------
    float
        1 if all came back, or if there are too few rows to test.
    """
    n_returned = int(returned.sum())
    n_parts = min(_MOST_PARTS, len(cells) // _ROWS_PER_CELL)
    if n_parts < 2 or n_returned in (0, len(cells)):
        return 1.0
    order = np.argsort(cells, kind="stable")
    parts = np.array_split(returned[order], n_parts)
    sizes = np.array([len(part) for part in parts])
    observed = np.array([part.sum() for part in parts])
    # Few rows may be missing, so that chi-square would not hold: shuffle.
    random = np.random.default_rng(0)
    shuffled = random.multivariate_hypergeometric(sizes, n_returned, _SHUFFLES)
    expected = sizes * n_returned / len(cells)
    statistic = ((observed - expected) ** 2 / sizes).sum()
    as_large = ((shuffled - expected) ** 2 / sizes).sum(axis=1) >= statistic - 1e-9
    return float((1 + as_large.sum()) / (1 + _SHUFFLES))


def _p_value(batch: np.ndarray, drawn: np.ndarray, effective_rows: float) -> float:
    """Compare shares of cells by Pearson's chi-square."""
    expected = batch / batch.sum()
    observed = drawn / drawn.sum()
    starts = merge_small(expected * effective_rows, _ROWS_PER_CELL)
    if len(starts) < 2:
        return 1.0
    expected = np.add.reduceat(expected, starts)
    observed = np.add.reduceat(observed, starts)
    statistic = effective_rows * ((observed - expected) ** 2 / expected).sum()
    return float(chdtrc(len(starts) - 1, statistic))


def merge_small(rows: np.ndarray, fewest: float) -> np.ndarray:
    """Merge neighbours until each has the fewest rows; return the first of each."""
    starts = [0]
    held = 0.0
    left = float(rows.sum())
    last = 0
    # Empty cells, the most of a thousand, join the neighbour before them or after.
    for place in np.flatnonzero(rows).tolist():
        # What is left over joins its neighbour.
        if min(held, left) >= fewest:
            starts.append(last + 1)
            held = 0.0
        held += float(rows[place])
        left -= float(rows[place])
        last = place
    return np.array(starts)


_BIASES = np.array([0.0, 0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
"""Standard deviations of the bias of a label-free estimate, equally likely."""


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
