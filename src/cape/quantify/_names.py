"""Quantifiers by name, and the aggregative quantifiers of QuaPy."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from cape.base._validation import check_choice
from cape.evidence._histogram import ONE, ScoreHistogram
from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._likelihood import EMQ, HistogramPosterior, OneStepEMQ
from cape.quantify._matching import DyS, HDy


class _ScoresAreGiven(ClassifierMixin, BaseEstimator):
    """The fitted classifier that QuaPy asks for, whose features are its scores."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


class QuaPyQuantifier(Quantifier):
    """Adapter for a quantifier of QuaPy that aggregates scores, such as ``KDEyML``.

    QuaPy needs the scores of single rows, so histograms keep them. Evidence then grows
    with the batch, cannot be subtracted, and cannot come from a file in parts, a
    cluster or a stream. The interval is that of `SPA`, extended to contain the
    estimate.

    Parameters
    ----------
    quantifier : quapy.method.aggregative.AggregativeQuantifier
        The quantifier. Its classifier is ignored: the scores are those of
        `cape.CapeClassifier`.

    Attributes
    ----------
    fitted_ : quapy.method.aggregative.AggregativeQuantifier
        A fitted copy of ``quantifier``.

    Examples
    --------
    >>> from quapy.method.aggregative import SMM  # doctest: +SKIP
    >>> CapeClassifier(quantifier=QuaPyQuantifier(SMM()))  # doctest: +SKIP
    """

    keeps_rows = True

    def __init__(self, quantifier: Any):
        self.quantifier = quantifier

    def _fit(self) -> None:
        if not hasattr(self.quantifier, "aggregation_fit"):
            raise TypeError(
                "quantifier must be an aggregative one of QuaPy (with "
                f"aggregation_fit), got {self.quantifier!r}."
            )
        positives = _scores_of_rows(self.positives_)
        negatives = _scores_of_rows(self.negatives_)
        scores = np.concatenate([positives, negatives])
        sizes = [len(positives), len(negatives)]
        labels = np.repeat([1, 0], sizes)
        self.fitted_ = copy.deepcopy(self.quantifier)
        self.fitted_.classifier = _ScoresAreGiven()
        # EMQ needs the training prevalence, which QuaPy sets when it fits a classifier.
        prevalence = labels.mean()
        prevalences = np.array([1 - prevalence, prevalence])
        self.fitted_.train_prevalence = prevalences
        self.fitted_.aggregation_fit(self._as_quapy(scores), labels)

    def _estimate(self, batch: ScoreHistogram) -> float:
        scores = _scores_of_rows(batch)
        prevalences = self.fitted_.aggregate(self._as_quapy(scores))
        return float(prevalences[1])

    def _as_quapy(self, scores: np.ndarray) -> np.ndarray:
        """Return labels for quantifiers that count them, else both probabilities."""
        if self.quantifier._classifier_method() == "predict":
            return (scores > 0.5).astype(int)
        return np.column_stack([1 - scores, scores])


def _scores_of_rows(histogram: ScoreHistogram) -> np.ndarray:
    """Return the scores that a histogram has kept, as probabilities."""
    if histogram.rows is None:
        raise TypeError(
            "a QuaPy quantifier needs histograms that keep their rows (keep_rows=True)."
        )
    return histogram.rows / ONE


QUANTIFIERS: dict[str, type[Quantifier]] = {
    "cc": CC,
    "pcc": PCC,
    "acc": ACC,
    "spa": SPA,
    "hdy": HDy,
    "dys": DyS,
    "emq": EMQ,
    "onestep": OneStepEMQ,
    "histogram": HistogramPosterior,
}
"""Names of the quantifiers. Everything that lists quantifiers is derived from this."""


def borrows_interval(quantifier: Quantifier) -> bool:
    """Tell whether a quantifier from outside has the interval of the mean score."""
    cls = type(quantifier)
    is_ours = cls in QUANTIFIERS.values()
    has_statistic = cls._statistic is not Quantifier._statistic
    has_interval = cls._interval is not Quantifier._interval
    return not (is_ours or has_statistic or has_interval)


def make_quantifier(quantifier: Any) -> Quantifier:
    """Make an unfitted quantifier from a name or an instance.

    Parameters
    ----------
    quantifier : str, Quantifier or quapy.method.aggregative.AggregativeQuantifier
        A name in `QUANTIFIERS`, an instance of a subclass of `Quantifier`, which is
        cloned, or an aggregative quantifier of QuaPy.

    Returns
    -------
    Quantifier

    Raises
    ------
    ValueError
        If there is no quantifier of this name.
    TypeError
        If ``quantifier`` is anything else, such as an object that has ``fit``,
        ``estimate`` and ``interval`` but is no `Quantifier`.

    Examples
    --------
    >>> make_quantifier("spa")
    SPA()
    """
    if isinstance(quantifier, str):
        check_choice("quantifier", quantifier, tuple(QUANTIFIERS))
        return QUANTIFIERS[quantifier]()
    if isinstance(quantifier, Quantifier):
        return clone(quantifier)
    is_instance = not isinstance(quantifier, type)
    if is_instance and hasattr(quantifier, "aggregation_fit"):
        return QuaPyQuantifier(quantifier)
    names = ", ".join(map(repr, QUANTIFIERS))
    raise TypeError(
        f"quantifier must be one of {names}, an instance of a subclass of "
        "cape.quantify.Quantifier or an aggregative quantifier of QuaPy, "
        f"got {quantifier!r}."
    )
