"""Windows of rows and of time against a recomputation at every row."""

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.stream import RollingCape

N = 30
TRAIN = make_synthetic(400, random_state=0)
NEW = make_synthetic(N, prevalences=(0.2, 0.8), random_state=1)
X, z = NEW.data.to_numpy(), NEW.sensitive_features.to_numpy()
START = np.datetime64("2026-01-01", "ns")
LEARNERS = {
    "linear": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), GaussianNB()),
}
CASES = [
    ("linear", "resampled", "refit"),
    ("linear", "resampled", "folds"),
    ("linear", "threshold", "refit"),
    ("pipeline", "threshold", "folds"),
]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def clf(request):
    name, pool, scores = request.param
    clf = CapeClassifier(
        LEARNERS[name],
        pool=pool,
        scores=scores,
        cv=2,
        prevalences=4,
        preprocessing="once",
        unknown_groups="pooled",
        random_state=0,
    )
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


def recomputed(clf, groups, in_window):
    """Predict each row as the last of a batch, the rows that ``in_window`` gives."""
    return np.array(
        [
            clf.predict(X[rows], sensitive_features=groups[rows])[-1]
            for rows in (in_window(row) for row in range(len(groups)))
        ]
    )


def last_rows(groups, n):
    return lambda row: np.flatnonzero(groups[: row + 1] == groups[row])[-n:]


def last_hours(groups, hours, n):
    def in_window(row):
        recent = (hours[: row + 1] > hours[row] - n) & (
            groups[: row + 1] == groups[row]
        )
        return np.flatnonzero(recent)

    return in_window


@pytest.mark.parametrize("window", [1, 6, 100])
def test_every_row_of_a_window_of_rows_is_that_of_its_batch(clf, window):
    groups = np.where(np.arange(N) % 5 == 4, 7, z)  # 7 was not in training
    found = RollingCape(clf, window).predict(X, sensitive_features=groups)
    np.testing.assert_array_equal(
        found, recomputed(clf, groups, last_rows(groups, window))
    )


@settings(max_examples=3)
@given(
    gaps=st.lists(st.integers(0, 4), min_size=N, max_size=N),
    window=st.integers(1, 9),
    data=st.data(),
)
def test_every_row_of_a_window_of_time_is_that_of_its_batch(clf, gaps, window, data):
    hours = np.cumsum(gaps)
    cuts = sorted(data.draw(st.lists(st.integers(0, N), max_size=4)))
    rolling, found = RollingCape(clf, timedelta(hours=window)), []
    for rows in np.split(np.arange(N), cuts):
        times = START + hours[rows] * np.timedelta64(1, "h")
        found.append(rolling.predict(X[rows], sensitive_features=z[rows], times=times))
        rolling = RollingCape.from_json(clf, rolling.to_json())
    expected = recomputed(clf, z, last_hours(z, hours, window))
    np.testing.assert_array_equal(np.concatenate(found), expected)
    recent = hours > hours[-1] - window
    assert rolling.evidence() == clf.evidence(X[recent], sensitive_features=z[recent])


@pytest.fixture(scope="module")
def plain():
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


@pytest.mark.parametrize(
    "kind",
    [
        list,
        pd.Series,
        pd.DatetimeIndex,
        lambda times: [pd.Timestamp(t).to_pydatetime() for t in times],
        lambda times: times.astype("datetime64[s]"),
        lambda times: [str(t) for t in times],
    ],
    ids=["list", "series", "index", "datetime", "seconds", "text"],
)
def test_times_of_any_kind_are_the_same_times(plain, kind):
    times = START + np.arange(N) * np.timedelta64(1, "h")
    rolling, same = (RollingCape(plain, timedelta(hours=5)) for _ in range(2))
    expected = rolling.predict(X, sensitive_features=z, times=times)
    np.testing.assert_array_equal(
        same.predict(X, sensitive_features=z, times=kind(times)), expected
    )
    assert same.to_json() == rolling.to_json()


def test_a_row_just_as_old_as_the_window_has_left_it(plain):
    rolling = RollingCape(plain, timedelta(microseconds=1))
    moments = START + np.array([0, 999, 1000, 1999]) * np.timedelta64(1, "ns")
    held = []
    for moment in moments:
        rolling.predict(X[:1], sensitive_features=[0], times=[moment])
        held.append(rolling.evidence().rows[0])
    assert held == [1, 2, 2, 2]


@settings(max_examples=15)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(1, 8))
def test_the_window_never_holds_more_than_its_rows(plain, sizes, window):
    rolling, seen = RollingCape(plain, window), np.empty(0, dtype=np.int64)
    for size in sizes:
        rows = np.arange(len(seen), len(seen) + size) % N
        rolling.predict(X[rows], sensitive_features=z[rows])
        seen = np.concatenate([seen, rows])
        kept = np.concatenate([seen[z[seen] == group][-window:] for group in (0, 1)])
        assert rolling.evidence() == plain.evidence(X[kept], sensitive_features=z[kept])


def test_evidence_given_out_does_not_move_with_the_window(clf):
    rolling = RollingCape(clf, window=5)
    rolling.predict(X[:20], sensitive_features=z[:20])
    before = rolling.evidence()
    text = before.to_json()
    rolling.predict(X[20:], sensitive_features=z[20:])
    assert before.to_json() == text != rolling.evidence().to_json()


def test_an_error_late_in_a_lot_leaves_the_window_of_time_as_it_was(plain):
    rolling = RollingCape(plain, timedelta(hours=3))
    times = START + np.arange(N) * np.timedelta64(1, "h")
    rolling.predict(X[:10], sensitive_features=z[:10], times=times[:10])
    before = json.loads(rolling.to_json())
    back = np.r_[times[10:19], times[0]]
    spoilt = np.vstack([X[10:19], np.full((1, X.shape[1]), np.nan)])
    for bad in (
        {"X": X[10:20], "sensitive_features": z[10:20], "times": back},
        {"X": spoilt, "sensitive_features": z[10:20], "times": times[10:20]},
        {"X": X[10:20], "sensitive_features": [*z[10:19], 7], "times": times[10:20]},
    ):
        with pytest.raises(ValueError):
            rolling.predict(**bad)
        assert json.loads(rolling.to_json()) == before
    again = rolling.predict(X[10:20], sensitive_features=z[10:20], times=times[10:20])
    expected = recomputed(plain, z[:20], last_hours(z[:20], np.arange(20), 3))
    np.testing.assert_array_equal(again, expected[10:])
