"""Photograph the report of the tutorial in headless Chromium, for the pages.

It needs COMPAS (CAPE_DATA), Chromium, and Pillow, which comes with the extra ``app``.

    python docs/draw_report.py
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from run_page import lay_out_data, run_page

HERE = Path(__file__).parent
WINDOW = (900, 2600)
"""Width and height of the page that is photographed, in pixels."""

PARTS = {"report-top": (20, 660), "report-columns": (1660, 2220)}
"""The pictures, and the heights between which they lie."""


def photograph(page: Path, picture: Path) -> None:
    """Write what Chromium shows of a page as PNG."""
    width, height = WINDOW
    command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
    command += [f"--window-size={width},{height}", f"--screenshot={picture}"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Run the tutorial, and photograph two parts of the report that it writes."""
    tutorial = (HERE / "tutorial.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out_data(tutorial, folder)
        run_page(tutorial, folder)
        photograph(folder / "report.html", folder / "page.png")
        whole = Image.open(folder / "page.png").convert("RGB")
        for part, (top, bottom) in PARTS.items():
            picture = whole.crop((0, top, whole.width, bottom)).quantize(128)
            picture.save(HERE / "images" / f"{part}.png", optimize=True)


if __name__ == "__main__":
    main()
