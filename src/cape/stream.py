"""A moving window of evidence: each row is predicted with the rows before it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from cape._drift import GroupDrift, find_drift
from cape._group_model import GroupModel
from cape._groups import Group, group_from_json, group_to_json, sorted_groups
from cape._learners import Rows
from cape._prediction import (
    Batch,
    Reading,
    adapt_groups,
    batch_of,
    estimate_groups,
    known_labels,
    readings_of,
    refuse_row_keepers,
    zero_evidence,
)
from cape._shift_test import count_agreements
from cape._validation import all_if_none, check_is_fitted, check_same_length
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.evidence import PLAIN, Evidence, GroupEvidence, LabelledEvidence
from cape.histogram import ScoreHistogram

__all__ = ["RollingCape"]

_NANOSECONDS = 1_000_000_000

_LEVEL = 0.95
"""Level of the intervals that labels are compared with."""


class RollingCape:
    """Predict a stream: each row with the adaptation of the last rows of its group.

    The row itself is the last of them. A window of one row is CAPE-1 of the paper. A
    window that holds a whole batch is, at its last row, CAPE-D. Only scores, decisions
    and one byte for each column are kept, never features, so that memory is of the
    order of the window. Counts are exact at every row: they are added and taken away in
    place. What else has moved is looked at every ``refresh`` rows of a group.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. A quantifier that needs the rows themselves (one of QuaPy's) is refused.
    window : int or datetime.timedelta
        How many rows of each group, or how far back in time. Rows that are exactly so
        old have left the window.
    refresh : int, default=100
        After how many rows of a group drift is looked at again. Between, the estimate
        is held back as far as the last look says.

    Examples
    --------
    >>> from cape.stream import RollingCape
    >>> rolling = RollingCape(clf, window=100)
    >>> y_pred = rolling.predict(new.data, sensitive_features=new.sensitive_features)
    >>> rolling.evidence()
    Evidence(0: 100 rows, 1: 100 rows)
    >>> again = RollingCape.from_json(clf, rolling.to_json())
    >>> again.evidence() == rolling.evidence()
    True
    """

    def __init__(
        self, clf: CapeClassifier, window: int | timedelta, *, refresh: int = 100
    ):
        check_is_fitted(clf)
        refuse_row_keepers(clf, "RollingCape")
        self.clf = clf
        self.window = _check_window(window)
        self.refresh = _check_refresh(refresh)
        self._windows: dict[Group, _Window] = {}
        # The latest time seen, in nanoseconds.
        self._now: int | None = None

    def predict(
        self,
        X: Any,
        *,
        sensitive_features: Any = None,
        times: Any = None,
        ids: Any = None,
    ) -> np.ndarray:
        """Predict rows in the order in which they come; they join the window.

        Labels of rows in the window, from `label`, correct the estimate as in
        `CapeClassifier.adapt`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            One row or more. Wrong input changes nothing.
        sensitive_features : array-like or table of n_samples rows, default=None
            As in ``clf.fit``.
        times : array-like of datetime of shape (n_samples,), default=None
            When the rows came, never earlier than the rows before. Only for a window of
            time.
        ids : array-like of int or str of shape (n_samples,), default=None
            By what `label` can find the rows later; each is in the window once.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self.clf, X, sensitive_features)
        n_rows = len(batch)
        moments = self._check_times(times, n_rows)
        names = self._check_ids(ids, n_rows)
        # All rows are read before any joins a window, so that a failure changes none.
        readings = list(readings_of(batch))
        codes = [self._column_codes(batch, reading) for reading in readings]
        positive = np.zeros(n_rows, dtype=bool)
        for reading, cells in zip(readings, codes, strict=True):
            index = all_if_none(reading.index)
            rows = _stream_rows(reading, moments[index], cells, names[index])
            positive[index] = self._predict_in_turn(reading, rows)
        if n_rows and times is not None:
            self._now = int(moments[-1])
        return self.clf.classes_[positive.astype(np.intp)]

    def label(
        self, ids: Any, y: Any, *, inclusion_probability: Any = None
    ) -> np.ndarray:
        """Take the labels of rows that were predicted before.

        The labelled rows must be a random sample of the rows of their group; see
        `CapeClassifier.adapt`.

        Parameters
        ----------
        ids : array-like of int or str of shape (n_labels,)
            As they were given to `predict`.
        y : array-like of shape (n_labels,)
            Their labels. A label that was given before is replaced.
        inclusion_probability : array-like of float of shape (n_labels,), default=None
            Probability with which each row was drawn. None means that rows were drawn
            plainly.

        Returns
        -------
        ndarray of bool of shape (n_labels,)
            Whether each label was taken. Rows that have left the window, or were never
            in it, take none.
        """
        names = _as_ids(ids)
        labels = known_labels(y, self.clf.classes_, len(names), inclusion_probability)
        if labels is None or not labels.known.all():
            raise ValueError("y must have a label for each of ids, got missing ones.")
        windows = {}
        for window in self._windows.values():
            windows.update(dict.fromkeys(window.rows_by_id, window))
        self._check_same_drawing(inclusion_probability is None)
        taken = []
        for name, code, probability in zip(names, *labels.as_lists(), strict=True):
            if name in windows:
                windows[name].label(name, code, probability)
            taken.append(name in windows)
        return np.array(taken, dtype=bool)

    def evidence(self) -> Evidence:
        """Return the evidence of the rows that are in the window now."""
        if self._now is not None:
            for window in self._windows.values():
                window.forget_until(self._now - self._span)
        groups = {}
        for group in sorted_groups(self._windows):
            if self._windows[group].rows:
                groups[group] = self._windows[group].copy_of_evidence()
        return Evidence(self.clf.fingerprint_, groups)

    def adapt(self, level: float = 0.95) -> Adaptation:
        """Adapt to the rows that are in the window now."""
        return self.clf.adapt(evidence=self.evidence(), level=level)

    def to_json(self) -> str:
        """Write the state as JSON text: scores of the rows in the window."""
        span: Any = self.window
        if isinstance(self.window, timedelta):
            span = {"seconds": self.window.total_seconds()}
        groups = []
        for group, window in self._windows.items():
            groups.append({"group": group_to_json(group), **window.to_json()})
        content = {
            "fingerprint": self.clf.fingerprint_,
            "window": span,
            "refresh": self.refresh,
            "now": self._now,
            "groups": groups,
        }
        return json.dumps(content)

    @classmethod
    def from_json(cls, clf: CapeClassifier, text: str) -> RollingCape:
        """Go on where a stream stopped.

        Parameters
        ----------
        clf : CapeClassifier
            The model of that stream.
        text : str
            Written by its `to_json`.

        Returns
        -------
        RollingCape
        """
        check_is_fitted(clf)
        rolling, states = cls._read_state(clf, text)
        for group, state in states.items():
            window = rolling._open_window(group, clf.model_of(group))
            window.restore(state)
            rolling._windows[group] = window
        return rolling

    @classmethod
    def _read_state(
        cls, clf: CapeClassifier, text: str
    ) -> tuple[RollingCape, dict[Group, _WindowState]]:
        """Read the JSON of a stream: an empty stream, and the state of its windows."""
        try:
            content = json.loads(text)
            window = content["window"]
            fingerprint = str(content["fingerprint"])
            if isinstance(window, Mapping):
                window = timedelta(**window)
            rolling = cls(clf, window, refresh=content["refresh"])
            rolling._now = content["now"]
            states = {}
            for entry in content["groups"]:
                state = _WindowState.from_json(entry)
                states[group_from_json(entry["group"])] = state
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                "text must be JSON that RollingCape.to_json wrote, got "
                f"{str(text)[:60]!r}."
            ) from error
        if fingerprint != clf.fingerprint_:
            raise ValueError(
                f"clf must be the model of the stream (fingerprint {fingerprint[:12]}),"
                f" got {clf.fingerprint_[:12]}."
            )
        return rolling, states

    def __repr__(self) -> str:
        rows = sum(len(window.rows) for window in self._windows.values())
        groups = len(self._windows)
        return f"RollingCape(window={self.window!r}: {rows} rows of {groups} groups)"

    @property
    def _span(self) -> int:
        """The window in nanoseconds."""
        seconds = self.window.total_seconds()  # type: ignore[union-attr]
        return round(seconds * _NANOSECONDS)

    def _open_window(self, group: Group, model: GroupModel) -> _Window:
        """Return an empty window of a group."""
        cautious = self.clf.drift == "cautious"
        return _Window(group, model, cautious=cautious, refresh=self.refresh)

    def _column_codes(self, batch: Batch, reading: Reading) -> list[bytes]:
        """Return the cells of the columns of each row; empty if nobody counts them."""
        columns = reading.model.columns
        n_rows = reading.scores.shape[1]
        if columns is None or self.clf.drift == "ignore":
            return [b""] * n_rows
        rows = Rows(batch.features, reading.index, array=batch.array)
        return [row.tobytes() for row in columns.codes(rows)]

    def _predict_in_turn(self, reading: Reading, rows: list[_StreamRow]) -> list[bool]:
        """Let rows of one group into its window, one by one, and decide on each."""
        if reading.group not in self._windows:
            window = self._open_window(reading.group, reading.model)
            self._windows[reading.group] = window
        window = self._windows[reading.group]
        return [self._step(window, row) for row in rows]

    def _step(self, window: _Window, row: _StreamRow) -> bool:
        """Let the oldest rows go and one row in, and decide on that row."""
        if isinstance(self.window, timedelta):
            window.forget_until(row.time - self._span)
        elif len(window.rows) == self.window:
            window.drop_oldest()
        window.add(row)
        return window.decide(row)

    def _check_ids(self, ids: Any, n_rows: int) -> np.ndarray:
        """Return the ids of rows; None for each row if there are none."""
        names = np.full(n_rows, None, dtype=object)
        if ids is None:
            return names
        given = _as_ids(ids)
        check_same_length(X=names, ids=given)
        known: set[Any] = set()
        for window in self._windows.values():
            known.update(window.rows_by_id)
        for name in given:
            if name in known:
                raise ValueError(
                    "ids must differ from those of the rows in the window and from "
                    f"each other, got {name!r} twice."
                )
            known.add(name)
        names[:] = given
        return names

    def _check_same_drawing(self, plain: bool) -> None:
        """Raise if labels in the window were drawn in another way."""
        for window in self._windows.values():
            for probability in window.evidence.labelled:
                if (probability == PLAIN) != plain:
                    raise ValueError(
                        "inclusion_probability must be given for all labels in the "
                        "window, or for none."
                    )

    def _check_times(self, times: Any, n_rows: int) -> np.ndarray:
        """Return times in nanoseconds; zeros for a window of rows."""
        if not isinstance(self.window, timedelta):
            if times is not None:
                raise ValueError(
                    "times must be None for a window of rows "
                    f"(window={self.window!r}), got times."
                )
            return np.zeros(n_rows, dtype=np.int64)
        if times is None:
            raise ValueError(
                "times must be given for a window of time "
                f"(window={self.window!r}), got None."
            )
        moments = _in_nanoseconds(times)
        check_same_length(X=np.empty(n_rows), times=moments)
        if np.isnat(moments).any():
            raise ValueError(
                "times must be known for every row, got "
                f"{np.isnat(moments).sum()} missing."
            )
        moments = moments.astype(np.int64)
        is_late = self._now is not None and n_rows and moments[0] < self._now
        if is_late or (np.diff(moments) < 0).any():
            raise ValueError(
                "times must never be earlier than those of the rows before, got rows "
                "that go back in time."
            )
        return moments


