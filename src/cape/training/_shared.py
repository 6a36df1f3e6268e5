"""One learner for all groups: the group of a row as one more feature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from cape.base._validation import has_fit_parameter, pickable
from cape.training._scoring import Rows, quiet_encoders, score_with_models

GROUP_COLUMN = "cape_group"

_MOST_COLUMNS = 400
"""Columns up to which slopes may differ between groups; with more, only intercepts
do."""

_FEW_GROUPS = 100
"""With more groups, nearly all indicators are 0 and kept sparse, and the rows of all
groups are scored at once: a call for each group costs more than its rows."""


def add_group_code(X: Any, codes: np.ndarray) -> Any:
    """Append the number of each row's group to a table, as its last column.

    Parameters
    ----------
    X : table of n_rows rows
        numpy, scipy sparse or pandas.
    codes : ndarray of int of shape (n_rows,)

    Returns
    -------
    table of the same kind

    Examples
    --------
    >>> add_group_code(np.zeros((2, 1)), np.array([0, 1])).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    column = np.asarray(codes, dtype=np.float64)
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(column[:, None])], format="csr")
    if hasattr(X, "iloc"):
        import pandas as pd

        # Inserted into a table of many blocks, pandas would warn of fragments.
        with_code = pd.concat([X, pd.Series(column, X.index)], axis=1)
        with_code.columns = [*X.columns, _name_of_code(X.columns)]
        return with_code
    return np.column_stack([np.asarray(X), column])


def _name_of_code(columns: Any) -> Any:
    """Return a name for the new column of a pandas data frame.

    scikit-learn refuses data frames in which some names are text and others are not.
    """
    if all(isinstance(name, str) for name in columns):
        return GROUP_COLUMN
    return (GROUP_COLUMN,) * columns.nlevels


def split_off_code(X: Any) -> tuple[Any, np.ndarray]:
    """Undo `add_group_code`."""
    if hasattr(X, "iloc"):
        return X.iloc[:, :-1], X.iloc[:, -1].to_numpy().astype(int)
    last = X[:, -1]
    if sparse.issparse(X):
        last = last.toarray().ravel()
    return X[:, :-1], np.asarray(last, dtype=float).astype(int)


_LEAST_ITERATIONS = 1000


