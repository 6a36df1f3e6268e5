"""The training phase of Algorithm 1: out-of-fold scores, a quantifier and a pool."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from cape._group_model import GroupModel
from cape._groups import EVERYONE, Group, group_name
from cape._learners import (
    TrainingRows,
    blas_in_one_thread,
    follows_its_folds,
    score_rows,
    seeded_clone,
    takes_repetitions,
)
from cape._progress import progress
from cape._training._data import TrainingData
from cape._training._folds import check_cv, split_group
from cape._training._recipe import Recipe
from cape._validation import (
    check_random_state,
    pickable,
    take_rows,
)
from cape.histogram import ScoreHistogram, edges_for
from cape.pool import Pool, ResampledPool, ThresholdPool, TrainedMember, fit_member
from cape.quantify import Quantifier, make_quantifier

__all__ = ["train_groups"]

_MANY_ROWS = 20_000
"""Rows of a group from which on threads train logistic regressions faster than
processes do."""


class _Seeds(NamedTuple):
    """Seeds of one group, for all that is random in its training."""

    splits: int
    folds: int
    refit: int
    members: list[int]


@dataclass(frozen=True)
class _GroupPlan:
    """What has to be trained for one group.

    Parameters
    ----------
    group : Group
    y, weights : ndarray
        Of the group's rows.
    rows : TrainingRows
        As learners see them.
    transformer : fitted transformer or None
    tested : list of ndarray
        Rows whose scores each fold gives, as positions within the group.
    fold_jobs : list of joblib jobs
        Each returns a `_Fold`.
    refit_job : joblib job or None
        Trains on all rows.
    member_seeds : list of int
        One for each member to be trained.
    """

    group: Group
    y: np.ndarray
    weights: np.ndarray | None
    rows: TrainingRows
    transformer: Any
    tested: list[np.ndarray]
    fold_jobs: list[Any]
    refit_job: Any
    member_seeds: list[int]

    @property
    def first_jobs(self) -> list[Any]:
        """The trainings that wait for no other: folds, then the refit."""
        if self.refit_job is None:
            return self.fold_jobs
        return [*self.fold_jobs, self.refit_job]


class _Fold(NamedTuple):
    """Out-of-fold scores of one fold, and its model if it will score batches."""

    model: Any
    scores: np.ndarray


@dataclass(frozen=True)
class _TrainedGroup:
    """The results of a group's jobs."""

    plan: _GroupPlan
    folds: list[_Fold]
    refitted: Any
    members: list[TrainedMember]


