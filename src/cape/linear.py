"""Many logistic regressions at once: one matrix product over blocks of rows instead of a pass over X for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

__all__ = ["LinearStack"]

_FEW_PRODUCTS = 200_000
"""Multiplications of a block: its rows stay in the cache, and BLAS (OpenBLAS from 2^18 on) starts no threads for it."""


@dataclass(frozen=True)
class LinearStack:
    """The weights of several logistic regressions, side by side.

    Parameters
    ----------
    weights : ndarray of float64 of shape (n_features, n_models)
        So that products do not depend on the block even where features are of single precision.
    intercepts : ndarray of shape (n_models,)

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> models = [LogisticRegression(C=c).fit(X, y) for c in (1, 10)]
    >>> stack = LinearStack.of(models, 1)
    >>> [(place, products.shape) for place, products in stack.products(X, None)]
    [(slice(0, 4, None), (4, 2))]
    """

    weights: np.ndarray
    intercepts: np.ndarray

    @classmethod
    def of(cls, models: Sequence[Any], positive: Any) -> LinearStack | None:
        """Stack binary logistic regressions of one shape; None if any model is something else."""
        if not all(_is_binary_logistic(model, positive) for model in models):
            return None
        if len({(model.coef_.shape, model.coef_.dtype) for model in models}) != 1:
            return None
        weights = np.column_stack([model.coef_[0] for model in models]).astype(np.float64)
        return cls(weights, np.array([np.ravel(model.intercept_)[0] for model in models]))

    def products(self, X: np.ndarray, rows: np.ndarray | None) -> Iterator[tuple[slice, np.ndarray]]:
        """Block by block, where the block lies among ``rows`` and the products of its rows and the weights."""
        # One column would be a product with a vector, for which BLAS starts threads much sooner: let it have two.
        weights = np.repeat(self.weights, 2, axis=1) if self.weights.shape[1] == 1 else self.weights
        size = min(max(_FEW_PRODUCTS // weights.size, 64), 8192)
        for start in range(0, len(X) if rows is None else len(rows), size):
            stop = start + size
            block = X[start:stop] if rows is None else X.take(rows[start:stop], axis=0)
            yield slice(start, start + len(block)), (block @ weights)[:, : self.weights.shape[1]]


def _is_binary_logistic(model: Any, positive: Any) -> bool:
    return type(model) is LogisticRegression and list(getattr(model, "classes_", []))[1:] == [positive]
