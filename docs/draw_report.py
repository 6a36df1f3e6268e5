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
WINDOW = (1200, 620)
"""Width and height of what is photographed of the page, in pixels."""


def photograph(page: Path, picture: Path) -> None:
    """Write what Chromium shows of a page as PNG."""
    width, height = WINDOW
    command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
    command += [f"--window-size={width},{height}", f"--screenshot={picture}"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Run the tutorial, and photograph the first screen of its report."""
    tutorial = (HERE / "tutorial.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out_data(tutorial, folder)
        run_page(tutorial, folder)
        photograph(folder / "report.html", folder / "page.png")
        picture = Image.open(folder / "page.png").convert("RGB").quantize(256)
        picture.save(HERE / "images" / "report-top.png", optimize=True)


if __name__ == "__main__":
    main()
