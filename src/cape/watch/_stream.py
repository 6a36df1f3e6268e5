"""A moving window: rows are predicted with the rows that came before them."""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import timedelta
from numbers import Integral
from threading import RLock
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._groups import Group, sorted_groups
from cape.base._validation import (
    all_if_none,
    check_fitted_cape,
    check_same_length,
    check_same_order,
)
from cape.classifier import CapeClassifier
from cape.drift._find import GroupDrift
from cape.evidence._columns import ColumnCounts
from cape.evidence._evidence import PLAIN, Evidence, GroupEvidence, LabelledEvidence
from cape.rules import Prevalence
from cape.rules._adaptation import Adaptation
from cape.rules._deciding import adapt, decide
from cape.rules._rules import rule_of
from cape.training._reading import (
    Batch,
    KnownLabels,
    Reading,
    batch_of,
    known_labels,
    readings_of,
)
from cape.training._scoring import Rows

__all__ = ["RollingCape"]

_LEVEL = 0.95
"""Level of the intervals that labels are compared with."""

_AHEAD = timedelta(days=1)
"""How far times may be ahead of the clock: without a zone they are local somewhere."""


@dataclass
class _Row:
    """What is kept of a row.

    ``numbers`` are its scores, what members decide by, and a cell for each column.
    """

    numbers: list[int]
    time: int
    id: Any = None
    label: int | None = None
    weight: float = 1.0


class _Window:
    """The last rows of one group, and their evidence.

    The evidence of rows that come is added, that of rows that go is taken away.
    """

    def __init__(self, group: Group, clf: CapeClassifier, weighted: bool):
        self.group = group
        self.model = clf.model_of(group)
        self.columns = self.model.columns if clf.drift == "cautious" else None
        self.weighted = weighted
        self.evidence = self._evidence([])
        self.rows: deque[_Row] = deque()
        self.drift: GroupDrift | None = None
        self.rows_since_look = 0

    def reading(
        self, rows: Sequence[_Row], weights: np.ndarray | None = None
    ) -> Reading:
        """Return what the learners said of rows of the group.

        Its columns are counts of rows, or sums of their weights.
        """
        pool = self.model.pool
        starts = np.zeros(1, dtype=np.int64)
        if self.columns is not None:
            starts = self.columns.cells.starts
        n_scores = len(self.model.scoring_models)
        ends = [n_scores, n_scores + pool.n_deciding]
        numbers = np.array([row.numbers for row in rows], dtype=np.int64)
        numbers = numbers.reshape(len(rows), ends[1] + len(starts) - 1)
        scores, deciding, codes = np.split(numbers.T, ends)
        if pool.has_a_model_each:
            deciding = deciding.astype(bool)
        columns = None
        if self.columns is not None:
            cells = (codes + starts[:-1, None]).ravel()
            worth = None if weights is None else np.tile(weights, len(codes))
            columns = ColumnCounts(np.bincount(cells, worth, starts[-1]))
        return Reading(self.group, self.model, None, scores, deciding, columns=columns)

    def _evidence(self, rows: Sequence[_Row]) -> GroupEvidence:
        """Count rows of the group."""
        if not self.weighted:
            return self.reading(rows).evidence()
        weights = np.array([row.weight for row in rows], dtype=float)
        columns = self.reading(rows, weights).columns
        return self.reading(rows).evidence(weights, columns)

    def count(self, rows: Sequence[_Row]) -> GroupEvidence:
        """Count rows of the group, and those with a label once more."""
        evidence = self._evidence(rows)
        if all(row.label is None for row in rows):
            return evidence
        of_classes = []
        for label in (KnownLabels.POSITIVE, KnownLabels.NEGATIVE):
            alike = [row for row in rows if row.label == label]
            of_classes.append(self._evidence(alike))
        return replace(evidence, labelled={PLAIN: LabelledEvidence(*of_classes)})


