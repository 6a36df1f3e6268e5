"""All methods of a comparison by name: one table, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from sklearn.dummy import DummyClassifier

from cape import CapeClassifier
from cape_paper._peers import (
    AdversarialDebiasing,
    CapeOne,
    FairlearnReduction,
    FairlearnThreshold,
    MaxAcc,
    MetaFair,
    PostProcessor,
    Reweighing,
)


class Method(NamedTuple):
    """One row of the comparison.

    Parameters
    ----------
    make : callable
        Returns an unfitted classifier.
    takes : str
        The keywords of ``make`` that a comparison gives: some of "estimator",
        "random_state" and "favourable".
    needs : str
        Packages that it needs beside the core of cape.
    repeats : {"seeds", "slow_seeds", "once"}
        Slow is what costs a hundred fits or more; once what does not draw.
    """

    make: Callable[..., Any]
    takes: str
    needs: str = ""
    repeats: str = "seeds"

    def missing(self) -> list[str]:
        """List the packages that it needs and that are not installed."""
        # `find_spec` does not import the package: AIF360 and TensorFlow take seconds.
        return [name for name in self.needs.split() if find_spec(name) is None]


_LEARNS = "estimator random_state"
_ALL = "estimator random_state favourable"
_NO_LEARNER = "random_state favourable"
_CALIBRATED = partial(PostProcessor, algorithm="CalibratedEqOddsPostprocessing")
_REJECT = partial(PostProcessor, algorithm="RejectOptionClassification")
_ALWAYS_POSITIVE = partial(MaxAcc, DummyClassifier(strategy="constant", constant=1))
# 0.8 is the value that the paper names.
_META_FAIR = partial(MetaFair, tau=0.8)


def _calibrated(constraint: str) -> Method:
    return Method(partial(_CALIBRATED, cost_constraint=constraint), _ALL, "aif360")


def _reject(metric: str) -> Method:
    # Their grid has 100 thresholds with 50 margins each.
    make = partial(_REJECT, metric_name=metric)
    return Method(make, _ALL, "aif360", "slow_seeds")


def _fairlearn(make: Any, constraint: str, repeats: str = "seeds") -> Method:
    return Method(partial(make, constraint=constraint), _LEARNS, "fairlearn", repeats)


METHODS: dict[str, Method] = {
    # CAPE-D and CAPE-1 are the paper's names: D is the whole test set, 1 a single row.
    "CAPE-D": Method(CapeClassifier.paper, _LEARNS),
    "CAPE-1": Method(CapeOne.paper, _LEARNS),
    # Nothing is set: the default chooses its learner, too.
    "CAPE default": Method(CapeClassifier, "random_state"),
    # The same with the learner of all other methods.
    "CAPE same learner": Method(CapeClassifier, _LEARNS),
    "Max_Acc": Method(MaxAcc, "estimator", repeats="once"),
    # The sanity check of the paper's table: no error rate differs between groups, and
    # yet PD is as large as it can be.
    "Always positive": Method(_ALWAYS_POSITIVE, "", repeats="once"),
    "Reweigh": Method(Reweighing, _ALL, "aif360", "once"),
    "Meta-fair-sr": Method(partial(_META_FAIR, type="sr"), _NO_LEARNER, "aif360"),
    "Meta-fair-fdr": Method(partial(_META_FAIR, type="fdr"), _NO_LEARNER, "aif360"),
    "AD": Method(AdversarialDebiasing, _NO_LEARNER, "aif360 tensorflow", "slow_seeds"),
    "CEOP-fpr": _calibrated("fpr"),
    "CEOP-fnr": _calibrated("fnr"),
    "CEOP-weighted": _calibrated("weighted"),
    "ROC-spd": _reject("Statistical parity difference"),
    "ROC-aod": _reject("Average odds difference"),
    "ROC-eod": _reject("Equal opportunity difference"),
    # The paper does not compare with Fairlearn: these rows have no printed numbers.
    # Each of the up to 50 iterations of ExpGrad trains the learner on new weights.
    "ExpGrad-dp": _fairlearn(FairlearnReduction, "DemographicParity", "slow_seeds"),
    "ExpGrad-eo": _fairlearn(FairlearnReduction, "EqualizedOdds", "slow_seeds"),
    "ThresholdOpt-dp": _fairlearn(FairlearnThreshold, "demographic_parity"),
    "ThresholdOpt-eo": _fairlearn(FairlearnThreshold, "equalized_odds"),
}
"""The rows of the paper's table and of ours, in order, under the paper's names."""


def make_method(
    name: str, learner: Any, *, seed: int = 0, favourable: str = "positive"
) -> Any:
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
    object with ``fit(X, y, sensitive_features=z)``
        And ``predict(X, sensitive_features=z)``.

    Examples
    --------
    >>> make_method("CAPE same learner", LogisticRegression())
    CapeClassifier(estimator=LogisticRegression(), random_state=0)
    """
    method = METHODS[name]
    given = {"estimator": learner, "random_state": seed, "favourable": favourable}
    return method.make(**{keyword: given[keyword] for keyword in method.takes.split()})
