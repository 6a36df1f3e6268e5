"""Rules: which member of each group's pool decides, seeing all groups at once."""

from cape.rules._base import GroupSituation, Prevalence, Rule
from cape.rules._bounded import (
    Accuracy,
    BoundedRule,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    ProportionalEquality,
)
from cape.rules._criteria import CRITERIA
from cape.rules._names import RULES, describe_rule, make_rule

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
    "describe_rule",
    "make_rule",
]