def _as_ids(ids: Any) -> list[Any]:
    """Return ids as a list of int and str, which JSON can hold."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    elif hasattr(ids, "to_list"):
        ids = ids.to_list()
    if isinstance(ids, (str, int)):
        ids = [ids]
    names = list(ids)
    for name in names:
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            raise ValueError(f"ids must be int or str, got {name!r}.")
    return names


def _stream_rows(
    reading: Reading, moments: np.ndarray, codes: list[bytes], ids: np.ndarray
) -> list[_StreamRow]:
    """Put together what is kept of each row."""
    columns = zip(
        reading.scores.T.tolist(),
        reading.deciding.T.tolist(),
        moments.tolist(),
        codes,
        ids.tolist(),
        strict=True,
    )
    return [_StreamRow(*row) for row in columns]


def _check_window(window: Any) -> int | timedelta:
    """Return the window as a number of rows or a timedelta."""
    if isinstance(window, np.timedelta64):
        # Python would take it for a whole number.
        window = window.astype("timedelta64[us]").item()
    if isinstance(window, timedelta):
        is_good = window > timedelta(0)
    else:
        is_number = isinstance(window, Integral) and not isinstance(window, bool)
        is_good = is_number and window >= 1
    if not is_good:
        raise ValueError(
            "window must be a number of rows from 1 on, or a timedelta above 0, got "
            f"{window!r}."
        )
    return window if isinstance(window, timedelta) else int(window)


def _check_refresh(refresh: Any) -> int:
    """Return after how many rows drift is looked at again."""
    is_number = isinstance(refresh, Integral) and not isinstance(refresh, bool)
    if not is_number or refresh < 1:
        raise ValueError(
            f"refresh must be a number of rows from 1 on, got {refresh!r}."
        )
    return int(refresh)


def _in_nanoseconds(times: Any) -> np.ndarray:
    """Read times of any kind that numpy and pandas know; no zone means UTC."""
    given = np.ravel(np.asarray(times))
    if given.dtype.kind != "M":
        given = _parse_times(given, times)
    moments = given.astype("datetime64[ns]")
    known = ~np.isnat(given)
    if (moments.astype(given.dtype) != given)[known].any():
        raise ValueError(
            "times must lie between the years 1678 and 2262, got a time outside."
        )
    return moments


def _parse_times(given: np.ndarray, times: Any) -> np.ndarray:
    """Read times that are no datetime64 yet: text, Python's, with a zone."""
    import pandas as pd

    try:
        if given.dtype.kind in "biufc":
            raise TypeError("numbers")
        parsed = pd.to_datetime(given, utc=True, format="ISO8601")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"times must be dates and times, got {str(times)[:60]!r}: {error}."
        ) from None
    return parsed.tz_localize(None).to_numpy()


