"""One learner: how its rows are split, trained on and scored."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from joblib import delayed
from scipy.special import logit
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from cape.base._groups import Group, Groups
from cape.base._validation import check_is_fitted, pickable, take_rows
from cape.evidence._histogram import ONE
from cape.metrics._rates import FEWEST_ROWS
from cape.training._data import TrainingData, kish_factor
from cape.training._fitting import (
    ROWS_PER_COEFFICIENT,
    STEADY_LEARNERS,
    fit_learner,
    seeded_clone,
)
from cape.training._scoring import Rows, as_array, score_rows
from cape.training._shared import add_group_code, group_aware

# The boundaries were found by simulation: boosting, with as many rows in the
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

_SMALLEST = 1e-6
"""Scores are kept so far from 0 and 1, where the log loss of one row is infinite."""

_WORTHWHILE_GAIN = 0.01
"""Share of the log loss that must be in reach. It was .02 and more where P(y | x)
differed between groups, and below .007 on 5,000 rows where it did not."""

Split = tuple["np.ndarray | None", np.ndarray]
"""Rows to train on, None if the learner is fitted already, and rows to score."""


@dataclass(frozen=True)
class Recipe:
    """How learners are trained: what the parameters of the classifier amount to.

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
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to show a progress bar.
    """

    estimator: Any
    quantifier: Any
    resampled: bool
    thetas: np.ndarray
    cv: Any
    scores: str
    transform_once: bool
    share: Any
    n_jobs: int | None = None
    verbose: bool = False

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

    def scheme(self, n_rows: int, n_columns: int) -> tuple[Any, bool]:
        """Decide on folds and scoring models for a learner.

        Parameters
        ----------
        n_rows : int
            Rows that the learner can be trained on.
        n_columns : int
            Columns that it sees.

        Returns
        -------
        cv : int, float, splitter, list of splits or "prefit"
            A float is the share of rows that one split holds out.
        refit : bool
            Whether a model refitted on all rows scores a batch; else the models of the
            folds do.
        """
        refit = self.scores == "refit"
        if self.scores == "auto":
            # Resampled members and fold models have nothing in common; a refit is the
            # cheaper scorer there, and the paper's.
            refit = self.resampled or self.is_steady(n_rows, n_columns)
        if self.prefit:
            return self.cv, False
        if not isinstance(self.cv, str):
            return self.cv, refit
        may_hold_out = self.scores == "auto" and not self.resampled
        if n_rows >= PLENTY_OF_ROWS and may_hold_out:
            # What a split costs depends on the rows that are left to count scores in:
            # 25,000 held out are as good as all of them.
            return float(np.clip(_HELD_OUT_ROWS / n_rows, 0.2, 0.5)), False
        return 5 if n_rows < _FEW_ROWS else 3, refit

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


def check_prefit(
    estimator: Any, classes: np.ndarray, X: Any, group_columns: Any
) -> None:
    """Raise unless the estimator is fitted, and on such labels and columns.

    Parameters
    ----------
    estimator : classifier
    classes : ndarray of shape (2,)
        The labels.
    X : table
        The hold-out without ``group_columns``.
    group_columns : column, list of columns, or None
    """
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    known = np.asarray(getattr(estimator, "classes_", classes))
    # As Python compares: to numpy, 1 and "1" are equal.
    if set(classes.tolist()) != set(known.tolist()):
        raise ValueError(
            f"y must hold the two classes of the fitted estimator, {known.tolist()}, "
            f"got {classes.tolist()} (cv='prefit')."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.predict_proba(take_rows(X, slice(0, 1)))
    except (ValueError, KeyError, IndexError) as error:
        advice = (
            "If X has a column with the group that the estimator was not fitted with, "
            "name it in group_columns."
        )
        if group_columns is not None:
            advice = (
                f"group_columns={group_columns!r} takes the group out of X. If the "
                "estimator was fitted with it, set group_columns=None and give the "
                "groups as sensitive_features, in fit and in predict."
            )
        raise ValueError(
            "X must have the columns that the estimator was fitted with "
            f"(cv='prefit'): {' '.join(str(error).split()).rstrip('.')}. {advice}"
        ) from error


def check_cv(cv: Any, n_rows: int) -> Any:
    """Check the parameter ``cv``.

    Returns
    -------
    int, "prefit", splitter or list of splits
        Splits are pairs of arrays of row numbers.
    """
    if cv is None:
        return 10
    if isinstance(cv, (Integral, str)) or hasattr(cv, "split"):
        return cv
    splits = []
    numbers = np.empty(0)
    try:
        for train, test in cv:
            splits.append((np.asarray(train), np.asarray(test)))
        numbers = np.concatenate([np.concatenate(split) for split in splits])
    except (TypeError, ValueError):
        # What is no list of pairs of row numbers is refused below, in words.
        pass
    is_good = numbers.dtype.kind in "iu" and len(numbers) > 0
    if not is_good or numbers.min() < 0 or numbers.max() >= n_rows:
        raise ValueError(
            "cv must be a number of folds, a splitter or pairs of row numbers from 0 "
            f"to {n_rows - 1}, got {cv!r}."
        )
    return splits


@dataclass
class Learner:
    """One learner: what it is trained on, and then what came of it.

    Parameters
    ----------
    data : TrainingData
    recipe : Recipe
    estimator : estimator
        What is trained.
    groups : list of Group
        Groups that it serves: one, or all of them.
    codes : ndarray of int of shape (n_rows,) or None
        The group of each row, as a position in ``groups``; None if there is one.
    rows : Rows
        As the estimator sees them.
    y, weights : ndarray of shape (n_rows,)
    splits : list of Split
        Positions among the rows.
    refit : bool
        Whether a model refitted on all rows scores a batch; else the models of the
        folds do.
    seeds : list of int
        Of splits, of folds, of the refit, and of each member to be trained.
    transformer : fitted transformer or None, default=None
        What rows went through before.
    folds : list of tuples of model and scores
        The model of each fold, None if it will score no batch, and its scores.
    refitted : fitted learner or None
    members : list of what `fit_member` returns
    """

    data: TrainingData
    recipe: Recipe
    estimator: Any
    groups: list[Group]
    codes: np.ndarray | None
    rows: Rows
    y: np.ndarray
    weights: np.ndarray | None
    splits: list[Split]
    refit: bool
    seeds: list[int]
    transformer: Any = None
    folds: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    refitted: Any = None
    members: list[Any] = field(default_factory=list)

    @property
    def scoring_models(self) -> list[Any]:
        """The models that score batches."""
        if self.refit:
            return [self.refitted]
        if self.recipe.prefit:
            return [self.estimator]
        return [model for model, _ in self.folds]

    def jobs(self) -> list[Any]:
        """List the trainings that wait for no other: open folds, then the refit."""
        jobs = []
        for train, test in self.splits[len(self.folds) :]:
            job = delayed(_fit_fold)(
                self.estimator,
                self.rows,
                self.y,
                self.weights,
                train,
                test,
                positive=self.data.positive,
                seed=self.seeds[1],
                keep_model=not self.refit,
            )
            jobs.append(job)
        if self.refit:
            job = delayed(fit_learner)(
                self.estimator,
                self.rows,
                self.y,
                weights=self.weights,
                seed=self.seeds[2],
            )
            jobs.append(job)
        return jobs

    @cached_property
    def tested(self) -> dict[Group, TestedRows]:
        """Out-of-fold scores of each group, once all folds are trained."""
        tested = self.tested_by(self.codes, len(self.groups))
        return dict(zip(self.groups, tested, strict=True))

    def tested_by(self, codes: np.ndarray | None, n_groups: int) -> list[TestedRows]:
        """Collect the out-of-fold scores of each group.

        Parameters
        ----------
        codes : ndarray of int or None
            The group of each row of the learner; None if there is one group.
        n_groups : int
        """
        positions = np.concatenate([test for _, test in self.splits])
        scores = np.concatenate([scores for _, scores in self.folds])
        sizes = [len(test) for _, test in self.splits]
        folds = np.repeat(np.arange(len(sizes)), sizes)
        is_positive = self.y[positions] == self.data.positive
        # Weights make each row count once, however often it was tested.
        times_tested = np.bincount(positions)[positions]
        parts: list[Any] = [slice(None)]
        if codes is not None:
            groups = Groups(codes[positions], list(range(n_groups)))
            parts = groups.rows_between(0, len(positions))
        tested = []
        for part in parts:
            weights = self._weights_of_tests(positions[part], times_tested[part])
            rows = (scores[part], is_positive[part], weights)
            tested.append(TestedRows(*rows, positions[part], folds[part]))
        return tested

    def _weights_of_tests(
        self, positions: np.ndarray, times_tested: np.ndarray
    ) -> np.ndarray | None:
        """Return the weights of the tested rows of a group, if they have any."""
        if self.weights is not None and len(positions):
            factor = kish_factor(self.weights[np.unique(positions)])
            return self.weights[positions] * factor / times_tested
        if times_tested.max(initial=1) > 1:
            return 1 / times_tested
        return None


@dataclass(frozen=True)
class TestedRows:
    """Out-of-fold scores of one group, where its rows are, and in which test folds."""

    scores: np.ndarray
    is_positive: np.ndarray
    weights: np.ndarray | None
    positions: np.ndarray
    folds: np.ndarray

    def log_loss(self) -> float:
        """Mean negative log-likelihood of the labels."""
        p = np.clip(self.scores / ONE, _SMALLEST, 1 - _SMALLEST)
        losses = -np.log(np.where(self.is_positive, p, 1 - p))
        return float(np.average(losses, weights=self.weights))

    def auc(self) -> float:
        """Area under the curve; NaN, unknown, with fewer than ten rows of a class."""
        n_positive = np.count_nonzero(self.is_positive)
        if min(n_positive, len(self.scores) - n_positive) < FEWEST_ROWS:
            return float("nan")
        distinct, place = np.unique(self.scores, return_inverse=True)
        weights = np.ones(len(place)) if self.weights is None else self.weights
        positives = np.bincount(place, weights * self.is_positive, len(distinct))
        negatives = np.bincount(place, weights * ~self.is_positive, len(distinct))
        # The share of negatives below a positive; a tie counts half.
        below = np.cumsum(negatives) - negatives / 2
        return float(positives @ below / (positives.sum() * negatives.sum()))

    def are_unexplained(self, rows: Rows) -> bool:
        """Tell whether residuals of out-of-fold scores depend on columns of the group.

        Rao's score statistics (1948) of the columns, added one by one to a logistic
        regression that has the scores as its offset and as a column, tell how far they
        would lower the log loss. Nothing is trained for it. A learner of the group's
        own costs trainings, and can hardly gain where the columns do not.

        Parameters
        ----------
        rows : Rows
            All rows of the learner that these are the scores of.

        Returns
        -------
        bool
            True also if the columns are no plain numbers, so that they cannot be
            tested.
        """
        table = as_array(rows.take(self.positions).table())
        if table is None or self.weights is not None:
            return True
        p = np.clip(self.scores / ONE, _SMALLEST, 1 - _SMALLEST)
        variance = p * (1 - p)
        # What is linear in the log-odds is a matter of calibration, which thresholds
        # mend: boosting, for one, is too sure of itself on new rows.
        known = np.column_stack([np.ones(len(p)), logit(p)])
        columns = _without(known, np.nan_to_num(table.astype(float)), variance)
        residuals = _without(known, (self.is_positive - p) / variance, variance)
        noise = np.sqrt(variance @ columns**2)
        slopes = columns.T @ (variance * residuals)
        z = slopes[noise > 0] / noise[noise > 0]
        # Twice the gain in log-likelihood is the sum of squares; noise alone adds 1
        # each, and passes two standard deviations of the sum in one group of forty.
        excess = (z**2 - 1).sum()
        is_worthwhile = excess / (2 * len(p)) > _WORTHWHILE_GAIN * self.log_loss()
        return bool(is_worthwhile and excess > 2 * np.sqrt(2 * len(z)))


def _without(known: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Take away from columns what a weighted regression on known ones explains."""
    weighted = known * weights[:, None]
    coefficients = np.linalg.solve(weighted.T @ known, weighted.T @ values)
    return values - known @ coefficients


