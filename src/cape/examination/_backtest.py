"""Would this have worked on your own past? Train, wait and compare, period by period.

Every period with labels is a batch whose truth is known by now. The classifier is
fitted on what was there before, adapted to the period without its labels, and compared.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import stdtrit
from sklearn.base import clone

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate
from cape.base._groups import (
    Group,
    Groups,
    combined_columns,
    split_columns,
    split_groups,
)
from cape.base._json_fields import strict_json
from cape.base._limits import FEWEST_ROWS_TO_ADAPT
from cape.base._numbers import unique_names
from cape.base._validation import (
    admit,
    check_binary_labels,
    check_same_length,
    pickable,
    take_rows,
    unequal_weights,
)
from cape.drift._past import Past
from cape.examination._examination import examine
from cape.examination._needed import rows_to_label
from cape.examination._score import beside_truth, totals, totals_of_pairs
from cape.shown import _backtest as words
from cape.shown import _plot
from cape.shown._notebook import InNotebook

_FREQUENCIES = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}

_FEWEST_OF_A_CLASS = 2
"""Rows of each class that a period needs: a learner is tested on other rows than those
that it was trained on."""

_YEAR_BEHIND = re.compile(r"\D*0+\D.*(?<!0)0000(?!0)")
"""The form of a text in which a year stands behind a day, a month or a quarter."""

_LEVEL = 0.95


@dataclass(frozen=True)
class History:
    """Labelled rows in periods.

    Parameters
    ----------
    X : table
        Without the column of the period.
    labels : Categorical
    positive : ndarray of bool
    groups : Groups
    sensitive_features : array-like, table or None
    weights : ndarray or None
    place : ndarray of int
        Place of the period of each row in ``periods``; -1 for rows that are left out.
    periods : list
        Those with enough labelled rows, in order.
    skipped : list of dict
        What is left out, and why.
    """

    X: Any
    labels: pd.Categorical
    positive: np.ndarray
    groups: Groups
    sensitive_features: Any
    weights: np.ndarray | None
    place: np.ndarray
    periods: list[Any]
    skipped: list[dict[str, Any]]

    def part(self, rows: np.ndarray) -> dict[str, Any]:
        """Return rows of X and their labels, and groups and weights beside X."""
        z = self.sensitive_features
        return {
            "X": take_rows(self.X, rows),
            "y": self.labels[rows],
            "sensitive_features": None if z is None else take_rows(z, rows),
            "sample_weight": None if self.weights is None else self.weights[rows],
        }

    def window(self, newest: int, train: str | int) -> np.ndarray:
        """Return the rows to train on, given the newest period that is known."""
        oldest = newest if train == "last" else 0
        if isinstance(train, int):
            oldest = newest - train + 1
        return np.flatnonzero((self.place >= oldest) & (self.place <= newest))

    def shares(self, rows: np.ndarray) -> dict[Group, float]:
        """Return the share of positives of each group."""
        codes = self.groups.codes[rows]
        weights = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        found = {}
        for code in np.unique(codes):
            here = codes == code
            share = np.average(self.positive[rows][here], weights=weights[here])
            found[self.groups.keys[code]] = float(share)
        return found

    def predictable(self, clf: Any, old: np.ndarray, predicted: int) -> np.ndarray:
        """Return the rows of a period whose groups can be predicted."""
        codes, keys = self.groups.codes, self.groups.keys
        new = np.flatnonzero(self.place == predicted)
        is_known = np.isin(codes[new], codes[old])
        if clf.unknown_groups == "pooled" or is_known.all():
            return new
        unseen = [keys[code] for code in np.unique(codes[new[~is_known]])]
        note = {"why": "new_groups", "groups": [*unique_names(unseen).values()]}
        n_rows = int((~is_known).sum())
        self.skipped.append({"period": self.periods[predicted], "rows": n_rows} | note)
        return new[is_known]


class Backtest(InNotebook):
    """Result of `backtest`: what would have been said, beside what came.

    Parameters
    ----------
    rows : list of dict
        One for each transition and group.
    pairs : list of DataFrame
        PE of the pairs of each transition.
    past : Past
        What was learned.
    newest : ndarray of int
        Rows of X to train on for the next period.
    about : mapping
        How it was made: ``train``, ``horizon``, ``labels`` and ``skipped``.

    Attributes
    ----------
    past : Past
        What was learned of moves and drifts; ``CapeClassifier(past=...)`` takes it.
    newest : ndarray of int
        Rows of X to train on for the next period.

    Examples
    --------
    >>> from cape import backtest
    >>> years = np.repeat([2019, 2020, 2021, 2022], 500)
    >>> result = backtest(
    ...     CapeClassifier(LogisticRegression(), random_state=0),
    ...     train.data,
    ...     train.target,
    ...     period=years,
    ...     sensitive_features=train.sensitive_features,
    ... )
    >>> result.summary["transitions"], len(result.table())
    (3, 6)
    """

    def __init__(
        self,
        rows: list[dict[str, Any]],
        pairs: list[pd.DataFrame],
        past: Past,
        newest: np.ndarray,
        about: Mapping[str, Any],
    ):
        self.past = past
        self.newest = newest
        self._rows = rows
        self._pairs = pairs
        self._about = about

    def table(self) -> pd.DataFrame:
        """Return what was said, and what came.

        Returns
        -------
        DataFrame
            One row for each period and group: trained_on, the fields of
            `Examination.score`, with the estimate in three columns, and told, the
            action in words. With ``labels``: labelled, labels_estimate, labels_low,
            labels_high, labels_held and labels_off.
        """
        return pd.DataFrame(self._rows).set_index(["period", "group"])

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers that are shown, as JSON can hold them.

        The totals of `Examination.score` over all rows; ``difference``, by how much
        the estimate was farther off than the last share, with its interval, for which
        groups of one period are not independent; ``verdict``, "better", "worse",
        "as_good" or "unclear"; the totals of each group in ``groups``; the ``worst``
        row; and what was left out (``skipped``).
        """
        table = pd.DataFrame(self._rows)
        difference = mean_by_cluster(table["off"] - table["last_off"], table["period"])
        groups = []
        for name, part in table.groupby("group", sort=False):
            records: list[Any] = part.to_dict("records")
            groups.append({"group": name, **totals(records)})
        content = {
            **self._about,
            "transitions": int(table["period"].nunique()),
            "first": self._rows[0]["trained_on"],
            "last": self._rows[-1]["period"],
            **totals(self._rows),
            **totals_of_pairs(self._pairs),
            "difference": difference.to_json(),
            "verdict": _verdict(difference),
            "groups": groups,
            "worst": self._rows[int(table["off"].to_numpy().argmax())],
        }
        if "labels_off" in table:
            content["labels_off"] = float(table["labels_off"].mean())
            content["labels_held"] = int(table["labels_held"].sum())
        return strict_json(content)

    def to_json(self) -> str:
        """Write the summary and the rows of the table as JSON text."""
        content = {**self.summary, "rows": strict_json(self._rows)}
        return json.dumps(content, indent=1, allow_nan=False)

    def plot(self) -> Any:
        """Draw truth, interval and last share over time, a panel for each group.

        Returns
        -------
        altair chart
        """
        frame = pd.DataFrame(self._rows)
        frame = frame.assign(period=frame["period"].astype(str))
        return _plot.backtested(frame, title=words.PICTURE, key=words.KEY)

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        summary = self.summary
        rows = [words.group_row(group) for group in summary["groups"]]
        names = pd.Index([g["group"] for g in summary["groups"]], name="group")
        table = pd.DataFrame(rows, index=names)
        return words.headline(summary), table, words.details(summary)


