"""Rules with criteria: ties, costs, groups that cannot be compared, and notes."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import Estimate
from cape._group_model import MemberRates
from cape.rules import (
    Accuracy,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    Prevalence,
    ProportionalEquality,
)

sys.path.insert(0, str(Path(__file__).parent))
from situations import invent, situation

RULES_WITH_BOUNDS = [
    Accuracy(),
    ProportionalEquality(tolerance=0.2),
    ProportionalEquality(),
    DemographicParity(tolerance=0.1),
    DemographicParity(ratio=0.8),
    EqualOpportunity(),
    PredictiveEquality(),
    EqualizedOdds(),
]


def without_rates(group):
    few = np.full(len(group.thetas), 5.0)
    return replace(group, rates=MemberRates(few, few, 0 * few, few))


def test_ties_go_to_the_theta_nearest_the_estimate_then_to_the_smaller():
    same = np.full(4, 0.5)
    group = situation(same, same, same, estimate=0.5, thetas=[0.9, 0.7, 0.3, 0.1])
    for rule in RULES_WITH_BOUNDS:
        assert rule.choose({"a": group, "b": group}) == {"a": 2, "b": 2}


def test_costs_that_differ_by_rounding_alone_are_ties():
    group = situation(
        [0.1 + 0.2, 0.3], [0, 0], [0.12, 0.12], estimate=0.4, thetas=[0.9, 0.5]
    )
    assert Accuracy().choose({"a": group}) == {"a": 1}


def test_a_costly_false_negative_makes_members_call_more_rows_positive():
    group = situation(
        [1, 0.9, 0.6, 0], [1, 0.4, 0.1, 0], [1, 0.6, 0.3, 0], estimate=0.4
    )
    chosen = []
    for cost_fn in (0.1, 1, 3, 50):
        chosen.append(Accuracy(cost_fn=cost_fn).choose({"a": group})["a"])
    assert chosen == [3, 2, 1, 0]
    assert Accuracy(cost_fp=1 / 50).choose({"a": group}) == {"a": 0}


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 1.0, 8.0]))
def test_only_the_ratio_of_the_costs_matters(seed, factor):
    groups = invent(seed, 2, 8)
    plain = DemographicParity(tolerance=0.1, cost_fp=2, cost_fn=0.5)
    scaled = DemographicParity(tolerance=0.1, cost_fp=2 * factor, cost_fn=0.5 * factor)
    assert plain.choose(groups) == scaled.choose(groups)


def test_four_fifths():
    few = situation([1, 0.9, 0], [1, 0.05, 0], [1, 0.2, 0], estimate=0.2, share=0.5)
    many = situation(
        [1, 0.95, 0.7, 0], [1, 0.05, 0, 0], [1, 0.6, 0.25, 0], estimate=0.6, share=0.5
    )
    groups = {"few": few, "many": many}
    assert Accuracy().choose(groups) == {"few": 1, "many": 1}
    # 0.2 / 0.25 is four fifths exactly, in spite of rounding.
    assert DemographicParity(ratio=0.8).choose(groups) == {"few": 1, "many": 2}
    assert DemographicParity(ratio=0.3).choose(groups) == {"few": 1, "many": 1}


def test_nobody_is_called_positive_where_that_is_best():
    hopeless = situation([1, 0.5, 0], [1, 0.5, 0], [1, 0.5, 0], estimate=0.1)
    groups = {"a": hopeless, "b": hopeless}
    assert DemographicParity(ratio=0.8).choose(groups) == {"a": 2, "b": 2}


@pytest.mark.parametrize("rule", RULES_WITH_BOUNDS, ids=repr)
def test_no_group_and_one_group(rule):
    assert rule.choose({}) == {}
    assert rule.notes({}, {}) == []
    group = situation([1, 0.8, 0], [1, 0.1, 0], [1, 0.4, 0], estimate=0.43)
    assert rule.choose({"alone": group}) == {"alone": 1}
    assert rule.notes({"alone": group}, {"alone": 1}) == []


@pytest.mark.parametrize("rule", RULES_WITH_BOUNDS, ids=repr)
def test_every_rule_returns_indices_for_all_groups(rule):
    groups = invent(5, 4, 9)
    picked = rule.choose(groups)
    assert list(picked) == list(groups)
    for name, member in picked.items():
        assert type(member) is int
        assert 0 <= member < len(groups[name].thetas)


# Groups that cannot be compared


@given(st.integers(0, 2**32 - 1))
def test_a_group_without_rates_gets_the_papers_member(seed):
    groups = invent(seed, 3, 9)
    groups["small"] = without_rates(groups.pop("g1"))
    known = {name: group for name, group in groups.items() if name != "small"}
    paper = Prevalence().choose(groups)
    for rule in (Accuracy(), EqualOpportunity(tolerance=0.1), EqualizedOdds()):
        picked = rule.choose(groups)
        assert picked.pop("small") == paper["small"]
        assert picked == rule.choose(known)


def test_unknown_rates_are_said():
    groups = invent(1, 3, 9)
    groups["small"] = without_rates(groups.pop("g1"))
    rule = EqualOpportunity(tolerance=1.0)
    notes = rule.notes(groups, rule.choose(groups))
    assert len(notes) == 2
    assert "error rates of 'small' are unknown" in notes[0]
    assert "fewer than 10" in notes[0]
    assert "equal_opportunity_difference is undefined for 'small'" in notes[1]


def test_a_group_without_rates_still_meets_parity_of_shares():
    shares = np.linspace(1, 0, 21)
    group = situation(shares, shares, shares, estimate=0.8, share=0.5)
    other = without_rates(replace(group, estimate=Estimate(0.1)))
    rule = DemographicParity(tolerance=0.05)
    picked = rule.choose({"a": group, "b": other})
    assert abs(picked["a"] - picked["b"]) <= 1
    notes = rule.notes({"a": group, "b": other}, picked)
    assert [("unknown" in note) for note in notes] == [True]


def test_members_without_rates_are_not_chosen_where_others_have_them():
    group = situation([0.5, 0.9, 0.4], [0.2, 0.0, 0.1], [0.3, 0.4, 0.2], estimate=0.4)
    rows = np.array([100.0, 5.0, 100.0])
    tpr = np.array([0.5, 1.0, 0.4])
    group = replace(group, rates=MemberRates(tpr * rows, rows, 0 * rows, rows))
    assert Accuracy().choose({"a": group}) == {"a": 0}


def test_pe_leaves_out_a_group_without_positives():
    groups = invent(2, 3, 12)
    # PE compares shares of positives: that of a group without any has no ratio.
    groups["none"] = replace(groups.pop("g1"), estimate=Estimate(0.0))
    known = {name: group for name, group in groups.items() if name != "none"}
    rule = ProportionalEquality(tolerance=0.5)
    picked = rule.choose(groups)
    assert picked["none"] == Prevalence().choose(groups)["none"]
    assert {name: picked[name] for name in known} == rule.choose(known)
    notes = rule.notes(groups, picked)
    assert any("undefined for 'none'" in note for note in notes)


def test_pe_leaves_out_a_group_in_which_nobody_can_be_called_positive():
    silent = situation([0.2, 0.1], [0.0, 0.0], [0.0, 0.0], estimate=0.1)
    groups = {"silent": silent, **invent(2, 2, 12)}
    rule = ProportionalEquality(tolerance=0.5)
    picked = rule.choose(groups)
    assert picked["silent"] == Prevalence().choose(groups)["silent"]
    assert any("'silent'" in note for note in rule.notes(groups, picked))


def test_pe_never_chooses_a_share_of_0():
    """PE is undefined relative to a group in which nobody is called positive."""
    hopeless = situation([1, 0.5, 0], [1, 0.5, 0], [1, 0.5, 0], estimate=0.1, share=0.5)
    groups = {"a": hopeless, "b": hopeless}
    assert Accuracy().choose(groups) == {"a": 2, "b": 2}
    assert ProportionalEquality().choose(groups) == {"a": 1, "b": 1}


# What no choice can meet


def test_the_nearest_choice_is_taken_and_said():
    low = situation([0.3, 0.2], [0.1, 0.05], [0.2, 0.1], share=0.5)
    high = situation([0.9, 0.6], [0.5, 0.3], [0.7, 0.5], share=0.5)
    groups = {"low": low, "high": high}
    rule = DemographicParity(tolerance=0.1)
    picked = rule.choose(groups)
    assert picked == {"low": 0, "high": 1}
    (note,) = rule.notes(groups, picked)
    assert "demographic_parity_difference 0.3" in note
    assert "0.1 was asked for" in note
    coin = EqualOpportunity()
    assert coin.choose(groups) == {"low": 0, "high": 1}
    (note,) = coin.notes(groups, coin.choose(groups))
    assert "equal_opportunity_difference 0.3" in note


def test_bounds_are_widened_together():
    """PE asks for shares of 2 : 1, parity for 1 : 1; both give way by as much."""
    shares = np.linspace(1, 0, 201)
    group = situation(shares, shares, shares, estimate=0.8, share=0.5)
    groups = {"a": group, "b": replace(group, estimate=Estimate(0.4))}
    rule = Constrained(proportional_equality=0.0, demographic_parity_ratio=1.0)
    picked = rule.choose(groups)
    a = shares[picked["a"]]
    b = shares[picked["b"]]
    pe = max(abs(2 - a / b), abs(0.5 - b / a))
    assert pe == pytest.approx(1 - min(a, b) / max(a, b), abs=0.02)
    assert len(rule.notes(groups, picked)) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DemographicParity(tolerance=-0.1), r"tolerance .* \[0, 1\], got -0.1"),
        (lambda: DemographicParity(tolerance=1.5), r"tolerance .* \[0, 1\], got 1.5"),
        (lambda: EqualOpportunity(tolerance=float("nan")), "tolerance must be"),
        (lambda: ProportionalEquality(tolerance=float("inf")), "finite number of at"),
        (lambda: DemographicParity(ratio=2), r"ratio must be a number in \[0, 1\]"),
        (lambda: DemographicParity(ratio=0.8, tolerance=0.1), "tolerance must be None"),
        (lambda: Accuracy(cost_fp=-1), "cost_fp must be a finite number of at least 0"),
        (lambda: Accuracy(cost_fp=0, cost_fn=0), "cost_fp or cost_fn must be above 0"),
        (Constrained, "at least one bound"),
        (lambda: Constrained(demographic_parity_ratio=1.2), "demographic_parity_ratio"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("value", ["0.1", True, [0.1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="tolerance must be a number"):
        EqualizedOdds(tolerance=value)
    with pytest.raises(TypeError, match="cost_fn must be"):
        Accuracy(cost_fn=value)


def test_an_unknown_criterion_is_refused():
    with pytest.raises(TypeError, match="calibration"):
        Constrained(calibration=0.1)
