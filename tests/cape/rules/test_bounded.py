"""Rules with criteria: ties, costs, groups that cannot be compared; rules as JSON."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import Estimate
from cape.rules import (
    RULES,
    Accuracy,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    Prevalence,
    ProportionalEquality,
    Rule,
)
from cape.rules._rules import describe_rule, make_rule

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
    few = situation(group.tpr, group.fpr, group.predicted_prevalences, rows=5)
    return replace(group, rates=few.rates)


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


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 8.0]))
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


# Groups that cannot be compared


@settings(max_examples=15)
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
    assert all("'small'" in note for note in notes)


def test_a_group_without_rates_still_meets_parity_of_shares():
    shares = np.linspace(1, 0, 21)
    group = situation(shares, shares, shares, estimate=0.8, share=0.5)
    other = without_rates(replace(group, estimate=Estimate(0.1)))
    rule = DemographicParity(tolerance=0.05)
    picked = rule.choose({"a": group, "b": other})
    assert abs(picked["a"] - picked["b"]) <= 1
    assert len(rule.notes({"a": group, "b": other}, picked)) == 1


def test_members_without_rates_are_not_chosen_where_others_have_them():
    rows = np.array([100, 5, 100])
    group = situation([0.5, 1.0, 0.4], [0, 0, 0], [0.3, 0.4, 0.2], rows=(rows, rows))
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
    assert any("'none'" in note for note in rule.notes(groups, picked))


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
        (Constrained, "at least one of proportional_equality"),
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


# Rules by name, and as JSON


class Mine(Rule):
    def choose(self, groups):
        return dict.fromkeys(groups, 0)


@pytest.mark.parametrize("name", RULES)
def test_every_name_makes_its_rule(name):
    rule = make_rule(name)
    assert type(rule) is RULES[name]
    assert rule == make_rule(name)
    assert rule.choose({}) == {}


def test_names_of_fairlearn():
    assert make_rule("true_positive_rate_parity") == EqualOpportunity()
    assert make_rule("false_positive_rate_parity") == PredictiveEquality()
    assert describe_rule(EqualOpportunity())["name"] == "equal_opportunity"


@pytest.mark.parametrize(
    "rule",
    [
        *[kind() for kind in RULES.values()],
        DemographicParity(tolerance=0.02, cost_fn=5),
        DemographicParity(ratio=np.float32(0.5)),
        ProportionalEquality(tolerance=np.int64(1)),
        Constrained(proportional_equality=0.1, equalized_odds_difference=0.05),
    ],
    ids=repr,
)
def test_a_rule_comes_back_from_json(rule):
    text = json.dumps(describe_rule(rule))
    again = make_rule(json.loads(text))
    assert again == rule
    assert type(again) is type(rule)


def test_a_rule_of_your_own_is_described_by_its_class():
    mine = Mine()
    assert make_rule(mine) is mine
    assert describe_rule(mine) == {"name": "Mine"}

    class Stricter(DemographicParity):
        pass

    # A subclass may choose otherwise: it is not described as its parent.
    assert describe_rule(Stricter()) == {"name": "Stricter"}
    with pytest.raises(ValueError, match="rule must be .* got 'Mine'"):
        make_rule({"name": "Mine"})


@pytest.mark.parametrize("wrong", [None, 3, Prevalence, {}, ["accuracy"]], ids=repr)
def test_what_is_no_rule_is_refused(wrong):
    with pytest.raises(TypeError, match="'demographic_parity'.*cape.rules.Rule, got"):
        make_rule(wrong)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'prevalence'.*'accuracy'.*got 'fair'"):
        make_rule("fair")
