"""Tables and pages show the numbers of the run, and nothing else."""

import json

import pytest

from cape.experiments import (
    published,
    results_markdown,
    results_tables,
    run_synthetic,
    write_page,
    write_results,
)
from cape.experiments._tables import number


@pytest.fixture(scope="module")
def synthetic():
    return run_synthetic(repetitions=2, n_train=800, n_test=300, prevalences=(0.1, 0.5))


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


def test_the_results_table_has_ours_spread_and_print(compared):
    prevalences, rates, fairness = results_tables(compared)
    names = [row[0] for row in rates.rows]
    assert names[:6] == [
        "CAPE-D (2)",
        "  ± sd",
        "  print",
        "CAPE-1 (2)",
        "  ± sd",
        "  print",
    ]
    ours, printed = rates.rows[0], rates.rows[2]
    mean = next(row for row in compared["rows"] if row["method"] == "CAPE-D")["mean"]
    assert ours[1:4] == [
        number(mean["fpr_0"]),
        number(mean["fpr_1"]),
        number(mean["fpr_diff"]),
    ]
    assert printed[1:4] == [".461", ".380", ".081"]
    assert fairness.columns[1:] == [
        "predicts 0",
        "predicts 1",
        "PD 0",
        "PD 1",
        "PE 0,1",
        "PE worst",
    ]
    assert all(
        len(row) == len(rates.columns)
        for row in rates.rows
        if "not installed" not in row[1]
    )
    labels = [row[0] for row in prevalences.rows]
    assert (
        "estimate, spa" in labels
        and labels[labels.index("estimate, spa") + 1] == "  print"
    )


def test_three_groups_have_columns_each(compared):
    three = {
        **compared,
        "groups": ["a", "b", "c"],
        "rows": [],
        "data": [],
        "quantifiers": [],
    }
    assert results_tables(three)[1].columns[1:5] == [
        "FPR 0",
        "FPR 1",
        "FPR 2",
        "FPR diff",
    ]
    assert results_tables(three)[2].columns[-1] == "PE worst"


def test_synthetic_tables_have_the_printed_rows_beside_ours(synthetic):
    table_1, figure, theorem = results_tables(synthetic)
    printed = published()["table_synthetic"][0]
    shown = [row for row in table_1.rows if row[1] == "  print"]
    assert shown[0][2:] == [
        number(v)
        for v in (
            *printed["accuracy"]["CAPE"],
            *printed["pd"]["CAPE"],
            printed["pe_01"]["CAPE"],
        )
    ]
    assert len(shown) == 2  # one pair of the table was run: CAPE's and Max_Acc's print
    assert len(figure.rows) == 2 * 3 and "±" in figure.rows[0][2]
    assert [row[0] for row in theorem.rows] == ["0.1", "0.5"]


def test_the_page_holds_how_it_was_made_verdicts_tables_and_pictures(compared):
    page = results_markdown(
        {**compared, "command": "cape compare a b"},
        pictures=["small-methods.png", "x.html"],
    )
    for text in (
        "`cape compare a b`",
        compared["date"],
        "scikit-learn",
        "Invented.",
        "### Against print",
        "### Where we differ from print",
        "AD",
    ):
        assert text in page
    assert "![small-methods](small-methods.png)" in page and "x.html" not in page
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in lines)


def test_warnings_of_the_methods_are_told(compared):
    warned = json.loads(json.dumps(compared))
    warned["rows"][0]["warnings"] = ["UserWarning: more has moved"]
    assert "- CAPE-D: UserWarning: more has moved" in results_markdown(warned)


def test_an_error_with_bars_or_lines_cannot_break_the_table(compared):
    broken = json.loads(json.dumps(compared))
    broken["rows"][0] |= {"status": "failed: a|b\nc", "seeds": 0}
    assert "failed: a\\|b c" in results_markdown(broken)


def test_files_are_written_whole_and_again(tmp_path, compared):
    for _ in range(2):
        paths = write_results(compared, tmp_path / "run")
    assert [path.name for path in paths] == ["results.json", "results.md"]
    assert json.loads(paths[0].read_text()) == compared
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "results.json",
        "results.md",
    ]


def test_one_page_of_several_runs_takes_their_pictures_along(
    tmp_path, compared, synthetic
):
    turned = {**compared, "favourable": "negative"}
    for name, results in (
        ("small", compared),
        ("turned", turned),
        ("synthetic", synthetic),
    ):
        write_results(results, tmp_path / name)
        (tmp_path / name / f"{results['experiment']}-a.png").write_bytes(name.encode())
    folders = [tmp_path / name for name in ("synthetic", "small", "turned")]
    page = write_page(folders, tmp_path / "docs" / "results.md").read_text()
    assert page.startswith("# Results") and page.index(
        "## Synthetic data"
    ) < page.index("## Small data")
    assert "![small-a](images/small-a.png)" in page
    for name in ("synthetic", "small", "turned"):
        assert (
            tmp_path / "docs" / "images" / f"{name}-a.png"
        ).read_bytes() == name.encode()
    assert (
        page.count("negative label is the favourable one") == 2
    )  # in the heading and where the choice is stated
