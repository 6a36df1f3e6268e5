"""Many logistic regressions at once: one matrix product instead of a pass for each.

With ten members and one scorer this takes a seventh of the time of eleven calls of
``predict_proba`` (see the benchmark). `cape._learners._scoring.score_one_by_one` is the
plain twin that tests compare it with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from cape._learners._rows import Rows
from cape.histogram import ONE

__all__ = ["LinearStack", "SharedProducts", "stack_of_groups"]

_NUMBERS_IN_A_BLOCK = 160_000
"""Numbers in a block of rows: few enough to stay in the cache of the processor."""

_COST_OF_A_COPY = 8
"""What copying a row out costs, in products of the row with a model."""

_LOG_ODDS_ABOVE_HALF = 2.0**-31
"""Log-odds above which a score, once rounded to a multiple of 2^-32, is above 1/2: they
are the log-odds of 1/2 + 2^-33."""


@dataclass(frozen=True)
class LinearStack:
    """The weights of several logistic regressions, side by side.

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
        positive : label

        Returns
        -------
        LinearStack or None
            None if any model is something else.
        """
        if not all(_is_binary_logistic(model, positive) for model in models):
            return None
        kinds = {(model.coef_.shape, model.coef_.dtype) for model in models}
        if len(kinds) != 1:
            return None
        # One matrix product has one shape and one precision.
        weights = np.vstack([model.coef_[0] for model in models])
        intercepts = [np.ravel(model.intercept_)[0] for model in models]
        return cls(weights.astype(np.float64), np.array(intercepts))

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
        for place, products in self._products(rows):
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

    def _products(self, rows: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield, block by block, its place among the rows and the products.

        The products of a block are valid until the next block.
        """
        n_rows = len(rows)
        if rows.shared is not None:
            yield slice(0, n_rows), rows.shared.pick(self, rows.index)
            return
        size = self._rows_in_a_block
        products = np.empty((len(self.weights), min(size, n_rows)))
        for start in range(0, n_rows, size):
            stop = min(start + size, n_rows)
            out = products[:, : stop - start]
            self.multiply(rows.numbers_between(start, stop), out)
            yield slice(start, stop), out

    def multiply(self, array: np.ndarray, out: np.ndarray) -> None:
        """Multiply rows with all weights, block by block.

        Parameters
        ----------
        array : ndarray of shape (n_rows, n_features)
        out : ndarray of shape (n_models, n_rows)
            Where the products go.
        """
        size = self._rows_in_a_block
        # A feature that is not finite is found by the caller.
        with np.errstate(invalid="ignore"):
            for start in range(0, len(array), size):
                block = array[start : start + size]
                np.matmul(self.weights, block.T, out=out[:, start : start + size])

    @property
    def _rows_in_a_block(self) -> int:
        return max(_NUMBERS_IN_A_BLOCK // self.weights.shape[1], 64)


class SharedProducts:
    """Products of consecutive rows with the weights of all groups' models.

    The rows of two groups lie scattered over a batch. To multiply all rows with the
    models of both groups, and to pick the products of each, takes half of the time of
    copying out the rows of each group.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_features)
        All rows of a batch.
    piece : slice
        The consecutive rows, with a start and a stop.
    stack : LinearStack
        The models of all groups; see `stack_of_groups`.

    Examples
    --------
    >>> stack = LinearStack(np.array([[1.0], [10.0]]), np.zeros(2))
    >>> shared = SharedProducts(np.arange(4.0)[:, None], slice(1, 4), stack)
    >>> shared.pick(LinearStack(stack.weights[1:], np.zeros(1)), np.array([1, 3]))
    array([[10., 30.]])
    """

    def __init__(self, array: np.ndarray, piece: slice, stack: LinearStack) -> None:
        self.start = piece.start
        self.stack = stack
        self.products = np.empty((len(stack.weights), piece.stop - piece.start))
        stack.multiply(array[piece], self.products)

    def pick(self, models: LinearStack, index: Any) -> np.ndarray:
        """Return the products of some of the models with some of the rows.

        Parameters
        ----------
        models : LinearStack
        index : ndarray of int
            Row numbers of the batch, inside the piece.

        Returns
        -------
        ndarray of shape (n_models, n_rows)
        """
        positions = index - self.start
        products = np.empty((len(models.weights), len(positions)))
        for i, weights in enumerate(models.weights):
            is_model = (self.stack.weights == weights).all(axis=1)
            row = int(np.flatnonzero(is_model)[0])
            self.products[row].take(positions, out=products[i], mode="clip")
        return products


def stack_of_groups(
    models_of_groups: Iterable[Sequence[Any]], array: np.ndarray | None, positive: Any
) -> LinearStack | None:
    """Stack the models of all groups, if that pays.

    Parameters
    ----------
    models_of_groups : iterable of sequences of fitted learners
    array : ndarray or None
        The batch that they are to read; None if it is no array of numbers.
    positive : label

    Returns
    -------
    LinearStack or None
    """
    groups = list(models_of_groups)
    models = [model for group in groups for model in group]
    # Measured on 20 columns, in units of 6 ns a row: to copy a row out costs 8, and its
    # product with a model 1. Products with the models of other groups are wasted.
    n_wasted = len(models) - len(models) / max(len(groups), 1)
    if len(groups) < 2 or n_wasted > _COST_OF_A_COPY:
        return None
    stack = LinearStack.of(models, positive)
    if stack is None or not stack.can_read(array):
        return None
    return stack


def _is_binary_logistic(model: Any, positive: Any) -> bool:
    if type(model) is not LogisticRegression:
        return False
    return list(getattr(model, "classes_", []))[1:] == [positive]
