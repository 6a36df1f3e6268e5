"""A moving window is CAPE-1 at one end, CAPE-D at the other, and a batch in between."""

import copy
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
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
from cape.watch._stream import RollingCape

# Rows are compared with the same rows as batches of their own.
pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")

TRAIN = make_synthetic(400, random_state=0)
NEW = make_synthetic(240, prevalences=(0.2, 0.8), random_state=1)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
IDS = [f"row {i}" for i in range(len(X))]
HOURS = np.datetime64("2026-01-01T00", "ns") + np.arange(len(X)) * np.timedelta64(
    1, "h"
)


N = 30
FEW, OF_FEW = X[:N], z[:N]
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


def fitted(learner="linear", **settings):
    clf = CapeClassifier(
        LEARNERS[learner], cv=2, prevalences=4, random_state=0, **settings
    )
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def clf(request):
    learner, pool, scores = request.param
    return fitted(
        learner,
        pool=pool,
        scores=scores,
        preprocessing="once",
        unknown_groups="pooled",
    )


@pytest.mark.slow
def test_a_window_of_one_row_is_cape_1(clf):
    y_pred = RollingCape(clf, window=1).predict(X, sensitive_features=z)
    np.testing.assert_array_equal(
        y_pred, clf.predict_individually(X, sensitive_features=z)
    )


def test_a_window_that_holds_the_batch_is_cape_d(clf):
    rolling = RollingCape(clf, window=len(X))
    y_pred = rolling.predict(X, sensitive_features=z)
    np.testing.assert_array_equal(y_pred, clf.predict(X, sensitive_features=z))
    assert rolling.evidence() == clf.evidence(X, sensitive_features=z)
    assert rolling.adapt() == clf.adapt(X, sensitive_features=z)


def predicted_with(clf, groups, held, call):
    """Predict the rows of a call as a batch of them and the rows before."""
    of_call = np.isin(groups[held], groups[call])
    batch = held[of_call]
    y_pred = clf.predict(X[batch], sensitive_features=groups[batch])
    return y_pred[np.isin(batch, call)]


@given(
    cuts=st.lists(st.integers(0, len(X)), max_size=6),
    window=st.integers(1, 40),
)
@settings(max_examples=12, deadline=None)
def test_each_call_is_a_batch_whether_or_not_the_stream_was_stopped(
    shared_clf, cuts, window
):
    rolling = RollingCape(shared_clf, window, refresh=1)
    for call in np.split(np.arange(len(X)), sorted(cuts)):
        y_pred = rolling.predict(X[call], sensitive_features=z[call])
        expected = []
        # More rows than a window are decided window by window.
        for part in np.split(call, range(window, len(call), window)):
            if len(part):
                held = window_rows(part[-1] + 1, window)
                expected += predicted_with(shared_clf, z, held, part).tolist()
        assert y_pred.tolist() == expected
        rolling = reopened(rolling)
    held = window_rows(len(X), window)
    assert rolling.evidence() == evidence_of(shared_clf, held, {})


@pytest.fixture(scope="module")
def shared_clf():
    # SPA is the quickest quantifier row by row.
    return fitted(pool="resampled", quantifier="spa")


def test_a_stream_of_time_is_restored(shared_clf):
    rolling = RollingCape(shared_clf, window=timedelta(hours=10))
    rolling.predict(X[:50], sensitive_features=z[:50], times=HOURS[:50])
    again = reopened(rolling)
    assert again.window == rolling.window
    with pytest.raises(ValueError, match="go back.*row 0 after 2026-01-03"):
        again.predict(X[:1], sensitive_features=z[:1], times=HOURS[:1])
    for either in (rolling, again):
        either.predict(X[50:60], sensitive_features=z[50:60], times=HOURS[50:60])
    assert again.evidence() == rolling.evidence()


@pytest.mark.parametrize("window", [0, -1, 1.5, True, None, "7", timedelta(0)])
def test_a_window_must_make_sense(shared_clf, window):
    with pytest.raises(ValueError, match="window must be"):
        RollingCape(shared_clf, window)


