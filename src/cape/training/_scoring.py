"""Reading the scores of fitted learners, rounded once and for all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from cape.base._validation import number_of_rows, take_rows
from cape.evidence._histogram import HALF, ONE, round_scores
from cape.training._choice import note_on_value


class Rows:
    """Rows of a table, copied out only if a learner needs a copy.

    Parameters
    ----------
    X : table
    index : ndarray of int, slice or None, default=None
        Which rows, in ascending order; None means all. A slice has a start and a stop.
    array : ndarray or None, optional
        What `as_array` returns for ``X``, if the caller knows it already (``...`` if
        not).
    together : tuple or None, default=None
        What reads these rows together with those of other groups, and which of all of
        them they are; see `cape.training._shared.read_together`.

    Examples
    --------
    >>> rows = Rows(np.arange(6.0).reshape(3, 2), np.array([0, 2]))
    >>> len(rows), rows.table().tolist()
    (2, [[0.0, 1.0], [4.0, 5.0]])
    """

    def __init__(
        self,
        X: Any,
        index: np.ndarray | slice | None = None,
        *,
        array: Any = ...,
        together: tuple[Any, slice] | None = None,
    ):
        self.X = X
        self.index = index
        self.together = together
        self._array = array

    def with_others(self, together: Any, place: slice) -> Rows:
        """Return these rows, to be read together with those of other groups."""
        together = together, place
        return Rows(self.X, self.index, array=self._array, together=together)

    @property
    def array(self) -> np.ndarray | None:
        """The table as numbers; see `as_array`."""
        if self._array is ...:
            self._array = as_array(self.X)
        return self._array

    @classmethod
    def of(cls, X: Any) -> Rows:
        """Wrap all rows of a table; leave `Rows` as they are."""
        if isinstance(X, cls):
            return X
        return cls(X)

    def __len__(self) -> int:
        if self.index is None:
            return number_of_rows(self.X)
        if isinstance(self.index, slice):
            return self.index.stop - self.index.start
        return len(self.index)

    def take(self, positions: np.ndarray) -> Rows:
        """Return some of these rows, by their positions among them."""
        index = positions
        if isinstance(self.index, slice):
            index = positions + self.index.start
        elif self.index is not None:
            index = self.index[positions]
        return Rows(self.X, index, array=self._array)

    def table(self) -> Any:
        """Return the rows as a table of the kind they came in."""
        return take_rows(self.X, self.index)

    def plainest(self) -> Any:
        """Return the rows as numbers if all columns are, and else as they came."""
        if self.array is None:
            return self.table()
        return self.numbers_between(0, len(self))

    def numbers_between(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers of consecutive rows; a copy only if they are scattered.

        Only for rows that have an ``array``.
        """
        array: np.ndarray = self.array  # type: ignore[assignment]
        if self.index is None:
            return array[start:stop]
        if isinstance(self.index, slice):
            first = self.index.start
            return array[first + start : first + stop]
        wanted = self.index[start:stop]
        if array.flags.f_contiguous:
            # Tables of pandas lie column by column, and so are picked by column.
            return array.T.take(wanted, axis=1).T
        # Twice as fast as array[wanted].
        return array.take(wanted, axis=0)


def as_array(X: Any) -> np.ndarray | None:
    """Return the numbers of a table as a linear learner reads them.

    An array is returned as it is, and so is a data frame of one type.

    Parameters
    ----------
    X : table

    Returns
    -------
    ndarray of float32 or float64 of shape (n_rows, n_features), or None
        None for sparse tables and for tables that hold anything but numbers.

    Examples
    --------
    >>> as_array(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})) is None
    True
    """
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        if not all(_is_number(dtype) for dtype in np.ravel(X.dtypes)):
            return None
        X = X.to_numpy()
    is_matrix = type(X) is np.ndarray and X.ndim == 2
    if is_matrix and X.dtype in (np.float32, np.float64):
        return X
    return None


def _is_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fi"


