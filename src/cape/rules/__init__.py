"""Rules: which member of each group's pool decides, seeing all groups at once."""

from cape.rules._base import GroupSituation, Prevalence, Rule, Unchanged
from cape.rules._bounded import (
    RULES,
    Accuracy,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    ProportionalEquality,
)
from cape.rules._criteria import CRITERIA

__all__ = [
    "CRITERIA",
    "RULES",
    "Accuracy",
    "Constrained",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "GroupSituation",
    "PredictiveEquality",
    "Prevalence",
    "ProportionalEquality",
    "Rule",
    "Unchanged",
]