class _StreamRow(NamedTuple):
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
    def from_json(cls, content: list[Any]) -> _StreamRow:
        """Read what `to_json` returned."""
        scores, deciding, time, codes, id = content
        return cls(scores, deciding, time, bytes.fromhex(codes), id)


class _Label(NamedTuple):
    """The label of a row: 1 or 0, and its inclusion probability in units of 2^-32."""

    code: int
    probability: int


class _WindowState(NamedTuple):
    """What a stream must remember of a window to go on as if it had never stopped.

    Drift was looked at some rows ago, and rows of that look may have left since.
    """

    rows: list[_StreamRow]
    gone_since_look: list[_StreamRow]
    rows_since_look: int
    labels: dict[Any, _Label]

    @property
    def rows_of_look(self) -> int:
        """How many of the first rows were there at the last look at drift."""
        return max(len(self.rows) - self.rows_since_look, 0)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "gone_since_look": [row.to_json() for row in self.gone_since_look],
            "rows_since_look": self.rows_since_look,
            "labels": [[name, *label] for name, label in self.labels.items()],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> _WindowState:
        """Read what `to_json` returned."""
        rows = [_StreamRow.from_json(row) for row in content["rows"]]
        gone = [_StreamRow.from_json(row) for row in content["gone_since_look"]]
        labels = {}
        for name, code, probability in content["labels"]:
            labels[name] = _Label(code, probability)
        return cls(rows, gone, int(content["rows_since_look"]), labels)