def score_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Score rows with one model.

    Parameters
    ----------
    model : fitted learner
    X : table or Rows
    positive : label
        The positive label.

    Returns
    -------
    ndarray of int64 of shape (n_rows,)
        The model's probability of the positive label, rounded to multiples of 2^-32.
    """
    scores, _ = score_with_models(X, positive, scoring=[model])
    return scores[0]


def vote_on_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Tell which rows a model scores above 1/2.

    Parameters
    ----------
    model : fitted learner
    X : table or Rows
    positive : label

    Returns
    -------
    ndarray of bool of shape (n_rows,)
    """
    _, votes = score_with_models(X, positive, voting=[model])
    return votes[0]


def score_with_models(
    X: Any,
    positive: Any,
    *,
    scoring: Sequence[Any] = (),
    voting: Sequence[Any] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Score rows with several models.

    Logistic regressions on a numeric table share one matrix product. All other learners
    are asked one after the other.

    Parameters
    ----------
    X : table or Rows
    positive : label
        The positive label.
    scoring : sequence of fitted learners
        Learners whose scores are wanted.
    voting : sequence of fitted learners
        Learners of which it is enough to know whether the score is above 1/2.

    Returns
    -------
    scores : ndarray of int64 of shape (n_scoring, n_rows)
        Rounded scores.
    votes : ndarray of bool of shape (n_voting, n_rows)
    """
    rows = Rows.of(X)
    stack = LinearStack.of([*scoring, *voting], positive)
    if stack is not None and stack.can_read(rows.array):
        result = stack.read(rows, n_scoring=len(scoring))
        if result is not None:
            return result
    return score_one_by_one(rows, positive, scoring, voting)


def score_one_by_one(
    rows: Rows, positive: Any, scoring: Sequence[Any], voting: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Score rows with each model in turn, by its ``predict_proba``."""
    scores = np.empty((len(scoring), len(rows)), dtype=np.int64)
    votes = np.empty((len(voting), len(rows)), dtype=bool)
    table = rows.table()
    for i, model in enumerate(scoring):
        scores[i] = _score(model, table, positive)
    for i, model in enumerate(voting):
        votes[i] = _score(model, table, positive) > HALF
    return scores, votes


@contextmanager
def quiet_encoders() -> Iterator[None]:
    """Keep encoders from warning of levels that training did not have.

    They are normal in new data, and drift finds them. All else is said.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        yield


def _score(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Return the rounded probability of the positive label, by ``predict_proba``."""
    if number_of_rows(X) == 0:
        return np.empty(0, dtype=np.int64)
    # `predict` is never used: a decision and a count of decisions must not differ by
    # how a learner breaks ties at 1/2.
    try:
        with quiet_encoders():
            probabilities = np.asarray(model.predict_proba(X))
    except ValueError as error:
        note_on_value(error, X)
        raise
    classes = list(getattr(model, "classes_", [None, positive]))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        raise ValueError(
            f"estimator must give probabilities of {len(classes)} classes, got an "
            f"array of shape {probabilities.shape} from {model!r}."
        )
    # One row would be broadcast to all, in silence.
    if len(probabilities) != number_of_rows(X):
        raise ValueError(
            f"estimator must give probabilities of {number_of_rows(X)} rows, got "
            f"{len(probabilities)} from {model!r}."
        )
    if positive not in classes:
        # The learner was trained without a single positive.
        return np.zeros(len(probabilities), dtype=np.int64)
    return round_scores(probabilities[:, classes.index(positive)])


_NUMBERS_IN_A_BLOCK = 160_000
"""Numbers in a block of rows: few enough to stay in the cache of the processor."""

_MOST_SHIFT = 1e4
"""Log-odds, at most, by which centred columns may shift an intercept: the products then
have errors of 1e-12, far below the 2^-32 to which scores are rounded."""

_LOG_ODDS_ABOVE_HALF = 2.0**-31
"""Log-odds above which a score, once rounded to a multiple of 2^-32, is above 1/2: they
are the log-odds of 1/2 + 2^-33."""


@dataclass(frozen=True)
class LinearStack:
    """The weights of several logistic regressions: one matrix product for all of them.

    A `StandardScaler` in front of them is part of the weights. With ten members and one
    scorer this takes a seventh of the time of eleven calls of ``predict_proba`` (see
    the benchmark). `score_one_by_one` is the plain twin that tests compare it with.

    Parameters
    ----------
    weights : ndarray of float64 of shape (n_models, n_features)
        In double precision even if features are not, so that products do not depend on
        how rows are cut into blocks.
    intercepts : ndarray of shape (n_models,)

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> models = [LogisticRegression(C=c).fit(X, y) for c in (1, 10)]
    >>> stack = LinearStack.of(models, 1)
    >>> scores, votes = stack.read(Rows(X), n_scoring=1)
    >>> votes.tolist()
    [[False, False, True, True]]
    """

    weights: np.ndarray
    intercepts: np.ndarray

    @classmethod
    def of(cls, models: Sequence[Any], positive: Any) -> LinearStack | None:
        """Stack binary logistic regressions of one shape.

        Parameters
        ----------
        models : sequence of fitted learners
            LogisticRegression, or pipelines that scale before it.
        positive : label

        Returns
        -------
        LinearStack or None
            None if any model is something else.
        """
        weights = []
        intercepts = []
        for model in models:
            slopes, intercept = _linear_parts(model, positive)
            if slopes is None:
                return None
            weights.append(slopes)
            intercepts.append(intercept)
        # One matrix product has one shape and one precision.
        if len({(slopes.shape, slopes.dtype) for slopes in weights}) != 1:
            return None
        return cls(np.vstack(weights).astype(np.float64), np.array(intercepts))

    def can_read(self, array: np.ndarray | None) -> bool:
        """Tell whether a table is numeric and has the columns of the models."""
        return array is not None and array.shape[1] == self.weights.shape[1]

    def read(
        self, rows: Rows, *, n_scoring: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Score rows with the first models, and let the others vote.

        Parameters
        ----------
        rows : Rows
            Of a table that `can_read` accepts.
        n_scoring : int
            How many of the models score; the others only vote.

        Returns
        -------
        scores : ndarray of int64 of shape (n_scoring, n_rows)
        votes : ndarray of bool of shape (n_models - n_scoring, n_rows)
            Or None instead of both if a feature is not finite: ``predict_proba`` will
            then say what is wrong.
        """
        n_rows = len(rows)
        log_odds = np.empty((n_scoring, n_rows))
        votes = np.empty((len(self.weights) - n_scoring, n_rows), dtype=bool)
        # Comparing the product with a limit spares the members' logistic functions.
        limits = _LOG_ODDS_ABOVE_HALF - self.intercepts[n_scoring:, None]
        # A NaN or an infinity anywhere in the features makes this sum NaN or infinite,
        # which is cheaper than looking at every feature.
        total = 0.0
        size = max(_NUMBERS_IN_A_BLOCK // self.weights.shape[1], 64)
        for start in range(0, n_rows, size):
            place = slice(start, min(start + size, n_rows))
            block = rows.numbers_between(start, place.stop)
            # A feature that is not finite is found below.
            with np.errstate(invalid="ignore"):
                products = np.matmul(self.weights, block.T)
            total += products[0].sum()
            log_odds[:, place] = products[:n_scoring]
            np.greater(products[n_scoring:], limits, out=votes[:, place])
        if not np.isfinite(total):
            return None
        log_odds += self.intercepts[:n_scoring, None]
        scores = np.empty((n_scoring, n_rows), dtype=np.int64)
        probabilities = expit(log_odds, out=log_odds)
        np.multiply(probabilities, ONE, out=probabilities)
        np.rint(probabilities, out=scores, casting="unsafe")
        return scores, votes


def _linear_parts(model: Any, positive: Any) -> tuple[Any, Any]:
    """Return slopes and intercept of a binary logistic regression, scaled or not.

    Both are None if the model is something else.
    """
    scaler = None
    if type(model) is Pipeline and len(model.steps) == 2:
        (_, scaler), (_, model) = model.steps
    if type(model) is not LogisticRegression or type(scaler) not in (
        type(None),
        StandardScaler,
    ):
        return None, None
    if list(getattr(model, "classes_", []))[1:] != [positive]:
        return None, None
    slopes = model.coef_[0]
    intercept = np.ravel(model.intercept_)[0]
    if scaler is None:
        return slopes, intercept
    if scaler.with_std:
        slopes = slopes / scaler.scale_
    if scaler.with_mean:
        shifts = slopes * scaler.mean_
        if not np.abs(shifts).sum() < _MOST_SHIFT:
            return None, None
        intercept = intercept - shifts.sum()
    return slopes, intercept
