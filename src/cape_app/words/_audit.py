"""What page and terminal say of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape.base._numbers import joined
from cape.shown._audit import RATE_NAMES

_ON_TERMINAL = ("prevalence", "predicted_prevalence", "pd", "fpr", "fnr", "accuracy")

ON_TERMINAL = {rate: RATE_NAMES[rate] for rate in _ON_TERMINAL}
"""As many rates as fit into 80 characters: a further one has to take the place of one
of them."""

BESIDE_ANOTHER = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
"""Rates for which a page has room beside the names of two classifiers."""

ALONE = {"cape": "the predictions"}
"""The one classifier of an audit, which may be anybody's."""

COMPARED = {"cape": "CAPE", "unadapted": "as trained"}
"""The two classifiers of a batch with labels: the model as trained, cut where it calls
as many positive as training had, is what the user would have without CAPE."""

BETWEEN_NAMES = {
    "pe": "PE",
    "fpr_difference": "difference in FPR",
    "fnr_difference": "difference in FNR",
    "accuracy_difference": "difference in accuracy",
    "predicted_prevalence_difference": "difference in predicted shares",
    "predicted_prevalence_ratio": "ratio of predicted shares (four-fifths rule)",
}
"""Metrics of pairs of groups, as pages call them."""


def why_no_pe(audit: Mapping[str, Any]) -> str:
    """Say why an audit has no PE; empty if it has one.

    Parameters
    ----------
    audit : mapping
        From `cape_app.pages._audit.audit_content`.
    """
    if len({finding["group"] for finding in audit["groups"]}) == 1:
        return "PE compares groups, and there is only one."
    if not audit["pairs"]:
        return "PE is not computed for this many groups."
    if "pe" not in audit["worst"]:
        return "PE is undefined: no two groups have enough rows and positives."
    return ""


def left_out_groups(names: list[str], fewest_rows: int) -> str:
    """Say which groups are too small for the worst pair."""
    return (
        f"Pairs with {joined(names)} are left out because groups of fewer than "
        f"{fewest_rows} rows are too small to compare."
    )
