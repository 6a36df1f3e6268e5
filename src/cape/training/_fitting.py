"""Training a learner: seeds, weights, the rows of one group, and a resample of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn import get_config
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from cape.base._validation import has_fit_parameter
from cape.evidence._histogram import ScoreHistogram
from cape.quantify._base import Moments
from cape.training._sampling import draw_rows
from cape.training._scoring import Rows, as_array, vote_on_rows

STEADY_LEARNERS = (LogisticRegression, LinearDiscriminantAnalysis)
"""Learners whose optimum is unique: a few more rows hardly move them. Stochastic
gradient descent has coefficients, too, but is not one of them."""

ROWS_PER_COEFFICIENT = 100
"""Rows a coefficient from which on a refitted linear model scores new rows as its fold
models score theirs. With 20, 50, 100 and 200 rows for each of 20 coefficients the 95 %
intervals of a refit hold in .925, .910, .950 and .950 of 200 draws, and the test of the
assumption rejects .115, .055, .065 and .050 at 5 %."""

_LEAST_SIGNAL = 10.0
"""Variance of scores for each coefficient, in units of what noise gives them. In half
of the draws from the period of training itself, of public series, the test of scores
rejects 5 of 16 groups below at .005, and 2 of 50 above."""

_MOST_DISTINCT = 1000
"""A histogram tells no more scores apart. Where fewer than half of the scores of a
group are distinct, the same test rejects 9 of 9 groups."""


def weight_keyword(estimator: Any) -> str:
    """Return the keyword under which the learner's ``fit`` takes weights.

    A pipeline hands weights to its last step, under the name of that step.

    Examples
    --------
    >>> weight_keyword(LogisticRegression())
    'sample_weight'
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    routes_metadata = get_config()["enable_metadata_routing"]
    parameters = signature(estimator.fit).parameters.values()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if routes_metadata and takes_any:
        return "sample_weight"
    if isinstance(estimator, Pipeline):
        name, last_step = estimator.steps[-1]
        if has_fit_parameter(last_step, "sample_weight"):
            return f"{name}__sample_weight"
    raise ValueError(
        "sample_weight must be None for a learner whose fit takes no weights, "
        f"got weights for {estimator!r}."
    )


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Clone an estimator and set every ``random_state`` that is None from ``seed``.

    Examples
    --------
    >>> seeded_clone(LogisticRegression(random_state=3), seed=0).random_state
    3
    """
    # safe=False: a learner need not be a scikit-learn estimator to be fitted.
    model = clone(estimator, safe=False)
    if not hasattr(model, "get_params"):
        return model
    random = np.random.RandomState(seed)
    seeds = {}
    for name, value in sorted(model.get_params().items(), key=lambda item: item[0]):
        if name.split("__")[-1] == "random_state" and value is None:
            seeds[name] = random.randint(np.iinfo(np.int32).max)
    return model.set_params(**seeds)


def fit_learner(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    seed: int = 0,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Any:
    """Fit a clone of the learner.

    Parameters
    ----------
    estimator : estimator with ``fit``
    X : table of n_rows rows, or Rows
    y : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,), default=None
    seed : int, default=0
        For every ``random_state`` that the user left at None.
    start : tuple of coefficients and intercept, default=None
        Where to begin; for logistic regressions only.

    Returns
    -------
    The fitted clone.
    """
    rows = Rows.of(X)
    model = seeded_clone(estimator, seed)
    fit_params = {}
    if weights is not None:
        fit_params[weight_keyword(model)] = weights
    if start is None:
        return _fit_filled(model, rows.table(), y, fit_params)
    # A warm start changes where the optimiser begins, not where it ends: the loss is
    # convex. The user's own setting is restored afterwards.
    warm_start = model.warm_start
    model.coef_, model.intercept_ = start
    model.warm_start = True
    model.fit(rows.table(), y, **fit_params)
    model.warm_start = warm_start
    return model


_FEWEST_VALUES = 10
"""A column with fewer values can be empty in what a learner trains on."""


def _fit_filled(
    model: Any, table: Any, y: np.ndarray, fit_params: dict[str, Any]
) -> Any:
    """Fit a learner, without the columns that hold no values if it cannot take them.

    Histogram boosting fails on them. Where all values are 0, no tree splits on them,
    and whatever a batch holds there changes nothing.
    """
    try:
        return model.fit(table, y, **fit_params)
    except ValueError:
        # A frame is asked, since its columns of objects may hold None alone.
        array = as_array(table)
        if hasattr(table, "notna"):
            has_value = table.notna().to_numpy()
        elif array is not None:
            has_value = ~np.isnan(array)
        else:
            raise
        is_empty = has_value.sum(axis=0) < _FEWEST_VALUES
        if not is_empty.any():
            raise
        filled = table.copy()
        cells = filled.iloc if hasattr(filled, "iloc") else filled
        cells[:, np.flatnonzero(is_empty)] = 0.0
        return model.fit(filled, y, **fit_params)


def takes_repetitions(estimator: Any) -> bool:
    """Tell whether a row of weight 3 teaches the learner what three equal rows do.

    A sample with replacement holds about .6 of the rows, some of them several times, so
    that weights save time. Learners that count rows, draw them or stop early do not
    qualify.

    Examples
    --------
    >>> takes_repetitions(LogisticRegression())
    True
    >>> takes_repetitions(LogisticRegression(solver="saga"))
    False
    """
    return (
        type(estimator) is LogisticRegression
        and estimator.solver in ("lbfgs", "newton-cg", "newton-cholesky")
        and estimator.class_weight is None
    )


def follows_its_folds(
    model: Any, n_rows: int, scores: ScoreHistogram, n_scores: int
) -> bool:
    """Tell whether a refitted model scores new rows as its fold models score theirs.

    This is so for a linear model whose optimum is unique and that has few coefficients
    for its rows. The scores of a flexible learner that was refitted on all rows are
    further apart than those of its fold models on the rows held out. So are those of a
    linear one that vary hardly more than the noise of its coefficients makes them; and
    few distinct scores lie a little apart in each fold, on both sides of an edge.

    Parameters
    ----------
    model : fitted learner
    n_rows : int
        Rows that it was trained on.
    scores : ScoreHistogram
        Out-of-fold scores of a group.
    n_scores : int
        Rows of the group.

    Returns
    -------
    bool
    """
    last_step = model
    if isinstance(model, Pipeline):
        last_step = model.steps[-1][1]
    if not isinstance(last_step, STEADY_LEARNERS):
        return False
    n_coefficients = np.size(last_step.coef_)
    moments = Moments.of(scores.centres, scores)
    signal = n_rows * moments.variance / (moments.mean * (1 - moments.mean))
    distinct = np.count_nonzero(scores.counts)
    return bool(
        n_rows >= ROWS_PER_COEFFICIENT * n_coefficients
        and signal >= _LEAST_SIGNAL * n_coefficients
        and distinct >= min(n_scores, _MOST_DISTINCT) / 2
    )


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
    >>> from cape.training._fitting import fit_member
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
            # Under prior shift the odds of every row change by the factor
            # theta (1 - pi) / ((1 - theta) pi), so only the intercept moves.
            moved = logit(theta) - logit(float(is_positive.mean()))
            start = near.coef_.copy(), near.intercept_ + moved
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
    return model, count_calls(called, is_positive[unseen], worth)


def count_calls(
    called: np.ndarray, is_positive: np.ndarray, worth: np.ndarray
) -> list[float]:
    """Count true positives, positives, false positives and negatives."""
    counts = []
    for of_class in (is_positive, ~is_positive):
        counts.append(float(worth[called & of_class].sum()))
        counts.append(float(worth[of_class].sum()))
    return counts
