"""The page of a watch: its summary and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cape import _plot
from cape._json_fields import strict_json
from cape._wording import _watch as words
from cape._wording._page import Summary, positive_label
from cape.report._model import stamped
from cape.report._pictures import picture

if TYPE_CHECKING:
    from cape._watch import Watch


def watch_summary(
    watch: Watch, *, provenance: Mapping[str, Any], command: str = ""
) -> Summary:
    """Summarise a watch: its last look, and its history.

    Parameters
    ----------
    watch : Watch
    provenance : mapping
        The model, from `file_provenance`.
    command : str, default=""
        What draws rows to label.

    Returns
    -------
    dict
        All numbers of the page, as JSON can hold them.
    """
    found = watch.to_dict()
    return {
        "kind": "watch",
        "title": str(found["look"]),
        "positive": positive_label(provenance["columns"]),
        "command": command if found["alarms"] else "",
        **found,
        "history": strict_json(watch.history().to_dict("records")),
        "made": stamped(provenance),
    }


def watch_context(summary: Summary) -> Summary:
    """Return what the template of the page shows."""
    history = pd.DataFrame(summary["history"])
    pictures = []
    if len(history):
        chart = _plot.watched(history, width=260)
        pictures.append(picture(words.HISTORY, words.HISTORY, chart, history))
    columns, rows, decisions = words.answers(summary)
    return {
        "head": words.chance_text(summary),
        "alarms": [words.alarm_text(alarm) for alarm in summary["alarms"]],
        "columns": columns,
        "rows": rows,
        "decisions": decisions,
        "pictures": pictures,
        "watch": words,
    }