class _Window:
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
        self.rows: deque[_StreamRow] = deque()
        self.rows_by_id: dict[Any, _StreamRow] = {}
        self.labels: dict[Any, _Label] = {}
        self.evidence = zero_evidence(model, columns=cautious)
        # To look one number up, a list is faster than an array.
        self._edges = model.edges.tolist()
        self._drift: dict[Group, GroupDrift] = {}
        self._looked_at: list[_StreamRow] = []
        self._rows_since_look = refresh

    def add(self, row: _StreamRow) -> None:
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
        self.labels[name] = _Label(code, probability)

    def _forget_label(self, row: _StreamRow) -> None:
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

    def decide(self, row: _StreamRow) -> bool:
        # Other groups have not changed since their last row, and the paper's rule
        # decides group by group.
        models = {self.group: self.model}
        evidence = {self.group: self.evidence}
        # Intervals, which the labels are compared with, are computed only for them.
        level = _LEVEL if self.labels else None
        estimates = estimate_groups(models, evidence, level=level)
        if self.cautious:
            self._rows_since_look += 1
            if self._rows_since_look >= self.refresh:
                self._look_at_drift(estimates[self.group].estimate)
        adapted = adapt_groups(
            models,
            evidence,
            estimates,
            self._drift,
            level=level,
            cautious=self.cautious,
        )
        deciding = np.array(row.deciding)[:, None]
        reading = Reading(self.group, self.model, None, deciding, deciding)
        return bool(reading.calls(adapted[self.group].member)[0])

    def _look_at_drift(self, estimate: float) -> None:
        """Test the rows of the window for drift."""
        self._drift = find_drift(
            {self.group: self.model},
            {self.group: self.evidence},
            {self.group: estimate},
        )
        self._looked_at = list(self.rows)
        self._rows_since_look = 0

    def to_json(self) -> dict[str, Any]:
        state = _WindowState(list(self.rows), [], self._rows_since_look, self.labels)
        n_gone = max(len(self._looked_at) - state.rows_of_look, 0)
        gone = self._looked_at[:n_gone]
        return state._replace(gone_since_look=gone).to_json()

    def restore(self, state: _WindowState) -> None:
        """Fill an empty window, and look at drift where it was last looked at."""
        rows_of_look = state.rows[: state.rows_of_look]
        for row in [*state.gone_since_look, *rows_of_look]:
            self.add(row)
        if self.cautious and self.rows:
            estimate = self.model.quantifier.estimate(self.evidence.scores)
            self._look_at_drift(estimate)
        for _ in state.gone_since_look:
            self.drop_oldest()
        for row in state.rows[state.rows_of_look :]:
            self.add(row)
        self._rows_since_look = state.rows_since_look
        for name, label in state.labels.items():
            self.label(name, *label)

    def copy_of_evidence(self) -> GroupEvidence:
        # Adding the zero copies the arrays, which go on changing in here.
        nothing = zero_evidence(self.model, columns=self.cautious)
        labelled = {}
        for probability, rows in sorted(self.evidence.labelled.items()):
            labelled[probability] = rows + LabelledEvidence(nothing, nothing)
        return replace(self.evidence + nothing, labelled=labelled)

    def _count(self, evidence: GroupEvidence, row: _StreamRow, sign: int) -> None:
        """Add a row to some evidence (sign 1), or take it away (sign -1)."""
        for score in row.scores:
            self._count_score(evidence.scores, score, sign)
        if isinstance(evidence.tally, ScoreHistogram):
            self._count_score(evidence.tally, row.deciding[0], sign)
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

    def _count_score(self, histogram: ScoreHistogram, score: int, sign: int) -> None:
        cell = bisect_left(self._edges, score)
        histogram.counts[cell] += sign
        histogram.sums[cell] += sign * score


def _part_of(labelled: LabelledEvidence, code: int) -> GroupEvidence:
    """Return the evidence of positives (1) or negatives (0)."""
    return labelled.positives if code else labelled.negatives
