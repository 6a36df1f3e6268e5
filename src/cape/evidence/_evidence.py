"""Evidence: what a batch tells of each group, in counts that add up."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from cape.base._groups import (
    Group,
    group_from_json,
    group_name,
    group_table,
    group_to_json,
    refuse_weightless,
    sorted_groups,
    unique_names,
)
from cape.base._json_fields import seal, unseal
from cape.evidence._columns import ColumnCounts
from cape.evidence._histogram import WEIGHT_UNIT, ScoreHistogram
from cape.shown._notebook import InNotebook

_FORMAT = 2
"""Number of the JSON format; it changes when older text can no longer be read."""

_COUNTS = ("scores", "tally", "agreements", "columns")
"""Parts of evidence that count rows, where it has them."""

_ROUNDING = 1e-12
"""Relative error up to which the squares of weights, as sums of a database, agree."""

PLAIN = 0
"""Inclusion probability of labelled rows that were drawn plainly. It is the share of
rows that are labelled, which is known only when all evidence has been added up."""


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """What a batch tells of one group.

    Parameters
    ----------
    scores : ScoreHistogram
        Scores for the quantifier.
    tally : ndarray of int64, ScoreHistogram or None, default=None
        What tells how many rows each member calls positive: the counts themselves, or
        the histogram of the scores that a threshold decides by. None if ``scores`` is
        that histogram.
    agreements : ndarray of int64 or None, default=None
        For rows with several scores, how often two of them fell into one cell of the
        shift test. None if a row has one score.
    columns : ColumnCounts or None, default=None
        Counts of the columns. None if the model has none: that of a sparse matrix, or
        one that ignores drift.
    labelled : mapping from int to LabelledEvidence, default={}
        Rows whose label is known, by their inclusion probability in units of 2^-32. The
        key 0 means that they were drawn plainly. They are counted above as well.
    weighed : GroupEvidence or None, default=None
        The same counts, each row counting its weight. None if rows have no weights.
    squares : ndarray of Python's int or 0, default=0
        Sum of the squared weights in each cell of the scores, in squares of the unit of
        weights, as `sum_squares` returns it.
    counted : GroupEvidence or None, default=None
        What `effective` made this of; None if it is counted as it came.

    Examples
    --------
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> evidence.groups[0].scores.size
    500
    """

    scores: ScoreHistogram
    tally: Any = None
    agreements: np.ndarray | None = None
    columns: ColumnCounts | None = None
    labelled: Mapping[int, LabelledEvidence] = field(default_factory=dict)
    weighed: GroupEvidence | None = None
    squares: Any = 0
    counted: GroupEvidence | None = None

    @property
    def rows(self) -> int:
        """Number of rows, whatever their weights."""
        return int((self.counted or self).scores.size)

    @property
    def weight(self) -> float:
        """Sum of the weights; the number of rows if they have none."""
        counted = self.counted or self
        return (counted.weighed or counted).scores.size

    @property
    def labelled_rows(self) -> int:
        """Number of rows whose label is known, whatever their weights.

        0 if all of them weigh nothing.
        """
        if not self.labelled:
            return 0
        labelled = (self.counted or self).labelled
        return int(sum(rows.size for rows in labelled.values()))

    def effective(self) -> GroupEvidence:
        """Return the counts of as many rows of equal weight as the rows are worth.

        Each cell has its share of the weights. Whatever reads counts then sees fewer
        rows, and needs to know nothing of weights.

        Returns
        -------
        GroupEvidence
            ``counted`` has the counts of the rows.
        """
        if self.weighed is None:
            return self
        worth = self._worth()
        if worth == self.rows:
            return replace(self, weighed=None, squares=0, counted=self)
        factor = worth / self.weight
        labelled = {}
        for probability, rows in self.labelled.items():
            of_classes: Any = rows.positives.weighed, rows.negatives.weighed
            scaled = LabelledEvidence(*(part * factor for part in of_classes))
            if scaled.size > 0:
                labelled[probability] = scaled
        counts = self.weighed * factor
        if counts.columns is not None:
            # Values that training has not seen are told with their rows.
            columns = ColumnCounts(counts.columns.counts, self.columns.unseen)  # type: ignore[union-attr]
            counts = replace(counts, columns=columns)
        return replace(counts, labelled=labelled, counted=self)

    def _worth(self) -> float:
        """Compute how many rows of equal weight are as certain as these rows.

        A weighted mean of scores s has the variance sum w^2 (s - mean)^2 / (sum w)^2.
        Where weights have nothing to do with scores this is that of (sum w)^2 / sum w^2
        rows (Kish 1965). Where rows with unusual scores weigh more, they are fewer.
        """
        scores = self.weighed.scores  # type: ignore[union-attr]
        squares = self.squares.astype(float) * WEIGHT_UNIT**2 / scores.unit
        by_weights = self.weight**2 / squares.sum()
        # By Cauchy and Schwarz it is the number of rows only if weights are equal.
        if by_weights >= self.rows * (1 - _ROUNDING):
            return self.rows
        distances = (scores.centres - scores.mean) ** 2
        noise = squares @ distances / self.weight**2
        if noise == 0:
            return by_weights
        return min(by_weights, scores.shares @ distances / noise)

    def __mul__(self, factor: float) -> GroupEvidence:
        counts: dict[str, Any] = {}
        for name in _COUNTS:
            own = getattr(self, name)
            counts[name] = None if own is None else own * factor
        return GroupEvidence(**counts)

    def __add__(self, other: GroupEvidence) -> GroupEvidence:
        return self._combined(other, operator.add, _add_labelled)

    def __sub__(self, other: GroupEvidence) -> GroupEvidence:
        left = self._combined(other, operator.sub, _subtract_labelled)
        if isinstance(left.tally, np.ndarray) and (left.tally < 0).any():
            raise ValueError("cannot subtract rows that were never added.")
        return left

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupEvidence):
            return NotImplemented
        return (
            self.scores == other.scores
            and np.array_equal(_numbers(self.tally), _numbers(other.tally))
            and np.array_equal(_numbers(self.agreements), _numbers(other.agreements))
            and self.columns == other.columns
            and dict(self.labelled) == dict(other.labelled)
            and self.weighed == other.weighed
            and np.array_equal(self.squares, other.squares)
        )

    __hash__ = None  # type: ignore[assignment]

    def _combined(
        self, other: GroupEvidence, operate: Callable, of_labelled: Callable
    ) -> GroupEvidence:
        """Add or take away every count; what one side has, the other must have."""
        if (self.columns is None) != (other.columns is None):
            raise ValueError(
                "evidence with counts of columns cannot be added to, or taken from, "
                "evidence without them (drift='ignore')."
            )
        if (self.weighed is None) != (other.weighed is None):
            raise ValueError(
                "evidence of rows with weights cannot be added to, or taken from, "
                "evidence of rows without: pass sample_weight for all parts, 1 where "
                "a row stands for itself."
            )
        counts: dict[str, Any] = {"squares": operate(self.squares, other.squares)}
        for name in (*_COUNTS, "weighed"):
            own = getattr(self, name)
            counts[name] = None if own is None else operate(own, getattr(other, name))
        labelled = of_labelled(self.labelled, other.labelled)
        return GroupEvidence(**counts, labelled=labelled)


@dataclass(frozen=True)
class LabelledEvidence:
    """What rows tell whose label is known, one evidence a class.

    Parameters
    ----------
    positives, negatives : GroupEvidence

    Examples
    --------
    >>> evidence = clf.evidence(
    ...     new.data, new.target, sensitive_features=new.sensitive_features
    ... )
    >>> evidence.groups[0].labelled[0].size
    500
    """

    positives: GroupEvidence
    negatives: GroupEvidence

    @property
    def size(self) -> float:
        """Number of rows of both classes."""
        return self.positives.scores.size + self.negatives.scores.size

    def __add__(self, other: LabelledEvidence) -> LabelledEvidence:
        return LabelledEvidence(
            self.positives + other.positives, self.negatives + other.negatives
        )

    def __sub__(self, other: LabelledEvidence) -> LabelledEvidence:
        return LabelledEvidence(
            self.positives - other.positives, self.negatives - other.negatives
        )


def _add_labelled(
    one: Mapping[int, LabelledEvidence], other: Mapping[int, LabelledEvidence]
) -> dict[int, LabelledEvidence]:
    total = dict(one)
    for probability, rows in other.items():
        total[probability] = total[probability] + rows if probability in total else rows
    if PLAIN in total and len(total) > 1:
        raise ValueError(
            "evidence with labels of rows that were drawn with an "
            "inclusion_probability cannot be added to evidence with labels of rows "
            "that were drawn plainly."
        )
    return {probability: total[probability] for probability in sorted(total)}


def _subtract_labelled(
    labelled: Mapping[int, LabelledEvidence], gone: Mapping[int, LabelledEvidence]
) -> dict[int, LabelledEvidence]:
    left = dict(labelled)
    for probability, rows in gone.items():
        if probability not in left:
            raise ValueError("cannot subtract labels that were never added.")
        left[probability] = left[probability] - rows
        # No labelled rows are as if they had never been added.
        if left[probability].size == 0:
            del left[probability]
    return left


def _numbers(tally: Any) -> Any:
    """Return counts of any kind as something that numpy can compare."""
    if isinstance(tally, ScoreHistogram):
        return np.concatenate([tally.counts, tally.sums])
    return tally


@dataclass(frozen=True, eq=False)
class Evidence(InNotebook):
    """Counts of a batch, per group: all that `CapeClassifier.adapt` needs.

    The evidence of parts adds up to that of the whole, however the rows are split, and
    parts can be subtracted. The evidence of no rows is the zero; ``sum`` works.

    Parameters
    ----------
    fingerprint : str
        Hash of the model that made it; other models reject it.
    groups : mapping from group to GroupEvidence
        Groups without rows are left out.

    Examples
    --------
    >>> first = clf.evidence(new.data[:100], sensitive_features=new.frame["z"][:100])
    >>> second = clf.evidence(new.data[100:], sensitive_features=new.frame["z"][100:])
    >>> first + second
    Evidence(0: 500 rows, 1: 500 rows)
    >>> Evidence.from_json(first.to_json()) == first
    True
    """

    fingerprint: str
    groups: Mapping[Group, GroupEvidence] = field(default_factory=dict)

    @property
    def rows(self) -> dict[Group, int]:
        """Number of rows of each group."""
        return {group: part.rows for group, part in self.groups.items()}

    def effective(self) -> Evidence:
        """Return what the rows are worth: the evidence of fewer rows of equal weight.

        This is where weights of rows end. All that judges a batch starts from here.

        Returns
        -------
        Evidence
            Itself, if rows have no weights.
        """
        groups = {}
        for group, part in self.groups.items():
            if part.weight == 0:
                refuse_weightless(group)
            groups[group] = part.effective()
        return Evidence(self.fingerprint, groups)

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each group.

        Returns
        -------
        DataFrame
            Rows, those whose label is known (labelled), and the mean score.
        """
        rows = []
        for part in self.groups.values():
            rows.append([part.scores.size, part.labelled_rows, part.scores.mean])
        return group_table(self.groups, rows, ["rows", "labelled", "mean_score"])

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        table = self.table().rename(columns={"mean_score": "mean score"})
        names = list(unique_names(self.groups).values())
        title = f"Evidence of {int(table['rows'].sum()):,} rows"
        return title, table.set_axis(names).rename_axis("group"), ()

    def without_labels(self) -> Evidence:
        """Return the evidence of the same rows without their labels."""
        groups = {}
        for group, part in self.groups.items():
            groups[group] = replace(part, labelled={})
        return Evidence(self.fingerprint, groups)

    def to_json(self) -> str:
        """Return the evidence as JSON text: only counts, no rows.

        For each text column, it lists up to 20 values that training did not have.
        """
        groups = []
        for group, part in self.groups.items():
            groups.append({"group": group_to_json(group), **_to_json(part)})
        return seal({"fingerprint": self.fingerprint, "groups": groups}, _FORMAT)

    @classmethod
    def from_json(cls, text: str) -> Evidence:
        """Read the text that `to_json` wrote.

        Parameters
        ----------
        text : str
            JSON text.

        Returns
        -------
        Evidence

        Raises
        ------
        ValueError
            If the text is of another format, or was changed since it was written.
        """
        state = unseal(text, "Evidence.to_json", _FORMAT)
        groups = {}
        for entry in state["groups"]:
            groups[group_from_json(entry["group"])] = _from_json(entry)
        return cls(state["fingerprint"], groups)

    def __add__(self, other: Evidence) -> Evidence:
        if isinstance(other, int) and other == 0:
            # This is where sum() starts.
            return self
        self._check_same_model(other)
        groups = dict(self.groups)
        for group, part in other.groups.items():
            if group in groups:
                groups[group] = groups[group] + part
            else:
                groups[group] = part
        # The same order however the parts came, so that JSON and tables are the same.
        ordered = {group: groups[group] for group in sorted_groups(groups)}
        return Evidence(self.fingerprint, ordered)

    __radd__ = __add__

    def __sub__(self, other: Evidence) -> Evidence:
        self._check_same_model(other)
        groups = dict(self.groups)
        for group, part in other.groups.items():
            if group not in groups:
                raise ValueError(
                    f"cannot subtract rows of group {group_name(group)!r}: "
                    "there are none."
                )
            groups[group] = groups[group] - part
            # A group without rows is absent, as if it had never been added.
            if not groups[group].scores.counts.any():
                del groups[group]
        return Evidence(self.fingerprint, groups)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        same_groups = dict(self.groups) == dict(other.groups)
        return self.fingerprint == other.fingerprint and same_groups

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = [f"{group_name(group)}: {n} rows" for group, n in self.rows.items()]
        return f"Evidence({', '.join(groups) or 'no rows'})"

    def _check_same_model(self, other: Any) -> None:
        if not isinstance(other, Evidence):
            raise TypeError(
                f"evidence can be added to evidence only, got {type(other).__name__}."
            )
        if other.fingerprint != self.fingerprint:
            raise ValueError(
                "evidence must come from one model to add up, got fingerprints "
                f"{self.fingerprint[:12]} and {other.fingerprint[:12]}."
            )


