"""Rates expected without labels are observed as often as their intervals say."""

import dataclasses
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Estimate, examine
from cape.datasets import make_synthetic
from cape.examination import ExpectedPerformance
from cape.examination._draws import (
    GroupDraws,
    _noise_of_rates,
    central,
    draw_called,
)
from cape.examination._expected import (
    GroupExpected,
    expect_criteria,
    expect_pe,
    greatest_difference,
)
from cape.metrics import confusion_by_group, proportional_equality_matrix
from cape.rules import (
    CRITERIA,
    Constrained,
    DemographicParity,
    EqualOpportunity,
    GroupSituation,
)
from cape.training._group_model import MemberRates

sys.path.insert(0, str(Path(__file__).parent))
import criteria_worlds

sys.path.pop(0)

METRICS = ("fpr", "fnr", "accuracy")
share = st.floats(0, 1)
level = st.floats(0.05, 0.99)


@pytest.mark.parametrize(
    ("pool", "quantifier"), [("threshold", "spa"), ("resampled", "emq")]
)
@pytest.mark.slow
def test_intervals_hold_their_level_on_labels_that_come_later(pool, quantifier):
    inside = {metric: [] for metric in METRICS}
    pairs = []
    for seed in range(8):
        d = make_synthetic(900, random_state=seed)
        clf = CapeClassifier(
            LogisticRegression(),
            pool=pool,
            quantifier=quantifier,
            cv=5,
            random_state=seed,
        )
        clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
        for n, prevalences in ((120, (0.2, 0.7)), (600, (0.5, 0.35))):
            for k in range(3):
                new = make_synthetic(
                    n, prevalences=prevalences, random_state=1000 * k + seed
                )
                z = {"sensitive_features": new.sensitive_features}
                with warnings.catch_warnings(action="ignore"):
                    seen = examine(clf, new.data, n_draws=400, **z)
                y_pred = clf.predict(new.data, adaptation=seen.adaptation, **z)
                both = seen.compare(new.target, y_pred, **z)
                for metric in METRICS:
                    inside[metric] += both.xs(metric, level="metric")["inside"].tolist()
                pe = proportional_equality_matrix(new.target, y_pred, **z)
                expected = seen.expected.between[0, 1]
                pairs.append(expected.low <= pe.loc[0, 1] <= expected.high)
    for metric, values in inside.items():
        assert np.mean(values) > 0.86, metric  # 96 rates of 8 models
    assert 0.9 < np.mean(list(inside.values())) < 0.995
    assert np.mean(pairs) > 0.85


def test_table_pairs_and_dict(seen):
    table = seen.expected.table()
    for metric in METRICS:
        assert (
            table[metric].between(table[f"{metric}_low"], table[f"{metric}_high"]).all()
        )
    assert table["known"].all() and table["rows"].tolist() == [100, 100]
    assert list(seen.expected.pairs().index) == [(0, 1), (1, 0)]
    content = json.loads(json.dumps(seen.expected.to_dict(), allow_nan=False))
    assert content["groups"][0]["fpr"] == table["fpr"].iloc[0]
    assert len(content["pairs"]) == 2 and content["level"] == 0.95
    other = examine(seen.clf, evidence=seen.evidence, random_state=1)
    assert other.expected != seen.expected


def test_what_a_member_calls_positive_is_part_of_what_to_expect(seen):
    """Predicted share = prevalence x TPR + (1 - prevalence) x FPR."""
    for group, expected in seen.expected.groups.items():
        adapted = seen.adaptation.groups[group]
        rho = adapted.estimate.value
        fpr, fnr = expected.fpr.value, expected.fnr.value
        called = rho * (1 - fnr) + (1 - rho) * fpr
        assert called == pytest.approx(adapted.predicted_prevalence)
        accuracy = rho * (1 - fnr) + (1 - rho) * (1 - fpr)
        assert expected.accuracy.value == pytest.approx(accuracy)


