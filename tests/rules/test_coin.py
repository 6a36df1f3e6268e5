"""What a coin between two members would give, and the choice that does without it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.rules import RULES, DemographicParity, EqualOpportunity
from cape.rules._names import make_rule
from cape.rules._search import Candidates, best_with_a_coin

sys.path.insert(0, str(Path(__file__).parent))
from situations import every_choice, invent, metric, situation

METRIC_OF = {
    "proportional_equality": "proportional_equality",
    "demographic_parity": "demographic_parity_difference",
    "equal_opportunity": "equal_opportunity_difference",
    "predictive_equality": "false_positive_rate_difference",
    "equalized_odds": "equalized_odds_difference",
}


def candidates(utilities, values):
    utilities = np.array(utilities, dtype=float)
    values = np.array([values], dtype=float)
    return Candidates(utilities, values, np.ones(utilities.shape, dtype=bool))


def test_two_groups_worked_out_by_hand():
    """Levels from 0 to 1: utilities are L and 1 - 2 L, so that L = 0 is best."""
    members = candidates([[1, 0], [1, -1]], [[1, 0], [0, 1]])
    everyone = np.ones((1, 2), dtype=bool)
    assert best_with_a_coin(members, everyone) == pytest.approx(1, abs=1e-6)
    # A third member lifts the first group's utility at 0.5 above the line.
    members = candidates([[2, 1, 0], [1, -1, -9]], [[0.5, 1, 0], [0, 1, 1]])
    assert best_with_a_coin(members, everyone) == pytest.approx(2, abs=1e-6)


def test_groups_that_are_not_compared_are_free():
    members = candidates([[1, 0], [1, -1]], [[1, 0], [0, 1]])
    nobody = np.array([[True, False]])
    assert best_with_a_coin(members, nobody) == pytest.approx(2, abs=1e-6)


def test_there_is_no_coin_between_values_that_do_not_overlap():
    members = candidates([[1, 0], [1, 0]], [[0.1, 0.2], [0.3, 0.4]])
    assert best_with_a_coin(members, np.ones((1, 2), dtype=bool)) == -np.inf


def mixtures(groups, field, n_levels=201):
    """The best total at each common level, by lines between all pairs of members."""
    levels = np.linspace(0, 1, n_levels)
    total = np.zeros(n_levels)
    for group, utilities in groups:
        values = getattr(group, field)
        best = np.full(n_levels, -np.inf)
        for i in range(len(values)):
            for j in range(len(values)):
                reach = values[j] - values[i]
                weight = np.zeros(n_levels)
                if reach > 0:
                    weight = (levels - values[i]) / reach
                inside = (weight >= 0) & (weight <= 1)
                if reach <= 0:
                    inside = np.isclose(levels, values[i])
                line = utilities[i] + weight * (utilities[j] - utilities[i])
                best = np.where(inside, np.maximum(best, line), best)
        total += best
    return total


@given(st.integers(0, 2**32 - 1), st.sampled_from(["demographic", "opportunity"]))
@settings(max_examples=25, deadline=None)
def test_the_coin_is_the_best_mixture_at_a_common_level(seed, kind):
    rule = DemographicParity() if kind == "demographic" else EqualOpportunity()
    field = "predicted_prevalences" if kind == "demographic" else "tpr"
    groups = invent(seed, 2, 8)
    problem = rule._problem(groups)
    pairs = []
    for group, ranked in zip(groups.values(), problem.ranked, strict=True):
        utilities = np.empty(len(group.thetas))
        utilities[ranked.members] = ranked.utilities
        pairs.append((group, utilities))
    by_levels = mixtures(pairs, field).max()
    coin = problem.total_with_a_coin()
    if by_levels == -np.inf:
        assert coin < 0
    else:
        # The levels of a grid may miss the best level by a little.
        assert by_levels - 1e-6 <= coin <= by_levels + 0.02


@pytest.mark.parametrize("name", METRIC_OF)
@pytest.mark.parametrize("n_groups", [2, 3])
def test_without_tolerance_it_is_the_most_equal_choice_about_as_good_as_the_coin(
    name, n_groups
):
    met = 0
    for seed in range(12):
        groups = invent(seed, n_groups, 10)
        rule = make_rule(name)
        picked = rule.choose(groups)
        problem = rule._problem(groups)
        target = problem.total_with_a_coin() - problem.standard_error()
        choices = every_choice(groups)
        totals = np.zeros(len(choices))
        for place, ranked in enumerate(problem.ranked):
            utilities = np.full(len(list(groups.values())[place].thetas), -np.inf)
            utilities[ranked.members] = ranked.utilities
            totals += utilities[choices[:, place]]
        measured = metric(METRIC_OF[name], groups, choices)
        own = int((choices == list(picked.values())).all(axis=1).argmax())
        least = measured[totals >= target - 1e-12].min()
        assert totals[own] >= target - 1e-9
        assert measured[own] <= least + 1e-4 * max(1.0, least) + 1e-9
        met += target > -np.inf
    assert met >= 6


def test_no_coin_is_tossed():
    groups = invent(3, 3, 10)
    for name in RULES:
        first = make_rule(name).choose(groups)
        assert all(make_rule(name).choose(groups) == first for _ in range(3))


def test_groups_that_are_alike_are_given_the_best_members():
    """Where the cheapest members are equal already, no width is needed."""
    group = situation([1, 0.8, 0], [1, 0.1, 0], [1, 0.4, 0], estimate=0.43)
    picked = EqualOpportunity().choose({"a": group, "b": group})
    assert picked == {"a": 1, "b": 1}


def test_the_standard_error_is_the_spread_of_the_cost_over_samples_of_unseen_rows():
    """Both rates are counted again and again, each on 400 rows."""
    random = np.random.default_rng(0)
    costs = {"cost_fp": 2.0, "cost_fn": 1.0}
    totals = []
    for _ in range(2000):
        tpr = random.binomial(400, 0.8) / 400
        fpr = random.binomial(400, 0.3) / 400
        totals.append(0.5 * (0.4 * (1 - tpr) + 2 * 0.6 * fpr))
    group = situation([0.8], [0.3], [0.5], estimate=0.4, share=0.5, rows=400)
    problem = EqualOpportunity(**costs)._problem({"a": group})
    assert problem.standard_error() == pytest.approx(np.std(totals), rel=0.05)
    # The errors of two groups are independent.
    both = EqualOpportunity(**costs)._problem({"a": group, "b": group})
    expected = np.sqrt(2) * problem.standard_error()
    assert both.standard_error() == pytest.approx(expected)


def test_groups_without_known_rates_add_nothing_to_the_standard_error():
    known = situation([0.8], [0.3], [0.5], rows=400)
    unknown = situation([0.8], [0.3], [0.5], rows=5)
    alone = DemographicParity()._problem({"a": known})
    both = DemographicParity()._problem({"a": known, "b": unknown})
    assert both.standard_error() == alone.standard_error()


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
