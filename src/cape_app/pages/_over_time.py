"""Pages over time: of many batches, and of a watch; their summaries and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from cape.base._json_fields import strict_json
from cape.shown import _backtest, _plot, _watch
from cape_app.pages._batch import columns_at_fault, gravity, picture, worst_word
from cape_app.pages._model import file_provenance, stamped
from cape_app.words._page import Summary, positive_label

if TYPE_CHECKING:
    from cape import Watch
    from cape.examination import Backtest
    from cape_app.files import TableModel

_DRIFTED = ["fault", "drifted", "ignored"]
MARKS = {"better": "good", "as_good": "warn", "worse": "bad", "unclear": "warn"}
"""The color of each verdict of a backtest."""

_MOST_DRAWN = 2
"""Groups in the picture: as many as fit beside the table."""


def batches_summary(
    batches: Sequence[Summary], *, level: float, provenance: Mapping[str, Any]
) -> Summary:
    """Summarise the prevalences of all groups over time.

    Parameters
    ----------
    batches : sequence of dict
        From `batch_facts`, in order of time.
    level : float in (0, 1)
        Confidence level of the intervals.
    provenance : mapping
        The files and the model, from `file_provenance`.

    Returns
    -------
    dict
        All numbers and sentences of the page of many batches, as JSON can hold them.
    """
    drifted = []
    columns: list[tuple[str, Summary]] = []
    entries = []
    for batch in batches:
        entries.append(
            {
                "batch": batch["title"],
                "rows": batch["rows"],
                "expected_pe": batch["expected_pe"],
                "action": batch["action"],
            }
        )
        if batch["verdict"]["word"] in _DRIFTED:
            drifted.append(batch["title"])
        for fault in batch["verdict"]["faults"]:
            columns.append((batch["title"], {**fault, "fault": True}))
    verdict = {
        "word": worst_word([batch["verdict"]["word"] for batch in batches]),
        "faults": columns_at_fault(columns, "batches"),
    }
    return {
        "kind": "batches",
        "title": f"{batches[0]['title']} to {batches[-1]['title']}",
        "positive": positive_label(provenance["columns"]),
        "rows": sum(batch["rows"] for batch in batches),
        "level": level,
        "verdict": verdict,
        "groups": _over_time(batches),
        "batches": entries,
        "drifted": drifted,
        "made": stamped(provenance),
    }


def _over_time(batches: Sequence[Summary]) -> list[Summary]:
    """Turn groups of batches into batches of groups.

    A group may be absent from some batches, so that each entry has its place in time.
    """
    groups: dict[str, Summary] = {}
    for place, batch in enumerate(batches, 1):
        for record in batch["groups"]:
            name = record["group"]
            entry = groups.setdefault(name, {"group": name, "batches": []})
            # The same in every batch, because all are compared with one training.
            entry["training_prevalence"] = record["training_prevalence"]
            about = {"batch": batch["title"], "place": place}
            entry["batches"].append({**about, **record})
    return list(groups.values())


def batches_pictures(summary: Summary) -> list[Summary]:
    """Draw the share of each group over time: first of those to act on, then others.

    Parameters
    ----------
    summary : dict
        From `batches_summary`.

    Returns
    -------
    list of dict
        A picture of the first groups, and one of the others, if there are any.
    """

    def gravest(group: Summary) -> int:
        return min(gravity(batch) for batch in group["batches"])

    groups = sorted(summary["groups"], key=gravest)
    names = [batch["batch"] for batch in summary["batches"]]
    pictures = []
    for part in (groups[:_MOST_DRAWN], groups[_MOST_DRAWN:]):
        if part:
            frame = frame_over_time(part, names)
            heading = "Share of positives in each batch"
            if frame["alarm"].any():
                heading += " (red: other changes)"
            chart = _plot.watched(frame, width=260)
            pictures.append(picture(heading, heading, chart, frame))
    return pictures


def frame_over_time(groups: Sequence[Summary], names: Sequence[str]) -> pd.DataFrame:
    """Return the prevalences of groups in each batch, in order of time.

    Parameters
    ----------
    groups : sequence of dict
        Entries of ``groups`` of the summary.
    names : sequence of str
        Those of all batches, in order of time.

    Returns
    -------
    DataFrame
        One row for each group and batch, as `cape.Watch.history` has them. Numbers are
        missing where the group is not in the batch.
    """
    rows = []
    for group in groups:
        seen = {batch["place"]: batch for batch in group["batches"]}
        for place, name in enumerate(names, 1):
            batch = seen.get(place, {})
            row = {"look": name, "group": group["group"]}
            row |= {"share": batch.get("estimate"), "low": batch.get("low")}
            is_drifted = batch.get("verdict") in _DRIFTED
            row |= {"high": batch.get("high"), "alarm": "x" if is_drifted else ""}
            rows.append(row)
    return pd.DataFrame(rows)


def watch_summary(
    watch: Watch,
    *,
    provenance: Mapping[str, Any],
    command: str = "",
    acknowledge: str = "",
) -> Summary:
    """Summarise a watch: its last look, and its history.

    Parameters
    ----------
    watch : Watch
    provenance : mapping
        The model, from `file_provenance`.
    command : str, default=""
        What draws rows to label.
    acknowledge : str, default=""
        What acknowledges the first alarm.

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
        "acknowledge": acknowledge,
        **found,
        "history": strict_json(watch.history().to_dict("records")),
        "made": stamped(provenance),
    }