def test_with_all_labels_the_expected_rates_are_the_observed_ones(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    seen = examine(clf, batch.X, batch.y, **groups)
    y_pred = clf.predict(batch.X, adaptation=seen.adaptation, **groups)
    both = seen.compare(batch.y, y_pred, **groups)
    assert both["expected"].tolist() == pytest.approx(both["observed"].tolist())


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_unknown_rates_are_nan_between_0_and_1():
    """With three rows a class left out of the bag, nothing is known of a member."""
    d = make_synthetic(60, random_state=0)
    clf = CapeClassifier(
        LogisticRegression(),
        pool="resampled",
        prevalences=[0.02, 0.98],
        cv=2,
        scores="folds",
        random_state=0,
    ).fit(d.data, d.target)
    seen = examine(clf, d.data)
    expected = seen.expected.groups["everyone"]
    assert not expected.known and np.isnan(expected.accuracy.value)
    rates = [expected.fpr, expected.fnr]
    unknown = [rate for rate in rates if np.isnan(rate.value)]
    assert unknown
    for rate in [expected.accuracy, *unknown]:
        assert (rate.low, rate.high) == (0.0, 1.0)
    assert json.dumps(seen.expected.to_dict(), allow_nan=False)


def test_rates_without_rows_of_their_class_are_not_outside(seen, batch):
    y_pred = seen.clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=seen.adaptation
    )
    both = seen.compare(
        np.ones(200, dtype=int), y_pred, sensitive_features=batch.z, pos_label=1
    )
    fpr = both.xs("fpr", level="metric")
    assert fpr["observed"].isna().all() and fpr["inside"].all()
    assert not both.xs("fnr", level="metric")["observed"].isna().any()
    with pytest.raises(ValueError, match="without 1"):
        seen.compare([0, 1], [0, 1], sensitive_features=[0, 0])


GROUP = GroupExpected(
    rows=25,
    fpr=Estimate(0.4, 0.3, 0.5),
    fnr=Estimate(0.1, 0.0, 0.3),
    accuracy=Estimate(0.6, 0.6, 0.6),
    pd=Estimate(0.1, 0.0, 0.2),
    known=True,
)


def test_expected_and_observed_stand_side_by_side_for_any_groups():
    """FPR 1/2, FNR 1/3 and accuracy 3/5 of ("x", 1); all right in ("y", 2)."""
    expected = ExpectedPerformance({("x", 1): GROUP, ("y", 2): GROUP}, {}, 0.95)
    found = expected.compare(
        confusion_by_group(
            [0, 0, 1, 1, 1, 0, 1],
            [1, 0, 0, 1, 1, 0, 1],
            sensitive_features=pd.DataFrame(
                {"a": list("xxxxxyy"), "b": [1] * 5 + [2] * 2}
            ),
        )
    )
    columns = ["fpr", "fnr", "accuracy", "pd"]
    x, y = expected.table().index
    observed = found["observed"].unstack()
    assert observed.loc[x, columns].tolist() == pytest.approx([1 / 2, 1 / 3, 3 / 5, 0])
    assert observed.loc[y, columns].tolist() == [0, 0, 1, 0]
    # Both ends belong to an interval.
    inside = found["inside"].unstack()
    assert inside.loc[x, columns].tolist() == [True, False, True, True]
    assert inside.loc[y, columns].tolist() == [False, True, False, True]


def test_the_worst_pair_is_defined_and_of_groups_with_rows():
    groups = {"a": GROUP, "b": GROUP, "c": replace(GROUP, rows=9)}
    between = {
        ("a", "b"): Estimate(np.nan, 0, np.inf),
        ("b", "a"): Estimate(0.1, 0, 1),
        ("a", "c"): Estimate(9.0, 0, 10),
    }
    expected = ExpectedPerformance(groups, between, 0.9)
    assert expected.worst_pair() == ("b", "a")
    [entry] = ExpectedPerformance(groups, dict([*between.items()][:1]), 0.9).to_dict()[
        "pairs"
    ]
    assert entry == {
        "group": "a", "other": "b", "pe": None, "pe_low": 0, "pe_high": None,
    }  # fmt: skip
    assert ExpectedPerformance({"a": GROUP}, {}, 0.9).worst_pair() is None


# PE


