"""Other classifiers to compare with, from the libraries that people use, behind one small interface."""

from cape.compare._aif360_methods import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MetaFair,
    RejectOption,
    Reweighing,
)
from cape.compare._cape_one import CapeOne
from cape.compare._fairlearn import FairlearnReduction, FairlearnThreshold
from cape.compare._max_acc import MaxAcc, with_group_columns
from cape.compare._methods import (
    METHODS,
    FairClassifier,
    Method,
    make_method,
    missing_packages,
)
from cape.compare._trivial import AlwaysPositive

__all__ = [
    "METHODS",
    "AdversarialDebiasing",
    "AlwaysPositive",
    "CalibratedEqOdds",
    "CapeOne",
    "FairClassifier",
    "FairlearnReduction",
    "FairlearnThreshold",
    "MaxAcc",
    "MetaFair",
    "Method",
    "RejectOption",
    "Reweighing",
    "make_method",
    "missing_packages",
    "with_group_columns",
]
