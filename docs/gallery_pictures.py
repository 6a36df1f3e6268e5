"""Pictures for the gallery: an altair chart at the end of a block is saved as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
from sphinx_gallery.scrapers import figure_rst


class AltairScraper:
    """Save the chart that a block of an example ends with.

    Sphinx-gallery keeps the value of the last expression of a block as ``___``, also
    while later blocks run that end with a statement: a chart is saved once.
    """

    def __init__(self) -> None:
        self._saved: Any = None

    def __repr__(self) -> str:
        # Sphinx compares settings between builds by their text.
        return "AltairScraper"

    def __call__(self, block: Any, block_vars: dict, gallery_conf: dict) -> str:
        """Return the text that shows the picture, or nothing."""
        chart = block_vars["example_globals"].get("___")
        if chart is self._saved or not isinstance(chart, alt.TopLevelMixin):
            return ""
        self._saved = chart
        path = Path(next(block_vars["image_path_iterator"]))
        sharper = path.with_stem(f"{path.stem}_sharp")
        # An SVG would be set in a font of the reader's, and its texts cut off.
        chart.save(path)
        chart.save(sharper, scale_factor=2)
        return figure_rst(
            [path],
            gallery_conf["src_dir"],
            _alternative_text(chart),
            srcsetpaths=[{0: path, 2: sharper}],
        )


def _alternative_text(chart: Any) -> str:
    """Return what a picture shows, for people who do not see it."""
    fields = chart.to_dict()
    title = fields.get("title", "")
    if isinstance(title, dict):
        title = title["text"]
    if isinstance(title, list):
        title = " ".join(title)
    return fields.get("description") or title or "The chart that this block draws"
