"""The training phase of Algorithm 1: for each group out-of-fold scores, a quantifier and a pool."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from cape._progress import progress
from cape._validation import (
    EVERYONE,
    Group,
    Groups,
    all_if_none,
    check_is_fitted,
    check_random_state,
    group_name,
    take_rows,
)
from cape.group import GroupModel
from cape.histogram import ScoreHistogram, edges_for
from cape.pool import ResampledPool, ThresholdPool, fit_member
from cape.quantify import make_quantifier
from cape.scoring import Scorer, fit_learner, is_steady, score_rows

__all__ = ["Training", "check_prefit"]


@dataclass(frozen=True)
class _GroupJobs:
    """What has to be trained for one group: folds, then a refit if one is wanted, then members."""

    y: np.ndarray
    weights: np.ndarray | None
    tests: list[np.ndarray]
    folds: list[Any]
    refit: list[Any]
    members: list[Any]


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
        reasons = {group: reason for group, rows in groups.rows() if (reason := self.why_too_small(rows))}
        if reasons and (self.settings.small_groups == "error" or self.why_too_small(None)):
            listed = "; ".join(f"{group_name(group)!r} has {reason}" for group, reason in [*reasons.items()][:10])
            listed += f"; and {len(reasons) - 10} more" if len(reasons) > 10 else ""
            raise ValueError(
                f"every group must have at least min_group_size={self.settings.min_group_size} rows and enough of each "
                f"class, got: {listed}. Lower min_group_size, merge groups, or use small_groups='pooled'."
            )
        return set(reasons)

    def run(self, groups: list[tuple[Group, np.ndarray | None]]) -> list[GroupModel]:
        """Train each group given with its rows (None: all rows)."""
        random = check_random_state(self.settings.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=(len(groups), 3 + len(self.thetas))).tolist()
        cv = _check_cv(self.settings.cv, len(self.y))
        plans = [self._plan(rows, cv, group_seeds) for (_, rows), group_seeds in zip(groups, seeds, strict=True)]
        jobs = [job for plan in plans for job in (*plan.folds, *plan.refit, *plan.members)]
        results = progress(
            Parallel(n_jobs=self.settings.n_jobs, return_as="generator")(jobs),
            len(jobs),
            title="training",
            shown=bool(self.settings.verbose),
        )
        return [self._assemble(group, plan, results) for (group, _), plan in zip(groups, plans, strict=True)]

    def _plan(self, rows: np.ndarray | None, cv: Any, seeds: list[int]) -> _GroupJobs:
        settings, estimator, positive = self.settings, self.estimator, self.classes[1]
        X, y = take_rows(self.X, rows), self.y[all_if_none(rows)]
        weights = None if self.weights is None else self.weights[all_if_none(rows)]
        if cv == "prefit":
            whole = delayed(_score_prefit)(estimator, X, positive)
            return _GroupJobs(y, weights, [np.arange(len(y))], [whole], [], [])
        splits = self._splits(X, y, rows, cv, seeds[0])
        folds = [
            delayed(_fit_fold)(estimator, X, y, weights, train, test, positive, seeds[1], settings.scores == "folds")
            for train, test in splits
        ]
        refit, members = [], []
        if settings.pool == "threshold" or settings.scores == "refit":
            refit = [delayed(fit_learner)(estimator, X, y, weights=weights, seed=seeds[2])]
        if settings.pool == "resampled":
            members = [
                delayed(fit_member)(estimator, X, y, positive, theta, weights=weights, seed=seed)
                for theta, seed in zip(self.thetas, seeds[3:], strict=True)
            ]
        return _GroupJobs(y, weights, [test for _, test in splits], folds, refit, members)

    def _splits(
        self, X: Any, y: np.ndarray, rows: np.ndarray | None, cv: Any, seed: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Folds of one group: a splitter splits its rows; given splits of all rows are cut down to them."""
        if isinstance(cv, Integral):
            smaller = min(np.count_nonzero(y == label) for label in self.classes)
            cv = StratifiedKFold(min(int(cv), smaller), shuffle=True, random_state=seed)
        if hasattr(cv, "split"):
            return list(cv.split(X, y))
        if rows is None:
            return cv
        place = np.full(len(self.y), -1)
        place[rows] = np.arange(len(rows))
        cut = [[place[part][place[part] >= 0] for part in split] for split in cv]
        return [(train, test) for train, test in cut if len(train) and len(test)]

    def _assemble(self, group: Group, plan: _GroupJobs, results: Iterator[Any]) -> GroupModel:
        """Put the results of a group's jobs together; ``results`` come in the order of the jobs."""
        settings, positive = self.settings, self.classes[1]
        folds = [next(results) for _ in plan.folds]
        refit = next(results) if plan.refit else self.estimator
        members = [next(results) for _ in plan.members]
        positives, negatives = self._histograms(np.concatenate([scores for _, scores in folds]), plan)
        if settings.pool == "threshold":
            shares = settings.scores == "refit"
            pool: Any = ThresholdPool.of(refit, positive, positives, negatives, shares_scores=shares)
        else:
            pool = ResampledPool.of(self.thetas, members, positive)
        return GroupModel(
            size=len(plan.y),
            prevalence=float(np.average(plan.y == positive, weights=plan.weights)),
            positives=positives,
            negatives=negatives,
            scorer=Scorer([model for model, _ in folds] if settings.scores == "folds" else [refit], positive),
            quantifier=_fit_quantifier(settings.quantifier, positives, negatives, group),
            pool=pool,
            follows=settings.scores == "folds" or settings.cv == "prefit" or is_steady(refit, len(plan.y)),
        )

    def _histograms(self, scores: np.ndarray, plan: _GroupJobs) -> list[ScoreHistogram]:
        """Out-of-fold scores of the positives and of the negatives."""
        scored = np.concatenate(plan.tests)
        positive = plan.y[scored] == self.classes[1]
        if positive.all() or not positive.any():
            raise ValueError("cv must test rows of both classes in every group, got splits that do not.")
        keep_rows = make_quantifier(self.settings.quantifier).keeps_rows
        if keep_rows and plan.weights is not None:
            raise ValueError("sample_weight must be None with a quantifier of QuaPy, which takes none.")
        weights = None if plan.weights is None else _worth(plan.weights[scored])
        of_class = [(scores[mask], None if weights is None else weights[mask]) for mask in (positive, ~positive)]
        (s1, w1), (s0, w0) = of_class
        edges = edges_for(s1, s0, positive_weights=w1, negative_weights=w0)
        return [ScoreHistogram.of(s, edges, weights=w, keep_rows=keep_rows) for s, w in of_class]


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


def _fit_fold(estimator, X, y, weights, train, test, positive, seed, keep):
    """Out-of-fold scores of one fold, and its model if it will score batches."""
    model = fit_learner(
        estimator, take_rows(X, train), y[train], weights=None if weights is None else weights[train], seed=seed
    )
    return (model if keep else None), score_rows(model, take_rows(X, test), positive)


def _score_prefit(estimator, X, positive):
    return estimator, score_rows(estimator, X, positive)


def _worth(weights: np.ndarray) -> np.ndarray:
    """Scale weights so that they add up to the number of rows they are worth, (sum w)^2 / sum w^2 (Kish)."""
    return weights * (weights.sum() / (weights @ weights))


def _fit_quantifier(quantifier: Any, positives: ScoreHistogram, negatives: ScoreHistogram, group: Group) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = make_quantifier(quantifier).fit(positives, negatives)
    whose = "" if group == EVERYONE else f"group {group_name(group)!r}: "
    for warning in caught:
        warnings.warn(f"{whose}{warning.message}", warning.category, stacklevel=2)
    return fitted
