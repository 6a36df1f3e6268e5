"""Putting what a benchmark measured into a page of the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def save_results(path: Path, results: Any) -> None:
    """Write what was measured as JSON, one value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=0) + "\n")


def markdown_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    table = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for cells in lines:
        table.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(table)


def replace_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text()
    if begin not in old or end not in old:
        raise ValueError(f"{page} must have the marks {begin} and {end}.")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.DOTALL)
    page.write_text(pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", old))
