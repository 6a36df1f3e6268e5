"""Fairness metrics: of each group, between groups, and audited with intervals."""

from cape.metrics._audit import Audit, audit
from cape.metrics._between import (
    PARITY,
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
    "fairness_table",
    "make_fairness_scorer",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
]
