"""A moving window of evidence: each row is predicted with the rows before it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
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
    readings_of,
    refuse_row_keepers,
    zero_evidence,
)
from cape._shift_test import count_agreements
from cape._validation import all_if_none, check_is_fitted, check_same_length
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.evidence import Evidence, GroupEvidence
from cape.histogram import ScoreHistogram
from cape.rules import Prevalence, describe_rule, make_rule

__all__ = ["RollingCape"]

_NANOSECONDS = 1_000_000_000


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
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the
        classifier. The paper's rule decides each group by itself. Any other rule sees
        the windows of all groups at every row, which takes it milliseconds.

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
        self,
        clf: CapeClassifier,
        window: int | timedelta,
        *,
        refresh: int = 100,
        rule: Any = None,
    ):
        check_is_fitted(clf)
        refuse_row_keepers(clf, "RollingCape")
        self.clf = clf
        self.window = _check_window(window)
        self.refresh = _check_refresh(refresh)
        self.rule = make_rule(clf.rule if rule is None else rule)
        self._windows: dict[Group, _Window] = {}
        # The latest time seen, in nanoseconds.
        self._now: int | None = None

    def predict(
        self, X: Any, *, sensitive_features: Any = None, times: Any = None
    ) -> np.ndarray:
        """Predict rows in the order in which they come; they join the window.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            One row or more. Wrong input changes nothing.
        sensitive_features : array-like or table of n_samples rows, default=None
            As in ``clf.fit``.
        times : array-like of datetime of shape (n_samples,), default=None
            When the rows came, never earlier than the rows before. Only for a window of
            time.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self.clf, X, sensitive_features)
        n_rows = len(batch)
        moments = self._check_times(times, n_rows)
        # All rows are read before any joins a window, so that a failure changes none.
        readings = list(readings_of(batch))
        codes = [self._column_codes(batch, reading) for reading in readings]
        positive = np.zeros(n_rows, dtype=bool)
        arriving = []
        for reading, cells in zip(readings, codes, strict=True):
            arriving += self._arriving(reading, moments, cells)
        if not isinstance(self.rule, Prevalence):
            # A rule that compares groups has to see them as they were at each row.
            arriving.sort(key=lambda row: row.place)
        for row in arriving:
            positive[row.place] = self._step(self._windows[row.group], row.row)
        if n_rows and times is not None:
            self._now = int(moments[-1])
        return self.clf.classes_[positive.astype(np.intp)]

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
        return self.clf.adapt(evidence=self.evidence(), level=level, rule=self.rule)

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
            "rule": describe_rule(self.rule),
            "now": self._now,
            "groups": groups,
        }
        return json.dumps(content)

    @classmethod
    def from_json(
        cls, clf: CapeClassifier, text: str, *, rule: Any = None
    ) -> RollingCape:
        """Go on where a stream stopped.

        Parameters
        ----------
        clf : CapeClassifier
            The model of that stream.
        text : str
            Written by its `to_json`.
        rule : str or Rule, default=None
            None is the rule of that stream. A rule of your own, of which JSON has the
            name alone, has to be given unless it is that of the classifier.

        Returns
        -------
        RollingCape
        """
        check_is_fitted(clf)
        rolling, states = cls._read_state(clf, text, rule)
        for group, state in states.items():
            window = rolling._open_window(group, clf.model_of(group))
            window.restore(state)
            rolling._windows[group] = window
        return rolling

    @classmethod
    def _read_state(
        cls, clf: CapeClassifier, text: str, rule: Any
    ) -> tuple[RollingCape, dict[Group, _WindowState]]:
        """Read the JSON of a stream: an empty stream, and the state of its windows."""
        try:
            content = json.loads(text)
            window = content["window"]
            fingerprint = str(content["fingerprint"])
            if isinstance(window, Mapping):
                window = timedelta(**window)
            if rule is None and content["rule"] != describe_rule(make_rule(clf.rule)):
                rule = content["rule"]
            rolling = cls(clf, window, refresh=content["refresh"], rule=rule)
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

    def _arriving(
        self, reading: Reading, moments: np.ndarray, codes: list[bytes]
    ) -> list[_Arriving]:
        """List the rows of one group in order, and open its window if it has none."""
        if reading.group not in self._windows:
            window = self._open_window(reading.group, reading.model)
            self._windows[reading.group] = window
        index = np.arange(len(moments))[all_if_none(reading.index)]
        rows = zip(
            reading.scores.T.tolist(),
            reading.deciding.T.tolist(),
            moments[index].tolist(),
            codes,
            strict=True,
        )
        arriving = []
        for place, row in zip(index.tolist(), rows, strict=True):
            arriving.append(_Arriving(place, reading.group, _StreamRow(*row)))
        return arriving

    def _step(self, window: _Window, row: _StreamRow) -> bool:
        """Let the oldest rows go and one row in, and decide on that row."""
        if isinstance(self.window, timedelta):
            window.forget_until(row.time - self._span)
        elif len(window.rows) == self.window:
            window.drop_oldest()
        window.add(row)
        window.count_towards_look()
        member = self._choose(window, row.time)
        return window.decide(row, member)

    def _choose(self, window: _Window, time: int) -> int:
        """Let the rule pick the member of a window at some time."""
        windows = [window]
        # Other groups have not changed since their last row, and the paper's rule
        # decides group by group.
        if not isinstance(self.rule, Prevalence):
            windows = self._windows_at(time)
        models = {window.group: window.model for window in windows}
        evidence = {window.group: window.evidence for window in windows}
        found: dict[Group, GroupDrift] = {}
        for part in windows:
            found |= part.drift
        adapted = adapt_groups(
            models,
            evidence,
            estimate_groups(models, evidence),
            found,
            rule=self.rule,
            cautious=window.cautious,
        )
        return adapted[window.group].member

    def _windows_at(self, time: int) -> list[_Window]:
        """Return the windows that hold rows at some time, in the order of groups."""
        windows = []
        for group in sorted_groups(self._windows):
            window = self._windows[group]
            if isinstance(self.window, timedelta):
                window.forget_until(time - self._span)
            if window.rows:
                windows.append(window)
        return windows

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

    These are its scores, the scores that members decide by, its time, and the cell of
    each of its columns, one byte each.
    """

    scores: list[int]
    deciding: list[int]
    time: int
    codes: bytes

    def to_json(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.scores, self.deciding, self.time, self.codes.hex()]

    @classmethod
    def from_json(cls, content: list[Any]) -> _StreamRow:
        """Read what `to_json` returned."""
        scores, deciding, time, codes = content
        return cls(scores, deciding, time, bytes.fromhex(codes))


class _Arriving(NamedTuple):
    """A row that is about to join its window, and its place in the table."""

    place: int
    group: Group
    row: _StreamRow


class _WindowState(NamedTuple):
    """What a stream must remember of a window to go on as if it had never stopped.

    Drift was looked at some rows ago, and rows of that look may have left since.
    """

    rows: list[_StreamRow]
    gone_since_look: list[_StreamRow]
    rows_since_look: int

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
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> _WindowState:
        """Read what `to_json` returned."""
        rows = [_StreamRow.from_json(row) for row in content["rows"]]
        gone = [_StreamRow.from_json(row) for row in content["gone_since_look"]]
        return cls(rows, gone, int(content["rows_since_look"]))


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
        self.evidence = zero_evidence(model, columns=cautious)
        # To look one number up, a list is faster than an array.
        self._edges = model.edges.tolist()
        self.drift: dict[Group, GroupDrift] = {}
        self._looked_at: list[_StreamRow] = []
        self._rows_since_look = refresh

    def add(self, row: _StreamRow) -> None:
        self.rows.append(row)
        self._count(row, 1)

    def drop_oldest(self) -> None:
        self._count(self.rows.popleft(), -1)

    def forget_until(self, time: int) -> None:
        while self.rows and self.rows[0].time <= time:
            self.drop_oldest()

    def decide(self, row: _StreamRow, member: int) -> bool:
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
        state = _WindowState(list(self.rows), [], self._rows_since_look)
        n_gone = max(len(self._looked_at) - state.rows_of_look, 0)
        gone = self._looked_at[:n_gone]
        return state._replace(gone_since_look=gone).to_json()

    def restore(self, state: _WindowState) -> None:
        """Fill an empty window, and look at drift where it was last looked at."""
        rows_of_look = state.rows[: state.rows_of_look]
        for row in [*state.gone_since_look, *rows_of_look]:
            self.add(row)
        if self.cautious and self.rows:
            self._look_at_drift()
        for _ in state.gone_since_look:
            self.drop_oldest()
        for row in state.rows[state.rows_of_look :]:
            self.add(row)
        self._rows_since_look = state.rows_since_look

    def copy_of_evidence(self) -> GroupEvidence:
        # Adding the zero copies the arrays, which go on changing in here.
        return self.evidence + zero_evidence(self.model, columns=self.cautious)

    def _count(self, row: _StreamRow, sign: int) -> None:
        """Add a row to the evidence (sign 1), or take it away (sign -1)."""
        evidence = self.evidence
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
