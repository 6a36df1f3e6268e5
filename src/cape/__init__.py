"""Fair classification under prior probability shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape.base._packages import lazily

if TYPE_CHECKING:
    from cape.base._estimate import Estimate
    from cape.classifier import CapeClassifier
    from cape.datasets import make_synthetic
    from cape.evidence._evidence import Evidence
    from cape.examination import (
        Backtest,
        Examination,
        backtest,
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
    from cape.rules._frozen import FrozenCape
    from cape.training import pp_sampling
    from cape.training._scores import Scores
    from cape.watch import RollingCape, Watch

__version__ = "0.1.0.dev0"
"""Version of the package."""

_HOME = {
    "Adaptation": "cape.rules._adaptation",
    "AdaptationWarning": "cape.rules._adaptation",
    "Audit": "cape.metrics",
    "Backtest": "cape.examination",
    "CapeClassifier": "cape.classifier",
    "Constrained": "cape.rules",
    "Estimate": "cape.base._estimate",
    "Evidence": "cape.evidence._evidence",
    "Examination": "cape.examination",
    "FrozenCape": "cape.rules._frozen",
    "GroupSituation": "cape.rules",
    "QUANTIFIERS": "cape.quantify",
    "Quantifier": "cape.quantify",
    "RULES": "cape.rules",
    "RollingCape": "cape.watch",
    "Rule": "cape.rules",
    "Scores": "cape.training._scores",
    "Watch": "cape.watch",
    "audit": "cape.metrics",
    "backtest": "cape.examination",
    "examine": "cape.examination",
    "load": "cape.persist",
    "make_fairness_scorer": "cape.metrics",
    "make_synthetic": "cape.datasets",
    "pp_sampling": "cape.training",
    "prevalence_difference": "cape.metrics",
    "proportional_equality": "cape.metrics",
    "rows_needed": "cape.examination",
    "rows_to_label": "cape.examination",
    "save": "cape.persist",
}

__all__ = [*_HOME, "__version__"]

# The command line has settings to make before scikit-learn is imported, and its help
# should not wait for that import.
__getattr__ = lazily("cape", _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
