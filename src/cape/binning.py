"""Histogram boosting of many samples of the same rows: features are binned once, not once a training.

`HistGradientBoostingClassifier` bins its features before it grows a tree, at quantiles of the rows it is given; with
weights that takes ten times as long as the trees. Given codes of at most 255 values it has nothing to search for. The
thresholds of its trees are then put back among the features themselves, so that nobody can tell the model from one
that was trained on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from cape._validation import all_if_none

__all__ = ["Bins"]

_MANY_ROWS = 25_000
"""Below, training is fast anyway, and the rows that a leaf must have are better counted with their repetitions."""

_SUBSAMPLE = 200_000


@dataclass(frozen=True)
class Bins:
    """Features as codes: the code of a number is how many edges are below it.

    Parameters
    ----------
    edges : list of ndarray
        For each feature, ascending.
    codes : ndarray of shape (n_samples, n_features)
        A byte each; numbers of single precision if some are missing.

    Examples
    --------
    >>> bins = Bins.of(np.array([[0.1], [0.2], [0.9]]), most=2)
    >>> bins.edges[0].tolist(), bins.codes.ravel().tolist()
    ([0.2], [0, 0, 1])
    """

    edges: list[np.ndarray]
    codes: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, *, most: int = 255) -> Bins:
        """Bins at quantiles of at most 200,000 rows of X."""
        some = X if len(X) <= _SUBSAMPLE else X[np.random.RandomState(0).choice(len(X), _SUBSAMPLE, replace=False)]
        edges = [_edges(of_feature, most) for of_feature in some.T]
        missing = np.isnan(X)
        codes = np.empty(X.shape, dtype=np.float32 if missing.any() else np.uint8)
        for j, of_feature in enumerate(edges):
            codes[:, j] = np.searchsorted(of_feature, X[:, j])
        if codes.dtype != np.uint8:
            codes[missing] = np.nan
        return cls(edges, codes)

    @classmethod
    def for_learner(cls, estimator: Any, X: np.ndarray | None, rows: np.ndarray | None) -> Bins | None:
        """Bins of a group's rows, if the learner is histogram boosting and they are worth it; else None."""
        if type(estimator) is not HistGradientBoostingClassifier or X is None:
            return None
        plain = estimator.categorical_features in (None, "from_dtype") and not estimator.warm_start
        if not plain or (len(X) if rows is None else len(rows)) < _MANY_ROWS:
            return None
        X = X if rows is None else X[rows]
        return None if np.isinf(X).any() else cls.of(X, most=estimator.max_bins)

    def fit(
        self, model: Any, some: np.ndarray | None, y: np.ndarray, weights: np.ndarray | None, n_rows: int | None = None
    ) -> Any:
        """Train a model on some of the rows, and put its thresholds back among the features; None is all of them.

        ``n_rows`` is how many rows they stand for, if weights are their repetitions.
        """
        early_stopping = model.early_stopping
        if early_stopping == "auto":
            model.set_params(early_stopping=(n_rows or len(y)) > 10_000)
        model.fit(self.codes[all_if_none(some)], y, sample_weight=weights).set_params(early_stopping=early_stopping)
        model._bin_mapper.bin_thresholds_ = [
            self._among_features(j, thresholds) for j, thresholds in enumerate(model._bin_mapper.bin_thresholds_)
        ]
        for tree in (tree for step in model._predictors for tree in step):
            for j in np.unique(tree.nodes["feature_idx"][tree.nodes["is_leaf"] == 0]):
                split = (tree.nodes["is_leaf"] == 0) & (tree.nodes["feature_idx"] == j)
                tree.nodes["num_threshold"][split] = self._among_features(j, tree.nodes["num_threshold"][split])
        return model

    def _among_features(self, j: int, thresholds: np.ndarray) -> np.ndarray:
        """The number up to which a feature has no higher code than the threshold: code <= t just if x <= edges[t]."""
        finite = np.isfinite(thresholds)  # an infinite one parts what is missing from what is not
        found = np.full(len(thresholds), np.inf)
        found[finite] = self.edges[j][np.floor(thresholds[finite]).astype(np.intp)]
        return found


def _edges(feature: np.ndarray, most: int) -> np.ndarray:
    """Distinct numbers at which to cut a feature into at most ``most`` bins; none if it is missing everywhere."""
    known = feature[~np.isnan(feature)]
    levels = np.linspace(0, 1, most + 1)[1:-1]
    return np.unique(np.quantile(known, levels, method="inverted_cdf")) if len(known) else known
