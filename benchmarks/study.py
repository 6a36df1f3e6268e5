"""What the studies share: options, draws in several processes, tables of a page."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "docs" / "data"

Record = dict[str, Any]


def read_options(description: str, **defaults: Any) -> argparse.Namespace:
    """Read the command line.

    Parameters
    ----------
    description : str
        The docstring of the study.
    **defaults
        Options of the study and their defaults. A list takes several values, and of a
        tuple one has to be chosen, by default its first.

    Returns
    -------
    Namespace
        With ``minutes``, ``processes`` and ``write`` besides.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, list):
            kind = type(default[0])
            parser.add_argument(option, nargs="*", type=kind, default=default)
        elif isinstance(default, tuple):
            parser.add_argument(option, choices=default, default=default[0])
        elif default is False:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(default), default=default)
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop a setting after so long"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="write the tables of what was found into a page, and simulate nothing",
    )
    return parser.parse_args()


def gather(
    work: Callable[[Any], Iterable[tuple[Any, Any]]],
    tasks: Iterable[Any],
    options: argparse.Namespace,
) -> dict[Any, list[Any]]:
    """Do tasks in several processes, and gather their outcomes by cell.

    Parameters
    ----------
    work : callable
        Takes a task, and returns pairs of a cell and an outcome.
    tasks : iterable
    options : Namespace
        What `read_options` returned.

    Returns
    -------
    dict from cell to list of outcomes
    """
    stop = time.monotonic() + 60 * options.minutes
    cells = defaultdict(list)
    with get_context("fork").Pool(options.processes) as pool:
        # In order of the tasks: none is left out for being slow.
        for outcomes in pool.imap(work, tasks):
            for cell, outcome in outcomes:
                cells[cell].append(outcome)
            if time.monotonic() > stop:
                break
    return cells


def stored(name: str) -> list[Record]:
    """Return the records of a study from ``docs/data``."""
    path = DATA / f"{name}.json"
    if not path.exists():
        return []
    return json.loads(path.read_text())


def store(name: str, records: Iterable[Record], key: Sequence[str]) -> list[Record]:
    """Put records in the place of those with the same key, and return all of them."""
    by_key = {}
    for record in [*stored(name), *records]:
        by_key[tuple(record[field] for field in key)] = record
    merged = list(by_key.values())
    lines = ",\n".join(map(json.dumps, merged))
    (DATA / f"{name}.json").write_text(f"[\n{lines}\n]\n")
    return merged


def grouped(records: Iterable[Record], *names: str) -> dict[tuple, list[Record]]:
    """Group records by some of their fields."""
    groups = defaultdict(list)
    for record in records:
        groups[tuple(record[name] for name in names)].append(record)
    return groups


def table_line(cells: Iterable[Any]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def markdown_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    rule = "|---" * len(columns) + "|"
    return "\n".join([table_line(columns), rule, *map(table_line, lines)])


def replace_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text()
    if begin not in old or end not in old:
        raise ValueError(f"{page} must have the marks {begin} and {end}.")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.DOTALL)
    page.write_text(pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", old))
