"""Tables, pages and pictures have the numbers of a run, and nothing else."""

import json
import sys
from pathlib import Path

import pytest

from cape_paper import _charts as charts
from cape_paper import (
    published,
    results_markdown,
    results_tables,
    save_pictures,
    write_page,
    write_results,
)
from cape_paper._tables import number

sys.path.insert(0, str(Path(__file__).parent))
from invented import (
    PRINTED,
    idle_row,
    invented_comparison,
    invented_row,
    invented_shift,
    invented_shifts,
    invented_synthetic,
)

RUNS = [invented_comparison, invented_synthetic, invented_shifts]
DOTS = [invented_comparison(("a", "b", "c")), *[make() for make in RUNS]]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0456, ".046"),
        (-0.5, "-.500"),
        (10.5, "10.500"),
        (None, "undef"),
        (float("nan"), ""),
        (7, "7"),
        ("x", "x"),
    ],
)
def test_numbers_are_shown_as_the_paper_prints_them(value, shown):
    assert number(value) == shown


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


def test_estimates_have_print_below_and_no_spread_of_one_seed():
    spa = {
        "quantifier": "spa",
        "mean": [0.25, 0.5],
        "sd": [0.0, 0.0],
        "printed": [0.592, 0.644],
        "seeds": 1,
    }
    table = table_of(invented_comparison(quantifiers=[spa]), "quantifiers")
    assert table.iloc[-2].tolist() == ["estimate, spa", ".250", ".500"]
    assert table.iloc[-1].tolist() == ["print", ".592", ".644"]


def test_own_tables_have_a_line_for_each_group_by_its_name():
    results = invented_comparison(("a", "b", "c"))
    table = table_of(results, "every group")
    of_seeds = ["a", "± sd", "b", "± sd", "c", "± sd"]
    assert table["group"].tolist() == [*of_seeds, "a", "b", "c", ""]
    assert table["method"].tolist().count("CAPE-D (3)") == 1
    row = results["rows"][0]
    assert table["PD"].iloc[2] == number(row["mean"]["pd_1"])
    assert table["PD"].iloc[3] == number(row["sd"]["pd_1"])
    assert list(table_of(results, "Between groups"))[-1] == "PE worst"


def test_results_without_columns_of_parity_have_no_table_of_it():
    old = invented_row("Old", 2)
    del old["mean"]["precision_difference"]
    titles = results_tables(invented_comparison(rows=[old]))
    assert not any("Parity" in title for title in titles)
    parity = table_of(invented_comparison(), "Parity")
    mean = invented_comparison()["rows"][0]["mean"]
    assert parity["TPR diff"].iloc[0] == number(mean["fnr_diff"])


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


def test_shifts_show_intervals_estimates_and_fairness():
    results = invented_shifts()
    intervals = table_of(results, "interval")
    assert intervals.iloc[0].tolist() == [
        *["compas, one", ".301", ".402", ".110", ".120", ".130"],
        *["1 of 2", "some drift"],
    ]
    estimates = table_of(results, "all estimates")
    assert estimates["paper"].tolist() == [".310", "failed"]
    fairness = table_of(results, "Prevalence difference")
    assert list(fairness)[1:4] == ["PD CAPE", "PD Max_Acc", "PD paper"]
    assert fairness["PE CAPE"].iloc[0] == "undef"
    summary = table_of(results, "Summary, all cases")
    assert summary["error mean"].tolist() == [".210", ""]
    assert summary["PD worse"].tolist() == ["1", ""]


def test_a_first_configuration_that_failed_is_said_to_have():
    entry = invented_shift("bank", "two", 0.0, failed=["CAPE"])
    table = table_of(invented_shifts(shifts=[entry]), "interval")
    assert table.iloc[0].tolist()[3:] == ["failed"] * 5


def test_a_page_says_how_it_was_made_and_what_holds():
    verdict = {"claim": "A is B", "holds": False, "detail": "1 and 2"}
    page = results_markdown(
        invented_comparison(command="x compare", verdicts=[verdict], reasons=["So."]),
        pictures=["images/a.png", "images/a.html"],
    )
    assert page.startswith("## Own data\n")
    assert "`x compare`, 2026-01-01; 5 cells, 12 s of work, 2 cores, load 0.5." in page
    assert "- **no**: A is B (1 and 2)" in page
    assert "### Where we differ from print, and why\n\n- So." in page
    assert "- Gone not installed: x" in page
    assert "![a](images/a.png)" in page and "a.html" not in page
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


def test_the_favourable_label_and_settings_of_the_learner_are_told():
    scores = [{"max_depth": 1, "max_iter": 50, "log_loss": 0.61}]
    learner = {"kind": "boosting", "repr": "H(\n    a=1)", "scores": scores}
    page = results_markdown(invented_comparison(favourable="negative", learner=learner))
    assert "the negative label is the favourable one" in page.splitlines()[0]
    assert "H( a=1); log loss by 10-fold" in page
    assert "depth 1 x 50 trees 0.6100" in page
    assert "load unknown" in results_markdown(invented_shifts(load=None))


