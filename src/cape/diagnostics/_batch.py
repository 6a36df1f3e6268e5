"""The batch that a diagnostic is asked about: its rows, or evidence gathered before."""

from __future__ import annotations

from typing import Any

from cape._prediction import check_same_model
from cape._validation import check_is_fitted
from cape.classifier import CapeClassifier
from cape.evidence import Evidence

__all__ = ["evidence_of_batch"]


def evidence_of_batch(
    clf: CapeClassifier, X: Any, sensitive_features: Any, evidence: Evidence | None
) -> Evidence:
    """Return the evidence that was given, or gather it from the rows of ``X``.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features) or None
    sensitive_features : array-like or table of n_samples rows, or None
        Groups of the rows of ``X``.
    evidence : Evidence or None
        Exactly one of ``X`` and ``evidence`` must be given.

    Returns
    -------
    Evidence

    Raises
    ------
    ValueError
        If both or neither are given, if ``sensitive_features`` comes with ``evidence``,
        or if the evidence was made by another model.

    Examples
    --------
    >>> evidence_of_batch(clf, new.data, new.sensitive_features, None)
    Evidence(0: 500 rows, 1: 500 rows)
    """
    check_is_fitted(clf)
    if X is None and evidence is None:
        raise ValueError("exactly one of X and evidence must be given, got neither.")
    if X is not None and evidence is not None:
        raise ValueError("exactly one of X and evidence must be given, got both.")
    if evidence is None:
        return clf.evidence(X, sensitive_features=sensitive_features)
    if sensitive_features is not None:
        raise ValueError(
            "sensitive_features must be None when evidence is given, "
            "because evidence already names its groups."
        )
    check_same_model(clf, "evidence", evidence, Evidence)
    return evidence