def test_a_window_of_numpys_is_a_span_of_time(shared_clf):
    rolling = RollingCape(shared_clf, np.timedelta64(5, "m"))
    assert rolling.window == timedelta(minutes=5)
    assert reopened(rolling).window == rolling.window
    with pytest.raises(ValueError, match="window must be"):
        RollingCape(shared_clf, np.timedelta64("NaT", "s"))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1e9, 2e9], "times must be dates and times .* got .*numbers"),
        (["foo", "bar"], "times must be dates and times .* got .*foo"),
        (["2026-01-01T06", "2026-01-01T06Z"], "all of one time zone or all without"),
        (
            ["2026-01-01T06Z", "2026-01-01T07Z"],
            "all of one time zone or all without.*: some calls",
        ),
        (
            ["2026-01-01T06", "2126-01-01T06"],
            "ahead of the clock .* 2126-01-01 06:00:00.* for row 1",
        ),
        (
            np.array(["2500-01-01", "2500-01-02"], "M8[s]"),
            "times must be dates and times between the years 1678 and 2262",
        ),
        (
            [pd.NaT, pd.Timestamp("2024-01-01")],
            "times must be dates and times .*: 1 missing",
        ),
    ],
)
def test_what_is_no_time_changes_nothing(shared_clf, times, message):
    rolling = RollingCape(shared_clf, timedelta(hours=3))
    rolling.predict(X[:5], sensitive_features=z[:5], times=HOURS[:5])
    before = rolling.evidence()
    with pytest.raises(ValueError, match=message):
        rolling.predict(X[:2], sensitive_features=z[:2], times=times)
    assert rolling.evidence() == before


def test_times_go_with_windows_of_time(shared_clf):
    with pytest.raises(ValueError, match="times must be None"):
        RollingCape(shared_clf, 5).predict(X, sensitive_features=z, times=HOURS)
    rolling = RollingCape(shared_clf, timedelta(hours=1))
    with pytest.raises(ValueError, match="times must be given"):
        rolling.predict(X, sensitive_features=z)
    with pytest.raises(ValueError, match="same number of rows"):
        rolling.predict(X, sensitive_features=z, times=HOURS[1:])
    with pytest.raises(ValueError, match="1 missing"):
        rolling.predict(
            X[:2], sensitive_features=z[:2], times=[HOURS[0], np.datetime64("NaT", "s")]
        )
    with pytest.raises(ValueError, match="go back"):
        rolling.predict(X, sensitive_features=z, times=HOURS[::-1])


def test_a_pause_empties_the_window_of_time(shared_clf):
    rolling = RollingCape(shared_clf, timedelta(hours=3))
    rolling.predict(X[:5], sensitive_features=[0] * 5, times=HOURS[:5])
    rolling.predict(X[5:6], sensitive_features=[1], times=HOURS[100:101])
    assert rolling.evidence().rows == {1: 1}


def reopened(rolling):
    return pickle.loads(pickle.dumps(rolling))


def recomputed(clf, groups, in_window):
    """Predict each row as the last of a batch, the rows that ``in_window`` gives."""
    y_pred = []
    for row in range(len(groups)):
        rows = in_window(row)
        y_pred.append(clf.predict(FEW[rows], sensitive_features=groups[rows])[-1])
    return np.array(y_pred)


def one_by_one(rolling, groups, times=None):
    """Predict rows that come alone."""
    y_pred = []
    for row in range(len(groups)):
        here = slice(row, row + 1)
        moment = {} if times is None else {"times": times[here]}
        y_pred += [
            *rolling.predict(FEW[here], sensitive_features=groups[here], **moment)
        ]
    return np.array(y_pred)


def last_rows(groups, n):
    return lambda row: np.flatnonzero(groups[: row + 1] == groups[row])[-n:]


def last_hours(groups, hours, n):
    def in_window(row):
        recent = (hours[: row + 1] > hours[row] - n) & (
            groups[: row + 1] == groups[row]
        )
        return np.flatnonzero(recent)

    return in_window


@pytest.mark.parametrize("window", [1, 6])
def test_every_row_of_a_window_of_rows_is_that_of_its_batch(clf, window):
    groups = np.where(np.arange(N) % 5 == 4, 7, OF_FEW)  # 7 was not in training
    np.testing.assert_array_equal(
        one_by_one(RollingCape(clf, window), groups),
        recomputed(clf, groups, last_rows(groups, window)),
    )


