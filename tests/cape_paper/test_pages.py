"""Tables and pages have the numbers of a run, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest

from cape_paper import (
    published,
    results_tables,
    write_index,
    write_page,
    write_results,
)

RUNS = ["compared", "synthetic", "shifts", "quantifiers", "small_groups", "logged"]


def table_of(results, words):
    [table] = [
        table for title, table in results_tables(results).items() if words in title
    ]
    return table


def test_a_comparison_has_means_spreads_and_print(compared):
    errors = table_of(compared, "Error rates")
    rows = pd.DataFrame(compared["rows"])
    ours = rows[rows["method"] == "CAPE-D"]["fpr_0"]
    printed = published()["table_results"]["compas"]["CAPE-D"]["fpr_0"]
    assert errors["method"].tolist()[:3] == ["CAPE-D", "± sd of 2", "print"]
    expected = [f"{ours.mean():.3f}", f"{ours.std():.4f}", f"{printed:.3f}"]
    assert errors["fpr 0"].tolist()[:3] == expected
    # Neither spread nor print.
    alone = errors["method"].tolist().index("Always positive")
    assert errors["fpr 0"].tolist()[alone] == "1.000"
    fairness = table_of(compared, "PD and PE")
    assert fairness["pe"].tolist()[2] == ""
    estimates = table_of(compared, "quantifiers").set_index("")
    assert estimates.loc["rows test", "one"] == str(compared["data"][0]["rows_test"])
    assert estimates.loc["spa, print"].tolist() == ["0.592", "0.644"]
    spa = pd.DataFrame(compared["quantifiers"]).query("quantifier == 'spa'")
    of_one = spa[spa["group"] == "one"]["estimate"]
    assert estimates.loc["spa", "one"] == f"{of_one.mean():.3f} ± {of_one.std():.4f}"


def test_what_is_undefined_is_not_averaged_away(compared):
    rows = [dict(row) for row in compared["rows"]]
    rows[0]["pe"] = None
    fairness = table_of({**compared, "rows": rows}, "PD and PE")
    assert fairness["pe"].tolist()[0] == "undef"


def test_the_synthetic_tables_have_print_the_figure_and_the_theorem(synthetic):
    table = table_of(synthetic, "Table 1")
    lines = ["CAPE-D", "± sd of 2", "print", "CAPE default", "± sd of 2"]
    assert table["method"].tolist() == [*lines, "Max_Acc", "± sd of 2", "print"]
    assert set(table["rho"]) == {"0.1 0.1"}
    printed = published()["table_synthetic"][0]["pe_01"]["Max_Acc"]
    assert table["pe 01"].iloc[-1] == f"{printed:.3f}"
    rows = pd.DataFrame(synthetic["rows"])
    points = rows.query("rho_0 == 0.5 and rho_1 == 0.1 and method == 'Max_Acc'")["pd_1"]
    figure = table_of(synthetic, "figure").set_index(["rho 1", "method"])
    expected = f"{points.mean():.3f} ± {points.std():.4f}"
    assert figure.loc[("0.100", "Max_Acc"), "pd 1"] == expected
    theorem = pd.DataFrame(synthetic["theorem"]).query("rho_0 == 0.5 and rho_1 == 0.1")
    shown = table_of(synthetic, "Theorem 3").iloc[0]
    assert shown["delta 1"] == f"{theorem['delta_1'].mean():.3f}"


def test_shifts_show_errors_by_size_and_verdict_and_every_case(shifts):
    records = pd.DataFrame(shifts["records"])
    ours = records.query("method == 'CAPE' and size == 'all'").set_index("group")
    errors = table_of(shifts, "intervals, by rows of each group").set_index("method")
    assert errors.loc["CAPE", "error, all"] == f"{ours['error'].mean():.3f}"
    assert "labels alone" not in errors.index
    verdicts = table_of(shifts, "and CAPE's verdict")
    assert verdicts.query("size == 'all'")["batches"].astype(int).sum() == 2
    assert "_" not in " ".join(verdicts["verdict"])
    labels = table_of(shifts, "100 labels").set_index("method")
    assert list(labels.index) == ["CAPE", "CAPE, labels", "labels alone"]
    shares = table_of(shifts, "what CAPE says").set_index("group")
    truth = {entry["group"]: entry["prevalence_test"] for entry in shifts["shifts"]}
    for group in ("a", "b"):
        assert shares.loc[group, "truth"] == f"{truth[group]:.3f}"
        assert shares.loc[group, "estimate"] == f"{ours.loc[group, 'estimate']:.3f}"
    decisions = pd.DataFrame(shifts["decisions"]).query("method == 'paper'")
    shown = table_of(shifts, "Prevalence difference")["pd paper"]
    assert shown.tolist() == [f"{pd:.3f}" for pd in decisions["pd"]]


def test_an_error_is_the_mean_over_cases_after_that_over_their_batches(quantifiers):
    key = {"method": "cape spa", "size": "20", "kind": "real"}
    records = [
        {**key, "case": "a", "error": 0.1, "times": 1},
        {**key, "case": "a", "error": 0.4, "times": 2},
        {**key, "case": "b", "error": 0.1, "times": 5},
    ]
    table = table_of({**quantifiers, "records": records}, "Real shifts")
    # The mean of a is .3.
    assert table["error, 20"].tolist() == ["0.200 ± 0.100"]


def test_quantifiers_and_small_groups_have_a_table_for_each_kind_of_shift(
    quantifiers, small_groups
):
    errors = table_of(quantifiers, "Pure prior shift")
    assert list(errors) == ["method", "error, 20", "error, 200"]
    titles = list(results_tables(small_groups))
    assert [title.partition(":")[0] for title in titles] == [
        "Real shifts",
        "Prior shift, groups move alike",
        "Prior shift, each group moves its own way",
    ]
    held = table_of(small_groups, "own way")
    assert held["training rows"].tolist()[0] == "20"
    row = held.set_index("method").loc["mean score"]
    assert (row["holds, 30"], row["width, 30"]) == ("", "")


def test_logged_decisions_are_shown_for_all_rates_and_each_case(logged):
    records = pd.DataFrame(logged["records"])
    ours = records.query("method == 'CAPE'")["error"]
    table = table_of(logged, "over all cases")
    assert table.iloc[0, :2].tolist() == ["both", "all three"]
    shown = table.query("learner == 'both' and rate == 'all three'")
    assert shown.set_index("method").loc["CAPE", "error"] == f"{ours.mean():.3f}"
    by_case = table_of(logged, "each case").iloc[0]
    assert by_case["fnr CAPE"] == f"{ours[records['rate'] == 'fnr'].item():.3f}"


@pytest.mark.parametrize("name", RUNS)
def test_a_page_is_made_of_the_numbers_of_a_run(name, request, tmp_path):
    results = request.getfixturevalue(name)
    write_results(results, tmp_path / "run")
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == results
    page = write_page([tmp_path / "run"], tmp_path / "docs" / "results-page.md")
    text = page.read_text()
    assert text.startswith(f"# {results['title']}\n\n**")
    assert "### How it was measured" in text
    assert f"defaults `{results['defaults']}`" in text
    for table in results_tables(results).values():
        cells = set(np.ravel(table.to_numpy(dtype=str)))
        assert all(cell in text for cell in cells)
    other = tmp_path / "docs" / "speed.md"
    other.write_text("# Speed\n\nNothing in bold.\n")
    index = write_index([page, other], tmp_path / "docs" / "results.md").read_text()
    first, last = index.splitlines()[-2:]
    assert last == "- [Speed](speed.md)."
    found = text.split("**")[1]
    assert first.startswith(f"- [{results['title']}](results-page.md). {found}")
    assert first.endswith(f"defaults `{results['defaults']}`.")


def test_a_page_says_what_is_missing_and_where_print_differs(compared, tmp_path):
    changes = {"experiment": "meps", "failed": {"X|Y 0": "out of memory"}}
    write_results({**compared, **changes, "command": "x compare"}, tmp_path)
    text = (tmp_path / "results.md").read_text()
    assert "`x compare`: " in text
    assert "### Where we differ from print, and why\n\n- Where the data is" in text
    assert "- X|Y 0 failed: out of memory" in text


def test_bars_and_line_breaks_do_not_break_a_table(compared, tmp_path):
    rows = [{**row, "method": "a|b\nc"} for row in compared["rows"]]
    write_results({**compared, "rows": rows}, tmp_path)
    assert "| a\\|b c" in (tmp_path / "results.md").read_text()


def test_a_run_of_which_all_cells_failed_has_a_page(shifts, tmp_path):
    failed = {**shifts, "failed": {"case 0": "ValueError: x"}}
    for part in ("records", "decisions", "shifts"):
        failed.pop(part)
    write_results(failed, tmp_path)
    assert "- case 0 failed: ValueError: x" in (tmp_path / "results.md").read_text()
