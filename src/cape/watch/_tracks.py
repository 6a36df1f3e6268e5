"""What a watch asks, and what it follows of each group: counts of everything asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cape.base._estimate import Estimate
from cape.drift._mixture import mixture_cuts
from cape.evidence._evidence import PLAIN, GroupEvidence
from cape.training._group_model import GroupModel
from cape.watch._sequential import Reference, ever_above, farthest, start_weight

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
OF_PAIRS = ("parity", "fpr_gap", "fnr_gap")
OF_LABELS = ("fpr_gap", "fnr_gap", "pd")

RATES = {
    "parity": ((0, 1), (1.0, 0.0)),
    "fpr_gap": ((2, 3), (1.0, 0.0)),
    "fnr_gap": ((4, 5), (1.0, 0.0)),
    "pd": ((2, 3, 4, 5), (1.0, 0.0, -1.0, 0.0)),
}
"""Which counts a rate is the mean of, and what a row of each adds: decided as positive
or not, then false positives, true negatives, false negatives, true positives."""

_N_RATES = 6

_LEAST_CLASS = 32
"""Training rows of a class below which a group is not tested: with 15 the chance of a
false alarm was 9 % in simulations."""

_ROWS_PER_CELL = 16
"""Rows of the stream a cell before which "broken" is not asked: its statistic adds up
squares, and with 8 rows a cell it was too large in 7 % of watches."""

_FEWEST_EXPECTED = 4
"""A sum is taken to vary by at least as much as so many rare events: a normal curve is
too short where fewer are expected."""


class Question(NamedTuple):
    """A question, with its tolerance."""

    name: str
    tolerance: float | None
    is_absolute: bool = False

    @classmethod
    def parse(cls, text: Any) -> Question:
        """Read a question such as "moved>0.05" or "absolute parity>0.1"."""
        pattern = r"\s*(absolute\s+)?([a-z_]+)\s*(?:>\s*(\d*\.?\d+)\s*)?"
        match = re.fullmatch(pattern, str(text))
        names = RATES if match and match[1] else QUESTIONS
        if match is None or match[2] not in names:
            examples = [str(cls(name, QUESTIONS[name])) for name in names]
            raise ValueError(
                f"a question must be one of {', '.join(examples)}, got {text!r}."
            )
        name = match[2]
        default = QUESTIONS[name]
        if match[3] is None:
            return cls(name, default, bool(match[1]))
        tolerance = float(match[3])
        if default is None or not tolerance < 0.5:
            known = "no tolerance" if default is None else "a tolerance below 0.5"
            raise ValueError(f"a question {name!r} must have {known}, got {text!r}.")
        return cls(name, tolerance, bool(match[1]))

    @property
    def is_asked_anew(self) -> bool:
        """Whether it goes on with another reference when an alarm is acknowledged."""
        return self.name != "broken" and not self.is_absolute

    @property
    def quantity(self) -> str:
        """What it is about; questions about one quantity share their reference."""
        return "share" if self.name in OF_SHARES else self.name

    def __str__(self) -> str:
        text = self.name
        if self.tolerance is not None:
            text = f"{self.name}>{self.tolerance:g}"
        return f"absolute {text}" if self.is_absolute else text


class Mean(NamedTuple):
    """The mean of a quantity in some rows, of shape (n_starts,)."""

    rows: np.ndarray
    mean: np.ndarray
    square: np.ndarray


def compared(after: Mean, before: Mean) -> tuple[np.ndarray, np.ndarray]:
    """Return the change of a mean, and the variance of the change.

    The variance of a row is that in the middle between before and after: in a rare kind
    of rows, the one before would make too much of a few events.
    """
    middle = (after.mean + before.mean) / 2
    row = (after.square + before.square) / 2 - middle**2
    row = np.maximum(row, _FEWEST_EXPECTED / np.maximum(after.rows, 1))
    with np.errstate(divide="ignore"):
        return after.mean - before.mean, row * (1 / after.rows + 1 / before.rows)


@dataclass(frozen=True)
class Track:
    """How the rows of one group are counted, and what training counted.

    Counts are of cells of the score, and then of what `RATES` are means of.

    Parameters
    ----------
    model : GroupModel
    member : int
        Of its pool, whose decisions are counted.
    cuts : ndarray of int64
        Edges between the cells of the score.
    reference : Reference or None
        None if too little is known of the scores to test them.
    training : ndarray of shape (n_cells + 6,)
    place : slice
        Its counts among those of all groups.
    """

    model: GroupModel
    member: int
    cuts: np.ndarray
    reference: Any
    training: np.ndarray
    place: slice

    @classmethod
    def of(cls, model: GroupModel, member: int, first: int = 0) -> Track:
        """Begin to follow a group, whose first count has this place."""
        least = min(model.positives.size, model.negatives.size)
        cuts = model.positives.edges[:0]
        if model.own is None and least >= _LEAST_CLASS:
            cuts = mixture_cuts(model.positives, model.negatives, least)
        counts = [scores.merged(cuts) for scores in (model.positives, model.negatives)]
        reference = Reference(*counts) if len(cuts) > 1 else None
        sizes = [scores.size for scores in (model.positives, model.negatives)]
        if model.own is not None:
            sizes = [model.own.positives, model.own.negatives]
        rates = model.pool.rates
        called = [rates.true_positives[member], rates.false_positives[member]]
        tested = [rates.positives[member], rates.negatives[member]]
        # The rows behind the rates may be fewer than those of the group.
        tp, fp = np.multiply(called, sizes) / np.maximum(tested, 1)
        fn, tn = sizes[0] - tp, sizes[1] - fp
        training = np.append(sum(counts), [tp + fp, fn + tn, fp, tn, fn, tp])
        place = slice(first, first + len(training))
        return cls(model, member, cuts, reference, training, place)

    @property
    def of_training(self) -> tuple[float, float]:
        """The share in training, and the variance of what estimates it in a class."""
        share = self.model.prevalence
        return share, self.reference.noise(share)[0] - share * (1 - share)

    def count(self, rows: GroupEvidence | None) -> np.ndarray:
        """Count the rows of a look."""
        if rows is None:
            return np.zeros(len(self.training), dtype=np.int64)
        cells = rows.scores.merged(self.cuts)
        if rows.scores.unit != 1:
            cells = cells / rows.scores.unit
        rates = [*self._called(rows), 0, 0, 0, 0]
        if set(rows.labelled) == {PLAIN}:
            labelled = rows.labelled[PLAIN]
            rates[2:4] = self._called(labelled.negatives)
            rates[5], rates[4] = self._called(labelled.positives)
        return np.append(cells, rates)

    def _called(self, rows: GroupEvidence) -> tuple[int, int]:
        """Count the rows that are decided as positive, and the others."""
        called = int(self.model.pool.called(rows)[self.member])
        return called, int(rows.scores.size) - called

    def mean(self, quantity: str, counts: np.ndarray) -> Mean:
        """Compute the mean of a quantity from the counts of all groups."""
        counts = counts[..., self.place]
        if quantity == "share":
            values = self.reference.values
            chosen = counts[..., :-_N_RATES]
        else:
            places, of_rows = RATES[quantity]
            values = np.array(of_rows)
            chosen = counts[..., -_N_RATES:][..., list(places)]
        rows = chosen.sum(-1)
        some = np.maximum(rows, 1)
        return Mean(rows, chosen @ values / some, chosen @ values**2 / some)

    def as_known(self, share: float) -> np.ndarray:
        """Return counts whose share is known as well as training knows the scores."""
        row, noise = self.reference.noise(share)
        n1, n0 = self.reference.sizes
        cells = share * self.reference.positives / n1
        cells = cells + (1 - share) * self.reference.negatives / n0
        return np.append(cells * row / noise, np.zeros(_N_RATES))

    def estimate(self, counts: np.ndarray, chance: float) -> Estimate:
        """Estimate the share of positives, with ends that are ever missed so rarely."""
        share = self.mean("share", counts)
        value = float(np.clip(share.mean, 0.0, 1.0))
        if not share.rows:
            return Estimate(float("nan"))
        row, training = self.reference.noise(value)
        reach = farthest(1 / (row / float(share.rows) + training), chance)
        return Estimate(value, max(value - reach, 0.0), min(value + reach, 1.0))

    def misfit_chances(self, since: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Compute an anytime p-value of the misfit, with the weight of each start."""
        cells = since[:, self.place][:, :-_N_RATES]
        least = _ROWS_PER_CELL * cells.shape[1]
        enough = cells.sum(-1) >= least
        # Only where there are enough rows, since a row is divided by.
        cells = np.where(enough[:, None], cells, 1.0)
        spread = np.log1p(np.sum(self.reference.sizes) / least)
        chance = ever_above(self.reference.misfit(cells), cells.shape[1] - 2, spread)
        return np.where(enough, np.minimum(chance / start_weight(numbers), 1.0), 1.0)
