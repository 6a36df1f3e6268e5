"""What all pictures share: colours, names that can be drawn, and a limit of rows."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cape._packages import require_extra
from cape._wording._numbers import printable

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ALARM",
    "INK",
    "MOST_ROWS",
    "NOW",
    "SOFT",
    "THEN",
    "drawable",
    "import_altair",
    "share_domain",
    "with_title",
]

# Each has a contrast of at least 3 with white and with the grounds of dark themes
# (#111, #1e1e1e and #333). A page exchanges them for the colours of its two themes.
INK = "#858585"
NOW = "#3a7fd0"
THEN = "#a8741a"
SOFT = "#8593a8"
ALARM = "#de5044"

MOST_ROWS = 24
"""Groups, or other rows, in one picture: with more of them nobody sees the whole."""

_ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def import_altair() -> ModuleType:
    """Import altair, or say which extra installs it."""
    # Altair itself needs jinja2.
    require_extra("app", "altair", "jinja2", what="cape.plot")
    import altair

    return altair


def drawable(
    frame: pd.DataFrame, name: str = "group", *, most: int = MOST_ROWS
) -> tuple[pd.DataFrame, str]:
    """Return the rows of a frame that are drawn, and a sentence about the rest.

    Parameters
    ----------
    frame : DataFrame
        The numbers behind a picture.
    name : str, default="group"
        Column with the names of the rows. They become printable text: a NUL in a name
        ends the whole process inside the library that draws.
    most : int, default=24
        Names that are drawn.

    Returns
    -------
    frame : DataFrame
        The rows of so many names in their order, those with the largest ``rows`` if
        there is such a column.
    sentence : str
        Empty if all rows are drawn.
    """
    names = frame[name].map(lambda value: printable(str(value)))
    frame = frame.assign(**{name: names})
    n_names = names.nunique()
    if n_names <= most:
        return frame, ""
    which = "first"
    kept = names.unique()[:most]
    if "rows" in frame:
        which = "largest"
        rows = frame.groupby(name, sort=False)["rows"].max()
        kept = rows.nlargest(most).index.to_numpy()
    # Groups stay in their order; sorted by size they would look ranked.
    drawn = frame[names.isin(kept)]
    return drawn, f"The {which} {most} of {n_names} {name}s are drawn."


def share_domain(frame: pd.DataFrame, columns: Sequence[str]) -> list[float]:
    """Return the ends of an axis of shares: 0 and 1, or less if all shares are small.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of str
        Columns with all that is drawn along the axis, ends of intervals among them.

    Returns
    -------
    list of two floats
    """
    highest = frame[list(columns)].max().max()
    for end in _ENDS:
        if highest <= end:
            return [0.0, end]
    return [0.0, 1.0]


def with_title(
    chart: Any, title: str | None, key: Sequence[str], sentence: str = ""
) -> Any:
    """Write a title above a chart, and below it what its marks mean.

    Parameters
    ----------
    chart : altair chart
    title : str or None
        None leaves out title and key, as on a page, which explains the marks itself.
    key : sequence of str
        What the marks mean, line by line.
    sentence : str, default=""
        What is left out of the picture. It is written in any case.

    Returns
    -------
    altair chart
    """
    if title is None:
        title, lines = sentence, []
    else:
        lines = [line for line in (*key, sentence) if line]
    if not title:
        return chart
    altair = import_altair()
    words = altair.TitleParams(
        title,
        subtitle=lines,
        anchor="start",
        frame="bounds",
        fontSize=13,
        fontWeight="normal",
        subtitlePadding=6,
    )
    return chart.properties(title=words)
