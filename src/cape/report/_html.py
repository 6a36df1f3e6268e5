"""From a summary to one page that opens from disk: the only place that knows HTML."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from cape._newfile import check_free, new_file
from cape.report._pictures import (
    draw_histogram,
    draw_moved,
    draw_over_time,
    draw_rates,
    frame_histogram,
    frame_moved,
    frame_over_time,
    frame_rates,
    svg_of,
)

__all__ = ["check_report", "to_html", "write_report"]

_HEADINGS = {
    "batch": "Batch report",
    "audit": "Audit",
    "monitor": "Monitor",
    "explorer": "Explorer",
}
_RATES = {
    "fpr": "False positive rate",
    "fnr": "False negative rate",
    "accuracy": "Accuracy",
}
_OBSERVED = (
    ("fpr", "FPR"),
    ("fnr", "FNR"),
    ("accuracy", "accuracy"),
    ("prevalence", "true"),
    ("predicted_prevalence", "predicted"),
    ("pd", "PD"),
)
_BETWEEN = {
    "pe": "PE",
    "fpr_difference": "difference of FPR",
    "fnr_difference": "difference of FNR",
    "accuracy_difference": "difference of accuracy",
    "predicted_prevalence_difference": "difference of predicted share",
}
_MOST_PICTURES = 12


def check_report(path: str | Path, *, overwrite: bool = False) -> Path:
    """The path, if `write_report` can write there: to be known before the work is done."""
    path = Path(path)
    if path.suffix not in (".html", ".htm", ".json"):
        raise ValueError(f"a report must end in .html or .json, got {path.name!r}.")
    return check_free(path, overwrite=overwrite)


def write_report(
    summary: dict[str, Any], path: str | Path, *, overwrite: bool = False
) -> Path:
    """Write a summary as a page, or as JSON if the name ends so; whole or not at all.

    Parameters
    ----------
    summary : dict
        From `batch_summary`, `audit_summary`, `monitor_summary` or `explorer_summary`.
    path : str or Path
        Ends in .html or .json.
    overwrite : bool, default=False

    Returns
    -------
    Path
    """
    path = check_report(path, overwrite=overwrite)
    content = (
        json.dumps(summary, indent=1, allow_nan=False)
        if path.suffix == ".json"
        else to_html(summary)
    )
    with new_file(path, overwrite=overwrite) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return path


def to_html(summary: dict[str, Any]) -> str:
    """The page of a summary: CSS, pictures, data and script all in one text."""
    from markupsafe import Markup

    kind = summary["kind"]
    context: dict[str, Any] = {
        "s": summary,
        "heading": _HEADINGS[kind],
        "lede": _lede(summary),
        "css": Markup(_asset("page.css")),
        "explorer_js": Markup(_asset("explorer.js")),
        "explorer_json": Markup(_json_for_script(summary.get("explorer"))),
        "pictures": _pictures(summary),
        "made_rows": _made(summary["made"]),
        **(_batch_rows(summary) if kind == "batch" else {}),
        **(_monitor_rows(summary) if kind == "monitor" else {}),
        **(_observed_rows(summary) if summary.get("observed") else {}),
    }
    return _template().render(context)


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_asset("page.html"))


@cache
def _asset(name: str) -> str:
    return (files("cape.report") / "page" / name).read_text(encoding="utf-8")


def _json_for_script(content: Any) -> str:
    r"""JSON that cannot end the script it stands in: ``<`` is written as ``\u003c``."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _lede(summary: dict[str, Any]) -> str:
    made = summary["made"]
    trained = f"trained on {made['training']['file']}" if "training" in made else ""
    if summary["kind"] == "explorer":
        return f"What a model {trained} would do, were the shares of positives others."
    rows = f"{summary['rows']:,} rows"
    if summary["kind"] == "audit":
        groups = len(
            {found["group"] for found in summary["observed"]["cape"]["groups"]}
        )
        return f"{rows} in {_count(groups, 'group')}, judged by their labels."
    groups = len(summary["groups"])
    if summary["kind"] == "monitor":
        return f"{_count(len(made['files']), 'batch', 'batches')}, {rows}, {_count(groups, 'group')}; a model {trained}."
    return f"{rows} in {_count(groups, 'group')}, predicted by a model {trained}."


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _picture(
    chart: Any, title: str, frame: pd.DataFrame, **more: Any
) -> dict[str, Any]:
    from markupsafe import Markup

    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    table = {"columns": list(frame.columns), "rows": rows, "caption": title}
    return {"svg": Markup(svg_of(chart, title)), "frame": table, **more}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}"
    return "" if value is None else str(value)


def _pictures(summary: dict[str, Any]) -> dict[str, Any]:
    pictures: dict[str, Any] = {
        "rates": [],
        "histograms": [],
        "over_time": [],
        "more_histograms": 0,
    }
    if summary["kind"] == "batch":
        moved = frame_moved(summary["groups"])
        pictures["moved"] = _picture(
            draw_moved(moved), "Share of positives in training and now, by group", moved
        )
        sizes = {g["group"]: g["rows"] for g in summary["groups"]}
        largest = sorted(
            summary["histograms"], key=lambda entry: -sizes[entry["group"]]
        )[:_MOST_PICTURES]
        for entry in largest:
            frame = frame_histogram(entry)
            title = f"Scores of {entry['group']} in the batch, and the best mixture of the training classes"
            pictures["histograms"].append(
                _picture(draw_histogram(frame), title, frame, group=entry["group"])
            )
        pictures["more_histograms"] = len(summary["histograms"]) - len(largest)
    if summary["kind"] in ("batch", "audit"):
        rates = frame_rates(summary)
        for rate, name in _RATES.items():
            frame = rates[rates["rate"] == rate].drop(columns="rate")
            pictures["rates"].append(
                _picture(draw_rates(frame), f"{name} by group", frame, name=name)
            )
    if summary["kind"] == "monitor":
        for entry in summary["groups"]:
            frame = frame_over_time(entry)
            title = f"Share of positives of {entry['group']} over {len(frame)} batches"
            pictures["over_time"].append(
                _picture(draw_over_time(frame), title, frame, group=entry["group"])
            )
    return pictures


