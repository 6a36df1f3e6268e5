"""How often members are right on rows they were not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cape.metrics._rates import FEWEST_ROWS

__all__ = ["MemberRates"]


@dataclass(frozen=True)
class MemberRates:
    """True and false positive rates of the members, with the rows behind them.

    Parameters
    ----------
    true_positives, positives : ndarray of shape (n_members,)
        Positives that each member called positive, and all positives it was tested on.
        The rows were not used to train the member; weighted rows count their weight.
    false_positives, negatives : ndarray of shape (n_members,)
        Negatives that each member called positive, and all negatives.

    Examples
    --------
    >>> from cape.pool import MemberRates
    >>> counts = [[40.0, 3.0], [50.0, 5.0], [8.0, 1.0], [80.0, 20.0]]
    >>> rates = MemberRates(*np.array(counts))
    >>> rates.tpr.tolist(), rates.fpr.tolist()
    ([0.8, nan], [0.1, 0.05])
    """

    true_positives: np.ndarray
    positives: np.ndarray
    false_positives: np.ndarray
    negatives: np.ndarray

    @property
    def tpr(self) -> np.ndarray:
        """True positive rate; NaN, unknown, with fewer than ten positives."""
        return _rate(self.true_positives, self.positives)

    @property
    def fpr(self) -> np.ndarray:
        """False positive rate; NaN, unknown, with fewer than ten negatives."""
        return _rate(self.false_positives, self.negatives)


def _rate(called: np.ndarray, rows: np.ndarray) -> np.ndarray:
    unknown = np.full(len(rows), np.nan)
    return np.divide(called, rows, out=unknown, where=rows >= FEWEST_ROWS)