@pytest.mark.parametrize("make", RUNS)
def test_files_of_a_run_make_a_page(make, tmp_path):
    results = make()
    run = tmp_path / "run"
    paths = write_results(results, run)
    assert [path.name for path in paths] == ["results.json", "results.md"]
    assert json.loads(paths[0].read_text()) == json.loads(json.dumps(results))
    picture = run / f"{results['experiment']}-methods.png"
    picture.write_bytes(b"picture")
    page = write_page([run], tmp_path / "docs" / "page.md").read_text()
    assert page.startswith("# Results")
    assert paths[1].read_text().splitlines()[0] in page
    assert "![run-methods](images/run-methods.png)" in page
    assert (tmp_path / "docs" / "images" / "run-methods.png").read_bytes() == b"picture"


def test_folders_that_make_no_page_are_refused_before_anything_is_written(tmp_path):
    run = tmp_path / "run"
    write_results(invented_shifts(), run)
    page = tmp_path / "docs" / "page.md"
    with pytest.raises(FileNotFoundError, match="has no results.json"):
        write_page([run, tmp_path], page)
    with pytest.raises(ValueError, match="distinct names"):
        write_page([run, run], page)
    assert not page.parent.exists()


@pytest.mark.slow
def test_every_picture_is_written_as_png_and_as_a_page_that_needs_no_network(tmp_path):
    paths = []
    for results in DOTS[1:]:
        paths += save_pictures(results, tmp_path / "new")
    stems = ["own-methods", "synthetic-figure", "synthetic-pairs", "synthetic-theorem"]
    stems.append("shifts-estimates")
    assert [path.stem for path in paths[::2]] == stems
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG") and len(content) > 3000
        else:
            assert b'src="http' not in content and b"vega" in content


def test_the_figure_has_means_and_one_sd_in_three_panels():
    frame = charts.frame_figure(invented_synthetic())
    assert frame["rho_1"].unique().tolist() == [0.3]
    first = frame.query("classifier == 'CAPE-D'").iloc[1]
    assert first["mean"] == pytest.approx(0.23)
    assert first["high"] - first["mean"] == pytest.approx(0.0041)
    panels = charts.draw_figure(frame).to_dict()["hconcat"]
    zero = [p["layer"][1]["encoding"]["y"]["scale"]["zero"] for p in panels]
    assert zero == [False, True, True]


def test_heat_maps_have_every_pair_and_a_scale_for_each_metric():
    frame = charts.frame_pairs(invented_synthetic())
    assert len(frame) == 2 * 3 * 2
    spec = charts.draw_pairs(frame).to_dict()
    kinds = [part["encoding"]["color"]["scale"]["type"] for part in spec["vconcat"]]
    assert kinds == ["linear", "sqrt"]


def test_the_lines_of_the_theorem_have_a_colour_and_a_dash():
    frame = charts.frame_theorem(invented_synthetic())
    assert frame["mean"].tolist() == [0.01, 0.02, 0.03, 0.1, 0.07]
    encoding = charts.draw_theorem(frame).to_dict()["encoding"]
    for channel in ("color", "strokeDash"):
        assert encoding[channel]["scale"]["domain"] == frame["what"].tolist()


@pytest.mark.parametrize("results", DOTS[:2])
def test_dots_are_ours_and_print_in_the_order_of_the_methods(results):
    frame = charts.frame_methods(results)
    assert (frame["low"] >= 0).all()
    assert list(dict.fromkeys(frame["method"])) == ["CAPE-D", "Once"]
    kinds = {"ours", "print"} if len(results["groups"]) == 2 else {"ours"}
    assert set(frame["kind"]) == kinds
    mean = results["rows"][0]["mean"]
    pe = frame.query("method == 'CAPE-D' and metric == 'PE' and kind == 'ours'")
    assert pe["value"].tolist() == [mean["pe_01" if len(kinds) == 2 else "pe"]]
    spec = charts.draw_methods(frame).to_dict()
    colours = spec["hconcat"][0]["layer"][0]["encoding"]["color"]["scale"]
    assert colours["domain"] == [*results["groups"], "between groups"]
    assert len(set(colours["range"])) == len(colours["domain"])
    assert ("Hollow" in spec["title"]["subtitle"]) == ("print" in kinds)


def test_estimates_truth_and_training_of_every_shift():
    failed = invented_shift("gss", "x", 0.0, failed=["CAPE"])
    results = invented_shifts()
    results["shifts"].append(failed)
    frame = charts.frame_estimates(results).set_index(["shift", "what"])
    assert len(frame) == 8
    assert frame.loc[("compas, one", "truth"), "share"] == 0.402
    estimate = frame.loc[("bank, two", "estimate")]
    assert estimate["low"] == pytest.approx(0.42)
    marks = charts.draw_estimates(frame.reset_index()).to_dict()["layer"][1]
    for channel in ("color", "shape"):
        assert len(set(marks["encoding"][channel]["scale"]["range"])) == 3
    # None: as in the frame, and not by the alphabet.
    assert marks["encoding"]["y"]["sort"] is None
