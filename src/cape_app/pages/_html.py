"""From a summary to one page that opens from disk, or to its JSON.

The page contains its style, pictures, data and script, and loads nothing. Every kind
of page has a template in the folder ``page``, which extends ``shell.html`` and takes
its tables and folded parts from ``parts.html``; sentences are those of `cape.shown`.

To add a kind: a template of its name, and its place in `_KINDS`. A function prepares
its pictures and tables, if it has any: see `_CONTEXTS`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape.base import _numbers
from cape.base._io import check_report, new_file
from cape.shown import _action, _audit, _backtest, _results
from cape_app.words import _page
from cape_app.words._page import MOST_ROWS, Summary

if TYPE_CHECKING:
    from cape.examination import Examination

_FIRST_ROWS = 5
"""Rows that a first screen shows of many, so that they can be read at a glance."""

_CONTEXTS = {
    "batch": "cape_app.pages._batch",
    "batches": "cape_app.pages._over_time",
    "audit": "cape_app.pages._audit",
    "watch": "cape_app.pages._over_time",
    "backtest": "cape_app.pages._over_time",
}
"""Where the function is that prepares tables and pictures for the template of a kind,
called as the kind is; kinds without one need none."""

_KINDS = (*_CONTEXTS, "ll144", "model", "sample")


def write_report(
    content: Examination | Summary,
    path: str | Path,
    *,
    overwrite: bool = False,
) -> Path:
    """Write a report as a page, or as JSON if the name ends in .json.

    The file appears whole or not at all.

    Parameters
    ----------
    content : Examination or dict
        From `cape.examine`; or the summary that a command made, which is a dict.
    path : str or Path
        Ends in .html or .json.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> from cape import examine
    >>> from cape_app.pages import write_report
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> write_report(seen, folder / "march.html").name
    'march.html'
    """
    # The path is checked first: drawing the pictures takes a second or two.
    path = check_report(path, overwrite=overwrite)
    summary = _summary_of(content)
    if path.suffix == ".json":
        text = json.dumps(summary, indent=1, allow_nan=False)
    else:
        text = to_html(summary)
    # Written beside the path and renamed at the end, so that no half page is left.
    with new_file(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def to_text(summary: Summary, *, verbose: bool = False) -> str:
    """Return what a terminal says: the first screen of the page, without its pictures.

    Parameters
    ----------
    summary : dict
        As in `write_report`.
    verbose : bool, default=False
        Whether to say what is folded on the page, too.

    Returns
    -------
    str
        HTML, which `cape_app.words._terminal.blocks_of` reads.
    """
    return _rendered(summary, terminal=True, shell="terminal.html", verbose=verbose)


def to_html(content: Examination | Summary) -> str:
    """Return the page of a report as text.

    Parameters
    ----------
    content : Examination or dict
        As in `write_report`.

    Returns
    -------
    str
        A page of HTML that needs no other file.

    Examples
    --------
    >>> from cape import examine
    >>> from cape_app.pages import to_html
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> to_html(seen)[:15]
    '<!doctype html>'
    """
    return _rendered(_summary_of(content), terminal=False, shell="shell.html")


def _rendered(content: Summary, *, terminal: bool, **context: Any) -> str:
    """Fill the template of a kind of page, for a page or for a terminal."""
    summary = _printable(content)
    kind = summary["kind"]
    # StrictUndefined: each kind of page gets the names that its template uses.
    context |= {"s": summary, "on_page": not terminal}
    if kind in _CONTEXTS:
        prepare = getattr(import_module(_CONTEXTS[kind]), f"{kind}_context")
        context |= prepare(summary, not terminal)
    # Many rows come with those first that matter most; the others are folded away.
    rows = context.get("rows", [])
    n_shown = len(rows)
    if n_shown > MOST_ROWS and not context.get("verbose"):
        n_shown = _FIRST_ROWS
    context |= {"rows": rows[:n_shown], "folded": rows[n_shown:]}
    return _templates(terminal).get_template(f"{kind}.html").render(context)


def _printable(content: Any) -> Any:
    """Write out the control characters in all texts of a summary.

    The names of columns and files are anybody's. A NUL in a name ends the whole process
    inside the library that draws, and half a surrogate pair cannot be written as UTF-8.
    """
    if isinstance(content, str):
        # Nearly all texts are: asked here, a page is not a walk through another module.
        return content if content.isprintable() else _numbers.printable(content)
    if isinstance(content, (list, tuple)):
        return [_printable(value) for value in content]
    if isinstance(content, dict):
        return {name: _printable(value) for name, value in content.items()}
    return content


@cache
def _hash_of(name: str) -> str:
    """Return the hash by which a policy knows an inline style or script."""
    digest = hashlib.sha256(_asset(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _summary_of(content: Any) -> Summary:
    """Return the summary that was given, or make that of an examination."""
    if not isinstance(content, dict):
        # Imported here, since they take scikit-learn along.
        from cape.examination import Examination
        from cape_app.pages._batch import batch_summary

        # For those who have a data frame and no file, one call is enough.
        if isinstance(content, Examination):
            return batch_summary(content)
        raise TypeError(
            "content must be an Examination or a summary (dict), "
            f"got {type(content).__name__}."
        )
    if content.get("kind") not in _KINDS:
        raise ValueError(
            f"content['kind'] must be one of {', '.join(map(repr, _KINDS))}, "
            f"got {content.get('kind')!r}."
        )
    return content


@cache
def _templates(terminal: bool) -> Any:
    """Prepare templates, in which a text is escaped unless it says otherwise.

    A page writes shares of the first screen in percent, and a terminal with three
    decimals, for whoever goes on computing.
    """
    import jinja2

    # Names of groups come from the user's table and may contain markup. StrictUndefined
    # turns a misspelt name in the template into an error instead of an empty text.
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_asset),
    )
    environment.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "allow_nan": False,
    }
    environment.filters |= {
        "cell": _cell,
        "level": _numbers.level_text,
        "pairs": _numbers.pairs_text,
        "few": _page.few,
        "past": _backtest.past_text,
        "p_value": _numbers.p_value_text,
        "quoted": shlex.quote,
        "rows": _numbers.rows_text,
        "record": _backtest.record_text,
        "share": _page.number if terminal else _numbers.share_text,
    }
    environment.globals |= {
        "words": _page,
        "actions": _action,
        "dash": "-" if terminal else "\N{EN DASH}",
        "interval": _page.range_of_numbers if terminal else _page.interval,
        "RATE_NAMES": _audit.RATE_NAMES,
        "results": _results,
        "asset": _asset,
        "hash_of": _hash_of,
    }
    return environment


@cache
def _asset(name: str) -> str:
    """Read a file of the folder ``page``."""
    return (files("cape_app.pages") / "page" / name).read_text(encoding="utf-8")


def _cell(value: Any) -> str:
    """Write a number behind a picture with three digits; what is missing is empty."""
    # None and NaN: an unadapted classifier has no interval.
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
