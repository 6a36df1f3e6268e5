"""What has to be trained: one learner, its folds, and the groups that it serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed

from cape._groups import Group
from cape._learners import (
    Rows,
    add_group_code,
    fit_learner,
    group_aware,
    score_rows,
    seeded_clone,
)
from cape._training._data import TrainingData
from cape._training._folds import Split, hold_out, split_rows
from cape._training._recipe import Recipe, Scheme
from cape._validation import pickable, take_rows

__all__ = ["Fold", "LearnerPlan", "Seeds", "plan_own", "plan_shared"]


class Seeds(NamedTuple):
    """Seeds of one learner, for all that is random in its training."""

    splits: int
    folds: int
    refit: int
    members: list[int]


class Fold(NamedTuple):
    """Out-of-fold scores of one fold, and its model if it will score batches."""

    model: Any
    scores: np.ndarray


@dataclass(frozen=True)
class LearnerPlan:
    """The trainings of one learner.

    Parameters
    ----------
    groups : list of Group
        Groups that it serves: one, or all of them.
    codes : ndarray of int of shape (n_rows,) or None
        The group of each row, as a position in ``groups``; None if there is one.
    scheme : Scheme
    learner : estimator
        What is trained.
    rows : Rows
        As the learner sees them.
    y, weights : ndarray of shape (n_rows,)
    transformer : fitted transformer or None
        What rows went through before.
    member_seeds : list of int
        One for each member to be trained.
    tested : list of ndarray
        Rows that each fold scores.
    fold_jobs : list of joblib jobs
        Each returns a `Fold`.
    refit_job : joblib job or None
        Trains on all rows.
    """

    groups: list[Group]
    codes: np.ndarray | None
    scheme: Scheme
    learner: Any
    rows: Rows
    y: np.ndarray
    weights: np.ndarray | None
    transformer: Any
    member_seeds: list[int]
    tested: list[np.ndarray] = field(default_factory=list)
    fold_jobs: list[Any] = field(default_factory=list)
    refit_job: Any = None

    @property
    def first_jobs(self) -> list[Any]:
        """The trainings that wait for no other: folds, then the refit."""
        if self.refit_job is None:
            return self.fold_jobs
        return [*self.fold_jobs, self.refit_job]

    def rows_of(self, group: Group) -> np.ndarray:
        """Return the positions of a group's rows."""
        if self.codes is None:
            return np.arange(len(self.y))
        return np.flatnonzero(self.codes == self.groups.index(group))


def plan_own(
    data: TrainingData,
    recipe: Recipe,
    group: Group,
    index: np.ndarray | None,
    seeds: Seeds,
) -> LearnerPlan:
    """Plan the learner of one group.

    Parameters
    ----------
    data : TrainingData
    recipe : Recipe
    group : Group
    index : ndarray of int or None
        Its rows; None means all.
    seeds : Seeds

    Returns
    -------
    LearnerPlan
    """
    y = data.labels(index)
    scheme = recipe.scheme(len(y), data.n_columns)
    if recipe.prefit:
        return _plan_prefit(data, recipe, group, index, scheme)
    transformer, rows = _prepare(data, recipe, index, y, seeds.splits)
    strata = (y == data.positive).astype(int)
    splits = _split(data, scheme, index, strata, seeds.splits)
    plan = LearnerPlan(
        groups=[group],
        codes=None,
        scheme=scheme,
        learner=recipe.learner,
        rows=rows,
        y=y,
        weights=data.weights_of(index),
        transformer=transformer,
        member_seeds=seeds.members if recipe.resampled else [],
    )
    return _with_jobs(plan, data.positive, splits, seeds)