def _to_json(evidence: GroupEvidence) -> dict[str, Any]:
    content = _counts_to_json(evidence)
    if evidence.labelled:
        content["labelled"] = []
    for probability, rows in evidence.labelled.items():
        content["labelled"].append(
            {
                "probability": probability,
                "positives": _counts_to_json(rows.positives),
                "negatives": _counts_to_json(rows.negatives),
            }
        )
    return content


def _counts_to_json(evidence: GroupEvidence) -> dict[str, Any]:
    # What a tally is depends on the pool; the reader tells the kinds apart by shape.
    tally = evidence.tally
    if isinstance(tally, ScoreHistogram):
        tally = _histogram_to_json(tally)
    elif tally is not None:
        tally = tally.tolist()
    agreements = evidence.agreements
    if agreements is not None:
        agreements = agreements.tolist()
    content = {
        "scores": _histogram_to_json(evidence.scores),
        "tally": tally,
        "agreements": agreements,
        "columns": None if evidence.columns is None else evidence.columns.to_json(),
    }
    if evidence.weighed is not None:
        content["weighed"] = _counts_to_json(evidence.weighed)
        content["squares"] = evidence.squares.tolist()
    return content


def _from_json(content: Mapping[str, Any]) -> GroupEvidence:
    evidence = _counts_from_json(content)
    labelled = {}
    for part in content.get("labelled", []):
        labelled[part["probability"]] = LabelledEvidence(
            _counts_from_json(part["positives"]), _counts_from_json(part["negatives"])
        )
    return replace(evidence, labelled=labelled)


