"""How many labels a group needs for an interval of a given width.

The sample that is to be expected goes through the estimator itself, so that the plan
has the estimator's variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import expit, ndtri

from cape._estimate import Estimate
from cape._group_model import GroupModel
from cape._labelled._draw import Strata, stratify
from cape._labelled._sample import (
    LabelledSample,
    estimate_with_labels,
    log_odds,
    predictions,
)
from cape._limits import FEWEST_LABELS, USEFUL_WIDTH


@dataclass(frozen=True)
class LabelNeed:
    """Labels that a group needs for an interval of a given width.

    Parameters
    ----------
    labels : int
        If rows are drawn by strata and the estimate uses predictions.
    plain : int
        If rows are drawn plainly and their share of positives is the estimate.
    prevalence : float
        The prevalence that this was planned for.
    """

    labels: int
    plain: int
    prevalence: float

    @property
    def saving(self) -> float:
        """Share of the labels that predictions and strata save."""
        return 1 - self.labels / self.plain


def labels_for_width(
    model: GroupModel,
    batch: np.ndarray,
    label_free: Estimate,
    level: float,
    mean_score: float,
    width: float,
) -> LabelNeed:
    """Compute how many rows of a group to label for an interval of a given width.

    Parameters
    ----------
    model : GroupModel
    batch : ndarray of shape (n_cells,)
        Rows of the batch in each cell of the score.
    label_free : Estimate
        What was estimated without labels. The plan is made for the prevalence in its
        interval that is nearest 1/2, where most labels are needed.
    level : float
        Of the interval.
    mean_score : float
    width : float
        Of the interval.

    Returns
    -------
    LabelNeed
    """
    prevalence = float(np.clip(0.5, label_free.low, label_free.high))
    truth = _shares_with_mean(model, batch, prevalence)
    prediction = predictions(model, label_free.value)
    nothing = np.zeros(len(batch))

    def width_by_strata(n: int) -> float:
        strata = stratify(model, batch, n, label_free.value, mean_score)
        sample = _expected_sample(batch, truth, strata)
        return _width(sample, prediction, level)

    def width_by_labels_alone(n: int) -> float:
        plain = Strata(np.array([0]), np.array([batch.sum()]), np.array([n]))
        sample = _expected_sample(batch, truth, plain)
        return _width(sample, nothing, level)

    n_rows = round(float(batch.sum()))
    return LabelNeed(
        _fewest(width_by_strata, width, n_rows),
        _fewest(width_by_labels_alone, width, n_rows),
        prevalence,
    )


def _shares_with_mean(
    model: GroupModel, batch: np.ndarray, prevalence: float
) -> np.ndarray:
    """Return shares of positives in cells whose mean over the batch is given.

    They are the shares of training, moved by the same number of logits in every cell.
    """
    odds = log_odds(model)
    low = -60.0
    high = 60.0
    for _ in range(60):
        middle = (low + high) / 2
        if batch @ expit(odds + middle) / batch.sum() < prevalence:
            low = middle
        else:
            high = middle
    return expit(odds + high)


def _expected_sample(
    batch: np.ndarray, truth: np.ndarray, strata: Strata
) -> LabelledSample:
    """Return the labelled rows to expect, in fractions of rows."""
    of_cells = strata.of_cells(np.arange(len(batch)))
    is_in_stratum = of_cells == np.arange(len(strata.rows))[:, None]
    expected = np.array([1 - truth, truth]) * batch
    probabilities = strata.probabilities
    drawn = is_in_stratum[:, None, :] * expected * probabilities[:, None, None]
    return LabelledSample(batch, drawn, 1 / probabilities)


def _width(sample: LabelledSample, prediction: np.ndarray, level: float) -> float:
    low, high = estimate_with_labels(sample, prediction).interval(level)
    return high - low


def _fewest(width_of: Callable[[int], float], width: float, n_rows: int) -> int:
    """Find the fewest labels with an interval that is narrow enough."""
    if n_rows <= FEWEST_LABELS:
        return n_rows
    if width_of(FEWEST_LABELS) <= width:
        return FEWEST_LABELS
    # Labels of all rows leave an interval of width 0.
    return fewest_within(width_of, width, FEWEST_LABELS, n_rows)


def enough_labels(rows: int) -> int:
    """Return how many labels of a group give an interval of `USEFUL_WIDTH`.

    This is for labels that are drawn plainly and for a prevalence of 1/2, where most
    are needed, so that it needs no model.

    Parameters
    ----------
    rows : int
        Rows of the group; of few rows, fewer labels do.

    Examples
    --------
    >>> enough_labels(1_000_000), enough_labels(40), enough_labels(5)
    (43, 21, 5)
    """
    of_many = 4 * ndtri(0.975) ** 2 * 0.25 / USEFUL_WIDTH**2
    return min(rows, max(ceil(of_many * rows / (of_many + rows)), FEWEST_LABELS))


def fewest_within(
    width_of: Callable[[int], float], width: float, too_few: int, enough: int
) -> int:
    """Find by bisection the smallest number with an interval that is narrow enough.

    Parameters
    ----------
    width_of : callable
        Width of the interval of so many rows or labels; it falls as they are added.
    width : float
    too_few, enough : int
        Numbers whose intervals are known to be too wide, and narrow enough.

    Returns
    -------
    int
    """
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if width_of(middle) <= width:
            enough = middle
        else:
            too_few = middle
    return enough
