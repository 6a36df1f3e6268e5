"""Which learners are trained, and the model of each group that they leave."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from cape.base._groups import EVERYONE, Group, Groups, group_name
from cape.base._io import progress
from cape.base._validation import (
    all_if_none,
    check_prevalence,
    check_random_state,
    number_of_rows,
    take_rows,
)
from cape.evidence._columns import TableCells, column_names
from cape.evidence._histogram import ScoreHistogram, edges_for
from cape.metrics._rates import FEWEST_ROWS
from cape.quantify import Quantifier, make_quantifier
from cape.shown._results import columns_without_values, of_group
from cape.training._borrow import FEWEST_GROUPS, Borrowed, borrow, group_effects
from cape.training._choice import (
    columns_to_encode,
    default_candidates,
    tabular,
)
from cape.training._data import (
    TrainingData,
    find_small_groups,
    kish_factor,
    warn_of_duplicates,
    warn_of_weak_groups,
)
from cape.training._fitting import (
    count_calls,
    fit_member,
    follows_its_folds,
    takes_repetitions,
    weight_keyword,
)
from cape.training._group_model import (
    DecidedPool,
    GroupModel,
    MemberRates,
    Pool,
    ResampledPool,
    ThresholdPool,
    TrainedColumns,
)
from cape.training._learner import (
    PLENTY_OF_ROWS,
    Learner,
    Recipe,
    TestedRows,
    check_cv,
    check_prefit,
    plan_learner,
)
from cape.training._sampling import prevalence_grid
from cape.training._scores import Decisions, Scores, model_columns
from cape.training._scoring import vote_on_rows
from cape.training._shared import for_one_group
from cape.training._threads import blas_in_one_thread, one_thread_to_train

_MANY_ROWS = 20_000
"""Rows of a group from which on threads train logistic regressions faster than
processes do."""

_MOST_ROWS_TO_CHOOSE = 20_000
"""Rows on which candidates are compared."""

_ROWS_FOR_OWN_LEARNER = 500
"""Rows of a group from which on a learner of its own is tried beside the shared one,
unless there are more columns than rows."""

_CUTS_OF_ALL = 100_000
_CUTS_OF_A_GROUP = (100, 1000)
"""Quantiles that histograms are cut at: all groups share so many, each has at least and
at most so many. With a thousand for each, 20,000 groups would take 5 GB."""

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
    small = find_small_groups(
        data,
        groups,
        min_group_size=clf.min_group_size,
        folds_needed=not recipe.prefit,
        small_groups=clf.small_groups,
    )
    to_train = list(groups.rows())
    needs_pooled = clf.unknown_groups == "pooled"
    borrowers: Collection[Group] = small
    if clf.small_groups != "borrow":
        to_train = [(group, rows) for group, rows in to_train if group not in small]
        needs_pooled |= bool(small)
        small = borrowers = set()
    elif clf.drift == "cautious" and len(to_train) >= FEWEST_GROUPS:
        borrowers = set(groups.keys)
    shares = _may_share(data, recipe, to_train)
    if small:
        # Small groups borrow from the learner of all groups if there is one, and from
        # that of the pooled model otherwise.
        needs_pooled |= not shares
    names = [group for group, _ in to_train]
    if needs_pooled:
        to_train.append((EVERYONE, None))
    training = _Training(data, recipes, to_train, small, clf.random_state)
    trained = training.train(shares, borrowers)
    if clf.drift == "cautious":
        trained = _with_columns(data, groups, [name for name, _ in to_train], trained)
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
    warn_of_weak_groups(models, clf.min_class_size, recipe.prefit)
    tried = []
    for name in recipes:
        log_loss = training.log_losses.get(name, float("nan"))
        is_chosen = name == training.chosen
        tried.append({"learner": name, "log_loss": log_loss, "chosen": is_chosen})
    in_order = {group: models[group] for group in groups.keys}
    return in_order, pooled, training.recipe, tried


def _make_recipes(clf: Any, data: TrainingData) -> dict[str, Recipe]:
    """Make the recipe of the user's learner, or one for each candidate."""
    estimator = clf.estimator
    cv = clf.cv
    if isinstance(estimator, Scores):
        # Its scores are logged: it is fitted, and all rows are a hold-out.
        labels = pd.Categorical(data.y, categories=data.classes, ordered=True)
        estimator = clone(estimator).fit(data.X, labels)
        cv = "prefit"
    candidates = {"given": estimator}
    # The encoders that we put in front of a learner never look at labels.
    once = clf.estimator is None
    if clf.preprocessing != "auto":
        once = clf.preprocessing == "once"
    if clf.estimator is None:
        _check_sizes(data.X)
        weighted = data.weights is not None
        size = len(data.y), data.n_columns
        candidates = default_candidates(*size, weighted=weighted)
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


