"""Fair classification under prior probability shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._packages import lazily

if TYPE_CHECKING:
    from cape._adaptation import Adaptation, AdaptationWarning, GroupAdaptation
    from cape._estimate import Estimate
    from cape._evidence import Evidence
    from cape._histogram import ScoreHistogram
    from cape._learners._scores import Scores
    from cape._watch import Watch
    from cape.classifier import CapeClassifier
    from cape.examination import Examination, examine
    from cape.frozen import FrozenCape

__all__ = [
    "Adaptation",
    "AdaptationWarning",
    "CapeClassifier",
    "Estimate",
    "Evidence",
    "Examination",
    "FrozenCape",
    "GroupAdaptation",
    "ScoreHistogram",
    "Scores",
    "Watch",
    "__version__",
    "examine",
]

__version__ = "0.1.0.dev0"
"""Version of the package."""

_HOME = {
    "Adaptation": "cape._adaptation",
    "AdaptationWarning": "cape._adaptation",
    "CapeClassifier": "cape.classifier",
    "Estimate": "cape._estimate",
    "Evidence": "cape._evidence",
    "Examination": "cape.examination",
    "FrozenCape": "cape.frozen",
    "GroupAdaptation": "cape._adaptation",
    "ScoreHistogram": "cape._histogram",
    "Scores": "cape._learners._scores",
    "Watch": "cape._watch",
    "examine": "cape.examination",
}


# The command line has settings to make before scikit-learn is imported, and its help
# should not wait for that import.
__getattr__ = lazily("cape", _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
