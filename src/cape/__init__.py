"""Fair classification under prior probability shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape.base._packages import lazily

if TYPE_CHECKING:
    from cape.base._estimate import Estimate
    from cape.classifier import CapeClassifier, FrozenCape
    from cape.datasets import make_synthetic
    from cape.evidence._evidence import Evidence
    from cape.examination import (
        Backtest,
        Examination,
        backtest,
        check,
        examine,
        rows_needed,
        rows_to_label,
    )
    from cape.metrics import (
        Audit,
        audit,
        make_fairness_scorer,
        prevalence_difference,
        proportional_equality,
    )
    from cape.persist import load, save
    from cape.quantify import QUANTIFIERS, Quantifier
    from cape.rules import RULES, Constrained, GroupSituation, Rule
    from cape.rules._adaptation import Adaptation, AdaptationWarning
    from cape.training import pp_sampling
    from cape.training._scores import Scores
    from cape.watch import RollingCape, Watch

__version__ = "0.1.0.dev0"
"""Version of the package."""

_NAMES = {
    "cape.base._estimate": "Estimate",
    "cape.classifier": "CapeClassifier FrozenCape",
    "cape.datasets": "make_synthetic",
    "cape.evidence._evidence": "Evidence",
    "cape.examination": "Backtest Examination backtest check examine "
    "rows_needed rows_to_label",
    "cape.metrics": "Audit audit make_fairness_scorer prevalence_difference "
    "proportional_equality",
    "cape.persist": "load save",
    "cape.quantify": "QUANTIFIERS Quantifier",
    "cape.rules": "Constrained GroupSituation RULES Rule",
    "cape.rules._adaptation": "Adaptation AdaptationWarning",
    "cape.training": "pp_sampling",
    "cape.training._scores": "Scores",
    "cape.watch": "RollingCape Watch",
}
"""The names of the library that stand here, by the module that each comes from."""

_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOME, "__version__"]

# The command line has settings to make before scikit-learn is imported, and its help
# should not wait for that import.
__getattr__ = lazily("cape", _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
