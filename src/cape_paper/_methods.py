"""All methods of the comparison by name, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.rules import DemographicParity, Rule, make_rule
from cape_paper._aif360_methods import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MetaFair,
    RejectOption,
    Reweighing,
)
from cape_paper._fairlearn import FairlearnReduction, FairlearnThreshold
from cape_paper._simple import AlwaysPositive, CapeOne, MaxAcc

__all__ = ["METHODS", "FairClassifier", "Method", "make_method", "missing_packages"]


class FairClassifier(Protocol):
    """The interface of a method: it learns with labels and predicts without.

    Examples
    --------
    >>> model: FairClassifier = make_method("Max_Acc", LogisticRegression())
    """

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Any:
        """Learn from labelled rows.

        Parameters
        ----------
        X : table
            The features.
        y : array-like
            The labels.
        sensitive_features : array-like
            The group of each row.
        """

    def predict(self, X: Any, *, sensitive_features: Any) -> Any:
        """Predict the label of every row of a batch.

        There is no argument that could hand over labels of the batch.

        Parameters
        ----------
        X : table
            The features.
        sensitive_features : array-like
            The group of each row.
        """


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Parameters
    ----------
    family : {"CAPE", "baseline", "pre", "in", "post"}
        Where the method acts, in the paper's words: pre-, in- or post-processing.
    make : callable
        Takes a learner, a seed and the label that AIF360 is told is favourable
        ("positive" or "negative"), and returns an unfitted classifier.
    about : str
        What it is, in a few words.
    needs : tuple of str, default=()
        Packages that it needs beside the core of cape.
    random : bool, default=True
        Whether the answer depends on the seed.
    slow : bool, default=False
        Whether it costs a hundred fits of the learner or more.

    Examples
    --------
    >>> METHODS["Reweigh"].needs, METHODS["Reweigh"].random
    (('aif360',), False)
    """

    family: str
    make: Callable[[Any, int, str], FairClassifier]
    about: str
    needs: tuple[str, ...] = ()
    random: bool = True
    slow: bool = False


# The functions below have the signature of `Method.make`. A method that has no learner,
# does not draw or does not know a favourable label ignores that argument.


def _cape_d(learner, seed, favourable):
    return CapeClassifier.paper(estimator=learner, random_state=seed)


def _cape_1(learner, seed, favourable):
    return CapeOne.paper(estimator=learner, random_state=seed)


def _cape_default(learner, seed, favourable):
    # Nothing is set: the default chooses its learner, too.
    return CapeClassifier(random_state=seed)


def _cape_rule(rule: str | Rule, aim: str) -> Method:
    """Describe CAPE with the learner of the comparison and another aim."""

    def make(learner, seed, favourable):
        return CapeClassifier(learner, rule=make_rule(rule), random_state=seed)

    about = f"CapeClassifier with a rule, the test set as one batch: {aim}"
    return Method("CAPE", make, about)


def _max_acc(learner, seed, favourable):
    return MaxAcc(learner)


def _always_positive(learner, seed, favourable):
    return AlwaysPositive()


def _reweighing(learner, seed, favourable):
    return Reweighing(learner, favourable=favourable, random_state=seed)


def _adversarial(learner, seed, favourable):
    return AdversarialDebiasing(favourable=favourable, random_state=seed)


def _meta_fair(kind: str) -> Method:
    """Describe MetaFair, which has no learner."""

    def make(learner, seed, favourable):
        return MetaFair(kind, favourable=favourable, random_state=seed)

    # 0.8 is the value that the paper names.
    about = f"AIF360 MetaFairClassifier, {kind}, tau 0.8"
    return Method("in", make, about, needs=("aif360",))


def _post_processor(
    classifier: Any,
    about: str,
    *,
    slow: bool = False,
    **setting: str,
) -> Method:
    """Describe a post-processor of AIF360 with one setting."""

    def make(learner, seed, favourable):
        return classifier(learner, favourable=favourable, random_state=seed, **setting)

    [value] = setting.values()
    return Method(
        "post", make, f"AIF360 {about}, {value}", needs=("aif360",), slow=slow
    )


def _calibrated(cost: str) -> Method:
    return _post_processor(
        CalibratedEqOdds, "CalibratedEqOddsPostprocessing", cost=cost
    )


def _reject_option(metric: str) -> Method:
    # Its grid has 100 thresholds with 50 margins each.
    return _post_processor(
        RejectOption, "RejectOptionClassification", slow=True, metric=metric
    )


def _fairlearn(
    family: str,
    classifier: Any,
    about: str,
    *,
    constraint: str,
    slow: bool = False,
) -> Method:
    """Describe a method of Fairlearn, which knows no favourable label."""

    def make(learner, seed, favourable):
        return classifier(learner, constraint=constraint, random_state=seed)

    about = f"Fairlearn {about}, {constraint}"
    return Method(family, make, about, needs=("fairlearn",), slow=slow)


