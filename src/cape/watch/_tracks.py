"""What a watch follows of each group, and of rates: counts since every start."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cape.base._estimate import Estimate
from cape.drift._mixture import mixture_cuts
from cape.training._group_model import GroupModel
from cape.watch._sequential import (
    Reference,
    accumulate,
    bet_on_gap,
    bet_on_mean,
    chance_of_wealth,
    ever_above,
    life_of,
    never_above,
    start_weight,
)

QUESTIONS = {
    "moved": 0.05,
    "changed": None,
    "broken": None,
    "parity": 0.10,
    "fpr_gap": 0.10,
    "fnr_gap": 0.10,
    "pd": 0.05,
}
"""What can be asked, with the tolerance if none is given; None takes no tolerance."""

OF_SHARES = ("moved", "changed", "broken")
OF_LABELS = ("fpr_gap", "fnr_gap", "pd")
ASKED_ANEW = ("moved", "changed")
"""Questions that go on with another reference when their alarm is acknowledged."""

_LEAST_CLASS = 32
"""Training rows of a class below which a group is not tested: with 15 the chance of a
false alarm was 9 % in simulations."""

_ROWS_PER_CELL = 8
_ROWS_PER_CELL_TO_FIT = 16
"""Rows of the stream a cell before which "broken" is not asked: its statistic adds up
squares, and with 8 rows a cell it was too large in 7 % of watches."""

_LEAST_ROWS = 50
"""Rows of the stream before which nothing is tested."""

_GRID = np.linspace(0.002, 0.998, 250)
"""Shares that an interval is looked for in."""


class Question(NamedTuple):
    """A question, with its tolerance."""

    name: str
    tolerance: float | None

    @classmethod
    def parse(cls, text: Any) -> Question:
        """Read a question such as "moved>0.05"."""
        match = re.fullmatch(r"\s*([a-z_]+)\s*(?:>\s*(\d*\.?\d+)\s*)?", str(text))
        if match is None or match[1] not in QUESTIONS:
            raise ValueError(
                "a question must be one of "
                f"{', '.join(map(str, cls.examples()))}, got {text!r}."
            )
        default = QUESTIONS[match[1]]
        if match[2] is None:
            return cls(match[1], default)
        tolerance = float(match[2])
        if default is None or not tolerance < 0.5:
            raise ValueError(
                f"a question must have a tolerance below 0.5, and {match[1]!r} "
                f"{'none' if default is None else 'one'}, got {text!r}."
            )
        return cls(match[1], tolerance)

    @classmethod
    def examples(cls) -> list[Question]:
        """Return every question with its default tolerance."""
        return [cls(name, tolerance) for name, tolerance in QUESTIONS.items()]

    def __str__(self) -> str:
        if self.tolerance is None:
            return self.name
        return f"{self.name}>{self.tolerance:g}"


@dataclass
class Start:
    """Rows that are counted together: all since one look.

    Parameters
    ----------
    number : int
        0 for the first start of all.
    look : int
        The look that it began with.
    cells : ndarray of shape (n_cells,)
        Rows by cell of the score.
    first : int
        Rows when it was tested first; 0 before.
    """

    number: int
    look: int
    cells: np.ndarray
    first: int = 0

    @property
    def ended(self) -> bool:
        """Whether its rows have grown by as much as its share of alpha pays for."""
        return 0 < life_of(self.number) * self.first < self.cells.sum()


@dataclass
class Track:
    """What is followed of one group.

    Parameters
    ----------
    cuts : ndarray of int64
        Edges between the cells.
    reference : Reference
    share : float
        Share of positives that `moved` compares with.
    is_estimated : bool, default=True
        Whether the share is that of training, and not one that a person gave.
    starts : list of Start
    """

    cuts: np.ndarray
    reference: Reference
    share: float
    is_estimated: bool = True
    starts: list[Start] = field(default_factory=list)

    @classmethod
    def of(cls, model: GroupModel) -> Track | None:
        """Begin to follow a group; None if too little is known of it to test."""
        rows = min(model.positives.size, model.negatives.size)
        if model.own is not None or rows < _LEAST_CLASS:
            return None
        cuts = mixture_cuts(model.positives, model.negatives, rows)
        if len(cuts) < 2:
            return None
        reference = Reference(
            model.positives.merged(cuts), model.negatives.merged(cuts)
        )
        return cls(cuts, reference, model.prevalence)

    def add(self, cells: np.ndarray, look: int) -> None:
        """Count the rows of a look, and begin a new start if the last has enough."""
        least_rows = max(_LEAST_ROWS, _ROWS_PER_CELL * (len(self.cuts) + 1))
        if not self.starts:
            self.starts.append(Start(0, look, np.zeros_like(cells)))
        elif self.starts[-1].first:
            number = self.starts[-1].number + 1
            self.starts.append(Start(number, look, np.zeros_like(cells)))
        for start in self.starts:
            start.cells = start.cells + cells
            rows = start.cells.sum()
            if not start.first and rows >= least_rows:
                start.first = int(rows)
        newest = self.starts[-1]
        self.starts = [
            start for start in self.starts if start is newest or not start.ended
        ]

    def chances(self, question: Question) -> dict[int, float]:
        """Compute the anytime p-value of each start that can be tested.

        Returns
        -------
        dict from int to float
            By place in ``starts``, divided by the start's share of alpha.
        """
        least = 0
        if question.name == "broken":
            least = _ROWS_PER_CELL_TO_FIT * (len(self.cuts) + 1)
        places = []
        for place, start in enumerate(self.starts):
            if start.first and start.cells.sum() >= least:
                places.append(place)
        if not places:
            return {}
        cells = np.array([self.starts[place].cells for place in places])
        if question.name == "moved":
            square, size = self._moved(cells, float(question.tolerance or 0.0))
            d = 1
        elif question.name == "changed":
            before = self.starts[0].cells - cells
            z, size = self.reference.change_z(
                cells, before, with_training=self.is_estimated
            )
            square = z**2
            d = 1
        else:
            square = self.reference.misfit(cells)
            size = np.full(len(cells), np.add(*self.reference.sizes))
            d = len(self.cuts) - 1
        chances = {}
        for place, x, n in zip(places, square, size, strict=True):
            start = self.starts[place]
            chance = ever_above(x, d, _spread(start, float(n)))
            chances[place] = float(chance) / start_weight(start.number)
        return chances

    def _moved(
        self, cells: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compare with the ends of the shares that are allowed."""
        squares = np.zeros(len(cells))
        sizes = np.ones(len(cells))
        for sign in (1, -1):
            end = self.share + sign * tolerance
            if not 0 < end < 1:
                # No share lies beyond.
                continue
            share = np.full(len(cells), end)
            z, size = self.reference.share_z(
                cells, share, is_estimated=self.is_estimated
            )
            square = np.maximum(sign * z, 0.0) ** 2
            sizes = np.where(square > squares, size, sizes)
            squares = np.maximum(square, squares)
        return squares, sizes

    def estimate(self, place: int, alpha: float) -> Estimate:
        """Estimate the share of positives since a start, at all looks together.

        The interval has all shares that the test of the efficient score does not
        reject. The share may move while it is watched: hence two degrees of freedom.
        """
        start = self.starts[place]
        z, size = self.reference.share_z(start.cells, _GRID)
        value = float(np.interp(0, -z, _GRID))
        if not start.first:
            return Estimate(value, 0.0, 1.0)
        chance = alpha * start_weight(start.number)
        limit = np.sqrt(never_above(chance, 2, _spread(start, float(size.max()))))
        ends = np.interp([-limit, limit], -z, _GRID, left=0.0, right=1.0)
        return Estimate(value, *ends.tolist())

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON can hold it."""
        starts = []
        for start in self.starts:
            cells = start.cells.tolist()
            starts.append([start.number, start.look, start.first, cells])
        return {"share": self.share, "given": not self.is_estimated, "starts": starts}

    def restore(self, entry: dict[str, Any]) -> None:
        """Go on from a state."""
        self.share = entry["share"]
        self.is_estimated = not entry["given"]
        for number, look, first, cells in entry["starts"]:
            self.starts.append(Start(number, look, np.array(cells), first))


def _spread(start: Start, size: float) -> float:
    """Return the logarithm of how far the information of a start can grow."""
    last = life_of(start.number) * start.first
    return float(np.log((1 / start.first + 1 / size) / (1 / last + 1 / size)))


@dataclass
class Bets:
    """Bets on rates that are exact: of pairs of groups, or of groups.

    Parameters
    ----------
    wealth : ndarray of shape (n_bets, 2, 5)
    past, pending : ndarray of int64 of shape (n_groups, n_counts)
        Counts that were bet on, and those that wait for more.
    block : int, default=0
        Blocks of rows that were bet on.
    """

    wealth: np.ndarray
    past: np.ndarray
    pending: np.ndarray
    block: int = 0

    @classmethod
    def of(cls, question: Question, n_bets: int, n_groups: int) -> Bets:
        """Begin with nothing won or lost."""
        wealth = np.full((n_bets, 2, 5), -np.inf)
        n_counts = 3 if question.name == "pd" else 2
        nothing = np.zeros((n_groups, n_counts), dtype=np.int64)
        return cls(wealth, nothing, nothing.copy())

    def settle(self, question: Question) -> list[float]:
        """Bet on the rows that wait.

        Parameters
        ----------
        question : Question

        Returns
        -------
        list of float
            The anytime p-value of each bet.
        """
        tolerance = float(question.tolerance or 0.0)
        if question.name == "pd":
            logs = bet_on_mean(self.pending, tolerance)
        else:
            pairs = list(combinations(range(len(self.pending)), 2))
            places = np.array(pairs, dtype=int).reshape(-1, 2)
            counts = self.pending[places]
            # Guessed from rows before, one half if there are none.
            seen = self.past[places]
            rates = (seen[..., 0] + 1) / (seen.sum(-1) + 2)
            logs = bet_on_gap(counts[..., 0], counts.sum(-1), rates.mean(-1), tolerance)
        self.wealth = accumulate(self.wealth, logs, self.block)
        self.past = self.past + self.pending
        self.pending = np.zeros_like(self.pending)
        self.block += 1
        return chance_of_wealth(self.wealth, self.block - 1).tolist()

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON can hold it."""
        # JSON has no infinity: null is a bet that has not begun.
        wealth = [None if x == -np.inf else x for x in self.wealth.ravel().tolist()]
        counts = [self.past.tolist(), self.pending.tolist()]
        return {"block": self.block, "counts": counts, "wealth": wealth}

    def restore(self, entry: dict[str, Any]) -> None:
        """Go on from a state."""
        self.block = entry["block"]
        self.past, self.pending = np.array(entry["counts"])
        wealth = [-np.inf if x is None else x for x in entry["wealth"]]
        self.wealth = np.reshape(wealth, self.wealth.shape)
