"""Which learners are trained, and the model of each group that they leave."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from cape._columns import TableCells, column_names
from cape._group_model import (
    DecidedPool,
    GroupModel,
    MemberRates,
    Pool,
    ResampledPool,
    ThresholdPool,
    TrainedColumns,
)
from cape._groups import EVERYONE, Group, Groups, group_name
from cape._histogram import ScoreHistogram, edges_for
from cape._io import progress
from cape._learners._choice import (
    columns_to_encode,
    default_candidates,
    has_member,
    member_of,
    tabular,
)
from cape._learners._fitting import (
    fit_member,
    follows_its_folds,
    takes_repetitions,
    weight_keyword,
)
from cape._learners._scores import Decisions, Scores, model_columns
from cape._learners._scoring import score_rows, vote_on_rows
from cape._learners._shared import for_one_group
from cape._learners._threads import blas_in_one_thread
from cape._training._borrow import FEWEST_GROUPS, Borrowed, borrow, group_effects
from cape._training._data import (
    TrainingData,
    find_small_groups,
    warn_of_duplicates,
    warn_of_weak_groups,
)
from cape._training._learner import (
    PLENTY_OF_ROWS,
    Learner,
    Recipe,
    TestedRows,
    check_cv,
    check_prefit,
    plan_learner,
)
from cape._validation import (
    all_if_none,
    check_prevalence,
    check_random_state,
    number_of_rows,
    take_rows,
)
from cape._wording._results import of_group
from cape.metrics._rates import FEWEST_ROWS
from cape.quantify import Quantifier, make_quantifier
from cape.sampling import prevalence_grid

_MANY_ROWS = 20_000
"""Rows of a group from which on threads train logistic regressions faster than
processes do."""

_MOST_ROWS_TO_CHOOSE = 20_000
"""Rows on which candidates are compared."""

_ROWS_FOR_OWN_LEARNER = 500
"""Rows of a group from which on a learner of its own is tried beside the shared one,
unless there are more columns than rows."""

GroupRows = tuple[Group, "np.ndarray | None"]


def train_groups(
    clf: Any, data: TrainingData, groups: Groups
) -> tuple[dict[Group, GroupModel], GroupModel | None, Recipe, list[dict[str, Any]]]:
    """Train the model of each group, as the parameters of a classifier say.

    Parameters
    ----------
    clf : CapeClassifier
    data : TrainingData
    groups : Groups
        The group of each row.

    Returns
    -------
    models : dict from group to GroupModel
    pooled : GroupModel or None
        The model of all groups together, for small and unknown groups.
    recipe : Recipe
        The one that was given or chosen.
    tried : list of dict
        The learners that were tried, their log losses, and which was chosen.
    """
    recipes = _make_recipes(clf, data)
    recipe = next(iter(recipes.values()))
    prefit = recipe.prefit
    mode = clf.small_groups
    if mode == "borrow" and recipe.keeps_rows:
        # What is borrowed are weighted counts, which quantifiers of QuaPy do not take.
        mode = "pooled"
    small = find_small_groups(
        data,
        groups,
        min_group_size=clf.min_group_size,
        folds_needed=not prefit,
        small_groups=mode,
    )
    to_train = list(groups.rows())
    needs_pooled = clf.unknown_groups == "pooled" or clf.missing_groups == "drop"
    borrowers: Collection[Group] = ()
    if mode != "borrow":
        to_train = [(group, rows) for group, rows in to_train if group not in small]
        needs_pooled |= bool(small)
        small = set()
    elif clf.drift == "cautious" and len(to_train) >= FEWEST_GROUPS:
        borrowers = groups.keys
    else:
        borrowers = small
    if small:
        # Small groups borrow from the learner of all groups if there is one, and from
        # that of the pooled model otherwise.
        needs_pooled |= not _may_share(data, recipe, to_train)
    names = [group for group, _ in to_train]
    if needs_pooled:
        to_train.append((EVERYONE, None))
    trained, chosen, log_losses = _train(
        data, recipes, to_train, clf.random_state, small, borrowers
    )
    if clf.drift == "cautious":
        trained = _with_columns(data, to_train, trained)
    pooled: Any = trained.pop() if needs_pooled else None
    models: dict[Group, GroupModel] = dict(zip(names, trained, strict=True))
    for group, rows in groups.rows():
        if group not in models:
            # The model is that of all groups; the facts are the group's own.
            models[group] = replace(
                pooled,
                size=len(data.labels(rows)),
                prevalence=data.prevalence(rows),
            )
    warn_of_duplicates(data, groups)
    warn_of_weak_groups(models, clf.min_class_size, prefit)
    tried = []
    for name in recipes:
        log_loss = log_losses.get(name, float("nan"))
        tried.append({"learner": name, "log_loss": log_loss, "chosen": name == chosen})
    in_order = {group: models[group] for group in groups.keys}
    return in_order, pooled, recipes[chosen], tried


def _make_recipes(clf: Any, data: TrainingData) -> dict[str, Recipe]:
    """Make the recipe of the user's learner, or one for each candidate."""
    estimator = clf.estimator
    cv = clf.cv
    if isinstance(estimator, Scores):
        # Its scores are logged: it is fitted, and all rows are a hold-out.
        estimator = clone(estimator).fit(data.X, data.y)
        cv = "prefit"
    candidates = {"given": estimator}
    # The encoders that we put in front of a learner never look at labels.
    once = clf.estimator is None
    if clf.preprocessing != "auto":
        once = clf.preprocessing == "once"
    if clf.estimator is None:
        candidates = default_candidates(len(data.y), data.n_columns)
        to_encode = columns_to_encode(data.X)
        if to_encode:
            for name, learner in candidates.items():
                candidates[name] = tabular(learner, to_encode)
    # Once for all groups and candidates: a generator of splits can be read once.
    cv = check_cv(cv, number_of_rows(data.X))
    thetas = _grid(clf.prevalences)
    recipes = {}
    for name, estimator in candidates.items():
        recipe = Recipe(
            estimator=estimator,
            quantifier=clf.quantifier,
            resampled=clf.pool == "resampled",
            thetas=thetas,
            cv=cv,
            scores=clf.scores,
            transform_once=once,
            share=clf.share_estimator,
            n_jobs=clf.n_jobs,
            verbose=bool(clf.verbose),
        )
        if recipe.prefit:
            check_prefit(estimator, data.classes, data.X, clf.group_columns)
        elif data.weights is not None:
            # Raises now, before anything is trained, if weights are not taken.
            weight_keyword(estimator)
        recipes[name] = recipe
    return recipes