def plan_learner(
    data: TrainingData,
    recipe: Recipe,
    groups: Sequence[Group],
    index: np.ndarray | None,
    seeds: list[int],
    codes: np.ndarray | None = None,
) -> Learner:
    """Plan the learner of one group, or one for all groups with codes.

    Parameters
    ----------
    data : TrainingData
    recipe : Recipe
    groups : sequence of Group
    index : ndarray of int or None
        The rows of these groups; None means all.
    seeds : list of int
    codes : ndarray of int, default=None
        The group of each of these rows, as a position in ``groups``. The group is then
        among the features.

    Returns
    -------
    Learner
    """
    y = data.labels(index)
    rows = Rows(data.X, index)
    estimator = recipe.learner
    transformer = None
    if recipe.fits_transformers_once:
        # Fitted on all rows, those of the test folds included: sound only for
        # transformers that do not look at labels.
        transformer = seeded_clone(recipe.estimator[:-1], seeds[0])
        # skrub's scaler fails if scikit-learn is set to make data frames.
        with config_context(transform_output="default"):
            rows = Rows(pickable(transformer.fit_transform(rows.table(), y)))
    n_columns = data.n_columns
    strata = (y == data.positive).astype(int)
    if codes is not None:
        n_columns += len(groups)
        # Folds are stratified by group and label: every group needs both classes
        # tested. Groups without a row for each fold are split together.
        n_rows = np.bincount(codes)
        strata += (
            2
            * np.where(n_rows < FEWEST_ROWS, len(groups), np.arange(len(n_rows)))[codes]
        )
        rows = Rows(add_group_code(rows.table(), codes))
        estimator = group_aware(estimator, len(groups))
    cv, refit = recipe.scheme(len(y), n_columns)
    return Learner(
        data=data,
        recipe=recipe,
        estimator=estimator,
        groups=list(groups),
        codes=codes,
        rows=rows,
        y=y,
        weights=data.weights_of(index),
        splits=_split(data, index, strata, cv, seeds[0]),
        refit=refit,
        seeds=seeds,
        transformer=transformer,
    )


