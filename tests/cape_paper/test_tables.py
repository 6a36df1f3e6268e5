"""Tables show the numbers of the run in the right cells, and nothing else."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper import published, results_tables
from cape_paper._tables import number

sys.path.insert(0, str(Path(__file__).parent))
from invented import PARITY, PRINTED, idle_row, invented_comparison, invented_synthetic

KEYS = {
    "FPR": "fpr",
    "FNR": "fnr",
    "acc": "accuracy",
    "predicts": "predicted_prevalence",
    "PD": "pd",
}
OTHER_KEYS = {
    "PE worst": "pe",
    "PE 0,1": "pe_01",
    "share diff": "demographic_parity_difference",
    "share ratio": "demographic_parity_ratio",
    "TPR diff": "fnr_diff",
    "odds diff": "equalized_odds_difference",
    "precision diff": "precision_difference",
}


def key_of(heading):
    """Find the name of a column by its heading."""
    if heading in OTHER_KEYS:
        return OTHER_KEYS[heading]
    name, group = heading.split()
    return f"{KEYS[name]}_{group}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0456, ".046"),
        (1.0, "1.000"),
        (0.0, ".000"),
        (-0.25, "-.250"),
        (2.317, "2.317"),
        (None, "undef"),
        (10.5, "10.500"),
    ],
)
def test_numbers_are_printed_as_in_the_paper(value, text):
    assert number(value) == text


@given(st.floats(-99, 99))
def test_a_printed_number_is_the_number_to_three_digits(value):
    text = number(value)
    assert float(text) == pytest.approx(value, abs=0.00051)
    assert re.fullmatch(r"-?\d*\.\d{3}", text)
    assert not re.match(r"-?0\.", text)


@given(st.floats(0, 1), st.integers(1, 6))
def test_a_printed_number_has_the_digits_asked_for(value, digits):
    _, behind_the_point = number(value, digits=digits).split(".")
    assert len(behind_the_point) == digits


def test_a_row_shows_the_means_of_its_columns_and_the_spreads_below():
    results = invented_comparison(("one", "two"))
    row = results["rows"][0]
    shown = set()
    for table in results_tables(results)[1:]:
        means, spreads = table.rows[:2]
        for place, heading in enumerate(table.columns[1:], 1):
            key = key_of(heading)
            assert means[place] == number(row["mean"][key])
            assert spreads[place] == number(row["sd"][key])
            shown.add(key)
    assert shown == set(row["mean"])


def test_lines_of_a_method_are_its_means_its_spreads_and_print():
    for table in results_tables(invented_comparison())[1:]:
        labels = [row[0] for row in table.rows]
        assert labels == ["CAPE-D (3)", "  ± sd", "  print", "Once", "Gone"]


def test_printed_numbers_stand_below_their_own_columns():
    for table in results_tables(invented_comparison())[1:]:
        printed = table.rows[2]
        for place, heading in enumerate(table.columns[1:], 1):
            # The paper has no PE of the worst pair, and no criteria of parity.
            key = key_of(heading)
            if key in {"pe", *PARITY}:
                assert printed[place] == ""
            else:
                assert printed[place] == number(PRINTED["CAPE-D"][key])


def test_a_method_that_did_not_run_says_why():
    for table in results_tables(invented_comparison())[1:]:
        assert table.rows[-1] == ["Gone", "not installed: x"]
        for row in table.rows[:-1]:
            assert len(row) == len(table.columns)


def test_a_method_that_did_not_run_still_has_its_printed_numbers():
    row = idle_row("AD", "not installed: tensorflow", PRINTED["AD"])
    table = results_tables(invented_comparison(rows=[row]))[1]
    assert table.rows[0] == ["AD", "not installed: tensorflow"]
    assert table.rows[1][0] == "  print"
    assert table.rows[1][1] == number(PRINTED["AD"]["fpr_0"])


def test_undefined_values_are_shown_as_such():
    results = invented_comparison()
    results["rows"][0]["mean"]["pe_01"] = None
    table = results_tables(results)[2]
    place = table.columns.index("PE 0,1")
    assert table.rows[0][place] == "undef"


def test_two_groups_have_the_papers_pe_and_more_have_the_worst_alone():
    two = results_tables(invented_comparison())[2]
    assert two.columns[-2:] == ["PE 0,1", "PE worst"]
    three = results_tables(invented_comparison(("a", "b", "c")))[2]
    assert three.columns[1:] == ["FPR diff", "FNR diff", "acc diff", "PE worst"]


@pytest.mark.parametrize("groups", [("one", "two", "three"), ("alone",)])
def test_where_nothing_is_printed_groups_have_names_and_lines(groups):
    results = invented_comparison(groups)
    row = results["rows"][0]
    prevalences, table = results_tables(results)[:2]
    assert prevalences.columns == ["", *groups]
    assert table.columns == ["method", "group", *KEYS]
    for place, group in enumerate(groups):
        means, spreads = table.rows[2 * place : 2 * place + 2]
        assert means[:2] == ["CAPE-D (3)" if place == 0 else "", group]
        assert spreads[:2] == ["", "  ± sd"]
        for cell, spread, key in zip(
            means[2:], spreads[2:], KEYS.values(), strict=True
        ):
            assert cell == number(row["mean"][f"{key}_{place}"])
            assert spread == number(row["sd"][f"{key}_{place}"])
    # One seed has no spread, and a method that did not run a reason.
    once = table.rows[2 * len(groups) :]
    assert [line[:2] for line in once[:-1]] == [
        ["Once" if place == 0 else "", group] for place, group in enumerate(groups)
    ]
    assert once[-1] == ["Gone", "not installed: x"]


def test_one_seed_of_a_quantifier_has_no_spread():
    results = invented_comparison()
    results["quantifiers"][0]["seeds"] = 1
    table = results_tables(results)[0]
    assert table.rows[-1] == ["estimate, spa", ".250", ".250"]


def test_criteria_of_parity_have_a_table_that_names_the_four_fifths_rule():
    table = results_tables(invented_comparison())[3]
    assert "four-fifths rule asks for a share ratio of .8" in table.title
    assert table.columns[1:] == [
        "share diff",
        "share ratio",
        "TPR diff",
        "FPR diff",
        "odds diff",
        "precision diff",
    ]


def test_results_that_were_stored_without_parity_have_no_table_of_it():
    results = invented_comparison()
    for row in results["rows"][:2]:
        for name in PARITY:
            del row["mean"][name]
    assert len(results_tables(results)) == 3


def test_without_a_finished_method_there_is_no_table_of_parity():
    results = invented_comparison(rows=[idle_row("Gone", "not installed: x")])
    assert len(results_tables(results)) == 3


def test_prevalences_are_shown_by_group_with_the_estimates():
    table = results_tables(invented_comparison())[0]
    assert table.columns == ["", "0 one", "1 two"]
    assert table.rows == [
        ["training rows", "10", "11"],
        ["test rows", "20", "21"],
        ["training prevalence", ".300", ".300"],
        ["test prevalence", ".400", ".400"],
        ["estimate, spa", ".250 ± .125", ".250 ± .125"],
    ]


def test_printed_estimates_stand_below_ours():
    results = invented_comparison()
    results["quantifiers"][0]["printed"] = [0.592, 0.644]
    table = results_tables(results)[0]
    assert table.rows[-1] == ["  print", ".592", ".644"]


def test_a_real_run_has_a_cell_in_every_column(compared):
    for table in results_tables(compared):
        for row in table.rows:
            if "not installed" not in row[1]:
                assert len(row) == len(table.columns)


def test_table_1_has_three_lines_for_what_is_printed_and_two_for_what_is_not():
    table = results_tables(invented_synthetic())[0]
    labels = [row[:2] for row in table.rows]
    assert labels == [
        ["0.1 0.1", "CAPE-D"],
        ["", "  ± sd"],
        ["", "  print"],
        ["0.1 0.1", "CAPE default"],
        ["", "  ± sd"],
        ["0.1 0.1", "Max_Acc"],
        ["", "  ± sd"],
        ["", "  print"],
    ]
    assert table.title.endswith("(mean of 4)")


def test_table_1_shows_means_spreads_and_print():
    table = results_tables(invented_synthetic())[0]
    means, spreads, printed = (row[2:] for row in table.rows[:3])
    assert means == [".200", ".210", ".220", ".230", ".240"]
    assert spreads == [".0011", ".0021", ".0031", ".0041", ".0051"]
    paper = published()["table_synthetic"][0]
    values = [*paper["accuracy"]["CAPE"], *paper["pd"]["CAPE"], paper["pe_01"]["CAPE"]]
    assert printed == [number(value) for value in values]


def test_settings_that_were_not_run_have_no_lines():
    results = invented_synthetic(pairs=((0.3, 0.4),))
    table_1, figure, theorem = results_tables(results)
    assert table_1.rows == []
    assert figure.rows == []
    assert theorem.rows == []


def test_the_figures_points_are_those_where_rho_0_is_half():
    figure = results_tables(invented_synthetic())[1]
    assert [row[:2] for row in figure.rows] == [
        ["0.3", "CAPE-D"],
        ["0.3", "CAPE default"],
        ["0.3", "Max_Acc"],
    ]
    assert figure.rows[0][2:] == [".210 ± .0021", ".230 ± .0041", ".240 ± .0051"]


def test_the_theorem_is_shown_for_group_1():
    theorem = results_tables(invented_synthetic())[2]
    assert theorem.columns[1:4] == ["PD", "delta_1", "delta_2"]
    expected = ["0.3", ".010", ".020", ".030", ".100", ".070", "1.000"]
    assert theorem.rows == [expected]


@given(st.lists(st.floats(0, 1), min_size=19, max_size=19))
def test_the_means_can_be_read_back_from_the_tables(values):
    results = invented_comparison()
    row = results["rows"][0]
    row["mean"] = dict(zip(row["mean"], values, strict=True))
    columns = {}
    for table in results_tables(results)[1:]:
        for heading, cell in zip(table.columns[1:], table.rows[0][1:], strict=True):
            columns[key_of(heading)] = float(cell)
    assert columns == pytest.approx(row["mean"], abs=0.00051)