def pe_of(own, other, drawn_own, drawn_other, level=0.9):
    """Expected PE, given (estimate, predicted) and drawn prevalences of two groups."""
    adapted = {}
    for name, (estimate, predicted) in {"own": own, "other": other}.items():
        adapted[name] = SimpleNamespace(
            estimate=Estimate(estimate), predicted_prevalence=predicted
        )
    pairs = expect_pe(adapted, np.array([drawn_own, drawn_other]), level)
    return pairs["own", "other"]


def test_expected_pe_worked_by_hand():
    """Estimates .2 and .4, predicted .3 and .5: |1/2 - 3/5| and |2 - 5/3|."""
    a, b = (0.2, 0.3), (0.4, 0.5)
    assert pe_of(a, b, [0.2] * 9, [0.4] * 9) == pytest.approx((0.1,) * 3)
    assert pe_of(b, a, [0.4] * 9, [0.2] * 9) == pytest.approx((1 / 3,) * 3)
    # The ratio may be on either side of the predicted one.
    wide = pe_of(a, b, np.linspace(0.1, 0.4, 50), np.full(50, 0.4))
    assert wide.low == 0 and wide.high == pytest.approx(0.4, abs=0.04)
    # A group that may have no positives makes it unbounded.
    assert pe_of(a, b, [0.2] * 10, [0.0] * 3 + [0.4] * 7)[1:] == (0, np.inf)


@pytest.mark.parametrize("without", [(0.0, 0.5), (0.4, 0.0)])
def test_pe_relative_to_a_group_without_positives_is_unknown(without):
    found = pe_of((0.2, 0.3), without, [0.2] * 9, [without[0]] * 9)
    assert found == (np.nan, 0, np.inf)
    other = pe_of(without, (0.2, 0.3), [without[0]] * 9, [0.2] * 9)
    assert other.value == pytest.approx(abs(without[0] / 0.2 - without[1] / 0.3))


positive_share = st.floats(0.01, 1)


@given(
    st.lists(st.tuples(positive_share, positive_share), min_size=1, max_size=30),
    positive_share,
    level,
)
def test_the_interval_of_pe_is_nonnegative_and_holds_its_share_of_draws(
    pairs, predicted, level
):
    own, other = np.array(pairs).T
    found = pe_of((0.5, predicted), (0.5, 0.5), own, other, level)
    assert 0 <= found.low <= found.high
    pe = np.abs(own / other - predicted / 0.5)
    inside = (found.low - 1e-12 <= pe) & (pe <= found.high + 1e-12)
    # Both tails together leave out at most 1 - level of the draws, and one more each.
    assert inside.mean() >= level - 2 / len(pairs) - 1e-9


# The simulated batches


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("drift", ["cautious", "ignore"])
def test_drawn_prevalences_fill_the_intervals_as_often_as_they_say(seen, drift, level):
    """Of 40,000 draws the share inside is within five standard errors, 0.0125."""
    options = {"drift": drift, "level": level, "n_draws": 40_000}
    again = examine(seen.clf, evidence=seen.evidence, **options)
    drawn = again.draws[0].prevalences
    low, high = again.adaptation.groups[0].estimate[1:]
    inside = ((low <= drawn) & (drawn <= high)).mean()
    assert inside == pytest.approx(level, abs=0.0125)
    assert drawn.min() >= 0 and drawn.max() <= 1


def batches(
    counts=(30, 40, 10, 60),
    rows=500,
    prevalence=0.4,
    predicted=0.5,
    noise=1.0,
    n_draws=4000,
    seed=0,
):
    """Draws of a group with one member, from counts of unseen training rows."""
    rates = MemberRates(*(np.array([count], dtype=float) for count in counts))
    situation = GroupSituation(
        share=1.0,
        estimate=Estimate(prevalence, 0.0, 1.0),
        thetas=np.array([0.5]),
        predicted_prevalences=np.array([predicted]),
        rates=rates,
    )
    return GroupDraws(
        situation,
        SimpleNamespace(rows=rows, effective_rows=rows),
        np.full(n_draws, prevalence),
        np.random.default_rng(seed).standard_normal(n_draws),
        noise,
        seed,
        None,
        0.95,
    )


