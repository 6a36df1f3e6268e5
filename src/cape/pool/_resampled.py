"""The paper's pool: one classifier for each prevalence of the grid, each trained on a resample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._learners._scoring import (
    GroupRows,
    Scorer,
    Start,
    as_probability,
    read_rows,
    score_rows,
    takes_repetitions,
)
from cape.evidence import GroupEvidence
from cape.histogram import HALF
from cape.pool._rates import MemberRates
from cape.sampling import draw_rows

__all__ = ["ResampledPool", "fit_member"]


def fit_member(estimator, X, y, positive, theta, *, weights=None, seed=0, near=None):
    """Train one member: h_theta = C-ALG(PP-SAMPLING(D, theta)), step 3 of Algorithm 1.

    Parameters
    ----------
    X : table or GroupRows
    y, weights : ndarray
        Labels and weights of the group's rows.
    near : fitted learner, optional
        Trained on the rows as they are; training starts from it if the learner can.

    Returns
    -------
    model : the fitted learner
    called : tuple of float
        Of the rows it has not seen: positives called positive, positives, negatives called positive, negatives.
    """
    group, is_positive = GroupRows.of(X), y == positive
    sample = draw_rows(is_positive, theta, weights, np.random.RandomState(seed))
    times = np.bincount(sample, minlength=len(y))
    if group.take_repetitions(estimator):
        drawn = np.flatnonzero(times)
        can_start = near is not None and takes_repetitions(estimator)
        start = (
            Start.near(near, float(is_positive.mean()), theta) if can_start else None
        )
        repetitions = times[drawn].astype(float)
        model = group.fit(
            estimator,
            y[drawn],
            drawn,
            weights=repetitions,
            seed=seed,
            start=start,
            n_rows=len(sample),
        )
    else:
        model = group.fit(estimator, y[sample], sample, seed=seed)
    unseen = np.flatnonzero(times == 0)
    called = read_rows(group.to_read(unseen), positive, voting=[model])[1][0]
    weight = (
        np.ones(len(unseen))
        if weights is None
        else weights[unseen] * (len(y) / weights.sum())
    )
    counts = [
        float(weight[chosen].sum())
        for of_class in (is_positive[unseen], ~is_positive[unseen])
        for chosen in (called & of_class, of_class)
    ]
    return model, tuple(counts)


@dataclass(frozen=True)
class ResampledPool:
    """One fitted classifier for each theta of the grid.

    Parameters
    ----------
    thetas : ndarray of shape (n_members,)
    members : list of fitted learners
    rates : MemberRates
        Out-of-bag.
    positive : the positive label
    """

    thetas: np.ndarray
    members: list[Any]
    rates: MemberRates
    positive: Any

    @classmethod
    def of(
        cls,
        thetas: np.ndarray,
        fitted: list[tuple[Any, tuple[float, ...]]],
        positive: Any,
    ) -> ResampledPool:
        """From what `fit_member` gave for each theta."""
        counts = np.array([called for _, called in fitted]).T
        return cls(
            thetas, [model for model, _ in fitted], MemberRates(*counts), positive
        )

    @property
    def models(self) -> list[Any]:
        """The fitted learners behind the members."""
        return self.members

    def read(self, X: Any, scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
        """Scores by the scorer, and each member's decision on each row, of shape (n_members, n_rows): a byte each."""
        return read_rows(X, self.positive, scoring=scorer.models, voting=self.members)

    def score_all(self, X: Any, scorer: Scorer) -> tuple[np.ndarray, np.ndarray]:
        """Scores by the scorer, and by each of ``models``."""
        scores = read_rows(X, self.positive, scoring=[*scorer.models, *self.members])[0]
        return scores[: -len(self.members)], scores[-len(self.members) :]

    def read_of(self, scores: np.ndarray) -> np.ndarray:
        """What `read` gives, from the scores by each of ``models``."""
        return scores > HALF

    def model_of(self, member: int) -> int:
        """Which of ``models`` a member decides by."""
        return member

    def scores_of(self, X: Any, member: int) -> np.ndarray:
        """Rounded scores of one member."""
        return score_rows(self.members[member], X, self.positive)

    def nothing(self) -> np.ndarray:
        """What `read` gives of no rows."""
        return np.empty((len(self.members), 0), dtype=bool)

    def tally(self, read: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """How many rows each member calls positive."""
        return np.array([np.count_nonzero(votes) for votes in read], dtype=np.int64)

    def predicted_prevalences(self, evidence: GroupEvidence) -> np.ndarray:
        """Share of rows that each member calls positive: rho-hat of Algorithm 1."""
        return evidence.tally / evidence.scores.size

    def decide_each(self, read: np.ndarray) -> np.ndarray:
        """Each member's decision on each row, of shape (n_rows, n_members)."""
        return read.T

    def decide_by(self, read: np.ndarray, member: int) -> np.ndarray:
        """One member's decision on each row."""
        return read[member]

    def decide(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Whether a member calls rows positive: its score is above 1/2, strictly."""
        return scores > HALF

    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """The member's own probability of a positive."""
        return as_probability(scores)
