"""A moving window is CAPE-1 at one end, CAPE-D at the other, and exact in between."""

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, _window
from cape.datasets import make_synthetic
from cape.stream import RollingCape

TRAIN = make_synthetic(600, random_state=0)
NEW = make_synthetic(240, prevalences=(0.2, 0.8), random_state=1)
X, z = NEW.data.to_numpy(), NEW.sensitive_features.to_numpy()
HOURS = np.datetime64("2026-01-01T00", "ns") + np.arange(len(X)) * np.timedelta64(
    1, "h"
)
CONFIGURATIONS = [
    {"pool": "resampled", "scores": "refit"},
    {"pool": "resampled", "scores": "folds"},
    {"pool": "threshold", "scores": "refit"},
    {"pool": "threshold", "scores": "folds"},
]


def fitted(**settings):
    clf = CapeClassifier(
        LogisticRegression(), cv=3, prevalences=5, random_state=0, **settings
    )
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


@pytest.fixture(
    scope="module", params=CONFIGURATIONS, ids=lambda c: "-".join(c.values())
)
def clf(request):
    return fitted(**request.param)


@pytest.mark.slow
def test_a_window_of_one_row_is_cape_1(clf):
    y_pred = RollingCape(clf, window=1).predict(X, sensitive_features=z)
    np.testing.assert_array_equal(
        y_pred, clf.predict_individually(X, sensitive_features=z)
    )


def test_a_window_that_holds_the_batch_is_cape_d_at_its_last_row(clf):
    rolling = RollingCape(clf, window=len(X))
    y_pred = rolling.predict(X, sensitive_features=z)
    whole = clf.predict(X, sensitive_features=z)
    for group in (0, 1):
        last = np.flatnonzero(z == group)[-1]
        assert y_pred[last] == whole[last]
    assert rolling.evidence() == clf.evidence(X, sensitive_features=z)
    assert rolling.adapt() == clf.adapt(X, sensitive_features=z)


def test_each_row_is_predicted_with_the_rows_of_its_window(clf):
    n = 7
    y_pred = RollingCape(clf, window=n).predict(X, sensitive_features=z)
    for group in (0, 1):
        rows = np.flatnonzero(z == group)
        for place in (0, 3, 6, 7, 50, len(rows) - 1):
            window = rows[max(place - n + 1, 0) : place + 1]
            batch = clf.predict(X[window], sensitive_features=z[window])
            assert y_pred[rows[place]] == batch[-1]


def test_a_window_of_time_holds_the_rows_of_the_last_hours(clf):
    rolling = RollingCape(clf, window=timedelta(hours=24))
    y_pred = rolling.predict(X, sensitive_features=z, times=HOURS)
    assert rolling.evidence() == clf.evidence(X[-24:], sensitive_features=z[-24:])
    last = np.flatnonzero(z[-24:] == z[-1])
    batch = clf.predict(X[-24:][last], sensitive_features=z[-24:][last])
    assert y_pred[-1] == batch[-1]


def test_time_goes_by_for_groups_without_rows():
    clf = fitted(pool="threshold")
    rolling = RollingCape(clf, window=timedelta(hours=24))
    rolling.predict(X[z == 0][:5], sensitive_features=z[z == 0][:5], times=HOURS[:5])
    rolling.predict(
        X[z == 1][:1], sensitive_features=z[z == 1][:1], times=HOURS[100:101]
    )
    assert rolling.evidence().rows == {1: 1}


@given(
    cuts=st.lists(st.integers(0, len(X)), max_size=6),
    window=st.integers(1, 40),
    refresh=st.integers(1, 60),
)
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_nothing_depends_on_how_the_stream_is_cut_nor_on_a_stop_in_the_middle(
    shared_clf, cuts, window, refresh
):
    whole = RollingCape(shared_clf, window, refresh=refresh)
    expected = whole.predict(X, sensitive_features=z)
    rolling, found = RollingCape(shared_clf, window, refresh=refresh), []
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(X)], strict=True):
        found.append(rolling.predict(X[start:stop], sensitive_features=z[start:stop]))
        rolling = RollingCape.from_json(shared_clf, rolling.to_json())
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert rolling.evidence() == whole.evidence()


