"""Fair classification under prior probability shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._packages import lazily

if TYPE_CHECKING:
    from cape._estimate import Estimate
    from cape.adaptation import Adaptation, AdaptationWarning
    from cape.classifier import CapeClassifier
    from cape.evidence import Evidence
    from cape.examination import Examination, examine
    from cape.frozen import FrozenCape
    from cape.histogram import ScoreHistogram

__all__ = [
    "Adaptation",
    "AdaptationWarning",
    "CapeClassifier",
    "Estimate",
    "Evidence",
    "Examination",
    "FrozenCape",
    "ScoreHistogram",
    "__version__",
    "examine",
]

__version__ = "0.1.0.dev0"
"""Version of the package."""

_HOME = {
    "Adaptation": "cape.adaptation",
    "AdaptationWarning": "cape.adaptation",
    "CapeClassifier": "cape.classifier",
    "Estimate": "cape._estimate",
    "Evidence": "cape.evidence",
    "Examination": "cape.examination",
    "FrozenCape": "cape.frozen",
    "ScoreHistogram": "cape.histogram",
    "examine": "cape.examination",
}


# The command line has settings to make before scikit-learn is imported, and its help
# should not wait for that import.
__getattr__ = lazily("cape", _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
