"""What the past tells of how shares move and scores drift."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

MOVES = ((0.15, 0.0), (0.35, 0.0), (1.2, 0.0), (0.3, 1.2))
"""How far the log-odds of shares may have moved since training: the standard deviation
of the moves of each group, and of a move that all groups share. In a fifth row of
weights, any share is as likely as any other."""

DRIFTS = (0.0, 0.03, 0.1, 0.25)
"""How far drift may have moved the mean of the scores, in standard deviations within a
class: a batch is then worth at most 1,100, 100 or 16 rows, however large it is."""

_PUBLIC = np.array(
    [
        [0.18, 0.03, 0.22, 0.002],
        [0.05, 0.03, 0.11, 0.002],
        [0.008, 0.003, 0.002, 0.001],
        [0.19, 0.01, 0.003, 0.005],
        [0.145, 0.005, 0.003, 0.003],
    ]
)
"""Probability of each move (rows) with each drift (columns), before the batch."""

_WORTH = 3.0
"""Transitions of one's own that count as much as all public pasts."""


@dataclass(frozen=True)
class Past:
    """What transitions of one's own tell of moves and drifts.

    Parameters
    ----------
    told : ndarray of shape (n_moves, n_drifts)
        Sum over the transitions of the probability of each scenario, the truth known.
    transitions : int
        How many there are. All groups of a transition together are one.
    """

    told: np.ndarray = field(default_factory=lambda: np.zeros_like(_PUBLIC))
    transitions: int = 0

    @property
    def weights(self) -> np.ndarray:
        """Probability of each scenario before the next batch."""
        public = _PUBLIC / _PUBLIC.sum()
        return (_WORTH * public + self.told) / (_WORTH + self.transitions)


def _prior_shift() -> Past:
    told = np.zeros_like(_PUBLIC)
    told[-1, 0] = _CERTAIN
    return Past(told, _CERTAIN)


_CERTAIN = 10**9
PRIOR_SHIFT = _prior_shift()
"""Shares may be anything, and scores do not drift."""