@pytest.fixture(scope="module")
def shared_clf():
    # SPA is the quickest quantifier row by row.
    return fitted(pool="resampled", quantifier="spa")


def test_a_stream_of_time_is_restored(shared_clf):
    rolling = RollingCape(shared_clf, window=timedelta(hours=10))
    rolling.predict(X[:50], sensitive_features=z[:50], times=HOURS[:50])
    again = RollingCape.from_json(shared_clf, rolling.to_json())
    assert again.window == rolling.window
    with pytest.raises(ValueError, match="go back"):
        again.predict(X[:1], sensitive_features=z[:1], times=HOURS[:1])
    for either in (rolling, again):
        either.predict(X[50:60], sensitive_features=z[50:60], times=HOURS[50:60])
    assert again.evidence() == rolling.evidence()


def test_memory_is_of_the_order_of_the_window(shared_clf):
    rolling = RollingCape(shared_clf, window=20)
    sizes = []
    for _ in range(3):
        rolling.predict(X, sensitive_features=z)
        sizes.append(len(rolling.to_json()))
    assert max(sizes) < 1.2 * min(sizes)
    assert "40 rows of 2 groups" in repr(rolling)


def test_wrong_input_changes_nothing(shared_clf):
    rolling = RollingCape(shared_clf, window=20)
    rolling.predict(X[:30], sensitive_features=z[:30])
    before = rolling.to_json()
    spoilt = X[30:40].copy()
    spoilt[5] = np.nan
    for bad, groups in (
        (spoilt, z[30:40]),
        (X[30:40], np.full(10, 7)),
        (X[30:40], z[30:39]),
    ):
        with pytest.raises(ValueError):
            rolling.predict(bad, sensitive_features=groups)
    assert rolling.to_json() == before
    assert len(rolling.predict(X[:0], sensitive_features=z[:0])) == 0
    assert rolling.to_json() == before


@pytest.mark.parametrize("window", [0, -1, 1.5, True, None, "7", timedelta(0)])
def test_a_window_must_make_sense(shared_clf, window):
    with pytest.raises(ValueError, match="window must be"):
        RollingCape(shared_clf, window)


def test_a_window_of_numpys_is_a_span_of_time(shared_clf):
    rolling = RollingCape(shared_clf, np.timedelta64(5, "m"))
    assert rolling.window == timedelta(minutes=5)
    assert RollingCape.from_json(shared_clf, rolling.to_json()).window == rolling.window
    with pytest.raises(ValueError, match="window must be"):
        RollingCape(shared_clf, np.timedelta64("NaT", "s"))


@pytest.mark.parametrize(
    "times",
    [
        lambda hours: hours.astype("datetime64[s]"),
        lambda hours: [str(hour) for hour in hours],
        lambda hours: (
            pd.DatetimeIndex(hours).tz_localize("UTC").tz_convert("Asia/Tokyo")
        ),
        lambda hours: [hour.item() for hour in hours.astype("datetime64[us]")],
    ],
    ids=["seconds", "text", "with a zone", "Python's"],
)
def test_times_of_any_kind(shared_clf, times):
    expected, found = (RollingCape(shared_clf, timedelta(hours=3)) for _ in range(2))
    expected.predict(X[:20], sensitive_features=z[:20], times=HOURS[:20])
    found.predict(X[:20], sensitive_features=z[:20], times=times(HOURS[:20]))
    assert found.to_json() == expected.to_json()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1e9, 2e9], "times must be dates and times, got .*numbers"),
        (["foo", "bar"], "times must be dates and times, got .*foo"),
        (
            np.array(["2500-01-01", "2500-01-02"], "M8[s]"),
            "times must lie between the years 1678 and 2262",
        ),
        (
            [pd.NaT, pd.Timestamp("2024-01-01")],
            "times must be known for every row, got 1 missing",
        ),
    ],
)
def test_what_is_no_time_changes_nothing(shared_clf, times, message):
    rolling = RollingCape(shared_clf, timedelta(hours=3))
    rolling.predict(X[:5], sensitive_features=z[:5], times=HOURS[:5])
    before = rolling.to_json()
    with pytest.raises(ValueError, match=message):
        rolling.predict(X[:2], sensitive_features=z[:2], times=times)
    assert rolling.to_json() == before