def backtest(
    clf: Any,
    X: Any,
    y: Any,
    *,
    period: Any,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    freq: str | None = None,
    train: str | int = "last",
    horizon: int = 1,
    labels: int | None = None,
    n_jobs: int | None = None,
    on_transition: Callable[[int, int], None] | None = None,
) -> Backtest:
    """Show how far off CAPE would have been on your own past.

    For every period with labels, the classifier is cloned, fitted on what came before,
    adapted to the period without its labels, and compared with them. What is learned
    of moves and drifts is used for later periods alone, as it would have been then.

    Parameters
    ----------
    clf : CapeClassifier
        Unfitted, or fitted: it is cloned. With `cape.Scores`, your model as it is.
    X : table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels. Rows without one are left out.
    period : str, int or array-like of shape (n_samples,)
        Column of X, which is never a feature, or the period of each row: numbers,
        dates, text of one form that sorts, or an ordered categorical.
    sensitive_features : array-like or table of n_samples rows, default=None
        As in `CapeClassifier.fit`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, in training, batches and truth.
    freq : {"year", "quarter", "month", "week", "day"}, default=None
        Length of the periods, if ``period`` holds dates.
    train : "last", "all" or int, default="last"
        Train on the last period, on all before, or on the last so many.
    horizon : int, default=1
        How many periods ahead is predicted: 2 if labels arrive a period late.
    labels : int, default=None
        Draw so many rows of each group and period to label, as `cape.rows_to_label`
        does, and show the estimate with these labels beside the one without.
    n_jobs : int, default=None
        Transitions to fit at the same time. The result does not depend on it.
    on_transition : callable, default=None
        Called with the number of transitions done and of all.

    Returns
    -------
    Backtest

    Notes
    -----
    If you choose settings by their backtest, its record is better than what you will
    see later. Keep the last periods out of the choice.

    Warnings of fits and batches are not issued: the result shows what came of them.

    Examples
    --------
    >>> from cape import backtest
    >>> halves = np.repeat(["2021-H1", "2021-H2"], 1000)
    >>> groups = train.sensitive_features
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> result = backtest(
    ...     clf, train.data, train.target, period=halves, sensitive_features=groups
    ... )
    >>> result.table()["held"].tolist()
    [True, True]
    """
    counts: dict[str, Any] = {"horizon": horizon, "train": train, "labels": labels}
    for name, value in counts.items():
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (is_whole and value >= 1) and value not in _OTHERWISE[name]:
            others = "".join(f"{other!r}, " for other in _OTHERWISE[name])
            wanted = f"must be {others}or a whole number of at least 1"
            raise ParameterError(name, f"{wanted}, got {value!r}.")
    history = _read(clf, X, y, period, sensitive_features, sample_weight, freq)
    jobs = _plan(clf, history, train, horizon)
    parallel = Parallel(n_jobs, return_as="generator")
    fitted: Iterator[Any] = parallel(
        delayed(_fit)(clone(clf), history.part(old), history.part(new), labels=labels)
        for _, _, old, new in jobs
    )
    names = unique_names(history.groups.keys, combined_columns(clf.group_columns))
    rows = []
    pairs = []
    nothing = Past()
    if clf.past is not None:
        # What it has learned may be of these very periods.
        nothing = replace(clf.past, told=(), transitions=0)
    learned: dict[int, Past] = {}
    for newest, predicted, _, new in jobs:
        model, evidence, labelled = next(fitted)
        # Only what was known when the model was trained: its labels had come by then.
        known = [past for place, past in learned.items() if place <= newest]
        model.past = sum(known, nothing)
        truths = history.shares(new)
        with warnings.catch_warnings(action="ignore"):
            seen = examine(model, evidence=evidence)
            corrected = None if labels is None else model.adapt(evidence=labelled)
        scored = seen.score_shares(truths)
        pairs.append(scored.pairs())
        for group, score in scored.groups.items():
            row = {
                "period": history.periods[predicted],
                "group": names[group],
                "trained_on": history.periods[newest],
                **score,
                "told": seen.action.groups[group].text,
            }
            if corrected is not None:
                adapted = corrected.groups[group]
                row["labelled"] = adapted.labels.rows
                corrected_score = beside_truth(
                    adapted.estimate, score["truth"], adapted.rows
                )
                for name, value in corrected_score.items():
                    row[f"labels_{name}"] = value
            rows.append(row)
        if seen.adaptation.posterior is not None:
            learned[predicted] = seen.adaptation.posterior.learn(truths)
        if on_transition is not None:
            on_transition(len(pairs), len(jobs))
    about = {
        "train": train,
        "horizon": horizon,
        "labels": labels,
        "tolerance": scored.tolerance,
        "skipped": history.skipped,
    }
    newest_rows = history.window(len(history.periods) - 1, train)
    past = sum([*learned.values()], nothing)
    return Backtest(rows, pairs, past, newest_rows, about)