class RollingCape:
    """Predict a stream: rows are adapted to the last rows of their group.

    The rows of a call join the windows of their groups and are then decided together,
    as `CapeClassifier.predict` decides a batch. A row that comes alone is the last row
    of its window, and a window of one row is CAPE-1 of the paper. Only scores,
    decisions and one byte for each column are kept, never features, so memory grows
    only with the window. Threads may share a stream; calls wait for each other. A
    pickle of a stream, which holds the model, too, goes on where the stream was.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    window : int or datetime.timedelta
        Number of rows of each group, or a span of time. Rows that are exactly as old as
        the span have left the window. A call that brings more than a window is decided
        window by window.
    refresh : int, default=100
        Number of rows of a group after which a call tests for drift again. In between,
        the estimate is held back as far as the last test says.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the
        classifier. The paper's rule adapts the groups of the call. Any other rule sees
        the windows of all groups.

    Examples
    --------
    >>> from cape.watch._stream import RollingCape
    >>> rolling = RollingCape(clf, window=100)
    >>> y_pred = rolling.predict(new.data, sensitive_features=new.sensitive_features)
    >>> rolling.evidence()
    Evidence(0: 100 rows, 1: 100 rows)
    """

    def __init__(
        self,
        clf: CapeClassifier,
        window: int | timedelta,
        *,
        refresh: int = 100,
        rule: Any = None,
    ):
        check_fitted_cape(clf)
        if isinstance(window, np.timedelta64):
            # Python would take it for a whole number.
            window = window.astype("timedelta64[us]").item()
        is_span = isinstance(window, timedelta) and window > timedelta(0)
        if not is_span and not _is_number_of_rows(window):
            raise ValueError(
                "window must be a whole number of rows, at least 1, or a timedelta "
                f"above 0, got {window!r}."
            )
        if not _is_number_of_rows(refresh):
            raise ValueError(
                f"refresh must be a whole number of rows, at least 1, got {refresh!r}."
            )
        self.clf = clf
        self.window = window
        # In rows or nanoseconds.
        self._size: Any = window
        if isinstance(window, timedelta):
            self._size = window // timedelta(microseconds=1) * 1000
        self.refresh = int(refresh)
        self.rule = rule_of(clf, rule)
        self._windows: dict[Group, _Window] = {}
        self._by_id: dict[Any, tuple[_Window, _Row]] = {}
        # The time of the latest row, in nanoseconds, and whether times have a zone.
        self._now: int | None = None
        self._zoned: bool | None = None
        self._weighted: bool | None = None
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        # Other threads go on changing windows and rows; models never change.
        with self._lock:
            shared: dict[int, Any] = {id(self.clf): self.clf}
            for window in self._windows.values():
                shared |= {id(part): part for part in (window.model, window.columns)}
            return copy.deepcopy({**vars(self), "_lock": None}, shared)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy has a lock of its own.
        self.__dict__.update(state, _lock=RLock())

    def predict(
        self,
        X: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        times: Any = None,
        ids: Any = None,
    ) -> np.ndarray:
        """Predict rows in the order they arrive; they join the window.

        Labels of rows in the window, from `label`, correct the estimate as in
        `CapeClassifier.adapt`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            One row or more. Wrong input changes nothing.
        sensitive_features : array-like or table of n_samples rows, default=None
            As in ``clf.fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, none of them 0: in all calls, or in none.
        times : array-like of datetime of shape (n_samples,), default=None
            Times of the rows, never earlier than those of previous rows, all of them
            with a time zone or all without. Only for a window of time. A row that would
            empty the window must not be more than a day ahead of the clock.
        ids : array-like of int or str of shape (n_samples,), default=None
            Keys by which `label` finds the rows later; unique in the window.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        with self._lock:
            batch = batch_of(
                self.clf, X, sensitive_features, sample_weight, whole=False
            )
            weighted = batch.weights is not None
            is_alike = self._weighted in (None, weighted)
            if not is_alike or (weighted and not batch.weights.all()):  # type: ignore[union-attr]
                problem = "must be above 0 in all calls of a stream, or in none given."
                raise ParameterError("sample_weight", problem)
            check_same_order(X=X, times=times, ids=ids)
            moments, zoned = self._check_times(times, len(batch))
            names = self._check_ids(ids, len(batch))
            # All rows are read before any joins, so that a failure changes nothing.
            arriving = self._read(batch, moments, names)
            self._weighted = weighted
            self._zoned = zoned
            numbers = np.arange(len(batch)) // self._size
            if times is not None:
                numbers = (moments - moments[:1]) // self._size
            # No row is decided by a window that it has left.
            ends = np.flatnonzero(np.diff(numbers)) + 1
            positive = []
            for start, end in zip([0, *ends], [*ends, len(batch)], strict=True):
                positive += self._decide(arriving[start:end])
            return self.clf.classes_[np.array(positive, dtype=np.intp)]

    def label(self, ids: Any, y: Any) -> np.ndarray:
        """Take the labels of rows that were predicted before.

        The labelled rows must be a random sample of the rows of their group, drawn
        plainly: every row of a group with the same probability.

        Parameters
        ----------
        ids : array-like of int or str of shape (n_labels,)
            As they were given to `predict`.
        y : array-like of shape (n_labels,)
            Their labels. A label given earlier is replaced.

        Returns
        -------
        ndarray of bool of shape (n_labels,)
            Whether each label was taken. Rows that have left the window, or were never
            in it, take none.
        """
        check_same_order(ids=ids, y=y)
        names = _as_ids(ids)
        given = np.ravel(np.asarray(y, dtype=object))
        labels = known_labels(given, self.clf.classes_, len(names))
        if labels is None or not labels.known.all():
            raise ValueError("y must have a label for each of ids, got missing ones.")
        with self._lock:
            taken = np.array([name in self._by_id for name in names], dtype=bool)
            for place in np.flatnonzero(taken):
                window, row = self._by_id[names[place]]
                others = window.evidence - window.count([row])
                row.label = int(labels.codes[place])
                window.evidence = others + window.count([row])
            return taken

    def evidence(self) -> Evidence:
        """Return the evidence of the rows that are in the window now."""
        with self._lock:
            groups = {}
            for group in sorted_groups(self._windows):
                if self._windows[group].rows:
                    groups[group] = self._windows[group].evidence
            return Evidence(self.clf.fingerprint_, groups)

    def adapt(self, level: float = 0.95) -> Adaptation:
        """Adapt to the rows that are in the window now.

        Parameters
        ----------
        level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        Adaptation
        """
        return self.clf.adapt(evidence=self.evidence(), level=level, rule=self.rule)

    def __repr__(self) -> str:
        rows = self.evidence().rows.values()
        return f"RollingCape({self.window!r}: {sum(rows)} rows of {len(rows)} groups)"

    def _read(
        self, batch: Batch, moments: np.ndarray, names: list[Any]
    ) -> list[tuple[_Window, _Row]]:
        """Score the rows of a call; return each with the window of its group."""
        arriving: list[Any] = [None] * len(batch)
        for reading in readings_of(batch):
            if reading.group not in self._windows:
                self._windows[reading.group] = _Window(
                    reading.group, self.clf, batch.weights is not None
                )
            window = self._windows[reading.group]
            numbers = [*reading.scores, *reading.deciding]
            if window.columns is not None:
                rows = Rows(batch.features, reading.index, array=batch.array)
                numbers += [*window.columns.codes(rows).T]
            index = np.arange(len(batch))[all_if_none(reading.index)].tolist()
            of_rows = np.array(numbers, dtype=np.int64).T.tolist()
            for place, of_row in zip(index, of_rows, strict=True):
                row = _Row(of_row, int(moments[place]), names[place])
                if batch.weights is not None:
                    row.weight = float(batch.weights[place])
                arriving[place] = window, row
        return arriving

    def _decide(self, arriving: Sequence[tuple[_Window, _Row]]) -> list[bool]:
        """Let rows into their windows, and decide them together."""
        places: dict[Group, list[int]] = {}
        for place, (window, _) in enumerate(arriving):
            places.setdefault(window.group, []).append(place)
        readings = []
        for group, index in places.items():
            rows = [arriving[place][1] for place in index]
            reading = self._windows[group].reading(rows)
            readings.append(replace(reading, index=np.array(index)))
            self._add(self._windows[group], rows)
        for window in self._windows.values():
            self._drop_old_rows(window)
        adaptation = self._adapt(places.keys())
        return decide(readings, adaptation, n_rows=len(arriving)).tolist()

    def _add(self, window: _Window, rows: Sequence[_Row]) -> None:
        window.rows.extend(rows)
        window.evidence += window.count(rows)
        window.rows_since_look += len(rows)
        self._by_id |= {row.id: (window, row) for row in rows if row.id is not None}
        self._now = max(rows[-1].time, self._now or rows[-1].time)

    def _drop_old_rows(self, window: _Window) -> None:
        oldest = (self._now or 0) - self._size
        gone = []
        while window.rows and (
            window.rows[0].time <= oldest
            if isinstance(self.window, timedelta)
            else len(window.rows) > self._size
        ):
            gone.append(window.rows.popleft())
            self._by_id.pop(gone[-1].id, None)
        if gone:
            window.evidence -= window.count(gone)

    def _adapt(self, groups: AbstractSet[Group]) -> Adaptation:
        """Adapt to the windows of some groups; test them for drift if it is time."""
        parts = self.evidence().groups
        # The paper's rule decides group by group.
        if isinstance(self.rule, Prevalence):
            parts = {group: parts[group] for group in sorted_groups(groups)}
        windows = {group: self._windows[group] for group in parts}
        drifts: Any = {}
        if self.clf.drift == "cautious":
            drifts = {group: window.drift for group, window in windows.items()}
            waited = [window.rows_since_look for window in windows.values()]
            if None in drifts.values() or max(waited, default=0) >= self.refresh:
                drifts = None
        # Intervals, which labels are compared with, are computed only for them.
        has_labels = any(part.labelled for part in parts.values())
        adaptation = adapt(
            {group: window.model for group, window in windows.items()},
            Evidence(self.clf.fingerprint_, parts),
            level=_LEVEL if has_labels else None,
            rule=self.rule,
            drift=self.clf.drift,
            drifts=drifts,
            past=self.clf.past,
            # The paper's rule looks at no rates.
            correct_rates=not isinstance(self.rule, Prevalence),
        )
        if drifts is None:
            for group, window in windows.items():
                window.drift = adaptation.drifts[group]
                window.rows_since_look = 0
        return adaptation

    def _check_ids(self, ids: Any, n_rows: int) -> list[Any]:
        """Return the ids of rows; None for each row if there are none."""
        if ids is None:
            return [None] * n_rows
        names = _as_ids(ids)
        check_same_length(X=np.empty(n_rows), ids=names)
        for name, n_rows in Counter(names).items():
            if n_rows > 1 or name in self._by_id:
                raise ValueError(
                    "ids must differ from those of the rows in the window and from "
                    f"each other, got {name!r} twice."
                )
        return names

    def _check_times(self, times: Any, n_rows: int) -> tuple[np.ndarray, bool | None]:
        """Return times in nanoseconds, and whether they have a zone.

        For a window of rows the times are zeros.
        """
        is_span = isinstance(self.window, timedelta)
        if (times is not None) != is_span:
            wanted = (
                "given for a window of time" if is_span else "None for a number of rows"
            )
            raise ValueError(
                f"times must be {wanted} (window={self.window!r}), got {times!r:.60}."
            )
        if not is_span:
            return np.zeros(n_rows, dtype=np.int64), None
        given = np.ravel(np.asarray(times))
        try:
            if given.dtype.kind in "biufc":
                raise TypeError("numbers")
            index = pd.to_datetime(given, format="ISO8601").as_unit("ns")
            if index.hasnans:
                raise ValueError(f"{np.count_nonzero(index.isna())} missing")
            zoned = index.tz is not None
            if self._zoned not in (None, zoned):
                raise ValueError("some calls give a time zone, and others none")
        except (TypeError, ValueError) as error:
            raise ValueError(
                "times must be dates and times between the years 1678 and 2262, all of "
                f"one time zone or all without, got {str(times)[:60]!r}: {error}."
            ) from None
        check_same_length(X=np.empty(n_rows), times=index)
        moments = index.asi8
        before = moments[:1] if self._now is None else self._now
        steps = np.diff(moments, prepend=before)
        latest = (pd.Timestamp.now("UTC") + _AHEAD).value
        faults = {
            "never be earlier than those of the rows before (they go back)": steps < 0,
            "not be ahead of the clock where all rows before would leave the window": (
                (steps >= self._size) & (moments > latest)
            ),
        }
        for wanted, is_wrong in faults.items():
            if is_wrong.any():
                row = int(np.argmax(is_wrong))
                raise ValueError(
                    f"times must {wanted}, got {index[row]} for row {row} after "
                    f"{pd.Timestamp(moments[row] - steps[row])}."
                )
        return moments, zoned


def _as_ids(ids: Any) -> list[Any]:
    """Return ids as a list of int and str."""
    names = np.ravel(np.asarray(ids, dtype=object)).tolist()
    for name in names:
        if isinstance(name, bool) or not isinstance(name, (str, Integral)):
            raise ValueError(f"ids must be int or str, got {name!r}.")
    return names


def _is_number_of_rows(value: Any) -> bool:
    """Tell whether a value is a whole number from 1 on."""
    is_number = isinstance(value, Integral) and not isinstance(value, bool)
    return is_number and int(value) >= 1
