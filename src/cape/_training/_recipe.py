"""How learners are trained: what the parameters of the classifier amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.pipeline import Pipeline

from cape._learners import ROWS_PER_COEFFICIENT, STEADY_LEARNERS
from cape._validation import check_is_fitted

__all__ = ["PLENTY_OF_ROWS", "Recipe", "Scheme", "check_prefit"]

# The boundaries were found by benchmarks/folds.py: boosting, with as many rows in the
# batch as in training.
_FEW_ROWS = 1000
"""Rows of a learner below which five folds are worth their price. At 300 and 1,000 rows
PD is .078 and .029 with three folds, .074 and .027 with five; at 3,000 rows there is no
difference beyond noise."""

PLENTY_OF_ROWS = 20_000
"""Rows of a learner from which on one split is enough, and no other rows help. One
split has a PD of .012 where three folds have .007 at 10,000 rows, .0066 and .0053 at
20,000, .0040 and .0036 at 50,000; it costs .8 plain fits instead of 2.8."""

_HELD_OUT_ROWS = 25_000


@dataclass(frozen=True)
class Scheme:
    """How out-of-fold scores are made, and which models score a batch.

    Parameters
    ----------
    cv : int, splitter, list of splits or "prefit"
        Folds; for one split, see ``held_out``.
    refit : bool
        Whether a model refitted on all rows scores a batch; else the fold models do.
    held_out : float or None, default=None
        With one split instead of folds, the share of rows held out.
    """

    cv: Any
    refit: bool
    held_out: float | None = None


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
    cv : int, splitter, list of splits, "prefit" or "auto"
    scores : {"refit", "folds", "auto"}
        Which models score a batch.
    transform_once : bool
        Whether the transformers of a pipeline are fitted once.
    share : bool or "auto"
        Whether one learner is trained for all groups.
    """

    estimator: Any
    quantifier: Any
    resampled: bool
    thetas: np.ndarray
    cv: Any
    scores: str
    transform_once: bool
    share: Any

    @property
    def prefit(self) -> bool:
        """Whether the estimator is fitted already."""
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def fits_transformers_once(self) -> bool:
        """Whether there are transformers to fit once."""
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

    def scheme(self, n_rows: int, n_columns: int) -> Scheme:
        """Decide on folds and scoring models for a learner of so many rows.

        Parameters
        ----------
        n_rows : int
            Rows that the learner can be trained on.
        n_columns : int
            Columns that it sees.

        Returns
        -------
        Scheme
        """
        cv_is_free = isinstance(self.cv, str) and self.cv == "auto"
        refit = self.scores == "refit"
        if self.scores == "auto":
            # Resampled members and fold models have nothing in common; a refit is the
            # cheaper scorer there, and the paper's.
            refit = self.resampled or self.is_steady(n_rows, n_columns)
        if not cv_is_free:
            return Scheme(self.cv, refit or self.prefit)
        may_hold_out = self.scores == "auto" and not self.resampled
        if n_rows >= PLENTY_OF_ROWS and may_hold_out:
            # What a split costs depends on the rows that are left to count scores in:
            # 25,000 held out are as good as all of them.
            held_out = float(np.clip(_HELD_OUT_ROWS / n_rows, 0.2, 0.5))
            return Scheme(1, refit=False, held_out=held_out)
        return Scheme(5 if n_rows < _FEW_ROWS else 3, refit)

    def is_steady(self, n_rows: int, n_columns: int) -> bool:
        """Tell whether so many rows leave a linear learner nothing to be unsure of."""
        learner = self.estimator
        while isinstance(learner, Pipeline):
            for _, transformer in learner.steps[:-1]:
                if not isinstance(transformer, OneToOneFeatureMixin):
                    # An encoder may make any number of columns out of one.
                    return False
            learner = learner.steps[-1][1]
        if not isinstance(learner, STEADY_LEARNERS):
            return False
        return n_rows >= ROWS_PER_COEFFICIENT * n_columns


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
