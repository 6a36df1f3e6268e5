"""``--fail-if``: how conditions are read and checked."""

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.cli._fail_if import Condition, Finding, judge, parse_conditions

COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
FINDINGS = [
    Finding("pd", "a", 0.3),
    Finding("pd", "b", 0.05),
    Finding("pd", "c", None),
    Finding("pe", "a / b", 0.9),
]


@given(st.sampled_from(list(COMPARISONS)), st.floats(0, 1000))
def test_a_condition_that_is_printed_can_be_parsed(comparison, limit):
    limit = float(f"{limit:g}")
    condition = Condition("pd", comparison, limit)
    if "+" not in str(condition):
        assert parse_conditions([str(condition)], ["pd"]) == [condition]


def test_blanks_and_capitals_do_not_matter():
    conditions = parse_conditions(["PD >= .1", " pe<2e-3 "], ["pd", "pe"])
    assert conditions == [Condition("pd", ">=", 0.1), Condition("pe", "<", 0.002)]
    assert parse_conditions(None, ["pd"]) == []


@pytest.mark.parametrize(
    "text",
    ["", "pd", "pd>", ">0.1", "pd=0.1", "pd>x", "pd>1>2", "PDX>1", "pd>-1", "fault>0"],
)
def test_other_texts_are_refused_with_what_is_accepted(text):
    with pytest.raises(ValueError, match="--fail-if must be a metric") as error:
        parse_conditions([text], ["pd", "pe"], ["drifted", "fault"])
    assert f"got {text!r}" in str(error.value)
    assert "metrics are pd, pe; by themselves stand drifted, fault." in str(error.value)


@given(st.sampled_from(list(COMPARISONS)), st.floats(-5, 5), st.floats(-5, 5))
def test_a_condition_compares_as_python_does(comparison, value, limit):
    condition = Condition("pd", comparison, limit)
    assert condition.met(value) is COMPARISONS[comparison](value, limit)
    assert not condition.met(None)
    assert not condition.met(math.nan)


def test_breaches_are_in_the_order_of_the_conditions():
    conditions = [Condition("pe", ">", 0.5), Condition("pd", "<", 1)]
    breaches, left_out = judge(conditions, iter(FINDINGS))
    assert [breach["where"] for breach in breaches] == ["a / b", "a", "b"]
    assert [breach["by"] for breach in breaches] == pytest.approx([0.4, 0.7, 0.95])
    assert left_out == [{"condition": "pd<1", "where": "c", "why": "unknown"}]
    assert judge([], FINDINGS) == ([], [])


def test_a_verdict_stands_by_itself():
    (condition,) = parse_conditions([" Fault "], ["pd"], ["drifted", "fault"])
    assert condition == Condition("fault", "") and str(condition) == "fault"
    findings = [Finding("fault", "march, a", 1.0), Finding("pd", "a", 9.0)]
    breaches, _ = judge([condition], findings)
    assert [breach["where"] for breach in breaches] == ["march, a"]
