"""A stream takes labels of rows in its window, and counts them as a batch does."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.stream import RollingCape

TRAIN = make_synthetic(600, random_state=0)
NEW = make_synthetic(240, prevalences=(0.2, 0.8), random_state=1)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
HOURS = np.datetime64("2026-01-01T00", "ns") + np.arange(240) * np.timedelta64(1, "h")
IDS = [f"row {i}" for i in range(240)]


def fitted(**settings):
    clf = CapeClassifier(
        LogisticRegression(), cv=3, prevalences=5, random_state=0, **settings
    )
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


@pytest.fixture(
    scope="module",
    params=[("resampled", "refit"), ("threshold", "folds")],
    ids="-".join,
)
def clf(request):
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


def test_labels_count_as_those_of_a_batch_and_leave_with_their_rows(clf):
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
    again = RollingCape.from_json(clf, rolling.to_json())
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
        rolling = RollingCape.from_json(one_clf, rolling.to_json())
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
    again = RollingCape.from_json(one_clf, rolling.to_json())
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
    rolling.label(name(held), 1 - y[held])
    with pytest.warns(UserWarning, match="labels refute"):
        adaptation = rolling.adapt()
    for group, adapted in adaptation.groups.items():
        truth = (1 - y[held])[z[held] == group].mean()
        assert adapted.estimate.value == pytest.approx(truth)
    rows = slice(150, 240)
    with_labels = rolling.predict(X[rows], sensitive_features=z[rows])
    without = unlabelled.predict(X[rows], sensitive_features=z[rows])
    assert (with_labels != without).mean() > 0.2


def test_probabilities_are_kept(one_clf):
    rolling = streamed(one_clf)
    held = window_rows(150, 60)
    rolling.label(name(held[:40]), y[held[:40]], inclusion_probability=0.25)
    rolling.label(name(held[40:50]), y[held[40:50]], inclusion_probability=[0.5] * 10)
    probabilities = np.where(np.arange(len(held)) < 40, 0.25, 0.5)
    known = np.array([*y[held[:50]], *[None] * (len(held) - 50)], dtype=object)
    expected = one_clf.evidence(
        X[held],
        known,
        sensitive_features=z[held],
        inclusion_probability=probabilities,
    )
    assert rolling.evidence() == expected
    with pytest.raises(ValueError, match="inclusion_probability must be given for all"):
        rolling.label(IDS[140], 1)
    assert rolling.evidence() == expected
    assert RollingCape.from_json(one_clf, rolling.to_json()).evidence() == expected


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
        ([["row 100"]], [0], "ids must be int or str"),
    ],
)
def test_wrong_labels_change_nothing(one_clf, ids, labels, message):
    rolling = streamed(one_clf)
    before = rolling.to_json()
    with pytest.raises(ValueError, match=message):
        rolling.label(ids, labels)
    assert rolling.to_json() == before


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
    before = rolling.to_json()
    with pytest.raises(ValueError, match=message):
        rolling.predict(X[150:152], sensitive_features=z[150:152], ids=ids)
    assert rolling.to_json() == before


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
def test_ids_of_any_kind_come_back_from_json(one_clf, ids):
    rolling = RollingCape(one_clf, 10)
    rolling.predict(X[:10], sensitive_features=z[:10], ids=ids)
    rolling = RollingCape.from_json(one_clf, rolling.to_json())
    assert rolling.label(ids, y[:10]).all()
    assert rolling.evidence() == one_clf.evidence(
        X[:10], y[:10], sensitive_features=z[:10]
    )


def test_rows_without_an_id_take_no_label(one_clf):
    rolling = RollingCape(one_clf, 10)
    rolling.predict(X[:4], sensitive_features=z[:4])
    rolling.predict(X[4:8], sensitive_features=z[4:8], ids=range(4, 8))
    rolling = RollingCape.from_json(one_clf, rolling.to_json())
    assert rolling.label(range(8), y[:8]).tolist() == [False] * 4 + [True] * 4
    labels = {row: y[row] for row in range(4, 8)}
    assert rolling.evidence() == evidence_of(one_clf, np.arange(8), labels)
