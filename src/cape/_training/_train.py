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
    has_member,
    member_of,
    score_rows,
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
from cape._training._plan import Fold, LearnerPlan, Seeds, plan_own, plan_shared
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
    plans = {}
    for name, candidate in recipes.items():
        plans[name] = plan_shared(data, candidate, names, index, codes, seeds)
    trained = _train_candidates(workshop, plans)
    log_losses = {}
    for name, results in trained.items():
        log_losses[name] = _mean_log_loss(data, recipes[name], results)
    chosen = min(log_losses, key=lambda name: log_losses[name])
    if len(recipes) == 1:
        log_losses = {}
    return _SharedLearner(trained[chosen], chosen, log_losses)


def _can_share(data: TrainingData, recipe: Recipe) -> bool:
    """Tell whether the group can be put among the features.

    It is one more column, so that rows must be a table when they reach the learner, and
    the learner must have no setting for each single column.
    """
    why_not = ""
    if not data.is_table and not recipe.fits_transformers_once:
        why_not = "if X is no table of columns"
    elif _has_setting_for_each_column(recipe.learner, data.n_columns):
        why_not = "if the estimator has a setting for each column"
    if why_not and recipe.share is True:
        raise ValueError(
            f"share_estimator must be False or 'auto' {why_not}, got True."
        )
    return not why_not


def _has_setting_for_each_column(learner: Any, n_columns: int) -> bool:
    """Tell whether a parameter lists something for every column, as masks do."""
    if not hasattr(learner, "get_params"):
        return False
    for value in learner.get_params().values():
        is_list = isinstance(value, (list, tuple, np.ndarray))
        # A list of names or of steps is no list of settings.
        plain = is_list and np.asarray(value, dtype=object).ndim == 1
        if plain and len(value) == n_columns and not isinstance(value[0], str):
            return all(isinstance(item, (int, float, np.generic)) for item in value)
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
    plans = {}
    for name, recipe in recipes.items():
        to_compare = replace(recipe, cv=3, scores="folds", share=True)
        plans[name] = plan_shared(data, to_compare, names, rows, codes, seeds)
    log_losses = {}
    for name, results in _train_candidates(workshop, plans).items():
        log_losses[name] = _mean_log_loss(data, recipes[name], results)
    return min(log_losses, key=lambda name: log_losses[name]), log_losses


def _train_candidates(
    workshop: _Workshop, plans: Mapping[str, LearnerPlan]
) -> dict[str, TrainedLearner]:
    """Train candidates; one that takes part in the vote of the first is not trained.

    On 10,000 rows this saves a quarter of the whole training.
    """
    vote = next(iter(plans.values()))
    alone = {}
    for name, plan in plans.items():
        if not _takes_part(vote, plan):
            alone[name] = plan
    trained = dict(zip(alone, workshop.train(list(alone.values())), strict=True))
    vote_results = next(iter(trained.values()))
    results = {}
    for name, plan in plans.items():
        if name in trained:
            results[name] = trained[name]
        else:
            results[name] = _taken_out(vote_results, plan, workshop.data.positive)
    return results


def _takes_part(vote: LearnerPlan, plan: LearnerPlan) -> bool:
    """Tell whether the fold models of a candidate are inside those of the vote."""
    # Encoders are chosen for the learner, so that a member may see other columns.
    same_rows = vote.transformer is None and plan.transformer is None
    keeps_models = vote.refit_job is None
    return same_rows and keeps_models and has_member(vote.learner, plan.learner)


def _taken_out(vote: TrainedLearner, plan: LearnerPlan, positive: Any) -> Any:
    """Take a candidate out of the trained vote, and score its test folds."""
    folds = []
    for fold, tested in zip(vote.folds, plan.tested, strict=True):
        model = member_of(fold.model, plan.learner)
        scores = score_rows(model, plan.rows.take(tested), positive)
        folds.append(Fold(model, scores))
    return TrainedLearner(plan, folds, None, [])


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
    best = 0
    if len(serving) > 1:
        best = int(np.argmin([rows.log_loss() for rows in tested]))
    return assemble_model(data, recipe, serving[best], tested[best], group)
