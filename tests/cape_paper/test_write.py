"""Pages hold the tables of the run, and files are written whole or not at all."""

import copy
import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper import (
    results_markdown,
    results_tables,
    write_page,
    write_results,
)

sys.path.insert(0, str(Path(__file__).parent))
from invented import (
    idle_row,
    invented_comparison,
    invented_shifts,
    invented_synthetic,
)


def markdown_tables(page):
    """Read the rows of each table of a page, by its title."""
    tables = {}
    for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        title, *lines = part.splitlines()
        rows = []
        for line in lines:
            if line.startswith("|"):
                cells = re.split(r"(?<!\\)\|", line)[1:-1]
                rows.append([cell.strip() for cell in cells])
        tables[title] = rows
    return tables


@pytest.mark.parametrize(
    "results", [invented_comparison(), invented_synthetic(), invented_shifts()]
)
def test_the_markdown_has_the_cells_of_the_tables(results):
    shown = markdown_tables(results_markdown(results))
    for table in results_tables(results):
        heading, rule, *rows = shown[table.title]
        width = len(table.columns)
        assert heading == table.columns
        assert rule == ["---", *["---:"] * (width - 1)]
        expected = []
        for row in table.rows:
            padded = [*row, *[""] * (width - len(row))]
            expected.append([cell.strip() for cell in padded])
        assert rows == expected


def test_names_of_groups_do_not_break_the_markdown():
    page = results_markdown(invented_comparison(("a|b", "c\nd")))
    [heading] = [line for line in page.splitlines() if "a\\|b" in line]
    assert heading == "|  | 0 a\\|b | 1 c d |"


names_of_groups = st.text("ab |\n[](){}*_`<>", min_size=1, max_size=8)


@given(names_of_groups, names_of_groups)
def test_any_name_of_a_group_stays_in_its_cell(first, second):
    results = invented_comparison((first, second))
    [title] = [table.title for table in results_tables(results)[:1]]
    rows = markdown_tables(results_markdown(results))[title]
    assert {len(row) for row in rows} == {3}


def test_an_error_with_bars_and_lines_does_not_break_the_markdown():
    row = idle_row("Broken", "failed: a|b\nc")
    page = results_markdown(invented_comparison(rows=[row]))
    assert "| Broken | failed: a\\|b c |" in page


def test_the_page_of_a_real_run_has_all_its_parts(compared):
    page = results_markdown({**compared, "command": "cape compare a b"})
    for text in (
        "## Small data",
        "`cape compare a b`",
        compared["date"],
        "scikit-learn",
        "- Invented.",
        "### Against print",
        "### Where we differ from print, and why",
        "| CAPE-D (2) |",
    ):
        assert text in page
    for line in page.splitlines():
        assert not line.startswith("|") or line.endswith("|")


def test_pictures_that_are_png_are_shown_and_pages_are_not():
    pictures = ["small-methods.png", "images/other.png", "x.html"]
    page = results_markdown(invented_comparison(), pictures=pictures)
    assert "![small-methods](small-methods.png)" in page
    assert "![other](images/other.png)" in page
    assert "x.html" not in page


def test_each_verdict_says_yes_or_no_with_its_numbers():
    verdicts = [
        {"claim": "a below b", "holds": True, "detail": "1 and 2"},
        {"claim": "c below d", "holds": False, "detail": "4 and 3"},
    ]
    page = results_markdown(invented_comparison(verdicts=verdicts))
    section = page.split("### Against print\n\n")[1]
    assert section.startswith(
        "- yes: a below b (1 and 2)\n- **no**: c below d (4 and 3)\n"
    )


@pytest.mark.parametrize(
    "title", ["Against print", "Where we differ", "What the methods warned of"]
)
def test_a_section_without_content_is_left_out(title):
    assert title not in results_markdown(invented_comparison())


def test_reasons_and_notes_are_listed():
    results = invented_comparison(reasons=["Other rows."], notes=["One.", "Two."])
    page = results_markdown(results)
    assert "### Where we differ from print, and why\n\n- Other rows.\n" in page
    assert "\n\n- One.\n- Two.\n\n" in page


def test_warnings_of_the_methods_are_listed():
    results = invented_comparison()
    results["rows"][0]["warnings"] = ["UserWarning: more has moved"]
    page = results_markdown(results)
    section = page.split("### What the methods warned of\n\n")[1]
    assert section == "- CAPE-D: UserWarning: more has moved\n"


def test_the_page_says_how_the_run_was_made():
    page = results_markdown(invented_comparison(command="cape compare"))
    assert (
        "`cape compare`, 2026-01-01; 5 cells, 12 s of work, 2 cores, load 0.5." in page
    )
    assert "Versions: python 3." in page
    assert "Learner of every method: L(). AIF360 is told" in page


def test_an_unknown_load_is_told():
    assert "load unknown." in results_markdown(invented_comparison(load=None))


