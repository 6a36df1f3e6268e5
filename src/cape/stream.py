"""A moving window of evidence: each row is predicted with the rows before it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import wraps
from numbers import Integral
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from cape._adaptation import Adaptation
from cape._drift._find import GroupDrift
from cape._evidence import PLAIN, Evidence
from cape._group_model import GroupModel
from cape._groups import Group, group_from_json, group_to_json, sorted_groups
from cape._json_fields import Fields, read_format
from cape._learners._scoring import Rows
from cape._prediction import (
    Batch,
    Reading,
    adapt,
    batch_of,
    known_labels,
    readings_of,
    refuse_row_keepers,
    rule_of,
)
from cape._validation import (
    all_if_none,
    check_fitted_cape,
    check_same_length,
    check_same_order,
)
from cape._window import StreamRow, Window
from cape.classifier import CapeClassifier
from cape.rules import Prevalence
from cape.rules._rules import describe_rule

__all__ = ["RollingCape"]

_NANOSECONDS = 1_000_000_000

_LEVEL = 0.95
"""Level of the intervals that labels are compared with."""

_FORMAT = 1
"""Number of the JSON format; it changes when older text can no longer be read."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _one_at_a_time(method: _Method) -> _Method:
    """Let threads wait for each other: a row changes the window of the next."""

    @wraps(method)
    def call(self: RollingCape, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


class RollingCape:
    """Predict a stream: each row is adapted to the last rows of its group.

    The row itself is the last of them. A window of one row is CAPE-1 of the paper. A
    window that holds a whole batch is CAPE-D at its last row. Only scores, decisions
    and one byte for each column are kept, never features, so memory grows only with the
    window. Counts are exact at every row. Drift is checked every ``refresh`` rows of a
    group. Threads may share a stream; calls wait for each other.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. Quantifiers that need the rows themselves (QuaPy's) are rejected.
    window : int or datetime.timedelta
        Number of rows of each group, or a span of time. Rows that are exactly as old as
        the span have left the window.
    refresh : int, default=100
        Number of rows of a group between two tests for drift. In between, the estimate
        is held back as far as the last test says.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the
        classifier. The paper's rule decides each group on its own. Any other rule sees
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
        check_fitted_cape(clf)
        refuse_row_keepers(clf, "RollingCape")
        self.clf = clf
        self.window = _check_window(window)
        if not _is_number_of_rows(refresh):
            raise ValueError(
                f"refresh must be a whole number of rows, at least 1, got {refresh!r}."
            )
        self.refresh = int(refresh)
        self.rule = rule_of(clf, rule)
        self._windows: dict[Group, Window] = {}
        # The latest time seen, in nanoseconds.
        self._now: int | None = None
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        # A copy has a lock of its own.
        with self._lock:
            return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=RLock())

    @_one_at_a_time
    def predict(
        self,
        X: Any,
        *,
        sensitive_features: Any = None,
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
        times : array-like of datetime of shape (n_samples,), default=None
            Times of the rows, never earlier than those of previous rows. Only for a
            window of time.
        ids : array-like of int or str of shape (n_samples,), default=None
            Keys by which `label` finds the rows later; unique in the window.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self.clf, X, sensitive_features)
        check_same_order(X=X, times=times, ids=ids)
        n_rows = len(batch)
        moments = self._check_times(times, n_rows)
        names = self._check_ids(ids, n_rows)
        # All rows are read before any joins a window, so that a failure changes none.
        readings = list(readings_of(batch))
        codes = [self._column_codes(batch, reading) for reading in readings]
        positive = np.zeros(n_rows, dtype=bool)
        arriving = []
        for reading, cells in zip(readings, codes, strict=True):
            arriving += self._arriving(reading, moments, cells, names)
        if not isinstance(self.rule, Prevalence):
            # A rule that compares groups has to see them as they were at each row.
            arriving.sort(key=lambda row: row[0])
        for place, group, row in arriving:
            positive[place] = self._step(self._windows[group], row)
        if n_rows and times is not None:
            self._now = int(moments[-1])
        return self.clf.classes_[positive.astype(np.intp)]

    @_one_at_a_time
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
            Their labels. A label given earlier is replaced.
        inclusion_probability : array-like of float of shape (n_labels,), default=None
            Probability with which each row was drawn. None means that rows were drawn
            plainly.

        Returns
        -------
        ndarray of bool of shape (n_labels,)
            Whether each label was taken. Rows that have left the window, or were never
            in it, take none.
        """
        if isinstance(ids, (str, int)):
            # One row and its label.
            ids, y = [ids], [y]
        check_same_order(ids=ids, y=y, inclusion_probability=inclusion_probability)
        names = _as_ids(ids)
        labels = known_labels(y, self.clf.classes_, len(names), inclusion_probability)
        if labels is None or not labels.known.all():
            raise ValueError("y must have a label for each of ids, got missing ones.")
        self._forget_old_rows()
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

    @_one_at_a_time
    def evidence(self) -> Evidence:
        """Return the evidence of the rows that are in the window now."""
        self._forget_old_rows()
        groups = {}
        for group in sorted_groups(self._windows):
            if self._windows[group].rows:
                groups[group] = self._windows[group].copy_of_evidence()
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

    @_one_at_a_time
    def to_json(self) -> str:
        """Write the state as JSON text, with the scores of the rows in the window."""
        span: Any = self.window
        if isinstance(self.window, timedelta):
            span = {"seconds": self.window.total_seconds()}
        groups = []
        for group, window in self._windows.items():
            groups.append({"group": group_to_json(group), **window.to_json()})
        content = {
            "format": _FORMAT,
            "fingerprint": self.clf.fingerprint_,
            "window": span,
            "refresh": self.refresh,
            "rule": describe_rule(self.rule),
            "now": self._now,
            "groups": groups,
        }
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(
        cls, clf: CapeClassifier, text: str, *, rule: Any = None
    ) -> RollingCape:
        """Resume a stream where it stopped.

        Parameters
        ----------
        clf : CapeClassifier
            The model of that stream.
        text : str
            Written by its `to_json`.
        rule : str or Rule, default=None
            None is the rule of that stream. JSON holds only the name of a rule of your
            own, so pass such a rule unless it is that of the classifier.

        Returns
        -------
        RollingCape
        """
        check_fitted_cape(clf)
        content = read_format(text, "RollingCape.to_json", _FORMAT)
        fingerprint = content.text("fingerprint")
        if fingerprint != clf.fingerprint_:
            raise ValueError(
                f"clf must be the model of the stream (fingerprint {fingerprint[:12]}),"
                f" got {clf.fingerprint_[:12]}."
            )
        span: Any = content.value("window")
        if isinstance(span, Mapping):
            longest = timedelta.max.total_seconds()
            seconds = content.fields("window").number("seconds", 0, longest)
            span = timedelta(seconds=seconds)
        described = content.value("rule")
        if rule is None and described != describe_rule(rule_of(clf)):
            content.fields("rule").text("name")
            rule = described
        refresh = content.whole("refresh", least=1)
        rolling = cls(clf, span, refresh=refresh, rule=rule)
        if content.value("now") is not None:
            rolling._now = content.whole("now", least=-(1 << 63))
            if not isinstance(span, timedelta):
                content.refuse("now", "null for a window of rows", rolling._now)
        for entry in content.entries("groups"):
            group = group_from_json(entry.value("group"))
            model = clf.model_of(group)
            if group in rolling._windows:
                entry.refuse("group", "a different one", group)
            window = rolling._open_window(group, model)
            window.restore(entry)
            rolling._check_restored(content, entry, window)
            rolling._windows[group] = window
        return rolling

    def __repr__(self) -> str:
        rows = sum(len(window.rows) for window in self._windows.values())
        groups = len(self._windows)
        return f"RollingCape(window={self.window!r}: {rows} rows of {groups} groups)"

    @property
    def _span(self) -> int:
        """The window in nanoseconds."""
        seconds = self.window.total_seconds()  # type: ignore[union-attr]
        return round(seconds * _NANOSECONDS)

    def _check_restored(self, content: Fields, entry: Fields, window: Window) -> None:
        """Raise if no window of this stream can be in this state."""
        times = [row.time for row in window.rows]
        latest = 0
        if isinstance(self.window, timedelta):
            if times and self._now is None:
                content.refuse("now", "the time of the last row", None)
            latest = self._now or 0
        elif len(times) > self.window:
            entry.refuse("rows", f"at most {self.window} rows", f"{len(times)} rows")
        if times and (times != sorted(times) or times[-1] > latest):
            entry.refuse("rows", "rows in the order of their times", times)

    def _forget_old_rows(self) -> None:
        """Let rows go that are too old by now: groups without new rows keep them."""
        if self._now is not None:
            for window in self._windows.values():
                window.forget_until(self._now - self._span)

    def _open_window(self, group: Group, model: GroupModel) -> Window:
        """Return an empty window of a group."""
        cautious = self.clf.drift == "cautious"
        return Window(group, model, cautious=cautious, refresh=self.refresh)

    def _column_codes(self, batch: Batch, reading: Reading) -> list[bytes]:
        """Return the cells of the columns of each row; empty if nobody counts them."""
        columns = reading.model.columns
        n_rows = reading.scores.shape[1]
        if columns is None or self.clf.drift == "ignore":
            return [b""] * n_rows
        rows = Rows(batch.features, reading.index, array=batch.array)
        return [row.tobytes() for row in columns.codes(rows)]

    def _arriving(
        self, reading: Reading, moments: np.ndarray, codes: list[bytes], ids: np.ndarray
    ) -> list[tuple[int, Group, StreamRow]]:
        """Open the window of a group, and list its new rows with their places."""
        if reading.group not in self._windows:
            window = self._open_window(reading.group, reading.model)
            self._windows[reading.group] = window
        index = np.arange(len(moments))[all_if_none(reading.index)]
        rows = zip(
            reading.scores.T.tolist(),
            reading.deciding.T.tolist(),
            moments[index].tolist(),
            codes,
            ids[index].tolist(),
            strict=True,
        )
        arriving = []
        for place, row in zip(index.tolist(), rows, strict=True):
            arriving.append((place, reading.group, StreamRow(*row)))
        return arriving

    def _step(self, window: Window, row: StreamRow) -> bool:
        """Let the oldest rows go and one row in, and decide on that row."""
        if isinstance(self.window, timedelta):
            window.forget_until(row.time - self._span)
        elif len(window.rows) == self.window:
            window.drop_oldest()
        window.add(row)
        window.count_towards_look()
        member = self._choose(window, row.time)
        return window.decide(row, member)

    def _choose(self, window: Window, time: int) -> int:
        """Let the rule pick the member of a window at some time."""
        windows = [window]
        # Other groups have not changed since their last row, and the paper's rule
        # decides group by group.
        if not isinstance(self.rule, Prevalence):
            windows = self._windows_at(time)
        models = {window.group: window.model for window in windows}
        parts = {window.group: window.evidence for window in windows}
        found: dict[Group, GroupDrift] = {}
        for part in windows:
            found |= part.drift
        # Intervals, which labels are compared with, are computed only for them.
        has_labels = any(part.labels for part in windows)
        level = _LEVEL if has_labels else None
        adaptation = adapt(
            models,
            Evidence(self.clf.fingerprint_, parts),
            level=level,
            rule=self.rule,
            drift="cautious" if window.cautious else "ignore",
            drifts=found,
            # The paper's rule looks at no rates.
            correct_rates=not isinstance(self.rule, Prevalence),
        )
        return adaptation.groups[window.group].classifier

    def _windows_at(self, time: int) -> list[Window]:
        """Return the windows that hold rows at some time, in the order of groups."""
        windows = []
        for group in sorted_groups(self._windows):
            window = self._windows[group]
            if isinstance(self.window, timedelta):
                window.forget_until(time - self._span)
            if window.rows:
                windows.append(window)
        return windows

    def _check_ids(self, ids: Any, n_rows: int) -> np.ndarray:
        """Return the ids of rows; None for each row if there are none."""
        names = np.full(n_rows, None, dtype=object)
        if ids is None:
            return names
        given = _as_ids(ids)
        check_same_length(X=names, ids=given)
        self._forget_old_rows()
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
    if not isinstance(ids, Iterable):
        raise ValueError(f"ids must be int or str, got {ids!r}.")
    names = []
    for name in ids:
        if isinstance(name, np.integer):
            name = int(name)
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            raise ValueError(f"ids must be int or str, got {name!r}.")
        names.append(name)
    return names


def _check_window(window: Any) -> int | timedelta:
    """Return the window as a number of rows or a timedelta."""
    if isinstance(window, np.timedelta64):
        # Python would take it for a whole number.
        window = window.astype("timedelta64[us]").item()
    if isinstance(window, timedelta) and window > timedelta(0):
        return window
    if _is_number_of_rows(window):
        return int(window)
    raise ValueError(
        "window must be a whole number of rows, at least 1, or a timedelta above 0, "
        f"got {window!r}."
    )


def _is_number_of_rows(value: Any) -> bool:
    """Tell whether a value is a whole number from 1 on."""
    is_number = isinstance(value, Integral) and not isinstance(value, bool)
    return is_number and int(value) >= 1


def _in_nanoseconds(times: Any) -> np.ndarray:
    """Read times of any kind that numpy and pandas know; no zone means UTC."""
    given = np.ravel(np.asarray(times))
    try:
        if given.dtype.kind in "biufc":
            raise TypeError("numbers")
        moments = pd.to_datetime(given, utc=True, format="ISO8601").as_unit("ns")
    except pd.errors.OutOfBoundsDatetime:
        raise ValueError(
            "times must lie between the years 1678 and 2262, got a time outside."
        ) from None
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"times must be dates and times, got {str(times)[:60]!r}: {error}."
        ) from None
    return moments.tz_localize(None).to_numpy()
