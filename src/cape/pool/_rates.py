"""What is known of members from rows they were not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["MemberRates"]

_FEWEST = 10


@dataclass(frozen=True)
class MemberRates:
    """True and false positive rates of the members, with the rows behind them.

    Parameters
    ----------
    true_positives, positives, false_positives, negatives : ndarray of shape (n_members,)
        How many unseen rows of each class there were, and how many of them each member called positive.
    """

    true_positives: np.ndarray
    positives: np.ndarray
    false_positives: np.ndarray
    negatives: np.ndarray

    @property
    def tpr(self) -> np.ndarray:
        """True positive rate; NaN, unknown, with fewer than ten unseen positives."""
        return _rate(self.true_positives, self.positives)

    @property
    def fpr(self) -> np.ndarray:
        """False positive rate; NaN, unknown, with fewer than ten unseen negatives."""
        return _rate(self.false_positives, self.negatives)


def _rate(called: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.divide(
        called, rows, out=np.full(len(rows), np.nan), where=rows >= _FEWEST
    )
