"""The training phase of Algorithm 1: for each group out-of-fold scores, a quantifier and a pool."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from cape._group_model import GroupModel
from cape._groups import EVERYONE, Group, Groups, group_name
from cape._learners._scoring import (
    GroupRows,
    Scorer,
    fresh,
    is_steady,
    score_rows,
    takes_repetitions,
)
from cape._learners._threads import blas_in_one_thread
from cape._progress import progress
from cape._validation import (
    all_if_none,
    check_is_fitted,
    check_random_state,
    pickable,
    take_rows,
)
from cape.histogram import ScoreHistogram, edges_for
from cape.pool import ResampledPool, ThresholdPool, fit_member
from cape.quantify import make_quantifier

__all__ = ["Training", "check_prefit"]


_MANY_ROWS = 20_000
"""Of a group: from here on threads train logistic regressions faster than processes do."""


@dataclass(frozen=True)
class _GroupPlan:
    """What has to be trained for one group: folds, with a refit after them if one is wanted; then members."""

    transformer: Any
    table: GroupRows
    y: np.ndarray
    weights: np.ndarray | None
    tests: list[np.ndarray]
    first: list[Any]
    has_refit: bool
    member_seeds: list[int]


@dataclass(frozen=True)
class Training:
    """Trains groups; the trainings of all of them are one list of jobs for joblib.

    Parameters
    ----------
    settings : CapeClassifier
        Its parameters are read.
    estimator : the learner
    thetas : ndarray
        The grid Theta.
    classes : ndarray of shape (2,)
    X, y, weights
        All rows.
    """

    settings: Any
    estimator: Any
    thetas: np.ndarray
    classes: np.ndarray
    X: Any
    y: np.ndarray
    weights: np.ndarray | None

    @cached_property
    def learner(self) -> Any:
        """What is trained again and again: the estimator, or its last step if those before are fitted once."""
        return self.estimator.steps[-1][1] if self._transforms_once else self.estimator

    @property
    def _transforms_once(self) -> bool:
        pipeline = (
            isinstance(self.estimator, Pipeline) and len(self.estimator.steps) > 1
        )
        return (
            pipeline
            and self.settings.preprocessing == "once"
            and self.settings.cv != "prefit"
        )

    def why_too_small(self, rows: np.ndarray | None) -> str:
        """Why a group cannot have a pool of its own; empty if it can."""
        labels = self.y[all_if_none(rows)]
        if self.weights is not None:
            labels = labels[self.weights[all_if_none(rows)] > 0]
        n, n_positive = len(labels), int((labels == self.classes[1]).sum())
        smaller = min(n_positive, n - n_positive)
        if n < self.settings.min_group_size:
            return f"{n} rows"
        if smaller == 0:
            return f"{n} rows of one class only"
        if smaller == 1 and self.settings.cv != "prefit":
            return f"{n} rows with 1 of the smaller class, too few for 2 folds"
        return ""

    def small_groups(self, groups: Groups) -> set[Group]:
        """Groups too small for a pool of their own; an error unless they may use the pooled one."""
        reasons = {
            group: reason
            for group, rows in groups.rows()
            if (reason := self.why_too_small(rows))
        }
        if reasons and (
            self.settings.small_groups == "error" or self.why_too_small(None)
        ):
            listed = "; ".join(
                f"{group_name(group)!r} has {reason}"
                for group, reason in [*reasons.items()][:10]
            )
            listed += f"; and {len(reasons) - 10} more" if len(reasons) > 10 else ""
            raise ValueError(
                f"every group must have at least min_group_size={self.settings.min_group_size} rows and enough of each "
                f"class, got: {listed}. Lower min_group_size, merge groups, or use small_groups='pooled'."
            )
        return set(reasons)

    def run(self, groups: list[tuple[Group, np.ndarray | None]]) -> list[GroupModel]:
        """Train each group given with its rows (None: all rows)."""
        random = check_random_state(self.settings.random_state)
        seeds = random.randint(
            np.iinfo(np.int32).max, size=(len(groups), 3 + len(self.thetas))
        ).tolist()
        cv = _check_cv(self.settings.cv, len(self.y))
        plans = [
            self._plan(rows, cv, group_seeds)
            for (_, rows), group_seeds in zip(groups, seeds, strict=True)
        ]
        n_jobs = sum(len(plan.first) + len(plan.member_seeds) for plan in plans)
        results = progress(
            self._train(plans),
            n_jobs,
            title="training",
            shown=bool(self.settings.verbose),
        )
        first = [[next(results) for _ in plan.first] for plan in plans]
        members = [[next(results) for _ in plan.member_seeds] for plan in plans]
        return [
            self._assemble(group, plan, *trained)
            for (group, _), plan, *trained in zip(
                groups, plans, first, members, strict=True
            )
        ]

    def _train(self, plans: list[_GroupPlan]) -> Iterator[Any]:
        """Results of all folds and refits, then of all members, whose training may start from the refit."""
        # On many rows logistic regression trains in long calls without the interpreter's lock: threads then share X as
        # it is. BLAS has vectors too short for threads of its own, which would only wait, and burn a core meanwhile.
        linear = takes_repetitions(self.learner)
        threads = linear and len(self.y) >= _MANY_ROWS * len(plans)
        parallel = Parallel(
            self.settings.n_jobs,
            return_as="generator",
            prefer="threads" if threads else None,
        )
        done = []
        with blas_in_one_thread() if linear else nullcontext():
            for result in parallel([job for plan in plans for job in plan.first]):
                done.append(result)
                yield result
            yield from parallel(self._member_jobs(plans, done))

    def _member_jobs(self, plans: list[_GroupPlan], done: list[Any]) -> list[Any]:
        """Trainings of the members of all groups; ``done`` are the results of the folds and refits."""
        jobs = []
        for plan, end in zip(
            plans, np.cumsum([len(plan.first) for plan in plans]), strict=True
        ):
            near = done[end - 1] if plan.has_refit else None
            shared = {"weights": plan.weights, "near": near}
            jobs += [
                delayed(fit_member)(
                    self.learner,
                    plan.table,
                    plan.y,
                    self.classes[1],
                    theta,
                    seed=seed,
                    **shared,
                )
                for theta, seed in zip(self.thetas, plan.member_seeds, strict=False)
            ]
        return jobs

    def _plan(self, rows: np.ndarray | None, cv: Any, seeds: list[int]) -> _GroupPlan:
        settings, learner, positive = self.settings, self.learner, self.classes[1]
        y = self.y[all_if_none(rows)]
        weights = None if self.weights is None else self.weights[all_if_none(rows)]
        if cv == "prefit":
            table, everything = GroupRows(self.X, rows), [np.arange(len(y))]
            return _GroupPlan(
                None,
                table,
                y,
                weights,
                everything,
                [delayed(_score_prefit)(learner, table, positive)],
                False,
                [],
            )
        transformer, table = self._prepare(rows, y, seeds[0])
        splits = self._splits(y, rows, cv, seeds[0])
        keep = settings.scores == "folds"
        first = [
            delayed(_fit_fold)(
                learner, table, y, weights, train, test, positive, seeds[1], keep
            )
            for train, test in splits
        ]
        has_refit = settings.pool == "threshold" or settings.scores == "refit"
        if has_refit:
            first.append(delayed(table.fit)(learner, y, weights=weights, seed=seeds[2]))
        member_seeds = seeds[3:] if settings.pool == "resampled" else []
        tests = [test for _, test in splits]
        return _GroupPlan(
            transformer, table, y, weights, tests, first, has_refit, member_seeds
        )

    def _prepare(
        self, rows: np.ndarray | None, y: np.ndarray, seed: int
    ) -> tuple[Any, GroupRows]:
        """The transformer of a group, fitted, if there is to be one; and the rows as learners will see them."""
        if not self._transforms_once:
            return None, GroupRows(self.X, rows)
        transformer = fresh(self.estimator[:-1], seed)
        X = pickable(transformer.fit_transform(take_rows(self.X, rows), y))
        return transformer, GroupRows(X)

    def _splits(
        self, y: np.ndarray, rows: np.ndarray | None, cv: Any, seed: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Folds of one group: a splitter splits its rows; given splits of all rows are cut down to them."""
        if isinstance(cv, Integral):
            positive = y == self.classes[1]
            smaller = min(np.count_nonzero(positive), np.count_nonzero(~positive))
            folds = StratifiedKFold(
                min(int(cv), smaller), shuffle=True, random_state=seed
            )
            return list(folds.split(positive, positive))
        if hasattr(cv, "split"):
            return list(cv.split(take_rows(self.X, rows), y))
        if rows is None:
            return cv
        place = np.full(len(self.y), -1)
        place[rows] = np.arange(len(rows))
        cut = [[place[part][place[part] >= 0] for part in split] for split in cv]
        return [(train, test) for train, test in cut if len(train) and len(test)]

    def _assemble(
        self, group: Group, plan: _GroupPlan, first: list[Any], members: list[Any]
    ) -> GroupModel:
        """Put the results of a group's jobs together."""
        settings, positive = self.settings, self.classes[1]
        folds, model = (
            (first[:-1], first[-1]) if plan.has_refit else (first, self.estimator)
        )
        positives, negatives = self._histograms(
            np.concatenate([scores for _, scores in folds]), plan
        )
        if settings.pool == "threshold":
            shares = settings.scores == "refit"
            pool: Any = ThresholdPool.of(
                model, positive, positives, negatives, shares_scores=shares
            )
        else:
            pool = ResampledPool.of(self.thetas, members, positive)
        return GroupModel(
            size=len(plan.y),
            prevalence=float(np.average(plan.y == positive, weights=plan.weights)),
            positives=positives,
            negatives=negatives,
            scorer=Scorer(
                [fold for fold, _ in folds] if settings.scores == "folds" else [model],
                positive,
            ),
            quantifier=_fit_quantifier(
                settings.quantifier, positives, negatives, group
            ),
            pool=pool,
            follows=settings.scores == "folds"
            or settings.cv == "prefit"
            or is_steady(model, len(plan.y)),
            transformer=plan.transformer,
        )

    def _histograms(self, scores: np.ndarray, plan: _GroupPlan) -> list[ScoreHistogram]:
        """Out-of-fold scores of the positives and of the negatives."""
        scored = np.concatenate(plan.tests)
        positive = plan.y[scored] == self.classes[1]
        if positive.all() or not positive.any():
            raise ValueError(
                "cv must test rows of both classes in every group, got splits that do not."
            )
        keep_rows = make_quantifier(self.settings.quantifier).keeps_rows
        if keep_rows and plan.weights is not None:
            raise ValueError(
                "sample_weight must be None with a quantifier of QuaPy, which takes none."
            )
        weights = None if plan.weights is None else _worth(plan.weights[scored])
        of_class = [
            (scores[mask], None if weights is None else weights[mask])
            for mask in (positive, ~positive)
        ]
        (s1, w1), (s0, w0) = of_class
        edges = edges_for(s1, s0, positive_weights=w1, negative_weights=w0)
        return [
            ScoreHistogram.of(s, edges, weights=w, keep_rows=keep_rows)
            for s, w in of_class
        ]


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


