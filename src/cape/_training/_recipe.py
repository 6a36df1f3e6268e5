"""How each group is trained: what the parameters of the classifier amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from cape._validation import check_is_fitted

__all__ = ["Recipe", "check_prefit"]


@dataclass(frozen=True)
class Recipe:
    """How each group is trained.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``
        The learner, C-ALG in the paper.
    quantifier : str or quantifier
        Q-ALG in the paper.
    resampled : bool
        Whether members are trained on resamples; else they are thresholds.
    thetas : ndarray
        The grid Theta of a resampled pool.
    cv : int, splitter, iterable of splits or "prefit"
    pool_fold_scores : bool
        Whether the fold models score a batch; else a model refitted on all rows does.
    transform_once : bool
        Whether the transformers of a pipeline are fitted once a group.
    """

    estimator: Any
    quantifier: Any
    resampled: bool
    thetas: np.ndarray
    cv: Any
    pool_fold_scores: bool
    transform_once: bool

    @property
    def prefit(self) -> bool:
        """Whether the estimator is fitted already."""
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def fits_transformers_once(self) -> bool:
        """Whether there are transformers to fit once a group."""
        is_pipeline = isinstance(self.estimator, Pipeline)
        if not is_pipeline or self.prefit or not self.transform_once:
            return False
        return len(self.estimator.steps) > 1

    @property
    def learner(self) -> Any:
        """What is trained many times: the estimator, or the last step of a pipeline."""
        if self.fits_transformers_once:
            return self.estimator.steps[-1][1]
        return self.estimator

    @property
    def needs_refit(self) -> bool:
        """Whether somebody needs a model that was trained on all rows of a group."""
        return not self.resampled or not self.pool_fold_scores


def check_prefit(estimator: Any, classes: np.ndarray) -> None:
    """Raise unless the estimator is fitted and knows the labels of the hold-out."""
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    known = np.asarray(getattr(estimator, "classes_", classes))
    if not np.isin(classes, known).all() or len(known) != 2:
        raise ValueError(
            f"y must hold the two classes of the fitted estimator, {known.tolist()}, "
            f"got {classes.tolist()} (cv='prefit')."
        )
