"""A moving window of evidence: rows come one at a time or in small lots, and each is predicted with its window."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from numbers import Integral
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, sorted_groups
from cape._prediction import batch_of, refuse_row_keepers
from cape._validation import all_if_none, check_is_fitted, check_same_length
from cape.adaptation import Adaptation, choose_member
from cape.classifier import CapeClassifier
from cape.evidence import Evidence, GroupEvidence, group_from_json, group_to_json
from cape.histogram import ScoreHistogram

__all__ = ["RollingCape"]


class RollingCape:
    """Predict a stream: each row with the adaptation of the last rows of its group, itself the last of them.

    A window of one row is CAPE-1 of the paper; one that holds a whole batch is, at its last row, CAPE-D. Only scores
    and decisions are kept, never features, so memory is of the order of the window. The adaptation is exact at every
    row: counts are added to and taken from in place.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. A quantifier that needs the rows themselves (one of QuaPy's) is refused.
    window : int or datetime.timedelta
        How many rows of each group, or how far back in time. Rows exactly so old have left the window.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> rolling = RollingCape(clf, window=100)
    >>> new = make_synthetic(500, prevalences=(0.2, 0.8), random_state=1)
    >>> y_pred = rolling.predict(new.data, sensitive_features=new.sensitive_features)
    >>> rolling.evidence()
    Evidence(0: 100 rows, 1: 100 rows)
    >>> again = RollingCape.from_json(clf, rolling.to_json())
    >>> again.evidence() == rolling.evidence()
    True
    """

    def __init__(self, clf: CapeClassifier, window: int | timedelta):
        check_is_fitted(clf)
        refuse_row_keepers(clf, "RollingCape")
        if isinstance(window, np.timedelta64):  # which Python takes for a whole number
            window = window.astype("timedelta64[us]").item()
        if isinstance(window, timedelta):
            good = window > timedelta(0)
        else:
            good = (
                isinstance(window, Integral)
                and not isinstance(window, bool)
                and window >= 1
            )
        if not good:
            raise ValueError(
                f"window must be a number of rows from 1 on, or a timedelta above 0, got {window!r}."
            )
        self.clf = clf
        self.window = window
        self._windows: dict[Group, _Window] = {}
        self._now: int | None = None  # the latest time seen, in nanoseconds

    def predict(
        self, X: Any, *, sensitive_features: Any = None, times: Any = None
    ) -> np.ndarray:
        """Predict rows in the order in which they come; they join the window.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            One row or a few. Wrong input changes nothing.
        sensitive_features : array-like or table of n_samples rows, default=None
            As in ``clf.fit``.
        times : array-like of datetime of shape (n_samples,), default=None
            When the rows came, never earlier than those before; for a window of time, and for that alone.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self.clf, X, sensitive_features)
        parts, n_rows = batch.parts(), len(batch)
        moments = self._check_times(times, n_rows)
        read = [part.model.read(part.rows) for part in parts]
        positive = np.zeros(n_rows, dtype=bool)
        for part, (scores, decisive) in zip(parts, read, strict=True):
            if part.group not in self._windows:
                self._windows[part.group] = _Window(part.model)
            window = self._windows[part.group]
            rows = all_if_none(part.rows.rows)
            each = zip(
                scores.T.tolist(),
                decisive.T.tolist(),
                moments[rows].tolist(),
                strict=True,
            )
            positive[rows] = [self._step(window, *row) for row in each]
        if n_rows and times is not None:
            self._now = int(moments[-1])
        return self.clf.classes_[positive.astype(np.intp)]

    def evidence(self) -> Evidence:
        """Evidence of the rows in the window now."""
        if self._now is not None:
            for window in self._windows.values():
                window.forget_before(self._now - self._span)
        groups = [
            group for group in sorted_groups(self._windows) if self._windows[group].rows
        ]
        return Evidence(
            self.clf.fingerprint_,
            {group: self._windows[group].copy() for group in groups},
        )

    def adapt(self, level: float = 0.95) -> Adaptation:
        """What the window tells now: the adaptation with which the next row would nearly be predicted."""
        return self.clf.adapt(evidence=self.evidence(), level=level)

    def to_json(self) -> str:
        """The state as JSON text: scores and decisions of the rows in the window."""
        span = (
            {"seconds": self.window.total_seconds()}
            if isinstance(self.window, timedelta)
            else int(self.window)
        )
        groups = [
            {"group": group_to_json(group), "rows": [list(row) for row in window.rows]}
            for group, window in self._windows.items()
        ]
        content = {
            "fingerprint": self.clf.fingerprint_,
            "window": span,
            "now": self._now,
            "groups": groups,
        }
        return json.dumps(content)

    @classmethod
    def from_json(cls, clf: CapeClassifier, text: str) -> RollingCape:
        """Go on where the stream stopped whose `to_json` wrote the text; ``clf`` is the model it had."""
        check_is_fitted(clf)
        try:
            content = json.loads(text)
            window, fingerprint = content["window"], str(content["fingerprint"])
            rolling = cls(
                clf, timedelta(**window) if isinstance(window, Mapping) else window
            )
            rolling._now = content["now"]
            rows_of = {
                group_from_json(entry["group"]): entry["rows"]
                for entry in content["groups"]
            }
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"text must be a stream's JSON, as to_json writes it, got {str(text)[:60]!r}."
            ) from error
        if fingerprint != clf.fingerprint_:
            raise ValueError(
                f"clf must be the model of the stream (fingerprint {fingerprint[:12]}), got {clf.fingerprint_[:12]}."
            )
        for group, rows in rows_of.items():
            window = rolling._windows[group] = _Window(clf.model_of(group))
            for scores, read, time in rows:
                window.add(scores, read, time)
        return rolling

    def __repr__(self) -> str:
        rows = sum(len(window.rows) for window in self._windows.values())
        return f"RollingCape(window={self.window!r}: {rows} rows of {len(self._windows)} groups)"

    @property
    def _span(self) -> int:
        """The window in nanoseconds."""
        return round(self.window.total_seconds() * 1e9)  # type: ignore[union-attr]

    def _step(self, window: _Window, scores: list[int], read: Any, time: int) -> bool:
        """Let the oldest rows go and one in, and decide on it."""
        if isinstance(self.window, timedelta):
            window.forget_before(time - self._span)
        elif len(window.rows) == self.window:
            window.drop()
        window.add(scores, read, time)
        return window.decide(read)

    def _check_times(self, times: Any, n_rows: int) -> np.ndarray:
        """Times in nanoseconds; zeros for a window of rows."""
        if not isinstance(self.window, timedelta):
            if times is not None:
                raise ValueError(
                    f"times must be None for a window of rows (window={self.window!r}), got times."
                )
            return np.zeros(n_rows, dtype=np.int64)
        if times is None:
            raise ValueError(
                f"times must be given for a window of time (window={self.window!r}), got None."
            )
        moments = _in_nanoseconds(times)
        check_same_length(X=np.empty(n_rows), times=moments)
        if np.isnat(moments).any():
            raise ValueError(
                f"times must be known for every row, got {np.isnat(moments).sum()} missing."
            )
        moments = moments.astype(np.int64)
        if (np.diff(moments) < 0).any() or (
            n_rows and self._now is not None and moments[0] < self._now
        ):
            raise ValueError(
                "times must never be earlier than those of the rows before, got rows that go back."
            )
        return moments


