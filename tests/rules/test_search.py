"""What is looked up beside branch and bound, which gives the same answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.rules._search import Candidates, best_by_boxes, best_choice

seeds = st.integers(0, 2**32 - 1)


def invent_candidates(random, n_values, n_groups, *, growing):
    """Groups with different numbers of members, at least one each; ties happen."""
    sizes = random.integers(1, 16, n_groups)
    utilities = np.full((n_groups, 15), -np.inf)
    values = np.zeros((n_values, n_groups, 15))
    for group, size in enumerate(sizes):
        utilities[group, :size] = -np.sort(random.integers(0, 30, size)) / 30
        own = random.integers(0, 12, (n_values, size)) / 12
        if growing:
            own = np.sort(own, axis=1)[:, random.permutation(size)]
        values[:, group, :size] = own
    return Candidates(utilities, values, utilities > -np.inf)


def check_against_boxes(candidates, bounds, **settings):
    chosen = best_choice(candidates, bounds, **settings)
    expected = best_by_boxes(candidates, bounds)
    assert (chosen is None) == (expected is None)
    if chosen is None:
        return
    groups = np.arange(len(chosen))
    assert candidates.allowed[groups, chosen].all()
    total = candidates.utilities[groups, chosen].sum()
    assert total == pytest.approx(candidates.utilities[groups, expected].sum())
    values = candidates.values[:, groups, chosen]
    excess = values[:, :, None] - values[:, None, :] - bounds
    assert (excess[:, ~np.eye(len(groups), dtype=bool)] <= 1e-9).all()
    # Nothing is returned that is of no interest.
    assert best_choice(candidates, bounds, at_least=total, **settings) is not None
    assert best_choice(candidates, bounds, at_least=total + 0.1, **settings) is None


@given(
    seeds,
    st.integers(1, 5),
    st.sampled_from([0.0, 1 / 12, 0.1, 0.5, np.inf]),
    st.integers(0, 31),
)
def test_one_value_with_one_bound(seed, n_groups, width, bits):
    random = np.random.default_rng(seed)
    candidates = invent_candidates(random, 1, n_groups, growing=False)
    compared = np.array([bool(bits >> place & 1) for place in range(n_groups)])
    bounds = np.full((1, n_groups, n_groups), np.inf)
    bounds[0][np.ix_(compared, compared)] = width
    check_against_boxes(candidates, bounds, one_window=True)


@given(seeds, st.sampled_from([1, 2, 3]))
def test_two_groups_whose_values_grow_together(seed, n_values):
    random = np.random.default_rng(seed)
    candidates = invent_candidates(random, n_values, 2, growing=True)
    # The bounds of a pair differ, as those of PE do; some pairs are not compared.
    bounds = random.choice([0.0, 0.05, 0.2, 0.5, np.inf], (n_values, 2, 2))
    bounds[:, [0, 1], [0, 1]] = 0.0
    assert candidates.common_order is not None
    check_against_boxes(candidates, bounds)


def test_values_in_two_orders_and_three_groups_are_left_to_the_search():
    utilities = np.array([[0.0, -1.0], [0.0, -1.0]])
    values = np.array([[[0.1, 0.2], [0.1, 0.2]], [[0.1, 0.2], [0.2, 0.1]]])
    assert Candidates(utilities, values, utilities > -np.inf).common_order is None
    one_value = Candidates(utilities, values[:1], utilities > -np.inf)
    assert one_value.common_order.tolist() == [0, 1]
    three = Candidates(np.zeros((3, 2)), np.zeros((1, 3, 2)), np.ones((3, 2), bool))
    assert three.common_order is None
    nothing = Candidates(utilities, np.zeros((0, 2, 2)), utilities > -np.inf)
    assert nothing.common_order is None
