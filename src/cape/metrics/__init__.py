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
from cape.metrics._parity import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    false_positive_rate_difference,
    false_positive_rate_ratio,
    precision_difference,
    precision_ratio,
)
from cape.metrics._rates import (
    FEWEST_ROWS,
    Confusion,
    confusion_by_group,
    prevalence_difference,
)
from cape.metrics._scorer import make_fairness_scorer
from cape.metrics._table import fairness_table

__all__ = [
    "FEWEST_ROWS",
    "Audit",
    "Confusion",
    "Finding",
    "audit",
    "audit_counts",
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
    "pe_of_prevalences",
    "precision_difference",
    "precision_ratio",
    "prevalence_difference",
    "proportional_equality",
    "proportional_equality_matrix",
    "wilson_interval",
    "worst_pe",
]
