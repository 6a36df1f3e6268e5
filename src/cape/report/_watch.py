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

_MOST_DRAWN = 2
"""Groups in the picture: as many as fit beside the table."""


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
    columns, rows = words.answers(summary)
    history = pd.DataFrame(summary["history"])
    pictures = []
    if len(history):
        first = [row[0] for row in rows[:_MOST_DRAWN]]
        drawn = history[history["group"].isin(first)]
        chart = _plot.watched(drawn, width=260)
        pictures.append(picture(words.HISTORY, words.HISTORY, chart, history))
    return {
        "head": words.chance_text(summary),
        "alarms": words.alarm_texts(summary["alarms"]),
        "columns": columns,
        "rows": rows,
        "pictures": pictures,
        "watch": words,
    }
