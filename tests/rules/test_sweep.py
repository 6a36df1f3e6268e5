"""The sweep over levels beside branch and bound, which gives the same answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.rules._search import Candidates, best_choice
from cape.rules._sweep import _best_in_windows, best_within


def draw_candidates(seed, n_groups):
    random = np.random.default_rng(seed)
    utilities = -np.sort(random.integers(0, 50, (n_groups, 15)) / 10, axis=1)
    values = random.integers(0, 30, (1, n_groups, 15)) / 30
    # Groups have different numbers of members; at least one each.
    n_members = random.integers(1, 16, n_groups)
    allowed = np.arange(15) < n_members[:, None]
    utilities[~allowed] = -np.inf
    return Candidates(utilities, values, allowed)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.sampled_from([0.0, 1 / 30, 0.1, 0.5, np.inf]),
    st.integers(0, 31),
)
def test_both_find_the_same_total(seed, n_groups, width, bits):
    candidates = draw_candidates(seed, n_groups)
    compared = np.array([bool(bits >> place & 1) for place in range(n_groups)])
    bounds = np.full((1, n_groups, n_groups), np.inf)
    bounds[0][np.ix_(compared, compared)] = width
    expected = best_choice(candidates, bounds)
    chosen = best_within(candidates, width, compared)
    assert (chosen is None) == (expected is None)
    if chosen is None:
        return
    groups = np.arange(n_groups)
    assert candidates.allowed[groups, chosen].all()
    total = candidates.utilities[groups, chosen].sum()
    assert total == pytest.approx(candidates.utilities[groups, expected].sum())
    own = candidates.values[0, groups, chosen][compared]
    assert not len(own) or np.ptp(own) <= width + 1e-9
    assert best_within(candidates, width, compared, at_least=total) is not None
    assert best_within(candidates, width, compared, at_least=total + 0.1) is None


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.sampled_from([0.0, 1.0, 3.0, 20.0]),
)
def test_the_first_member_in_each_window(values, width):
    values = np.array(values, dtype=float)
    levels = np.arange(-1.0, 12.0)
    found = _best_in_windows(values, levels, width)
    for level, position in zip(levels, found, strict=True):
        inside = np.flatnonzero((values >= level) & (values <= level + width))
        expected = inside[0] if len(inside) else -1
        assert position == expected
