"""Which quantifier and pool suit the data, tried on rows that were not trained on."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from cape import _plot
from cape._groups import check_groups
from cape._notebook import InNotebook, Shown
from cape._validation import (
    check_binary_labels,
    check_choice,
    check_random_state,
    check_same_length,
    take_rows,
)
from cape._wording import _examination as words
from cape.classifier import CapeClassifier
from cape.examination._result import json_ready
from cape.metrics import confusion_by_group, proportional_equality
from cape.quantify import QUANTIFIERS, make_quantifier

if TYPE_CHECKING:
    import pandas as pd

_PREVALENCES = (0.1, 0.3, 0.5, 0.7, 0.9)
_POOLS = ("threshold", "resampled")
_METRICS = ("pd", "pe")


@dataclass(frozen=True)
class Recommendation(InNotebook):
    """Result of `recommend`.

    Parameters
    ----------
    results : DataFrame
        Indexed by batch size, pool and quantifier: mean PD over groups and mean PE of
        the worst pair, each with its standard error over batches, and the number of
        batches.
    """

    results: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """Return all configurations, the lowest PD of a batch size first.

        Returns
        -------
        DataFrame
            Indexed by batch size, pool and quantifier.
        """
        return self.results.sort_values(["batch_size", "pd"])

    def best(self, metric: str = "pd") -> pd.DataFrame:
        """Return the best pool and quantifier for each batch size.

        Parameters
        ----------
        metric : {"pd", "pe"}, default="pd"
            The metric whose mean is lowest.

        Returns
        -------
        DataFrame
            Indexed by batch size.
        """
        check_choice("metric", metric, _METRICS)
        lowest = self.results[metric].groupby("batch_size").idxmin()
        return self.results.loc[lowest.tolist()].reset_index(["pool", "quantifier"])

    def plot(self, metric: str = "pd") -> Any:
        """Draw the configurations of each batch size; needs altair.

        Parameters
        ----------
        metric : {"pd", "pe"}, default="pd"

        Returns
        -------
        altair chart
        """
        check_choice("metric", metric, _METRICS)
        title = words.recommendation_heading(metric)
        frame = self.table().reset_index()
        return _plot.recommendation(frame, metric=metric, title=title)

    def _shown(self) -> Shown:
        table = self.table().rename(columns=words.RECOMMENDATION_HEADINGS)
        table.index = table.index.set_names("batch size", level="batch_size")
        return Shown(words.RECOMMENDATION_TITLE, table)

    def to_dict(self) -> dict[str, Any]:
        """Return all configurations as a dict that JSON can hold.

        Returns
        -------
        dict
            ``results`` is a list with one entry for each configuration. What is
            undefined is None.
        """
        rows = self.table().reset_index().to_dict("records")
        return {"results": [json_ready(row) for row in rows]}

    def __repr__(self) -> str:
        return words.recommendation_repr(self, _METRICS)


def recommend(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    estimator: Any = None,
    batch_sizes: Sequence[int] = (100, 500),
    quantifiers: Sequence[str] = ("spa", "acc", "emq", "dys", "histogram"),
    pools: Sequence[str] = _POOLS,
    n_splits: int = 3,
    n_batches: int = 20,
    random_state: Any = 0,
    **settings: Any,
) -> Recommendation:
    """Try configurations of CAPE on batches with artificial prevalences.

    The training data are split. Each part in turn serves as the source of batches while
    the rest trains. A batch draws, for each group, a prevalence from {0.1, 0.3, 0.5,
    0.7, 0.9} and then rows with replacement. All configurations get the same batches.
    Only the training data are used, so a test set stays unseen.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    sensitive_features : array-like or table of n_samples rows
        Groups of the rows.
    estimator : estimator, default=None
        The learner, as in `CapeClassifier`.
    batch_sizes : sequence of int, default=(100, 500)
        Rows of each group in a batch.
    quantifiers : sequence of str
        Names of the quantifiers to try.
    pools : sequence of str, default=("threshold", "resampled")
        Names of the pools to try.
    n_splits : int, default=3
        Number of parts into which the training data are split.
    n_batches : int, default=20
        Number of batches for each split and batch size.
    random_state : int, RandomState or None, default=0
        Seed of the splits, the batches and the training.
    **settings
        More parameters of `CapeClassifier`, such as ``scores="folds"``.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> from cape.examination import recommend
    >>> tried = recommend(
    ...     train.data, train.target, sensitive_features=train.sensitive_features,
    ...     estimator=LogisticRegression(), pools=("threshold",), batch_sizes=(100,),
    ...     quantifiers=("cc", "spa"), n_splits=2, n_batches=5,
    ... )
    >>> tried.best()["quantifier"].tolist()
    ['spa']
    """
    for quantifier in quantifiers:
        check_choice("quantifiers", quantifier, tuple(QUANTIFIERS))
    for pool in pools:
        check_choice("pools", pool, _POOLS)
    if not batch_sizes or min(batch_sizes) < 1:
        raise ValueError(
            "batch_sizes must be a sequence of at least one number, each at least 1, "
            f"got {batch_sizes!r}."
        )
    check_same_length(X=X, y=y, sensitive_features=sensitive_features)
    classes, positive = check_binary_labels(y)
    codes = check_groups(sensitive_features).codes.astype(np.int64)
    # Labels as the classifier returns them, whatever type `y` had.
    labels = classes[positive.astype(int)]
    random = check_random_state(random_state)
    seed = random.randint(1 << 30)
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    # Four strata for two groups: each part needs positives and negatives of each.
    strata = 2 * codes + positive
    # Batches are drawn once a split: all configurations are compared on the same rows,
    # so that the luck of the draw falls on all of them alike.
    measured: dict[tuple[int, str, str], list[tuple[float, float]]] = {}
    for train, held_out in splitter.split(np.zeros(len(strata)), strata):
        batches = []
        for size in batch_sizes:
            for _ in range(n_batches):
                batch = draw_batch(codes, positive, held_out, size, random)
                batches.append((size, batch))
        seed = random.randint(1 << 30)
        for pool in pools:
            clf = CapeClassifier(estimator, pool=pool, random_state=seed, **settings)
            of_train = take_rows(sensitive_features, train)
            clf.fit(
                take_rows(X, train), take_rows(y, train), sensitive_features=of_train
            )
            for quantifier in quantifiers:
                variant = _with_quantifier(clf, quantifier)
                for size, rows in batches:
                    groups = take_rows(sensitive_features, rows)
                    of_batch = take_rows(X, rows)
                    y_pred = variant.predict(of_batch, sensitive_features=groups)
                    positive_label = clf.classes_[1]
                    unfairness = measure(labels[rows], y_pred, groups, positive_label)
                    key = (size, pool, quantifier)
                    measured.setdefault(key, []).append(unfairness)
    return Recommendation(_results(measured))


def draw_batch(
    codes: np.ndarray,
    positive: np.ndarray,
    held_out: np.ndarray,
    size: int,
    random: np.random.RandomState,
) -> np.ndarray:
    """Draw a batch from held-out rows, each group at a prevalence of its own.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        Group of each row, as a number.
    positive : ndarray of bool of shape (n_samples,)
    held_out : ndarray of int
        Rows to draw from, with replacement.
    size : int
        Rows of each group.
    random : RandomState

    Returns
    -------
    ndarray of int
        Rows.
    """
    parts = []
    for code in np.unique(codes):
        of_group = held_out[codes[held_out] == code]
        positives = of_group[positive[of_group]]
        negatives = of_group[~positive[of_group]]
        # The artificial-prevalence protocol of quantification (Forman 2008): batches
        # at natural prevalences would hardly tell quantifiers apart.
        n_positive = round(random.choice(_PREVALENCES) * size)
        parts.append(positives[random.randint(len(positives), size=n_positive)])
        parts.append(negatives[random.randint(len(negatives), size=size - n_positive)])
    return np.concatenate(parts)


def measure(
    y_true: np.ndarray, y_pred: np.ndarray, groups: Any, positive: Any
) -> tuple[float, float]:
    """Return the mean PD over the groups of a batch, and PE of the worst pair."""
    compared: dict[str, Any] = {"sensitive_features": groups, "pos_label": positive}
    differences = []
    for confusion in confusion_by_group(y_true, y_pred, **compared).values():
        differences.append(confusion.prevalence_difference)
    with warnings.catch_warnings():
        # A batch in which PE is undefined is left out of the mean of PE.
        warnings.simplefilter("ignore", UserWarning)
        pe = proportional_equality(y_true, y_pred, **compared)
    return float(np.mean(differences)), pe


def _with_quantifier(clf: CapeClassifier, name: str) -> CapeClassifier:
    """Exchange the quantifiers of a trained model, which need its histograms only."""
    # A shallow copy: the pools, which cost the training, are shared.
    variant = copy.copy(clf)
    variant.models_ = {}
    for group, model in clf.models_.items():
        fitted = make_quantifier(name).fit(model.positives, model.negatives)
        if model.own is not None:
            fitted.prevalence_ = model.prevalence
        variant.models_[group] = replace(model, quantifier=fitted)
    return variant


def _results(
    measured: Mapping[tuple[int, str, str], list[tuple[float, float]]],
) -> pd.DataFrame:
    """Return the means over batches, one row for each configuration."""
    import pandas as pd

    names = ["batch_size", "pool", "quantifier"]
    index = pd.MultiIndex.from_tuples(list(measured), names=names)
    rows = [mean_over_batches(np.array(values)) for values in measured.values()]
    return pd.DataFrame(rows, index=index)


def mean_over_batches(values: np.ndarray) -> dict[str, float]:
    """Return the means of PD and PE with their standard errors.

    Parameters
    ----------
    values : ndarray of shape (n_batches, 2)
        PD and PE of each batch. NaN, where PE is undefined, is left out.

    Returns
    -------
    dict
    """
    summary: dict[str, float] = {}
    for name, column in zip(_METRICS, values.T, strict=True):
        defined = column[~np.isnan(column)]
        summary[name] = float("nan")
        summary[f"{name}_error"] = float("nan")
        if len(defined) > 0:
            summary[name] = float(defined.mean())
        if len(defined) > 1:
            # One batch alone has no standard error.
            deviation = defined.std(ddof=1)
            summary[f"{name}_error"] = float(deviation / np.sqrt(len(defined)))
    summary["batches"] = len(values)
    return summary
