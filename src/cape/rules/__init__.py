"""Rules: which member of each group's pool decides, seeing all groups at once."""

from cape.rules._accuracy import Accuracy
from cape.rules._base import GroupSituation, Rule
from cape.rules._bounded import (
    BoundedRule,
    best_within_each,
    compared_groups,
    measure_criterion,
)
from cape.rules._constrained import Constrained
from cape.rules._criteria import CRITERIA
from cape.rules._names import RULES, bounds_of, describe_rule, make_rule
from cape.rules._parity import (
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    ProportionalEquality,
)
from cape.rules._prevalence import Prevalence, nearest_member

__all__ = [
    "CRITERIA",
    "RULES",
    "Accuracy",
    "BoundedRule",
    "Constrained",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "GroupSituation",
    "PredictiveEquality",
    "Prevalence",
    "ProportionalEquality",
    "Rule",
    "best_within_each",
    "bounds_of",
    "compared_groups",
    "describe_rule",
    "make_rule",
    "measure_criterion",
    "nearest_member",
]
