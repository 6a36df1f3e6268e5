"""Tables and page of real shifts: every number stands where it belongs."""

import sys
from pathlib import Path

import pytest

from cape_paper import results_markdown, results_tables

sys.path.insert(0, str(Path(__file__).parent))
from invented import invented_shift, invented_shifts


def rows_of(table):
    """Read a table as dicts from heading to cell, by the label of the row."""
    rows = {}
    for label, *cells in table.rows:
        rows[label] = dict(zip(table.columns[1:], cells, strict=True))
    return rows


def test_the_first_table_has_the_truth_and_what_cape_says():
    intervals = rows_of(results_tables(invented_shifts())[0])
    assert intervals["compas, one"] == {
        "train": ".301",
        "truth": ".402",
        "CAPE": ".110",
        "low": ".120",
        "high": ".130",
        "holds": "1 of 2",
        "verdict": "some drift",
    }


def test_the_second_table_has_all_estimates():
    estimates = rows_of(results_tables(invented_shifts())[1])
    assert estimates["compas, one"] == {
        "truth": ".402",
        "CAPE": ".110",
        "paper": ".310",
        "mean score": ".150",
        "train": ".301",
    }


def test_the_third_table_has_pd_and_pe_beside_max_acc():
    fairness = rows_of(results_tables(invented_shifts())[2])
    assert fairness["compas, one"] == {
        "PD CAPE": ".160",
        "PD Max_Acc": ".170",
        "PD paper": ".360",
        "PE CAPE": "undef",
        "PE Max_Acc": ".180",
        "PE paper": "undef",
    }


def test_a_configuration_that_failed_says_so():
    _, estimates, fairness, *_ = results_tables(invented_shifts())
    assert rows_of(estimates)["bank, two"]["paper"] == "failed"
    assert rows_of(fairness)["bank, two"]["PD paper"] == "failed"
    assert rows_of(estimates)["bank, two"]["CAPE"] == ".410"


def test_a_first_configuration_that_failed_has_neither_interval_nor_verdict():
    entry = invented_shift("bank", "two", 0.0, failed=["CAPE"])
    table = results_tables(invented_shifts(shifts=[entry]))[0]
    row = rows_of(table)["bank, two"]
    for column in ("CAPE", "low", "high", "holds", "verdict"):
        assert row[column] == "failed"
    assert row["truth"] == ".402"


@pytest.mark.parametrize(
    ("holds", "seeds", "shown"),
    [(1.0, 3, "yes"), (0.0, 3, "no"), (1 / 3, 3, "1 of 3"), (1.0, 1, "yes")],
)
def test_holds_counts_seeds(holds, seeds, shown):
    entry = invented_shift("compas", "one", 0.0)
    entry["CAPE"]["holds"] = holds
    table = results_tables(invented_shifts(shifts=[entry], seeds=seeds))[0]
    assert rows_of(table)["compas, one"]["holds"] == shown


def test_each_set_of_cases_has_its_summary():
    _, _, _, everything, clear = results_tables(invented_shifts())
    assert everything.title == "Summary, all cases"
    assert clear.title == "Summary, without bank"
    rows = rows_of(everything)
    assert list(rows["CAPE"].values()) == [
        *("2", ".210", ".220", ".230", ".240", ".250", "undef", "1"),
    ]
    # Max_Acc estimates nothing: that is not the same as undefined.
    assert list(rows["Max_Acc"].values()) == [
        *("2", "", "", "", "", ".260", ".270", ""),
    ]


def test_a_third_configuration_has_its_columns():
    entry = invented_shift("compas", "one", 0.0)
    entry["ignore"] = entry["paper"]
    results = invented_shifts(
        shifts=[entry], configurations=["CAPE", "ignore", "paper"]
    )
    _, estimates, fairness, *_ = results_tables(results)
    assert estimates.columns[2:5] == ["CAPE", "ignore", "paper"]
    assert "PD ignore" in fairness.columns


def test_the_page_says_what_is_missing_and_how_it_was_made():
    page = results_markdown(invented_shifts(command="cape reproduce shifts"))
    for text in (
        "## Real shifts over time",
        "`cape reproduce shifts`, 2026-01-01",
        "Seeds: 2;",
        "- They happened.",
        "### Cases that are missing",
        "- meps-12-13 was skipped: no address.",
        "- bank paper 0 failed: ValueError: x",
        "### Summary, without bank",
    ):
        assert text in page


def test_a_run_without_gaps_has_no_section_of_them():
    page = results_markdown(invented_shifts(skipped=[], failed=[]))
    assert "missing" not in page