@settings(max_examples=3)
@given(
    gaps=st.lists(st.integers(0, 4), min_size=N, max_size=N),
    window=st.integers(1, 9),
)
def test_every_row_of_a_window_of_time_is_that_of_its_batch(clf, gaps, window):
    hours = np.cumsum(gaps)
    times = HOURS[0] + hours * np.timedelta64(1, "h")
    rolling = RollingCape(clf, timedelta(hours=window))
    np.testing.assert_array_equal(
        one_by_one(rolling, OF_FEW, times),
        recomputed(clf, OF_FEW, last_hours(OF_FEW, hours, window)),
    )
    recent = hours > hours[-1] - window
    assert rolling.evidence() == clf.evidence(
        FEW[recent], sensitive_features=OF_FEW[recent]
    )


@pytest.mark.parametrize(
    "kind",
    [
        pd.Series,
        lambda times: (
            pd.DatetimeIndex(times).tz_localize("UTC").tz_convert("Asia/Tokyo")
        ),
        lambda times: [pd.Timestamp(t).to_pydatetime() for t in times],
        lambda times: times.astype("datetime64[s]"),
        lambda times: [str(t) for t in times],
    ],
    ids=["series", "with a zone", "datetime", "seconds", "text"],
)
def test_times_of_any_kind_are_the_same_times(shared_clf, kind):
    times = HOURS[0] + np.arange(N) * np.timedelta64(1, "h")
    rolling, same = (RollingCape(shared_clf, timedelta(hours=5)) for _ in range(2))
    expected = rolling.predict(FEW, sensitive_features=OF_FEW, times=times)
    np.testing.assert_array_equal(
        same.predict(FEW, sensitive_features=OF_FEW, times=kind(times)), expected
    )
    assert same.evidence() == rolling.evidence()


def test_a_row_just_as_old_as_the_window_has_left_it(shared_clf):
    rolling = RollingCape(shared_clf, timedelta(microseconds=1))
    moments = HOURS[0] + np.array([0, 999, 1000, 1999]) * np.timedelta64(1, "ns")
    held = []
    for moment in moments:
        rolling.predict(FEW[:1], sensitive_features=[0], times=[moment])
        held.append(rolling.evidence().rows[0])
    assert held == [1, 2, 2, 2]


@settings(max_examples=15)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(1, 8))
def test_the_window_never_holds_more_than_its_rows(shared_clf, sizes, window):
    rolling, seen = RollingCape(shared_clf, window), np.empty(0, dtype=np.int64)
    for size in sizes:
        rows = np.arange(len(seen), len(seen) + size) % N
        rolling.predict(FEW[rows], sensitive_features=OF_FEW[rows])
        seen = np.concatenate([seen, rows])
        kept = np.concatenate(
            [seen[OF_FEW[seen] == group][-window:] for group in (0, 1)]
        )
        assert rolling.evidence() == shared_clf.evidence(
            FEW[kept], sensitive_features=OF_FEW[kept]
        )


def test_evidence_given_out_does_not_move_with_the_window(clf):
    rolling = RollingCape(clf, window=5)
    rolling.predict(FEW[:20], sensitive_features=OF_FEW[:20])
    before = rolling.evidence()
    text = before.to_json()
    rolling.predict(FEW[20:], sensitive_features=OF_FEW[20:])
    assert before.to_json() == text != rolling.evidence().to_json()


def test_an_error_late_in_a_lot_leaves_the_window_of_time_as_it_was(shared_clf):
    rolling = RollingCape(shared_clf, timedelta(hours=3))
    times = HOURS[0] + np.arange(N) * np.timedelta64(1, "h")
    rolling.predict(FEW[:10], sensitive_features=OF_FEW[:10], times=times[:10])
    before = rolling.evidence()
    back = np.r_[times[10:19], times[0]]
    spoilt = np.vstack([FEW[10:19], np.full((1, FEW.shape[1]), np.nan)])
    for bad in (
        {"X": FEW[10:20], "sensitive_features": OF_FEW[10:20], "times": back},
        {"X": spoilt, "sensitive_features": OF_FEW[10:20], "times": times[10:20]},
        {
            "X": FEW[10:20],
            "sensitive_features": [*OF_FEW[10:19], 7],
            "times": times[10:20],
        },
    ):
        with pytest.raises(ValueError):
            rolling.predict(**bad)
        assert rolling.evidence() == before
    y_pred = rolling.predict(
        FEW[10:12], sensitive_features=OF_FEW[10:12], times=times[10:12]
    )
    call = np.array([10, 11])
    expected = predicted_with(shared_clf, OF_FEW, np.arange(9, 12), call)
    np.testing.assert_array_equal(y_pred, expected)


