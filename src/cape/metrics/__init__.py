"""Fairness metrics: of each group, between groups, and audited with intervals."""

from cape.metrics._audit import Audit, audit
from cape.metrics._between import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    fairness_table,
    false_positive_rate_difference,
    false_positive_rate_ratio,
    precision_difference,
    precision_ratio,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._rates import confusion_by_group, prevalence_difference
from cape.metrics._scorer import make_fairness_scorer

__all__ = [
    "Audit",
    "audit",
    "confusion_by_group",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "fairness_table",
    "false_positive_rate_difference",
    "false_positive_rate_ratio",
    "make_fairness_scorer",
    "precision_difference",
    "precision_ratio",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
]
