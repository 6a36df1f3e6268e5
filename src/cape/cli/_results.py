"""What ``cape reproduce`` and ``cape compare`` share.

Both run cells with a progress bar, write the numbers, the page and the pictures to a
folder, and print the tables.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cape.cli._app import console, progress

__all__ = [
    "CORES",
    "Favourable",
    "Jobs",
    "Learner",
    "Methods",
    "Out",
    "Seeds",
    "SlowSeeds",
    "run_and_show",
]

CORES = os.cpu_count() or 1
"""Default of `Jobs`."""

# Options that both commands have.
Out = Annotated[Path, typer.Option(help="Folder for results.")]
Jobs = Annotated[int, typer.Option(help="Cells computed at the same time.")]
Seeds = Annotated[int, typer.Option(min=1, help="Repetitions of random methods.")]
SlowSeeds = Annotated[
    int,
    typer.Option(
        min=1, help="Repetitions of methods that cost a hundred fits or more."
    ),
]
Favourable = Annotated[
    str,
    typer.Option(help="The label AIF360 is told is favourable: positive or negative."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only these methods (repeat it); default all."),
]
Learner = Annotated[
    str,
    typer.Option(
        help="boosting, tuned by cross-validation (the paper's), or logistic."
    ),
]


Experiment = Callable[..., dict[str, Any]]
"""Takes ``folder``, ``n_jobs`` and ``on_step``, and returns results."""


def run_and_show(run: Experiment, out: Path, *, jobs: int) -> None:
    """Run an experiment, write its files and print its tables.

    Parameters
    ----------
    run : callable
        `run_synthetic`, `compare_methods` or `run_shifts` with their options.
    out : Path
        Folder for results; finished cells are kept in ``cells`` below it.
    jobs : int
        Number of cells computed at the same time.
    """
    from cape.experiments import results_tables, write_results
    from cape.report import save_pictures

    with ExitStack() as stack:
        on_step = _CellProgress(stack)
        results = run(folder=out / "cells", n_jobs=jobs, on_step=on_step)
    # The page of the run says how it was made.
    arguments = sys.argv[1:]
    results["command"] = shlex.join(["cape", *arguments])
    # Pictures first: the page links to those that are there.
    pictures = save_pictures(results, out)
    files = write_results(results, out, pictures=pictures)
    # Printed last: a run takes minutes, and its end is what a terminal still shows.
    for table in results_tables(results):
        console.print(_rich_table(table))
    for verdict in results.get("verdicts", []):
        console.print(_verdict_text(verdict))
    for sentence in [*results.get("skipped", []), *results.get("failed", [])]:
        console.print(sentence, markup=False)
    names = [path.name for path in [*files, *pictures]]
    console.print(f"files in {out}: {', '.join(names)}", markup=False)


class _CellProgress:
    """Shows a progress bar of cells; called after each of them.

    Cells that were stored by an earlier run count as done.

    Parameters
    ----------
    stack : ExitStack
        Closes the bar.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._advance: Callable[[str, int], None] | None = None
        self._done = 0

    def __call__(self, name: str, done: int, total: int) -> None:
        """Advance the bar to ``done`` of ``total`` cells."""
        # The number of cells is known only when the run has read the stored ones.
        if self._advance is None:
            self._advance = self._stack.enter_context(progress(total, "cells"))
        self._advance("computing", done - self._done)
        self._done = done


def _verdict_text(verdict: dict[str, Any]) -> Text:
    """Show a claim with a coloured yes or no."""
    answer = ("no", "red")
    if verdict["holds"]:
        answer = ("yes", "green")
    return Text.assemble(answer, f": {verdict['claim']} ({verdict['detail']})")


def _rich_table(table: Any) -> Table:
    """Turn a `TextTable` into one that fits a terminal of 80 columns.

    Parameters
    ----------
    table : TextTable
        From `results_tables`.

    Returns
    -------
    rich.table.Table
        Methods that did not run are listed below it with the reason.
    """
    shown = Table(
        title=table.title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for place, heading in enumerate(table.columns):
        if place == 0 or heading in ("method", "group"):
            shown.add_column(heading, no_wrap=True)
        else:
            # On two lines: a column of numbers is narrower than its heading.
            two_lines = heading.replace(" ", "\n", 1)
            shown.add_column(two_lines, justify="right")
    reasons = []
    for row in table.rows:
        cells = row
        # A method that did not run has a name and a reason, which goes below the table.
        if len(row) == 2 < len(table.columns):
            reasons.append(f"{row[0]}: {row[1]}")
            cells = row[:1]
        shown.add_row(*_texts(cells), style=_style(cells))
    shown.caption = Text("\n".join(reasons))
    shown.caption_justify = "left"
    return shown


def _texts(cells: list[str]) -> list[Text]:
    """Show cells as they are: a group called [red] is not markup."""
    return [Text(cell) for cell in cells]


def _style(cells: list[str]) -> str | None:
    """Dim spreads and printed numbers, whose label is indented.

    The label is in the first column, or in the second if the first has prevalences.
    """
    for label in cells[:2]:
        if label.startswith("  "):
            return "dim"
    return None
