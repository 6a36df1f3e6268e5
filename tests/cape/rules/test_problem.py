"""The joint choice against trying every choice, expected costs, and the coin."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.rules import (
    CRITERIA,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
)
from cape.rules._problem import (
    Candidates,
    Problem,
    best_with_a_coin,
    compared_groups,
    expected_costs,
    rates_given_shares,
)

sys.path.insert(0, str(Path(__file__).parent))
from situations import every_choice, invent, metric, missed_by, situation, total_costs

NARROWEST = 1e-4

seeds = st.integers(0, 2**32 - 1)
costs = st.sampled_from([(1.0, 1.0), (1.0, 5.0), (3.0, 0.5)])


# Every choice is tried


def draw_bounds(seed, groups, names, *, tighter=0.0):
    """Bounds that some drawn choice just meets, or does not meet by a little."""
    random = np.random.default_rng(seed)
    choices = every_choice(groups)
    # Of twenty choices the one with the most equal groups, so that bounds matter.
    drawn = choices[random.integers(0, len(choices), 20)]
    parity = metric("equalized_odds_difference", groups, drawn)
    predicted = metric("demographic_parity_ratio", groups, drawn)
    choice = drawn[[(parity - predicted).argmin()]]
    bounds = {}
    for name in names:
        sign = -1 if name.endswith("ratio") else 1
        bound = metric(name, groups, choice)[0] - sign * tighter
        if np.isfinite(bound):
            bounds[name] = float(np.clip(bound, 0, None if sign == 1 else 1))
    return bounds or {"demographic_parity_difference": 0.1}


def check_against_all(groups, bounds, cost_fp=1.0, cost_fn=1.0):
    """Compare the rule's choice with all, and tell what kind of case it was."""
    rule = Constrained(**bounds, cost_fp=cost_fp, cost_fn=cost_fn)
    picked = rule.choose(groups)
    assert list(picked) == list(groups)
    choices = every_choice(groups)
    total = total_costs(groups, cost_fp, cost_fn)
    excess = missed_by(bounds, groups, choices)
    own = int((choices == list(picked.values())).all(axis=1).argmax())
    feasible = excess <= 1e-9
    if not feasible.any():
        # The narrowest widening that any choice needs, and the best within it.
        least = excess.min()
        assert excess[own] <= least + NARROWEST * max(1.0, least) + 1e-9
        assert total[own] <= total[excess <= least + 1e-12].min() + 1e-9
        assert len(rule.notes(groups, picked)) >= 1
        return "infeasible"
    assert feasible[own]
    assert total[own] <= total[feasible].min() + 1e-9
    assert rule.notes(groups, picked) == []
    # Binding: without bounds another choice would be cheaper.
    if total.min() < total[own] - 1e-9:
        return "binding"
    return "free"


@pytest.mark.parametrize("monotone", [True, False], ids=["cuts", "resampled"])
@pytest.mark.parametrize(("n_groups", "most"), [(2, 20), (3, 8), (4, 5)])
def test_no_better_choice_meets_the_bounds(n_groups, most, monotone):
    kinds = Counter()
    names = st.lists(
        st.sampled_from(sorted(CRITERIA)), min_size=1, max_size=3, unique=True
    )

    @settings(max_examples=30, derandomize=True)
    @given(seeds, names, st.sampled_from([0.0, 0.0, 0.03]), costs)
    def check(seed, names, tighter, pair_of_costs):
        groups = invent(seed, n_groups, most, monotone=monotone)
        bounds = draw_bounds(seed, groups, names, tighter=tighter)
        kinds[check_against_all(groups, bounds, *pair_of_costs)] += 1

    check()
    # A search that is tested with bounds that never matter is not tested.
    assert kinds["binding"] >= 8, kinds
    assert kinds["infeasible"] >= 2, kinds


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("name", CRITERIA)
def test_each_criterion_by_itself(name, n_groups):
    kinds = Counter()
    for seed in range(8):
        groups = invent(seed, n_groups, 9 if n_groups == 3 else 30)
        bounds = draw_bounds(seed, groups, [name])
        kinds[check_against_all(groups, bounds)] += 1
    assert kinds["binding"] >= 2, kinds


@given(seeds)
@settings(max_examples=15)
def test_the_order_of_groups_does_not_change_the_cost(seed):
    groups = invent(seed, 3, 8)
    rule = EqualizedOdds(tolerance=0.1)
    sizes = [len(group.thetas) for group in groups.values()]
    found = []
    for ordered in (groups, dict(reversed(groups.items()))):
        picked = rule.choose(ordered)
        place = np.ravel_multi_index([picked[name] for name in groups], sizes)
        found.append(total_costs(groups)[place])
    assert found[0] == pytest.approx(found[1], abs=1e-9)