def _batch_rows(summary: dict[str, Any]) -> dict[str, Any]:
    tests = summary["assumption"]["groups"]
    pairs = [pair for pair in summary["expected"]["pairs"] if pair["pe"] is not None]
    worst = max(pairs, key=lambda pair: pair["pe"], default=None)
    unadapted = summary["expected"]["unadapted"]["pe"]
    sentence = ""
    if worst is not None:
        high = "" if worst["pe_high"] is None else f" (up to {worst['pe_high']:.3f})"
        plain = (
            ""
            if unadapted is None
            else f"; the model as trained would have {unadapted:.3f}"
        )
        sentence = (
            f"Expected PE of the worst pair, {worst['group']} to {worst['other']}: {worst['pe']:.3f}{high}{plain}. "
            "PE says how far the ratio of two groups' predicted shares is from the ratio of their true shares."
        )
    return {
        "assumption_rows": [
            [t["group"], f"{t['rows']:,}", _p(t["p_adjusted"]), f"{t['effect']:.1%}"]
            if t["tested"]
            else [t["group"], f"{t['rows']:,}", "too few rows", ""]
            for t in tests
        ],
        "chosen_rows": [
            [
                g["group"],
                f"{g['theta']:.3f}",
                f"{g['predicted_prevalence']:.3f}",
                f"{g['pd_bound']:.3f}",
            ]
            for g in summary["groups"]
        ],
        "expected_pe": sentence,
    }


def _monitor_rows(summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "monitor_rows": {
            entry["group"]: [
                [
                    b["batch"],
                    f"{b['rows']:,}",
                    f"{b['estimate']:.3f}",
                    f"{b['low']:.3f}\u2013{b['high']:.3f}",
                    f"{b['estimate'] - b['training']:+.3f}",
                    "yes" if b["moved"] else "no",
                    f"{b['pd_bound']:.3f}",
                    b["assumption"],
                ]
                for b in entry["batches"]
            ]
            for entry in summary["groups"]
        }
    }


def _p(value: float | None) -> str:
    if value is None:
        return "unknown"
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def _observed_rows(summary: dict[str, Any]) -> dict[str, Any]:
    """The fairness table, CAPE beside the model as trained, and the worst pairs."""
    observed = summary["observed"]
    names = (
        {"cape": "CAPE", "unadapted": "as trained"}
        if "unadapted" in observed
        else {"cape": "the predictions"}
    )
    groups: dict[str, dict[str, Any]] = {}
    for who in names:
        for finding in observed[who]["groups"]:
            row = groups.setdefault(
                finding["group"], {"group": finding["group"], "rows": 0}
            )
            row.setdefault(who, {})[finding["metric"]] = finding
            row["rows"] = max(row["rows"], finding["rows"])
    for row in groups.values():
        row["classifiers"] = [(who, name, row[who]) for who, name in names.items()]
    level = f"{100 * summary['level']:g} %"
    plain = (
        "; as trained: the same model cut at 1/2, without CAPE"
        if "unadapted" in observed
        else ""
    )
    return {
        "both": len(names) > 1,
        "observed_caption": f"Each rate with its {level} interval{plain}",
        "observed_columns": _OBSERVED,
        "observed_rows": list(groups.values()),
        "between_columns": ["measure", *names.values()],
        "between_rows": [
            (label, pairs)
            for metric, label in _BETWEEN.items()
            if any(pairs := [observed[who]["worst"].get(metric) for who in names])
        ],
    }


def _made(made: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for file in made["files"][:12]:
        size = f", {file['rows']:,} rows" if "rows" in file else ""
        rows.append(("data", f"{file['file']}{size}, SHA-256 {file['sha256']}"))
    if len(made["files"]) > 12:
        rows.append(("data", f"and {len(made['files']) - 12} more files"))
    if "training" in made:
        training, columns = made["training"], made["columns"]
        rows.append(
            (
                "trained on",
                f"{training['file']}, {training['rows']:,} rows, SHA-256 {training['sha256']}",
            )
        )
        rows.append(
            (
                "label",
                f"{columns['label']}: {columns['labels'][1]} is positive, {columns['labels'][0]} negative",
            )
        )
        rows.append(("groups", ", ".join(columns["groups"]) or "none"))
        rows.append(("features", ", ".join(columns["features"])))
        settings = "; ".join(
            f"{name} {value}" for name, value in made["settings"].items()
        )
        rows.append(("learner", made["learner"]))
        rows.append(("parameters", settings))
        rows.append(("fingerprint", made["fingerprint"]))
    else:
        rows += [(name, str(value)) for name, value in made["columns"].items()]
    rows.append(
        (
            "versions",
            ", ".join(f"{name} {value}" for name, value in made["versions"].items()),
        )
    )
    rows.append(("date", f"{made['date'].replace('T', ' ').replace('+00:00', '')} UTC"))
    return rows
