"""Choosing honestly: which quantifier and pool suit these data, tried on rows that were not trained on."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
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
from cape.metrics import confusion_by_group, proportional_equality
from cape.quantify import QUANTIFIERS, make_quantifier

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Recommendation", "recommend"]

_PREVALENCES = (0.1, 0.3, 0.5, 0.7, 0.9)
_POOLS = ("threshold", "resampled")


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` found.

    Parameters
    ----------
    results : DataFrame
        Indexed by batch size, pool and quantifier: mean PD over groups and mean PE of the worst pair, each with its
        standard error over batches, and the number of batches.
    """

    results: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """All configurations, those of the lowest PD first within a batch size."""
        return self.results.sort_values(["batch_size", "pd"])

    def best(self, metric: str = "pd") -> pd.DataFrame:
        """For each batch size the pool and quantifier with the lowest "pd" or "pe"."""
        check_choice("metric", metric, ("pd", "pe"))
        lowest = self.results[metric].groupby("batch_size").idxmin()
        return self.results.loc[lowest.tolist()].reset_index(["pool", "quantifier"])

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it; what is undefined is None."""
        rows = self.table().reset_index().to_dict("records")
        return {
            "results": [
                {k: None if v != v else v for k, v in row.items()} for row in rows
            ]
        }

    def __repr__(self) -> str:
        lines = []
        for metric in ("pd", "pe"):
            for size, row in self.best(metric).iterrows():
                lines.append(
                    f"  batches of {size}: lowest {metric.upper()} with pool {row['pool']!r} and quantifier "
                    f"{row['quantifier']!r}: {row[metric]:.3f} (standard error {row[f'{metric}_error']:.3f})"
                )
        return "\n".join(["Recommendation(", *lines, ")"])


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
    """Try CAPE's configurations on batches with artificial prevalences, from rows that were not trained on.

    The training data are split; each part in turn serves as the source of batches while the rest trains. A batch draws,
    for each group, a prevalence from {0.1, 0.3, 0.5, 0.7, 0.9} and then rows with replacement. All configurations see
    the same batches. Nothing but the training data is looked at, so a test set stays unseen.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sensitive_features : array-like or table of n_samples rows
    estimator : estimator, default=None
        The learner, as in `CapeClassifier`.
    batch_sizes : sequence of int, default=(100, 500)
        Rows a group.
    quantifiers : sequence of str
    pools : sequence of str, default=("threshold", "resampled")
    n_splits : int, default=3
    n_batches : int, default=20
        For each split and batch size.
    random_state : int, RandomState or None, default=0
    **settings
        More of `CapeClassifier`, such as ``scores="folds"``.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> found = recommend(d.data, d.target, sensitive_features=d.sensitive_features, estimator=LogisticRegression(),
    ...                   batch_sizes=(100,), quantifiers=("cc", "spa"), pools=("threshold",), n_splits=2, n_batches=5)
    >>> found.best()["quantifier"].tolist()
    ['spa']
    """
    import pandas as pd

    for name, values, accepted in (
        ("quantifiers", quantifiers, tuple(QUANTIFIERS)),
        ("pools", pools, _POOLS),
    ):
        for value in values:
            check_choice(name, value, accepted)
    if not batch_sizes or min(batch_sizes) < 1:
        raise ValueError(f"batch_sizes must be at least 1, got {batch_sizes!r}.")
    check_same_length(X=X, y=y, sensitive_features=sensitive_features)
    classes, positive = check_binary_labels(y)
    codes = check_groups(sensitive_features).codes.astype(np.int64)
    random = check_random_state(random_state)
    splitter = StratifiedKFold(
        n_splits, shuffle=True, random_state=random.randint(1 << 30)
    )
    measured: dict[tuple[int, str, str], list[tuple[float, float]]] = {}
    for train, held_out in splitter.split(np.zeros(len(codes)), 2 * codes + positive):
        batches = list(
            _draw_batches(held_out, codes, positive, batch_sizes, n_batches, random)
        )
        seed = random.randint(1 << 30)
        for pool in pools:
            clf = CapeClassifier(estimator, pool=pool, random_state=seed, **settings)
            clf.fit(
                *(take_rows(part, train) for part in (X, y)),
                sensitive_features=take_rows(sensitive_features, train),
            )
            for quantifier, variant in _variants(clf, quantifiers):
                for size, rows in batches:
                    score = _measure(
                        variant,
                        X,
                        classes[positive.astype(int)],
                        sensitive_features,
                        rows,
                    )
                    measured.setdefault((size, pool, quantifier), []).append(score)
    index = pd.MultiIndex.from_tuples(
        list(measured), names=["batch_size", "pool", "quantifier"]
    )
    return Recommendation(
        pd.DataFrame([_summary(np.array(v)) for v in measured.values()], index=index)
    )


def _draw_batches(
    held_out: np.ndarray,
    codes: np.ndarray,
    positive: np.ndarray,
    sizes: Iterable[int],
    n_batches: int,
    random: Any,
) -> Iterator[tuple[int, np.ndarray]]:
    """Rows of batches in which every group has a prevalence of its own."""
    of = {
        (code, label): held_out[
            (codes[held_out] == code) & (positive[held_out] == label)
        ]
        for code in np.unique(codes)
        for label in (True, False)
    }
    for size in sizes:
        for _ in range(n_batches):
            rows = []
            for code in np.unique(codes):
                n_positive = round(random.choice(_PREVALENCES) * size)
                for label, n in ((True, n_positive), (False, size - n_positive)):
                    rows.append(
                        of[code, label][random.randint(len(of[code, label]), size=n)]
                    )
            yield size, np.concatenate(rows)


def _variants(
    clf: CapeClassifier, quantifiers: Iterable[str]
) -> Iterator[tuple[str, CapeClassifier]]:
    """The same trained model with other quantifiers, which need its histograms alone."""
    for name in quantifiers:
        variant = copy.copy(clf)
        variant.models_ = {
            group: replace(
                model,
                quantifier=make_quantifier(name).fit(model.positives, model.negatives),
            )
            for group, model in clf.models_.items()
        }
        yield name, variant


def _measure(
    clf: CapeClassifier, X: Any, y: np.ndarray, z: Any, rows: np.ndarray
) -> tuple[float, float]:
    """Mean PD over groups, and PE of the worst pair; NaN where it is undefined."""
    truth, groups = y[rows], take_rows(z, rows)
    y_pred = clf.predict(take_rows(X, rows), sensitive_features=groups)
    by_group = confusion_by_group(
        truth, y_pred, sensitive_features=groups, pos_label=clf.classes_[1]
    )
    pd_ = float(
        np.mean([confusion.prevalence_difference for confusion in by_group.values()])
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # a batch in which PE is undefined is left out of its mean
        pe = proportional_equality(
            truth, y_pred, sensitive_features=groups, pos_label=clf.classes_[1]
        )
    return pd_, pe


def _summary(values: np.ndarray) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, column in zip(("pd", "pe"), values.T, strict=True):
        defined = column[~np.isnan(column)]
        found[name] = float(defined.mean()) if len(defined) else float("nan")
        found[f"{name}_error"] = (
            float(defined.std(ddof=1) / np.sqrt(len(defined)))
            if len(defined) > 1
            else float("nan")
        )
    return {**found, "batches": len(values)}
