"""How many rows a batch needs for an interval of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from cape._drift import drift_deviation
from cape._group_model import GroupModel
from cape._prediction import check_same_model
from cape._validation import check_fitted_cape, check_prevalence
from cape.adaptation import Adaptation, GroupAdaptation
from cape.classifier import CapeClassifier
from cape.diagnostics._result import group_index
from cape.histogram import ScoreHistogram
from cape.quantify import Moments, moment_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rows_needed"]

_PREVALENCES = np.linspace(0.05, 0.95, 19)
# More rows than any batch has.
_MOST_ROWS = 10**9


class _Need(NamedTuple):
    """Rows needed at one prevalence, and the width that no batch can fall below."""

    rows: float
    narrowest: float


def rows_needed(
    clf: CapeClassifier,
    width: float,
    *,
    level: float = 0.95,
    prevalence: float | None = None,
    adaptation: Adaptation | None = None,
) -> pd.DataFrame:
    """Compute how many rows of each group give an interval no wider than ``width``.

    The noise of training does not shrink with the batch, so that some widths cannot be
    reached by any batch.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    width : float in (0, 1)
        Width of the interval of the prevalence, from its low end to its high end.
    level : float in (0, 1), default=0.95
        Confidence level of the interval.
    prevalence : float in [0, 1], default=None
        Prevalence of the batch. None takes the prevalence that needs the most rows.
    adaptation : Adaptation, default=None
        Adaptation to a batch. The drift that was found in it widens intervals, and no
        number of rows takes it away. None expects no drift.

    Returns
    -------
    DataFrame
        For each group ``rows``, infinite if no batch is large enough, and
        ``narrowest``, the width that the noise of training and drift leave.

    Examples
    --------
    >>> from cape.diagnostics import rows_needed
    >>> rows_needed(clf, 0.2)["rows"].between(40, 80).all()
    np.True_
    >>> rows_needed(clf, 0.01)["rows"].tolist()
    [inf, inf]
    """
    import pandas as pd

    check_fitted_cape(clf)
    check_prevalence("width", width, closed=False)
    check_prevalence("level", level, closed=False)
    prevalences = _PREVALENCES
    if prevalence is not None:
        prevalences = np.array([check_prevalence("prevalence", prevalence)])
    if adaptation is not None:
        check_same_model(clf, "adaptation", adaptation, Adaptation)
    # No prevalence is known before the batch is, so that the worst of a grid is taken.
    lines = []
    for group in clf.groups_:
        model = clf.model_of(group)
        adapted = None if adaptation is None else adaptation.groups.get(group)
        needs = [_rows_at(model, rho, width, level, adapted) for rho in prevalences]
        rows = max(need.rows for need in needs)
        narrowest = max(need.narrowest for need in needs)
        lines.append(
            {
                "rows": rows,
                "narrowest": narrowest,
            }
        )
    return pd.DataFrame(lines, index=group_index(clf.groups_))


def _rows_at(
    model: GroupModel,
    rho: float,
    width: float,
    level: float,
    adapted: GroupAdaptation | None = None,
) -> _Need:
    """Compute the rows needed at the prevalence ``rho``, by bisection."""
    # The interval is [0, 1] whatever the batch.
    if not model.quantifier.informative_ or _is_lost(adapted):
        return _Need(float("inf"), 1.0)
    positives = _moments(model, model.positives, rho)
    negatives = _moments(model, model.negatives, rho)
    mean = negatives.mean + rho * (positives.mean - negatives.mean)

    def width_of(rows: float) -> float:
        # `moment_interval` takes the variance from the classes, not from the batch.
        batch = Moments(mean, 0.0, rows)
        low, high = moment_interval(positives, negatives, batch, level)
        return _widened(high - low, level, adapted)

    narrowest = width_of(float("inf"))
    if width_of(_MOST_ROWS) > width:
        return _Need(float("inf"), narrowest)
    # Bisection is sound because the width falls as rows are added.
    too_few = 0
    enough = _MOST_ROWS
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if width_of(middle) <= width:
            enough = middle
        else:
            too_few = middle
    return _Need(float(enough), narrowest)


def _is_lost(adapted: GroupAdaptation | None) -> bool:
    """Tell whether drift leaves nothing to be said, however many rows there are."""
    if adapted is None or adapted.held_back == 0:
        return False
    return adapted.label_free_low == 0 and adapted.label_free_high == 1


def _widened(width: float, level: float, adapted: GroupAdaptation | None) -> float:
    """Add drift to the width of an interval, as `hold_back` does."""
    if adapted is None or adapted.held_back == 0:
        return width
    deviation = drift_deviation(
        adapted.prior_shift_estimate,
        adapted.label_free_estimate,
        adapted.held_back,
        adapted.drift,
    )
    of_drift = 2 * ndtri((1 + level) / 2) * deviation
    kept = (1 - adapted.held_back) * width
    return float(min(max(width, np.hypot(kept, of_drift)), 1.0))


def _moments(model: GroupModel, histogram: ScoreHistogram, rho: float) -> Moments:
    """Return the moments of the quantifier's statistic at the prevalence ``rho``."""
    return model.quantifier.statistic_moments(histogram, rho)