def backtest_summary(result: Backtest, model: TableModel) -> Summary:
    """Summarise a backtest of files.

    Parameters
    ----------
    result : Backtest
    model : TableModel
        Trained on the newest period.

    Returns
    -------
    dict
        All numbers of the page, as JSON can hold them.
    """
    provenance = file_provenance(model)
    return {
        "kind": "backtest",
        "title": model.details["data"]["file"],
        "positive": positive_label(provenance["columns"]),
        **result.summary,
        "rows": strict_json(result.table().reset_index().to_dict("records")),
        "made": stamped(provenance),
    }


def backtest_context(summary: Summary, draw: bool) -> Summary:
    """Return what the template of the page shows."""
    frame = pd.DataFrame(summary["rows"])
    frame["period"] = frame["period"].astype(str)
    # One scale for all: groups are compared with each other, too.
    domain = _plot.share_domain(frame[["truth", "high", "last"]])
    pictures = []
    for name, part in frame.groupby("group", sort=False) if draw else ():
        title = f"{_backtest.PICTURE}: {name}"
        chart = _plot.backtested(part, domain=domain, width=330)
        pictures.append(picture(str(name), title, chart, part))
    rows = []
    for group in summary["groups"]:
        rows.append([group["group"], *_backtest.group_row(group).values()])
    return {
        "words_of": _backtest,
        "columns": ["group", *_backtest.COLUMNS],
        "mark": MARKS[summary["verdict"]],
        "rows": rows,
        "pictures": pictures,
    }


def watch_context(summary: Summary, draw: bool) -> Summary:
    """Return what the template of the page shows."""
    columns, rows = _watch.answers(summary)
    history = pd.DataFrame(summary["history"])
    pictures = []
    if len(history) and draw:
        first = [row[0] for row in rows[:_MOST_DRAWN]]
        drawn = history[history["group"].isin(first)]
        chart = _plot.watched(drawn, width=260)
        heading = "Share of positives (red: alarm)"
        pictures.append(picture(heading, heading, chart, history))
    return {
        "head": _watch.chance_text(summary),
        "alarms": _watch.alarm_texts(summary["alarms"]),
        "columns": columns,
        "rows": rows,
        "sight": _watch.sight(summary),
        "pictures": pictures,
        "watch": _watch,
    }


def batches_context(summary: Summary, draw: bool) -> Summary:
    """Return the rows of the first screen and the pictures."""
    rows = sorted(summary["batches"], key=gravity)
    return {"rows": rows, "pictures": batches_pictures(summary) if draw else []}
