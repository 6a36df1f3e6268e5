"""Rules with bounds against trying every choice: none is better, none is nearer."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.rules import Constrained, DemographicParity, EqualizedOdds
from cape.rules._costs import expected_costs

sys.path.insert(0, str(Path(__file__).parent))
from situations import every_choice, invent, metric, missed_by

NARROWEST = 1e-4

CRITERIA = [
    "proportional_equality",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
    "equalized_odds_difference",
]


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


seeds = st.integers(0, 2**32 - 1)
costs = st.sampled_from([(1.0, 1.0), (1.0, 5.0), (3.0, 0.5)])


def total_costs(groups, cost_fp, cost_fn):
    """Expected cost of every choice, in the order of `every_choice`."""
    total = np.zeros(())
    for group in groups.values():
        own = expected_costs(group, cost_fp=cost_fp, cost_fn=cost_fn, use_shares=True)
        total = total[..., None] + group.share * own
    return total.ravel()


def cost_of(groups, picked):
    """Expected cost of one choice."""
    sizes = [len(group.thetas) for group in groups.values()]
    place = np.ravel_multi_index([picked[name] for name in groups], sizes)
    return total_costs(groups, 1.0, 1.0)[place]


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
@pytest.mark.parametrize(("n_groups", "most"), [(2, 30), (3, 12), (4, 5)])
def test_no_better_choice_meets_the_bounds(n_groups, most, monotone):
    kinds = Counter()
    names = st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=3, unique=True)

    @settings(max_examples=50, derandomize=True)
    @given(seeds, names, st.sampled_from([0.0, 0.0, 0.03]), costs)
    def check(seed, names, tighter, pair_of_costs):
        groups = invent(seed, n_groups, most, monotone=monotone)
        bounds = draw_bounds(seed, groups, names, tighter=tighter)
        kinds[check_against_all(groups, bounds, *pair_of_costs)] += 1

    check()
    # A search that is tested with bounds that never matter is not tested.
    assert kinds["binding"] >= 15, kinds
    assert kinds["infeasible"] >= 3, kinds


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("name", CRITERIA)
def test_each_criterion_by_itself(name, n_groups):
    kinds = Counter()
    for seed in range(15):
        groups = invent(seed, n_groups, 12 if n_groups == 3 else 30)
        bounds = draw_bounds(seed, groups, [name])
        kinds[check_against_all(groups, bounds)] += 1
    assert kinds["binding"] >= 5, kinds


@given(seeds)
@settings(max_examples=30)
def test_the_order_of_groups_does_not_change_the_cost(seed):
    groups = invent(seed, 3, 8)
    rule = EqualizedOdds(tolerance=0.1)
    backwards = dict(reversed(groups.items()))
    other = rule.choose(backwards)
    cost = cost_of(groups, rule.choose(groups))
    assert cost == pytest.approx(cost_of(groups, other), abs=1e-9)


@given(seeds)
@settings(max_examples=30)
def test_a_wider_bound_never_costs_more(seed):
    groups = invent(seed, 2, 20)
    before = np.inf
    name = "demographic_parity_difference"
    for tolerance in (0.0, 0.02, 0.1, 0.5, 1.0):
        picked = DemographicParity(tolerance=tolerance).choose(groups)
        if missed_by({name: tolerance}, groups, [list(picked.values())])[0] > 1e-9:
            continue
        cost = cost_of(groups, picked)
        assert cost <= before + 1e-9
        before = cost
