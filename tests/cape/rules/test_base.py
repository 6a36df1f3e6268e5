"""What a rule sees of a group; the paper's rule against a loop in exact fractions."""

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import Estimate
from cape.rules import Prevalence, Rule

sys.path.insert(0, str(Path(__file__).parent))
from situations import situation

FINEST = 20

shares = st.integers(0, FINEST).map(lambda k: Fraction(k, FINEST))
members = st.lists(st.tuples(shares, shares), min_size=1, max_size=12)


def test_rates_are_those_of_the_members_and_unknown_below_ten_rows():
    rows = ([100, 100, 5], [200, 9, 200])
    group = situation([0.5] * 3, [0.1] * 3, [0.1, 0.4, 0.7], rows=rows)
    np.testing.assert_allclose(group.tpr, [0.5, 0.5, np.nan])
    np.testing.assert_allclose(group.fpr, [0.1, np.nan, 0.1])
    with pytest.raises(AttributeError):
        group.estimate = 0.5


def test_a_rule_must_choose():
    class Undecided(Rule):
        pass

    with pytest.raises(TypeError, match="choose"):
        Undecided()


def test_a_rule_returns_a_dict(fitted, batch):
    class Lists(Rule):
        def choose(self, groups):
            return [0] * len(groups)

    with pytest.raises(TypeError, match="Lists.choose must return a dict"):
        fitted().adapt(batch.X, sensitive_features=batch.z, rule=Lists())


def test_a_rule_may_look_at_all_groups_together():
    class EqualPredictedPrevalence(Rule):
        def choose(self, groups):
            goal = sum(group.share * group.estimate.value for group in groups.values())
            chosen = {}
            for name, group in groups.items():
                distance = np.abs(group.predicted_prevalences - goal)
                chosen[name] = int(distance.argmin())
            return chosen

    predicted = [0.1, 0.4, 0.7]
    one = situation(predicted, predicted, predicted, estimate=0.3, share=0.25)
    groups = {"a": one, "b": replace(one, share=0.75, estimate=Estimate(0.8))}
    rule = EqualPredictedPrevalence()
    # The common goal is 0.25 x 0.3 + 0.75 x 0.8 = 0.675.
    assert rule.choose(groups) == {"a": 2, "b": 2}
    assert rule.notes(groups, {"a": 2, "b": 2}) == []
    assert Prevalence().choose(groups) == {"a": 1, "b": 2}


def chosen_by_the_paper(predicted, thetas, estimate):
    thetas = np.array(thetas, dtype=float)
    ones = np.ones(len(thetas))
    predicted = np.array(predicted, dtype=float)
    group = situation(ones, ones, predicted, estimate=estimate, thetas=thetas)
    return Prevalence().choose({"a": group})["a"]


def exact_loop(predicted, thetas, estimate):
    """Choose in exact fractions: nearest prevalence, nearest theta, smaller theta."""
    best = None
    for place, (share, theta) in enumerate(zip(predicted, thetas, strict=True)):
        key = (abs(share - estimate), abs(theta - estimate), theta, place)
        if best is None or key < best:
            best = key
    return best[-1]


@given(members, shares)
def test_the_member_is_that_of_the_exact_loop(members, q):
    predicted, thetas = zip(*members, strict=True)
    chosen = chosen_by_the_paper(predicted, thetas, float(q))
    assert chosen == exact_loop(predicted, thetas, q)


@given(
    st.lists(st.tuples(st.lists(shares, min_size=4, max_size=4), shares), min_size=1)
)
def test_many_batches_at_once_are_batch_by_batch(batches):
    thetas = [0.1, 0.4, 0.6, 0.9]
    predicted = np.array([row for row, _ in batches], dtype=float)
    estimates = np.array([q for _, q in batches], dtype=float)
    chosen = chosen_by_the_paper(predicted, thetas, estimates)
    assert chosen.shape == (len(batches),)
    for row, q, one in zip(predicted, estimates, chosen, strict=True):
        assert chosen_by_the_paper(row, thetas, q) == one


@given(st.lists(st.tuples(st.integers(0, 7), shares), min_size=1, max_size=30))
def test_single_rows_whose_members_say_yes_or_no(rows):
    """In batches of one row predicted prevalences are 0 or 1, and ties are the rule."""
    thetas = [Fraction(1, 6), Fraction(1, 2), Fraction(5, 6)]
    votes = [[Fraction(bits >> k & 1) for k in range(3)] for bits, _ in rows]
    estimates = [q for _, q in rows]
    expected = []
    for vote, q in zip(votes, estimates, strict=True):
        expected.append(exact_loop(vote, thetas, q))
    chosen = chosen_by_the_paper(votes, thetas, np.array(estimates, dtype=float))
    assert chosen.tolist() == expected


def test_distances_that_differ_by_rounding_alone_are_ties():
    predicted = [0.1 + 0.2, 0.3]
    assert predicted[0] != predicted[1]
    assert chosen_by_the_paper(predicted, [0.9, 0.5], 0.3) == 1
    assert chosen_by_the_paper(predicted, [0.5, 0.9], 0.3) == 0
    # Distances that differ by one row in a billion are none.
    assert chosen_by_the_paper([0.3 + 1e-9, 0.3 + 2e-9], [0.9, 0.3], 0.3) == 0


@settings(max_examples=10)
@given(st.dictionaries(st.text(max_size=3), st.tuples(members, shares), max_size=5))
def test_each_group_is_decided_by_itself(groups):
    situations = {}
    expected = {}
    for name, (own, q) in groups.items():
        predicted, thetas = np.array(own, dtype=float).T
        situations[name] = situation(
            predicted, predicted, predicted, estimate=float(q), thetas=thetas
        )
        expected[name] = exact_loop(*zip(*own, strict=True), q)
    assert Prevalence().choose(situations) == expected
