"""Fair classification under prior probability shift."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cape.adaptation import Adaptation, AdaptationWarning
    from cape.classifier import CapeClassifier
    from cape.evidence import Evidence
    from cape.frozen import FrozenCape
    from cape.histogram import ScoreHistogram

__all__ = [
    "Adaptation",
    "AdaptationWarning",
    "CapeClassifier",
    "Evidence",
    "FrozenCape",
    "ScoreHistogram",
    "__version__",
]

__version__ = "0.1.0.dev0"
"""Version of the package."""

_HOME = {
    "Adaptation": "cape.adaptation",
    "AdaptationWarning": "cape.adaptation",
    "CapeClassifier": "cape.classifier",
    "Evidence": "cape.evidence",
    "FrozenCape": "cape.frozen",
    "ScoreHistogram": "cape.histogram",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used.

    The command line has settings to make before scikit-learn is imported, and its help
    should not wait for that import.
    """
    if name not in _HOME:
        raise AttributeError(f"module 'cape' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
