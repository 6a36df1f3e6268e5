"""Metrics between groups: PE, parity, and the paper's table."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cape.metrics as ours
from cape.metrics import (
    fairness_table,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._between import worst_pe

sys.path.append(str(Path(__file__).parent))
from metric_rows import rows_of, weighted_rows

METRICS = {**ours.PARITY, "proportional_equality": proportional_equality}


@given(weighted_rows())
def test_pe_follows_the_definition(case):
    y, y_hat, z, w = case
    settings = {"sensitive_features": z, "sample_weight": w}
    pairs = proportional_equality_matrix(y, y_hat, **settings)
    groups = np.unique(z)

    def ratio(labels, a, b):
        return np.average(labels[z == a], weights=w[z == a]) / np.average(
            labels[z == b], weights=w[z == b]
        )

    for a in groups:
        for b in groups:
            expected = abs(ratio(y, a, b) - ratio(y_hat, a, b))
            assert pairs.loc[a, b] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    worst = proportional_equality(y, y_hat, **settings)
    assert worst == pytest.approx(pairs.to_numpy().max())


@settings(max_examples=15)
@given(weighted_rows(), st.floats(1e-6, 1e6))
def test_order_of_rows_names_and_scale_of_weights_do_not_matter(case, factor):
    y, y_hat, z, w = case
    row = fairness_table(y, y_hat, sensitive_features=z, sample_weight=w)
    order = np.random.default_rng(len(y)).permutation(len(y))
    # Only the ratio of weights within a group matters.
    scaled = w * np.where(z == 0, factor, 3.0)
    again = fairness_table(
        y[order],
        y_hat[order],
        sensitive_features=z[order],
        sample_weight=scaled[order],
    )
    pd.testing.assert_series_equal(row, again)
    names = np.array(["z", 7, "m", 0.5, True], dtype=object)
    renamed = proportional_equality(
        y, y_hat, sensitive_features=names[z], sample_weight=w
    )
    assert renamed == pytest.approx(row["pe", "worst pair"])


@settings(max_examples=15)
@given(weighted_rows())
def test_truth_and_prediction_may_be_swapped_in_accuracy_pd_and_pe(case):
    y, y_hat, z, _ = case
    one = fairness_table(y, y_hat, sensitive_features=z)
    other = fairness_table(y_hat, y, sensitive_features=z)
    for metric in ("accuracy", "pd", "pe"):
        pd.testing.assert_series_equal(one[metric], other[metric])
    pd.testing.assert_series_equal(one["prevalence"], other["predicted_prevalence"])


@pytest.mark.parametrize("n_groups", [1, 2, 4])
@pytest.mark.parametrize("name", METRICS)
def test_equal_groups_are_treated_alike(name, n_groups):
    groups = {f"group {number}": (3, 2, 1, 4) for number in range(n_groups)}
    y, y_hat, z = rows_of(**groups)
    value = METRICS[name](y, y_hat, sensitive_features=z)
    assert value == (1.0 if name.endswith("ratio") else 0.0)


@pytest.mark.parametrize(
    ("y_true", "y_pred"), [([1, 0, 0, 0], [1, 0, 1, 0]), ([1, 0, 1, 0], [1, 0, 0, 0])]
)
def test_a_pair_without_positives_is_undefined(y_true, y_pred):
    z = list("aabb")
    with pytest.warns(UserWarning, match="'b'") as caught:
        pairs = proportional_equality_matrix(y_true, y_pred, sensitive_features=z)
    assert caught[0].filename == __file__
    assert np.isnan(pairs.loc["a", "b"])
    assert np.isnan(pairs.loc["b", "b"])
    assert pairs.loc["b", "a"] == pytest.approx(1)
    with pytest.warns(UserWarning, match="'b'") as caught:
        assert proportional_equality(
            y_true, y_pred, sensitive_features=z
        ) == pytest.approx(1)
    assert caught[0].filename == __file__


def test_no_pair_is_defined():
    with pytest.warns(UserWarning, match="'a', 'b'"):
        assert np.isnan(
            proportional_equality([0, 0], [0, 1], sensitive_features=["a", "b"])
        )
    with warnings.catch_warnings(action="error"):
        assert proportional_equality([0, 0], [0, 1], sensitive_features=list("aa")) == 0


def test_a_table_worked_by_hand():
    y, y_hat, z = rows_of(a=(2, 1, 2, 5), b=(3, 2, 0, 0), c=(0, 0, 0, 1))
    with pytest.warns(UserWarning, match="'c'") as caught:
        row = fairness_table(y, y_hat, sensitive_features=z)
    assert caught[0].filename == __file__
    assert row.index.names == ["metric", "group"]
    assert row["fpr"].tolist() == pytest.approx([1 / 6, 1, 0, 1])
    expected = [1 / 2, 0, np.nan, 1 / 2]
    assert row["fnr"].tolist() == pytest.approx(expected, nan_ok=True)
    assert row["accuracy"].tolist() == pytest.approx([0.7, 0.6, 1, 0.4])
    assert row["pd"].tolist() == pytest.approx([0.1, 0.4, 0])
    assert row["prevalence"].tolist() == pytest.approx([0.4, 0.6, 0])
    assert row["predicted_prevalence"].tolist() == pytest.approx([0.3, 1, 0])
    # a over b: |4/6 - 3/10| = 11/30; b over a: |6/4 - 10/3| = 11/6; c over both: 0
    assert row["pe", "worst pair"] == pytest.approx(11 / 6)


def test_combinations_of_columns_are_named_in_words():
    z = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2]})
    pairs = proportional_equality_matrix([1] * 4, [1] * 4, sensitive_features=z)
    assert pairs.columns.tolist() == ["x, 1", "x, 2", "y, 1", "y, 2"]


def test_groups_whose_names_read_alike_stay_apart_in_the_table():
    y, y_hat = [1, 0, 1, 0], [1, 1, 1, 0]
    z = pd.DataFrame({"a": ["x, y", "x, y", "x", "x"], "b": ["z", "z", "y, z", "y, z"]})
    row = fairness_table(y, y_hat, sensitive_features=z)
    assert sorted(row["fpr"].drop("difference")) == [0.0, 1.0]
    row = fairness_table(y, y_hat, sensitive_features=["difference"] * 2 + ["b"] * 2)
    assert sorted(row["fpr"]) == [0.0, 1.0, 1.0]


def test_a_group_without_positives_is_left_out_and_named():
    """Fairlearn counts its rate as 0, which would make it the worst of all."""
    y, y_hat, z = rows_of(a=(1, 0, 1, 1), b=(1, 0, 0, 0), c=(0, 1, 0, 1))
    with pytest.warns(UserWarning, match="tpr is undefined .* 'c'") as caught:
        value = ours.PARITY["equal_opportunity_difference"](
            y, y_hat, sensitive_features=z
        )
    assert value == 0.5
    assert caught[0].filename == __file__


def test_what_is_defined_for_no_group_is_nan():
    nobody = [0, 0, 0, 0]
    settings = {"sensitive_features": ["a", "a", "b", "b"], "pos_label": 1}
    truth = [0, 1, 0, 1]
    assert np.isnan(METRICS["demographic_parity_ratio"](truth, nobody, **settings))
    assert ours.PARITY["demographic_parity_difference"](truth, nobody, **settings) == 0
    for metric in ("precision_difference", "precision_ratio"):
        with pytest.warns(UserWarning, match="precision is undefined .* 'a', 'b'"):
            assert np.isnan(METRICS[metric](truth, nobody, **settings))
    # The greater of a number and of something unknown is unknown.
    with pytest.warns(UserWarning, match="fpr is undefined"):
        odds = ours.PARITY["equalized_odds_difference"]([1, 1, 1, 1], truth, **settings)
    assert np.isnan(odds)


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=4)
)
def test_worst_pe_is_that_of_people_counted_one_by_one(groups):
    y = np.concatenate([np.arange(20) < positives for positives, _ in groups])
    called = np.concatenate([np.arange(20) < n for _, n in groups])
    sensitive = np.repeat(range(len(groups)), 20)
    expected = proportional_equality(
        y.astype(int), called.astype(int), sensitive_features=sensitive, pos_label=1
    )
    rho, predicted = np.array(groups).T / 20
    assert worst_pe(rho, predicted) == pytest.approx(expected)


def test_worst_pe_passes_over_groups_without_positives():
    assert worst_pe([0.0, 0.4], [0.1, 0.5]) == pytest.approx(abs(0 - 0.1 / 0.5))
    assert np.isnan(worst_pe([0.0, 0.0], [0.1, 0.5]))
    assert np.isnan(worst_pe([0.2, 0.4], [0.0, 0.0]))
