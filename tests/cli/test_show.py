"""Tables for the terminal: they fit, and show names as they are."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cape.cli._show import groups_table, interval, number, table_of, values_by_group


def printed(table, width=80):
    screen = io.StringIO()
    Console(file=screen, width=width).print(table)
    return screen.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.000"), (1 / 3, "0.333"), (-0.5, "-0.500"), (None, "-"), (math.nan, "-")],
)
def test_numbers_have_three_decimals_and_unknown_ones_are_a_dash(value, text):
    assert number(value) == text


@given(st.floats(-1e3, 1e3))
def test_a_number_is_shown_within_half_a_thousandth(value):
    assert float(number(value)) == pytest.approx(value, abs=0.000_501)


def test_an_interval_that_is_not_known_is_all_dashes():
    assert interval(0.1, 0.25) == "0.100-0.250"
    assert interval(None, None) == "---"


def test_a_table_has_its_title_columns_and_rows():
    out = printed(table_of("Two rows", ["group", "rows"], [["a", 1], ["b", 22]]))
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["Two", "rows"]
    assert ["group", "rows"] in lines
    assert ["a", "1"] in lines
    assert ["b", "22"] in lines


def test_a_table_may_have_no_title():
    out = printed(table_of("", ["group"], [["a"]]))
    assert out.split()[0] == "group"


def test_markup_in_a_name_is_shown_as_it_is():
    assert "[red]x[/red]" in printed(table_of("", ["group"], [["[red]x[/red]"]]))


def test_a_long_name_is_folded_and_the_numbers_stay_whole():
    name = "a group with a very long name " * 4
    table = table_of("", ["group", "PD", "95%"], [[name, "0.123", "0.100-0.200"]])
    out = printed(table, width=60)
    assert max(len(line) for line in out.splitlines()) <= 60
    assert "0.123" in out
    assert "0.100-0.200" in out


def test_the_table_of_groups_shows_rows_prevalence_and_auc(read_rows):
    groups = [
        {"group": "blue", "rows": 20, "prevalence": 0.25, "auc": 0.75},
        {"group": "green", "rows": 30, "prevalence": 0.5, "auc": math.nan},
    ]
    out = printed(groups_table("50 rows", groups))
    assert read_rows(out, "blue", "green") == [
        ["blue", "20", "0.250", "0.750"],
        ["green", "30", "0.500", "-"],
    ]


def test_findings_are_arranged_by_group_in_their_order():
    findings = [
        {"group": "b", "metric": "pd", "value": 0.1},
        {"group": "a", "metric": "pd", "value": 0.2},
        {"group": "b", "metric": "fpr", "value": 0.3},
    ]
    groups = values_by_group(findings)
    assert list(groups) == ["b", "a"]
    assert list(groups["b"]) == ["pd", "fpr"]
    assert groups["b"]["fpr"]["value"] == 0.3
    assert groups["a"]["pd"] is findings[1]