def _grid(prevalences: Any) -> np.ndarray:
    """Return the grid Theta."""
    if isinstance(prevalences, Integral):
        return prevalence_grid(int(prevalences))
    thetas = []
    for theta in np.ravel(np.asarray(prevalences, dtype=object)):
        thetas.append(check_prevalence("prevalences", theta, closed=False))
    if not thetas:
        raise ValueError(
            f"prevalences must hold at least one value in (0, 1), got {prevalences!r}."
        )
    return np.unique(thetas)


def _train(
    data: TrainingData,
    recipes: Mapping[str, Recipe],
    groups: list[GroupRows],
    random_state: Any,
    small: Collection[Group],
    borrowers: Collection[Group],
) -> tuple[list[GroupModel], str, dict[str, float]]:
    """Train the model of each group, with the best of some recipes.

    Parameters
    ----------
    data : TrainingData
    recipes : mapping from name to Recipe
        Candidates that differ in their learner; with one, there is no choice.
    groups : list of tuples of group and rows
        Rows as an array of row numbers; None means all rows.
    random_state : int, RandomState or None
    small : collection of Group
        Groups that cannot have a model of their own.
    borrowers : collection of Group
        Groups that borrow, as far as they are small.

    Returns
    -------
    models : list of GroupModel
        In the order of the groups.
    chosen : str
        The recipe that was given or chosen.
    log_losses : dict from name to float
        Of every candidate, by cross-validation; empty if there was no choice.
    """
    # All seeds are drawn before any training starts, so that answers depend neither on
    # n_jobs nor on the order in which trainings end.
    n_seeds = 3 + len(next(iter(recipes.values())).thetas)
    random = check_random_state(random_state)
    drawn = random.randint(np.iinfo(np.int32).max, size=(len(groups) + 1, n_seeds))
    seeds = drawn.tolist()
    shared, chosen, log_losses = _train_shared(data, recipes, groups, seeds[-1], small)
    recipe = recipes[chosen]
    own = _train_own(data, recipe, groups, seeds, shared, small)
    lender = own.get(EVERYONE) if shared is None else shared
    borrowed: dict[Group, Borrowed] = {}
    if lender is not None and borrowers:
        found = _borrow(data, recipe, lender, groups, small)
        borrowed = {group: found[group] for group in found if group in borrowers}
    models = []
    for group, rows in groups:
        serving = [own[group]] if group in own else []
        if shared is not None and group in shared.groups:
            serving.insert(0, shared)
        if not serving and lender is not None:
            serving = [lender]
        # The learners are compared by the log loss of the group's own out-of-fold
        # scores; no batch is looked at.
        tested = [learner.tested(group, recipe, data.positive) for learner in serving]
        best = 0
        if len(serving) > 1:
            best = int(np.argmin([scores.log_loss() for scores in tested]))
        learner = serving[best]
        taken = borrowed.get(group) if learner is lender else None
        labels = tested[best].is_positive
        if taken is None and (labels.all() or not labels.any()):
            raise ValueError(
                "cv must test rows of both classes in every group, got a splitter "
                f"whose test folds contain only one class in group "
                f"{group_name(group)!r}."
            )
        model = _assemble(data, recipe, group, rows, learner, tested[best], taken)
        models.append(model)
    return models, chosen, log_losses


