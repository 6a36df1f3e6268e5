"""Summary of real shifts, against numbers that can be worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper._shift_summary import summarise


def entry(case="a", *, train=0.2, test=0.5, **row):
    """An entry of a case and group, with one configuration, "ours"."""
    ordinary = {
        "estimate": 0.5,
        "error": 0.0,
        "holds": 1.0,
        "width": 0.2,
        "mean_score": 0.4,
        "pd": 0.01,
        "pe": 0.1,
        "max_acc_pd": 0.05,
        "max_acc_pe": 0.3,
    }
    return {
        "case": case,
        "prevalence_train": train,
        "prevalence_test": test,
        "ours": {**ordinary, **row},
    }


def rows_of(shifts, not_identified=()):
    """Summarise, and return the rows by cases and method."""
    rows = summarise(shifts, ["ours"], not_identified)
    return {(row["cases"], row["method"]): row for row in rows}


def test_errors_are_averaged_and_their_90th_percentile_is_taken():
    errors = [place / 10 for place in range(11)]
    row = rows_of([entry(error=error) for error in errors])["all cases", "ours"]
    assert row["cells"] == 11
    assert row["error"] == pytest.approx(0.5)
    assert row["error_90"] == pytest.approx(0.9)


def test_intervals_are_counted_and_measured():
    shifts = [entry(holds=1.0, width=0.1), entry(holds=0.5, width=0.3)]
    row = rows_of(shifts)["all cases", "ours"]
    assert row["holds"] == pytest.approx(0.75)
    assert row["width"] == pytest.approx(0.2)


def test_pd_is_worse_only_beyond_the_margin():
    shifts = [
        entry(pd=0.30, max_acc_pd=0.27),
        entry(pd=0.30, max_acc_pd=0.29),
        entry(pd=0.10, max_acc_pd=0.90),
    ]
    row = rows_of(shifts)["all cases", "ours"]
    assert row["worse"] == 1
    assert row["pd"] == pytest.approx(0.7 / 3)


def test_doing_nothing_is_off_by_the_shift_itself():
    shifts = [entry(train=0.2, test=0.5), entry(train=0.6, test=0.5)]
    row = rows_of(shifts)["all cases", "doing nothing"]
    assert row["error"] == pytest.approx(0.2)
    assert "pd" not in row


def test_the_mean_score_is_compared_with_the_truth():
    shifts = [entry(mean_score=0.4, test=0.5), entry(mean_score=0.8, test=0.5)]
    row = rows_of(shifts)["all cases", "mean score"]
    assert row["error"] == pytest.approx(0.2)


def test_max_acc_has_pd_and_pe_and_no_estimate():
    shifts = [entry(max_acc_pd=0.2, max_acc_pe=0.1), entry(max_acc_pd=0.4)]
    row = rows_of(shifts)["all cases", "Max_Acc"]
    assert row["pd"] == pytest.approx(0.3)
    assert row["pe"] == pytest.approx(0.2)
    assert "error" not in row


@pytest.mark.parametrize(
    ("values", "median"),
    [([0.1, 0.2, 0.3], 0.2), ([0.1, None, 0.3], 0.3), ([0.1, None, None], None)],
)
def test_an_undefined_pe_is_worse_than_any_number(values, median):
    row = rows_of([entry(pe=value) for value in values])["all cases", "ours"]
    assert row["pe"] == median


def test_the_second_summary_leaves_out_what_no_rows_can_tell():
    shifts = [entry("a", error=0.1), entry("bank", error=0.5)]
    rows = rows_of(shifts, ["bank", "meps-12-13"])
    assert rows["all cases", "ours"]["error"] == pytest.approx(0.3)
    clear = rows["without bank and meps-12-13", "ours"]
    assert clear["error"] == pytest.approx(0.1)
    assert clear["cells"] == 1


@pytest.mark.parametrize("case", ["a", "bank"])
def test_there_is_no_second_summary_of_the_same_cases_or_of_none(case):
    titles = {cases for cases, _ in rows_of([entry(case)], ["bank"])}
    assert titles == {"all cases"}


def test_a_configuration_that_failed_everywhere_has_no_row():
    failed = {**entry(), "ours": None}
    methods = [method for _, method in rows_of([failed])]
    assert methods == ["doing nothing"]


def test_a_cell_that_failed_is_not_counted():
    failed = {**entry(), "ours": None}
    rows = rows_of([entry(error=0.1), failed])
    assert rows["all cases", "ours"]["cells"] == 1
    assert rows["all cases", "doing nothing"]["cells"] == 2


errors = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(errors)
def test_the_order_of_cases_does_not_matter(values):
    shifts = [entry(error=value, width=value, pe=value) for value in values]
    forward = rows_of(shifts)["all cases", "ours"]
    backward = rows_of(shifts[::-1])["all cases", "ours"]
    assert forward == pytest.approx(backward)
    assert min(values) <= forward["error_90"] <= max(values)
