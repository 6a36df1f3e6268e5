"""Putting what a benchmark measured into a page of the documentation."""

from __future__ import annotations

import re
from pathlib import Path


def replace_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text()
    if begin not in old or end not in old:
        raise ValueError(f"{page} must have the marks {begin} and {end}.")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.DOTALL)
    page.write_text(pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", old))
