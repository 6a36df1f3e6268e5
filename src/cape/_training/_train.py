"""The training phase of Algorithm 1: which learners are trained, and in what order."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from cape._group_model import GroupModel
from cape._groups import EVERYONE, Group
from cape._learners import (
    blas_in_one_thread,
    takes_repetitions,
)
from cape._progress import progress
from cape._training._assemble import (
    TestedRows,
    TrainedLearner,
    assemble_model,
    tested_rows,
)
from cape._training._data import TrainingData
from cape._training._plan import LearnerPlan, Seeds, plan_own, plan_shared
from cape._training._recipe import PLENTY_OF_ROWS, Recipe
from cape._training._unexplained import leaves_something_unexplained
from cape._validation import all_if_none, check_random_state
from cape.pool import fit_member

__all__ = ["TrainingResult", "train_groups"]

_MANY_ROWS = 20_000
"""Rows of a group from which on threads train logistic regressions faster than
processes do."""

_MOST_ROWS_TO_CHOOSE = 20_000
"""Rows on which candidates are compared."""

_ROWS_FOR_OWN_LEARNER = 500
"""Rows of a group from which on a learner of its own is tried beside the shared one."""

GroupRows = tuple[Group, "np.ndarray | None"]


@dataclass(frozen=True)
class TrainingResult:
    """The models of the groups, and how their learner was found.

    Parameters
    ----------
    models : list of GroupModel
        In the order of the groups.
    recipe : Recipe
        The one that was given or chosen.
    log_losses : dict from name to float
        Of every candidate, by cross-validation; empty if there was no choice.
    """

    models: list[GroupModel]
    recipe: Recipe
    log_losses: dict[str, float]


def train_groups(
    data: TrainingData,
    recipes: Mapping[str, Recipe],
    groups: list[GroupRows],
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> TrainingResult:
    """Train the model of each group, with the best of some recipes.

    Parameters
    ----------
    data : TrainingData
    recipes : mapping from name to Recipe
        Candidates that differ in their learner; with one, there is no choice.
    groups : list of tuples of group and rows
        Rows as an array of row numbers; None means all rows.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    TrainingResult
    """
    # All seeds are drawn before any training starts, so that answers depend neither on
    # n_jobs nor on the order in which trainings end.
    first = next(iter(recipes.values()))
    random = check_random_state(random_state)
    n_seeds = 3 + len(first.thetas)
    drawn = random.randint(np.iinfo(np.int32).max, size=(len(groups) + 1, n_seeds))
    seeds = [Seeds(row[0], row[1], row[2], row[3:]) for row in drawn.tolist()]
    workshop = _Workshop(data, n_jobs, verbose)
    shared = _train_shared(workshop, recipes, groups, seeds[-1])
    recipe = recipes[shared.chosen]
    own = _train_own(workshop, recipe, groups, seeds, shared.trained)
    models = []
    for group, _ in groups:
        serving = [own[group]] if group in own else []
        if shared.trained is not None and group in shared.trained.plan.groups:
            serving.insert(0, shared.trained)
        models.append(_best_model(data, recipe, group, serving))
    return TrainingResult(models, recipe, shared.log_losses)


@dataclass(frozen=True)
class _Workshop:
    """Runs trainings side by side."""

    data: TrainingData
    n_jobs: int | None
    verbose: bool

    def run(self, jobs: list[Any], learner: Any) -> list[Any]:
        """Run jobs of trainings, and return their results in order."""
        # Logistic regression on many rows trains in long calls without Python's lock,
        # and threads share X as it is. Other learners train in processes.
        linear = takes_repetitions(learner)
        prefer = "threads" if linear and len(self.data.y) >= _MANY_ROWS else None
        parallel = Parallel(self.n_jobs, return_as="generator", prefer=prefer)
        with blas_in_one_thread() if linear else nullcontext():
            results = parallel(jobs)
            shown = progress(results, len(jobs), title="training", shown=self.verbose)
            return list(shown)

    def train(self, plans: list[LearnerPlan]) -> list[TrainedLearner]:
        """Train the folds and refits of learners."""
        if not plans:
            return []
        jobs = [job for plan in plans for job in plan.first_jobs]
        results = iter(self.run(jobs, plans[0].learner))
        trained = []
        for plan in plans:
            folds = list(islice(results, len(plan.fold_jobs)))
            refitted = None if plan.refit_job is None else next(results)
            trained.append(TrainedLearner(plan, folds, refitted, []))
        return trained

    def train_members(
        self, trained: list[TrainedLearner], recipe: Recipe
    ) -> list[TrainedLearner]:
        """Train the members of resampled pools, each starting near its refit."""
        jobs = []
        for results in trained:
            plan = results.plan
            for theta, seed in zip(recipe.thetas, plan.member_seeds, strict=False):
                job = delayed(fit_member)(
                    plan.learner,
                    plan.rows,
                    plan.y,
                    self.data.positive,
                    theta,
                    weights=plan.weights,
                    seed=seed,
                    near=results.refitted,
                )
                jobs.append(job)
        members = iter(self.run(jobs, recipe.learner) if jobs else [])
        completed = []
        for results in trained:
            own = list(islice(members, len(results.plan.member_seeds)))
            completed.append(replace(results, members=own))
        return completed


@dataclass(frozen=True)
class _SharedLearner:
    """The learner of all groups, if there is one, and the choice among candidates."""

    trained: TrainedLearner | None
    chosen: str
    log_losses: dict[str, float]


def _train_shared(
    workshop: _Workshop,
    recipes: Mapping[str, Recipe],
    groups: list[GroupRows],
    seeds: Seeds,
) -> _SharedLearner:
    """Cross-validate the candidates on all groups; the best is the shared learner.

    Only training rows are looked at. Groups weigh equally: by a mean over rows the
    largest group alone would choose.
    """
    data = workshop.data
    name, recipe = next(iter(recipes.items()))
    together = [(group, rows) for group, rows in groups if group != EVERYONE]
    shares = bool(recipe.share) and len(together) > 1
    shares = shares and not recipe.prefit and not recipe.resampled
    shares = shares and _can_share(data, recipe)
    shares = shares and not _needs_no_sharing(data, recipe, together)
    if len(recipes) == 1 and not shares:
        return _SharedLearner(None, name, {})
    names, index, codes = _code_groups(data, together or groups)
    may_keep = shares and len(codes) <= _MOST_ROWS_TO_CHOOSE
    if len(recipes) > 1 and not may_keep:
        chosen, log_losses = _choose_on_sample(
            workshop, recipes, names, index, codes, seeds
        )
        recipes = {chosen: recipes[chosen]}
        if not shares:
            return _SharedLearner(None, chosen, log_losses)
        plan = plan_shared(data, recipes[chosen], names, index, codes, seeds)
        return _SharedLearner(workshop.train([plan])[0], chosen, log_losses)
    plans = [
        plan_shared(data, candidate, names, index, codes, seeds)
        for candidate in recipes.values()
    ]
    trained = dict(zip(recipes, workshop.train(plans), strict=True))
    log_losses = {}
    for name, results in trained.items():
        log_losses[name] = _mean_log_loss(data, recipes[name], results)
    chosen = min(log_losses, key=lambda name: log_losses[name])
    if len(recipes) == 1:
        log_losses = {}
    return _SharedLearner(trained[chosen], chosen, log_losses)


def _can_share(data: TrainingData, recipe: Recipe) -> bool:
    """Tell whether the group can be put among the features.

    It is one more column, so that rows must be a table when they reach the learner.
    """
    if data.is_table or recipe.fits_transformers_once:
        return True
    if recipe.share is True:
        raise ValueError(
            "share_estimator must be False or 'auto' if X is no table of columns, got "
            "True."
        )
    return False


def _needs_no_sharing(
    data: TrainingData, recipe: Recipe, groups: list[GroupRows]
) -> bool:
    """Tell whether every group has plenty of rows for a learner of its own."""
    if recipe.share != "auto":
        return False
    return all(_has_plenty(data, recipe, rows) for _, rows in groups)


def _has_plenty(data: TrainingData, recipe: Recipe, rows: np.ndarray | None) -> bool:
    """Tell whether a group has so many rows that other groups' rows add nothing.

    From 5,000 rows on, a shared learner lowered the log loss by half a percent where
    groups are alike, and raised it by 12 % where P(y | x) differs between them.
    """
    n_rows = len(data.labels(rows))
    return n_rows >= PLENTY_OF_ROWS or recipe.is_steady(n_rows, data.n_columns)


def _code_groups(
    data: TrainingData, groups: list[GroupRows]
) -> tuple[list[Group], np.ndarray | None, np.ndarray]:
    """Number the groups, and find the number of each of their rows."""
    codes = np.full(len(data.y), -1)
    for code, (_, rows) in enumerate(groups):
        codes[all_if_none(rows)] = code
    index = None if (codes >= 0).all() else np.flatnonzero(codes >= 0)
    return [group for group, _ in groups], index, codes[codes >= 0]


def _choose_on_sample(
    workshop: _Workshop,
    recipes: Mapping[str, Recipe],
    names: list[Group],
    index: np.ndarray | None,
    codes: np.ndarray,
    seeds: Seeds,
) -> tuple[str, dict[str, float]]:
    """Cross-validate candidates on at most 20,000 of the rows."""
    data = workshop.data
    rows = np.arange(len(data.y)) if index is None else index
    if len(rows) > _MOST_ROWS_TO_CHOOSE:
        random = np.random.RandomState(seeds.splits)
        kept = random.choice(len(rows), _MOST_ROWS_TO_CHOOSE, replace=False)
        kept.sort()
        rows = rows[kept]
        codes = codes[kept]
    plans = []
    for recipe in recipes.values():
        to_compare = replace(recipe, cv=3, scores="folds", share=True)
        plans.append(plan_shared(data, to_compare, names, rows, codes, seeds))
    log_losses = {}
    for name, results in zip(recipes, workshop.train(plans), strict=True):
        log_losses[name] = _mean_log_loss(data, recipes[name], results)
    return min(log_losses, key=lambda name: log_losses[name]), log_losses


def _mean_log_loss(
    data: TrainingData, recipe: Recipe, results: TrainedLearner
) -> float:
    """Average the out-of-fold log loss over rows within groups, then over groups."""
    losses = []
    for group in results.plan.groups:
        losses.append(tested_rows(data, recipe, results, group).log_loss())
    return float(np.mean(losses))


def _train_own(
    workshop: _Workshop,
    recipe: Recipe,
    groups: list[GroupRows],
    seeds: list[Seeds],
    shared: TrainedLearner | None,
) -> dict[Group, TrainedLearner]:
    """Train a learner for each group that needs or deserves one of its own."""
    data = workshop.data
    served = set() if shared is None else set(shared.plan.groups)
    needed = []
    to_try = []
    for (group, rows), group_seeds in zip(groups, seeds, strict=False):
        enough_rows = len(data.labels(rows)) >= _ROWS_FOR_OWN_LEARNER
        needs_no_others = recipe.share == "auto" and _has_plenty(data, recipe, rows)
        if group not in served or needs_no_others:
            needed.append(plan_own(data, recipe, group, rows, group_seeds))
        elif recipe.share == "auto" and enough_rows:
            to_try.append(plan_own(data, recipe, group, rows, group_seeds))
    needed += _worth_training(workshop, recipe, to_try, shared)
    trained = workshop.train(needed)
    trained = workshop.train_members(trained, recipe)
    return {results.plan.groups[0]: results for results in trained}


def _worth_training(
    workshop: _Workshop,
    recipe: Recipe,
    plans: list[LearnerPlan],
    shared: TrainedLearner | None,
) -> list[LearnerPlan]:
    """Keep the groups whose own learner beats the shared one on its first fold.

    One fold costs a third of a learner, and most groups are better served by sharing.
    Groups in which the shared learner leaves nothing unexplained are not even tried.
    """
    if shared is None:
        return []
    rivals = {}
    tried = []
    for plan in plans:
        rival = tested_rows(workshop.data, recipe, shared, plan.groups[0])
        if leaves_something_unexplained(shared.plan.rows, rival):
            tried.append(plan)
            rivals[plan.groups[0]] = rival.log_loss()
    if not tried:
        return []
    folds = workshop.run([plan.fold_jobs[0] for plan in tried], tried[0].learner)
    kept = []
    for plan, fold in zip(tried, folds, strict=True):
        tested = plan.tested[0]
        is_positive = plan.y[tested] == workshop.data.positive
        own = TestedRows(fold.scores, is_positive, None, tested)
        if own.log_loss() < rivals[plan.groups[0]]:
            kept.append(plan)
    return kept


def _best_model(
    data: TrainingData, recipe: Recipe, group: Group, serving: list[TrainedLearner]
) -> GroupModel:
    """Assemble the model of a group from the learner that serves it best.

    The learners are compared by the log loss of the group's own out-of-fold scores; no
    batch is looked at.
    """
    tested = [tested_rows(data, recipe, results, group) for results in serving]
    losses = [rows.log_loss() for rows in tested]
    best = int(np.argmin(losses))
    return assemble_model(data, recipe, serving[best], tested[best], group)
