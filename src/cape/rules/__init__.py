"""Rules: which member of each group's pool decides, seeing all groups at once."""

from cape.rules._base import GroupSituation, Rule
from cape.rules._prevalence import Prevalence, nearest_member

__all__ = ["GroupSituation", "Prevalence", "Rule", "nearest_member"]
