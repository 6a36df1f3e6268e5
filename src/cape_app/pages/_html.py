"""From a summary to one page that opens from disk, or to its JSON.

The page contains its style, pictures, data and script, and loads nothing. Every kind
of page has a template in the folder ``page``, which extends ``shell.html`` and takes
its tables and folded parts from ``parts.html``; sentences are those of `cape.shown`.

To add a kind: a template of its name, and a function in `_CONTEXTS` that prepares its
pictures and tables.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cape.base import _numbers
from cape.base._io import check_report, new_file
from cape.examination import Examination
from cape.examination._action import CODES
from cape.rules._rules import bounds_of
from cape.shown import _action, _results
from cape.shown._backtest import past_text
from cape.shown._plot import share_domain
from cape_app.pages._batch import batch_pictures, batch_summary
from cape_app.pages._over_time import (
    backtest_context,
    batches_pictures,
    watch_context,
)
from cape_app.words import _audit, _page
from cape_app.words._page import Summary

_MOST_ROWS = 8
"""Of more groups, batches or categories, the first screen shows some."""

_FIRST_ROWS = 5
"""Rows that it shows then, so that they can be read at a glance."""


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
    summary = _printable(_summary_of(content))
    kind = summary["kind"]
    # StrictUndefined: each kind of page gets the names that its template uses.
    context: Summary = {"s": summary}
    context.update(_CONTEXTS[kind](summary))
    # Many rows come with those first that matter most; the others are folded away.
    rows = context.get("rows", [])
    n_shown = _n_shown(rows)
    context |= {"rows": rows[:n_shown], "folded": rows[n_shown:]}
    return _templates().get_template(f"{kind}.html").render(context)


def _n_shown(rows: Sequence[Any]) -> int:
    """Return how many of so many rows the first screen shows."""
    return len(rows) if len(rows) <= _MOST_ROWS else _FIRST_ROWS


def _gravity(row: Summary) -> int:
    """Return the place of a row in the order of what is to be done."""
    return CODES.index(row["action"]["code"])


def _batch_context(summary: Summary) -> Summary:
    """Return the rows of the first screen, the pictures and the bounds of the rule."""
    rows = []
    shares = []
    labels = summary["labels"]
    columns = summary["made"].get("columns", {}).get("groups", [])
    names = [group["group"] for group in summary["groups"]]
    group_head, short = _numbers.short_names(names, columns)
    for place, group in enumerate(summary["groups"]):
        check = None if labels is None else labels["groups"][place]
        rows.append({**group, "name": short[group["group"]], "check": check})
        shares += [group["high"], group["training_prevalence"]]
    if len(rows) > _MOST_ROWS:
        rows.sort(key=_gravity)
    context = {
        "rows": rows,
        "group_head": group_head,
        "end": share_domain(shares)[1],
        "pictures": batch_pictures(summary),
        "bounds": bounds_of(summary["rule"]),
    }
    if summary["observed"]:
        context.update(_observed_context(summary))
    return context


def _batches_context(summary: Summary) -> Summary:
    """Return the rows of the first screen and the pictures."""
    rows = sorted(summary["batches"], key=_gravity)
    return {"rows": rows, "pictures": batches_pictures(summary)}


def _audit_context(summary: Summary) -> Summary:
    """Return the rows of the first screen, and the tables of all rates."""
    context = _observed_context(summary)
    columns = summary["made"]["columns"].get("groups", "").split(", ")
    group_head, short = _numbers.short_names([*context["observed_groups"]], columns)
    rows = []
    shares = []
    for name, group in context["observed_groups"].items():
        found = group["classifiers"]["cape"]
        rows.append({"name": short[name], **found})
        shares += [found["prevalence"]["high"], found["predicted_prevalence"]["high"]]
    if len(rows) > _MOST_ROWS:
        # The largest difference that is sure comes first.
        rows.sort(key=lambda row: row["pd"]["low"] or 0, reverse=True)
    end = share_domain(shares)[1]
    return {**context, "rows": rows, "group_head": group_head, "end": end}


_CONTEXTS: dict[str, Callable[[Summary], Summary]] = {
    "batch": _batch_context,
    "batches": _batches_context,
    "audit": _audit_context,
    "ll144": lambda summary: {},
    "watch": watch_context,
    "backtest": backtest_context,
}


def _observed_context(summary: Summary) -> Summary:
    """Return the table of observed rates and that of the worst pairs."""
    observed = summary["observed"]
    both = "unadapted" in observed
    names = _audit.ALONE
    columns = _audit.RATE_NAMES
    if both:
        names = _audit.COMPARED
        columns = {rate: columns[rate] for rate in _audit.BESIDE_ANOTHER}
    groups: dict[str, Summary] = {}
    for who in names:
        for finding in observed[who]["groups"]:
            empty: Summary = {"rows": 0, "classifiers": {name: {} for name in names}}
            group = groups.setdefault(finding["group"], empty)
            # A rate counts the rows of its denominator; the greatest number is all.
            group["rows"] = max(group["rows"], finding["rows"])
            group["classifiers"][who][finding["metric"]] = finding
    between = []
    # Both classifiers predict the same rows: either both have pairs or none has.
    if observed["cape"]["pairs"]:
        for metric, label in _audit.BETWEEN_NAMES.items():
            pairs = [_worst_or_why(observed[who], metric) for who in names]
            between.append((label, pairs))
    return {
        "both": both,
        "classifiers": names,
        "observed_columns": columns,
        "observed_groups": groups,
        "between_rows": between,
    }


def _worst_or_why(audit: Summary, metric: str) -> Any:
    """Return the worst pair of a metric, or why no pair says anything."""
    if metric in audit["worst"]:
        return audit["worst"][metric]
    reasons = {pair["why"] for pair in audit["pairs"] if pair["metric"] == metric}
    # With more rows, a pair might be defined.
    return "too few rows" if "too few rows" in reasons else "undefined"


def _printable(content: Any) -> Any:
    """Write out the control characters in all texts of a summary.

    The names of columns and files are anybody's. A NUL in a name ends the whole process
    inside the library that draws, and half a surrogate pair cannot be written as UTF-8.
    """
    if isinstance(content, str):
        return _numbers.printable(content)
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
    # For those who have a data frame and no file, one call is enough.
    if isinstance(content, Examination):
        return batch_summary(content)
    if not isinstance(content, dict):
        raise TypeError(
            "content must be an Examination or a summary (dict), "
            f"got {type(content).__name__}."
        )
    if content.get("kind") not in _CONTEXTS:
        raise ValueError(
            f"content['kind'] must be one of {', '.join(map(repr, _CONTEXTS))}, "
            f"got {content.get('kind')!r}."
        )
    return content


@cache
def _templates() -> Any:
    """Prepare templates, in which a text is escaped unless it says otherwise."""
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
        "past": past_text,
        "p_value": _numbers.p_value_text,
        "quoted": shlex.quote,
        "rows": _numbers.rows_text,
        "share": _numbers.share_text,
    }
    environment.globals |= {
        "words": _page,
        "actions": _action,
        "rates": _audit,
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
