"""What ``cape reproduce`` and ``cape compare`` share: a bar with the time left, tables, files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich import box
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from cape.cli._app import aside, console

__all__ = ["run_and_show"]


def run_and_show(run: Callable[..., dict[str, Any]], out: Path, *, jobs: int) -> None:
    """Run an experiment with a bar, keeping finished cells in ``out``; then print its tables and write its files."""
    from cape.experiments import results_tables, write_results
    from cape.report import save_pictures

    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Progress(
        *columns,
        console=aside,
        speed_estimate_period=600,
        disable=not aside.is_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def on_step(name: str, done: int, total: int) -> None:
            bar.update(
                task, description=name or "starting", completed=done, total=total
            )

        results = run(folder=out / "cells", n_jobs=jobs, on_step=on_step)
        results["command"] = shlex.join(["cape", *sys.argv[1:]])
        bar.update(task, description="drawing")
        pictures = save_pictures(results, out)
        files = write_results(results, out, pictures=pictures)
    for table in results_tables(results):
        console.print(_rich(table))
    for verdict in results.get("verdicts", []):
        mark = ("yes", "green") if verdict["holds"] else ("no", "red")
        console.print(
            Text.assemble(mark, f": {verdict['claim']} ({verdict['detail']})")
        )
    console.print(
        f"files in {out}: {', '.join(path.name for path in [*files, *pictures])}",
        markup=False,
    )


def _rich(table: Any) -> Table:
    shown = Table(
        title=table.title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for i, name in enumerate(table.columns):
        text = i == 0 or name == "method"
        shown.add_column(
            name if text else name.replace(" ", "\n", 1),
            justify="left" if text else "right",
            no_wrap=text,
        )
    idle: list[str] = []
    for row in table.rows:
        if (
            len(row) == 2 < len(table.columns)
        ):  # a method that did not run: its reason goes below
            idle.append(f"{row[0]}: {row[1]}")
            row = row[:1]
        style = (
            "dim"
            if row[0].startswith("  ") or (len(row) > 1 and row[1].startswith("  "))
            else None
        )
        shown.add_row(
            *map(Text, row), style=style
        )  # Text: a group called [red] is no markup
    shown.caption, shown.caption_justify = Text("\n".join(idle)), "left"
    return shown
