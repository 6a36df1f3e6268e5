"""All methods of the comparison by name, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.compare._aif360_methods import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MetaFair,
    RejectOption,
    Reweighing,
)
from cape.compare._cape_one import CapeOne
from cape.compare._fairlearn import FairlearnReduction, FairlearnThreshold
from cape.compare._max_acc import MaxAcc
from cape.compare._trivial import AlwaysPositive

__all__ = ["METHODS", "FairClassifier", "Method", "make_method", "missing_packages"]


class FairClassifier(Protocol):
    """What a method is: it learns from labelled rows with groups, and predicts from rows with groups alone."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Any:
        """Learn from labelled rows."""

    def predict(self, X: Any, *, sensitive_features: Any) -> Any:
        """Predict a batch; there is no way to hand it labels."""


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Parameters
    ----------
    family : {"CAPE", "baseline", "pre", "in", "post"}
        Where it acts, in the paper's words.
    make : callable
        Of a learner, a seed and AIF360's favourable label ("positive" or "negative"), an unfitted classifier.
    about : str
    needs : tuple of str
        Packages it needs beside cape.
    random : bool
        Whether the seed matters.
    slow : bool
        Whether it costs a hundred fits of the learner or more.
    """

    family: str
    make: Callable[[Any, int, str], FairClassifier]
    about: str
    needs: tuple[str, ...] = ()
    random: bool = True
    slow: bool = False


_AIF360, _FAIRLEARN = ("aif360",), ("fairlearn",)


def _meta(kind: str) -> Method:
    make = lambda learner, seed, label: MetaFair(
        kind, favourable=label, random_state=seed
    )  # noqa: E731
    return Method("in", make, f"AIF360 MetaFairClassifier, {kind}, tau 0.8", _AIF360)


def _ceop(cost: str) -> Method:
    make = lambda learner, seed, label: CalibratedEqOdds(  # noqa: E731
        learner, cost=cost, favourable=label, random_state=seed
    )
    return Method(
        "post", make, f"AIF360 CalibratedEqOddsPostprocessing, {cost}", _AIF360
    )


def _roc(metric: str) -> Method:
    make = lambda learner, seed, label: RejectOption(  # noqa: E731
        learner, metric=metric, favourable=label, random_state=seed
    )
    return Method(
        "post", make, f"AIF360 RejectOptionClassification, {metric}", _AIF360, slow=True
    )


def _reduction(constraint: str) -> Method:
    make = lambda learner, seed, label: FairlearnReduction(  # noqa: E731
        learner, constraint=constraint, random_state=seed
    )
    return Method(
        "in",
        make,
        f"Fairlearn ExponentiatedGradient, {constraint}",
        _FAIRLEARN,
        slow=True,
    )


def _thresholds(constraint: str) -> Method:
    make = lambda learner, seed, label: FairlearnThreshold(  # noqa: E731
        learner, constraint=constraint, random_state=seed
    )
    return Method(
        "post", make, f"Fairlearn ThresholdOptimizer, {constraint}", _FAIRLEARN
    )


METHODS: dict[str, Method] = {
    "CAPE-D": Method(
        "CAPE",
        lambda learner, seed, label: CapeClassifier(learner, random_state=seed),
        "the paper's configuration: ten resampled classifiers, SPA, the test set as one batch",
    ),
    "CAPE-1": Method(
        "CAPE",
        lambda learner, seed, label: CapeOne(learner, random_state=seed),
        "the same, each row a batch of its own",
    ),
    "CAPE threshold": Method(
        "CAPE",
        lambda learner, seed, label: CapeClassifier(
            learner, pool="threshold", quantifier="histogram", random_state=seed
        ),
        "one model with a moved threshold, histogram quantifier, the test set as one batch",
    ),
    "Max_Acc": Method(
        "baseline",
        lambda learner, seed, label: MaxAcc(learner),
        "one classifier on all rows, the group among its features",
        random=False,
    ),
    "Always positive": Method(
        "baseline",
        lambda learner, seed, label: AlwaysPositive(),
        "every row is called positive",
        random=False,
    ),
    "Reweigh": Method(
        "pre",
        lambda learner, seed, label: Reweighing(
            learner, favourable=label, random_state=seed
        ),
        "AIF360 Reweighing",
        _AIF360,
        random=False,
    ),
    "Meta-fair-sr": _meta("sr"),
    "Meta-fair-fdr": _meta("fdr"),
    "AD": Method(
        "in",
        lambda learner, seed, label: AdversarialDebiasing(
            favourable=label, random_state=seed
        ),
        "AIF360 AdversarialDebiasing",
        (*_AIF360, "tensorflow"),
        slow=True,
    ),
    "CEOP-fpr": _ceop("fpr"),
    "CEOP-fnr": _ceop("fnr"),
    "CEOP-weighted": _ceop("weighted"),
    "ROC-spd": _roc("spd"),
    "ROC-aod": _roc("aod"),
    "ROC-eod": _roc("eod"),
    "ExpGrad-dp": _reduction("demographic_parity"),
    "ExpGrad-eo": _reduction("equalized_odds"),
    "ThresholdOpt-dp": _thresholds("demographic_parity"),
    "ThresholdOpt-eo": _thresholds("equalized_odds"),
}
"""The rows of the paper's table and of ours, in order, under the paper's names."""


def make_method(
    name: str, learner: Any, *, seed: int = 0, favourable: str = "positive"
) -> FairClassifier:
    """An unfitted classifier by name.

    Parameters
    ----------
    name : str
        A key of `METHODS`.
    learner : estimator with ``fit`` and ``predict_proba``
        The base learner, for the methods that have one.
    seed : int, default=0
    favourable : {"positive", "negative"}, default="positive"
        Which label AIF360 is told is the favourable one; no other library asks.

    Returns
    -------
    FairClassifier

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> make_method("Max_Acc", LogisticRegression())
    MaxAcc(estimator=LogisticRegression())
    """
    check_choice("name", name, tuple(METHODS))
    return METHODS[name].make(learner, seed, favourable)


def missing_packages(name: str) -> list[str]:
    """Packages that a method needs and that are not installed.

    Examples
    --------
    >>> missing_packages("Max_Acc")
    []
    """
    return [package for package in METHODS[name].needs if find_spec(package) is None]
