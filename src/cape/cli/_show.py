"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from cape.cli._app import console

__all__ = ["give_breaches", "number", "table_of"]


def table_of(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Table:
    """A table that fits 80 columns: the first column is text and may wrap, the others are short."""
    shown = Table(
        title=title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
    )
    for place, name in enumerate(columns):
        first = place == 0
        shown.add_column(
            name,
            justify="left" if first else "right",
            no_wrap=not first,
            overflow="fold",
        )
    for row in rows:
        shown.add_row(
            *(Text(str(cell)) for cell in row)
        )  # Text: a group called [red] is no markup
    return shown


def number(value: float | None) -> str:
    """Three digits, or a dash for what is unknown."""
    return "-" if value is None or value != value else f"{value:.3f}"


def give_breaches(found: Sequence[dict[str, Any]]) -> None:
    """Say which --fail-if was met, where, and by how much."""
    for breach in found:
        text = f"fail-if {breach['condition']} is met: {breach['where']}: {breach['value']:.3f}, by {breach['by']:.3f}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
