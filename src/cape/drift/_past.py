"""What the past tells of how shares move and scores drift."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from scipy.stats import norm

MOVES = ((0.1, 0.0), (0.3, 0.0), (0.3, 1.2))
"""How far the log-odds of shares may have moved since training: the standard deviation
of the moves of each group, and of a move that all groups share. In one more row of
scenarios, any share is as likely as any other."""

DRIFTS = (0.0, 0.03, 0.1, 0.25)
"""How far drift may have moved the mean of the scores, in standard deviations within a
class: a batch is then worth at most 1,100, 100 or 16 rows, however large it is."""

_NATURAL = json.loads(files("cape.drift").joinpath("public_past.json").read_text())
"""How often each scenario came up between periods of public series; see
``benchmarks/past.py``, which makes the file."""

SHAPE = len(MOVES) + 1, len(DRIFTS)
PURE = np.zeros(SHAPE)
PURE[-2:, 0] = 0.5
"""The paper's assumption, that nothing but shares moves: all groups alike, or each to
any share."""

_WORTH = 3.0
"""Transitions of one's own that count as much as all that was known before."""


@dataclass(frozen=True)
class Past:
    """What one's own labelled periods tell of how shares move and scores drift.

    Without any, public series are all that is known. What several transitions tell adds
    up. All groups of a transition together are one, since they mostly move alike.

    Parameters
    ----------
    told : tuple of tuple of float, default=()
        How likely each scenario was, the true shares known, summed over transitions;
        a row for each move, a column for each drift.
    transitions : int, default=0
        How many there were.
    pure : float, default=0.5
        Chance, before one's own past, that a batch is a pure prior shift: nothing but
        shares moved, possibly far. The rest is what happened in public series.

    Examples
    --------
    >>> from cape.drift import Past
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> past = adaptation.posterior.learn({0: 0.2, 1: 0.8})
    >>> (past + past).transitions
    2
    """

    told: tuple[tuple[float, ...], ...] = ()
    transitions: int = 0
    pure: float = 0.5

    def __add__(self, other: Past) -> Past:
        if not isinstance(other, Past):
            return NotImplemented
        told = self._told + other._told
        rows = tuple(map(tuple, told.tolist()))
        return Past(rows, self.transitions + other.transitions, self.pure)

    @property
    def _told(self) -> np.ndarray:
        return np.reshape(self.told, SHAPE) if self.told else np.zeros(SHAPE)

    @property
    def weights(self) -> np.ndarray:
        """Probability of each scenario before the next batch."""
        known = self.pure * PURE + (1 - self.pure) * np.array(_NATURAL["weights"])
        return (_WORTH * known + self._told) / (_WORTH + self.transitions)

    def usual_move(self, share: float, within: float) -> float:
        """Return what one period in twenty exceeds, by one's own transitions alone.

        Parameters
        ----------
        share : float
            Share of positives in training.
        within : float
            Variance, in the two classes, of the numbers whose mean estimates a share.

        Returns
        -------
        float
            Distance of an estimated share from that in training; 0 with fewer than
            three transitions, which do not tell what is usual.

        Examples
        --------
        >>> calm = Past(((9.0, 0, 0, 0), *[(0.0, 0, 0, 0)] * 3), 9)
        >>> round(calm.usual_move(0.3, 0.4), 2)
        0.04
        """
        if self.transitions < _WORTH:
            return 0.0
        # A uniform share has log-odds with the variance pi^2 / 3.
        logits = [*(own**2 + shared**2 for own, shared in MOVES), np.pi**2 / 3]
        moves = np.array(logits) * (share * (1 - share)) ** 2
        spread = np.sqrt(np.add.outer(moves, np.square(DRIFTS) * within))
        grid = np.linspace(0, 0.5, 251)
        beyond = 2 * norm.sf(grid / spread[..., None])
        chance = np.tensordot(self._told / self.transitions, beyond, 2)
        return float(grid[chance <= 0.05].min(initial=0.5))


def only(weights: np.ndarray) -> Past:
    """Return a past so long that nothing but these weights of scenarios counts."""
    certain = 10**9
    rows = tuple(map(tuple, (certain * np.asarray(weights)).tolist()))
    return Past(rows, certain)


_ANY_SHARE = np.zeros(SHAPE)
_ANY_SHARE[-1, 0] = 1.0
PRIOR_SHIFT = only(_ANY_SHARE)
"""Shares may be anything, and scores do not drift."""