_OTHERWISE: dict[str, tuple[Any, ...]]
_OTHERWISE = {"horizon": (), "train": ("last", "all"), "labels": (None,)}
"""What numbers of periods and labels may be otherwise."""


def _read(
    clf: Any,
    X: Any,
    y: Any,
    period: Any,
    sensitive_features: Any,
    sample_weight: Any,
    freq: str | None,
) -> History:
    """Put labelled rows in order, and leave out periods that say nothing."""
    X = pickable(X)
    is_column = isinstance(period, (str, Integral))
    given = None if is_column else period
    check_same_length(X=X, y=y, sensitive_features=sensitive_features, period=given)
    weights = unequal_weights(sample_weight, X)
    if is_column:
        X, taken = split_columns(X, period, "period")
        period = taken.iloc[:, 0] if hasattr(taken, "iloc") else taken[:, 0]
    codes, names = in_order(period, freq)
    y = pd.Series(admit("y", y)).reset_index(drop=True).infer_objects()
    known = y.notna().to_numpy()
    classes, is_positive = check_binary_labels(y[known].infer_objects())
    positive = np.zeros(len(y), dtype=bool)
    positive[known] = is_positive
    # The greater label is the positive one in every period.
    kind = pd.CategoricalDtype(classes.tolist(), ordered=True)
    labels = pd.Categorical.from_codes(positive.astype(int), dtype=kind)
    _, groups = split_groups(
        X, sensitive_features, clf.group_columns, clf.missing_groups
    )
    place = np.full(len(y), -1)
    # Rows of weight 0 are as if they were not there.
    counts = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    periods: list[Any] = []
    skipped = []
    for code, name in enumerate(names):
        is_here = codes == code
        rows = np.flatnonzero(is_here & known & counts)
        n_without = int((is_here & ~known).sum())
        rarer = int(min(positive[rows].sum(), (~positive[rows]).sum()))
        why = ""
        if n_without:
            why = "missing" if len(rows) else "no_labels"
        if len(rows) and rarer < _FEWEST_OF_A_CLASS:
            why = "one_class"
        if len(rows) < FEWEST_ROWS_TO_ADAPT and why != "no_labels":
            why = "few_rows"
        if why:
            n_rows = n_without if why in ("missing", "no_labels") else len(rows)
            skipped.append({"period": name, "why": why, "rows": n_rows})
        if why in ("", "missing"):
            place[rows] = len(periods)
            periods.append(name)
    return History(
        X,
        labels,
        positive,
        groups,
        sensitive_features,
        weights,
        place,
        periods,
        skipped,
    )


