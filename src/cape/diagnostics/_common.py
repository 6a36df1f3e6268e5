"""What the diagnostics share: whose evidence it is, and how results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group, group_name
from cape._prediction import check_same_model
from cape._validation import check_is_fitted
from cape.classifier import CapeClassifier
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["evidence_of", "frame", "json_ready"]


def evidence_of(
    clf: CapeClassifier, X: Any, sensitive_features: Any, evidence: Evidence | None
) -> Evidence:
    """The evidence given, or that of X; exactly one must be given."""
    check_is_fitted(clf)
    if (X is None) == (evidence is None):
        raise ValueError(
            f"exactly one of X and evidence must be given, got {'neither' if X is None else 'both'}."
        )
    if evidence is None:
        return clf.evidence(X, sensitive_features=sensitive_features)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given, which has its groups."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    return evidence


def frame(groups: Mapping[Group, Any]) -> pd.DataFrame:
    """One row a group, from a mapping of groups to dataclasses."""
    import pandas as pd

    names = pd.Index(
        [group_name(g) if isinstance(g, tuple) else g for g in groups], name="group"
    )
    return pd.DataFrame([asdict(found) for found in groups.values()], index=names)


def json_ready(groups: Mapping[Group, Any]) -> list[dict[str, Any]]:
    """One entry a group as JSON can hold it; what is not a finite number is None."""
    return [
        {
            "group": group_name(group),
            **{name: _plain(value) for name, value in asdict(found).items()},
        }
        for group, found in groups.items()
    ]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
