"""Classifiers to compare CAPE with: the paper's baselines, AIF360's and Fairlearn's.

All have the same small interface: ``fit(X, y, sensitive_features=z)`` with labels, and
``predict(X, sensitive_features=z)`` without. `METHODS` lists them under the names of
the paper's table, and `make_method` makes one by name. AIF360, Fairlearn and TensorFlow
are imported only when a method that needs them is fitted.
"""

from cape_paper._aif360_methods import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MetaFair,
    RejectOption,
    Reweighing,
)
from cape_paper._base import with_group_columns
from cape_paper._fairlearn import FairlearnReduction, FairlearnThreshold
from cape_paper._methods import (
    METHODS,
    FairClassifier,
    Method,
    make_method,
    missing_packages,
)
from cape_paper._simple import AlwaysPositive, CapeOne, MaxAcc

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
