"""Rows of the results table, under the paper's names."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.metrics import (
    equal_opportunity_difference,
    fairness_table,
    false_positive_rate_difference,
    proportional_equality,
)
from cape_paper import published
from cape_paper._rows import (
    DIFFERENCES,
    PARITY,
    RATES,
    mean_and_sd,
    result_row,
)

seeds = st.integers(0, 10_000)


def random_predictions(seed, names=("b", "a"), n_rows=40):
    """Draw labels and predictions; every group has every kind of error."""
    random = np.random.default_rng(seed)
    z = np.array(names)[np.arange(n_rows) % len(names)]
    y = random.integers(0, 2, n_rows)
    y_pred = random.integers(0, 2, n_rows)
    first = 4 * len(names)
    y[:first] = np.repeat([0, 0, 1, 1], len(names))
    y_pred[:first] = np.repeat([0, 1, 0, 1], len(names))
    return y, y_pred, z


@given(seeds)
def test_is_the_fairness_table_under_other_names(seed):
    y, y_pred, z = random_predictions(seed)
    row = result_row(y, y_pred, z, ["b", "a"])
    table = fairness_table(y, y_pred, sensitive_features=z)
    for rate in RATES:
        assert row[f"{rate}_0"] == table[rate, "b"]
        assert row[f"{rate}_1"] == table[rate, "a"]
    for rate in DIFFERENCES:
        assert row[f"{rate}_diff"] == table[rate, "difference"]
    assert row["pe"] == pytest.approx(table["pe", "worst pair"])


@given(seeds)
def test_accuracy_and_pd_follow_from_error_rates_and_prevalence(seed):
    """The definitions of the paper; Theorem 2: PD is at most 1 - accuracy."""
    y, y_pred, z = random_predictions(seed)
    row = result_row(y, y_pred, z, ["b", "a"])
    for place, group in enumerate(["b", "a"]):
        rho = y[z == group].mean()
        false_positives = (1 - rho) * row[f"fpr_{place}"]
        false_negatives = rho * row[f"fnr_{place}"]
        accuracy = 1 - false_positives - false_negatives
        assert row[f"accuracy_{place}"] == pytest.approx(accuracy)
        predicted = rho + false_positives - false_negatives
        assert row[f"predicted_prevalence_{place}"] == pytest.approx(predicted)
        assert row[f"pd_{place}"] == pytest.approx(abs(rho - predicted))
        assert row[f"pd_{place}"] <= 1 - accuracy + 1e-12


@given(seeds)
def test_the_order_of_groups_swaps_their_columns_and_keeps_the_differences(seed):
    y, y_pred, z = random_predictions(seed)
    row = result_row(y, y_pred, z, ["b", "a"])
    swapped = result_row(y, y_pred, z, ["a", "b"])
    for rate in RATES:
        assert row[f"{rate}_0"] == swapped[f"{rate}_1"]
    for rate in DIFFERENCES:
        assert row[f"{rate}_diff"] == swapped[f"{rate}_diff"]
    assert row["pe"] == swapped["pe"]
    assert row["pe"] == pytest.approx(max(row["pe_01"], swapped["pe_01"]))


@given(seeds)
def test_the_order_of_rows_does_not_matter(seed):
    y, y_pred, z = random_predictions(seed, names=("a", "b", "c"))
    order = np.random.default_rng(seed).permutation(len(y))
    row = result_row(y, y_pred, z, ["a", "b", "c"])
    assert result_row(y[order], y_pred[order], z[order], ["a", "b", "c"]) == row


@given(seeds)
def test_a_perfect_prediction_has_no_error_of_any_kind(seed):
    """Theorem 1."""
    y, _, z = random_predictions(seed)
    row = result_row(y, y, z, ["b", "a"])
    for column in ("fpr_0", "fnr_1", "pd_0", "pd_1", "accuracy_diff", "pe", "pe_01"):
        assert row[column] == 0
    assert row["accuracy_0"] == 1


def test_has_every_column_of_the_paper_and_computes_its_pe():
    """Rows with the paper's prevalences of COMPAS and the predictions of its CAPE-D."""
    printed = published()["table_results"]["compas"]["CAPE-D"]
    y = np.repeat([1, 0, 1, 0], [636, 364, 706, 294])
    y_pred = np.repeat([1, 0, 1, 0], [612, 388, 623, 377])
    z = np.repeat([0, 1], [1000, 1000])
    row = result_row(y, y_pred, z, [0, 1])
    assert set(printed) <= set(row)
    for column in (
        "predicted_prevalence_0",
        "predicted_prevalence_1",
        "pd_0",
        "pd_1",
        "pe_01",
    ):
        assert row[column] == pytest.approx(printed[column], abs=0.001)


