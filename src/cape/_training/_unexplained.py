"""What the shared learner leaves unexplained in a group, before anything is trained."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from cape._learners import Rows, as_array
from cape._training._assemble import TestedRows
from cape.histogram import ONE

__all__ = ["leaves_something_unexplained"]

_WORTHWHILE_GAIN = 0.01
"""Share of the log loss that must be in reach. It was .02 and more where P(y | x)
differed between groups, and below .007 on 5,000 rows where it did not."""


def leaves_something_unexplained(rows: Rows, tested: TestedRows) -> bool:
    """Tell whether residuals of out-of-fold scores depend on columns of the group.

    Rao's score statistics (1948) of the columns, added one by one to a logistic
    regression that has the scores as its offset and as a column, tell how far they
    would lower the log loss. Nothing is trained for it. A learner of the group's own
    costs trainings, and can hardly gain where the columns do not.

    Parameters
    ----------
    rows : Rows
        All rows of the shared learner.
    tested : TestedRows
        Out-of-fold scores of one group by the shared learner.

    Returns
    -------
    bool
        True also if the columns are no plain numbers, so that they cannot be tested.
    """
    table = as_array(rows.take(tested.positions).table())
    if table is None or tested.weights is not None:
        return True
    smallest = 1e-6
    p = np.clip(tested.scores / ONE, smallest, 1 - smallest)
    variance = p * (1 - p)
    # What is linear in the log-odds is a matter of calibration, which thresholds mend:
    # boosting, for one, is too sure of itself on new rows.
    known = np.column_stack([np.ones(len(p)), logit(p)])
    columns = _without(known, np.nan_to_num(table.astype(float)), variance)
    residuals = _without(known, (tested.is_positive - p) / variance, variance)
    noise = np.sqrt(variance @ columns**2)
    slopes = columns.T @ (variance * residuals)
    z = slopes[noise > 0] / noise[noise > 0]
    # Twice the gain in log-likelihood is the sum of squares; noise alone adds 1 each.
    gain = (z**2 - 1).sum() / (2 * len(p))
    return bool(gain > _WORTHWHILE_GAIN * tested.log_loss())


def _without(known: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Take away from columns what a weighted regression on known ones explains."""
    weighted = known * weights[:, None]
    coefficients = np.linalg.solve(weighted.T @ known, weighted.T @ values)
    return values - known @ coefficients
