"""The rule that picks a member, and what an adaptation tells."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import Adaptation
from cape.adaptation import nearest_member

shares = st.integers(0, 20).map(lambda k: k / 20)


@given(
    st.lists(
        st.tuples(shares, shares),
        min_size=1,
        max_size=12,
        unique_by=lambda member: member[1],
    ),
    shares,
)
def test_the_nearest_prevalence_then_the_nearest_theta_then_the_smaller(members, q):
    predicted, thetas = (np.array(column) for column in zip(*members, strict=True))
    found = nearest_member(predicted, thetas, q)
    expected = min(
        range(len(members)),
        key=lambda j: (
            round(abs(predicted[j] - q), 9),
            round(abs(thetas[j] - q), 9),
            thetas[j],
        ),
    )
    assert found == expected


@given(st.lists(shares, min_size=1, max_size=6), st.data())
def test_many_batches_at_once(estimates, data):
    thetas = np.array([0.1, 0.5, 0.9])
    predicted = np.array([[data.draw(shares) for _ in thetas] for _ in estimates])
    one_by_one = [
        nearest_member(row, thetas, q)
        for row, q in zip(predicted, estimates, strict=True)
    ]
    assert nearest_member(predicted, thetas, np.array(estimates)).tolist() == [
        int(j) for j in one_by_one
    ]


@pytest.mark.parametrize("pool", ["resampled", "threshold"])
def test_the_bound_is_what_can_be_computed(fitted, batch, pool):
    """PD <= |q - rho-hat_J| + delta_1, delta_1 from the interval; here it holds for the true prevalence too."""
    clf = fitted(pool=pool)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    for group, found in adaptation.groups.items():
        rows = batch.z == group
        assert found.rows == rows.sum()
        assert found.predicted_prevalence == pytest.approx(y_pred[rows].mean())
        delta_1 = max(found.estimate - found.low, found.high - found.estimate)
        assert found.pd_bound == pytest.approx(
            min(abs(found.estimate - found.predicted_prevalence) + delta_1, 1)
        )
        assert abs(batch.y[rows].mean() - y_pred[rows].mean()) <= found.pd_bound
        assert found.training_prevalence == pytest.approx(0.5)
        assert found.theta == clf.models_[group].pool.thetas[found.member]


def test_a_higher_level_gives_wider_intervals(fitted, batch):
    narrow, wide = (
        fitted().adapt(batch.X, sensitive_features=batch.z, level=level)
        for level in (0.5, 0.99)
    )
    assert (narrow.level, wide.level) == (0.5, 0.99)
    for group in (0, 1):
        a, b = narrow.groups[group], wide.groups[group]
        assert b.low < a.low <= a.estimate == b.estimate <= a.high < b.high
        assert b.pd_bound > a.pd_bound


def test_the_table_and_the_words(fitted, batch):
    adaptation = fitted().adapt(batch.X, sensitive_features=batch.z)
    table = adaptation.table()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "group"
    assert table.index.tolist() == [0, 1]
    assert table["rows"].tolist() == [100, 100]
    lines = repr(adaptation).splitlines()
    assert lines[0] == "Adaptation("
    found = adaptation.groups[0]
    assert lines[1].startswith(
        f"  0: 100 rows, prevalence 0.500 -> {found.estimate:.3f} ({found.low:.3f} to "
    )
    assert lines[1].endswith(f"PD at most {found.pd_bound:.3f}")


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
    assert json.loads(text)["level"] == 0.9
    back = Adaptation.from_json(text)
    assert back == renamed
    assert list(map(type, back.groups)) == list(map(type, names))


def test_json_predicts_the_same(fitted, batch):
    clf = fitted(pool="threshold")
    adaptation = Adaptation.from_json(
        clf.adapt(batch.X, sensitive_features=batch.z).to_json()
    )
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=batch.z, adaptation=adaptation),
        clf.predict(batch.X, sensitive_features=batch.z),
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"groups": 3}', "nonsense", '{"groups": [{"group": 1}]}']
)
def test_what_is_no_adaptation_is_refused(text):
    with pytest.raises(
        ValueError, match="text must be an adaptation's JSON, as to_json writes it, got"
    ):
        Adaptation.from_json(text)


def test_a_group_that_json_cannot_hold(fitted, batch):
    found = fitted().adapt(batch.X, sensitive_features=batch.z)
    odd = Adaptation(found.fingerprint, {pd.Timestamp(0): found.groups[0]})
    with pytest.raises(
        TypeError,
        match="a group must be text or a number to be saved as JSON, got Timestamp",
    ):
        odd.to_json()
