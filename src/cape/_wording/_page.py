"""Headings and sentences of the pages."""

from __future__ import annotations

# docs/design.md, decision 15: what stands side by side is corrected for the number of
# groups on both sides or on none.
EACH_BY_ITSELF = (
    "An interval, and a p-value beside it, is that of a group by itself. Whether a "
    "group has moved is judged over all groups together, by Holm's method at the 5 % "
    "level."
)
