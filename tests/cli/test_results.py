"""What an experiment prints: tables, coloured verdicts, and a bar on a terminal."""

import io
from contextlib import ExitStack

import pytest
from rich.console import Console

import cape.cli._app as app
from cape.cli import _results
from cape.cli._results import _CellProgress, _rich_table, _verdict_text, run_and_show
from cape.experiments import TextTable

METHODS = TextTable(
    "Error rates",
    ["method (seeds)", "FPR 0", "FPR 1"],
    [
        ["CAPE-D (2)", ".100", ".200"],
        ["  ± sd", ".001", ".002"],
        ["AD", "not installed: tensorflow"],
        ["[red]", ".300", "undef"],
    ],
)


def printed(content, width=80):
    """Print to a terminal without colours."""
    screen = io.StringIO()
    Console(file=screen, width=width).print(content)
    return screen.getvalue()


def test_a_table_has_its_title_headings_and_cells():
    shown = printed(_rich_table(METHODS))
    lines = [line.split() for line in shown.splitlines()]
    assert shown.startswith("Error rates")
    assert ["CAPE-D", "(2)", ".100", ".200"] in lines
    assert ["±", "sd", ".001", ".002"] in lines


def test_headings_of_numbers_take_two_lines_and_those_of_text_one():
    headings = [column.header for column in _rich_table(METHODS).columns]
    assert headings == ["method (seeds)", "FPR\n0", "FPR\n1"]


def test_the_reason_of_a_method_that_did_not_run_stands_below_the_table():
    lines = printed(_rich_table(METHODS)).splitlines()
    [reason] = [place for place, line in enumerate(lines) if "not installed" in line]
    assert lines[reason].strip() == "AD: not installed: tensorflow"
    assert reason > max(place for place, line in enumerate(lines) if ".300" in line)


def test_text_that_looks_like_markup_is_shown_as_it_is():
    assert "[red]" in printed(_rich_table(METHODS))


def test_spreads_and_printed_numbers_are_dimmed():
    table = TextTable(
        "T",
        ["rho", "method", "PD"],
        [["0.1", "CAPE-D", ".1"], ["", "  print", ".2"], ["  print", "x", ".3"]],
    )
    assert [row.style for row in _rich_table(table).rows] == [None, "dim", "dim"]


def test_a_table_of_ten_columns_fits_80_characters():
    columns = ["method (seeds)", *(f"accuracy {z}" for z in range(9))]
    rows = [["CAPE default (20)", *[".123"] * 9]]
    shown = printed(_rich_table(TextTable("Wide", columns, rows)))
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "CAPE default (20)" in shown


@pytest.mark.parametrize(
    ("holds", "word", "colour"), [(True, "yes", "green"), (False, "no", "red")]
)
def test_a_verdict_begins_with_a_coloured_answer(holds, word, colour):
    verdict = {"claim": "a below b", "holds": holds, "detail": "1 and 2"}
    text = _verdict_text(verdict)
    assert text.plain == f"{word}: a below b (1 and 2)"
    [span] = text.spans
    assert span.style == colour
    assert text.plain[span.start : span.end] == word


@pytest.fixture
def screen(monkeypatch):
    """The error stream, as a terminal."""
    stream = io.StringIO()
    terminal = Console(file=stream, force_terminal=True, width=80)
    monkeypatch.setattr(app, "aside", terminal)
    return stream


def test_on_a_terminal_the_bar_counts_cells(screen):
    with ExitStack() as stack:
        on_step = _CellProgress(stack)
        on_step("", 3, 8)
        on_step("Max_Acc 0", 4, 8)
    assert "computing" in screen.getvalue()
    assert "4/8" in screen.getvalue()


def test_stored_cells_count_as_done(screen):
    with ExitStack() as stack:
        _CellProgress(stack)("", 8, 8)
    assert "8/8" in screen.getvalue()


def test_off_a_terminal_there_is_no_bar(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(app, "aside", Console(file=stream, force_terminal=False))
    with ExitStack() as stack:
        on_step = _CellProgress(stack)
        on_step("", 0, 2)
        on_step("one", 1, 2)
    assert stream.getvalue() == ""


def test_a_run_gets_its_folder_its_jobs_and_a_bar(tmp_path, monkeypatch):
    """The rest is replaced: pictures, files and tables have tests of their own."""
    given = {}

    def experiment(**options):
        given.update(options)
        options["on_step"]("", 0, 1)
        return {
            "verdicts": [{"claim": "c", "holds": True, "detail": "d"}],
            "skipped": ["[bank] was skipped."],
            "failed": ["one failed."],
        }

    picture = tmp_path / "own-methods.png"
    monkeypatch.setattr("cape.report.save_pictures", lambda results, out: [picture])
    monkeypatch.setattr("cape.experiments.results_tables", lambda results: [METHODS])
    written = {}

    def write(results, out, *, pictures):
        written.update(results=results, pictures=pictures)
        return [out / "results.json"]

    monkeypatch.setattr("cape.experiments.write_results", write)
    monkeypatch.setattr("sys.argv", ["cape", "compare", "a b.csv"])
    screen = io.StringIO()
    monkeypatch.setattr(_results, "console", Console(file=screen, width=200))
    run_and_show(experiment, tmp_path, jobs=3)
    assert given["folder"] == tmp_path / "cells"
    assert given["n_jobs"] == 3
    assert written["results"]["command"] == "cape compare 'a b.csv'"
    assert written["pictures"] == [picture]
    assert "Error rates" in screen.getvalue()
    assert "yes: c (d)" in screen.getvalue()
    assert "[bank] was skipped.\none failed.\n" in screen.getvalue()
    assert "results.json, own-methods.png" in screen.getvalue()


def test_a_run_that_fails_prints_no_table(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(_results, "console", Console(file=screen))

    def fail(**options):
        options["on_step"]("", 0, 1)
        raise ValueError("no rows")

    with pytest.raises(ValueError, match="no rows"):
        run_and_show(fail, tmp_path, jobs=1)
    assert screen.getvalue() == ""
    assert list(tmp_path.iterdir()) == []
