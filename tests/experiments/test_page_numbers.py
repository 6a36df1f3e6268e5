"""Every number on a page of results is one of the run, every verdict says yes or no, and pages are written whole."""

import copy
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.experiments import (
    published,
    results_markdown,
    results_tables,
    write_page,
    write_results,
)
from cape.experiments._tables import number
from cape.experiments._verdicts import verdicts

PRINTED = published()["table_results"]["compas"]


def run(groups=("one", "two"), **changes):
    """A finished comparison with invented numbers, all of them different."""
    n = len(groups)
    names = [
        f"{rate}_{z}"
        for rate in ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd")
        for z in range(n)
    ]
    names += [
        "fpr_diff",
        "fnr_diff",
        "accuracy_diff",
        "pe",
        *(["pe_01"] if n == 2 else []),
    ]
    mean = {name: 0.101 + place / 100 for place, name in enumerate(names)}
    sd = {name: 0.001 + place / 1000 for place, name in enumerate(names)}
    ran = {
        "status": "ok",
        "seeds": 3,
        "mean": mean,
        "sd": sd,
        "warnings": [],
        "about": "",
    }
    printed = PRINTED["CAPE-D"] if n == 2 else None
    return {
        "experiment": "own",
        "title": "Own data",
        "groups": list(groups),
        "same_data": False,
        "data": [
            {
                "rows_train": 10 + z,
                "rows_test": 20 + z,
                "prevalence_train": 0.3,
                "prevalence_test": 0.4,
            }
            for z in range(n)
        ],
        "learner": {"kind": "logistic", "repr": "L()"},
        "favourable": "positive",
        "quantifiers": [
            {
                "quantifier": "spa",
                "mean": [0.25] * n,
                "sd": [0.125] * n,
                "printed": None,
                "seeds": 3,
            }
        ],
        "rows": [
            {"method": "CAPE-D", "printed": printed, **ran},
            {"method": "Once", "printed": None, **ran, "seeds": 1},
            {
                "method": "Gone",
                "printed": None,
                "status": "not installed: x",
                "seeds": 0,
            },
        ],
        "verdicts": [],
        "reasons": [],
        "versions": {"python": "3"},
        "cells": 5,
        "cell_seconds": 12.4,
        "cores": 2,
        "load": [0.5],
        "date": "2026-01-01",
        **changes,
    }


def markdown_tables(page):
    """Rows of each table of a page, by its title."""
    found = {}
    for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        title, *lines = part.splitlines()
        rows = [line for line in lines if line.startswith("|")]
        found[title] = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows
        ]
    return found


@given(st.floats(-99, 99))
def test_a_printed_number_is_the_number_to_three_digits(value):
    text = number(value)
    assert float(text) == pytest.approx(value, abs=0.00051)
    assert not re.match(r"-?0\.", text) and re.fullmatch(r"-?\d*\.\d{3}", text)


@pytest.mark.parametrize(
    "groups", [("one", "two"), ("one", "two", "three"), ("alone",)]
)
def test_a_row_shows_the_means_of_its_columns_and_the_spread_below(groups):
    results = run(groups)
    _, rates, fairness = results_tables(results)
    mean, sd = results["rows"][0]["mean"], results["rows"][0]["sd"]
    short = {
        "FPR": "fpr",
        "FNR": "fnr",
        "acc": "accuracy",
        "predicts": "predicted_prevalence",
        "PD": "pd",
        "PE": "pe",
    }
    for table in (rates, fairness):
        for place, column in enumerate(table.columns[1:], 1):
            name, which = column.split()
            key = f"{short[name]}_{which}".replace("pe_worst", "pe").replace(
                "0,1", "01"
            )
            assert table.rows[0][place] == number(mean[key]) and table.rows[1][
                place
            ] == number(sd[key])
    shown = {key for table in (rates, fairness) for key in table.columns[1:]}
    assert len(shown) == len(mean)


def test_methods_that_ran_once_have_no_spread_and_those_that_did_not_say_why():
    for table in results_tables(run())[1:]:
        labels = [row[0] for row in table.rows]
        assert labels == ["CAPE-D (3)", "  ± sd", "  print", "Once", "Gone"]
        assert table.rows[-1] == ["Gone", "not installed: x"]
        assert all(len(row) == len(table.columns) for row in table.rows[:-1])


def test_the_markdown_has_the_cells_of_the_tables_and_equal_widths():
    results = run()
    shown = markdown_tables(results_markdown(results))
    for table in results_tables(results):
        head, rule, *rows = shown[table.title]
        assert head == table.columns and rule == ["---", *["---:"] * (len(head) - 1)]
        padded = [row + [""] * (len(head) - len(row)) for row in table.rows]
        assert rows == [[cell.strip() for cell in row] for row in padded]


def test_names_of_groups_do_not_break_the_markdown():
    page = results_markdown(run() | {"groups": ["a|b", "c\nd"]})
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert any("a\\|b" in line and "c d" in line for line in tables)
    assert not any(line.startswith("d |") for line in page.splitlines())