@given(seeds)
def test_pe_is_that_of_the_metrics(seed):
    y, y_pred, z = random_predictions(seed)
    row = result_row(y, y_pred, z, ["b", "a"])
    assert row["pe"] == proportional_equality(y, y_pred, sensitive_features=z)


@given(seeds)
def test_criteria_of_parity_are_those_of_the_metrics(seed):
    y, y_pred, z = random_predictions(seed, names=("a", "b", "c"))
    groups = {"sensitive_features": z}
    row = result_row(y, y_pred, z, ["a", "b", "c"])
    for name, metric in PARITY.items():
        assert row[name] == metric(y, y_pred, **groups)
    # Tables take these two from the columns of the paper.
    tpr = equal_opportunity_difference(y, y_pred, **groups)
    fpr = false_positive_rate_difference(y, y_pred, **groups)
    assert row["fnr_diff"] == pytest.approx(tpr)
    assert row["fpr_diff"] == pytest.approx(fpr)
    assert row["equalized_odds_difference"] == pytest.approx(max(tpr, fpr))


def test_nobody_called_positive_has_no_ratio_of_shares_and_no_precision():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = result_row([1, 0, 1, 0], [0, 0, 0, 0], list("aabb"), ["a", "b"])
    assert row["demographic_parity_difference"] == 0
    assert row["demographic_parity_ratio"] is None
    assert row["precision_difference"] is None


def test_undefined_is_none_without_a_warning():
    """No row of group a is called positive, so its ratio has no denominator."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = result_row([1, 0, 1, 0], [0, 0, 1, 1], list("aabb"), ["b", "a"])
    assert row["pe"] is None
    assert row["pe_01"] is None


def test_pe_is_not_symmetric_and_one_direction_can_be_defined():
    row = result_row([1, 0, 1, 0], [0, 0, 1, 1], list("aabb"), ["a", "b"])
    assert row["pe_01"] == 1.0
    assert row["pe"] is None


def test_predictions_of_one_label_are_taken():
    row = result_row([1, 0, 1, 0], [0, 0, 0, 0], list("aabb"), ["a", "b"])
    assert row["fnr_0"] == 1.0
    assert row["fpr_1"] == 0.0


def test_three_groups_have_a_worst_pair_and_no_pe_01():
    row = result_row([1, 0] * 3, [1, 0] * 3, list("aabbcc"), ["a", "b", "c"])
    assert row["pe"] == 0
    assert "pe_01" not in row
    assert row["pd_2"] == 0


def test_a_difference_between_three_groups_is_that_of_the_farthest():
    y = [1] * 12
    y_pred = [1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0]
    row = result_row([*y, 0, 0, 0], [*y_pred, 0, 0, 0], list("aaaabbbbccccabc"), "abc")
    assert row["fnr_diff"] == 0.75


def test_mean_and_sd_over_repetitions():
    mean, sd = mean_and_sd([{"x": 1.0, "pe": 0.5}, {"x": 3.0, "pe": None}])
    assert mean == {"x": 2.0, "pe": None}
    assert sd == {"x": pytest.approx(np.sqrt(2)), "pe": None}


def test_one_repetition_has_no_spread():
    summary = mean_and_sd([{"x": 1.0, "pe": None}])
    assert summary.mean == {"x": 1.0, "pe": None}
    assert summary.sd == {"x": 0.0, "pe": None}


columns_of_numbers = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20
)


@given(columns_of_numbers)
def test_means_and_spreads_are_those_of_numpy_column_by_column(values):
    rows = [{"a": a, "b": b} for a, b in values]
    summary = mean_and_sd(rows)
    means = np.mean(values, axis=0)
    spreads = np.std(values, axis=0, ddof=1)
    assert list(summary.mean.values()) == pytest.approx(means.tolist())
    assert list(summary.sd.values()) == pytest.approx(spreads.tolist(), abs=1e-12)
