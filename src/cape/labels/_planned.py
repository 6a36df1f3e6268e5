"""How many labels will do, by simulation from the posterior of a share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cape.base._limits import FEWEST_LABELS
from cape.drift._posterior import (
    SLOPE_PRIOR,
    SLOPES,
    GroupPosterior,
    chance_of_bias,
)
from cape.labels._factor import LabelFactor, merged_cells
from cape.labels._sample import LabelledSample

_GROWTH = 1.3
"""Labels at one look, relative to those at the look before."""

_MOST = 0.9


class LabelsNeeded(NamedTuple):
    """How many labels of a group will do, those included that it has.

    Parameters
    ----------
    labels : int
        Expected number.
    at_most : int
        Nine in ten numbers are no greater.
    """

    labels: int
    at_most: int


def labels_until(
    enough: Callable[[GroupPosterior], bool],
    known: GroupPosterior,
    log_odds: np.ndarray,
    batch: np.ndarray,
    labelled: np.ndarray | None = None,
    *,
    simulations: int = 16,
) -> LabelsNeeded:
    """Simulate the labelling of a group, until its posterior says enough.

    A share is drawn from the posterior, and with it the label of every row. Rows are
    then labelled in random order, and at every look the posterior is what it would be
    with these labels.

    Parameters
    ----------
    enough : callable
        Tells whether a posterior says enough.
    known : GroupPosterior
        What is known without labels, or with those that there are.
    log_odds : ndarray of shape (n_cells,)
        As `LabelFactor.of` takes them.
    batch : ndarray of shape (n_cells,)
        Rows of the group in each cell of the score.
    labelled : ndarray of shape (n_cells,), default=None
        Those that have a label.
    simulations : int, default=16

    Returns
    -------
    LabelsNeeded
    """
    if enough(known):
        return LabelsNeeded(0, 0)
    if labelled is None:
        labelled = np.zeros_like(batch)
    values, place = merged_cells(log_odds)
    n_values = len(values)
    rows = np.rint(np.bincount(place, batch, n_values)).astype(np.int64)
    left = rows - np.rint(np.bincount(place, labelled, n_values)).astype(np.int64)
    left = np.maximum(left, 0)
    before = int(rows.sum() - left.sum())
    looks = _looks(before, int(rows.sum()))
    random = np.random.default_rng(0)
    levels = (np.arange(simulations) + 0.5) / simulations
    # Evenly spaced levels in random order vary less than random ones.
    shares = known.quantiles(random.permutation(levels).tolist())
    slopes = random.choice(SLOPES, simulations, p=SLOPE_PRIOR)
    between = []
    numbers = []
    for share, slope in zip(shares, slopes, strict=True):
        chances = _chances(slope * values, rows, share)
        counts = _label(rows, left, chances, looks, random)
        too_few = look = looks[0]
        for look, in_cells in zip(looks, counts, strict=True):
            # Labels that were there before are part of what is known.
            weight = np.array([(rows.sum() - before) / (look - before)])
            sample = LabelledSample(rows, in_cells[None], weight)
            # Labels of all rows are enough.
            if look == looks[-1] or enough(
                _with_labels(known, LabelFactor.of(values, sample))
            ):
                break
            too_few = look
        # Somebody may look more often.
        between.append((too_few + look) / 2)
        numbers.append(look)
    at_most = round(float(np.quantile(numbers, _MOST)))
    return LabelsNeeded(round(float(np.mean(between))), at_most)


def _looks(before: int, n_rows: int) -> list[int]:
    """Return the numbers of labels at which somebody looks."""
    looks = []
    number = float(max(FEWEST_LABELS, before + 5))
    while number < n_rows:
        looks.append(round(number))
        number = before + max((number - before) * _GROWTH, number - before + 5)
    return [*looks, n_rows]


def _chances(log_odds: np.ndarray, rows: np.ndarray, share: float) -> np.ndarray:
    """Return the chance of a positive in each cell; their mean is the share."""
    low, high = -40.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        if rows @ expit(log_odds + middle) < share * rows.sum():
            low = middle
        else:
            high = middle
    return expit(log_odds + high)


def _label(
    rows: np.ndarray,
    left: np.ndarray,
    chances: np.ndarray,
    looks: list[int],
    random: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Label rows in random order; yield negatives and positives at every look."""
    counts = np.zeros((2, len(rows)))
    labelled = int(rows.sum() - left.sum())
    for look in looks:
        drawn = random.multivariate_hypergeometric(left, look - labelled)
        positives = random.binomial(drawn, chances)
        left = left - drawn
        labelled = look
        counts = counts + np.array([drawn - positives, positives])
        yield counts


def _with_labels(known: GroupPosterior, factor: LabelFactor) -> GroupPosterior:
    """Return the posterior of a group with labels, as if it were the only group."""
    shares = np.unique(np.concatenate([known.shares, factor.points]))
    chance = 0.0 if known.heard is not None else chance_of_bias(factor.rows)
    density = known.density(shares, chance) * (SLOPE_PRIOR @ factor.likelihood(shares))
    weights = density * np.gradient(shares)
    return replace(known, shares=shares, weights=weights / weights.sum(), heard=None)
