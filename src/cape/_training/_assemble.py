"""From trained folds to the model of a group: histograms, quantifier and pool."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import EVERYONE, Group, group_name
from cape._learners import follows_its_folds, for_one_group
from cape._training._data import TrainingData, kish_factor
from cape._training._plan import Fold, LearnerPlan
from cape._training._recipe import Recipe
from cape.histogram import ONE, ScoreHistogram, edges_for
from cape.pool import Pool, ResampledPool, ThresholdPool, TrainedMember
from cape.quantify import Quantifier, make_quantifier

__all__ = ["TestedRows", "TrainedLearner", "assemble_model", "tested_rows"]


@dataclass(frozen=True)
class TrainedLearner:
    """The results of a learner's jobs."""

    plan: LearnerPlan
    folds: list[Fold]
    refitted: Any
    members: list[TrainedMember]


@dataclass(frozen=True)
class TestedRows:
    """Out-of-fold scores of one group, and where its rows are in the plan."""

    scores: np.ndarray
    is_positive: np.ndarray
    weights: np.ndarray | None
    positions: np.ndarray

    def log_loss(self) -> float:
        """Mean negative log-likelihood of the labels."""
        smallest = 1e-6
        p = np.clip(self.scores / ONE, smallest, 1 - smallest)
        losses = -np.log(np.where(self.is_positive, p, 1 - p))
        return float(np.average(losses, weights=self.weights))


def tested_rows(
    data: TrainingData, recipe: Recipe, trained: TrainedLearner, group: Group
) -> TestedRows:
    """Collect the out-of-fold scores of one group."""
    plan = trained.plan
    positions = np.concatenate(plan.tested)
    scores = np.concatenate([fold.scores for fold in trained.folds])
    if plan.codes is not None:
        of_group = plan.codes[positions] == plan.groups.index(group)
        positions = positions[of_group]
        scores = scores[of_group]
    is_positive = plan.y[positions] == data.positive
    if is_positive.all() or not is_positive.any():
        raise ValueError(
            "cv must test rows of both classes in every group, got a splitter whose "
            f"test folds contain only one class in group {group_name(group)!r}."
        )
    weights = _row_weights(recipe, plan, positions)
    return TestedRows(scores, is_positive, weights, positions)


def _row_weights(
    recipe: Recipe, plan: LearnerPlan, positions: np.ndarray
) -> np.ndarray | None:
    """Weigh scores so that each row counts once, however often it was tested."""
    times_tested = np.bincount(positions)[positions]
    keeps_rows = make_quantifier(recipe.quantifier).keeps_rows
    if plan.weights is None:
        if keeps_rows or times_tested.max() == 1:
            return None
        return 1 / times_tested
    if keeps_rows:
        raise ValueError(
            "sample_weight must be None with a quantifier of QuaPy, which takes no "
            "weights."
        )
    distinct = plan.weights[np.unique(positions)]
    return plan.weights[positions] * kish_factor(distinct) / times_tested


def assemble_model(
    data: TrainingData,
    recipe: Recipe,
    trained: TrainedLearner,
    tested: TestedRows,
    group: Group,
) -> GroupModel:
    """Put the results of a learner together for one of the groups that it serves."""
    plan = trained.plan
    positives, negatives = _count_scores(recipe, tested)
    models, needs_code = _scoring_models(recipe, trained, group)
    pool: Pool
    if recipe.resampled:
        pool = ResampledPool.of(recipe.thetas, trained.members)
    else:
        pool = ThresholdPool.of(models, positives, negatives)
    rows = plan.rows_of(group)
    weights = None if plan.weights is None else plan.weights[rows]
    # Fold models score new rows as they score their test folds, and a prefit model has
    # seen neither hold-out nor batch. A refitted model needs a closer look.
    sound = not plan.scheme.refit or recipe.prefit
    return GroupModel(
        size=len(rows),
        prevalence=float(np.average(plan.y[rows] == data.positive, weights=weights)),
        positives=positives,
        negatives=negatives,
        positive=data.positive,
        scoring_models=models,
        quantifier=_fit_quantifier(recipe.quantifier, positives, negatives, group),
        pool=pool,
        test_is_sound=sound or follows_its_folds(models[0], len(plan.y)),
        transformer=plan.transformer,
        group_code=plan.groups.index(group) if needs_code else None,
    )


def _scoring_models(
    recipe: Recipe, trained: TrainedLearner, group: Group
) -> tuple[list[Any], bool]:
    """Return the models that score a group, and whether to tell them the group."""
    plan = trained.plan
    if recipe.prefit:
        models = [recipe.estimator]
    elif plan.scheme.refit:
        models = [trained.refitted]
    else:
        models = [fold.model for fold in trained.folds]
    if plan.codes is None:
        return models, False
    code = plan.groups.index(group)
    special = [for_one_group(model, code) for model in models]
    return [model for model, _ in special], special[0][1]


def _count_scores(
    recipe: Recipe, tested: TestedRows
) -> tuple[ScoreHistogram, ScoreHistogram]:
    """Make the histograms of the out-of-fold scores of positives and of negatives."""
    keep_rows = make_quantifier(recipe.quantifier).keeps_rows
    positive = tested.is_positive
    positive_weights = negative_weights = None
    if tested.weights is not None:
        positive_weights = tested.weights[positive]
        negative_weights = tested.weights[~positive]
    # Both classes get the same edges, and so does every batch: that is what makes
    # histograms comparable and lets evidence add up.
    edges = edges_for(
        tested.scores[positive],
        tested.scores[~positive],
        positive_weights=positive_weights,
        negative_weights=negative_weights,
    )
    positives = ScoreHistogram.of(
        tested.scores[positive], edges, weights=positive_weights, keep_rows=keep_rows
    )
    negatives = ScoreHistogram.of(
        tested.scores[~positive], edges, weights=negative_weights, keep_rows=keep_rows
    )
    return positives, negatives


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
