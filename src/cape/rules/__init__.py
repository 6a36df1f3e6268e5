"""Rules: which member of each group's pool decides, seeing all groups at once."""

from cape.rules._adaptation import GroupAdaptation
from cape.rules._criteria import CRITERIA, GroupSituation
from cape.rules._rules import (
    RULES,
    Accuracy,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    Prevalence,
    ProportionalEquality,
    Rule,
    Unchanged,
)

__all__ = [
    "CRITERIA",
    "RULES",
    "Constrained",
    "GroupAdaptation",
    "GroupSituation",
    "Rule",
]
