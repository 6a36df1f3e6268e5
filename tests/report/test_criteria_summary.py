"""What the page says of criteria and rules, in words."""

import numpy as np
import pytest

from cape.report._criteria_summary import (
    CRITERION_NAMES,
    RULE_NAMES,
    bound_sentences,
    criteria_columns,
    criteria_rows,
    rule_sentence,
)
from cape.rules import (
    CRITERIA,
    RULES,
    Constrained,
    DemographicParity,
    EqualOpportunity,
    describe_rule,
    make_rule,
)

TPR = "equal_opportunity_difference"


def entry(name, value=0.04, low=0.0, high=0.12, bound=None, probability=None):
    return {
        "criterion": name,
        "value": value,
        "low": low,
        "high": high,
        "bound": bound,
        "probability": probability,
    }


def test_every_criterion_and_rule_has_a_name():
    assert set(CRITERION_NAMES) == {"accuracy", *CRITERIA}
    own_names = {describe_rule(make_rule(name))["name"] for name in RULES}
    assert set(RULE_NAMES) == {*own_names, "constrained"}


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_is_said_in_a_sentence(name):
    sentence = rule_sentence(describe_rule(make_rule(name)))
    assert sentence.endswith(".") and "None" not in sentence


def test_the_sentence_of_a_rule_has_its_bounds():
    bounds = {"proportional_equality": 0.1, "demographic_parity_ratio": 0.8}
    sentence = rule_sentence(describe_rule(Constrained(**bounds)))
    assert "PE) of at most 0.1 and a ratio" in sentence
    assert "(four-fifths rule) of at least 0.8" in sentence
    assert "MiddleMember" in rule_sentence({"name": "MiddleMember"})


def test_the_probability_is_said():
    rule = describe_rule(EqualOpportunity(tolerance=0.05))
    criteria = [entry(TPR, bound=0.05, probability=0.6123)]
    [sentence] = bound_sentences(rule, criteria)
    assert sentence == (
        "Difference of true positive rates: 0.040 is expected (0.000 to 0.120); at "
        "most 0.05 was asked for, which this batch meets with probability 0.61."
    )


def test_what_is_observed_is_not_expected():
    rule = describe_rule(DemographicParity(ratio=0.8))
    name = "demographic_parity_ratio"
    known = entry(name, 0.81, 0.81, 0.81, bound=0.8, probability=1.0)
    [sentence] = bound_sentences(rule, [known])
    assert "0.810, as observed in this batch; at least 0.8" in sentence
    assert "four-fifths" in sentence


def test_a_rule_without_a_tolerance_has_no_probability():
    [sentence] = bound_sentences(describe_rule(EqualOpportunity()), [entry(TPR)])
    assert sentence.endswith("0.040 is expected (0.000 to 0.120).")
    assert bound_sentences(describe_rule(make_rule("prevalence")), []) == []
    assert bound_sentences({"name": "MiddleMember"}, []) == []


def test_an_undefined_criterion_is_said_to_be_unknown():
    unknown = entry(TPR, None, 0.0, None)
    rule = describe_rule(EqualOpportunity(tolerance=0.05))
    [sentence] = bound_sentences(rule, [unknown])
    assert "cannot be told" in sentence
    [row] = criteria_rows({"rule": rule, "criteria": [unknown]})
    assert row["cells"] == ["unknown", "", "", ""]


def test_the_table_marks_what_the_rule_aims_at():
    rule = describe_rule(EqualOpportunity(tolerance=0.05))
    endless = entry("proportional_equality", 0.4, 0.1, None)
    criteria = [endless, entry(TPR, bound=0.05, probability=0.5)]
    pe, tpr = criteria_rows({"rule": rule, "criteria": criteria})
    assert not pe["aimed_at"] and tpr["aimed_at"]
    assert pe["cells"] == ["0.400", "0.100 or more", "", ""]
    assert tpr["cells"] == ["0.040", "0.000 to 0.120", "at most 0.05", "0.50"]
    assert len(criteria_columns({"rule": rule})) == 1 + len(tpr["cells"])


def test_a_rule_without_bounds_has_no_column_of_what_was_asked_for():
    summary = {"rule": describe_rule(make_rule("prevalence")), "criteria": [entry(TPR)]}
    assert criteria_columns(summary) == ["criterion", "expected", "interval"]
    [row] = criteria_rows(summary)
    assert row["cells"] == ["0.040", "0.000 to 0.120"]


def test_quantiles_of_equal_numbers_are_observed():
    almost = np.nextafter(0.4, 1)
    known = entry("demographic_parity_ratio", 0.4, 0.4, almost)
    rule = describe_rule(make_rule("prevalence"))
    [row] = criteria_rows({"rule": rule, "criteria": [known]})
    assert row["cells"] == ["0.400", "observed"]
