"""Rows of the results table, under the paper's names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.experiments import published
from cape.experiments._rows import mean_and_sd, result_row
from cape.metrics import fairness_table


@given(st.integers(0, 10_000))
def test_is_the_fairness_table_under_other_names(seed):
    rng = np.random.default_rng(seed)
    z = np.array(["b", "a"])[np.arange(40) % 2]
    y, y_pred = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    y[:4], y_pred[:4] = [0, 0, 1, 1], [0, 0, 1, 1]  # every group has every kind
    row, table = (
        result_row(y, y_pred, z, ["b", "a"]),
        fairness_table(y, y_pred, sensitive_features=z),
    )
    for rate in ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd"):
        assert [row[f"{rate}_0"], row[f"{rate}_1"]] == [
            table[rate, "b"],
            table[rate, "a"],
        ]
    for rate in ("fpr", "fnr", "accuracy"):
        assert row[f"{rate}_diff"] == table[rate, "difference"]
    assert row["pe"] == pytest.approx(table["pe", "worst pair"])


def test_has_every_column_of_the_paper_and_computes_its_pe():
    printed = published()["table_results"]["compas"]["CAPE-D"]
    y = np.repeat([1, 0, 1, 0], [636, 364, 706, 294])
    z = np.repeat([0, 1], [1000, 1000])
    y_pred = np.concatenate(
        [np.repeat([1, 0], [612, 388]), np.repeat([1, 0], [623, 377])]
    )
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


def test_undefined_is_none():
    row = result_row([1, 0, 1, 0], [0, 0, 1, 1], list("aabb"), ["b", "a"])
    assert row["pe"] is None and row["pe_01"] is None
    assert (
        result_row([1, 0, 1, 0], [0, 0, 1, 1], list("aabb"), ["a", "b"])["pe_01"] == 1.0
    )


def test_predictions_of_one_label_are_fine():
    assert (
        result_row([1, 0, 1, 0], [0, 0, 0, 0], list("aabb"), ["a", "b"])["fnr_0"] == 1.0
    )


def test_three_groups_have_a_worst_pair_and_no_pe_01():
    row = result_row([1, 0] * 3, [1, 0] * 3, list("aabbcc"), ["a", "b", "c"])
    assert row["pe"] == 0 and "pe_01" not in row and row["pd_2"] == 0


def test_mean_and_sd_over_repetitions():
    mean, sd = mean_and_sd([{"x": 1.0, "pe": 0.5}, {"x": 3.0, "pe": None}])
    assert mean == {"x": 2.0, "pe": None} and sd == {
        "x": pytest.approx(np.sqrt(2)),
        "pe": None,
    }
    assert mean_and_sd([{"x": 1.0}])[1] == {"x": 0.0}
