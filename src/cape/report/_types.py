"""Types that the modules of the report share."""

from __future__ import annotations

from typing import Any

__all__ = ["Summary", "Table", "Terms"]

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

Table = list[list[str]]
"""Cells of a table, row by row, as text."""

Terms = list[tuple[str, str]]
"""Terms and what is said about them."""
