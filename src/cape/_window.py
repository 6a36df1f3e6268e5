"""The last rows of one group of a stream, and their evidence."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cape._drift._find import GroupDrift, find_drift
from cape._drift._mixture import count_agreements
from cape._evidence import PLAIN, GroupEvidence, LabelledEvidence
from cape._group_model import GroupModel
from cape._groups import Group
from cape._histogram import HALF, ONE, ScoreHistogram, move_score
from cape._json_fields import Fields
from cape._prediction import Reading, zero_evidence


class StreamRow(NamedTuple):
    """What is kept of one row.

    These are its scores, the scores that members decide by, its time, the cell of each
    of its columns, one byte each, and the caller's name for it.
    """

    scores: list[int]
    deciding: list[int]
    time: int
    codes: bytes
    id: Any = None

    def to_json(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.scores, self.deciding, self.time, self.codes.hex(), self.id]

    @classmethod
    def from_json(cls, entry: Fields, content: Any, model: GroupModel) -> StreamRow:
        """Read what `to_json` returned, and check it against the model."""
        try:
            row = cls(*content)
            row = row._replace(codes=bytes.fromhex(row.codes))  # type: ignore[arg-type]
            is_good = row.fits(model)
        except (TypeError, ValueError):
            is_good = False
        if not is_good:
            entry.refuse("rows", "rows of this model", content)
        return row

    def fits(self, model: GroupModel) -> bool:
        """Tell whether these can be the scores and columns of a row of a model."""
        most = 1 if model.pool.has_a_model_each else ONE
        return (
            _are_whole(self.scores, len(model.scoring_models), ONE)
            and _are_whole(self.deciding, model.pool.n_deciding, most)
            and type(self.time) is int
            and (self.id is None or type(self.id) in (int, str))
            and self._codes_fit(model)
        )

    def _codes_fit(self, model: GroupModel) -> bool:
        if not self.codes or model.columns is None:
            return not self.codes
        cells = np.frombuffer(self.codes, dtype=np.uint8)
        sizes = np.diff(model.columns.cells.starts)
        return len(cells) == len(sizes) and bool((cells < sizes).all())


def _are_whole(numbers: Any, length: int, most: int) -> bool:
    """Tell whether these are so many whole numbers from 0 to a greatest one."""
    if not isinstance(numbers, list) or len(numbers) != length:
        return False
    # Decisions are True and False, which JSON keeps.
    return all(isinstance(number, int) and 0 <= number <= most for number in numbers)


class RowLabel(NamedTuple):
    """The label of a row: 1 or 0, and its inclusion probability in units of 2^-32."""

    code: int
    probability: int


def _rows_from_json(entry: Fields, name: str, model: GroupModel) -> list[StreamRow]:
    contents = entry.value(name)
    if not isinstance(contents, list):
        entry.refuse(name, "a list of rows", contents)
    return [StreamRow.from_json(entry, content, model) for content in contents]


def _labels_from_json(entry: Fields, ids: list[Any]) -> dict[Any, RowLabel]:
    labels: dict[Any, RowLabel] = {}
    for label in entry.entries("labels"):
        name = label.value("id")
        if name not in ids or name in labels:
            label.refuse("id", "the id of a row, once", name)
        code = label.whole("positive")
        probability = label.whole("probability")
        if code > 1:
            label.refuse("positive", "0 or 1", code)
        if probability > ONE:
            label.refuse("probability", f"at most {ONE}", probability)
        labels[name] = RowLabel(code, probability)
    drawn_plainly = {label.probability == PLAIN for label in labels.values()}
    if len(drawn_plainly) > 1:
        entry.refuse("labels", "all drawn plainly, or none of them", [*labels])
    return labels


class Window:
    """The last rows of one group, and their evidence.

    The evidence is changed in place as rows come and go: that takes two microseconds a
    row, where adding and subtracting evidence would take sixty.
    """

    def __init__(
        self, group: Group, model: GroupModel, *, cautious: bool, refresh: int
    ):
        self.group = group
        self.model = model
        self.cautious = cautious
        self.refresh = refresh
        self.rows: deque[StreamRow] = deque()
        self.rows_by_id: dict[Any, StreamRow] = {}
        self.labels: dict[Any, RowLabel] = {}
        self.evidence = zero_evidence(model, columns=cautious)
        self.drift: dict[Group, GroupDrift] = {}
        self._looked_at: list[StreamRow] = []
        self._rows_since_look = refresh

    def add(self, row: StreamRow) -> None:
        self.rows.append(row)
        self._count(self.evidence, row, 1)
        if row.id is not None:
            self.rows_by_id[row.id] = row

    def drop_oldest(self) -> None:
        row = self.rows.popleft()
        self._count(self.evidence, row, -1)
        if row.id is not None:
            self._forget_label(row)
            del self.rows_by_id[row.id]

    def label(self, name: Any, code: int, probability: int) -> None:
        """Take the label of a row of the window."""
        row = self.rows_by_id[name]
        self._forget_label(row)
        labelled = self.evidence.labelled
        if probability not in labelled:
            nothing = [zero_evidence(self.model, columns=self.cautious) for _ in "12"]
            labelled[probability] = LabelledEvidence(*nothing)  # type: ignore[index]
        self._count(_part_of(labelled[probability], code), row, 1)
        self.labels[name] = RowLabel(code, probability)

    def _forget_label(self, row: StreamRow) -> None:
        """Take the label of a row away, if it has one."""
        label = self.labels.pop(row.id, None)
        if label is None:
            return
        labelled = self.evidence.labelled
        self._count(_part_of(labelled[label.probability], label.code), row, -1)
        if labelled[label.probability].size == 0:
            del labelled[label.probability]  # type: ignore[attr-defined]

    def forget_until(self, time: int) -> None:
        while self.rows and self.rows[0].time <= time:
            self.drop_oldest()

    def decide(self, row: StreamRow, member: int) -> bool:
        deciding = np.array(row.deciding)[:, None]
        reading = Reading(self.group, self.model, None, deciding, deciding)
        return bool(reading.calls(member)[0])

    def count_towards_look(self) -> None:
        """Count a row, and look at drift if it is time to."""
        if not self.cautious:
            return
        self._rows_since_look += 1
        if self._rows_since_look >= self.refresh:
            self._look_at_drift()

    def _look_at_drift(self) -> None:
        """Test the rows of the window for drift."""
        estimate = self.model.quantifier.estimate(self.evidence.scores)
        self.drift = find_drift(
            {self.group: self.model},
            {self.group: self.evidence},
            {self.group: estimate},
        )
        self._looked_at = list(self.rows)
        self._rows_since_look = 0

    def to_json(self) -> dict[str, Any]:
        """Return what a stream must remember to go on as if it had never stopped.

        Drift was looked at some rows ago, and rows of that look may have left since.
        """
        rows_of_look = max(len(self.rows) - self._rows_since_look, 0)
        n_gone = max(len(self._looked_at) - rows_of_look, 0)
        labels = []
        for name, (code, probability) in self.labels.items():
            label = {"id": name, "positive": code, "probability": probability}
            labels.append(label)
        return {
            "rows": [row.to_json() for row in self.rows],
            "gone_since_look": [row.to_json() for row in self._looked_at[:n_gone]],
            "rows_since_look": self._rows_since_look,
            "labels": labels,
        }

    def restore(self, entry: Fields) -> None:
        """Fill an empty window, and look at drift where it was last looked at."""
        rows = _rows_from_json(entry, "rows", self.model)
        gone = _rows_from_json(entry, "gone_since_look", self.model)
        ids = [row.id for row in rows if row.id is not None]
        if len(set(ids)) < len(ids):
            entry.refuse("rows", "rows with an id each", ids)
        labels = _labels_from_json(entry, ids)
        rows_since_look = entry.whole("rows_since_look")
        rows_of_look = max(len(rows) - rows_since_look, 0)
        for row in [*gone, *rows[:rows_of_look]]:
            self.add(row)
        if self.cautious and self.rows:
            self._look_at_drift()
        for _ in gone:
            self.drop_oldest()
        for row in rows[rows_of_look:]:
            self.add(row)
        self._rows_since_look = rows_since_look
        for name, label in labels.items():
            self.label(name, *label)

    def copy_of_evidence(self) -> GroupEvidence:
        # Adding the zero copies the arrays, which go on changing in here.
        nothing = zero_evidence(self.model, columns=self.cautious)
        labelled = {}
        for probability, rows in sorted(self.evidence.labelled.items()):
            labelled[probability] = rows + LabelledEvidence(nothing, nothing)
        return replace(self.evidence + nothing, labelled=labelled)

    def _count(self, evidence: GroupEvidence, row: StreamRow, sign: int) -> None:
        """Add a row to some evidence (sign 1), or take it away (sign -1)."""
        for score in row.scores:
            move_score(evidence.scores, score, sign)
        if isinstance(evidence.tally, ScoreHistogram):
            # A second number is the decision that was made: positives are tallied.
            if row.deciding[-1] > HALF or len(row.deciding) == 1:
                move_score(evidence.tally, row.deciding[0], sign)
        elif evidence.tally is not None:
            # One row is tallied: what each member decides is its count.
            np.add(evidence.tally, sign * np.array(row.deciding), out=evidence.tally)
        if evidence.agreements is not None:
            scores = np.array(row.scores)[:, None]
            change = count_agreements(
                scores, self.model.positives, self.model.negatives
            )
            np.add(evidence.agreements, sign * change, out=evidence.agreements)
        if evidence.columns is not None:
            starts = self.model.columns.cells.starts[:-1]  # type: ignore[union-attr]
            cells = starts + np.frombuffer(row.codes, dtype=np.uint8)
            evidence.columns.counts[cells] += sign


def _part_of(labelled: LabelledEvidence, code: int) -> GroupEvidence:
    """Return the evidence of positives (1) or negatives (0)."""
    return labelled.positives if code else labelled.negatives
