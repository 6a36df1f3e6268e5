"""The simulated batches behind expected rates: distributions, ends and edge cases."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.adaptation import GroupAdaptation
from cape.diagnostics._expected_draws import (
    draw_batches,
    draw_prevalences,
    interval_of_pe,
    interval_of_rate,
    noise_of_rates,
    shares,
)
from cape.pool import MemberRates

share = st.floats(0, 1)
level = st.floats(0.05, 0.99)


def chosen(rows, member=0, estimate=0.5, **changes):
    values = {
        "rows": rows,
        "training_prevalence": 0.5,
        "estimate": estimate,
        "labelled": 0,
        "low": 0.0,
        "high": 1.0,
        "label_free_estimate": estimate,
        "label_free_low": 0.0,
        "label_free_high": 1.0,
        "label_estimate": float("nan"),
        "label_verdict": None,
        "label_p_value": float("nan"),
        "sample_p_value": float("nan"),
        "prior_shift_estimate": estimate,
        "prior_shift_low": 0.0,
        "prior_shift_high": 1.0,
        "mean_score": 0.5,
        "drift": 0.0,
        "held_back": 0.0,
        "verdict": "consistent",
        "member": member,
        "theta": 0.5,
        "predicted_prevalence": 0.5,
        "pd_bound": 1.0,
    }
    return GroupAdaptation(**{**values, **changes})


def rates(true_positives, positives, false_positives, negatives):
    return MemberRates(
        true_positives=np.array([true_positives], dtype=float),
        positives=np.array([positives], dtype=float),
        false_positives=np.array([false_positives], dtype=float),
        negatives=np.array([negatives], dtype=float),
    )


@pytest.fixture(scope="module")
def group(fitted, batch):
    clf = fitted(pool="threshold")
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    adaptation = clf.adapt(evidence=evidence)
    return SimpleNamespace(
        model=clf.model_of(0),
        evidence=evidence.groups[0],
        chosen=adaptation.groups[0],
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_drawn_prevalences_fill_the_intervals_as_often_as_they_say(group, level):
    """Of 40,000 draws the share inside is within five standard errors, 0.0125."""
    random = np.random.default_rng(0)
    drawn = draw_prevalences(group.model, group.evidence, group.chosen, 40_000, random)
    low, high = group.model.quantifier.interval(group.evidence.scores, level)
    inside = ((low <= drawn) & (drawn <= high)).mean()
    assert inside == pytest.approx(level, abs=0.0125)


def test_half_of_the_drawn_prevalences_are_below_the_estimate(group):
    random = np.random.default_rng(1)
    drawn = draw_prevalences(group.model, group.evidence, group.chosen, 40_000, random)
    below = (drawn < group.chosen.estimate).mean()
    assert below == pytest.approx(0.5, abs=0.0125)
    assert drawn.min() >= 0 and drawn.max() <= 1


@settings(max_examples=15)
@given(st.integers(1, 300), share, st.integers(0, 2**31))
def test_rates_of_drawn_batches_are_rates_of_so_many_rows(rows, prevalence, seed):
    """Every rate is a count over the rows of its class; accuracy follows from both."""
    random = np.random.default_rng(seed)
    prevalences = np.full(50, prevalence)
    member = rates(30, 40, 10, 60)
    drawn = draw_batches(member, chosen(rows), prevalences, random)
    positives = np.rint(prevalences * rows)
    negatives = rows - positives
    # Without rows of a class there is no rate, and no error of that kind.
    false_positives = np.nan_to_num(drawn.fpr) * negatives
    false_negatives = np.nan_to_num(drawn.fnr) * positives
    for counts in (false_positives, false_negatives):
        np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    wrong = (false_positives + false_negatives) / rows
    np.testing.assert_allclose(drawn.accuracy, 1 - wrong)


@pytest.mark.parametrize("prevalence", [0.0, 1.0])
def test_a_class_without_rows_has_no_rate_as_in_the_metrics(prevalence):
    random = np.random.default_rng(0)
    drawn = draw_batches(
        rates(30, 40, 10, 60), chosen(25), np.full(20, prevalence), random
    )
    absent = drawn.fnr if prevalence == 0 else drawn.fpr
    present = drawn.fpr if prevalence == 0 else drawn.fnr
    assert np.isnan(absent).all()
    assert interval_of_rate(absent, 0.95) == (0.0, 1.0)
    assert not np.isnan(present).any()


def test_batches_without_a_rate_do_not_move_its_interval():
    drawn = np.linspace(0.2, 0.4, 100)
    undefined = np.full(50, np.nan)
    with_gaps = np.concatenate([drawn, undefined])
    assert interval_of_rate(with_gaps, 0.9) == interval_of_rate(drawn, 0.9)


def test_noise_of_training_makes_rates_worth_fewer_rows():
    drawn = {}
    for noise in (1.0, 4.0):
        random = np.random.default_rng(0)
        member = rates(3000, 4000, 800, 4000)
        prevalences = np.full(20_000, 0.4)
        drawn[noise] = draw_batches(
            member, chosen(10**6), prevalences, random, noise=noise
        )
    # In a large batch the noise of training is all there is: twice the deviation.
    assert drawn[4.0].fpr.std() == pytest.approx(2 * drawn[1.0].fpr.std(), rel=0.03)
    assert drawn[4.0].fnr.std() == pytest.approx(2 * drawn[1.0].fnr.std(), rel=0.03)
    assert drawn[4.0].fpr.mean() == pytest.approx(0.2, abs=0.002)


@pytest.mark.parametrize(
    ("n_models", "sound", "is_threshold_pool", "noisy"),
    [
        (1, True, True, False),  # a hold-out, one split, or a linear learner refitted
        (3, True, True, True),  # the mean of the fold models decides
        (1, False, True, True),  # a flexible learner, refitted
        (3, True, False, False),  # resampled members are counted on unseen rows
    ],
)
def test_rates_are_noisier_where_other_models_decide(
    n_models, sound, is_threshold_pool, noisy
):
    model = SimpleNamespace(
        scoring_models=[None] * n_models,
        test_is_sound=sound,
        pool=SimpleNamespace(decides_by_scoring_models=is_threshold_pool),
    )
    assert (noise_of_rates(model) > 1) == noisy


def test_drawn_rates_have_the_mean_of_the_training_rates():
    """Rates of .75 and .2 known from 4,000 rows a class, in batches of 500."""
    random = np.random.default_rng(0)
    member = rates(3000, 4000, 800, 4000)
    drawn = draw_batches(member, chosen(500), np.full(4000, 0.4), random)
    assert drawn.fnr.mean() == pytest.approx(0.25, abs=0.005)
    assert drawn.fpr.mean() == pytest.approx(0.2, abs=0.005)
    assert drawn.accuracy.mean() == pytest.approx(0.4 * 0.75 + 0.6 * 0.8, abs=0.005)


def test_fewer_training_rows_make_wider_intervals():
    widths = []
    for rows in (20, 200, 20_000):
        random = np.random.default_rng(0)
        member = rates(0.75 * rows, rows, 0.2 * rows, rows)
        drawn = draw_batches(member, chosen(500), np.full(4000, 0.4), random)
        low, high = interval_of_rate(drawn.accuracy, 0.95)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_shares_are_quotients_and_undefined_without_rows(pairs):
    part, whole = np.array(pairs).T
    found = shares(part, whole)
    for quotient, (numerator, denominator) in zip(found, pairs, strict=True):
        if denominator:
            assert quotient == numerator / denominator
        else:
            assert np.isnan(quotient)


@given(st.lists(share, min_size=1, max_size=40), level, level)
def test_ends_of_an_interval_are_drawn_and_nested_by_level(values, one, other):
    values = np.array(values)
    narrow = interval_of_rate(values, min(one, other))
    wide = interval_of_rate(values, max(one, other))
    assert set(narrow) | set(wide) <= set(values.tolist())
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@given(st.lists(share, min_size=1, max_size=9), level)
def test_an_unknown_rate_may_be_anything(values, level):
    assert interval_of_rate(np.array(values), level, known=False) == (0.0, 1.0)


positive_share = st.floats(0.01, 1)
draws = st.lists(st.tuples(positive_share, positive_share), min_size=1, max_size=30)


@given(draws, st.floats(0, 5), level)
def test_the_interval_of_pe_is_nonnegative_and_holds_its_share_of_draws(
    pairs, predicted_ratio, level
):
    own, other = np.array(pairs).T
    low, high = interval_of_pe(own, other, predicted_ratio, level)
    assert 0 <= low <= high
    pe = np.abs(own / other - predicted_ratio)
    inside = (low - 1e-12 <= pe) & (pe <= high + 1e-12)
    # Both tails together leave out at most 1 - level of the draws, and one more each.
    assert inside.mean() >= level - 2 / len(pairs) - 1e-9


@given(positive_share, positive_share, st.floats(0, 5), level)
def test_without_noise_the_interval_of_pe_is_pe(own, other, predicted_ratio, level):
    pe = abs(own / other - predicted_ratio)
    interval = interval_of_pe(
        np.full(7, own), np.full(7, other), predicted_ratio, level
    )
    assert interval == pytest.approx((pe, pe))


def test_pe_may_be_0_where_the_ratio_may_be_either_side():
    own = np.linspace(0.1, 0.3, 21)
    other = np.full(21, 0.4)
    low, high = interval_of_pe(own, other, 0.5, 0.9)
    assert low == 0
    assert high == pytest.approx(0.225, abs=0.03)


def test_a_group_that_may_have_no_positives_makes_pe_unbounded():
    own = np.full(10, 0.2)
    other = np.array([0.0] * 3 + [0.4] * 7)
    low, high = interval_of_pe(own, other, 0.5, 0.9)
    assert np.isinf(high) and low == 0


def test_drift_moves_and_widens_the_drawn_prevalences(group):
    """The draws follow the interval of the adaptation, whatever the scores say."""
    plain = group.chosen
    slid = replace(plain, estimate=plain.estimate + 0.1, held_back=0.5, drift=0.1)
    slid = replace(slid, low=0.05, high=0.9, verdict="drifted")
    draw = partial(draw_prevalences, group.model, group.evidence, n_draws=20_000)
    before = draw(plain, random=np.random.default_rng(0))
    after = draw(slid, random=np.random.default_rng(0))
    assert np.median(after) == pytest.approx(slid.estimate, abs=0.02)
    assert after.std() > 2 * before.std()
    assert after.min() >= 0 and after.max() <= 1


def test_where_nothing_is_known_every_prevalence_is_drawn(group):
    unknown = replace(group.chosen, low=0.0, high=1.0, held_back=1.0)
    drawn = draw_prevalences(
        group.model, group.evidence, unknown, 20_000, np.random.default_rng(0)
    )
    assert np.quantile(drawn, [0.1, 0.5, 0.9]) == pytest.approx(
        [0.1, 0.5, 0.9], abs=0.02
    )


@given(share, share, st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_under_drift_the_observed_share_of_positive_predictions_comes_out(
    prevalence, predicted, seed
):
    """Rates of training may have moved; how many rows are called positive is known."""
    rows = 200
    called = round(predicted * rows)
    adapted = chosen(rows, predicted_prevalence=called / rows, held_back=0.7)
    drawn = draw_batches(
        rates(80, 100, 20, 100),
        adapted,
        np.full(50, prevalence),
        np.random.default_rng(seed),
    )
    positives = round(prevalence * rows)
    true_positives = np.nan_to_num((1 - drawn.fnr) * positives)
    false_positives = np.nan_to_num(drawn.fpr * (rows - positives))
    np.testing.assert_allclose(true_positives + false_positives, called, atol=1e-6)