def plan_shared(
    data: TrainingData,
    recipe: Recipe,
    groups: Sequence[Group],
    index: np.ndarray | None,
    codes: np.ndarray,
    seeds: Seeds,
) -> LearnerPlan:
    """Plan one learner for all groups, the group among its features.

    Parameters
    ----------
    data : TrainingData
    recipe : Recipe
    groups : sequence of Group
    index : ndarray of int or None
        The rows of these groups; None means all.
    codes : ndarray of int
        The group of each of these rows, as a position in ``groups``.
    seeds : Seeds

    Returns
    -------
    LearnerPlan
    """
    y = data.labels(index)
    scheme = recipe.scheme(len(y), data.n_columns + len(groups))
    transformer, rows = _prepare(data, recipe, index, y, seeds.splits)
    with_code = add_group_code(rows.table(), codes)
    # Folds are stratified by group and label: every group needs both classes tested.
    strata = 2 * codes.astype(int) + (y == data.positive)
    splits = _split(data, scheme, index, strata, seeds.splits)
    plan = LearnerPlan(
        groups=list(groups),
        codes=codes,
        scheme=scheme,
        learner=group_aware(recipe.learner),
        rows=Rows(with_code),
        y=y,
        weights=data.weights_of(index),
        transformer=transformer,
        member_seeds=[],
    )
    return _with_jobs(plan, data.positive, splits, seeds)


def _plan_prefit(
    data: TrainingData,
    recipe: Recipe,
    group: Group,
    index: np.ndarray | None,
    scheme: Scheme,
) -> LearnerPlan:
    """Plan to score a hold-out with a model that was fitted before."""
    rows = Rows(data.X, index)
    y = data.labels(index)
    job = delayed(_score_prefit)(recipe.estimator, rows, data.positive)
    return LearnerPlan(
        groups=[group],
        codes=None,
        scheme=scheme,
        learner=recipe.estimator,
        rows=rows,
        y=y,
        weights=data.weights_of(index),
        transformer=None,
        member_seeds=[],
        tested=[np.arange(len(y))],
        fold_jobs=[job],
    )


def _split(
    data: TrainingData,
    scheme: Scheme,
    index: np.ndarray | None,
    strata: np.ndarray,
    seed: int,
) -> list[Split]:
    """Split the rows of a learner once, or into folds."""
    if scheme.held_out is not None:
        return [hold_out(strata, scheme.held_out, seed)]
    return split_rows(data, index, strata, scheme.cv, seed)


def _with_jobs(
    plan: LearnerPlan, positive: Any, splits: list[Split], seeds: Seeds
) -> LearnerPlan:
    """List the trainings of a learner whose rows and folds are known."""
    fold_jobs = []
    for train, test in splits:
        job = delayed(_fit_fold)(
            plan.learner,
            plan.rows,
            plan.y,
            plan.weights,
            train,
            test,
            positive=positive,
            seed=seeds.folds,
            keep_model=not plan.scheme.refit,
        )
        fold_jobs.append(job)
    refit_job = None
    if plan.scheme.refit:
        refit_job = delayed(fit_learner)(
            plan.learner, plan.rows, plan.y, weights=plan.weights, seed=seeds.refit
        )
    tested = [test for _, test in splits]
    return replace(plan, tested=tested, fold_jobs=fold_jobs, refit_job=refit_job)


def _prepare(
    data: TrainingData,
    recipe: Recipe,
    index: np.ndarray | None,
    y: np.ndarray,
    seed: int,
) -> tuple[Any, Rows]:
    """Fit the transformer that is to be fitted once, if any, and transform rows."""
    if not recipe.fits_transformers_once:
        return None, Rows(data.X, index)
    # Fitted on all rows, those of the test folds included: sound only for transformers
    # that do not look at labels.
    transformer = seeded_clone(recipe.estimator[:-1], seed)
    transformed = transformer.fit_transform(take_rows(data.X, index), y)
    return transformer, Rows(pickable(transformed))


def _fit_fold(
    learner: Any,
    rows: Rows,
    y: np.ndarray,
    weights: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    *,
    positive: Any,
    seed: int,
    keep_model: bool,
) -> Fold:
    """Train on all folds but one, and score that one."""
    train_weights = None if weights is None else weights[train]
    model = fit_learner(
        learner, rows.take(train), y[train], weights=train_weights, seed=seed
    )
    scores = score_rows(model, rows.take(test), positive)
    return Fold(model if keep_model else None, scores)


def _score_prefit(estimator: Any, rows: Rows, positive: Any) -> Fold:
    """Score a hold-out with a model that was fitted before."""
    return Fold(estimator, score_rows(estimator, rows, positive))
