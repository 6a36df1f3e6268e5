"""The one Newton loop: roots inside, at both ends, across gaps, in other brackets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from cape.quantify._likelihood import decreasing_root


def crossing(value):
    """Where a decreasing function on [0, 1] crosses 0, or the end it points to."""
    if value(1) >= 0:
        return 1.0
    if value(0) <= 0:
        return 0.0
    return brentq(value, 0, 1, xtol=1e-13)


@given(
    st.lists(st.floats(-5, 5).filter(lambda x: abs(x) > 0.01), min_size=1, max_size=8),
    st.floats(-4, 4),
)
def test_the_slope_of_a_likelihood_is_solved_as_brentq_does(slopes, shift):
    """Sums of d / (1 + d x), the slope of a likelihood, moved up or down."""
    d = np.array(slopes) / 5.1

    def value(x):
        return float((d / (1 + d * x)).sum() + shift)

    def function(x):
        terms = d / (1 + d * x[:, None])
        return terms.sum(axis=1) + shift, -(terms**2).sum(axis=1)

    root = decreasing_root(function, np.array([0.5]))[0]
    assert root == pytest.approx(crossing(value), abs=1e-8)


@given(
    roots=st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=5),
    bend=st.floats(-0.9, 20),
)
def test_many_functions_are_solved_at_once_and_held_at_the_ends(roots, bend):
    roots = np.array(roots)

    def function(x):  # decreasing on [0, 1], bent one way or the other
        factor = 1 + bend * x * x
        value = (roots - x) * factor
        derivative = -factor + (roots - x) * 2 * bend * x
        return value, derivative

    solved = decreasing_root(function, np.full(len(roots), 0.5))
    np.testing.assert_allclose(solved, np.clip(roots, 0, 1), atol=1e-9)


@given(
    root=st.floats(-20, 30),
    low=st.floats(-10, 0),
    width=st.floats(0.5, 20),
    remainder=st.sampled_from([1 / 64, 0.25, 0.5]),
)
def test_any_bracket_and_any_remainder_give_the_same_root(root, low, width, remainder):
    high = low + width

    def function(x):
        return np.tanh(root - x), -1 / np.cosh(root - x) ** 2

    solved = decreasing_root(
        function,
        np.array([low + width / 3]),
        low=low,
        high=high,
        remainder=remainder,
    )
    assert solved[0] == pytest.approx(np.clip(root, low, high), abs=1e-8)


@pytest.mark.parametrize("probability", [0.1, 0.25, 0.6, 0.9])
def test_bisection_crosses_gaps_in_which_the_function_is_flat(probability):
    """Quantiles of two normal distributions that are far apart and very narrow."""
    centres = np.array([0.2, 0.8])
    spread = 1e-4

    def function(x):
        z = (x[:, None] - centres) / spread
        value = probability - norm.cdf(z).mean(axis=1)
        return value, -norm.pdf(z).mean(axis=1) / spread

    solved = decreasing_root(function, np.array([0.5]), remainder=0.5)
    expected = 0.2 + spread * norm.ppf(2 * probability)
    if probability > 0.5:
        expected = 0.8 + spread * norm.ppf(2 * probability - 1)
    assert solved[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("sign", "end"), [(1.0, 1.0), (-1.0, 0.0)])
def test_a_function_without_slope_gives_the_end_that_it_points_to(sign, end):
    def function(x):
        return np.full_like(x, sign), np.zeros_like(x)

    assert decreasing_root(function, np.array([0.5]))[0] == end
