"""The paper's pool: one classifier for each prevalence, trained on a resample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._learners import (
    Rows,
    WarmStart,
    fit_learner,
    takes_repetitions,
    vote_on_rows,
)
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ONE
from cape.pool._base import Pool
from cape.pool._rates import MemberRates
from cape.sampling import draw_rows

__all__ = ["ResampledPool", "TrainedMember", "fit_member"]


@dataclass(frozen=True)
class TrainedMember:
    """One trained member, and how it did on the rows it was not trained on.

    Parameters
    ----------
    model : fitted learner
    true_positives, positives, false_positives, negatives : float
        See `MemberRates`.
    """

    model: Any
    true_positives: float
    positives: float
    false_positives: float
    negatives: float


def fit_member(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    positive: Any,
    theta: float,
    *,
    weights: np.ndarray | None = None,
    seed: int = 0,
    near: Any = None,
) -> TrainedMember:
    """Train the member for one prevalence.

    This is h_theta = C-ALG(PP-SAMPLING(D, theta)), step 3 of the training phase of
    Algorithm 1. Rows that the sample left out measure the rates of the member.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
    X : table of n_rows rows, or Rows
    y : ndarray of shape (n_rows,)
        Labels of the group's rows.
    positive : label
        The positive label.
    theta : float in (0, 1)
        Prevalence of the sample to train on.
    weights : ndarray of shape (n_rows,), default=None
        Draw probabilities within a class, up to a factor.
    seed : int, default=0
    near : fitted learner, default=None
        The same learner trained on the rows as they are. Training starts from it where
        that saves time and changes no answer.

    Returns
    -------
    TrainedMember

    Examples
    --------
    >>> from cape.pool import fit_member
    >>> member = fit_member(LogisticRegression(), train.data, train.target, 1, 0.2)
    >>> member.true_positives < member.positives
    True
    """
    rows = Rows.of(X)
    is_positive = y == positive
    random = np.random.RandomState(seed)
    sample = draw_rows(is_positive, theta, weights, random)
    times_drawn = np.bincount(sample, minlength=len(y))
    # A row drawn three times is three rows, or one row of weight 3 where that teaches
    # the same: a sample then has .6 of the rows.
    if takes_repetitions(estimator):
        drawn = np.flatnonzero(times_drawn)
        start = None
        if near is not None:
            start = WarmStart.near(near, float(is_positive.mean()), theta)
        model = fit_learner(
            estimator,
            rows.take(drawn),
            y[drawn],
            weights=times_drawn[drawn].astype(float),
            seed=seed,
            start=start,
        )
    else:
        model = fit_learner(estimator, rows.take(sample), y[sample], seed=seed)
    # Out of the bag: about .37 of the rows were never drawn, and measure the member.
    unseen = np.flatnonzero(times_drawn == 0)
    called = vote_on_rows(model, rows.take(unseen), positive)
    if weights is None:
        unseen_weights = np.ones(len(unseen))
    else:
        unseen_weights = weights[unseen] * (len(y) / weights.sum())
    return _measure_member(model, called, is_positive[unseen], unseen_weights)


def _measure_member(
    model: Any, called: np.ndarray, is_positive: np.ndarray, weights: np.ndarray
) -> TrainedMember:
    """Count what a member calls the rows it has not seen."""
    return TrainedMember(
        model=model,
        true_positives=float(weights[called & is_positive].sum()),
        positives=float(weights[is_positive].sum()),
        false_positives=float(weights[called & ~is_positive].sum()),
        negatives=float(weights[~is_positive].sum()),
    )


@dataclass(frozen=True)
class ResampledPool(Pool):
    """One fitted classifier for each theta of the grid.

    Parameters
    ----------
    thetas : ndarray of shape (n_members,)
    models : list of fitted learners
        One for each member.
    rates : MemberRates
        Out-of-bag: from the rows that a member's sample left out.

    Examples
    --------
    >>> from cape.pool import ResampledPool, fit_member
    >>> thetas = np.array([0.2, 0.8])
    >>> members = [
    ...     fit_member(LogisticRegression(), train.data, train.target, 1, theta)
    ...     for theta in thetas
    ... ]
    >>> pool = ResampledPool.of(thetas, members)
    >>> bool(pool.rates.tpr[0] < pool.rates.tpr[1])
    True
    """

    thetas: np.ndarray
    models: list[Any]
    rates: MemberRates

    @classmethod
    def of(cls, thetas: np.ndarray, members: list[TrainedMember]) -> ResampledPool:
        """Put together what `fit_member` returned for each theta.

        Parameters
        ----------
        thetas : ndarray of shape (n_members,)
        members : list of TrainedMember

        Returns
        -------
        ResampledPool
        """
        rates = MemberRates(
            true_positives=np.array([m.true_positives for m in members]),
            positives=np.array([m.positives for m in members]),
            false_positives=np.array([m.false_positives for m in members]),
            negatives=np.array([m.negatives for m in members]),
        )
        return cls(thetas, [member.model for member in members], rates)

    def deciding_row(self, member: int) -> int:
        """Return the member's own position: every member has a model of its own."""
        return member

    def models_of(self, member: int) -> list[Any]:
        """Return the model of the member."""
        return [self.models[member]]

    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which scores are above 1/2, strictly.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            By the member's model.
        member : int

        Returns
        -------
        ndarray of bool of shape (n_rows,)
        """
        return scores > HALF

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Return the member's own probability of a positive.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            By the member's model.
        member : int

        Returns
        -------
        ndarray of float of shape (n_rows,)
        """
        return scores / ONE

    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Count the rows that each member calls positive.

        Parameters
        ----------
        deciding : ndarray of shape (n_members, n_rows)
            Scores, or whether they are above 1/2.
        edges : ndarray of int64
            Not used.

        Returns
        -------
        ndarray of int64 of shape (n_members,)
        """
        votes = deciding
        if deciding.dtype != bool:
            votes = deciding > HALF
        counts = [np.count_nonzero(votes_of_member) for votes_of_member in votes]
        return np.array(counts, dtype=np.int64)

    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Return how many rows of the evidence each member calls positive.

        Parameters
        ----------
        evidence : GroupEvidence

        Returns
        -------
        ndarray of shape (n_members,)
        """
        return evidence.tally
