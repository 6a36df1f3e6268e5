"""Invented batches whose every label is known, and draws of some of their labels.

A score is trained on two normal classes at prevalence 0.3. Batches then move away from
training in four ways; the score is never trained again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from cape.evidence._histogram import ONE, ScoreHistogram, round_scores
from cape.labels._sample import LabelledSample
from cape.training._group_model import GroupModel

SHIFTS = ("prior shift", "covariate shift", "concept drift", "label noise")

TRAINING_PREVALENCE = 0.3
_QUADRATURE, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class Score:
    """A score that was trained once.

    Parameters
    ----------
    gap : float
        Distance of the two classes in training, in standard deviations.
    model : object
        Its out-of-fold histograms, as a `GroupModel` has them.
    """

    gap: float
    model: Any

    @classmethod
    def trained(cls, random, auc, rows=2000):
        """Train a score with this AUC."""
        gap = sqrt(2) * float(ndtri(auc))
        positive = random.random(rows) < TRAINING_PREVALENCE
        x = random.normal(size=rows) + gap * positive
        rounded = round_scores(_probability(x, gap))
        cuts = np.quantile(rounded, np.linspace(0, 1, 101)[1:-1])
        edges = np.unique(cuts.astype(np.int64))
        model = GroupModel(
            size=rows,
            positive=1,
            scoring_models=[],
            quantifier=None,
            pool=None,
            positives=ScoreHistogram.of(rounded[positive], edges),
            negatives=ScoreHistogram.of(rounded[~positive], edges),
            prevalence=float(positive.mean()),
            columns=None,
        )
        return cls(gap, model)

    @property
    def edges(self):
        """Edges of the cells of the score."""
        return self.model.positives.edges

    def batch(self, random, shift, prevalence, rows):
        """Draw a batch that has moved away from training.

        Parameters
        ----------
        random : Generator
        shift : one of SHIFTS
        prevalence : float
            Expected share of positives.
        rows : int

        Returns
        -------
        LabelledBatch
        """
        noise = random.normal(size=rows)
        if shift == "covariate shift":
            # Where x lies has moved; P(y | x) has not.
            x = 0.6 * noise + _place(self.gap, prevalence)
            positive = random.random(rows) < _probability(x, self.gap)
            return LabelledBatch(self, x, positive)
        positive = random.random(rows) < prevalence
        if shift == "prior shift":
            x = noise + self.gap * positive
        elif shift == "concept drift":
            # The score says the opposite of what it said in training.
            x = noise - self.gap * positive
        else:
            # Four in ten labels have nothing to do with x.
            is_noise = random.random(rows) < 0.4
            at_random = random.random(rows) < prevalence
            x = noise + self.gap * np.where(is_noise, at_random, positive)
        return LabelledBatch(self, x, positive)


def _probability(x, gap):
    """Return P(y = 1 | x) in training."""
    odds = log(TRAINING_PREVALENCE / (1 - TRAINING_PREVALENCE))
    return expit(gap * x - gap**2 / 2 + odds)


def _place(gap, prevalence):
    """Find the mean of x at which the training P(y | x) gives a prevalence."""

    def miss(place):
        shares = _probability(place + 0.6 * _QUADRATURE, gap)
        return float(_WEIGHTS @ shares / _WEIGHTS.sum()) - prevalence

    return brentq(miss, -60, 60, xtol=1e-6)


@dataclass(frozen=True)
class LabelledBatch:
    """A batch with all its labels.

    Parameters
    ----------
    score : Score
    x : ndarray of shape (n_rows,)
    positive : ndarray of bool of shape (n_rows,)
    """

    score: Score
    x: np.ndarray
    positive: np.ndarray

    @property
    def prevalence(self):
        """Share of positives: the truth."""
        return float(self.positive.mean())

    @cached_property
    def scores(self):
        """Rounded scores."""
        return round_scores(_probability(self.x, self.score.gap))

    @cached_property
    def cells(self):
        """Cell of the score of each row."""
        return np.searchsorted(self.score.edges, self.scores)

    @cached_property
    def in_cells(self):
        """Rows in each cell."""
        return np.bincount(self.cells, minlength=len(self.score.edges) + 1)

    @property
    def mean_score(self):
        """Mean score, as a share."""
        return float(self.scores.mean() / ONE)

    def label_free(self, random, shift):
        """Return an estimate without labels.

        Under prior shift it is the truth with an error of 0.02, else the mean score,
        which is right under covariate shift alone.
        """
        estimate = self.mean_score
        if shift == "prior shift":
            estimate = self.prevalence + 0.02 * random.normal()
        return float(np.clip(estimate, 0.0, 1.0))

    def sample(self, rows, weights):
        """Return labelled rows as `cape.labels.labelled_sample` does."""
        return count_labelled(self.in_cells, self.cells, self.positive, rows, weights)


def count_labelled(in_cells, cells, positive, rows, weights):
    """Count labelled rows by weight, class and cell of their score.

    Parameters
    ----------
    in_cells : ndarray of int of shape (n_cells,)
        Rows of the batch in each cell.
    cells, positive : ndarray of shape (n_rows,)
        Cell and label of every row of the batch.
    rows, weights : ndarray of shape (n_labelled,)
        Positions of the labelled rows, and how many rows each stands for.

    Returns
    -------
    LabelledSample
    """
    weight, stratum = np.unique(weights, return_inverse=True)
    strata = np.zeros((len(weight), 2, len(in_cells)))
    np.add.at(strata, (stratum, positive[rows].astype(int), cells[rows]), 1)
    return LabelledSample(in_cells.astype(float), strata, weight)


def draw_plainly(random, batch, n):
    """Draw rows with equal probabilities; return them and their weights."""
    return draw_rows(random, len(batch.positive), n)


def draw_rows(random, n_rows, n):
    """Draw n of so many rows; return them and their weights."""
    rows = random.choice(n_rows, size=n, replace=False)
    return rows, np.full(n, n_rows / n)


def draw_from_strata(random, batch, starts, drawn):
    """Draw so many rows of each stratum of the score; return them and their weights.

    Parameters
    ----------
    random : Generator
    batch : LabelledBatch
    starts : ndarray of int of shape (n_strata,)
        First cell of each stratum.
    drawn : ndarray of int of shape (n_strata,)
    """
    strata = np.searchsorted(starts, batch.cells, side="right") - 1
    rows = []
    weights = []
    for stratum, n in enumerate(drawn):
        members = np.flatnonzero(strata == stratum)
        n = min(int(n), len(members))
        if n:
            rows.append(random.choice(members, size=n, replace=False))
            weights.append(np.full(n, len(members) / n))
    return np.concatenate(rows), np.concatenate(weights)
