"""Results as `print` and a notebook show them: one table, as text and as HTML.

A result that inherits from `InNotebook` defines ``_shown``, its table in the words that
people read, and ``plot``, its picture, if it has one. The HTML needs no other file and
loads nothing, so that it looks alike in JupyterLab, in VS Code and in an exported page.
Text has the colour of the text around it, and what is drawn can be seen on light and
dark grounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape
from textwrap import wrap
from typing import Any

import pandas as pd

from cape.base._estimate import Estimate
from cape.base._numbers import printable
from cape.base._packages import MissingExtra
from cape.shown._plot import svg_or_reason

MOST_ROWS = 20
"""Rows of a table that are shown; ``table()`` has all of them."""

_WIDTH = 88
"""Characters in a line of text, because a terminal would break longer ones."""

_LONGEST_CELL = 20
"""Characters of a text that stands in a table of text; longer ones stand below it."""

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
    """A result that prints as a table, and that a notebook shows with its picture.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> print(adaptation)
    Share of positives of each group, with 95% intervals
    group rows training                     now predicted PD at most
    0      500    0.500  0.195 (0.163 to 0.231)     0.196      0.037
    1      500    0.500  0.741 (0.700 to 0.780)     0.740      0.042
      0: no other changes found
      1: no other changes found
    >>> html = adaptation._repr_html_()
    >>> "<table" in html, "<svg" in html, "<script" in html
    (True, True, False)
    """

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        """Return what is shown: a title, a table, and sentences below.

        The title is also the name of the picture. The table is a DataFrame, or a list
        with a row for each group; a cell may be an `Estimate`.
        """
        raise NotImplementedError

    def _table_shown(self) -> tuple[str, pd.DataFrame, list[str]]:
        """Return the title, the first rows of the table, and the sentences below."""
        title, table, notes = self._shown()
        if isinstance(table, list):
            names = list(self.names.values())  # type: ignore[attr-defined]
            table = pd.DataFrame(table, index=pd.Index(names, name="group"))
        if len(table) > MOST_ROWS:
            left_out = f"The first {MOST_ROWS} of {len(table):,} rows"
            notes = [f"{left_out}; table() has all of them.", *notes]
        return title, table.head(MOST_ROWS), list(notes)

    def __repr__(self) -> str:
        """Return the table as text; sentences stand below it, behind their row."""
        title, table, notes = self._table_shown()
        cells = table.map(_plain)
        sentences = []
        for name in table:
            is_text = any(isinstance(value, str) for value in table[name])
            if is_text and cells[name].str.len().max() > _LONGEST_CELL:
                sentences.append(name)
        numbers = cells.drop(columns=sentences)
        lines = wrap(printable(title), _WIDTH)
        if numbers.size:
            if table.index.nlevels == 1:
                # One line of headings instead of two.
                numbers.columns.name = numbers.index.name
                numbers.index.name = None
            lines += numbers.to_string(line_width=_WIDTH).split("\n")
        for row, texts in cells[sentences].iterrows():
            said = "; ".join(filter(None, texts))
            if said:
                text = printable(f"{_plain(row)}: {said}")
                lines += wrap(
                    text, _WIDTH, initial_indent="  ", subsequent_indent="    "
                )
        for note in notes:
            lines += wrap(printable(note), _WIDTH, subsequent_indent="  ")
        return "\n".join(printable(line.rstrip()) for line in lines)

    def _repr_html_(self) -> str:
        """Return the table and the picture as HTML, or the table alone."""
        title, table, notes = self._table_shown()
        parts = [f"<style>{_STYLE}</style>"]
        parts.append(f"<p>{_text(title)}</p>")
        parts.append(_table(table))
        if len(table) and hasattr(self, "plot"):
            # Nothing where the extra is not installed.
            with suppress(MissingExtra):
                picture, _ = svg_or_reason(self.plot, printable(title))
                parts.append(picture)
        for sentence in notes:
            parts.append(f"<p>{_text(sentence)}</p>")
        return f'<div class="cape-result">{"".join(parts)}</div>'


def _written(value: Any) -> tuple[str, str]:
    """Write a value and its interval; what is unknown is empty."""
    if isinstance(value, Estimate):
        text = _plain(value.value)
        if value.low != value.low:
            return text, ""
        return text, f"{_plain(value.low)} to {_plain(value.high)}"
    if isinstance(value, tuple):
        return ", ".join(map(_plain, value)), ""
    if value is None or value != value:
        return "", ""
    if isinstance(value, float):
        return f"{value:.3f}".replace("inf", "∞"), ""
    return str(value), ""


def _plain(value: Any) -> str:
    """Write a value as text."""
    text, interval = _written(value)
    return f"{text} ({interval})" if interval else text


def _text(value: Any) -> str:
    """Write any value as text of a page. Names of groups are anybody's."""
    return escape(printable(str(value)))


def _table(frame: pd.DataFrame) -> str:
    """Write a frame as a table of HTML."""
    frame = frame.reset_index()
    is_words = []
    heads = []
    for name in frame:
        # Numbers are written flush right.
        words = any(isinstance(value, str) for value in frame[name])
        is_words.append(words)
        heads.append(_cell("th", _text(name), words))
    rows = [f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"]
    for values in frame.itertuples(index=False, name=None):
        cells = []
        for value, words in zip(values, is_words, strict=True):
            text, interval = map(_text, _written(value))
            content = f"{text}<small>{interval}</small>" if interval else text
            cells.append(_cell("td", content, words))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    # The tabulator reaches a table that is wider than a phone, so that keys scroll it.
    scroll = '<div class="cape-scroll" tabindex="0">'
    return f"{scroll}<table>{''.join(rows)}</tbody></table></div>"


def _cell(tag: str, content: str, words: bool) -> str:
    kind = ' class="cape-words"' if words else ""
    return f"<{tag}{kind}>{content}</{tag}>"