@settings(max_examples=20)
@given(st.integers(1, 300), share, share, st.integers(0, 2**31), st.booleans())
def test_rates_of_drawn_batches_are_rates_of_so_many_rows(
    rows, prevalence, predicted, seed, given_calls
):
    """Every rate is a count over the rows of its class; accuracy follows from both."""
    group = batches(
        rows=rows, prevalence=prevalence, predicted=predicted, n_draws=50, seed=seed
    )
    drawn = group.given_calls(0) if given_calls else group.new_sample(0)
    positives = np.rint(prevalence * rows)
    negatives = rows - positives
    # Without rows of a class there is no rate, and no error of that kind.
    assert np.isnan(drawn.fpr).all() == (negatives == 0)
    assert np.isnan(drawn.fnr).all() == (positives == 0)
    false_positives = np.nan_to_num(drawn.fpr) * negatives
    false_negatives = np.nan_to_num(drawn.fnr) * positives
    for counts in (false_positives, false_negatives):
        np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    wrong = (false_positives + false_negatives) / rows
    np.testing.assert_allclose(drawn.accuracy, 1 - wrong)
    np.testing.assert_allclose(drawn.tpr, 1 - drawn.fnr)
    np.testing.assert_allclose(drawn.prevalence, positives / rows)
    if given_calls:
        called = drawn.predicted_positives
        assert (called == round(predicted * rows)).all()


def test_rates_that_may_have_moved_vary_more():
    plain = batches(counts=(3e5, 4e5, 1e5, 6e5), rows=100_000)
    moved = replace(plain, drift_counts=True)
    widths = {}
    for name, group in (("plain", plain), ("moved", moved)):
        low, high = group.rate_intervals(0)["fnr"]
        widths[name] = high - low
    # The share of 40,000 positives hardly varies by chance.
    assert widths["moved"] > 5 * widths["plain"]


def test_drawn_rates_have_the_mean_of_the_training_rates():
    """Rates of .75 and .2 known from 4,000 rows a class, in batches of 500."""
    drawn = batches((3000, 4000, 800, 4000)).new_sample(0)
    assert drawn.fnr.mean() == pytest.approx(0.25, abs=0.005)
    assert drawn.fpr.mean() == pytest.approx(0.2, abs=0.005)
    assert drawn.accuracy.mean() == pytest.approx(0.4 * 0.75 + 0.6 * 0.8, abs=0.005)


def test_noise_of_training_makes_rates_worth_fewer_rows():
    options = {"rows": 10**6, "n_draws": 20_000}
    plain, noisy = (
        batches((3000, 4000, 800, 4000), noise=noise, **options).new_sample(0)
        for noise in (1.0, 4.0)
    )
    # In a large batch the noise of training is all there is: twice the deviation.
    assert noisy.fpr.std() == pytest.approx(2 * plain.fpr.std(), rel=0.03)
    assert noisy.fnr.std() == pytest.approx(2 * plain.fnr.std(), rel=0.03)
    widths = []
    for rows in (20, 200, 20_000):
        counts = (0.75 * rows, rows, 0.2 * rows, rows)
        low, high = batches(counts).rate_intervals(0)["accuracy"]
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[2]


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
    assert (_noise_of_rates(model) > 1) == noisy


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


@given(st.lists(share, min_size=1, max_size=40), level, level)
def test_ends_of_an_interval_are_drawn_and_nested_by_level(values, one, other):
    values = np.array(values)
    narrow = central(values, min(one, other))
    wide = central(values, max(one, other))
    assert set(narrow) | set(wide) <= set(values.tolist())
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    # Batches without a rate do not move its interval, and unknown may be anything.
    assert central(np.append(values, [np.nan] * 9), one) == central(values, one)
    assert central(values, one, known=False) == central(values[:0], one) == (0.0, 1.0)


# Every criterion, against known truth


NOISY = sorted(set(CRITERIA) - {"demographic_parity_difference"})
NOISY.remove("demographic_parity_ratio")


def look(fitted, batch, rule, **settings):
    """Examine the batch with a rule."""
    clf = fitted(**settings)
    return examine(clf, batch.X, sensitive_features=batch.z, rule=rule)


