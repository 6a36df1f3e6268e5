"""The paper's theorems, and where its grid falls short."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cape import Estimate
from cape.metrics import confusion_by_group, prevalence_difference
from cape.rules import GroupSituation, Prevalence
from cape.training._sampling import prevalence_grid

labels = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("abc")),
    min_size=1,
    max_size=80,
)
shares = st.floats(0, 1)
epsilons = st.floats(0.02, 0.98)


@given(labels)
def test_theorem_1_a_perfect_classifier_has_no_prevalence_difference(rows):
    y, _, z = zip(*rows, strict=True)
    assert prevalence_difference(y, y) == 0
    groups = confusion_by_group(y, y, sensitive_features=z)
    for confusion in groups.values():
        assert confusion.prevalence_difference == 0


@given(labels)
def test_theorem_2_and_its_corollary_as_an_exact_identity(rows):
    """Delta = delta - 2 min(FN, FP) / n, overall and in every group, exactly."""
    y_true, y_pred, z = zip(*rows, strict=True)
    (overall,) = confusion_by_group(y_true, y_pred).values()
    groups = confusion_by_group(y_true, y_pred, sensitive_features=z)
    for confusion in (overall, *groups.values()):
        n = int(confusion.total)
        tp, tn = int(confusion.tp), int(confusion.tn)
        fp, fn = int(confusion.fp), int(confusion.fn)
        error = 1 - Fraction(tp + tn, n)
        difference = abs(Fraction(tp + fn, n) - Fraction(tp + fp, n))
        assert difference == error - 2 * Fraction(min(fn, fp), n)
        assert difference <= error
        assert confusion.prevalence_difference == float(difference)
        assert 1 - confusion.accuracy == pytest.approx(float(error), abs=1e-15)
    assert prevalence_difference(y_true, y_pred) == overall.prevalence_difference


def covering_radius(grid):
    """Greatest distance of any prevalence in [0, 1] from the grid."""
    return max(grid[0], 1 - grid[-1], *(np.diff(grid) / 2))


def printed_grid(epsilon):
    """Theta as Theorem 3 prints it."""
    k = math.floor(1 / epsilon + 0.5)
    return (np.arange(k) + 0.5) * epsilon


@given(epsilons)
@example(0.3)
@example(0.1)
def test_our_grid_covers_every_prevalence_for_every_epsilon(epsilon):
    k = math.ceil(1 / epsilon)
    assert covering_radius(prevalence_grid(k)) == pytest.approx(1 / (2 * k))
    assert 1 / (2 * k) <= epsilon / 2


@st.composite
def settings_of_theorem_3(draw):
    epsilon = draw(epsilons)
    rho = draw(shares)
    delta_1 = draw(st.floats(0, 0.2))
    delta_2 = draw(st.floats(0, 0.2))
    grid = prevalence_grid(math.ceil(1 / epsilon))
    q = min(max(rho + draw(st.floats(-1, 1)) * delta_1, 0), 1)
    errors = draw(st.lists(st.floats(-1, 1), min_size=len(grid), max_size=len(grid)))
    predicted = np.clip(grid + delta_2 * np.array(errors), 0, 1)
    return epsilon, rho, q, grid, predicted, delta_1, delta_2


def nearest_member(predicted, thetas, q):
    """Pick as CAPE does, from what the members call positive."""
    group = GroupSituation(
        share=1.0,
        estimate=Estimate(q, q, q),
        thetas=np.asarray(thetas),
        predicted_prevalences=np.asarray(predicted),
        rates=None,
    )
    return Prevalence().choose({"": group})[""]


@given(settings_of_theorem_3())
def test_theorem_3_holds_on_our_grid(setting):
    epsilon, rho, q, grid, predicted, delta_1, delta_2 = setting
    member = nearest_member(predicted, grid, q)
    difference = abs(rho - predicted[member])
    assert difference <= delta_1 + delta_2 + epsilon / 2 + 1e-12
    # What can be computed without a label, and is what an adaptation tells:
    assert difference <= abs(q - predicted[member]) + delta_1 + 1e-12


def test_theorem_3_fails_on_the_printed_grid():
    """With eps = 0.3 and q = 1 the bound is 0.15; the nearest point is 0.25 away."""
    grid = printed_grid(0.3)
    assert grid == pytest.approx([0.15, 0.45, 0.75])
    # delta_1 = delta_2 = 0: the predicted prevalence of a member is its theta.
    member = nearest_member(grid, grid, 1.0)
    assert abs(1.0 - grid[member]) == pytest.approx(0.25)
    assert covering_radius(grid) > 0.3 / 2 + 0.09
    assert covering_radius(prevalence_grid(math.ceil(1 / 0.3))) <= 0.3 / 2


def test_both_grids_are_the_paper_s_for_epsilon_a_tenth():
    assert prevalence_grid(10) == pytest.approx(printed_grid(0.1))
    assert prevalence_grid(10) == pytest.approx(np.arange(0.05, 1, 0.1))