def in_order(period: Any, freq: str | None) -> tuple[np.ndarray, list[Any]]:
    """Return the place in time of each row, and the periods in order.

    Parameters
    ----------
    period : array-like of shape (n_samples,)
    freq : {"year", "quarter", "month", "week", "day"} or None

    Returns
    -------
    codes : ndarray of int of shape (n_samples,)
    periods : list

    Examples
    --------
    >>> in_order(["9", "10", "9"], None)
    (array([0, 1, 0]), [9, 10])
    >>> in_order(["2024-05-01", "2024-02-29"], "quarter")
    (array([1, 0]), ['2024Q1', '2024Q2'])
    """
    values = pd.Series(admit("period", period)).reset_index(drop=True)
    if values.isna().any():
        problem = f"must have a value in every row, got {values.isna().sum()} missing"
        raise ParameterError("period", f"{problem}. Leave these rows out.")
    if freq is not None:
        values = _dates(values, freq)
    elif values.dtype.kind == "O" and not getattr(values.dtype, "ordered", False):
        values = _sortable(pd.Series(values.to_numpy(dtype=object)))
    codes, distinct = pd.factorize(values, sort=True)
    periods = []
    for value in distinct.tolist():
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        plain = isinstance(value, (str, int, float))
        periods.append(value if plain else str(value).removesuffix(" 00:00:00"))
    return codes, periods


def _dates(values: pd.Series, freq: str) -> pd.Series:
    """Return the periods of dates."""
    if freq not in _FREQUENCIES:
        accepted = ", ".join(map(repr, _FREQUENCIES))
        raise ParameterError("freq", f"must be one of {accepted}, got {freq!r}.")
    try:
        # A number would be nanoseconds since 1970.
        texts = values.astype(str) if values.dtype.kind in "iuf" else values
        dates = pd.to_datetime(texts, format="ISO8601").dt.tz_localize(None)
    except (ValueError, TypeError, AttributeError) as error:
        why = str(error).split(". ")[0]
        raise ParameterError(
            "period",
            f"must hold dates such as 2024-03-31, since freq is given: {why}.",
        ) from None
    return dates.dt.to_period(_FREQUENCIES[freq])


