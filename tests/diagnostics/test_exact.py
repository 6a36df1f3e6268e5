"""The diagnostics on numbers small enough to be worked out by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, binom, norm

from cape._group_model import GroupModel
from cape._shift_test import holm
from cape.adaptation import Adaptation, GroupAdaptation
from cape.diagnostics import ExpectedPerformance, Recommendation, compare_expected
from cape.diagnostics._expected import ExpectedPair, GroupExpected, _expect_pe
from cape.diagnostics._expected_draws import draw_called, interval_of_rate, shares
from cape.diagnostics._moved import _p_value
from cape.diagnostics._recommend import _mean_over_batches, _TrainingRows
from cape.diagnostics._rows_needed import _rows_at
from cape.histogram import ScoreHistogram, round_scores
from cape.quantify import (
    QUANTIFIERS,
    Moments,
    make_quantifier,
    moment_interval,
)

EDGES = round_scores([0.25, 0.5, 0.75])
MIDDLES = round_scores([0.125, 0.375, 0.625, 0.875])


def of(counts):
    counts = np.asarray(counts, dtype=np.int64)
    return ScoreHistogram(EDGES, counts, counts * MIDDLES)


def model(positives, negatives, quantifier="acc"):
    positives, negatives = of(positives), of(negatives)
    n1, n0 = positives.size, negatives.size
    fitted = make_quantifier(quantifier).fit(positives, negatives)
    return GroupModel(
        size=n1 + n0,
        prevalence=n1 / (n1 + n0),
        positives=positives,
        negatives=negatives,
        positive=1,
        scoring_models=[],
        quantifier=fitted,
        pool=None,
    )


def two_shares(k, n, k_, n_):
    """Two-sided p-value of equal shares, with the variance of the second sample."""
    share = k_ / n_
    return 2 * norm.sf(
        abs(k / n - share) / np.sqrt(share * (1 - share) * (1 / n + 1 / n_))
    )


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_counting_above_a_half_moves_as_a_test_of_two_shares(batch):
    found = _p_value(model([5, 10, 25, 40], [60, 40, 15, 5]), of(batch))
    assert found == pytest.approx(
        two_shares(batch[2] + batch[3], sum(batch), 85, 200), abs=1e-12
    )


def test_a_batch_like_training_has_not_moved_and_a_farther_one_has_more():
    trained = model([5, 10, 25, 40], [60, 40, 15, 5], "spa")
    training = np.array([65, 50, 40, 45])
    assert _p_value(trained, of(training)) == pytest.approx(1)
    towards = [
        _p_value(trained, of(training + k * np.array([-6, -2, 2, 6]))) for k in range(8)
    ]
    assert (np.diff(towards) < 0).all()
    away = [
        _p_value(trained, of(training + k * np.array([6, 2, -2, -6]))) for k in range(7)
    ]
    assert away == pytest.approx(towards[:7])
    louder = [
        _p_value(trained, of(factor * (training + np.array([0, 0, 0, 20]))))
        for factor in (1, 2, 10)
    ]
    assert (np.diff(louder) < 0).all()


@pytest.mark.parametrize("quantifier", ["spa", "acc", "histogram"])
def test_swapping_the_classes_does_not_change_what_has_moved(quantifier):
    positives, negatives, batch = [5, 10, 25, 40], [60, 40, 15, 5], of([9, 8, 7, 12])
    swapped = _p_value(model(negatives, positives, quantifier), batch)
    assert _p_value(model(positives, negatives, quantifier), batch) == pytest.approx(
        swapped, abs=1e-9
    )


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize(
    "quantifier", sorted(set(QUANTIFIERS) - {"hdy", "dys"})
)  # which need other edges
def test_one_row_is_no_sign_of_a_move(quantifier, row):
    batch = np.zeros(4, dtype=int)
    batch[row] = 1
    assert (
        _p_value(model([20, 30, 60, 90], [90, 60, 30, 20], quantifier), of(batch))
        > 0.05
    )


@pytest.mark.parametrize("n", [30, 200, 1000])
def test_the_level_of_the_count_is_that_of_the_binomial(n):
    """Exact: half of training is above 1/2, so that a batch's count is binomial.

    Counts are whole numbers, so that the level may be off by the chance of the last
    count accepted at either end.
    """
    trained = model(np.array([0, 3, 0, 7]) * 10**7, np.array([0, 7, 0, 3]) * 10**7)
    chance = binom(n, 0.5).pmf(np.arange(n + 1))
    rejected = np.array(
        [_p_value(trained, of([0, n - k, 0, k])) < 0.1 for k in range(n + 1)]
    )
    assert chance[rejected].sum() == pytest.approx(0.1, abs=2 * chance[~rejected][0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_follows_its_definition_in_any_order(p_values, random):
    """The k-th smallest of m is multiplied by m - k + 1, and the order is kept."""
    m = len(p_values)
    ranked = sorted(p_values)
    steps = np.minimum(
        np.maximum.accumulate([(m - k) * p for k, p in enumerate(ranked)]), 1
    )
    shuffled = random.sample(p_values, m)
    for p, adjusted in zip(shuffled, holm(shuffled), strict=True):
        assert adjusted in [
            pytest.approx(step) for q, step in zip(ranked, steps, strict=True) if q == p
        ]
    assert min(holm(p_values)) == pytest.approx(min(1, m * min(p_values)))


@settings(max_examples=12)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 200))
def test_rows_called_positive_are_beta_binomial(called, others, new):
    """Jeffreys' posterior of a rate, then a binomial: scipy's beta-binomial.

    At any point the share of 4000 draws below it is within five standard errors,
    5 sqrt(.25 / 4000) = .04.
    """
    drawn = draw_called(
        called, called + others, np.full(4000, new), np.random.default_rng(called)
    )
    points = np.unique(drawn)
    exact = betabinom(new, called + 0.5, others + 0.5)
    below = (drawn[:, None] <= points).mean(axis=0)
    assert np.abs(below - exact.cdf(points)).max() < 0.04
    assert drawn.min() >= 0 and drawn.max() <= new


def test_the_centre_of_a_rate_is_made_of_rates_that_can_occur():
    part, whole = np.array([0, 1, 2, 3, 4]), np.array([4, 4, 4, 4, 4])
    assert interval_of_rate(shares(part, whole), 0.5) == (0.25, 0.75)
    assert interval_of_rate(shares(part, whole), 0.99) == (0.0, 1.0)
    assert interval_of_rate(shares(part, np.zeros(5)), 0.9) == (0.0, 1.0)
    assert interval_of_rate(shares(part, whole), 0.5, known=False) == (0.0, 1.0)


def adaptation_of(**groups):
    found = {
        name: GroupAdaptation(
            rows=100,
            labelled=0,
            training_prevalence=0.5,
            estimate=estimate,
            low=0.0,
            high=1.0,
            label_free_estimate=estimate,
            label_free_low=0.0,
            label_free_high=1.0,
            label_estimate=float("nan"),
            label_verdict=None,
            label_p_value=float("nan"),
            sample_p_value=float("nan"),
            prior_shift_estimate=estimate,
            prior_shift_low=0.0,
            prior_shift_high=1.0,
            mean_score=0.5,
            drift=0.0,
            held_back=0.0,
            verdict="consistent",
            member=0,
            theta=0.5,
            predicted_prevalence=predicted,
            pd_bound=1.0,
        )
        for name, (estimate, predicted) in groups.items()
    }
    return Adaptation("f", found, 0.9)


class DrawnPrevalences(dict):
    """Prevalences of simulated batches, in the form that expected PE reads."""

    def prevalences(self, group):
        return self[group]


def test_expected_pe_worked_by_hand():
    """Estimates .2 and .4, predicted .3 and .5: |1/2 - 3/5| and |2 - 5/3|."""
    adaptation = adaptation_of(a=(0.2, 0.3), b=(0.4, 0.5))
    draws = DrawnPrevalences(a=np.full(50, 0.2), b=np.full(50, 0.4))
    for pair, pe in ((("a", "b"), 1 / 10), (("b", "a"), 1 / 3)):
        found = _expect_pe(*pair, adaptation, draws)
        assert (found.pe, found.pe_low, found.pe_high) == pytest.approx((pe, pe, pe))
    draws["a"] = np.linspace(0.1, 0.4, 50)
    wide = _expect_pe("a", "b", adaptation, draws)
    assert wide.pe_low == 0 and wide.pe_high == pytest.approx(0.4, abs=0.04)


EXPECTED = GroupExpected(
    5, 0.4, 0.3, 0.5, 0.1, 0.0, 0.3, 0.6, 0.6, 0.6, 0.1, 0.0, 0.2, True
)


@pytest.mark.parametrize("without", [(0.0, 0.5), (0.4, 0.0)])
def test_pe_relative_to_a_group_without_positives_is_unknown(without):
    adaptation = adaptation_of(a=(0.2, 0.3), b=without)
    draws = DrawnPrevalences(a=np.full(9, 0.2), b=np.full(9, without[0]))
    found = _expect_pe("a", "b", adaptation, draws)
    assert np.isnan(found.pe) and (found.pe_low, found.pe_high) == (0, np.inf)
    assert _expect_pe("b", "a", adaptation, draws).pe == pytest.approx(
        abs(without[0] / 0.2 - without[1] / 0.3)
    )
    groups = {"a": EXPECTED, "b": EXPECTED}
    content = ExpectedPerformance(groups, (found,), 0.9).to_dict()["pairs"]
    assert json.loads(json.dumps(content)) == [
        {"group": "a", "other": "b", "pe": None, "pe_low": 0, "pe_high": None}
    ]


def test_expected_and_observed_stand_side_by_side_for_any_groups():
    """FPR 1/2, FNR 1/3 and accuracy 3/5 of ("x", 1); all right in ("y", 2)."""
    groups = {("x", 1): EXPECTED, ("y", 2): EXPECTED}
    found = compare_expected(
        ExpectedPerformance(
            groups, (ExpectedPair(("x", 1), ("y", 2), 0.1, 0.0, 0.2),), 0.95
        ),
        [0, 0, 1, 1, 1, 0, 1],
        [1, 0, 0, 1, 1, 0, 1],
        sensitive_features=pd.DataFrame({"a": list("xxxxxyy"), "b": [1] * 5 + [2] * 2}),
    )
    observed = found["observed"].unstack()
    columns = ["fpr", "fnr", "accuracy", "pd"]
    assert observed.loc["x, 1", columns].tolist() == pytest.approx(
        [1 / 2, 1 / 3, 3 / 5, 0]
    )
    assert observed.loc["y, 2", columns].tolist() == [0, 0, 1, 0]
    # Both ends belong to an interval.
    inside = found["inside"].unstack()
    assert inside.loc["x, 1", columns].tolist() == [True, False, True, True]
    assert inside.loc["y, 2", columns].tolist() == [False, True, False, True]
    assert found.index.tolist()[:2] == [("x, 1", "fpr"), ("x, 1", "fnr")]


@settings(max_examples=15)
@given(
    st.floats(0, 1),
    st.floats(0.03, 0.6),
    st.floats(0.5, 0.99),
    st.sampled_from(["spa", "acc", "emq", "histogram"]),
)
def test_one_row_fewer_than_needed_is_too_few(rho, width, level, quantifier):
    trained = model([50, 100, 250, 400], [600, 400, 150, 50], quantifier)
    rows, narrowest = _rows_at(trained, rho, width, level)
    t, f = (
        trained.quantifier.statistic_moments(h, rho)
        for h in (trained.positives, trained.negatives)
    )

    def width_of(n):
        return -np.subtract(
            *moment_interval(
                t, f, Moments(f.mean + rho * (t.mean - f.mean), 0.0, n), level
            )
        )

    assert narrowest == pytest.approx(width_of(np.inf))
    if np.isinf(rows):
        assert width_of(10**9) > width
    else:
        assert width_of(rows) <= width and narrowest <= width
        assert rows == 1 or width_of(rows - 1) > width


def test_without_noise_of_training_the_rows_needed_are_the_textbook_s():
    """n = (2 z / width)^2 s / d^2, s the variance within classes, d between means."""
    trained = model(
        np.array([1, 2, 3, 4]) * 10**10, np.array([4, 3, 2, 1]) * 10**10, "acc"
    )
    z = norm.ppf(0.975)
    for width in (0.1, 0.02):
        within = 0.7 * 0.3  # three in ten of either class are on the wrong side
        rows, narrowest = _rows_at(trained, 0.5, width, 0.95)
        assert rows == pytest.approx((2 * z / width) ** 2 * within / 0.4**2, rel=1e-3)
        assert narrowest < 1e-4


@pytest.mark.filterwarnings("ignore:the scores cannot tell the classes apart")
def test_scores_that_tell_nothing_never_have_rows_enough():
    assert _rows_at(model([5, 5, 5, 5], [5, 5, 5, 5], "spa"), 0.5, 0.9, 0.5) == (
        np.inf,
        1.0,
    )


def test_a_summary_of_batches_leaves_out_what_is_undefined():
    found = _mean_over_batches(np.array([[0.1, 1.0], [0.2, np.nan], [0.6, 3.0]]))
    assert found["pd"] == pytest.approx(0.3) and found["pe"] == pytest.approx(2.0)
    assert found["pd_error"] == pytest.approx(np.sqrt(0.07 / 3)) and found[
        "pe_error"
    ] == pytest.approx(1.0)
    assert found["batches"] == 3
    alone = _mean_over_batches(np.array([[0.1, np.nan]]))
    assert (
        alone["pd"] == 0.1
        and np.isnan([alone["pd_error"], alone["pe"], alone["pe_error"]]).all()
    )


def test_the_best_is_the_least_of_its_batch_size_and_what_is_undefined_is_none():
    index = pd.MultiIndex.from_product([[50, 100], ["threshold"], ["cc", "spa"]])
    index.names = ["batch_size", "pool", "quantifier"]
    values = {
        "pd": [0.3, 0.1, 0.2, 0.4],
        "pd_error": 0.01,
        "pe": [1.0, 2.0, 4.0, 3.0],
        "pe_error": np.nan,
    }
    found = Recommendation(pd.DataFrame({**values, "batches": 5}, index=index))
    assert found.best()["quantifier"].tolist() == ["spa", "cc"]
    assert found.best("pe")["quantifier"].tolist() == ["cc", "spa"]
    assert found.table()["pd"].tolist() == [0.1, 0.3, 0.2, 0.4]
    assert [row["pe_error"] for row in found.to_dict()["results"]] == [None] * 4


@settings(max_examples=10)
@given(st.integers(1, 5), st.integers(1, 60), st.integers(0, 2**31))
def test_batches_are_drawn_from_held_out_rows_of_every_group(n_groups, size, seed):
    codes, positive = (
        np.repeat(np.arange(n_groups), 20),
        np.tile([True, False], 10 * n_groups),
    )
    held_out = np.flatnonzero(np.arange(len(codes)) % 20 < 12)
    rows = _TrainingRows(None, None, None, np.array([0, 1]), codes, positive)
    random = np.random.RandomState(seed)
    batches = list(rows.draw_batches(held_out, (size, 7), 3, random))
    assert [n for n, _ in batches] == [size] * 3 + [7] * 3
    for n, rows in batches:
        assert set(rows) <= set(held_out)
        assert np.bincount(codes[rows], minlength=n_groups).tolist() == [n] * n_groups
        for code in range(n_groups):
            share = positive[rows][codes[rows] == code].mean()
            assert (
                min(abs(share - rho) for rho in (0.1, 0.3, 0.5, 0.7, 0.9))
                <= 0.5 / n + 1e-9
            )