def _reduction(constraint: str) -> Method:
    # Each of its up to 50 iterations trains the learner on new weights.
    return _fairlearn(
        "in",
        FairlearnReduction,
        "ExponentiatedGradient",
        constraint=constraint,
        slow=True,
    )


def _thresholds(constraint: str) -> Method:
    return _fairlearn(
        "post", FairlearnThreshold, "ThresholdOptimizer", constraint=constraint
    )


METHODS: dict[str, Method] = {
    # CAPE-D and CAPE-1 are the paper's names: D is the whole test set, 1 a single row.
    "CAPE-D": Method(
        "CAPE",
        _cape_d,
        "the paper's configuration: ten resampled classifiers, SPA, "
        "the test set as one batch",
    ),
    "CAPE-1": Method("CAPE", _cape_1, "the same, each row a batch of its own"),
    "CAPE default": Method(
        "CAPE",
        _cape_default,
        "CapeClassifier() with nothing set, its own choice of learner, "
        "the test set as one batch",
    ),
    # What to aim at instead of the prevalence. Fairlearn's threshold optimizers below
    # have some of the same criteria.
    "CAPE demographic parity": _cape_rule(
        "demographic_parity", "equal shares of positives"
    ),
    "CAPE four-fifths": _cape_rule(
        DemographicParity(ratio=0.8), "no share below four fifths of another"
    ),
    "CAPE equal opportunity": _cape_rule(
        "equal_opportunity", "equal true positive rates"
    ),
    "CAPE predictive equality": _cape_rule(
        "predictive_equality", "equal false positive rates"
    ),
    "CAPE equalized odds": _cape_rule(
        "equalized_odds", "equal true and false positive rates"
    ),
    "CAPE proportional equality": _cape_rule(
        "proportional_equality", "PE of 0 at the best accuracy"
    ),
    "CAPE accuracy": _cape_rule("accuracy", "the best accuracy in every group"),
    # Neither baseline draws: all seeds give the same answer, so one run is enough.
    "Max_Acc": Method(
        "baseline",
        _max_acc,
        "one classifier on all rows, the group among its features",
        random=False,
    ),
    "Always positive": Method(
        "baseline", _always_positive, "every row is called positive", random=False
    ),
    "Reweigh": Method(
        "pre", _reweighing, "AIF360 Reweighing", needs=("aif360",), random=False
    ),
    "Meta-fair-sr": _meta_fair("sr"),
    "Meta-fair-fdr": _meta_fair("fdr"),
    "AD": Method(
        "in",
        _adversarial,
        "AIF360 AdversarialDebiasing",
        needs=("aif360", "tensorflow"),
        slow=True,
    ),
    "CEOP-fpr": _calibrated("fpr"),
    "CEOP-fnr": _calibrated("fnr"),
    "CEOP-weighted": _calibrated("weighted"),
    "ROC-spd": _reject_option("spd"),
    "ROC-aod": _reject_option("aod"),
    "ROC-eod": _reject_option("eod"),
    # The paper does not compare with Fairlearn: these rows have no printed numbers.
    "ExpGrad-dp": _reduction("demographic_parity"),
    "ExpGrad-eo": _reduction("equalized_odds"),
    "ThresholdOpt-dp": _thresholds("demographic_parity"),
    "ThresholdOpt-eo": _thresholds("equalized_odds"),
}
"""The rows of the paper's table and of ours, in order, under the paper's names."""


def make_method(
    name: str,
    learner: Any,
    *,
    seed: int = 0,
    favourable: str = "positive",
) -> FairClassifier:
    """Make an unfitted classifier by name.

    Parameters
    ----------
    name : str
        A key of `METHODS`.
    learner : estimator with ``fit`` and ``predict_proba``
        The base learner, for the methods that have one.
    seed : int, default=0
        Seed, for the methods that draw.
    favourable : {"positive", "negative"}, default="positive"
        The label that AIF360 is told is the favourable one; no other library asks.

    Returns
    -------
    FairClassifier

    Raises
    ------
    ValueError
        If ``name`` is not a key of `METHODS`.

    Examples
    --------
    >>> make_method("Max_Acc", LogisticRegression())
    MaxAcc(estimator=LogisticRegression())
    """
    # Looked up when called: a test or a user may have added a method.
    check_choice("name", name, tuple(METHODS))
    return METHODS[name].make(learner, seed, favourable)


def missing_packages(name: str) -> list[str]:
    """List the packages that a method needs and that are not installed.

    Parameters
    ----------
    name : str
        A key of `METHODS`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> missing_packages("Max_Acc")
    []
    """
    # `find_spec` does not import the package: AIF360 and TensorFlow take seconds.
    needed = METHODS[name].needs
    return [package for package in needed if find_spec(package) is None]
