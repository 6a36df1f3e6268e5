"""Metrics: per group, between groups, one number; and the audit, the same with intervals."""

from cape.metrics._audit import Audit, Finding, audit, audit_counts, wilson_interval
from cape.metrics._between import proportional_equality, proportional_equality_matrix
from cape.metrics._rates import Confusion, confusion_by_group, prevalence_difference
from cape.metrics._table import fairness_table

__all__ = [
    "Audit",
    "Confusion",
    "Finding",
    "audit",
    "audit_counts",
    "confusion_by_group",
    "fairness_table",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
    "wilson_interval",
]