def _check_sizes(X: Any) -> None:
    """Raise if numbers are too large for the default learner, which squares them."""
    numbers = X.select_dtypes("number") if hasattr(X, "select_dtypes") else X
    values = getattr(numbers, "data", None) if hasattr(numbers, "tocsr") else numbers
    values = np.asarray(values)
    if values.dtype.kind != "f":
        return
    largest = float(np.finfo(np.float32).max)
    too_large = np.argwhere(np.abs(values) > largest)
    if len(too_large):
        first = tuple(too_large[0])
        where = ""
        if len(first) > 1:
            names = column_names(numbers)
            where = f" in column {names[first[1]]!r}"
        raise ValueError(
            f"X must hold numbers of at most {largest:.2g}, got {values[first]:g}"
            f"{where}: as a mark for a missing value, make it one (NaN)."
        )


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


class _Training:
    """The training of all groups, with the best of some recipes.

    Parameters
    ----------
    data : TrainingData
    recipes : mapping from name to Recipe
        Candidates that differ in their learner; with one, there is no choice.
    groups : list of tuples of group and rows
        Rows as an array of row numbers; None means all rows.
    small : collection of Group
        Groups that cannot have a model of their own.
    random_state : int, RandomState or None

    Attributes
    ----------
    names : list of Group
        The groups, without the pooled model.
    codes : ndarray of int of shape (n_rows,)
        The group of each row, as a position in ``names``; -1 if it has none of them.
    chosen : str
        The recipe that was given or chosen.
    log_losses : dict from name to float
        Of every candidate, by cross-validation; empty if there was no choice.
    """

    def __init__(
        self,
        data: TrainingData,
        recipes: Mapping[str, Recipe],
        groups: list[GroupRows],
        small: Collection[Group],
        random_state: Any,
    ):
        self.data = data
        self.recipes = recipes
        self.groups = groups
        self.small = small
        # The pooled model has no group of its own, unless it is the only one.
        together = [(group, rows) for group, rows in groups if group != EVERYONE]
        together = together or groups
        self.names = [group for group, _ in together]
        self.codes = np.full(len(data.y), -1)
        for code, (_, rows) in enumerate(together):
            self.codes[all_if_none(rows)] = code
        self.chosen = next(iter(recipes))
        self.log_losses: dict[str, float] = {}
        # All seeds are drawn before any training starts, so that answers depend neither
        # on n_jobs nor on the order in which trainings end.
        n_seeds = 3 + len(self.recipe.thetas)
        random = check_random_state(random_state)
        drawn = random.randint(np.iinfo(np.int32).max, size=(len(groups) + 1, n_seeds))
        self.seeds = drawn.tolist()

    @property
    def recipe(self) -> Recipe:
        """The recipe that was given or chosen."""
        return self.recipes[self.chosen]

    def train(self, shares: bool, borrowers: Collection[Group]) -> list[GroupModel]:
        """Train the model of each group.

        Parameters
        ----------
        shares : bool
            Whether one learner is trained for all groups.
        borrowers : collection of Group
            Groups that borrow, as far as they are small.

        Returns
        -------
        list of GroupModel
            In the order of the groups.
        """
        shared = self._train_shared(shares)
        own = self._train_own(shared)
        lender = own.get(EVERYONE) if shared is None else shared
        borrowed: dict[Group, Borrowed] = {}
        if lender is not None and borrowers:
            borrowed = self._borrow(lender)
        models = []
        cuts = int(np.clip(_CUTS_OF_ALL // len(self.groups), *_CUTS_OF_A_GROUP))
        for group, rows in self.groups:
            serving = []
            if shared is not None and group in shared.tested:
                serving.append(shared)
            if group in own:
                serving.append(own[group])
            if not serving and lender is not None:
                serving = [lender]
            learner = serving[0]
            # The learner of the pooled model knows no groups.
            known = group if group in learner.tested else EVERYONE
            tested = learner.tested[known]
            # The learners are compared by the log loss of the group's own out-of-fold
            # scores; no batch is looked at.
            for rival in serving[1:]:
                of_rival = rival.tested[group]
                if of_rival.log_loss() < tested.log_loss():
                    learner, tested = rival, of_rival
            taken = None
            if learner is lender and group in borrowers:
                taken = borrowed.get(group)
            labels = tested.is_positive
            if taken is None and (labels.all() or not labels.any()):
                raise ValueError(
                    "cv must test rows of both classes in every group, got a splitter "
                    f"whose test folds contain only one class in group "
                    f"{group_name(group)!r}."
                )
            models.append(_assemble(group, rows, learner, tested, taken, cuts))
        return models

    def _train_shared(self, shares: bool) -> Learner | None:
        """Choose the best candidate on all groups; train the shared learner, if any.

        Only training rows are looked at.
        """
        index = None if (self.codes >= 0).all() else np.flatnonzero(self.codes >= 0)
        if len(self.recipes) > 1:
            self._choose(index)
        if not shares:
            return None
        codes = self.codes[all_if_none(index)]
        shared = plan_learner(
            self.data, self.recipe, self.names, index, self.seeds[-1], codes
        )
        _train_learners([shared])
        return shared

    def _choose(self, index: np.ndarray | None) -> None:
        """Choose among candidates by cross-validation on all groups, or on a sample.

        Log losses are averaged within groups, then over groups: by a mean over rows the
        largest group alone would choose. Small groups do not count, unless there are no
        others: their losses are noise.
        """
        sample = np.arange(len(self.data.y)) if index is None else index
        if len(sample) > _MOST_ROWS_TO_CHOOSE:
            random = np.random.RandomState(self.seeds[-1][0])
            sample = random.choice(sample, _MOST_ROWS_TO_CHOOSE, replace=False)
            sample.sort()
        codes = self.codes[sample]
        for name, recipe in self.recipes.items():
            quick = replace(recipe, cv=3, scores="folds", share=True)
            learner = plan_learner(
                self.data, quick, self.names, sample, self.seeds[-1], codes
            )
            _train_learners([learner])
            counted = []
            for group, tested in learner.tested.items():
                if group not in self.small:
                    counted.append(tested)
            counted = counted or learner.tested_by(None, 1)
            losses = [tested.log_loss() for tested in counted]
            self.log_losses[name] = float(np.mean(losses))
        self.chosen = min(self.recipes, key=lambda name: self.log_losses[name])

    def _train_own(self, shared: Learner | None) -> dict[Group, Learner]:
        """Train a learner for each group that needs or deserves one of its own."""
        recipe = self.recipe
        served = {} if shared is None else shared.tested
        fewest_rows = max(_ROWS_FOR_OWN_LEARNER, self.data.n_columns)
        needed = []
        to_try = []
        for (group, rows), seeds in zip(self.groups, self.seeds, strict=False):
            if group in self.small:
                continue
            plan = partial(plan_learner, self.data, recipe, [group], rows, seeds)
            needs_no_others = recipe.share == "auto" and _has_plenty(
                self.data, recipe, rows
            )
            if group not in served or needs_no_others:
                needed.append(plan())
                continue
            is_large = len(self.data.labels(rows)) >= fewest_rows
            # Where the shared learner leaves nothing unexplained, none is tried.
            if (
                recipe.share == "auto"
                and is_large
                and served[group].are_unexplained(shared.rows)  # type: ignore[union-attr]
            ):
                to_try.append(plan())
        needed += _worth_training(to_try, served)
        _train_learners(needed)
        if recipe.resampled:
            _train_members(needed)
        return {learner.groups[0]: learner for learner in needed}

    def _borrow(self, lender: Learner) -> dict[Group, Borrowed]:
        """Find what groups borrow whose rows a learner of all groups scores."""
        tested = lender.tested
        if lender.codes is None:
            # The learner of the pooled model knows no groups.
            of_groups = lender.tested_by(self.codes, len(self.names))
            tested = dict(zip(self.names, of_groups, strict=True))
        effects = group_effects(lender, len(tested))
        return borrow(tested, effects, self.small)


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


def _worth_training(
    learners: list[Learner], served: Mapping[Group, TestedRows]
) -> list[Learner]:
    """Keep the groups whose own learner beats the shared one on its first fold.

    One fold costs a third of a learner, and most groups are better served by sharing.
    """
    folds = _run(learners, [learner.jobs()[0] for learner in learners])
    kept = []
    for learner, fold in zip(learners, folds, strict=True):
        learner.folds = [fold]
        _, test = learner.splits[0]
        _, scores = fold
        is_positive = learner.y[test] == learner.data.positive
        own = TestedRows(scores, is_positive, None, test, np.zeros_like(test))
        if own.log_loss() < served[learner.groups[0]].log_loss():
            kept.append(learner)
    return kept


def _train_learners(learners: list[Learner]) -> None:
    """Train the folds and refits of learners, but for folds that they have already."""
    jobs = [job for learner in learners for job in learner.jobs()]
    results = iter(_run(learners, jobs))
    for learner in learners:
        learner.folds += [next(results) for _ in learner.splits[len(learner.folds) :]]
        if learner.refit:
            learner.refitted = next(results)


def _train_members(learners: list[Learner]) -> None:
    """Train the members of resampled pools, each starting near its refit."""
    jobs = []
    for learner in learners:
        for theta, seed in zip(learner.recipe.thetas, learner.seeds[3:], strict=True):
            job = delayed(fit_member)(
                learner.estimator,
                learner.rows,
                learner.y,
                learner.data.positive,
                theta,
                weights=learner.weights,
                seed=seed,
                near=learner.refitted,
            )
            jobs.append(job)
    members = iter(_run(learners, jobs))
    for learner in learners:
        learner.members = [next(members) for _ in learner.recipe.thetas]


def _run(learners: list[Learner], jobs: list[Any]) -> list[Any]:
    """Run the jobs of learners side by side, and return their results in order."""
    if not jobs:
        return []
    first = learners[0]
    # Logistic regression on many rows trains in long calls without Python's lock, and
    # threads share X as it is. Other learners train in processes.
    linear = takes_repetitions(first.estimator)
    prefer = "threads" if linear and len(first.data.y) >= _MANY_ROWS else None
    parallel = Parallel(first.recipe.n_jobs, return_as="generator", prefer=prefer)
    most_rows = max(len(learner.y) for learner in learners)
    with blas_in_one_thread() if linear else one_thread_to_train(most_rows):
        results = parallel(jobs)
        if first.recipe.verbose:
            results = progress(results, len(jobs), title="training", shown=True)
        return list(results)


def _assemble(
    group: Group,
    rows: np.ndarray | None,
    learner: Learner,
    tested: TestedRows,
    borrowed: Borrowed | None,
    cuts: int,
) -> GroupModel:
    """Make the model of one of the groups that a learner serves."""
    data = learner.data
    recipe = learner.recipe
    prevalence = None
    if borrowed is not None:
        tested = borrowed.tested
        prevalence = borrowed.prevalence
    unfitted = make_quantifier(recipe.quantifier)
    positives, negatives = _count_scores(unfitted, tested, cuts)
    quantifier = _fit_quantifier(unfitted, positives, negatives, group)
    if prevalence is not None:
        # The sizes of borrowed histograms are what they are worth.
        quantifier.prevalence_ = prevalence
    models = learner.scoring_models
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
        test_is_sound=not learner.refit
        or follows_its_folds(
            models[0], len(learner.y), positives + negatives, len(data.labels(rows))
        ),
        transformer=learner.transformer,
        group_code=group_code,
        own=None if borrowed is None else borrowed.own,
        weighted=data.has_unequal_weights(rows if borrowed is None else None),
    )


def _rates_of_decisions(
    data: TrainingData, rows: np.ndarray | None, decisions: Decisions
) -> MemberRates:
    """Count how the rows of a group were decided, classes apart."""
    decided = vote_on_rows(decisions, take_rows(data.X, rows), data.positive)
    worth = np.ones(len(decided))
    weights = data.weights_of(rows)
    if weights is not None:
        worth = weights * kish_factor(weights)
    counts = count_calls(decided, data.labels(rows) == data.positive, worth)
    return MemberRates(*np.array(counts)[:, None])


def _count_scores(
    quantifier: Quantifier, tested: TestedRows, cuts: int
) -> tuple[ScoreHistogram, ScoreHistogram]:
    """Make the histograms of the out-of-fold scores of positives and of negatives."""
    scores = []
    weights: list[Any] = []
    for of_class in (tested.is_positive, ~tested.is_positive):
        scores.append(tested.scores[of_class])
        weights.append(None if tested.weights is None else tested.weights[of_class])
    # Both classes get the same edges, and so does every batch: that is what makes
    # histograms comparable and lets evidence add up.
    is_fine = cuts == max(_CUTS_OF_A_GROUP)
    edges = edges_for(
        *scores,
        positive_weights=weights[0],
        negative_weights=weights[1],
        cuts=cuts,
        matched=is_fine or quantifier._matches_bins,
    )
    count = partial(ScoreHistogram.of, edges=edges)
    positives = count(scores[0], weights=weights[0])
    return positives, count(scores[1], weights=weights[1])


def _fit_quantifier(
    quantifier: Quantifier,
    positives: ScoreHistogram,
    negatives: ScoreHistogram,
    group: Group,
) -> Quantifier:
    """Fit a quantifier; its warnings name the group."""
    # A quantifier does not know whose scores it sees, so its warnings are caught and
    # given again with the name of the group.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = quantifier.fit(positives, negatives)
    for warning in caught:
        message = str(warning.message)
        if group != EVERYONE:
            message = of_group(message, group)
        warnings.warn(message, warning.category, stacklevel=2)
    return fitted


def _with_columns(
    data: TrainingData, groups: Groups, names: list[Group], models: list[GroupModel]
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
    empty = [column.name for column in cells.columns if column.kind == "empty"]
    if empty:
        warnings.warn(columns_without_values(empty), stacklevel=5)
    is_positive = (data.y == data.positive).astype(np.int64)

    def count(codes: np.ndarray, n_groups: int) -> np.ndarray:
        codes = 2 * codes.astype(np.int64) + is_positive
        counts = cells.count_each(data.X, codes, 2 * n_groups, data.worth_in(codes))
        return np.array([part.counts for part in counts]).reshape(n_groups, 2, -1)

    of_groups = count(groups.codes, len(groups.keys))
    counted = dict(zip(groups.keys, of_groups, strict=True))
    if names[-1] not in counted:
        (counted[EVERYONE],) = count(np.zeros_like(groups.codes), 1)
    negatives, positives = of_groups.sum(axis=0)
    of_all = TrainedColumns(cells, positives, negatives, are_own=False)
    completed = []
    for name, model in zip(names, models, strict=True):
        negatives, positives = counted[name]
        columns = TrainedColumns(cells, positives, negatives)
        own = model.own
        if own is not None and min(own.positives, own.negatives) < FEWEST_ROWS:
            columns = of_all
        completed.append(replace(model, columns=columns))
    return completed
