"""Many logistic regressions at once: one matrix product over blocks of rows instead of a pass over X for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from cape._learners._threads import blas_in_one_thread

__all__ = ["LinearStack"]

_NUMBERS_AT_ONCE = 160_000
"""Features of a block of rows: it stays in the cache, and is long enough for threads not to wait for each other."""


_MANY_PRODUCTS = 1 << 18
"""Multiplications from which on OpenBLAS starts threads."""


@dataclass(frozen=True)
class LinearStack:
    """The weights of several logistic regressions, side by side.

    Parameters
    ----------
    weights : ndarray of float64 of shape (n_models, n_features)
        So that products do not depend on the block even where features are of single precision.
    intercepts : ndarray of shape (n_models,)

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> models = [LogisticRegression(C=c).fit(X, y) for c in (1, 10)]
    >>> stack = LinearStack.of(models, 1)
    >>> [(place, products.shape) for place, products in stack.products(X, slice(0, 4))]
    [(slice(0, 4, None), (2, 4))]
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
        weights = np.vstack([model.coef_[0] for model in models]).astype(np.float64)
        return cls(
            weights, np.array([np.ravel(model.intercept_)[0] for model in models])
        )

    def multiply(self, X: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """All products, of shape (n_models, n_rows)."""
        out = np.empty(
            (
                len(self.weights),
                rows.stop - rows.start if isinstance(rows, slice) else len(rows),
            )
        )
        for _ in self.products(X, rows, out):
            pass
        return out

    def products(
        self, X: np.ndarray, rows: np.ndarray | slice, out: np.ndarray | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Block by block, where the block lies among ``rows`` and, model by model, the products of weights and rows.

        They are written to ``out``, of shape (n_models, n_rows), or else valid until the next block.
        """
        # BLAS takes rows or columns at any distance, if what is in them lies side by side.
        columns = X.T if X.itemsize in X.strides else np.ascontiguousarray(X).T
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        size = min(max(_NUMBERS_AT_ONCE // len(columns), 64), n_rows)
        taken, products = (
            np.empty((size, len(columns)), dtype=X.dtype),
            np.empty((len(self.weights), size)),
        )
        with (
            blas_in_one_thread()
            if n_rows * self.weights.size > _MANY_PRODUCTS
            else nullcontext()
        ):
            for start in range(0, n_rows, size or 1):
                stop = min(start + size, n_rows)
                if isinstance(rows, slice):
                    block = columns[:, rows.start + start : rows.start + stop]
                elif (
                    columns.flags.f_contiguous
                ):  # without "clip" numpy would make a copy in between
                    block = columns.T.take(
                        rows[start:stop], axis=0, out=taken[: stop - start], mode="clip"
                    ).T
                elif columns.flags.c_contiguous:
                    block = columns.take(rows[start:stop], axis=1)
                else:  # of which take would copy all
                    block = columns.T[rows[start:stop]].T
                found = (
                    products[:, : stop - start] if out is None else out[:, start:stop]
                )
                with np.errstate(
                    invalid="ignore"
                ):  # infinite features are for the caller to find
                    np.matmul(self.weights, block, out=found)
                yield slice(start, stop), found


def _is_binary_logistic(model: Any, positive: Any) -> bool:
    return type(model) is LogisticRegression and list(getattr(model, "classes_", []))[
        1:
    ] == [positive]
