"""Counts and rates of groups, and Wilson's interval."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from cape.metrics import (
    audit,
    confusion_by_group,
    fairness_table,
    prevalence_difference,
)
from cape.metrics._rates import estimate_of_draws, wilson_interval

sys.path.append(str(Path(__file__).parent))
from metric_rows import weighted_rows

CELLS = ("tp", "fp", "fn", "tn", "rows")


@given(weighted_rows(defined=False))
def test_rates_of_counts_hang_together(case):
    y, y_hat, z, w = case
    counts = confusion_by_group(y, y_hat, sensitive_features=z, sample_weight=w)
    for c in counts.values():
        rates = {
            "fpr": (c.fp, c.negatives),
            "fnr": (c.fn, c.positives),
            "tpr": (c.tp, c.positives),
            "precision": (c.tp, c.predicted_positives),
            "accuracy": (c.tp + c.tn, c.total),
            "prevalence": (c.positives, c.total),
            "predicted_prevalence": (c.predicted_positives, c.total),
        }
        for name, (part, whole) in rates.items():
            # A rate is undefined exactly where its denominator counts nothing.
            expected = part / whole if whole else np.nan
            assert getattr(c, name) == pytest.approx(expected, nan_ok=True)
        rho, rho_hat = c.prevalence, c.predicted_prevalence
        assert c.prevalence_difference == pytest.approx(abs(rho - rho_hat), abs=1e-12)
        # PD is never more than the share of errors.
        assert c.prevalence_difference <= 1 - c.accuracy + 1e-12


@given(weighted_rows(defined=False), st.data())
def test_counts_of_parts_add_up_to_those_of_the_whole(case, data):
    y, y_hat, z, w = case
    cut = data.draw(st.integers(1, len(y) - 1))
    sums = {}
    for part in (slice(None, cut), slice(cut, None)):
        counts = confusion_by_group(
            y[part],
            y_hat[part],
            sensitive_features=z[part],
            sample_weight=w[part],
            pos_label=1,
        )
        for group, confusion in counts.items():
            sums[group] = sums[group] + confusion if group in sums else confusion
    whole = confusion_by_group(y, y_hat, sensitive_features=z, sample_weight=w)
    assert sums.keys() == whole.keys()
    for group, confusion in whole.items():
        for name in CELLS:
            total = getattr(confusion, name)
            assert getattr(sums[group], name) == pytest.approx(total, abs=1e-12)


@given(weighted_rows(defined=False))
def test_calling_the_other_label_positive_swaps_the_cells(case):
    y, y_hat, z, w = case
    settings = {"sensitive_features": z, "sample_weight": w}
    swapped = confusion_by_group(y, y_hat, pos_label=0, **settings)
    for group, c in confusion_by_group(y, y_hat, pos_label=1, **settings).items():
        s = swapped[group]
        assert (s.tp, s.fp, s.fn, s.tn, s.rows) == (c.tn, c.fn, c.fp, c.tp, c.rows)


def test_rows_without_weight_count_for_nothing_but_rows():
    y, y_hat, z = [0, 1, 1, 0], [0, 1, 0, 1], ["a", "a", "b", "b"]
    settings = {"sensitive_features": z, "sample_weight": [2, 0, 0, 0]}
    counts = confusion_by_group(y, y_hat, **settings)
    of_a, of_b = (
        [getattr(counts[group], name) for name in CELLS] for group in ("a", "b")
    )
    assert of_a == [0, 0, 0, 2, 2]
    assert of_b == [0, 0, 0, 0, 2]
    audited = audit(y, y_hat, **settings)
    for finding in audited.findings:
        if finding.group == "b":
            assert np.isnan(finding.estimate.value)
            assert finding.rows == 0


@pytest.mark.parametrize("classes", [("no", "yes"), (False, True), (-1, 1), (1, 2)])
def test_any_two_labels(classes):
    y_true, y_pred = np.array(classes)[[0, 1, 1, 1]], np.array(classes)[[0, 0, 0, 1]]
    confusion = confusion_by_group(y_true, y_pred)["everyone"]
    assert (confusion.tn, confusion.fn, confusion.tp, confusion.fp) == (1, 2, 1, 0)
    other_way = confusion_by_group(y_true, y_pred, pos_label=classes[0])["everyone"]
    assert (other_way.tp, other_way.fp) == (1, 2)
    assert prevalence_difference(pd.Series(y_true), list(y_pred)) == 0.5


def test_one_label_only():
    assert prevalence_difference([0, 0], [0, 0]) == 0
    assert prevalence_difference([1, 1], [1, 1]) == 0
    assert confusion_by_group([-1, -1], [-1, -1])["everyone"].tn == 2
    assert confusion_by_group(["b", "b"], ["b", "b"], pos_label="b")["everyone"].tp == 2
    with pytest.raises(
        ValueError, match=r"pos_label must be given when .* one label only, got \['b'\]"
    ):
        prevalence_difference(["b", "b"], ["b", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"y_pred": [0, 1]},
            "must have the same number of rows, but y_true has 4, y_pred has 2",
        ),
        ({"sensitive_features": ["a"]}, "sensitive_features has 1"),
        ({"sample_weight": [1.0]}, "sample_weight has 1"),
        (
            {"sample_weight": [1, 1, 1, -1]},
            "sample_weight must be at least 0 in every row, got -1.0",
        ),
        (
            {"y_true": [0, 1, None, 1]},
            "y_true must have a label in every row, got 1 missing",
        ),
        (
            {"y_true": [0, 1, 2, 1]},
            r"y_true and y_pred must together hold two labels, got 3: \[0, 1, 2\]",
        ),
        ({"pos_label": 7}, r"pos_label must be one of \[0, 1\], got 7"),
        ({"y_true": [], "y_pred": []}, "y_true must have at least one row, got 0"),
        ({"y_true": None}, "y_true must be a column of labels"),
        (
            {"sensitive_features": ["a", "b", None, "a"]},
            "sensitive_features must name a group in every row, got 1",
        ),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        confusion_by_group(
            **{"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 1], **arguments}
        )


def test_a_rate_that_is_undefined_in_a_group_is_so_in_the_table():
    z = np.repeat(["a", "b", "c"], 20)
    y_true = np.r_[np.ones(20), [0, 1] * 20].astype(int)
    y_pred = np.r_[[0, 1] * 10, [0, 0, 1, 1] * 5, [0, 1] * 10]
    row = fairness_table(y_true, y_pred, sensitive_features=z)
    assert np.isnan(row["fpr", "a"])
    # The groups that have an FPR are compared: "a" is not the best of them.
    assert row["fpr", "difference"] == abs(row["fpr", "b"] - row["fpr", "c"])
    assert row["fnr", "difference"] == 0.5
    # One group that is left cannot be compared, and one group differs from none.
    of_two = z != "c"
    row = fairness_table(y_true[of_two], y_pred[of_two], sensitive_features=z[of_two])
    assert np.isnan(row["fpr", "difference"])
    alone = fairness_table([1, 0], [1, 0], sensitive_features=["a", "a"])
    assert alone["fpr", "difference"] == 0


@given(
    st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(0.5, 0.99),
)
def test_wilson_is_scipys(share, level):
    k, n = share
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    low, high = wilson_interval(k, n, level)
    np.testing.assert_allclose([low, high], [expected.low, expected.high], atol=1e-12)
    # Exactly, and not but for rounding.
    assert k > 0 or low == 0
    assert k < n or high == 1


def test_wilson_covers_as_often_as_it_says_on_average():
    """Exact: the cover over k ~ Binomial(n, p) and p uniform is an average of sums."""
    n, p = 40, np.linspace(0.005, 0.995, 199)
    low, high = wilson_interval(np.arange(n + 1), n, 0.9)
    inside = (low[:, None] <= p) & (p <= high[:, None])
    cover = (binom.pmf(np.arange(n + 1)[:, None], n, p) * inside).sum(axis=0)
    assert cover.mean() == pytest.approx(0.9, abs=0.01)


@settings(max_examples=20)
@given(st.floats(0, 1), st.floats(0.5, 500), st.floats(0.5, 0.99))
def test_wilson_of_fractions_of_rows_holds_the_share(share, trials, level):
    low, high = wilson_interval(share * trials, trials, level)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1


@given(st.floats(-2, 2), st.floats(0, 2), st.floats(0.5, 0.95))
def test_an_estimate_of_draws_has_their_percentiles_and_holds_its_value(
    centre, width, level
):
    draws = np.linspace(centre - width, centre + width, 51)
    possible = {"level": level, "lowest": -9, "highest": 9}
    signed = estimate_of_draws(centre, draws, **possible)
    assert signed.value == centre
    assert signed.width == pytest.approx(2 * width * level)
    # Of an absolute value the interval reaches 0 where the signed one holds 0.
    size = estimate_of_draws(centre, draws, **possible, absolute=True)
    assert size.value == abs(centre)
    assert size.high == max(abs(signed.low), abs(signed.high))
    if signed.low <= 0 <= signed.high:
        assert size.low == 0
    else:
        assert size.low == min(abs(signed.low), abs(signed.high))
    outside = estimate_of_draws(centre + 3, draws, **possible)
    assert outside.high == centre + 3