def _in_nanoseconds(times: Any) -> np.ndarray:
    """Times of any kind that numpy and pandas know; those without a zone are taken for UTC."""
    given = np.ravel(np.asarray(times))
    if given.dtype.kind != "M":
        import pandas as pd

        try:
            if given.dtype.kind in "biufc":
                raise TypeError("numbers")
            given = (
                pd.to_datetime(given, utc=True, format="ISO8601")
                .tz_localize(None)
                .to_numpy()
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"times must be dates and times, got {str(times)[:60]!r}: {error}."
            ) from None
    moments = given.astype("datetime64[ns]")
    if (moments.astype(given.dtype) != given)[~np.isnat(given)].any():
        raise ValueError("times must lie between the years 1678 and 2262, got others.")
    return moments


class _Window:
    """The last rows of one group, and their evidence, which is changed in place as rows come and go."""

    def __init__(self, model: GroupModel):
        self.model = model
        self.rows: deque[tuple[list[int], Any, int]] = (
            deque()
        )  # scores, what members decide by, time
        self.found = model.no_evidence()
        self._edges = (
            model.edges.tolist()
        )  # to look one number up, a list is faster than an array

    def add(self, scores: list[int], read: Any, time: int) -> None:
        self.rows.append((scores, read, time))
        self._count(scores, read, 1)

    def drop(self) -> None:
        scores, read, _ = self.rows.popleft()
        self._count(scores, read, -1)

    def forget_before(self, time: int) -> None:
        while self.rows and self.rows[0][2] <= time:
            self.drop()

    def decide(self, read: Any) -> bool:
        member = choose_member(self.model, self.found)
        return bool(self.model.pool.decide_by(np.array(read)[..., None], member)[0])

    def copy(self) -> GroupEvidence:
        return self.found + self.model.no_evidence()

    def _count(self, scores: list[int], read: Any, sign: int) -> None:
        for score in scores:
            self._count_score(self.found.scores, score, sign)
        tally = self.found.tally
        if isinstance(tally, ScoreHistogram):
            self._count_score(tally, read, sign)
        elif tally is not None:
            tally += sign * np.array(read, dtype=np.int64)
        together = self.found.together
        if together is not None:
            together += sign * np.asarray(
                self.model.together(np.array(scores)[:, None])
            )

    def _count_score(self, histogram: ScoreHistogram, score: int, sign: int) -> None:
        cell = bisect_left(self._edges, score)
        histogram.counts[cell] += sign
        histogram.sums[cell] += sign * score
