"""All methods of a comparison by name: one table, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

from cape import CapeClassifier
from cape.rules import DemographicParity
from cape_paper._peers import (
    AdversarialDebiasing,
    AlwaysPositive,
    CapeOne,
    FairlearnReduction,
    FairlearnThreshold,
    MaxAcc,
    MetaFair,
    PostProcessor,
    Reweighing,
)


@dataclass(frozen=True)
class Method:
    """One row of the comparison.

    Parameters
    ----------
    family : {"CAPE", "baseline", "pre", "in", "post"}
        Where the method acts, in the paper's words: pre-, in- or post-processing.
    make : callable
        Returns an unfitted classifier.
    takes : str
        The keywords of ``make`` that a comparison gives: some of "estimator",
        "random_state" and "favourable".
    settings : dict, default={}
        Further keywords of ``make``.
    needs : tuple of str, default=()
        Packages that it needs beside the core of cape.
    random : bool, default=True
        Whether the answer depends on the seed.
    slow : bool, default=False
        Whether it costs a hundred fits of the learner or more.
    """

    family: str
    make: Callable[..., Any]
    takes: str
    settings: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    random: bool = True
    slow: bool = False


_LEARNS = "estimator random_state"
_ALL = "estimator random_state favourable"
_AIF360 = ("aif360",)

_rule = partial(Method, "CAPE", CapeClassifier, _LEARNS)
_meta_fair = partial(Method, "in", MetaFair, "random_state favourable", needs=_AIF360)
_post_processor = partial(Method, "post", PostProcessor, _ALL, needs=_AIF360)
_CALIBRATED = {"algorithm": "CalibratedEqOddsPostprocessing"}
_REJECT = {"algorithm": "RejectOptionClassification"}
_fairlearn = partial(Method, takes=_LEARNS, needs=("fairlearn",))
_PARITY = {"constraint": "demographic_parity"}
_ODDS = {"constraint": "equalized_odds"}

METHODS: dict[str, Method] = {
    # CAPE-D and CAPE-1 are the paper's names: D is the whole test set, 1 a single row.
    "CAPE-D": Method("CAPE", CapeClassifier.paper, _LEARNS),
    "CAPE-1": Method("CAPE", CapeOne.paper, _LEARNS),
    # Nothing is set: the default chooses its learner, too.
    "CAPE default": Method("CAPE", CapeClassifier, "random_state"),
    # The same with the learner of all other methods.
    "CAPE same learner": _rule(),
    # What to aim at instead of the prevalence. Fairlearn's threshold optimizers below
    # have some of the same criteria.
    "CAPE demographic parity": _rule({"rule": "demographic_parity"}),
    "CAPE four-fifths": _rule({"rule": DemographicParity(ratio=0.8)}),
    "CAPE equal opportunity": _rule({"rule": "equal_opportunity"}),
    "CAPE predictive equality": _rule({"rule": "predictive_equality"}),
    "CAPE equalized odds": _rule({"rule": "equalized_odds"}),
    "CAPE proportional equality": _rule({"rule": "proportional_equality"}),
    "CAPE accuracy": _rule({"rule": "accuracy"}),
    # Neither baseline draws: all seeds give the same answer, so one run is enough.
    "Max_Acc": Method("baseline", MaxAcc, "estimator", random=False),
    "Always positive": Method("baseline", AlwaysPositive, "", random=False),
    "Reweigh": Method("pre", Reweighing, _ALL, needs=_AIF360, random=False),
    # 0.8 is the value that the paper names.
    "Meta-fair-sr": _meta_fair({"type": "sr", "tau": 0.8}),
    "Meta-fair-fdr": _meta_fair({"type": "fdr", "tau": 0.8}),
    "AD": Method(
        "in",
        AdversarialDebiasing,
        "random_state favourable",
        needs=("aif360", "tensorflow"),
        slow=True,
    ),
    "CEOP-fpr": _post_processor(_CALIBRATED | {"cost_constraint": "fpr"}),
    "CEOP-fnr": _post_processor(_CALIBRATED | {"cost_constraint": "fnr"}),
    "CEOP-weighted": _post_processor(_CALIBRATED | {"cost_constraint": "weighted"}),
    # Their grid has 100 thresholds with 50 margins each.
    "ROC-spd": _post_processor(
        _REJECT | {"metric_name": "Statistical parity difference"}, slow=True
    ),
    "ROC-aod": _post_processor(
        _REJECT | {"metric_name": "Average odds difference"}, slow=True
    ),
    "ROC-eod": _post_processor(
        _REJECT | {"metric_name": "Equal opportunity difference"}, slow=True
    ),
    # The paper does not compare with Fairlearn: these rows have no printed numbers.
    # Each of the up to 50 iterations of ExpGrad trains the learner on new weights.
    "ExpGrad-dp": _fairlearn("in", FairlearnReduction, settings=_PARITY, slow=True),
    "ExpGrad-eo": _fairlearn("in", FairlearnReduction, settings=_ODDS, slow=True),
    "ThresholdOpt-dp": _fairlearn("post", FairlearnThreshold, settings=_PARITY),
    "ThresholdOpt-eo": _fairlearn("post", FairlearnThreshold, settings=_ODDS),
}
"""The rows of the paper's table and of ours, in order, under the paper's names."""

BESIDE_PRINT = [name for name in METHODS if "rule" not in METHODS[name].settings]
"""What a reproduction runs unless it is told otherwise: without rules that the paper
does not have."""


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
    >>> make_method("CAPE accuracy", LogisticRegression())
    CapeClassifier(estimator=LogisticRegression(), random_state=0, rule='accuracy')
    """
    method = METHODS[name]
    given = {"estimator": learner, "random_state": seed, "favourable": favourable}
    taken = {keyword: given[keyword] for keyword in method.takes.split()}
    return method.make(**taken, **method.settings)


def missing_packages(name: str) -> list[str]:
    """List the packages that a method needs and that are not installed."""
    # `find_spec` does not import the package: AIF360 and TensorFlow take seconds.
    needed = METHODS[name].needs
    return [package for package in needed if find_spec(package) is None]
