"""Fair classification under prior probability shift."""

from cape.adaptation import Adaptation, AdaptationWarning
from cape.classifier import CapeClassifier
from cape.evidence import Evidence
from cape.histogram import ScoreHistogram

__all__ = [
    "Adaptation",
    "AdaptationWarning",
    "CapeClassifier",
    "Evidence",
    "ScoreHistogram",
    "__version__",
]

__version__ = "0.1.0.dev0"
