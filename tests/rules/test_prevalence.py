"""The paper's rule against a loop in exact fractions: ties, order and many batches."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import Estimate
from cape._group_model import MemberRates
from cape.rules import GroupSituation, Prevalence
from cape.rules._base import nearest_member

FINEST = 20


shares = st.integers(0, FINEST).map(lambda k: Fraction(k, FINEST))
member = st.tuples(shares, shares)
any_members = st.lists(member, min_size=1, max_size=12)
members_apart = st.lists(
    member,
    min_size=1,
    max_size=12,
    unique_by=lambda predicted_theta: predicted_theta[1],
)


def brute_force(predicted, thetas, estimate):
    """Choose in exact fractions: nearest prevalence, nearest theta, smaller theta."""
    best = None
    for place in range(len(thetas)):
        key = (
            abs(predicted[place] - estimate),
            abs(thetas[place] - estimate),
            thetas[place],
            place,
        )
        if best is None or key < best:
            best = key
    return best[-1]


def as_arrays(members):
    predicted = np.array([float(predicted) for predicted, _ in members])
    thetas = np.array([float(theta) for _, theta in members])
    return predicted, thetas


@given(any_members, shares)
def test_the_member_is_that_of_the_exact_loop(members, q):
    predicted, thetas = as_arrays(members)
    expected = brute_force(*zip(*members, strict=True), q)
    assert nearest_member(predicted, thetas, float(q)) == expected


@given(
    st.lists(st.tuples(st.lists(shares, min_size=4, max_size=4), shares), min_size=1)
)
def test_many_batches_at_once_are_batch_by_batch(batches):
    thetas = np.array([0.1, 0.4, 0.6, 0.9])
    predicted = np.array([row for row, _ in batches], dtype=float)
    estimates = np.array([q for _, q in batches], dtype=float)
    chosen = nearest_member(predicted, thetas, estimates)
    assert chosen.shape == (len(batches),)
    for row, q, one in zip(predicted, estimates, chosen, strict=True):
        assert nearest_member(row, thetas, q) == one


@given(st.lists(st.tuples(st.integers(0, 7), shares), min_size=1, max_size=30))
def test_single_rows_whose_members_say_yes_or_no(rows):
    """In batches of one row predicted prevalences are 0 or 1, and ties are the rule."""
    thetas = [Fraction(1, 6), Fraction(1, 2), Fraction(5, 6)]
    votes = [[Fraction(bits >> k & 1) for k in range(3)] for bits, _ in rows]
    expected = []
    for vote, (_, q) in zip(votes, rows, strict=True):
        expected.append(brute_force(vote, thetas, q))
    chosen = nearest_member(
        np.array(votes, dtype=float),
        np.array(thetas, dtype=float),
        np.array([float(q) for _, q in rows]),
    )
    assert chosen.tolist() == expected


@given(members_apart, shares, st.randoms())
def test_the_order_of_members_does_not_matter(members, q, random):
    predicted, thetas = as_arrays(members)
    order = list(range(len(members)))
    random.shuffle(order)
    chosen = nearest_member(predicted, thetas, float(q))
    shuffled = nearest_member(predicted[order], thetas[order], float(q))
    assert order[shuffled] == chosen


@given(members_apart, shares)
def test_no_member_is_nearer(members, q):
    predicted, thetas = as_arrays(members)
    chosen = nearest_member(predicted, thetas, float(q))
    distances = np.abs(predicted - float(q))
    assert distances[chosen] <= distances.min() + 1e-12


@given(members_apart, shares)
def test_calling_the_other_class_positive_mirrors_the_choice(members, q):
    """Unless two thetas are just as near, on both sides: then the smaller one wins."""
    predicted, thetas = as_arrays(members)
    chosen = nearest_member(predicted, thetas, float(q))
    mirrored = nearest_member(1 - predicted, 1 - thetas, float(1 - q))
    tied = np.isclose(predicted, predicted[chosen]) | np.isclose(
        predicted + predicted[chosen], 2 * float(q)
    )
    same_theta_distance = np.isclose(
        np.abs(thetas - float(q)), abs(thetas[chosen] - float(q))
    )
    if (tied & same_theta_distance).sum() == 1:
        assert mirrored == chosen


@pytest.mark.parametrize(
    ("predicted", "thetas", "q", "expected"),
    [
        ([0.1, 0.4, 0.8], [0.1, 0.5, 0.9], 0.45, 1),
        ([0.4, 0.6], [0.2, 0.9], 0.5, 0),
        ([0.4, 0.6], [0.2, 0.7], 0.5, 1),
        ([0.5, 0.5], [0.7, 0.3], 0.5, 1),
        ([0.5, 0.5], [0.3, 0.7], 0.5, 0),
        ([0.3, 0.3], [0.5, 0.5], 0.9, 0),
        ([0.7], [0.1], 0.0, 0),
    ],
    ids=[
        "nearest prevalence",
        "nearest theta below",
        "nearest theta above",
        "smaller theta, second",
        "smaller theta, first",
        "twins",
        "alone",
    ],
)
def test_worked_examples(predicted, thetas, q, expected):
    assert nearest_member(np.array(predicted), np.array(thetas), q) == expected


def test_distances_that_differ_by_rounding_alone_are_ties():
    predicted = np.array([0.1 + 0.2, 0.3])
    assert predicted[0] != predicted[1]
    assert nearest_member(predicted, np.array([0.9, 0.5]), 0.3) == 1
    assert nearest_member(predicted, np.array([0.5, 0.9]), 0.3) == 0


def test_distances_that_differ_by_one_row_in_a_billion_are_none():
    predicted = np.array([0.3 + 1e-9, 0.3 + 2e-9])
    assert nearest_member(predicted, np.array([0.9, 0.3]), 0.3) == 0


# The rule


def situation(predicted, thetas, estimate):
    ones = np.ones(len(thetas))
    return GroupSituation(
        share=1.0,
        estimate=Estimate(estimate),
        thetas=np.asarray(thetas),
        predicted_prevalences=np.asarray(predicted),
        rates=MemberRates(ones, ones, ones, ones),
    )


@given(st.dictionaries(st.text(max_size=3), st.tuples(members_apart, shares)))
def test_each_group_is_decided_by_itself(groups):
    situations = {}
    expected = {}
    for name, (members, q) in groups.items():
        predicted, thetas = as_arrays(members)
        situations[name] = situation(predicted, thetas, float(q))
        expected[name] = brute_force(*zip(*members, strict=True), q)
    assert Prevalence().choose(situations) == expected


def test_groups_may_have_pools_of_different_sizes_and_many_batches():
    chosen = Prevalence().choose(
        {
            "small": situation([0.5], [0.5], 0.1),
            "rows": situation(
                [[0.0, 1.0], [1.0, 1.0]], [0.2, 0.8], np.array([0.9, 0.1])
            ),
        }
    )
    assert chosen["small"] == 0
    assert chosen["rows"].tolist() == [1, 0]