# Which groups are compared


def test_unknown_rates_are_not_compared():
    groups = {
        "a": situation([0.9, 0.6], [0.4, 0.1], [0.6, 0.3]),
        "b": situation([0.8, 0.5], [0.3, 0.2], [0.5, 0.3]),
        # Too few rows to know a rate.
        "c": situation([1.0, 0.0], [1.0, 0.0], [0.9, 0.1], rows=9),
    }
    assert compared_groups("equal_opportunity_difference", groups) == ["a", "b"]
    assert compared_groups("demographic_parity_ratio", groups) == ["a", "b", "c"]
    problem = Problem(list(groups.values()), ["equal_opportunity_difference"])
    assert problem.measure(0, [0, 0, 0]) == pytest.approx(0.1)
    alone = {"a": groups["a"]}
    for name in CRITERIA:
        assert compared_groups(name, alone) == []
        assert np.isnan(Problem([groups["a"]], [name]).measure(0, [0]))


# Expected costs


def test_costs_are_false_negatives_and_false_positives():
    group = situation([0.8, 1.0], [0.1, 1.0], [0.4, 1.0], estimate=0.3)
    of_members = expected_costs(group, cost_fp=2, cost_fn=5, use_shares=False)
    expected = [5 * 0.3 * 0.2 + 2 * 0.7 * 0.1, 2 * 0.7]
    np.testing.assert_allclose(of_members, expected)


@given(seeds)
def test_corrected_rates_give_the_observed_shares(seed):
    (group,) = invent(seed, 1, 20).values()
    tpr, fpr = rates_given_shares(group)
    shares = group.estimate.value * tpr + (1 - group.estimate.value) * fpr
    inside = (tpr > 0) & (tpr < 1) & (fpr > 0) & (fpr < 1)
    np.testing.assert_allclose(shares[inside], group.predicted_prevalences[inside])
    assert ((tpr >= 0) & (tpr <= 1) & (fpr >= 0) & (fpr <= 1)).all()


def test_equal_costs_are_the_two_forms_with_the_share_weighted_by_variance():
    """The share gives the accuracy from TPR alone, or from FPR alone."""
    q, share, tpr, fpr = 0.4, 0.45, 0.8, 0.2
    group = situation([tpr], [fpr], [share], estimate=q, rows=(200, 50))
    from_tpr = 1 - q - share + 2 * q * tpr
    from_fpr = 1 - q + share - 2 * (1 - q) * fpr
    smooth_tpr = 160.5 / 201
    smooth_fpr = 10.5 / 51
    variance_tpr = 4 * q**2 * smooth_tpr * (1 - smooth_tpr) / 201
    variance_fpr = 4 * (1 - q) ** 2 * smooth_fpr * (1 - smooth_fpr) / 51
    weights = [1 / variance_tpr, 1 / variance_fpr]
    accuracy = np.average([from_tpr, from_fpr], weights=weights)
    of_members = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=True)
    assert 1 - of_members[0] == pytest.approx(accuracy)


@pytest.mark.parametrize("q", [0.0, 1.0])
def test_a_prevalence_of_0_or_1_is_no_division_by_0(q):
    group = situation([0.9, 0.5], [0.2, 0.1], [0.3, 0.2], estimate=q)
    of_members = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=True)
    # All rows are of one class, so that the observed share tells all errors.
    np.testing.assert_allclose(of_members, [abs(q - 0.3), abs(q - 0.2)])


def test_with_the_shares_the_accuracy_is_nearer_the_truth():
    """Simulated: the rates come from 100 rows of a class, the batch has 2,000 rows."""
    random = np.random.default_rng(0)
    errors = []
    for _ in range(400):
        q, tpr, fpr = 0.3, 0.8, 0.2
        n_positive = 600
        called = [random.binomial(100, tpr), random.binomial(100, fpr)]
        true = random.binomial(n_positive, tpr)
        false = random.binomial(2000 - n_positive, fpr)
        accuracy = (true + 1400 - false) / 2000
        share = (true + false) / 2000
        group = situation(
            [called[0] / 100], [called[1] / 100], [share], estimate=q, rows=100
        )
        expected = []
        for use_shares in (False, True):
            [cost] = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=use_shares)
            expected.append(1 - cost)
        errors.append(np.abs(np.array(expected) - accuracy))
    plain, with_shares = np.mean(errors, axis=0)
    assert with_shares < 0.8 * plain


