"""Fairness metrics: of each group, between groups, and audited with intervals."""

from cape.metrics._audit import audit, audit_counts
from cape.metrics._between import (
    pe_of_prevalences,
    proportional_equality,
    proportional_equality_matrix,
    worst_pe,
)
from cape.metrics._findings import Audit, Finding
from cape.metrics._intervals import wilson_interval
from cape.metrics._rates import (
    FEWEST_ROWS,
    Confusion,
    confusion_by_group,
    prevalence_difference,
)
from cape.metrics._table import fairness_table

__all__ = [
    "FEWEST_ROWS",
    "Audit",
    "Confusion",
    "Finding",
    "audit",
    "audit_counts",
    "confusion_by_group",
    "fairness_table",
    "pe_of_prevalences",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
    "wilson_interval",
    "worst_pe",
]
