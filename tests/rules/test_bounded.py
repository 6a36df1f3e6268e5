"""Criteria of a choice, and choices for many bounds."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.rules import CRITERIA, Constrained
from cape.rules._problem import best_within_each, compared_groups, measure_criterion

sys.path.insert(0, str(Path(__file__).parent))
from situations import invent, metric, situation

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=20)
@given(seed=seeds, name=st.sampled_from(sorted(CRITERIA)), monotone=st.booleans())
def test_each_bound_gets_the_choice_of_the_rule(seed, name, monotone):
    groups = invent(seed, 3, 6, monotone=monotone)
    bounds = [0.0, 0.1, 0.5, 1.0]
    costs = {"cost_fp": 2.0, "cost_fn": 1.0}
    choices = best_within_each(groups, name, bounds, **costs)
    for bound, chosen in zip(bounds, choices, strict=True):
        assert chosen == Constrained(**{name: bound}, **costs).choose(groups)


@settings(max_examples=20)
@given(seed=seeds, name=st.sampled_from(sorted(CRITERIA)))
def test_a_criterion_is_measured_by_its_definition(seed, name):
    groups = invent(seed, 3, 6)
    chosen = dict.fromkeys(groups, 0)
    defined = metric(name, groups, np.zeros((1, 3), dtype=int))[0]
    measured = measure_criterion(name, groups, chosen)
    # PE is undefined relative to a group of which nobody is called positive.
    if np.isfinite(defined):
        assert measured == pytest.approx(defined)


@pytest.fixture
def one_unknown():
    """Three groups; c has nine rows of each class, too few to know a rate."""
    return {
        "a": situation([0.9, 0.6], [0.4, 0.1], [0.6, 0.3]),
        "b": situation([0.8, 0.5], [0.3, 0.2], [0.5, 0.3]),
        "c": situation([1.0, 0.0], [1.0, 0.0], [0.9, 0.1], rows=9),
    }


def test_unknown_rates_are_not_compared(one_unknown):
    assert compared_groups("equal_opportunity_difference", one_unknown) == ["a", "b"]
    assert compared_groups("demographic_parity_ratio", one_unknown) == ["a", "b", "c"]
    chosen = dict.fromkeys(one_unknown, 0)
    difference = measure_criterion("equal_opportunity_difference", one_unknown, chosen)
    assert difference == pytest.approx(0.1)


def test_one_group_is_compared_with_none(one_unknown):
    alone = {"a": one_unknown["a"]}
    for name in CRITERIA:
        assert compared_groups(name, alone) == []
        assert np.isnan(measure_criterion(name, alone, {"a": 0}))
