"""Tables and pages have the numbers of a run, and nothing else."""

import json
import sys
from pathlib import Path

import pytest

from cape_paper import (
    published,
    results_markdown,
    results_tables,
    write_index,
    write_page,
    write_results,
)
from cape_paper._tables import number

sys.path.insert(0, str(Path(__file__).parent))
from invented import (
    PRINTED,
    idle_row,
    invented_comparison,
    invented_logged,
    invented_quantifiers,
    invented_shifts,
    invented_small_groups,
    invented_synthetic,
)

RUNS = [
    invented_comparison,
    invented_synthetic,
    invented_shifts,
    invented_quantifiers,
    invented_small_groups,
]


def table_of(results, words):
    [table] = [
        table for title, table in results_tables(results).items() if words in title
    ]
    return table


def test_a_comparison_with_print_has_the_papers_columns():
    results = invented_comparison()
    errors = table_of(results, "Error rates").to_numpy().tolist()
    mean = results["rows"][0]["mean"]
    sd = results["rows"][0]["sd"]
    assert errors[0][:3] == [
        "CAPE-D (3)",
        number(mean["fpr_0"]),
        number(mean["fpr_1"]),
    ]
    assert errors[1][:2] == ["± sd", number(sd["fpr_0"])]
    assert errors[2][:2] == ["print", number(PRINTED["CAPE-D"]["fpr_0"])]
    assert errors[3][0] == "Once"
    assert errors[4] == ["Gone"] + [""] * 9
    fairness = table_of(results, "PD and PE")
    assert list(fairness)[-2:] == ["PE 0,1", "PE worst"]
    assert fairness.iloc[2, -1] == ""
    prevalences = table_of(results, "quantifiers")
    assert list(prevalences) == ["", "0 one", "1 two"]
    assert prevalences.iloc[0].tolist() == ["training rows", "10", "11"]
    assert prevalences.iloc[-1].tolist() == ["estimate, spa"] + [".250 ± .125"] * 2


def test_table_1_has_means_spreads_and_print():
    table = table_of(invented_synthetic(), "Table 1")
    lines_of_methods = [3, 2, 3]
    rho = []
    for n_lines in lines_of_methods:
        rho += ["0.1 0.1"] + [""] * (n_lines - 1)
    assert table["rho 0, 1"].tolist() == rho
    assert table["PD 0"].iloc[:3].tolist() == [".220", ".0031", ".009"]
    printed = published()["table_synthetic"][0]["pe_01"]["Max_Acc"]
    assert table["PE 0,1"].iloc[-1] == number(printed)


def test_the_figure_and_the_theorem_are_of_group_1_where_group_0_stays():
    tables = invented_synthetic()
    points = table_of(tables, "figure")
    assert points["rho 1"].tolist() == ["0.3"] * 3
    assert points["PD 1"].iloc[0] == ".230 ± .0041"
    theorem = table_of(tables, "Theorem 3")
    assert theorem.iloc[0].tolist()[:3] == ["0.3", ".010", ".020"]


def test_one_repetition_has_no_spread():
    once = invented_synthetic(repetitions=1)
    assert "± sd" not in table_of(once, "Table 1")["method"].tolist()
    assert table_of(once, "figure")["PD 1"].iloc[0] == ".230"


def test_a_page_of_logged_decisions_begins_with_what_was_found(tmp_path):
    write_results(invented_logged(), tmp_path / "logged")
    page = write_page([tmp_path / "logged"], tmp_path / "page.md").read_text()
    lines = page.splitlines()
    assert lines[0] == "# The model as it is"
    assert lines[2].startswith("**") and "## How it was measured" in lines
    assert "#### " not in page
    summary = table_of(invented_logged(), "over all cells")
    assert summary.iloc[1].tolist()[2:] == ["reference", ".210", ".010", "", ""]
    assert table_of(invented_logged(), "each case").iloc[0, 1] == ".310"