@pytest.mark.parametrize(
    "text", [None, "", "[]", '{"window":5,"fingerprint":null,"now":null,"groups":[]}']
)
def test_what_is_no_stream_is_refused(shared_clf, text):
    with pytest.raises(
        ValueError,
        match="^text must .* RollingCape.to_json",
    ):
        RollingCape.from_json(shared_clf, text)


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


def test_another_models_state_and_other_text_are_refused(shared_clf):
    text = RollingCape(shared_clf, 5).to_json()
    with pytest.raises(ValueError, match="clf must be the model of the stream"):
        RollingCape.from_json(
            fitted(
                pool="threshold", quantifier="acc", min_group_size=31, scores="folds"
            ),
            _other(text),
        )
    for bad in ("", "[]", "{}", json.dumps({"window": 5})):
        with pytest.raises(ValueError, match="^text must .* RollingCape.to_json"):
            RollingCape.from_json(shared_clf, bad)


def _other(text):
    return json.dumps({**json.loads(text), "fingerprint": "of another"})


def test_a_quantifier_that_keeps_rows_is_refused_by_name():
    from quapy.method.aggregative import SMM

    with pytest.raises(TypeError, match="QuaPyQuantifier"):
        RollingCape(fitted(quantifier=SMM()), window=5)


# Drift


@pytest.fixture(scope="module")
def alone():
    """A model of one group: a batch adjusts p-values for all of its groups."""
    clf = CapeClassifier(
        LogisticRegression(), pool="threshold", cv=3, prevalences=5, random_state=0
    )
    return clf.fit(TRAIN.data.to_numpy(), TRAIN.target)


@pytest.mark.parametrize("by", [0.0, 4.0, 500.0])
def test_a_window_looks_at_drift_as_a_batch_does(alone, by):
    moved = X[:120] + np.array([0, by])
    rolling = RollingCape(alone, window=80, refresh=1)
    y_pred = rolling.predict(moved)
    for last in (50, 80, 119):
        window = moved[max(last - 79, 0) : last + 1]
        assert y_pred[last] == alone.predict(window)[-1]
    evidence = alone.evidence(moved[-80:])
    assert rolling.evidence() == evidence
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cape.classifier.warn_if_doubtful", lambda *_: None)
        assert rolling.adapt() == alone.adapt(evidence=evidence)


def test_drift_is_looked_at_every_so_many_rows(alone, monkeypatch):
    looks = []

    def find_drift(models, evidence, estimates):
        looks.append(evidence["everyone"].scores.size)
        return look(models, evidence, estimates)

    look = _window.find_drift
    monkeypatch.setattr(_window, "find_drift", find_drift)
    RollingCape(alone, window=500, refresh=40).predict(X[:100])
    assert looks == [1, 41, 81]


def test_a_model_that_ignores_drift_never_looks(monkeypatch):
    clf = fitted(pool="threshold", drift="ignore")
    monkeypatch.setattr(_window, "find_drift", None)
    rolling = RollingCape(clf, window=50)
    rolling.predict(X, sensitive_features=z)
    assert all(part.columns is None for part in rolling.evidence().groups.values())


@pytest.mark.parametrize("refresh", [0, -1, 1.5, True, "all"])
def test_refresh_must_be_a_number_of_rows(alone, refresh):
    with pytest.raises(ValueError, match="refresh must be a number of rows"):
        RollingCape(alone, window=10, refresh=refresh)


def test_refresh_and_cells_come_back(alone):
    rolling = RollingCape(alone, window=30, refresh=7)
    rolling.predict(X[:50])
    again = RollingCape.from_json(alone, rolling.to_json())
    assert again.refresh == 7
    assert again.evidence() == rolling.evidence()