def _counts_from_json(content: Mapping[str, Any]) -> GroupEvidence:
    tally = content["tally"]
    if isinstance(tally, Mapping):
        tally = _histogram_from_json(tally)
    elif tally is not None:
        tally = np.array(tally)
    agreements = content["agreements"]
    if agreements is not None:
        agreements = np.array(agreements)
    columns = content["columns"]
    if columns is not None:
        columns = ColumnCounts.from_json(columns)
    scores = _histogram_from_json(content["scores"])
    weighed = content.get("weighed")
    if weighed is not None:
        weighed = _counts_from_json(weighed)
    squares = np.array(content["squares"], dtype=object) if weighed else 0
    counts = (scores, tally, agreements, columns)
    return GroupEvidence(*counts, weighed=weighed, squares=squares)


def _histogram_to_json(histogram: ScoreHistogram) -> dict[str, Any]:
    """Return a histogram as JSON can hold it: only the cells that are not empty."""
    cells = np.flatnonzero(histogram.counts)
    return {
        "unit": histogram.unit,
        "edges": histogram.edges.tolist(),
        "cells": cells.tolist(),
        "counts": histogram.counts[cells].tolist(),
        "sums": histogram.sums[cells].tolist(),
    }


def _histogram_from_json(content: Mapping[str, Any]) -> ScoreHistogram:
    edges = np.array(content["edges"], dtype=np.int64)
    cells = np.array(content["cells"], dtype=np.int64)

    def every_cell(values: list[float]) -> np.ndarray:
        # Weighted counts are fractions.
        dense = np.zeros(len(edges) + 1, dtype=np.array([0, *values]).dtype)
        dense[cells] = values
        return dense

    counts, sums = every_cell(content["counts"]), every_cell(content["sums"])
    return ScoreHistogram(edges, counts, sums, content["unit"])