def with_rule(seen, **rule):
    """What is expected of the same members, if another rule had picked them."""
    adaptation = dataclasses.replace(seen.adaptation, rule=rule)
    return expect_criteria(seen.draws, adaptation, seen.expected)


@pytest.fixture(scope="module")
def simulated():
    """Records of a few dozen batches."""
    options = SimpleNamespace(
        batches=40, batches_per_training=2, groups=2, training_rows=400, rows=200,
        scores="refit", pool="threshold", seed=7,
    )  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        return criteria_worlds.simulate(options)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NOISY, "accuracy"])
def test_intervals_hold_what_is_observed(simulated, name):
    own = simulated[simulated["criterion"] == name]
    inside = own["inside"].mean()
    # Of 80 intervals at .95, fewer than .86 are right in one simulation of 1,000; and
    # they are not right because they are wide.
    assert inside >= 0.86
    assert own["width"].median() < (0.15 if name == "accuracy" else 2.0)


@pytest.mark.slow
def test_the_probability_is_the_share_of_batches_that_meet_the_bound(simulated):
    bounded = simulated[simulated["probability"].notna()]
    bounded = bounded[bounded["criterion"].isin(NOISY)]
    said = bounded["probability"]
    assert len(bounded) > 30 and said.std() > 0.15
    error = bounded["met"] - said
    # Errors of calibrated probabilities have mean 0 and variance p (1 - p).
    spread = np.sqrt((said * (1 - said)).sum()) / len(said)
    assert abs(error.mean()) < 3.5 * spread
    likely = said > 0.5
    # Some twenty batches on each side: a difference has a standard error of .15.
    assert bounded["met"][likely].mean() > bounded["met"][~likely].mean()


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_shares_are_known(fitted, batch, pool):
    seen = look(fitted, batch, DemographicParity(tolerance=0.1), pool=pool)
    y_pred = seen.clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=seen.adaptation
    )
    shares = [y_pred[batch.z == group].mean() for group in (0, 1)]
    found = seen.criteria
    difference = found.values["demographic_parity_difference"]
    assert difference == pytest.approx((np.ptp(shares),) * 3)
    assert found.bounds == {"demographic_parity_difference": 0.1}
    is_met = float(difference.value <= 0.1)
    assert found.probabilities == {"demographic_parity_difference": is_met}
    ratio = found.values["demographic_parity_ratio"]
    assert ratio == pytest.approx((min(shares) / max(shares),) * 3)


def test_a_bound_met_but_for_rounding_is_met(fitted, batch):
    seen = look(fitted, batch, "prevalence")
    name = "demographic_parity_difference"
    tolerance = seen.criteria.values[name].value - 1e-13
    found = with_rule(seen, name="demographic_parity", tolerance=tolerance)
    assert found.probabilities[name] == 1.0


def test_only_bounds_of_the_rule_have_probabilities(fitted, batch):
    bounds = {"proportional_equality": 0.3, "equalized_odds_difference": 0.2}
    found = look(fitted, batch, Constrained(**bounds)).criteria
    assert found.bounds == bounds and set(found.probabilities) == set(bounds)
    # A rule without a tolerance asks for nothing that could be met.
    assert look(fitted, batch, EqualOpportunity()).criteria.probabilities == {}


def test_a_wider_bound_is_more_probable(fitted, batch):
    seen = look(fitted, batch, EqualOpportunity(tolerance=0.05))
    probabilities = []
    for tolerance in (0.0, 0.05, 0.1, 0.3, 1.0):
        found = with_rule(seen, name="equal_opportunity", tolerance=tolerance)
        probabilities.append(found.probabilities["equal_opportunity_difference"])
    assert probabilities == sorted(probabilities)
    assert probabilities[0] < 0.2 and probabilities[-1] == 1.0


def test_table_and_dict_say_the_same(fitted, batch):
    found = look(fitted, batch, EqualOpportunity(tolerance=0.1)).criteria
    entries = json.loads(json.dumps(found.to_dict(), allow_nan=False))["criteria"]
    table = found.table()
    assert [entry["criterion"] for entry in entries] == list(table.index)
    assert list(table.index) == ["accuracy", *CRITERIA]
    assert [entry["value"] for entry in entries] == table["value"].tolist()


