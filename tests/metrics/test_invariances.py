"""What the metrics must not depend on: order, cuts, names, scale of weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.metrics import (
    audit,
    confusion_by_group,
    fairness_table,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._audit import audit_counts
from cape.metrics._rates import Confusion

RATES = (
    "fpr",
    "fnr",
    "accuracy",
    "prevalence",
    "predicted_prevalence",
    "prevalence_difference",
)
counts = st.builds(
    lambda tp, fp, fn, tn: Confusion(tp, fp, fn, tn, tp + fp + fn + tn),
    *[st.integers(0, 50) for _ in range(4)],
)
whole_counts = st.builds(
    lambda tp, fp, fn, tn: Confusion(tp, fp, fn, tn, tp + fp + fn + tn),
    *[st.integers(1, 50) for _ in range(4)],
)


@st.composite
def rows(draw, n_groups=6):
    """Labels, predictions, groups and weights; up to six groups, and both labels."""
    n = draw(st.integers(2, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = np.r_[0, 1, random.integers(0, 2, n)]
    y_hat = np.r_[0, 1, random.integers(0, 2, n)]
    groups_drawn = draw(st.integers(1, n_groups))
    z = random.integers(0, groups_drawn, n + 2)
    weights = random.uniform(0.1, 5, n + 2)
    return y, y_hat, z, weights


@given(rows(), st.data())
def test_counts_of_parts_add_up_to_those_of_the_whole(case, data):
    y, y_hat, z, w = case
    cut = data.draw(st.integers(1, len(y) - 1))
    sums = {}
    for part in (slice(None, cut), slice(cut, None)):
        result = confusion_by_group(
            y[part],
            y_hat[part],
            sensitive_features=z[part],
            sample_weight=w[part],
            pos_label=1,
        )
        for group, confusion in result.items():
            sums[group] = sums[group] + confusion if group in sums else confusion
    whole = confusion_by_group(y, y_hat, sensitive_features=z, sample_weight=w)
    assert sums.keys() == whole.keys()
    for group, confusion in whole.items():
        for name in ("tp", "fp", "fn", "tn", "rows"):
            assert getattr(sums[group], name) == pytest.approx(
                getattr(confusion, name), abs=1e-12
            )


@given(rows())
def test_calling_the_other_label_positive_swaps_the_error_rates_alone(case):
    y, y_hat, z, w = case
    ours, swapped = (
        confusion_by_group(
            y, y_hat, sensitive_features=z, sample_weight=w, pos_label=label
        )
        for label in (1, 0)
    )
    for group, c in ours.items():
        s = swapped[group]
        assert (s.tp, s.fp, s.fn, s.tn, s.rows) == (c.tn, c.fn, c.fp, c.tp, c.rows)
        np.testing.assert_equal((s.fpr, s.fnr), (c.fnr, c.fpr))
        assert (s.accuracy, s.prevalence_difference) == pytest.approx(
            (c.accuracy, c.prevalence_difference)
        )
        assert s.prevalence + c.prevalence == pytest.approx(1)
        assert s.predicted_prevalence + c.predicted_prevalence == pytest.approx(1)


@given(rows())
def test_truth_and_prediction_may_be_swapped_in_accuracy_pd_and_pe(case):
    y, y_hat, z, _ = case
    y, y_hat = np.r_[y, np.ones(6, int)], np.r_[y_hat, np.ones(6, int)]
    z = np.r_[z, np.arange(6)]
    one = fairness_table(y, y_hat, sensitive_features=z)
    other = fairness_table(y_hat, y, sensitive_features=z)
    for metric in ("accuracy", "pd", "pe"):
        pd.testing.assert_series_equal(one[metric], other[metric])
    pd.testing.assert_series_equal(one["prevalence"], other["predicted_prevalence"])


@given(counts)
def test_rates_of_counts_hang_together(c):
    denominators = {"fpr": c.negatives, "fnr": c.positives}
    for name in RATES:
        rate = getattr(c, name)
        # A rate is undefined exactly where its denominator counts nothing.
        assert np.isnan(rate) == (denominators.get(name, c.total) == 0)
        assert np.isnan(rate) or 0 <= rate <= 1
    if not (c.positives and c.negatives):
        return
    rho, rho_hat = c.prevalence, c.predicted_prevalence
    assert c.prevalence_difference == pytest.approx(abs(rho - rho_hat), abs=1e-12)
    assert rho_hat == pytest.approx(rho * (1 - c.fnr) + (1 - rho) * c.fpr, abs=1e-12)
    errors = rho * c.fnr + (1 - rho) * c.fpr
    assert c.accuracy == pytest.approx(1 - errors, abs=1e-12)
    # PD is never more than the share of errors.
    assert c.prevalence_difference <= errors + 1e-12


@given(rows(), st.floats(1e-6, 1e6))
def test_only_the_ratio_of_weights_within_a_group_matters(case, factor):
    y, y_hat, z, w = case
    y, y_hat = np.r_[y, np.ones(6, int)], np.r_[y_hat, np.ones(6, int)]
    z, w = np.r_[z, np.arange(6)], np.r_[w, np.ones(6)]
    scaled = w * np.where(z == 0, factor, 3.0)
    plain = fairness_table(y, y_hat, sensitive_features=z, sample_weight=w)
    other = fairness_table(y, y_hat, sensitive_features=z, sample_weight=scaled)
    pd.testing.assert_series_equal(plain, other)


@given(rows())
def test_rows_without_weight_count_for_nothing_but_rows(case):
    y, y_hat, z, w = case
    dropped = np.arange(len(y)) % 3 == 2
    kept = ~dropped
    with_zeros = confusion_by_group(
        y, y_hat, sensitive_features=z, sample_weight=np.where(kept, w, 0), pos_label=1
    )
    without = confusion_by_group(
        y[kept],
        y_hat[kept],
        sensitive_features=z[kept],
        sample_weight=w[kept],
        pos_label=1,
    )
    for group, c in with_zeros.items():
        assert c.rows == (z == group).sum()
        expected = without.get(group, Confusion(0, 0, 0, 0, 0))
        assert [c.tp, c.fp, c.fn, c.tn] == pytest.approx(
            [expected.tp, expected.fp, expected.fn, expected.tn]
        )


@given(
    st.lists(st.tuples(st.floats(0.05, 1), st.floats(0.05, 1)), min_size=2, max_size=7)
)
def test_pe_of_two_ways_differs_by_the_ratios_it_compares(shares):
    """PE(a, b) = |r - s| and PE(b, a) = |1/r - 1/s|, so their ratio is r s."""
    weights, y, y_hat, z = [], [], [], []
    for group, (rho, rho_hat) in enumerate(shares):
        weights += [
            rho * rho_hat,
            rho * (1 - rho_hat),
            (1 - rho) * rho_hat,
            (1 - rho) * (1 - rho_hat),
        ]
        y, y_hat, z = [*y, 1, 1, 0, 0], [*y_hat, 1, 0, 1, 0], [*z, *[group] * 4]
    pairs = proportional_equality_matrix(
        y, y_hat, sensitive_features=z, sample_weight=weights
    ).to_numpy()
    rho, rho_hat = np.array(shares).T
    r, s = rho[:, None] / rho, rho_hat[:, None] / rho_hat
    np.testing.assert_allclose(pairs, np.abs(r - s), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(pairs, pairs.T * r * s, rtol=1e-6, atol=1e-6)
    worst = proportional_equality(y, y_hat, sensitive_features=z, sample_weight=weights)
    assert worst == pytest.approx(pairs.max())


def test_a_table_worked_by_hand():
    """Group a: TP 2, FP 1, FN 2, TN 5; group b: TP 3, FP 2; group c: one row, TN."""
    y = [1] * 4 + [0] * 6 + [1] * 3 + [0] * 2 + [0]
    y_hat = [1, 1, 0, 0] + [1] + [0] * 5 + [1] * 5 + [0]
    z = ["a"] * 10 + ["b"] * 5 + ["c"]
    with pytest.warns(
        UserWarning, match="without positives or without predicted positives: 'c'"
    ):
        row = fairness_table(y, y_hat, sensitive_features=z)
    assert row["fpr"].tolist() == pytest.approx([1 / 6, 1, 0, 1])
    expected = [1 / 2, 0, np.nan, 1 / 2]
    assert row["fnr"].tolist() == pytest.approx(expected, nan_ok=True)
    assert row["accuracy"].tolist() == pytest.approx([0.7, 0.6, 1, 0.4])
    assert row["pd"].tolist() == pytest.approx([0.1, 0.4, 0])
    assert row["prevalence"].tolist() == pytest.approx([0.4, 0.6, 0])
    assert row["predicted_prevalence"].tolist() == pytest.approx([0.3, 1, 0])
    # a over b: |4/6 - 3/10| = 11/30; b over a: |6/4 - 10/3| = 11/6; c over both: 0
    assert row["pe", "worst pair"] == pytest.approx(11 / 6)


@settings(max_examples=15)
@given(st.lists(whole_counts, min_size=2, max_size=4), st.floats(0.5, 0.99))
@pytest.mark.slow
def test_differences_of_a_pair_turn_their_sign_with_the_pair(groups, level):
    result = audit_counts(dict(enumerate(groups)), level=level, n_resamples=101)
    between = {(f.group, f.other, f.metric): f for f in result.between}
    assert len(between) == 6 * len(groups) * (len(groups) - 1)
    for (a, b, metric), one in between.items():
        other = between[b, a, metric]
        assert other.rows == one.rows
        if metric.endswith("_difference"):
            assert other.estimate.value == pytest.approx(-one.estimate.value)
            assert other.estimate[:0:-1] == pytest.approx(
                (-one.estimate.low, -one.estimate.high)
            )


def test_groups_whose_names_read_alike_stay_apart_in_the_table():
    z = pd.DataFrame({"a": ["x, y", "x, y", "x", "x"], "b": ["z", "z", "y, z", "y, z"]})
    row = fairness_table([1, 0, 1, 0], [1, 1, 1, 0], sensitive_features=z)
    assert sorted(row["fpr"].drop("difference")) == [0.0, 1.0]
    assert row["fpr", "difference"] == 1.0
    row = fairness_table(
        [1, 0, 1, 0], [1, 1, 1, 0], sensitive_features=["difference"] * 2 + ["b"] * 2
    )
    assert sorted(row["fpr"]) == [0.0, 1.0, 1.0]


def test_a_group_without_weight_has_no_rates():
    result = audit(
        [1, 0, 1, 0],
        [1, 0, 1, 1],
        sensitive_features=list("aabb"),
        sample_weight=[0, 0, 1, 1],
    )
    of_a = [finding for finding in result.findings if finding.group == "a"]
    rates = {"fpr", "fnr", "accuracy", "precision"}
    shares = {"prevalence", "predicted_prevalence", "pd"}
    assert {finding.metric for finding in of_a} == rates | shares
    for finding in of_a:
        assert finding.other is None
        assert np.isnan(finding.estimate.value)
        assert finding.rows == 0
