"""Which quantifier and pool suit the data, tried on rows that were not trained on."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from cape._groups import check_groups
from cape._validation import (
    check_binary_labels,
    check_choice,
    check_random_state,
    check_same_length,
    take_rows,
)
from cape.classifier import CapeClassifier
from cape.metrics import fairness_table
from cape.quantify import QUANTIFIERS, make_quantifier

_PREVALENCES = (0.1, 0.3, 0.5, 0.7, 0.9)
_POOLS = ("threshold", "resampled")


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
) -> pd.DataFrame:
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
    DataFrame
        Indexed by batch size, pool and quantifier: ``pd``, the mean PD over groups, and
        ``pe``, the mean PE of the worst pair, each with its standard error over
        batches, ``pd_error`` and ``pe_error``, and the number of ``batches``. The
        lowest PD of a batch size comes first. Where PE is undefined, a batch is left
        out of its mean.

    Examples
    --------
    >>> from cape.examination import recommend
    >>> tried = recommend(
    ...     train.data, train.target, sensitive_features=train.sensitive_features,
    ...     estimator=LogisticRegression(), pools=("threshold",), batch_sizes=(100,),
    ...     quantifiers=("cc", "spa"), n_splits=2, n_batches=5,
    ... )
    >>> tried.index[0][1:]
    ('threshold', 'spa')
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
    measured = []
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
                    with warnings.catch_warnings():
                        # A batch in which PE is undefined is left out of its mean.
                        warnings.simplefilter("ignore", UserWarning)
                        found = fairness_table(
                            labels[rows],
                            y_pred,
                            sensitive_features=groups,
                            pos_label=clf.classes_[1],
                        )
                    unfairness = (
                        found["pd"].to_numpy().mean(),
                        found["pe", "worst pair"],
                    )
                    measured.append((size, pool, quantifier, *unfairness))
    names = ["batch_size", "pool", "quantifier"]
    frame = pd.DataFrame(measured, columns=[*names, "pd", "pe"])
    by_configuration = frame.groupby(names, sort=False)
    table = by_configuration.agg(
        pd=("pd", _mean),
        pd_error=("pd", _standard_error),
        pe=("pe", _mean),
        pe_error=("pe", _standard_error),
        batches=("pd", "size"),
    )
    return table.sort_values(["batch_size", "pd"])


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


def _mean(values: pd.Series) -> float:
    """Return the mean of the values that are defined."""
    defined = values.dropna().to_numpy()
    return defined.mean() if len(defined) else np.nan


def _standard_error(values: pd.Series) -> float:
    """Return the standard error of a mean; NaN if fewer than two values are defined."""
    defined = values.dropna().to_numpy()
    return defined.std(ddof=1) / np.sqrt(len(defined)) if len(defined) > 1 else np.nan