def _sortable(values: pd.Series) -> pd.Series:
    """Return values whose order is that of time, or raise."""
    kinds = values.map(type).drop_duplicates()
    if len(kinds) > 1:
        found = " and ".join(map(repr, values[kinds.index]))
        raise ParameterError("period", f"must hold values of one kind, got {found}.")
    if kinds[0] is not str:
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.notna().all():
        return numbers
    forms = values.str.replace(r"\d", "0", regex=True)
    examples = values[~forms.duplicated()].tolist()
    # 03/2024 stands before 04/2020, Apr before Jan, and wave 10 before wave 9.
    if len(examples) > 1 or _YEAR_BEHIND.match(forms[0]):
        raise ParameterError(
            "period",
            "must be text that sorts, in one form that begins with the year, such as "
            f"2024-03, got {', '.join(map(repr, examples[:2]))}. Pass dates, or an "
            "ordered categorical.",
        )
    return values


def _plan(
    clf: Any, history: History, train: str | int, horizon: int
) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """Return the newest period to train on, that to predict, and the rows of both."""
    n_periods = len(history.periods)
    # With "all", any number of periods will do.
    length = train if isinstance(train, int) else 1
    jobs = []
    for predicted in range(horizon + length - 1, n_periods):
        newest = predicted - horizon
        old = history.window(newest, train)
        new = history.predictable(clf, old, predicted)
        if len(new) >= FEWEST_ROWS_TO_ADAPT:
            jobs.append((newest, predicted, old, new))
    if not jobs:
        raise ParameterError(
            "period",
            f"must give {horizon + length} periods with {FEWEST_ROWS_TO_ADAPT} "
            f"labelled rows or more of both classes, got {n_periods}. "
            f"{words.left_out_text(history.skipped)}",
        )
    return jobs


def _fit(
    clf: Any, old: Mapping[str, Any], new: dict[str, Any], *, labels: int | None
) -> tuple[Any, Any, Any]:
    """Fit a model, and count a batch without its labels, and with some of them."""
    y = new.pop("y")
    with warnings.catch_warnings(action="ignore"):
        clf.fit(**old)
        evidence = clf.evidence(**new)
        if labels is None:
            return clf, evidence, None
        n_rows = [part.rows for part in evidence.groups.values()]
        n = int(np.minimum(n_rows, labels).sum())
        drawn = rows_to_label(clf, **new, n=n)
        some = np.full(len(y), None, dtype=object)
        some[drawn.rows] = np.asarray(y)[drawn.rows]
        labelled = clf.evidence(
            **new, y=some, inclusion_probability=drawn.inclusion_probability
        )
    return clf, evidence, labelled


def mean_by_cluster(values: pd.Series, clusters: pd.Series) -> Estimate:
    """Return a mean with its interval, for values that are alike within clusters.

    Parameters
    ----------
    values : Series
    clusters : Series
        Groups of one period share its surprises: they are one observation, not several.

    Returns
    -------
    Estimate
        Without an interval if there is one cluster.

    Examples
    --------
    >>> mean_by_cluster(pd.Series([1.0, 1.0, 3.0, 3.0]), pd.Series([1, 1, 2, 2]))
    Estimate(value=2.0, low=-10.706..., high=14.706...)
    """
    mean = float(values.mean())
    sums = (values - mean).groupby(clusters).sum()
    n_clusters = len(sums)
    if n_clusters < 2:
        return Estimate(mean)
    # The sandwich estimator, with its correction for few clusters.
    variance = (sums**2).sum() / len(values) ** 2 * n_clusters / (n_clusters - 1)
    t = float(stdtrit(n_clusters - 1, (1 + _LEVEL) / 2))
    room = t * float(variance) ** 0.5
    return Estimate(mean, mean - room, mean + room)


def _verdict(difference: Estimate) -> str:
    """Say whether the estimate was nearer than the last share."""
    if difference.is_below(0):
        return "better"
    if difference.is_above(0):
        return "worse"
    return "as_good" if difference.value >= 0 else "unclear"
