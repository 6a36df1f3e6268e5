"""``--fail-if``: how conditions are read, checked and reported."""

import math

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from cape.cli._fail_if import (
    Breach,
    Condition,
    Finding,
    LeftOut,
    describe_left_out,
    exit_if_breached,
    find_breaches,
    find_left_out,
    parse_conditions,
)

COMPARISONS = [">", ">=", "<", "<="]
FINDINGS = [
    Finding("pd", "a", 0.3),
    Finding("pd", "b", 0.05),
    Finding("pd", "c", None),
    Finding("pe", "a / b", 0.9),
]


@given(st.sampled_from(COMPARISONS), st.floats(0, 1000))
def test_a_condition_that_is_printed_can_be_parsed(comparison, limit):
    limit = float(f"{limit:g}")
    condition = Condition("pd", comparison, limit)
    if "+" not in str(condition):
        assert parse_conditions([str(condition)], ["pd"]) == [condition]


def test_blanks_and_capitals_do_not_matter():
    conditions = parse_conditions(["PD >= .1", " pe<2 "], ["pd", "pe"])
    assert conditions == [Condition("pd", ">=", 0.1), Condition("pe", "<", 2)]


def test_small_limits_have_an_exponent():
    (condition,) = parse_conditions(["pd>1e-3"], ["pd"])
    assert condition.limit == 0.001
    assert str(condition) == "pd>0.001"


def test_no_condition_is_given():
    assert parse_conditions(None, ["pd"]) == []
    assert parse_conditions([], ["pd"]) == []


@pytest.mark.parametrize(
    "text",
    ["", "pd", "pd>", ">0.1", "pd=0.1", "pd>x", "pd>0.1>0.2", "PDX>1", "pd>-1", "pd> "],
)
def test_other_texts_are_refused_with_what_is_accepted(text):
    with pytest.raises(ValueError, match="--fail-if must be a metric") as error:
        parse_conditions([text], ["pd", "pe"])
    assert f"got {text!r}" in str(error.value)
    assert "metrics are pd, pe." in str(error.value)


@given(st.sampled_from(COMPARISONS), st.floats(-5, 5), st.floats(-5, 5))
def test_a_condition_compares_as_python_does(comparison, value, limit):
    expected = {
        ">": value > limit,
        ">=": value >= limit,
        "<": value < limit,
        "<=": value <= limit,
    }
    assert Condition("pd", comparison, limit).met(value) is expected[comparison]


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("value", [None, math.nan])
def test_an_undefined_value_meets_no_condition(comparison, value):
    assert not Condition("pd", comparison, 0.1).met(value)


def test_a_breach_says_where_and_by_how_much():
    (breach,) = find_breaches([Condition("pd", ">", 0.1)], FINDINGS)
    assert breach.where == "a"
    assert breach.value == 0.3
    assert breach.by == pytest.approx(0.2)
    assert str(breach) == "fail-if pd>0.1 is met: a: 0.300, by 0.200"


def test_breaches_are_in_the_order_of_the_conditions():
    conditions = [Condition("pe", ">", 0.5), Condition("pd", "<", 1)]
    breaches = find_breaches(conditions, iter(FINDINGS))
    assert [breach.where for breach in breaches] == ["a / b", "a", "b"]


def test_a_breach_can_be_json():
    breach = Breach("pd>0.1", "a", 0.3, 0.2)
    assert breach.to_dict() == {
        "condition": "pd>0.1",
        "where": "a",
        "value": 0.3,
        "by": 0.2,
    }


def test_the_command_goes_on_without_a_breach(capsys):
    exit_if_breached([], [], shown=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("shown", [True, False])
def test_a_breach_ends_the_command_with_code_1(capsys, shown):
    breach = Breach("pd>0.1", "[red]a", 0.3, 0.2)
    with pytest.raises(typer.Exit) as stop:
        exit_if_breached([breach], [], shown=shown)
    assert stop.value.exit_code == 1
    printed = capsys.readouterr().out
    assert printed == (f"{breach}\n" if shown else "")


def test_a_verdict_stands_by_itself():
    (condition,) = parse_conditions([" Fault "], ["pd"], ["drifted", "fault"])
    assert condition == Condition("fault", "") and str(condition) == "fault"
    findings = [Finding("fault", "march, a: `age`: all missing", 1.0)]
    (breach,) = find_breaches([condition], [*findings, Finding("pd", "a", 9.0)])
    assert str(breach) == "fail-if fault is met: march, a: `age`: all missing"


@pytest.mark.parametrize("text", ["fault>0", "fails", "pd", "fault drifted"])
def test_what_is_no_condition_is_told_which_verdicts_there_are(text):
    with pytest.raises(ValueError, match="by themselves stand drifted, fault"):
        parse_conditions([text], ["pd"], ["drifted", "fault"])


def test_what_has_no_value_is_left_out_of_the_conditions_about_it():
    conditions = [Condition("pd", ">", 0.1), Condition("pe", ">", 0.1)]
    (left_out,) = find_left_out(conditions, iter(FINDINGS))
    assert left_out == LeftOut("pd>0.1", "c", "unknown")
    assert left_out.to_dict() == {
        "condition": "pd>0.1",
        "where": "c",
        "why": "unknown",
    }
    assert find_left_out([], FINDINGS) == []


def test_what_is_left_out_is_said_without_ending_the_command(capsys):
    exit_if_breached([], [LeftOut("pd>0.1", "[red]c", "too few rows")], shown=True)
    line = "fail-if pd>0.1 left out, too few rows: [red]c\n"
    assert capsys.readouterr().out == line


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, unique=True))
def test_six_places_are_named_and_the_others_are_counted(names):
    (line,) = describe_left_out(LeftOut("pe>1", name, "undefined") for name in names)
    start, _, places = line.partition(": ")
    assert start == "fail-if pe>1 left out, undefined"
    shown = places.split("; ")
    assert shown[:6] == names[:6]
    assert shown[6:] == ([f"{len(names) - 6} more"] if len(names) > 6 else [])


def test_every_condition_and_every_reason_has_a_line():
    left_out = [
        LeftOut("pd>1", "a", "too few rows"),
        LeftOut("pd>1", "b", "undefined"),
        LeftOut("pe>1", "a", "too few rows"),
    ]
    assert len(describe_left_out(left_out)) == 3
    assert describe_left_out([]) == []