def test_the_page_says_how_the_learner_was_tuned():
    scores = [
        {"max_depth": 1, "max_iter": 50, "log_loss": 0.61234},
        {"max_depth": 2, "max_iter": 50, "log_loss": 0.6},
    ]
    learner = {"kind": "boosting", "repr": "B(c,\n  d=1)", "scores": scores}
    page = results_markdown(invented_comparison(learner=learner))
    assert "Learner of every method: B(c, d=1); log loss by 10-fold" in page
    assert "depth 1 x 50 trees 0.6123, depth 2 x 50 trees 0.6000." in page


def test_the_page_of_the_synthetic_experiment_says_how_many_rows_it_has():
    page = results_markdown(invented_synthetic())
    assert "Learner: L(). 500 training rows, 100 rows a test batch." in page


def test_another_favourable_label_is_in_the_heading():
    page = results_markdown(invented_comparison(favourable="negative"))
    assert page.startswith(
        "## Own data, AIF360 told that the negative label is the favourable one\n"
    )


def test_files_are_written_whole_and_again(tmp_path, compared):
    folder = tmp_path / "new" / "run"
    for _ in range(2):
        paths = write_results(compared, folder)
    assert paths == [folder / "results.json", folder / "results.md"]
    assert json.loads(paths[0].read_text()) == compared
    assert paths[1].read_text() == results_markdown(compared)
    assert sorted(folder.iterdir()) == sorted(paths)


def test_the_page_links_to_pictures_by_name(tmp_path):
    pictures = [tmp_path / "own-methods.png", tmp_path / "own-methods.html"]
    _, page = write_results(invented_comparison(), tmp_path, pictures=pictures)
    assert "![own-methods](own-methods.png)" in page.read_text()


def test_results_that_make_no_page_leave_the_old_files(tmp_path):
    old = write_results(invented_comparison(), tmp_path)
    before = [path.read_text() for path in old]
    with pytest.raises(KeyError):
        write_results({"experiment": "own"}, tmp_path)
    assert [path.read_text() for path in old] == before


def test_results_that_cannot_be_written_leave_the_old_files(tmp_path, monkeypatch):
    old = write_results(invented_comparison(), tmp_path)
    before = [path.read_text() for path in old]

    def fail(self, text, **options):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fail)
        with pytest.raises(OSError, match="no space left"):
            write_results(invented_comparison(title="New"), tmp_path)
    assert [path.read_text() for path in old] == before
    assert sorted(tmp_path.iterdir()) == sorted(old)


def test_a_page_of_stored_runs_is_the_page_of_the_runs(tmp_path):
    one = invented_comparison(title="First")
    two = invented_comparison(("x", "y", "z"), title="Second")
    write_results(copy.deepcopy(one), tmp_path / "one")
    write_results(copy.deepcopy(two), tmp_path / "two")
    folders = [tmp_path / "two", tmp_path / "one"]
    page = write_page(folders, tmp_path / "page.md")
    expected = results_markdown(two) + "\n" + results_markdown(one)
    assert page == tmp_path / "page.md"
    assert page.read_text().startswith("# Results\n")
    assert page.read_text().endswith(expected)


@pytest.fixture
def three_runs(tmp_path):
    """Two runs of one experiment and one of another, each with a picture."""
    runs = {
        "synthetic": invented_synthetic(),
        "small": invented_comparison(),
        "turned": invented_comparison(favourable="negative"),
    }
    for name, results in runs.items():
        write_results(results, tmp_path / name)
        picture = tmp_path / name / f"{results['experiment']}-a.png"
        picture.write_bytes(name.encode())
    return [tmp_path / name for name in runs]


def test_one_page_of_several_runs_is_in_the_order_of_the_folders(tmp_path, three_runs):
    text = write_page(three_runs, tmp_path / "docs" / "results.md").read_text()
    first = text.index("## Synthetic data")
    second = text.index("## Own data\n")
    third = text.index("## Own data, AIF360 told")
    assert first < second < third


def test_one_page_of_several_runs_takes_their_pictures_along(tmp_path, three_runs):
    text = write_page(three_runs, tmp_path / "docs" / "results.md").read_text()
    for folder in three_runs:
        name = folder.name
        assert f"![{name}-a](images/{name}-a.png)" in text
        copied = tmp_path / "docs" / "images" / f"{name}-a.png"
        assert copied.read_bytes() == name.encode()


def test_a_page_of_a_folder_without_results_leaves_the_old_page(tmp_path):
    write_results(invented_comparison(), tmp_path / "a")
    page = write_page([tmp_path / "a"], tmp_path / "docs" / "results.md")
    before = page.read_text()
    message = "none has no results.json: name folders that cape reproduce has filled"
    with pytest.raises(FileNotFoundError, match=message):
        write_page([tmp_path / "a", tmp_path / "none"], page)
    assert page.read_text() == before


def test_a_page_of_two_folders_of_one_name_is_an_error(tmp_path):
    folders = [tmp_path / "a" / "run", tmp_path / "b" / "run"]
    with pytest.raises(ValueError, match="folders must have distinct names"):
        write_page(folders, tmp_path / "docs" / "page.md")
    assert not (tmp_path / "docs").exists()