def _borrow(
    data: TrainingData,
    recipe: Recipe,
    lender: Learner,
    groups: list[GroupRows],
    small: Collection[Group],
) -> dict[Group, Borrowed]:
    """Find what groups borrow whose rows a learner of all groups scores."""
    tested = {}
    for group, rows in groups:
        if group != EVERYONE:
            # The learner of the pooled model knows no groups.
            of_group = rows if lender.codes is None else None
            tested[group] = lender.tested(group, recipe, data.positive, of_group)
    effects = group_effects(lender, data.positive, len(tested))
    return borrow(tested, effects, small)


def _train_shared(
    data: TrainingData,
    recipes: Mapping[str, Recipe],
    groups: list[GroupRows],
    seeds: list[int],
    small: Collection[Group],
) -> tuple[Learner | None, str, dict[str, float]]:
    """Cross-validate the candidates on all groups; the best is the shared learner.

    Only training rows are looked at. Groups weigh equally: by a mean over rows the
    largest group alone would choose.

    Returns
    -------
    shared : Learner or None
        The learner of all groups, if there is one.
    chosen : str
    log_losses : dict from name to float
    """
    chosen, recipe = next(iter(recipes.items()))
    log_losses: dict[str, float] = {}
    shared = None
    together = [(group, rows) for group, rows in groups if group != EVERYONE]
    shares = _may_share(data, recipe, together)
    names, index, codes = _code_groups(data, together or groups)
    is_large = len(codes) > _MOST_ROWS_TO_CHOOSE
    if len(recipes) > 1 and (is_large or not shares):
        sample, of_sample = _sample(data, index, codes, seeds[0])
        learners = {}
        for name, candidate in recipes.items():
            quick = replace(candidate, cv=3, scores="folds", share=True)
            learners[name] = plan_learner(data, quick, names, sample, seeds, of_sample)
        log_losses = _compare(data, recipe, learners, small)
        chosen = min(log_losses, key=lambda name: log_losses[name])
        recipes = {chosen: recipes[chosen]}
    if shares:
        learners = {}
        for name, candidate in recipes.items():
            learners[name] = plan_learner(data, candidate, names, index, seeds, codes)
        compared = _compare(data, recipe, learners, small)
        if len(recipes) > 1:
            log_losses = compared
            chosen = min(log_losses, key=lambda name: log_losses[name])
        shared = learners[chosen]
    return shared, chosen, log_losses


