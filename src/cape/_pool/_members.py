"""Training a member of the paper's pool on a resample."""

from __future__ import annotations

from typing import Any

import numpy as np

from cape._learners._fitting import WarmStart, fit_learner, takes_repetitions
from cape._learners._scoring import Rows, vote_on_rows
from cape.sampling import draw_rows


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
) -> tuple[Any, list[float]]:
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
    model : fitted learner
    counts : list of true positives, positives, false positives and negatives
        Among the rows that the sample left out; see `MemberRates`.

    Examples
    --------
    >>> from cape._pool import fit_member
    >>> _, counts = fit_member(LogisticRegression(), train.data, train.target, 1, 0.2)
    >>> counts[0] < counts[1]
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
    worth = np.ones(len(unseen))
    if weights is not None:
        worth = weights[unseen] * (len(y) / weights.sum())
    counts = []
    for of_class in (is_positive[unseen], ~is_positive[unseen]):
        counts.append(float(worth[called & of_class].sum()))
        counts.append(float(worth[of_class].sum()))
    return model, counts