def test_shifts_show_errors_by_size_and_verdict_and_every_case():
    results = invented_shifts()
    errors = table_of(results, "by rows of each group in the batch")
    # Two cases, whose mean errors are .1 and .2.
    assert errors.iloc[0].tolist() == ["CAPE", ".150 ± .050", ".150 ± .050"]
    assert errors["method"].tolist()[-1] == "PACC"
    verdicts = table_of(results, "CAPE's verdict")
    first = ["30", "some drift", "4", ".150 ± .050", ".160 ± .050"]
    assert verdicts.iloc[0].tolist()[:5] == first
    intervals = table_of(results, "how often they hold")
    spread = [".500 ± .000", ".500 ± .000", ".200 ± .000", ".200 ± .000"]
    assert intervals.iloc[0].tolist() == ["CAPE", *spread]
    labels = table_of(results, "100 labels").set_index("method")
    assert labels.loc["labels alone", "error"] == ".060 ± .000"
    shares = table_of(results, "what CAPE says")
    assert shares.iloc[0].tolist()[1:] == [
        *[".301", ".402", ".400", ".300", ".500", ".500", "some drift"]
    ]
    assert shares.iloc[2].tolist()[3:] == [""] * 5
    decisions = table_of(results, "Prevalence difference")
    assert decisions.iloc[0].tolist()[1:] == [".250", "", "", "undef", "", ""]


def test_quantifiers_and_small_groups_have_a_table_for_each_kind_of_shift():
    pure = table_of(invented_quantifiers(), "Pure prior shift")
    assert pure.iloc[1].tolist() == ["cape spa", ".190", ".190", ".190"]
    alike = table_of(invented_small_groups(), "move alike: mean error")
    assert alike.iloc[0].tolist() == ["20", "borrow", ".110 ± .010"]
    held = table_of(invented_small_groups(), "own way: how often")
    assert held.iloc[2].tolist() == ["20", "pooled", "1.000 ± .000", ".300 ± .000"]


def test_the_index_has_the_finding_and_the_stamp_of_each_page(tmp_path):
    pages = []
    for make in (invented_shifts, invented_quantifiers, invented_small_groups):
        results = make()
        write_results(results, tmp_path / results["experiment"])
        page = tmp_path / f"results-{results['experiment']}.md"
        pages.append(write_page([tmp_path / results["experiment"]], page))
    other = tmp_path / "speed.md"
    other.write_text("# Speed\n\nNothing in bold.\n")
    index = write_index([*pages, other], tmp_path / "results.md").read_text()
    lines = index.splitlines()
    assert lines[-1] == "- [Speed](speed.md)."
    shifts, quantifiers, small = lines[-4:-1]
    assert "On 2 real shifts CAPE's share of positives is off by 0.150" in shifts
    assert shifts.endswith("defaults `3f2a1b0c9d8e`.")
    assert "onestep, the default, on a pure prior shift: 20 rows 0.200" in quantifiers
    assert "best of ours spa 0.190, of the peers quapy EMQ 0.180" in quantifiers
    assert "0.110 with 20 training rows of each group (alone 0.210" in small


def test_a_page_says_how_it_was_made_and_where_print_differs():
    page = results_markdown(invented_comparison(command="x compare", experiment="meps"))
    assert page.startswith("## Own data\n")
    made = (
        "`x compare`, 2026-01-01; 5 cells, 12 s of processor time, 2 cores, load 0.5."
    )
    assert made in page
    assert "### Where we differ from print, and why\n\n- Where the data is" in page
    assert "### Where we differ" not in results_markdown(invented_comparison())
    assert "- Gone not installed: x" in page
    assert "### What the methods warned of" not in page


def test_bars_and_line_breaks_do_not_break_a_table():
    page = results_markdown(
        invented_comparison(
            ("a|b", "c\nd", "e"), rows=[idle_row("X|Y", "failed: a\nb")]
        )
    )
    assert "a\\|b" in page and "X\\|Y" in page
    header = [line for line in page.splitlines() if "a\\|b" in line]
    assert len(header) == 1


@pytest.mark.parametrize("make", RUNS)
def test_files_of_a_run_make_a_page(make, tmp_path):
    results = make()
    run = tmp_path / "run"
    paths = write_results(results, run)
    assert [path.name for path in paths[:2]] == ["results.json", "results.md"]
    assert json.loads(paths[0].read_text()) == json.loads(json.dumps(results))
    page = write_page([run], tmp_path / "docs" / "page.md").read_text()
    assert page.startswith(f"# {results['title']}")


def test_folders_that_make_no_page_are_refused_before_anything_is_written(tmp_path):
    run = tmp_path / "run"
    write_results(invented_shifts(), run)
    page = tmp_path / "docs" / "page.md"
    with pytest.raises(FileNotFoundError, match="has no results.json"):
        write_page([run, tmp_path], page)
    assert not page.parent.exists()