# What a coin between two members would give


def candidates(utilities, values):
    utilities = np.array(utilities, dtype=float)
    values = np.array([values], dtype=float)
    return Candidates(utilities, values, np.ones(utilities.shape, dtype=bool))


def test_two_groups_worked_out_by_hand():
    """Levels from 0 to 1: utilities are L and 1 - 2 L, so that L = 0 is best."""
    everyone = np.ones((1, 2), dtype=bool)
    two = candidates([[1, 0], [1, -1]], [[1, 0], [0, 1]])
    assert best_with_a_coin(two, everyone) == pytest.approx(1, abs=1e-6)
    # Groups that are not compared are free.
    nobody = np.array([[True, False]])
    assert best_with_a_coin(two, nobody) == pytest.approx(2, abs=1e-6)
    # A third member lifts the first group's utility at 0.5 above the line.
    three = candidates([[2, 1, 0], [1, -1, -9]], [[0.5, 1, 0], [0, 1, 1]])
    assert best_with_a_coin(three, everyone) == pytest.approx(2, abs=1e-6)
    # There is no coin between values that do not overlap.
    apart = candidates([[1, 0], [1, 0]], [[0.1, 0.2], [0.3, 0.4]])
    assert best_with_a_coin(apart, everyone) == -np.inf


@pytest.mark.parametrize("name", [name for name in CRITERIA if "ratio" not in name])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_without_tolerance_it_is_the_most_equal_choice_about_as_good_as_the_coin(
    name, n_groups
):
    met = 0
    for seed in range(6):
        groups = invent(seed, n_groups, 10)
        problem = Problem(list(groups.values()), [name])
        picked = problem.solve([None])
        target = problem.total_with_a_coin() - problem.standard_error()
        choices = every_choice(groups)
        totals = np.zeros(len(choices))
        for place, group in enumerate(groups.values()):
            utilities = np.full(len(group.thetas), -np.inf)
            utilities[problem.members[place]] = problem.utilities[place]
            totals += utilities[choices[:, place]]
        measured = metric(name, groups, choices)
        own = int((choices == picked).all(axis=1).argmax())
        least = measured[totals >= target - 1e-12].min()
        assert totals[own] >= target - 1e-9
        assert measured[own] <= least + 1e-4 * max(1.0, least) + 1e-9
        met += target > -np.inf
    assert met >= 3


def test_groups_that_are_alike_are_given_the_best_members():
    """Where the cheapest members are equal already, no width is needed."""
    group = situation([1, 0.8, 0], [1, 0.1, 0], [1, 0.4, 0], estimate=0.43)
    picked = EqualOpportunity().choose({"a": group, "b": group})
    assert picked == {"a": 1, "b": 1}


def test_the_standard_error_is_the_spread_of_the_cost_over_samples_of_unseen_rows():
    """Both rates are counted again and again, each on 400 rows."""
    random = np.random.default_rng(0)
    tpr, fpr = random.binomial(400, [[0.8], [0.3]], (2, 2000)) / 400
    totals = 0.5 * (0.4 * (1 - tpr) + 2 * 0.6 * fpr)
    group = situation([0.8], [0.3], [0.5], estimate=0.4, share=0.5, rows=400)
    name = "equal_opportunity_difference"
    error = Problem([group], [name], cost_fp=2.0).standard_error()
    assert error == pytest.approx(np.std(totals), rel=0.05)
    # The errors of two groups are independent, and unknown rates add nothing.
    unknown = situation([0.8], [0.3], [0.5], rows=5)
    three = Problem([group, group, unknown], [name], cost_fp=2.0)
    assert three.standard_error() == pytest.approx(np.sqrt(2) * error)


@pytest.mark.parametrize(("rows", "difference"), [(100, 0.0), (10**9, 0.1)])
def test_noise_is_not_paid_for_by_inequality(rows, difference):
    """A coin between the outer members of the second group errs less by .03.

    On many rows that is true, and groups differ. On few rows it may be noise.
    """
    first = situation([0.8], [0.2], [0.5], estimate=0.5, share=0.5, rows=rows)
    second = situation(
        [0.92, 0.79, 0.72],
        [0.28, 0.21, 0.08],
        [0.6, 0.5, 0.4],
        estimate=0.5,
        share=0.5,
        rows=rows,
    )
    chosen = DemographicParity().choose({"a": first, "b": second})
    share = second.predicted_prevalences[chosen["b"]]
    assert abs(share - 0.5) == pytest.approx(difference)