def test_one_group_is_compared_with_none(fitted, batch):
    own = batch.z == 1
    seen = examine(fitted(), batch.X[own], sensitive_features=batch.z[own])
    for name in CRITERIA:
        assert seen.criteria.values[name] == (np.nan, 0, np.inf)
    assert 0 < seen.criteria.values["accuracy"].value < 1
    json.dumps(seen.to_dict(), allow_nan=False)


def test_groups_with_unknown_rates_are_not_compared(few_positives):
    found = few_positives.criteria
    value = found.values["equal_opportunity_difference"]
    assert 0 <= value.low <= value.high < 1 and not np.isnan(value.value)
    # Their shares are known all the same.
    groups = few_positives.adaptation.groups.values()
    shares = [group.predicted_prevalence for group in groups]
    difference = found.values["demographic_parity_difference"].value
    assert difference == pytest.approx(np.ptp(shares))


def test_with_labels_the_accuracy_is_inside(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    seen = examine(clf, batch.X, batch.y, **groups)
    y_pred = clf.predict(batch.X, adaptation=seen.adaptation, **groups)
    accuracy = seen.criteria.values["accuracy"]
    assert accuracy.low <= (y_pred == batch.y).mean() <= accuracy.high


def drawn_group(random, predicted, n_draws=400):
    """Draws around a random place."""
    places = random.uniform(0.2, 0.8, 3)
    prevalence, tpr, fpr = np.clip(
        places[:, None] + random.normal(0, 0.03, (3, n_draws)), 0.01, 1
    )
    predicted = np.full(n_draws, predicted)
    return SimpleNamespace(
        prevalence=prevalence, tpr=tpr, fpr=fpr, predicted_prevalence=predicted
    )


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("n_groups", [2, 5])
def test_blocks_of_pairs_are_all_pairs(random, name, n_groups):
    drawn = [drawn_group(random, random.uniform(0.1, 0.9)) for _ in range(n_groups)]
    greatest, (low, high) = greatest_difference(name, drawn, 0.95)
    signed = every_pair(name, drawn)
    np.testing.assert_allclose(greatest, np.abs(signed).max(axis=0))
    differ = (np.quantile(signed, 0.03, axis=1) > 0).any()
    assert differ == (low > 0)
    if differ:
        # One draw of 400 may fall on either side.
        assert np.mean(greatest < low) == pytest.approx(0.025, abs=0.003)
        assert np.mean(greatest > high) == pytest.approx(0.025, abs=0.003)


def test_groups_that_may_be_equal_have_an_interval_from_0(random):
    tpr = 0.5 + random.normal(0, 0.03, (3, 1000))
    drawn = [SimpleNamespace(tpr=rates) for rates in tpr]
    name = "equal_opportunity_difference"
    greatest, (low, high) = greatest_difference(name, drawn, 0.95)
    # Nothing lies below 0, so that the upper end leaves out 5 % and not 2.5 %.
    assert low == 0
    assert np.mean(greatest > high) == pytest.approx(0.05, abs=0.002)


def every_pair(name, drawn):
    """Signed differences of all ordered pairs, one by one."""
    signed = []
    for one in drawn:
        for other in drawn:
            if one is other:
                continue
            if name == "proportional_equality":
                predicted = one.predicted_prevalence / other.predicted_prevalence
                signed.append(one.prevalence / other.prevalence - predicted)
                signed.append(-signed[-1])
            if name in ("equal_opportunity_difference", "equalized_odds_difference"):
                signed.append(one.tpr - other.tpr)
            if name in ("false_positive_rate_difference", "equalized_odds_difference"):
                signed.append(one.fpr - other.fpr)
    return np.array(signed)


def test_pe_relative_to_a_group_without_calls_is_left_out(random):
    drawn = [drawn_group(random, 0.4), drawn_group(random, 0.0)]
    greatest, _ = greatest_difference("proportional_equality", drawn, 0.95)
    expected = drawn[1].prevalence / drawn[0].prevalence
    np.testing.assert_allclose(greatest, expected)
