"""Fairness metrics: of each group, between groups, and audited with intervals."""

from cape.metrics._audit import Audit, audit
from cape.metrics._between import (
    PARITY,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    fairness_table,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._rates import confusion_by_group, prevalence_difference
from cape.metrics._scorer import make_fairness_scorer

__all__ = [
    "PARITY",
    "Audit",
    "audit",
    "confusion_by_group",
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "fairness_table",
    "make_fairness_scorer",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
]