def _may_share(data: TrainingData, recipe: Recipe, groups: list[GroupRows]) -> bool:
    """Tell whether one learner is to be trained for these groups."""
    if not recipe.share or len(groups) < 2 or recipe.prefit or recipe.resampled:
        return False
    # The group is one more column, so that rows must be a table when they reach the
    # learner, and the learner must have no setting for each single column.
    why_not = ""
    if not data.is_table and not recipe.fits_transformers_once:
        why_not = "if X is no table of columns"
    elif _has_setting_for_each_column(recipe.learner, data.n_columns):
        why_not = "if the estimator has a setting for each column"
    if recipe.share == "auto":
        every_group_has_plenty = all(
            _has_plenty(data, recipe, rows) for _, rows in groups
        )
        return not why_not and not every_group_has_plenty
    if why_not:
        raise ValueError(
            f"share_estimator must be False or 'auto' {why_not}, got True."
        )
    return True


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


def _sample(
    data: TrainingData, index: np.ndarray | None, codes: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Take the rows on which candidates are compared, and the groups of these rows."""
    rows = np.arange(len(data.y)) if index is None else index
    if len(rows) <= _MOST_ROWS_TO_CHOOSE:
        return rows, codes
    random = np.random.RandomState(seed)
    kept = random.choice(len(rows), _MOST_ROWS_TO_CHOOSE, replace=False)
    kept.sort()
    return rows[kept], codes[kept]


def _compare(
    data: TrainingData,
    recipe: Recipe,
    learners: Mapping[str, Learner],
    small: Collection[Group],
) -> dict[str, float]:
    """Train candidates, and average their log losses within groups, then over groups.

    Small groups do not count, unless there are no others: their losses are noise.
    A candidate that takes part in the vote of the first is not trained: on 10,000 rows
    this saves a quarter of the whole training.
    """
    vote = next(iter(learners.values()))
    inside = []
    alone = []
    for learner in learners.values():
        # Encoders are chosen for the learner, so that a member may see other columns.
        same_rows = vote.transformer is None and learner.transformer is None
        is_member = has_member(vote.estimator, learner.estimator)
        takes_part = same_rows and not vote.refit and is_member
        if takes_part:
            inside.append(learner)
        else:
            alone.append(learner)
    _train_learners(data, recipe, alone)
    for learner in inside:
        for (voting, _), (_, test) in zip(vote.folds, learner.splits, strict=True):
            model = member_of(voting, learner.estimator)
            scores = score_rows(model, learner.rows.take(test), data.positive)
            learner.folds.append((model, scores))
    log_losses = {}
    for name, learner in learners.items():
        losses = []
        for group in learner.groups:
            if group not in small:
                losses.append(learner.tested(group, recipe, data.positive).log_loss())
        if not losses:
            everyone = np.arange(len(learner.y))
            together = learner.tested(EVERYONE, recipe, data.positive, everyone)
            losses = [together.log_loss()]
        log_losses[name] = float(np.mean(losses))
    return log_losses


def _train_own(
    data: TrainingData,
    recipe: Recipe,
    groups: list[GroupRows],
    seeds: list[list[int]],
    shared: Learner | None,
    small: Collection[Group],
) -> dict[Group, Learner]:
    """Train a learner for each group that needs or deserves one of its own."""
    served = [] if shared is None else shared.groups
    needed = []
    to_try = []
    for (group, rows), group_seeds in zip(groups, seeds, strict=False):
        if group in small:
            continue
        n_needed = max(_ROWS_FOR_OWN_LEARNER, data.n_columns)
        enough_rows = len(data.labels(rows)) >= n_needed
        needs_no_others = recipe.share == "auto" and _has_plenty(data, recipe, rows)
        if group not in served or needs_no_others:
            needed.append(plan_learner(data, recipe, [group], rows, group_seeds))
        elif recipe.share == "auto" and enough_rows:
            to_try.append(plan_learner(data, recipe, [group], rows, group_seeds))
    if shared is not None:
        needed += _worth_training(data, recipe, to_try, shared)
    _train_learners(data, recipe, needed)
    if recipe.resampled:
        _train_members(data, recipe, needed)
    return {learner.groups[0]: learner for learner in needed}


def _worth_training(
    data: TrainingData, recipe: Recipe, learners: list[Learner], shared: Learner
) -> list[Learner]:
    """Keep the groups whose own learner beats the shared one on its first fold.

    One fold costs a third of a learner, and most groups are better served by sharing.
    Groups in which the shared learner leaves nothing unexplained are not even tried.
    """
    tried = []
    rivals = []
    for learner in learners:
        rival = shared.tested(learner.groups[0], recipe, data.positive)
        if rival.are_unexplained(shared.rows):
            tried.append(learner)
            rivals.append(rival.log_loss())
    folds = _run(data, recipe, [learner.jobs(data.positive)[0] for learner in tried])
    kept = []
    for learner, rival_loss, (_, scores) in zip(tried, rivals, folds, strict=True):
        test = learner.splits[0][1]
        first = np.zeros(len(test), dtype=np.int64)
        own = TestedRows(scores, learner.y[test] == data.positive, None, test, first)
        if own.log_loss() < rival_loss:
            kept.append(learner)
    return kept


def _train_learners(
    data: TrainingData, recipe: Recipe, learners: list[Learner]
) -> None:
    """Train the folds and refits of learners."""
    jobs = [job for learner in learners for job in learner.jobs(data.positive)]
    results = iter(_run(data, recipe, jobs))
    for learner in learners:
        learner.folds = [next(results) for _ in learner.splits]
        if learner.refit:
            learner.refitted = next(results)


def _train_members(data: TrainingData, recipe: Recipe, learners: list[Learner]) -> None:
    """Train the members of resampled pools, each starting near its refit."""
    jobs = []
    for learner in learners:
        for theta, seed in zip(recipe.thetas, learner.seeds[3:], strict=True):
            job = delayed(fit_member)(
                learner.estimator,
                learner.rows,
                learner.y,
                data.positive,
                theta,
                weights=learner.weights,
                seed=seed,
                near=learner.refitted,
            )
            jobs.append(job)
    members = iter(_run(data, recipe, jobs))
    for learner in learners:
        learner.members = [next(members) for _ in recipe.thetas]


def _run(data: TrainingData, recipe: Recipe, jobs: list[Any]) -> list[Any]:
    """Run jobs of trainings side by side, and return their results in order."""
    if not jobs:
        return []
    # Logistic regression on many rows trains in long calls without Python's lock, and
    # threads share X as it is. Other learners train in processes.
    # The first argument of every job is its learner.
    linear = takes_repetitions(jobs[0][1][0])
    prefer = "threads" if linear and len(data.y) >= _MANY_ROWS else None
    parallel = Parallel(recipe.n_jobs, return_as="generator", prefer=prefer)
    with blas_in_one_thread() if linear else nullcontext():
        results = parallel(jobs)
        if recipe.verbose:
            results = progress(results, len(jobs), title="training", shown=True)
        return list(results)


def _assemble(
    data: TrainingData,
    recipe: Recipe,
    group: Group,
    rows: np.ndarray | None,
    learner: Learner,
    tested: TestedRows,
    borrowed: Borrowed | None,
) -> GroupModel:
    """Make the model of one of the groups that a learner serves."""
    prevalence = None
    if borrowed is not None:
        tested = borrowed.tested
        prevalence = borrowed.prevalence
    positives, negatives = _count_scores(recipe, tested)
    quantifier = _fit_quantifier(recipe.quantifier, positives, negatives, group)
    if prevalence is not None:
        # The sizes of borrowed histograms are what they are worth.
        quantifier.prevalence_ = prevalence
    models = (
        [learner.refitted] if learner.refit else [fold[0] for fold in learner.folds]
    )
    if recipe.prefit:
        models = [recipe.estimator]
    group_code = None
    if learner.codes is not None:
        code = learner.groups.index(group)
        special = [for_one_group(model, code) for model in models]
        models = [model for model, _ in special]
        group_code = code if special[0][1] else None
    pool: Pool
    if recipe.resampled:
        pool = ResampledPool.of(recipe.thetas, learner.members)
    else:
        pool = ThresholdPool.of(models, positives, negatives, prevalence)
    if isinstance(models[0], Scores) and models[0].decision is not None:
        decisions = Decisions(models[0])
        rates = _rates_of_decisions(data, rows, decisions)
        pool = DecidedPool.of_decisions(pool, decisions, rates)  # type: ignore[arg-type]
    return GroupModel(
        size=len(data.labels(rows)),
        prevalence=data.prevalence(rows) if prevalence is None else prevalence,
        positives=positives,
        negatives=negatives,
        positive=data.positive,
        scoring_models=models,
        quantifier=quantifier,
        pool=pool,
        # Fold models score new rows as they score their test folds, and a prefit model
        # has seen neither hold-out nor batch. A refitted model needs a closer look.
        test_is_sound=not learner.refit or follows_its_folds(models[0], len(learner.y)),
        transformer=learner.transformer,
        group_code=group_code,
        own=None if borrowed is None else borrowed.own,
    )


def _rates_of_decisions(
    data: TrainingData, rows: np.ndarray | None, decisions: Decisions
) -> MemberRates:
    """Count how the rows of a group were decided, classes apart."""
    decided = vote_on_rows(decisions, take_rows(data.X, rows), data.positive)
    is_positive = data.labels(rows) == data.positive
    worth = data.worth_of(rows)
    if worth is None:
        worth = np.ones(len(decided))
    counts = []
    for of_class in (is_positive, ~is_positive):
        counts += [[worth[of_class & decided].sum()], [worth[of_class].sum()]]
    return MemberRates(*np.array(counts))


def _count_scores(
    recipe: Recipe, tested: TestedRows
) -> tuple[ScoreHistogram, ScoreHistogram]:
    """Make the histograms of the out-of-fold scores of positives and of negatives."""
    positive = tested.is_positive
    scores = [tested.scores[positive], tested.scores[~positive]]
    weights: list[Any] = [None, None]
    if tested.weights is not None:
        weights = [tested.weights[positive], tested.weights[~positive]]
    # Both classes get the same edges, and so does every batch: that is what makes
    # histograms comparable and lets evidence add up.
    edges = edges_for(*scores, positive_weights=weights[0], negative_weights=weights[1])
    positives, negatives = (
        ScoreHistogram.of(
            of_class, edges, weights=class_weights, keep_rows=recipe.keeps_rows
        )
        for of_class, class_weights in zip(scores, weights, strict=True)
    )
    return positives, negatives


def _fit_quantifier(
    quantifier: Any, positives: ScoreHistogram, negatives: ScoreHistogram, group: Group
) -> Quantifier:
    """Fit a clone of the quantifier; its warnings name the group."""
    # A quantifier does not know whose scores it sees, so its warnings are caught and
    # given again with the name of the group.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = make_quantifier(quantifier).fit(positives, negatives)
    for warning in caught:
        message = str(warning.message)
        if group != EVERYONE:
            message = of_group(message, group)
        warnings.warn(message, warning.category, stacklevel=2)
    return fitted


def _with_columns(
    data: TrainingData, groups: list[GroupRows], models: list[GroupModel]
) -> list[GroupModel]:
    """Give the models of groups the counts of their columns, classes apart.

    The cells are chosen on all rows, so that they are the same for all groups. A group
    with fewer than ten rows of a class has the counts of all groups. Models are
    returned as they were if X has no columns that can be counted.
    """
    skipped = model_columns(models[0].scoring_models[0], column_names(data.X))
    cells = TableCells.of(data.X, skipped)
    if cells is None:
        return models
    parts = []
    is_positive = data.y == data.positive
    for _, rows in groups:
        positions = np.arange(len(data.y))[all_if_none(rows)]
        parts.append(positions[is_positive[positions]])
        parts.append(positions[~is_positive[positions]])
    counts = cells.count_each(data.X, parts, [data.worth_of(part) for part in parts])
    counted = []
    for positives, negatives in zip(counts[::2], counts[1::2], strict=True):
        counted.append(TrainedColumns(cells, positives, negatives))
    of_groups = [
        columns
        for columns, (group, _) in zip(counted, groups, strict=True)
        if group != EVERYONE or len(groups) == 1
    ]
    together = TrainedColumns(
        cells,
        sum(columns.positives for columns in of_groups),  # type: ignore[arg-type]
        sum(columns.negatives for columns in of_groups),  # type: ignore[arg-type]
        are_own=False,
    )
    completed = []
    for model, columns in zip(models, counted, strict=True):
        own = model.own
        if own is not None and min(own.positives, own.negatives) < FEWEST_ROWS:
            columns = together
        completed.append(replace(model, columns=columns))
    return completed
