"""Two groups in one order: the lookup gives the answer of the search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.rules._search import Candidates, best_choice
from cape.rules._two_groups import best_of_two, common_order


def invent_candidates(random, n_values, sizes):
    """Two groups whose values grow together; members in order of preference."""
    most = max(sizes)
    utilities = np.full((2, most), -np.inf)
    values = np.zeros((n_values, 2, most))
    for place, size in enumerate(sizes):
        own = -np.sort(random.integers(0, 30, size)) / 30
        utilities[place, :size] = own
        # Few distinct values, so that ties happen.
        growing = np.sort(random.integers(0, 12, (n_values, size)) / 12, axis=1)
        values[:, place, :size] = growing[:, random.permutation(size)]
    return Candidates(utilities, values, utilities > -np.inf)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_values=st.sampled_from([1, 2, 3]),
    sizes=st.tuples(st.integers(1, 12), st.integers(1, 12)),
)
def test_it_is_as_good_as_the_search(seed, n_values, sizes):
    random = np.random.default_rng(seed)
    candidates = invent_candidates(random, n_values, sizes)
    # The bounds of a pair differ, as those of PE do; some pairs are not compared.
    bounds = random.choice([0.0, 0.05, 0.2, 0.5, np.inf], (n_values, 2, 2))
    order = common_order(candidates)
    found = best_of_two(candidates, order, bounds)
    plain = best_choice(candidates, bounds)
    assert (found is None) == (plain is None)
    if found is None:
        return
    groups = np.arange(2)
    total = candidates.utilities[groups, found].sum()
    assert total == pytest.approx(candidates.utilities[groups, plain].sum())
    chosen = candidates.values[:, groups, found]
    excess = chosen[:, :, None] - chosen[:, None, :] - bounds
    assert (excess[:, ~np.eye(2, dtype=bool)] <= 1e-9).all()
    # Nothing is returned that is of no interest.
    assert best_of_two(candidates, order, bounds, at_least=total + 0.01) is None
    assert best_of_two(candidates, order, bounds, at_least=total) is not None


def test_values_in_two_orders_are_left_to_the_search():
    utilities = np.array([[0.0, -1.0], [0.0, -1.0]])
    values = np.array([[[0.1, 0.2], [0.1, 0.2]], [[0.1, 0.2], [0.2, 0.1]]])
    candidates = Candidates(utilities, values, utilities > -np.inf)
    assert common_order(candidates) is None
    one_value = Candidates(utilities, values[:1], utilities > -np.inf)
    assert common_order(one_value).tolist() == [0, 1]


def test_three_groups_are_left_to_the_search():
    utilities = np.zeros((3, 2))
    candidates = Candidates(utilities, np.zeros((1, 3, 2)), utilities == 0)
    assert common_order(candidates) is None
    nothing = Candidates(utilities[:2], np.zeros((0, 2, 2)), utilities[:2] == 0)
    assert common_order(nothing) is None
