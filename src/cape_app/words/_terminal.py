"""A page as the lines and tables of a terminal, and options in place of parameters.

Page and terminal say the same by the same templates: `blocks_of` reads what a template
of ``cape_app/pages/page`` makes of a summary, and ``cape_app.cli`` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple


class Styled(NamedTuple):
    """A line that is "bad", "warn" or "good", a "command", or a "line" by itself."""

    text: str
    style: str


class TextTable(NamedTuple):
    """A table; its first column is text, the others are short."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


Block = str | Styled | TextTable

_LINES = ("p", "li", "dd", "caption", "summary", "h3")
_CELLS = ("th", "td")
_CLOSED_BY = {"small": ")", "dt": ": "}
_STYLES = {
    "bad": "bad",
    "fault": "bad",
    "failed": "bad",
    "warn": "warn",
    "good": "good",
}
_KEY = ("ul", "key")


def blocks_of(page: str, *, verbose: bool = False) -> list[Block]:
    """Return the lines and tables of a page.

    Parameters
    ----------
    page : str
        From `cape_app.pages.to_text`.
    verbose : bool, default=False
        Whether to open what is folded, of which else only the heading is given.

    Examples
    --------
    >>> table = "<table><tr><th>group</th></tr><tr><th>a</th></tr></table>"
    >>> blocks_of(f"<p>Label <b>9</b> rows</p>{table}")
    ['Label 9 rows', TextTable(title='', columns=['group'], rows=[['a']])]
    """
    reader = _PageReader(verbose)
    reader.feed(page)
    reader.close()
    return reader.blocks


class _PageReader(HTMLParser):
    """Collects blocks; what is drawn is left out, and so are the keys of pictures."""

    def __init__(self, verbose: bool):
        super().__init__()
        self.blocks: list[Block] = []
        self._verbose = verbose
        self._texts: list[str] = []
        self._rows: list[list[str]] = []
        self._title = ""
        self._style = ""
        # Cells that the row above has filled already.
        self._indent: list[str] = []
        # The element that is left out, and how many of its name are open.
        self._left_out = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if self._depth:
            self._depth += tag == self._left_out
        elif tag in ("svg", "figure") or "ends" in classes or (tag, *classes) == _KEY:
            self._left_out, self._depth = tag, 1
        elif tag == "table":
            self._end_line()
        elif tag == "tr":
            self._rows.append(self._indent)
            self._indent = []
        elif tag == "th" and "rowspan" in dict(attrs):
            self._indent = [""]
        elif tag == "small":
            self._texts.append(" (")
        elif tag == "code":
            self._end_line()
        elif tag in ("div", "p"):
            for name in classes:
                self._style = _STYLES.get(name, self._style)

    def handle_endtag(self, tag: str) -> None:
        if self._depth:
            self._depth -= tag == self._left_out
        elif tag in _CELLS:
            self._rows[-1].append(self._text())
        elif tag == "table":
            self._end_table()
        elif tag == "caption":
            self._title = self._text()
        elif tag in _CLOSED_BY:
            self._texts.append(_CLOSED_BY[tag])
        elif tag == "code":
            self.blocks.append(Styled(f"  {self._text()}", "command"))
        elif tag == "summary" and not self._verbose:
            self._texts.append(" (see --verbose).")
            self._end_line()
            self._left_out, self._depth = "details", 1
        elif tag in _LINES and not self._rows:
            self._end_line("line" if tag in ("li", "dd") else "")

    def handle_data(self, data: str) -> None:
        if not self._depth:
            self._texts.append(data)

    def _text(self) -> str:
        """Return what was read since the last text."""
        text = " ".join("".join(self._texts).split()).replace("( ", "(")
        self._texts.clear()
        return text.replace(" ()", "")

    def _end_line(self, style: str = "") -> None:
        text = self._text()
        style = self._style or style
        if text:
            self.blocks.append(Styled(text, style) if style else text)
        self._style = ""

    def _end_table(self) -> None:
        columns, *rows = self._rows
        # A column without a head is drawn.
        kept = [place for place, name in enumerate(columns) if name]
        rows = [[row[place] for place in kept if place < len(row)] for row in rows]
        self.blocks.append(TextTable(self._title, [columns[i] for i in kept], rows))
        self._rows = []
        self._title = ""


# ----------------------------------------------------------- parameters to options

_SAME_NAMES = """
acknowledge ask bins blank_means checked cost_fn cost_fp counts cv debug decimal
decision dialect drift drop encoding fail_if force group jobs keep label learner
level marks min_group_size missing_groups missing_labels most name note out
paper pool positive positive_decision prediction quantifier read_as_missing
report rows rule score scores seed separator small_groups spread state
table threshold tolerance unknown_groups verbose version weight width within
"""

OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SAME_NAMES.split()} | {
    "as_json": "--json",
    "freq": "--freq",
    "horizon": "--horizon",
    "labels": "--labels",
    "period": "--time",
    "start": "--from",
    "time": "--time",
    "train": "--train",
    "clf": "MODEL",
    "estimator": "--learner",
    "group_columns": "--group",
    "key_file": "--key-file",
    "mapping": "--map",
    "n": "--rows",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "path": "MODEL",
    "pos_label": "--positive",
    "random_state": "--seed",
    "sample_weight": "--weight",
    "sensitive_features": "--group",
}
"""The option of each parameter, of Python and of the commands."""

_OF_SCIKIT_LEARN = re.compile(
    r"The '(?P<parameter>\w+)' parameter of \w+ must be (?P<problem>.*)\. "
    r"Got (?P<value>.*) instead\."
)
# A word in quotes is a value of the user, and so is a part of a path.
_SETTING = re.compile(r"""(?<![\w'"/.-])(\w+)=(?:'(\w+)'|"(\w+)"|True\b|([\d.]*\d))""")


def error_text(error: Exception) -> str:
    """Return the message of an error, with the option in place of its parameter.

    Examples
    --------
    >>> from cape.base._errors import ParameterError
    >>> error_text(ParameterError("small_groups", "must be 'borrow', got 'lend'."))
    "--small-groups must be 'borrow', got 'lend'."
    """
    message = str(error)
    parameter = getattr(error, "parameter", "")
    if parameter in OPTIONS:
        return in_options(OPTIONS[parameter] + message.removeprefix(parameter))
    found = _OF_SCIKIT_LEARN.fullmatch(message)
    if found is None or found["parameter"] not in OPTIONS:
        return in_options(message)
    # Of what Python admits, the part that can be typed.
    numbers = re.search(r"an int in the range [^)\]]*.", found["problem"])
    names = re.search(r"\{(.*)\}", found["problem"])
    wanted = found["problem"]
    if numbers:
        wanted = numbers[0]
    elif names:
        wanted = f"one of {', '.join(sorted(names[1].split(', ')))}"
    return f"{OPTIONS[found['parameter']]} must be {wanted}, got {found['value']}."


def in_options(text: str) -> str:
    """Write what the library says to set as it is typed in a command.

    Examples
    --------
    >>> in_options("Use small_groups='pooled'; n=3 rows of level='a'.")
    'Use --small-groups pooled; --rows 3 rows of --level a.'
    """

    def typed(found: re.Match[str]) -> str:
        option = OPTIONS.get(found[1])
        if option is None:
            return found[0]
        value = found[2] or found[3] or found[4]
        return f"{option} {value}" if value else option

    return _SETTING.sub(typed, text)