def test_prevalences_are_shown_by_group_with_what_was_estimated():
    table = results_tables(run())[0]
    assert table.columns == ["", "0 one", "1 two"]
    assert table.rows[:2] == [["training rows", "10", "11"], ["test rows", "20", "21"]]
    assert table.rows[2:] == [
        ["training prevalence", ".300", ".300"],
        ["test prevalence", ".400", ".400"],
        ["estimate, spa", ".250 ± .125", ".250 ± .125"],
    ]


def test_each_verdict_says_yes_or_no_with_its_numbers():
    found = [
        {"claim": "a below b", "holds": True, "detail": "1 and 2"},
        {"claim": "c below d", "holds": False, "detail": "4 and 3"},
    ]
    page = results_markdown(run(verdicts=found))
    assert (
        "### Against print\n\n- yes: a below b (1 and 2)\n- **no**: c below d (4 and 3)\n"
        in page
    )
    assert "Against print" not in results_markdown(run())


def compared(ours, theirs):
    """CAPE-D found ``ours`` and Max_Acc ``theirs`` on every measure of fairness."""
    rows = [
        {
            "method": name,
            "status": "ok",
            "seeds": 1,
            "printed": PRINTED[name],
            "mean": {**PRINTED[name], **found},
        }
        for name, found in (("CAPE-D", ours), ("Max_Acc", theirs))
    ]
    return {"same_data": True, "rows": rows}


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_order_is_that_of_print_or_it_is_not(ours, theirs):
    columns = ("pd_0", "pd_1", "pe_01", "fpr_diff", "fnr_diff", "accuracy_diff")
    found = verdicts(
        compared(dict.fromkeys(columns, ours), dict.fromkeys(columns, theirs))
    )
    orders = {
        v["claim"].split(" on ")[1].split(",")[0]: v
        for v in found
        if v["claim"].endswith("as in print")
    }
    assert list(orders) == list(columns)
    for column, verdict in orders.items():
        below = PRINTED["CAPE-D"][column] < PRINTED["Max_Acc"][column]
        assert verdict["claim"].startswith(
            f"CAPE-D {'below' if below else 'above'} Max_Acc"
        )
        assert verdict["holds"] == ((ours < theirs) == below)
        assert verdict["detail"].startswith(
            f"{ours:.3f} and {theirs:.3f}, print {PRINTED['CAPE-D'][column]:.3f}"
        )


@given(st.floats(-0.3, 0.3))
def test_nearness_to_print_has_its_limits(gap):
    near = {
        v["claim"]: v
        for v in verdicts(compared({"fpr_1": PRINTED["CAPE-D"]["fpr_1"] + gap}, {}))
    }
    rates, accuracy = (v for claim, v in near.items() if claim.startswith("CAPE-D: "))
    assert rates["holds"] == (
        abs(PRINTED["CAPE-D"]["fpr_1"] + gap - PRINTED["CAPE-D"]["fpr_1"]) <= 0.15
    )
    assert accuracy["holds"] and (abs(gap) < 1e-9 or "fpr_1" in rates["detail"])


def test_a_method_that_failed_is_not_judged():
    results = compared({}, {})
    results["rows"][0]["status"] = "failed: no luck"
    assert verdicts(results) == []


def test_a_page_that_cannot_be_made_leaves_the_old_one(tmp_path):
    write_results(run(), tmp_path / "a")
    page = write_page([tmp_path / "a"], tmp_path / "docs" / "results.md")
    before = page.read_text()
    with pytest.raises(FileNotFoundError):
        write_page([tmp_path / "a", tmp_path / "none"], page)
    assert page.read_text() == before and [p.name for p in page.parent.glob("*.*")] == [
        "results.md"
    ]


def test_results_that_cannot_be_written_leave_the_old_ones(tmp_path, monkeypatch):
    old = write_results(run(), tmp_path)
    before = [path.read_text() for path in old]
    with pytest.raises(KeyError):
        write_results({"experiment": "own"}, tmp_path)

    def half(self, text, **options):
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="no space left"):
        write_results(run(title="New"), tmp_path)
    assert [path.read_text() for path in old] == before and sorted(
        tmp_path.iterdir()
    ) == sorted(old)


def test_a_page_of_stored_runs_is_the_page_of_the_runs(tmp_path):
    one, two = (
        run(title="First"),
        run(("x", "y", "z"), title="Second", command="cape compare"),
    )
    for name, results in (("one", one), ("two", two)):
        write_results(copy.deepcopy(results), tmp_path / name)
        assert json.loads((tmp_path / name / "results.json").read_text()) == results
        assert (tmp_path / name / "results.md").read_text() == results_markdown(results)
    page = write_page(
        [tmp_path / "two", tmp_path / "one"], tmp_path / "page.md"
    ).read_text()
    assert page.endswith(results_markdown(two) + "\n" + results_markdown(one))
    assert (
        "5 cells, 12 s of work, 2 cores, load 0.5" in page
        and "`cape compare`, 2026-01-01" in page
    )


def test_an_unknown_load_is_told():
    assert "load unknown." in results_markdown(run(load=None))