def _split(
    data: TrainingData, index: np.ndarray | None, strata: np.ndarray, cv: Any, seed: int
) -> list[Split]:
    """Split the rows of one learner, as positions within these rows.

    A splitter splits these rows; given splits of all rows are cut down to them.
    """
    if isinstance(cv, str):
        return [(None, np.arange(len(strata)))]
    if isinstance(cv, float):
        return [hold_out(strata, cv, seed)]
    y = data.labels(index)
    if isinstance(cv, Integral):
        # Stratified folds need a row of each class in every fold.
        n_positive = np.count_nonzero(y == data.positive)
        smaller_class = min(n_positive, len(y) - n_positive)
        n_folds = min(int(cv), smaller_class)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A group may have fewer rows of a class than there are folds: each of them
            # is still tested once.
            warnings.simplefilter("ignore", UserWarning)
            return list(folds.split(strata, strata))
    if hasattr(cv, "split"):
        return list(cv.split(Rows(data.X, index).table(), y))
    if index is None:
        return cv
    # Row numbers of the table become positions; -1 marks the rows of other learners.
    position = np.full(len(data.y), -1)
    position[index] = np.arange(len(index))
    kept: list[Split] = []
    for train, test in cv:
        own_train = position[train][position[train] >= 0]
        own_test = position[test][position[test] >= 0]
        if len(own_train) and len(own_test):
            kept.append((own_train, own_test))
    return kept


