"""Results in a notebook: a table and a picture as HTML, without any script.

A result that inherits from `InNotebook` defines ``_shown``, its table in the words that
people read, and ``plot``, its picture. The HTML needs no other file and loads nothing,
so that it looks alike in JupyterLab, in VS Code and in an exported page. Text has the
colour of the text around it, and what is drawn can be seen on light and dark grounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import Any

import pandas as pd

from cape._estimate import Estimate
from cape._groups import group_table
from cape._packages import MissingExtra
from cape._plot import svg_or_reason
from cape._wording._numbers import printable

MOST_ROWS = 20
"""Rows of a table that are shown; ``table()`` has all of them."""

# Every rule begins with the class, so that nothing else in the notebook changes.
_STYLE = """
.cape-result{display:flex;flex-wrap:wrap;gap:.5em 2em;align-items:flex-start}
.cape-result>*{margin:0;max-width:100%}
.cape-result p{flex:1 0 100%;margin:0}
.cape-result .cape-scroll{overflow-x:auto}
.cape-result table{border-collapse:collapse;margin:0;color:inherit;font-size:.92em;
font-variant-numeric:tabular-nums}
.cape-result th,.cape-result td{text-align:right;vertical-align:top;
padding:.3em .6em;border:0;border-bottom:1px solid #80808066;background:none;
white-space:nowrap;max-width:26em}
.cape-result th{font-weight:600}
.cape-result td.cape-words,.cape-result th.cape-words{text-align:left;
white-space:normal;overflow-wrap:anywhere;min-width:6em}
.cape-result small{display:block;opacity:.75;font-size:.85em}
.cape-result svg{display:block;height:auto;max-width:100%;overflow:visible;
margin:0 0 0 1em;font-family:Arial,Helvetica,sans-serif}
"""


class InNotebook:
    """A result that a notebook shows as a table and a picture.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> html = adaptation._repr_html_()
    >>> "<table" in html, "<svg" in html, "<script" in html
    (True, True, False)
    """

    def plot(self) -> Any:
        """Draw the result; needs altair."""
        raise NotImplementedError

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        """Return what a notebook shows: a title, a table, and sentences below.

        The title is also the name of the picture. The table is a DataFrame, or a list
        with a row for each group; a cell may be an `Estimate`.
        """
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return the table and the picture as HTML, or the table alone."""
        title, table, notes = self._shown()
        if isinstance(table, list):
            table = group_table(self.names.values(), table)  # type: ignore[attr-defined]
        parts = [f"<style>{_STYLE}</style>"]
        parts.append(f"<p>{_text(title)}</p>")
        parts.append(_table(table))
        if len(table):
            # Nothing where the extra is not installed.
            with suppress(MissingExtra):
                parts.append(svg_or_reason(self.plot, printable(title)))
        for sentence in notes:
            parts.append(f"<p>{_text(sentence)}</p>")
        return f'<div class="cape-result">{"".join(parts)}</div>'


def _table(frame: pd.DataFrame) -> str:
    """Write a frame as a table, of at most 20 rows."""
    frame = frame.reset_index()
    n_rows = len(frame)
    is_words = []
    heads = []
    for name in frame:
        # Numbers are written flush right.
        words = any(isinstance(value, str) for value in frame[name])
        is_words.append(words)
        heads.append(_cell("th", _text(name), words))
    rows = [f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"]
    for values in frame.head(MOST_ROWS).itertuples(index=False, name=None):
        cells = []
        for value, words in zip(values, is_words, strict=True):
            cells.append(_cell("td", _value(value), words))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    # The tabulator reaches a table that is wider than a phone, so that keys scroll it.
    scroll = '<div class="cape-scroll" tabindex="0">'
    table = f"{scroll}<table>{''.join(rows)}</tbody></table></div>"
    if n_rows <= MOST_ROWS:
        return table
    left_out = f"The first {MOST_ROWS} of {n_rows:,} rows; table() has all of them."
    return f"{table}<p>{left_out}</p>"


def _cell(tag: str, content: str, words: bool) -> str:
    kind = ' class="cape-words"' if words else ""
    return f"<{tag}{kind}>{content}</{tag}>"


def _value(value: Any) -> str:
    """Write one value; what is unknown is empty."""
    if isinstance(value, Estimate):
        if value.low != value.low:
            return _value(value.value)
        interval = f"{_value(value.low)} to {_value(value.high)}"
        return f"{_value(value.value)}<small>{interval}</small>"
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}".replace("inf", "∞")
    return _text(value)


def _text(value: Any) -> str:
    """Write any value as text of a page. Names of groups are anybody's."""
    return escape(printable(str(value)))
