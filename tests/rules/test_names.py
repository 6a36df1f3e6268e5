"""Rules by name, and as JSON."""

import json

import numpy as np
import pytest

from cape.rules import (
    RULES,
    Accuracy,
    Constrained,
    DemographicParity,
    EqualOpportunity,
    PredictiveEquality,
    Prevalence,
    ProportionalEquality,
    Rule,
)
from cape.rules._names import describe_rule, make_rule


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


def test_an_instance_stays_as_it_is():
    mine = Mine()
    assert make_rule(mine) is mine


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


def test_rules_with_other_parameters_are_not_equal():
    assert Accuracy() != Accuracy(cost_fn=2)
    assert Accuracy() != Prevalence()
    assert repr(Accuracy(cost_fn=2)) == "Accuracy(cost_fp=1.0, cost_fn=2)"


def test_a_rule_of_your_own_is_described_by_its_class():
    assert describe_rule(Mine()) == {"name": "Mine"}

    class Stricter(DemographicParity):
        pass

    # A subclass may choose otherwise: it is not described as its parent.
    assert describe_rule(Stricter()) == {"name": "Stricter"}
    with pytest.raises(ValueError, match="rule must be .* got 'Mine'"):
        make_rule({"name": "Mine"})


def test_a_rule_of_your_own_has_no_notes():
    assert Mine().notes({}, {}) == []


@pytest.mark.parametrize("wrong", [None, 3, Prevalence, {}, ["accuracy"]], ids=repr)
def test_what_is_no_rule_is_refused(wrong):
    with pytest.raises(TypeError, match="'demographic_parity'.*cape.rules.Rule, got"):
        make_rule(wrong)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'prevalence'.*'accuracy'.*got 'fair'"):
        make_rule("fair")
