"""What an adaptation tells, and how it is saved."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from cape import Adaptation, AdaptationWarning, CapeClassifier, Estimate


@pytest.mark.parametrize("pool", ["resampled", "threshold"])
def test_the_bound_is_what_can_be_computed(fitted, batch, pool):
    """PD <= |q - rho-hat_J| + delta_1; here it holds for the true prevalence too."""
    clf = fitted(pool=pool)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    for group, found in adaptation.groups.items():
        rows = batch.z == group
        assert found.rows == rows.sum()
        assert found.predicted_prevalence == pytest.approx(y_pred[rows].mean())
        q, low, high = found.estimate
        delta_1 = max(q - low, high - q)
        assert found.pd_bound == pytest.approx(
            min(abs(q - found.predicted_prevalence) + delta_1, 1)
        )
        assert abs(batch.y[rows].mean() - y_pred[rows].mean()) <= found.pd_bound
        assert found.training_prevalence == pytest.approx(0.5)
        assert found.made_for == clf.models_[group].pool.thetas[found.classifier]


def test_a_higher_level_gives_wider_intervals(fitted, batch):
    narrow, wide = (
        fitted().adapt(batch.X, sensitive_features=batch.z, level=level)
        for level in (0.5, 0.99)
    )
    assert (narrow.level, wide.level) == (0.5, 0.99)
    for group in (0, 1):
        a, b = narrow.groups[group].estimate, wide.groups[group].estimate
        assert b.low < a.low <= a.value == b.value <= a.high < b.high
        assert wide.groups[group].pd_bound > narrow.groups[group].pd_bound


def test_the_table_and_the_words(fitted, batch):
    adaptation = fitted().adapt(batch.X, sensitive_features=batch.z)
    table = adaptation.table()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "group"
    assert table.index.tolist() == [0, 1]
    assert table["rows"].tolist() == [100, 100]


@pytest.mark.parametrize(
    "names", [("a", "b"), (1, 2), (0.5, 1.5), (True, False), (("a", 1), ("b", 2))]
)
def test_it_survives_json(fitted, batch, names):
    clf = fitted()
    found = clf.adapt(batch.X, sensitive_features=batch.z)
    renamed = Adaptation(
        found.fingerprint, dict(zip(names, found.groups.values(), strict=True)), 0.9
    )
    text = renamed.to_json()
    assert json.loads(text)["state"]["level"] == 0.9
    back = Adaptation.from_json(text)
    assert back == renamed
    assert list(map(type, back.groups)) == list(map(type, names))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"groups": 3}', "nonsense", '{"groups": [{"group": 1}]}']
)
def test_what_is_no_adaptation_is_refused(text):
    with pytest.raises(ValueError, match="^text must .* Adaptation.to_json"):
        Adaptation.from_json(text)


def test_groups_of_several_columns_are_one_name_in_the_table(adapted):
    groups = {("a", 1): adapted(rows=10), ("b", 2): adapted(rows=20)}
    table = Adaptation("f", groups).table()
    assert table.index.tolist() == ["a, 1", "b, 2"]
    assert table["rows"].tolist() == [10, 20]
    assert {"estimate", "low", "high", "without_labels_low"} <= {*table.columns}


def test_an_adaptation_without_groups_has_an_empty_table():
    empty = Adaptation("f", {})
    assert empty.table().empty
    assert repr(empty) == "Adaptation to no rows"
    assert Adaptation.from_json(empty.to_json()) == empty


def test_intervals_that_nobody_asked_for_survive_json(adapted):
    nan = float("nan")
    plain = Adaptation("f", {"a": adapted(estimate=Estimate(0.3))}, nan)
    assert "NaN" not in plain.to_json()
    back = Adaptation.from_json(plain.to_json())
    assert np.isnan(back.level)
    assert back.groups["a"] == plain.groups["a"]


def test_a_bound_is_at_most_one(fitted, batch):
    one_row = {"sensitive_features": batch.z[:1], "level": 0.999}
    with pytest.warns(UserWarning, match="too little evidence"):
        adaptation = fitted().adapt(batch.X[:1], **one_row)
    (only,) = adaptation.groups.values()
    assert only.pd_bound <= 1
    assert 0 <= only.estimate.low <= only.estimate.high <= 1


def test_an_adaptation_cannot_be_changed(fitted, batch):
    adaptation = fitted().adapt(batch.X, sensitive_features=batch.z)
    with pytest.raises(AttributeError):
        adaptation.level = 0.5
    with pytest.raises(AttributeError):
        adaptation.groups[0].classifier = 1


# When an adaptation is to be doubted, adapt says so once


def shifted(batch, by):
    return batch.X + np.array([by, 0])


@pytest.mark.parametrize("scores", ["refit", "folds"])
def test_adapt_warns_once_when_more_than_the_prevalence_moved(fitted, batch, scores):
    clf = fitted(scores=scores, pool="threshold")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.adapt(shifted(batch, 8), sensitive_features=batch.z)
    (warning,) = caught
    assert warning.category is AdaptationWarning
    assert "in '0' (" in str(warning.message)
    assert "'1' (" in str(warning.message)
    assert warning.filename == __file__


def test_a_column_at_fault_is_named_once_for_all_groups(fitted, batch):
    clf = fitted(pool="threshold")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        adaptation = clf.adapt(batch.X * [1, 100], sensitive_features=batch.z)
    (warning,) = caught
    assert "`x1`: 99% are greater than" in str(warning.message)
    assert warning.filename == __file__
    for adapted in adaptation.groups.values():
        assert adapted.verdict == "uncertain"
        assert (adapted.estimate.low, adapted.estimate.high) == (0, 1)
        assert adapted.estimate.value == adapted.training_prevalence


def test_a_prior_shift_and_prediction_without_adaptation_are_silent(fitted, batch):
    clf = fitted(pool="threshold")
    clf.adapt(batch.X, sensitive_features=batch.z)
    # Warnings are errors here.
    clf.predict(shifted(batch, 8), sensitive_features=batch.z)


def test_a_test_that_is_not_sound_is_said_and_columns_are_tested(train, batch):
    clf = CapeClassifier(
        HistGradientBoostingClassifier(max_iter=5),
        scores="refit",
        cv=2,
        random_state=0,
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="scores of '0', '1' were not tested"):
        adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    for adapted in adaptation.groups.values():
        assert adapted.verdict in ("consistent", "uncertain")


def test_a_batch_that_says_too_little_is_named(fitted, batch):
    rows = [0, 1, 2]
    with pytest.warns(
        AdaptationWarning,
        match=r"too little evidence in '0' \(",
    ):
        fitted(pool="threshold").adapt(batch.X[rows], sensitive_features=batch.z[rows])


@pytest.mark.parametrize("n_groups", [1, 10, 13])
def test_wide_intervals_name_at_most_ten_groups(
    warn_if_doubtful, adapted, nothing_found, n_groups
):
    wide = adapted(rows=1, verdict="uncertain", estimate=Estimate(0.5, 0.1, 0.9))
    names = [f"g{number:02}" for number in range(n_groups)]
    groups = dict.fromkeys(names, wide)
    drifts = dict.fromkeys(names, nothing_found)
    with pytest.warns(AdaptationWarning) as caught:
        warn_if_doubtful(Adaptation("f", groups, 0.9, drifts=drifts))
    (message,) = [str(warning.message) for warning in caught]
    assert "too little evidence" in message
    assert message.count("(1 row)") == min(n_groups, 10)
    assert ("3 more" in message) == (n_groups == 13)


def test_only_the_groups_that_moved_otherwise_are_named(fitted, batch):
    clf = fitted(pool="threshold")
    moved = np.where((batch.z == 1)[:, None], shifted(batch, 8), batch.X)
    with pytest.warns(
        AdaptationWarning, match=r"changes found in '1' \(\d+% of the estimate"
    ):
        clf.adapt(moved, sensitive_features=batch.z)