def hold_out(
    strata: np.ndarray, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows once, holding out a share of every stratum.

    Parameters
    ----------
    strata : ndarray of int
    share : float in (0, 1)
    seed : int

    Returns
    -------
    train, test : ndarray
        Positions, in ascending order.
    """
    # scikit-learn's stratified split would take a quarter of the whole training of a
    # logistic regression on 100,000 rows.
    shuffled = np.random.RandomState(seed).permutation(len(strata))
    # Integers of at most 16 bits are sorted in linear time.
    short = strata.astype(np.min_scalar_type(int(strata.max())))
    by_stratum = shuffled[np.argsort(short[shuffled], kind="stable")]
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    ends = np.cumsum(sizes)
    rank = np.arange(len(strata)) - np.repeat(ends - sizes, sizes)
    n_held_out = np.clip(np.round(share * sizes), 1, np.maximum(sizes - 1, 1))
    is_held_out = rank < np.repeat(n_held_out, sizes)
    return np.sort(by_stratum[~is_held_out]), np.sort(by_stratum[is_held_out])


def _fit_fold(
    estimator: Any,
    rows: Rows,
    y: np.ndarray,
    weights: np.ndarray | None,
    train: np.ndarray | None,
    test: np.ndarray,
    *,
    positive: Any,
    seed: int,
    keep_model: bool,
) -> tuple[Any, np.ndarray]:
    """Train on all folds but one, and score that one."""
    if train is None:
        # The estimator was fitted before, and all rows are held out.
        return estimator, score_rows(estimator, rows, positive)
    train_weights = None if weights is None else weights[train]
    model = fit_learner(
        estimator, rows.take(train), y[train], weights=train_weights, seed=seed
    )
    scores = score_rows(model, rows.take(test), positive)
    return (model if keep_model else None), scores