# Drift


@pytest.fixture(scope="module")
def alone():
    """A model of one group: a batch adjusts p-values for all of its groups."""
    clf = CapeClassifier(
        LogisticRegression(), pool="threshold", cv=3, prevalences=5, random_state=0
    )
    return clf.fit(TRAIN.data.to_numpy(), TRAIN.target)


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
@pytest.mark.parametrize("by", [4.0, 500.0])
def test_a_window_looks_at_drift_as_a_batch_does(alone, by):
    moved = X[:120] + np.array([0, by])
    rolling = RollingCape(alone, window=80, refresh=1)
    for start in range(0, 120, 10):
        y_pred = rolling.predict(moved[start : start + 10])
        window = moved[max(start - 70, 0) : start + 10]
        assert y_pred.tolist() == alone.predict(window)[-10:].tolist()
    evidence = alone.evidence(moved[-80:])
    assert rolling.evidence() == evidence
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cape.classifier.warn_if_doubtful", lambda *_: None)
        assert rolling.adapt() == alone.adapt(evidence=evidence)


def test_drift_is_looked_at_every_so_many_rows(alone, monkeypatch):
    looks = []
    deciding = sys.modules["cape.rules._deciding"]
    look = deciding.find_drift

    def find_drift(models, evidence, estimates, **keywords):
        looks.append(evidence["everyone"].scores.size)
        return look(models, evidence, estimates, **keywords)

    monkeypatch.setattr(deciding, "find_drift", find_drift)
    rolling = RollingCape(alone, window=500, refresh=40)
    for start in range(100):
        rolling.predict(X[start : start + 1])
    assert looks == [1, 41, 81]


def test_a_model_that_ignores_drift_never_looks(monkeypatch):
    clf = fitted(pool="threshold", drift="ignore")
    monkeypatch.setattr("cape.rules._deciding.find_drift", None)
    rolling = RollingCape(clf, window=50)
    rolling.predict(X, sensitive_features=z)
    assert all(part.columns is None for part in rolling.evidence().groups.values())


@pytest.mark.parametrize("refresh", [0, -1, 1.5, True, "all"])
def test_refresh_must_be_a_number_of_rows(alone, refresh):
    with pytest.raises(ValueError, match="refresh must be a whole number of rows"):
        RollingCape(alone, window=10, refresh=refresh)


# Labels


@pytest.fixture(
    scope="module",
    params=[("resampled", "refit"), ("threshold", "folds")],
    ids="-".join,
)
def clf_of_labels(request):
    pool, scores = request.param
    return fitted(pool=pool, scores=scores, quantifier="spa")


@pytest.fixture(scope="module")
def one_clf():
    return fitted(pool="threshold", scores="refit", quantifier="spa")


def window_rows(stop, size):
    """Return the rows that a window of so many rows a group holds after some rows."""
    held = []
    for group in (0, 1):
        held += np.flatnonzero(z[:stop] == group)[-size:].tolist()
    return np.sort(held)


def evidence_of(clf, rows, labels):
    """Count rows of which some have a label, as a batch."""
    known = np.array([labels.get(row) for row in rows], dtype=object)
    return clf.evidence(X[rows], known, sensitive_features=z[rows])


def streamed(clf, window=60, stop=150, **settings):
    rolling = RollingCape(clf, window, **settings)
    rolling.predict(X[:stop], sensitive_features=z[:stop], ids=IDS[:stop])
    return rolling


def name(rows):
    return [IDS[row] for row in rows]