def train_groups(
    data: TrainingData,
    recipe: Recipe,
    groups: list[tuple[Group, np.ndarray | None]],
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[GroupModel]:
    """Train the model of each group.

    The trainings of all groups are one list of jobs, so that no core waits for a group.

    Parameters
    ----------
    data : TrainingData
    recipe : Recipe
    groups : list of tuples of group and rows
        Rows as an array of row numbers; None means all rows.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    list of GroupModel
    """
    cv = check_cv(recipe.cv, len(data.y))
    # All seeds are drawn before any training starts, so that answers depend neither on
    # n_jobs nor on the order in which trainings end.
    random = check_random_state(random_state)
    seeds = random.randint(
        np.iinfo(np.int32).max, size=(len(groups), 3 + len(recipe.thetas))
    )
    plans = []
    for (group, rows), of_group in zip(groups, seeds.tolist(), strict=True):
        splits_seed, folds_seed, refit_seed, *member_seeds = of_group
        group_seeds = _Seeds(splits_seed, folds_seed, refit_seed, member_seeds)
        plans.append(_plan_group(data, recipe, group, rows, cv, group_seeds))
    trained = _run_jobs(data, recipe, plans, n_jobs, verbose)
    return [_assemble(data, recipe, results) for results in trained]


def _run_jobs(
    data: TrainingData,
    recipe: Recipe,
    plans: list[_GroupPlan],
    n_jobs: int | None,
    verbose: bool,
) -> list[_TrainedGroup]:
    """Train folds and refits of all groups, then all members."""
    total = sum(len(plan.first_jobs) + len(plan.member_seeds) for plan in plans)
    # Logistic regression on many rows trains in long calls without Python's lock, and
    # threads share X as it is. BLAS would have vectors too short for its own threads,
    # which would only wait, and burn a core meanwhile.
    linear = takes_repetitions(recipe.learner)
    many_rows = len(data.y) >= _MANY_ROWS * len(plans)
    prefer = "threads" if linear and many_rows else None
    parallel = Parallel(n_jobs, return_as="generator", prefer=prefer)

    def run() -> Iterator[Any]:
        first_results = []
        first_jobs = [job for plan in plans for job in plan.first_jobs]
        for result in parallel(first_jobs):
            first_results.append(result)
            yield result
        yield from parallel(_member_jobs(data, recipe, plans, first_results))

    with blas_in_one_thread() if linear else nullcontext():
        results = progress(run(), total, title="training", shown=verbose)
        first = [_take_first(plan, results) for plan in plans]
        trained = []
        for plan, (folds, refitted) in zip(plans, first, strict=True):
            members = list(islice(results, len(plan.member_seeds)))
            trained.append(_TrainedGroup(plan, folds, refitted, members))
        # joblib closes its workers when its generator ends.
        next(results, None)
    return trained


def _take_first(
    plan: _GroupPlan, results: Iterator[Any]
) -> tuple[list[_Fold], Any | None]:
    """Take the results of a group's folds, and of its refit if it has one."""
    folds = list(islice(results, len(plan.fold_jobs)))
    refitted = None if plan.refit_job is None else next(results)
    return folds, refitted


def _member_jobs(
    data: TrainingData,
    recipe: Recipe,
    plans: list[_GroupPlan],
    first_results: list[Any],
) -> list[Any]:
    """List the trainings of members, each starting near the refit of its group."""
    jobs = []
    results = iter(first_results)
    for plan in plans:
        _, refitted = _take_first(plan, results)
        for theta, seed in zip(recipe.thetas, plan.member_seeds, strict=False):
            job = delayed(fit_member)(
                recipe.learner,
                plan.rows,
                plan.y,
                data.positive,
                theta,
                weights=plan.weights,
                seed=seed,
                near=refitted,
            )
            jobs.append(job)
    return jobs


def _plan_group(
    data: TrainingData,
    recipe: Recipe,
    group: Group,
    index: np.ndarray | None,
    cv: Any,
    seeds: _Seeds,
) -> _GroupPlan:
    """List what has to be trained for one group."""
    y = data.labels(index)
    weights = data.weights_of(index)
    if recipe.prefit:
        rows = TrainingRows(data.X, index)
        job = delayed(_score_prefit)(recipe.estimator, rows, data.positive)
        everything = np.arange(len(y))
        return _GroupPlan(group, y, weights, rows, None, [everything], [job], None, [])
    transformer, rows = _prepare(data, recipe, index, y, seeds.splits)
    splits = split_group(data, index, y, cv, seeds.splits)
    fold_jobs = []
    for train, test in splits:
        job = delayed(_fit_fold)(
            recipe.learner,
            rows,
            y,
            weights,
            train,
            test,
            positive=data.positive,
            seed=seeds.folds,
            keep_model=recipe.pool_fold_scores,
        )
        fold_jobs.append(job)
    # Thresholds need a model that decides, "refit" one that scores. Only resampled
    # members with pooled fold scores do without a model of all rows.
    refit_job = None
    if recipe.needs_refit:
        refit_job = delayed(rows.fit)(
            recipe.learner, y, weights=weights, seed=seeds.refit
        )
    return _GroupPlan(
        group=group,
        y=y,
        weights=weights,
        rows=rows,
        transformer=transformer,
        tested=[test for _, test in splits],
        fold_jobs=fold_jobs,
        refit_job=refit_job,
        member_seeds=seeds.members if recipe.resampled else [],
    )


def _prepare(
    data: TrainingData,
    recipe: Recipe,
    index: np.ndarray | None,
    y: np.ndarray,
    seed: int,
) -> tuple[Any, TrainingRows]:
    """Fit the group's transformer, if there is one, and transform its rows."""
    if not recipe.fits_transformers_once:
        return None, TrainingRows(data.X, index)
    # Fitted on all rows of the group, those of the test folds included: sound only for
    # transformers that do not look at labels.
    transformer = seeded_clone(recipe.estimator[:-1], seed)
    transformed = transformer.fit_transform(take_rows(data.X, index), y)
    return transformer, TrainingRows(pickable(transformed))


def _fit_fold(
    learner: Any,
    rows: TrainingRows,
    y: np.ndarray,
    weights: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    *,
    positive: Any,
    seed: int,
    keep_model: bool,
) -> _Fold:
    """Train on all folds but one, and score that one."""
    train_weights = None if weights is None else weights[train]
    model = rows.fit(learner, y[train], train, weights=train_weights, seed=seed)
    scores = score_rows(model, rows.pick(test), positive)
    return _Fold(model if keep_model else None, scores)


def _score_prefit(estimator: Any, rows: TrainingRows, positive: Any) -> _Fold:
    """Score a hold-out with a model that was fitted before."""
    return _Fold(estimator, score_rows(estimator, rows.pick(), positive))


def _assemble(data: TrainingData, recipe: Recipe, trained: _TrainedGroup) -> GroupModel:
    """Put the results of a group's trainings together."""
    plan = trained.plan
    model = recipe.estimator if recipe.prefit else trained.refitted
    positives, negatives = _count_scores(data, recipe, trained)
    scoring_models = [model]
    if recipe.pool_fold_scores:
        scoring_models = [fold.model for fold in trained.folds]
    pool: Pool
    if recipe.resampled:
        pool = ResampledPool.of(recipe.thetas, trained.members)
    else:
        shares_scores = not recipe.pool_fold_scores
        pool = ThresholdPool.of(
            model, positives, negatives, shares_scores=shares_scores
        )
    # Fold models score new rows as they score their test folds, and a prefit model has
    # seen neither hold-out nor batch. A refitted model needs a closer look.
    sound = recipe.pool_fold_scores or recipe.prefit
    return GroupModel(
        size=len(plan.y),
        prevalence=float(np.average(plan.y == data.positive, weights=plan.weights)),
        positives=positives,
        negatives=negatives,
        positive=data.positive,
        scoring_models=scoring_models,
        quantifier=_fit_quantifier(recipe.quantifier, positives, negatives, plan.group),
        pool=pool,
        test_is_sound=sound or follows_its_folds(model, len(plan.y)),
        transformer=plan.transformer,
    )


def _count_scores(
    data: TrainingData, recipe: Recipe, trained: _TrainedGroup
) -> tuple[ScoreHistogram, ScoreHistogram]:
    """Make the histograms of the out-of-fold scores of positives and of negatives."""
    plan = trained.plan
    tested = np.concatenate(plan.tested)
    scores = np.concatenate([fold.scores for fold in trained.folds])
    is_positive = plan.y[tested] == data.positive
    if is_positive.all() or not is_positive.any():
        raise ValueError(
            "cv must test rows of both classes in every group, got a splitter whose "
            f"test folds contain only one class in group {group_name(plan.group)!r}."
        )
    keep_rows = make_quantifier(recipe.quantifier).keeps_rows
    if plan.weights is None:
        positive_weights = negative_weights = None
    else:
        if keep_rows:
            raise ValueError(
                "sample_weight must be None with a quantifier of QuaPy, which takes "
                "no weights."
            )
        weights = _effective_weights(plan.weights[tested])
        positive_weights = weights[is_positive]
        negative_weights = weights[~is_positive]
    # Both classes get the same edges, and so does every batch: that is what makes
    # histograms comparable and lets evidence add up.
    edges = edges_for(
        scores[is_positive],
        scores[~is_positive],
        positive_weights=positive_weights,
        negative_weights=negative_weights,
    )
    positives = ScoreHistogram.of(
        scores[is_positive], edges, weights=positive_weights, keep_rows=keep_rows
    )
    negatives = ScoreHistogram.of(
        scores[~is_positive], edges, weights=negative_weights, keep_rows=keep_rows
    )
    return positives, negatives


def _effective_weights(weights: np.ndarray) -> np.ndarray:
    """Scale weights so that they add up to the number of rows they are worth.

    That number is (sum w)^2 / sum w^2 (Kish 1965): intervals then count the noise that
    unequal weights add.
    """
    return weights * (weights.sum() / (weights @ weights))


def _fit_quantifier(
    quantifier: Any,
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
    group: Group,
) -> Quantifier:
    """Fit a clone of the quantifier; its warnings name the group."""
    # A quantifier does not know whose scores it sees, so its warnings are caught and
    # given again with the name of the group.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = make_quantifier(quantifier).fit(positives, negatives)
    prefix = "" if group == EVERYONE else f"group {group_name(group)!r}: "
    for warning in caught:
        warnings.warn(f"{prefix}{warning.message}", warning.category, stacklevel=2)
    return fitted