class GroupAwareLinear(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A linear classifier for all groups, with deviations of each group.

    The learner sees the features, an intercept for each group, and the features times
    the indicator of each group. Its penalty keeps deviations small where a group has
    few rows: slopes are nearly the same in all groups, and differ where the rows say
    so. A linear classifier without deviations is wrong for every group whose P(y | x)
    differs.

    Parameters
    ----------
    estimator : linear classifier, or Pipeline that ends in one
    n_groups : int, default=None
        Number of groups; None counts those of the rows. A group of few rows may have
        none in a fold.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    transformer_ : fitted transformer or None
        The steps before the classifier.
    model_ : fitted linear classifier
        On features, intercepts and deviations.
    n_groups_ : int
    """

    def __init__(self, estimator: Any, n_groups: int | None = None):
        self.estimator = estimator
        self.n_groups = n_groups

    def fit(self, X, y, sample_weight=None):
        """Train on rows whose last column is the number of their group."""
        features, codes = split_off_code(X)
        self.n_groups_ = self.n_groups or int(codes.max()) + 1
        self.transformer_ = None
        learner = self.estimator
        if isinstance(self.estimator, Pipeline):
            learner = self.estimator.steps[-1][1]
            if len(self.estimator.steps) > 1:
                self.transformer_ = clone(self.estimator[:-1])
                features = self.transformer_.fit_transform(features, y)
        features = _dense(features)
        n_columns = features.shape[1] * (1 + self.n_groups_) + self.n_groups_
        few = self.n_groups_ <= _FEW_GROUPS
        self.slopes_differ_ = few and n_columns <= _MOST_COLUMNS
        fit_params = {}
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        self.model_ = clone(learner)
        if hasattr(self.model_, "max_iter"):
            # Intercepts and deviations are correlated with the features, so that the
            # solver needs more steps than for the features alone.
            self.model_.max_iter = max(self.model_.max_iter, _LEAST_ITERATIONS)
        self.model_.fit(self._expand(features, codes), y, **fit_params)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, for rows with the number of their group."""
        features, codes = split_off_code(X)
        if self.transformer_ is not None:
            features = self.transformer_.transform(features)
        features = _dense(features)
        slopes, deviations, intercepts = self._coefficients()
        log_odds = features @ slopes + intercepts[codes]
        if self.slopes_differ_:
            log_odds += np.einsum("ij,ij->i", features, deviations[codes])
        if not np.isfinite(log_odds).all():
            # The classifier says what is wrong.
            return self.model_.predict_proba(self._expand(features, codes))
        positive = expit(log_odds)
        return np.column_stack([1 - positive, positive])

    def predict(self, X):
        """The more probable class, for rows with the number of their group."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def for_one_group(self, code: int) -> Any:
        """Return the plain classifier that this one is for the rows of one group.

        Its slopes are the common ones plus the group's deviations.
        """
        slopes, deviations, intercepts = self._coefficients()
        if self.slopes_differ_:
            slopes = slopes + deviations[code]
        plain = clone(self.model_)
        plain.coef_ = slopes[None, :]
        plain.intercept_ = intercepts[[code]]
        plain.classes_ = self.classes_
        plain.n_features_in_ = len(slopes)
        plain.n_iter_ = getattr(self.model_, "n_iter_", None)
        if self.transformer_ is None:
            return plain
        return make_pipeline(*[step for _, step in self.transformer_.steps], plain)

    def _coefficients(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return common slopes, and deviations and intercepts of each group."""
        coefficients = self.model_.coef_[0]
        n_features = len(coefficients) - self.n_groups_
        if self.slopes_differ_:
            n_features //= 1 + self.n_groups_
        slopes, intercepts, deviations = np.split(
            coefficients, [n_features, n_features + self.n_groups_]
        )
        deviations = deviations.reshape(-1, n_features)
        return slopes, deviations, self.model_.intercept_ + intercepts

    def _expand(self, features: np.ndarray, codes: np.ndarray) -> Any:
        """Append intercepts and deviations of each group."""
        n_rows, n_features = features.shape
        if self.n_groups_ > _FEW_GROUPS:
            # Each row has its features, and a 1 for its group.
            entries = np.column_stack([features, np.ones(n_rows)])
            places = np.tile(np.arange(n_features + 1, dtype=np.int32), (n_rows, 1))
            places[:, -1] += codes
            starts = np.arange(n_rows + 1) * (n_features + 1)
            shape = (n_rows, n_features + self.n_groups_)
            return sparse.csr_array((entries.ravel(), places.ravel(), starts), shape)
        indicators = (codes[:, None] == np.arange(self.n_groups_)).astype(float)
        blocks = [features, indicators]
        if self.slopes_differ_:
            blocks += [features * of_group[:, None] for of_group in indicators.T]
        return np.hstack(blocks)


def _dense(features: Any) -> np.ndarray:
    if sparse.issparse(features):
        return features.toarray()
    return np.asarray(features, dtype=np.float64)


def group_aware(estimator: Any, n_groups: int) -> Any:
    """Make a learner that treats the last column as the number of the group.

    A linear learner gets deviations for each group, also inside a vote. Other learners,
    such as trees, take the number as it is.
    """
    if isinstance(estimator, VotingClassifier):
        members = []
        for name, member in estimator.estimators:
            members.append((name, group_aware(member, n_groups)))
        return clone(estimator).set_params(estimators=members)
    last_step = estimator
    if isinstance(estimator, Pipeline):
        last_step = estimator.steps[-1][1]
    if isinstance(last_step, LogisticRegression) and has_fit_parameter(
        last_step, "sample_weight"
    ):
        return GroupAwareLinear(estimator, n_groups)
    return estimator


def for_one_group(model: Any, code: int) -> tuple[Any, bool]:
    """Specialise a fitted learner of all groups to the rows of one group.

    Returns
    -------
    model : fitted learner
    needs_code : bool
        Whether it still has to be told the group, by `add_group_code`.
    """
    if isinstance(model, GroupAwareLinear) and model.n_groups_ <= _FEW_GROUPS:
        return model.for_one_group(code), False
    return model, True


def prepare(rows: Rows, transformer: Any, codes: np.ndarray | None) -> Rows:
    """Transform rows as learners expect them, with the numbers of their groups."""
    if len(rows) == 0:
        return rows
    if transformer is not None:
        # As in training, whatever scikit-learn is set to now.
        with quiet_encoders(), config_context(transform_output="default"):
            rows = Rows(pickable(transformer.transform(rows.table())))
    if codes is not None:
        rows = Rows(add_group_code(rows.table(), codes))
    return rows


def identities(models: Sequence[Any]) -> tuple[int, ...]:
    """Return what tells learners apart."""
    return tuple(id(model) for model in models)


class _Together:
    """Rows of groups that share encoders, one group after the other.

    To call an encoder or a learner takes milliseconds, however few the rows: 500 groups
    that share them would pay for it 500 times. A test compares it with reading each
    group by itself.
    """

    def __init__(self, parts: Sequence[tuple[Any, Rows]]):
        self._parts = parts
        self._scores: np.ndarray | None = None
        self._learners = {identities(model.scoring_models) for model, _ in parts}

    @cached_property
    def prepared(self) -> Rows:
        """All rows as the learners expect them."""
        model, rows = self._parts[0]
        index = np.concatenate([rows.index for _, rows in self._parts])
        codes: np.ndarray | None = None
        if model.group_code is not None:
            of_groups: list[Any] = [model.group_code for model, _ in self._parts]
            codes = np.repeat(of_groups, [len(rows) for _, rows in self._parts])
        together = Rows(rows.X, index, array=rows.array)
        return Rows(prepare(together, model.transformer, codes).table())

    def scores(self, models: Sequence[Any], positive: Any) -> np.ndarray | None:
        """Score all rows, or return None if these are not the learners of all."""
        if self._learners != {identities(models)}:
            return None
        if self._scores is None:
            self._scores, _ = score_with_models(self.prepared, positive, scoring=models)
        return self._scores


def read_together(parts: Sequence[tuple[Any, Rows]]) -> list[Rows]:
    """Let groups that share encoders or learners read their rows at once.

    Parameters
    ----------
    parts : sequence of tuples of GroupModel and Rows
        The rows of each group.

    Returns
    -------
    list of Rows
        The same rows, which know of those that are read with them.
    """
    sharing = defaultdict(list)
    for place, (model, _) in enumerate(parts):
        sharing[model.read_with].append(place)
    told = [rows for _, rows in parts]
    for places in sharing.values():
        if len(places) == 1:
            continue
        together = _Together([parts[place] for place in places])
        start = 0
        for place in places:
            stop = start + len(told[place])
            told[place] = told[place].with_others(together, slice(start, stop))
            start = stop
    return told
