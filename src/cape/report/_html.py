"""From a summary to one page that opens from disk, or to its JSON.

The page contains its style, pictures, data and script, and loads nothing. The template
is ``page/page.html``; it shows the texts of `_page_tables` and the pictures of
`_batch_charts` and `_monitor_charts`, which say how to add one.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from cape._io import check_report, new_file
from cape._wording._numbers import printable
from cape._wording._page import EACH_BY_ITSELF
from cape.examination import Examination
from cape.report._audit_words import GLOSSARY
from cape.report._batch_charts import audit_pictures, batch_pictures
from cape.report._batch_summary import batch_summary
from cape.report._criteria_summary import (
    criteria_columns,
    criteria_rows,
    rule_sentence,
)
from cape.report._label_summary import WIDTHS
from cape.report._monitor_charts import monitor_pictures
from cape.report._page_tables import (
    check_columns,
    check_rows,
    chosen_rows,
    column_rows,
    columns_sentence,
    compared_cells,
    expected_pe_sentence,
    lede,
    made_rows,
    monitor_rows,
    needed_rows,
    observed_tables,
    rests_sentence,
    verdict_rows,
)
from cape.report._types import Summary

__all__ = ["to_html", "write_report"]

_HEADINGS = {
    "batch": "Batch report",
    "audit": "Audit",
    "monitor": "Monitor",
    "explorer": "Explorer",
}


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
        From `cape.examine`; or from `batch_summary`, `audit_summary`,
        `monitor_summary` or `explorer_summary`.
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
    >>> from cape.report import write_report
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
    >>> from cape.report import explorer_summary
    >>> to_html(explorer_summary(clf))[:15]
    '<!doctype html>'
    """
    summary = _printable(_summary_of(content))
    context: Summary = {
        "s": summary,
        "policy": _policy(),
        "heading": _heading(summary),
        "lede": lede(summary),
        "css": _asset("page.css"),
        "explorer_js": _asset("explorer.js"),
        "explorer_json": _json_for_script(summary.get("explorer")),
        "frontier_js": _asset("frontier.js"),
        "frontier_json": _json_for_script(summary.get("frontiers")),
        "pictures": _pictures(summary),
        "made_rows": made_rows(summary["made"]),
        "each_by_itself": EACH_BY_ITSELF,
    }
    # StrictUndefined: each kind of page gets the names that its sections use.
    if summary["kind"] == "batch":
        context["verdict_rows"] = verdict_rows(summary)
        context["column_rows"] = column_rows(summary)
        context["columns_sentence"] = columns_sentence(summary)
        context["rests"] = rests_sentence(summary)
        context["chosen_rows"] = chosen_rows(summary)
        context["rule_sentence"] = rule_sentence(summary["rule"])
        context["criteria_columns"] = criteria_columns(summary)
        context["criteria_rows"] = criteria_rows(summary)
        context["expected_pe"] = expected_pe_sentence(summary)
        context["compared"] = compared_cells(summary)
        context["all_corrected"] = _all_corrected(summary)
        if summary["labels"] is not None:
            context["check_columns"] = check_columns(summary)
            context["check_rows"] = check_rows(summary)
            context["needed_columns"] = _needed_columns()
            context["needed_rows"] = needed_rows(summary)
    if summary["kind"] == "audit":
        context["glossary"] = GLOSSARY
    if summary["kind"] == "monitor":
        context["monitor_rows"] = monitor_rows(summary)
    if summary.get("observed"):
        context.update(observed_tables(summary))
    return _template().render(context)


def _printable(content: Any) -> Any:
    """Write out the control characters in all texts of a summary.

    The names of columns and files are anybody's. A NUL in a name ends the whole process
    inside the library that draws, and half a surrogate pair cannot be written as UTF-8.
    """
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, (list, tuple)):
        return [_printable(value) for value in content]
    if isinstance(content, dict):
        return {name: _printable(value) for name, value in content.items()}
    return content


@cache
def _policy() -> str:
    """Return what the browser may do on a page: its own style and script, no network.

    Whatever else gets into a page does not run.
    """
    style = _hash_of(_asset("page.css"))
    scripts = [_hash_of(_asset(name)) for name in ("frontier.js", "explorer.js")]
    allowed = " ".join(f"'{script}'" for script in scripts)
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{style}'",
            f"script-src {allowed}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash_of(text: str) -> str:
    """Return the hash by which a policy knows an inline style or script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _all_corrected(summary: Summary) -> bool:
    """Tell whether labels corrected the estimates of all groups."""
    return all(group["label_verdict"] is not None for group in summary["groups"])


def _needed_columns() -> list[str]:
    widths = [f"width {width:g}" for width in WIDTHS]
    return ["group", "width now", *widths]


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
    if content.get("kind") not in _HEADINGS:
        raise ValueError(
            f"content['kind'] must be one of {', '.join(map(repr, _HEADINGS))}, "
            f"got {content.get('kind')!r}."
        )
    return content


def _heading(summary: Summary) -> str:
    """Return the heading of a page; a batch without a name is not named twice."""
    heading = _HEADINGS[summary["kind"]]
    if summary["title"] == "Batch":
        return heading
    return f"{heading}: {summary['title']}"


def _pictures(summary: Summary) -> Summary:
    """Draw the pictures of a page, by the names that the template uses."""
    if summary["kind"] == "batch":
        return batch_pictures(summary)
    if summary["kind"] == "audit":
        return audit_pictures(summary)
    if summary["kind"] == "monitor":
        return monitor_pictures(summary)
    return {}


@cache
def _template() -> Any:
    """Compile the template, in which every text is escaped unless it says otherwise."""
    import jinja2

    # Names of groups come from the user's table and may contain markup. StrictUndefined
    # turns a misspelt name in the template into an error instead of an empty text.
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_asset("page.html"))


@cache
def _asset(name: str) -> str:
    """Read a file of the folder ``page``."""
    return (files("cape.report") / "page" / name).read_text(encoding="utf-8")


def _json_for_script(content: Any) -> str:
    r"""Return JSON that can stand in a script element.

    A ``</script>`` in the name of a group would end the element, so that ``<`` is
    written as ``\u003c``. The two separators U+2028 and U+2029 end a line in
    JavaScript.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