def test_labels_count_as_those_of_a_batch_and_leave_with_their_rows(clf_of_labels):
    clf = clf_of_labels
    rolling = RollingCape(clf, 30)
    labels = {}
    for start in range(0, 240, 40):
        stop = start + 40
        rows = np.arange(start, stop)
        rolling.predict(X[rows], sensitive_features=z[rows], ids=name(rows))
        held = window_rows(stop, 30)
        chosen = held[::3]
        assert rolling.label(name(chosen), y[chosen]).all()
        labels.update({row: int(y[row]) for row in chosen})
        assert rolling.evidence() == evidence_of(clf, held, labels)
    again = reopened(rolling)
    assert again.evidence() == rolling.evidence()
    assert again.adapt() == rolling.adapt()


@settings(max_examples=15)
@given(
    steps=st.lists(
        st.tuples(st.integers(1, 40), st.lists(st.integers(0, 239), max_size=8)),
        min_size=1,
        max_size=5,
    ),
    size=st.integers(1, 50),
    flip=st.booleans(),
)
def test_any_order_of_rows_and_labels(one_clf, steps, size, flip):
    rolling = RollingCape(one_clf, size)
    labels = {}
    stop = 0
    for n_rows, chosen in steps:
        rows = np.arange(stop, min(stop + n_rows, 240))
        stop = min(stop + n_rows, 240)
        rolling.predict(X[rows], sensitive_features=z[rows], ids=name(rows))
        held = window_rows(stop, size)
        answers = np.array([int(y[row]) ^ flip for row in chosen], dtype=int)
        taken = rolling.label(name(chosen), answers)
        assert taken.tolist() == [row in held for row in chosen]
        labels.update(dict(zip(chosen, answers.tolist(), strict=True)))
        labels = {row: label for row, label in labels.items() if row in held}
        rolling = reopened(rolling)
    assert rolling.evidence() == evidence_of(one_clf, window_rows(stop, size), labels)


def test_a_label_is_replaced(one_clf):
    rolling = streamed(one_clf)
    rolling.label(IDS[100], y[100])
    rolling.label([IDS[100], IDS[101]], [1 - y[100], y[101]])
    labels = {100: 1 - y[100], 101: y[101]}
    assert rolling.evidence() == evidence_of(one_clf, window_rows(150, 60), labels)


def test_rows_that_left_or_never_came_take_no_label(one_clf):
    rolling = streamed(one_clf, window=20)
    before = rolling.evidence()
    taken = rolling.label([IDS[0], "nobody", 7], [0, 1, 1])
    assert taken.tolist() == [False] * 3
    assert rolling.evidence() == before


def test_time_takes_labels_away(one_clf):
    rolling = RollingCape(one_clf, timedelta(hours=50))
    rolling.predict(X[:60], sensitive_features=z[:60], times=HOURS[:60], ids=IDS[:60])
    rolling.label(name(range(20, 50)), y[20:50])
    rows = slice(60, 80)
    rolling.predict(
        X[rows], sensitive_features=z[rows], times=HOURS[rows], ids=IDS[rows]
    )
    labels = {row: y[row] for row in range(30, 50)}
    assert rolling.evidence() == evidence_of(one_clf, np.arange(30, 80), labels)
    again = reopened(rolling)
    assert again.evidence() == rolling.evidence()


def test_rows_of_a_silent_group_leave_the_window_of_time(one_clf):
    rolling = RollingCape(one_clf, timedelta(hours=5))
    silent = np.flatnonzero(z == 0)[:1]
    spoken = np.flatnonzero(z == 1)[:1]
    rolling.predict(X[silent], sensitive_features=z[silent], times=HOURS[:1], ids=["a"])
    rolling.predict(
        X[spoken], sensitive_features=z[spoken], times=HOURS[9:10], ids=["b"]
    )
    assert rolling.label(["a", "b"], [0, 1]).tolist() == [False, True]
    # The name of a row that has left is free again.
    rolling.predict(
        X[silent], sensitive_features=z[silent], times=HOURS[10:11], ids=["a"]
    )


