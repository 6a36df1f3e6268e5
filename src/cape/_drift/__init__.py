"""What has moved besides the prevalences, and how far to hold the estimate back.

Under prior shift the scores and every single column of a batch speak for the same
prevalence. Where they do not, the size of their disagreement tells how far the estimate
may be off; it then slides towards an estimate that rests on another assumption.
"""

from cape._drift._find import (
    ColumnDrift,
    GroupDrift,
    HeldBack,
    drift_deviation,
    find_drift,
    hold_back,
    ignore_drift,
    mean_score,
    variance_between,
)

__all__ = [
    "ColumnDrift",
    "GroupDrift",
    "HeldBack",
    "drift_deviation",
    "find_drift",
    "hold_back",
    "ignore_drift",
    "mean_score",
    "variance_between",
]
