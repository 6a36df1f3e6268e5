"""Adaptations: what was found in a batch and chosen for it."""

from cape.adaptation._adaptation import Adaptation
from cape.adaptation._doubts import AdaptationWarning
from cape.adaptation._group import GroupAdaptation, LabelCheck

__all__ = ["Adaptation", "AdaptationWarning", "GroupAdaptation", "LabelCheck"]