def _check_cv(cv: Any, n_rows: int) -> Any:
    """A number of folds, "prefit", a splitter, or splits of all rows as a list of pairs of arrays."""
    if cv is None:
        return 10
    if isinstance(cv, (Integral, str)) or hasattr(cv, "split"):
        return cv
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
        numbers = np.concatenate([part for split in splits for part in split])
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= n_rows:
        raise ValueError(
            f"cv must be a number of folds, a splitter or pairs of row numbers from 0 to {n_rows - 1}, got {cv!r}."
        )
    return splits


def _fit_fold(estimator, table, y, weights, train, test, positive, seed, keep):
    """Out-of-fold scores of one fold, and its model if it will score batches."""
    model = table.fit(
        estimator,
        y[train],
        train,
        weights=None if weights is None else weights[train],
        seed=seed,
    )
    return (model if keep else None), score_rows(model, table.to_read(test), positive)


def _score_prefit(estimator, table, positive):
    return estimator, score_rows(estimator, table.to_read(), positive)


def _worth(weights: np.ndarray) -> np.ndarray:
    """Scale weights so that they add up to the number of rows they are worth, (sum w)^2 / sum w^2 (Kish)."""
    return weights * (weights.sum() / (weights @ weights))


def _fit_quantifier(
    quantifier: Any, positives: ScoreHistogram, negatives: ScoreHistogram, group: Group
) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = make_quantifier(quantifier).fit(positives, negatives)
    whose = "" if group == EVERYONE else f"group {group_name(group)!r}: "
    for warning in caught:
        warnings.warn(f"{whose}{warning.message}", warning.category, stacklevel=2)
    return fitted
