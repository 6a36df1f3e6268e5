"""What a watch asks, and what it follows of each group: counts of everything asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cape.base._estimate import Estimate
from cape.drift._mixture import mixture_cuts
from cape.evidence._evidence import PLAIN, GroupEvidence
from cape.training._group_model import GroupModel
from cape.watch._sequential import LEAST_ROWS, Reference, evidence_of_change, farthest

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
    "parity": {-6: 1.0, -5: 0.0},
    "fpr_gap": {-4: 1.0, -3: 0.0},
    "fnr_gap": {-2: 1.0, -1: 0.0},
    "pd": {-4: 1.0, -3: 0.0, -2: -1.0, -1: 0.0},
}
"""Places of the counts that a rate is the mean of, and what a row of each adds: decided
as positive or not, then false positives, true negatives, false negatives, true
positives."""

_N_RATES = 6

_LEAST_CLASS = 32
"""Training rows of a class below which a group is not tested: with 15 the chance of a
false alarm was 9 % in simulations."""

ROWS_PER_CELL = 16
"""Rows of the stream a cell before which "broken" is not asked: its statistic adds up
squares, and with 8 rows a cell it was too large in 7 % of watches."""

TYPICAL_MISFIT = 0.1
"""Standard deviation of what evidence of a misfit is best at, in each direction that no
share explains, if that of a row is 1."""

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
    """The mean of a quantity in some rows, of shape (n_starts,).

    A label tells as much of a share as several scores do: ``worth`` is how many rows
    without labels would tell as much, and ``by_labels`` the part of it from labels.
    ``shown`` is the mean of the labels if there are enough of them: scores may move
    with no change of the share.
    """

    rows: np.ndarray
    worth: np.ndarray
    by_labels: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    shown: np.ndarray


def compared(after: Mean, before: Mean) -> tuple[np.ndarray, np.ndarray]:
    """Return the change of a mean, and the variance of the change.

    The variance of a row is that in the middle between before and after: in a rare kind
    of rows, the one before would make too much of a few events.
    """
    middle = (after.mean + before.mean) / 2
    row = (after.square + before.square) / 2 - middle**2
    row = np.maximum(
        row, _FEWEST_EXPECTED * after.worth / np.maximum(after.rows, 1) ** 2
    )
    with np.errstate(divide="ignore"):
        return after.mean - before.mean, row * (1 / after.worth + 1 / before.worth)


@dataclass(frozen=True)
class Track:
    """How the rows of one group are counted, and what training counted.

    Counts are of cells of the score, of the cells of rows with a label, of negative and
    positive labels, and then of what `RATES` are means of.

    Parameters
    ----------
    model : GroupModel
    cuts : ndarray of int64
        Edges between the cells of the score.
    reference : Reference or None
        None if too little is known of the scores to test them.
    training : ndarray of shape (2 * n_cells + 8,)
    place : slice
        Its counts among those of all groups.
    """

    model: GroupModel
    cuts: np.ndarray
    reference: Any
    training: np.ndarray
    place: slice

    @classmethod
    def of(cls, model: GroupModel, first: int = 0) -> Track:
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
        rates, member = model.pool.rates, model.unchanged
        called = [rates.true_positives[member], rates.false_positives[member]]
        tested = [rates.positives[member], rates.negatives[member]]
        # The rows behind the rates may be fewer than those of the group.
        tp, fp = np.multiply(called, sizes) / np.maximum(tested, 1)
        fn, tn = sizes[0] - tp, sizes[1] - fp
        # Labels of training are not counted: its scores were scaled to tell its share.
        without_labels = np.zeros(len(counts[0]) + 2)
        rates_of_training = [tp + fp, fn + tn, fp, tn, fn, tp]
        training = np.concatenate([sum(counts), without_labels, rates_of_training])
        place = slice(first, first + len(training))
        return cls(model, cuts, reference, training, place)

    @property
    def of_training(self) -> tuple[float, float]:
        """The share in training, and the variance of what estimates it in a class."""
        share = self.model.prevalence
        return share, self.reference.noise(share)[0] - share * (1 - share)

    def count(self, rows: GroupEvidence | None) -> np.ndarray:
        """Count the rows of a look."""
        if rows is None:
            return np.zeros(len(self.training), dtype=np.int64)
        cells = self._cells(rows)
        labelled, sizes, rates = np.zeros_like(cells), [0, 0], [0, 0, 0, 0]
        if PLAIN in rows.labelled:
            classes = rows.labelled[PLAIN]
            labelled = self._cells(classes.negatives) + self._cells(classes.positives)
            fp, tn = self._called(classes.negatives)
            tp, fn = self._called(classes.positives)
            sizes, rates = [fp + tn, tp + fn], [fp, tn, fn, tp]
        return np.concatenate([cells, labelled, sizes, self._called(rows), rates])

    def _cells(self, rows: GroupEvidence) -> np.ndarray:
        """Count the rows in each cell of the score."""
        cells = rows.scores.merged(self.cuts)
        return cells if rows.scores.unit == 1 else cells / rows.scores.unit

    def _called(self, rows: GroupEvidence) -> tuple[Any, Any]:
        """Count the rows that are decided as positive, and the others."""
        called = self.model.pool.called(rows)[self.model.unchanged]
        return called, rows.scores.size - called

    @cached_property
    def _adds(self) -> dict[str, np.ndarray]:
        """What a row adds to the sums behind each quantity, of shape (n_counts, 5).

        They are rows, worth, worth by labels, and the sum of values and of squares.
        """
        adds = {}
        for quantity, rates in RATES.items():
            adds[quantity] = np.zeros((len(self.training), 5))
            for place, value in rates.items():
                adds[quantity][place] = [1, 1, 0, value, value**2]
        if self.reference is not None:
            h = self.reference.values
            scored = np.stack([np.ones_like(h), np.ones_like(h), 0 * h, h, h**2], 1)
            share, worth = self.model.prevalence, self.worth_of_a_label
            labels = []
            for y in (0, 1):
                # Its variance, worth rows times, is that of a score.
                square = worth * (y - share) ** 2 + 2 * y * share - share**2
                labels.append([1, worth, worth, worth * y, worth * square])
            adds["share"] = np.zeros((len(self.training), 5))
            adds["share"][:-_N_RATES] = np.concatenate([scored, -scored, labels])
        return adds

    @property
    def worth_of_a_label(self) -> float:
        """How many scores tell as much of the share as a label."""
        if self.reference is None:
            return 1.0
        share, of_scores = self.of_training
        return 1 + of_scores / (share * (1 - share))

    def mean(self, quantity: str, counts: np.ndarray) -> Mean:
        """Compute the mean of a quantity from the counts of all groups."""
        sums = np.moveaxis(counts[..., self.place] @ self._adds[quantity], -1, 0)
        rows, worth, by_labels, total, squares = sums
        some = np.maximum(worth, 1)
        mean = shown = total / some
        if quantity == "share":
            negatives, positives = np.moveaxis(
                counts[..., self.place][..., -8:-6], -1, 0
            )
            labels = negatives + positives
            of_labels = positives / np.maximum(labels, 1)
            shown = np.where(labels >= LEAST_ROWS, of_labels, mean)
        return Mean(rows, worth, by_labels / some, mean, squares / some, shown)

    def weight_of_training(self, after: Mean) -> np.ndarray:
        """Return by how much training tells more of what is known by labels.

        Labels of a stream are compared with those of training; what scores say has the
        noise of the classes in training, too.
        """
        of_labels = 1 / self.worth_of_a_label
        return 1 / (of_labels + (1 - after.by_labels) ** 2 * (1 - of_labels))

    def estimate(self, counts: np.ndarray, chance: float) -> Estimate:
        """Estimate the share of positives, with ends that are ever missed so rarely."""
        share = self.mean("share", counts)
        value = float(np.clip(share.mean, 0.0, 1.0))
        if not share.rows:
            return Estimate(float("nan"))
        row, training = self.reference.noise(value)
        noise = row / float(share.worth) + training * (1 - float(share.by_labels)) ** 2
        reach = farthest(1 / noise, chance)
        return Estimate(value, max(value - reach, 0.0), min(value + reach, 1.0))

    def misfit(self, since: np.ndarray) -> np.ndarray:
        """Compute the evidence that the scores fit no share, with each start."""
        cells = since[:, self.place][:, : self.reference.positives.size]
        rows = cells.sum(-1)
        enough = rows >= ROWS_PER_CELL * cells.shape[1]
        # Only where there are enough rows, since a row is divided by.
        cells = np.where(enough[:, None], cells, 1.0)
        square = self.reference.misfit(cells)
        training = np.sum(self.reference.sizes)
        information = rows * training / (rows + training)
        ratio = information * TYPICAL_MISFIT**2
        return enough * evidence_of_change(square, ratio, cells.shape[1] - 2)