def test_labels_correct_the_predictions_that_follow(one_clf):
    rolling, unlabelled = (streamed(one_clf, window=100) for _ in range(2))
    held = window_rows(150, 100)
    # Labels that are plainly not those of these scores would not be used.
    later = np.where(np.random.default_rng(0).random(len(y)) < 0.08, 1, y)
    rolling.label(name(held), later[held])
    with warnings.catch_warnings(action="ignore"):
        adaptation = rolling.adapt()
    for group, adapted in adaptation.groups.items():
        truth = later[held][z[held] == group].mean()
        assert adapted.estimate.value == pytest.approx(truth)
    rows = slice(150, 240)
    with_labels = rolling.predict(X[rows], sensitive_features=z[rows])
    without = unlabelled.predict(X[rows], sensitive_features=z[rows])
    assert with_labels.mean() > without.mean()


@pytest.mark.parametrize(
    ("ids", "labels", "message"),
    [
        (["row 100"], [None], "y must have a label for each of ids"),
        (["row 100"], None, "y must have a label for each of ids"),
        (["row 100"], [3], r"y must hold the labels \[0, 1\]"),
        (["row 100"], [0, 1], r"\by\b"),
        ([1.5], [0], "ids must be int or str, got 1.5"),
        ([None], [0], "ids must be int or str, got None"),
        ([True], [0], "ids must be int or str, got True"),
        (None, [0], "ids must be int or str, got None"),
        (2.5, [0], "ids must be int or str, got 2.5"),
    ],
)
def test_wrong_labels_change_nothing(one_clf, ids, labels, message):
    rolling = streamed(one_clf)
    before = rolling.evidence()
    with pytest.raises(ValueError, match=message):
        rolling.label(ids, labels)
    assert rolling.evidence() == before


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "a"], "ids must differ .* got 'a' twice"),
        (["row 149", "b"], "ids must differ .* got 'row 149' twice"),
        (["a"], "ids"),
        ([1.5, 2.5], "ids must be int or str, got 1.5"),
    ],
)
def test_wrong_ids_change_nothing(one_clf, ids, message):
    rolling = streamed(one_clf)
    before = rolling.evidence()
    with pytest.raises(ValueError, match=message):
        rolling.predict(X[150:152], sensitive_features=z[150:152], ids=ids)
    assert rolling.evidence() == before


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(10),
        list(np.arange(10)),
        pd.Series(range(10)),
        pd.Index([f"a{i}" for i in range(10)]),
        np.array([f"a{i}" for i in range(10)]),
        range(10),
    ],
    ids=["array", "numpy numbers", "series", "index", "text", "range"],
)
def test_ids_of_any_kind_come_back(one_clf, ids):
    rolling = RollingCape(one_clf, 10)
    rolling.predict(X[:10], sensitive_features=z[:10], ids=ids)
    rolling = reopened(rolling)
    assert rolling.label(ids, y[:10]).all()
    assert rolling.evidence() == one_clf.evidence(
        X[:10], y[:10], sensitive_features=z[:10]
    )


def test_rows_without_an_id_take_no_label(one_clf):
    rolling = RollingCape(one_clf, 10)
    rolling.predict(X[:4], sensitive_features=z[:4])
    rolling.predict(X[4:8], sensitive_features=z[4:8], ids=range(4, 8))
    rolling = reopened(rolling)
    assert rolling.label(range(8), y[:8]).tolist() == [False] * 4 + [True] * 4
    labels = {row: y[row] for row in range(4, 8)}
    assert rolling.evidence() == evidence_of(one_clf, np.arange(8), labels)


def test_threads_share_a_stream_and_a_state_saved_meanwhile_can_be_read(one_clf):
    rolling = RollingCape(one_clf, window=20)
    states = []

    def work(start):
        for row in range(start, len(X) - 5, 40):
            here = slice(row, row + 5)
            rolling.predict(X[here], sensitive_features=z[here])
            states.append(pickle.dumps(rolling))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(0, 40, 5)))
    finally:
        sys.setswitchinterval(interval)
    whole = evidence_of(one_clf, window_rows(len(X), 20), {})
    for state in states[::20]:
        # All rows that were there leave: their counts are taken away to the last.
        again = pickle.loads(state)
        again.predict(X, sensitive_features=z)
        assert again.evidence() == whole
    assert set(rolling.evidence().rows.values()) == {20}
    assert copy.deepcopy(rolling).evidence() == rolling.evidence()
