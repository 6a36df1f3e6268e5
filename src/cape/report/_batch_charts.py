"""Pictures of the batch page and of the audit page.

``docs/design.md`` says how to add a picture.

Pictures are 340 pixels wide, so that they can be read on a phone without being scaled.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from cape import plot
from cape.report._frontier_summary import frontier_pictures
from cape.report._picture import Picture
from cape.report._types import Summary

__all__ = [
    "audit_pictures",
    "batch_pictures",
    "frame_columns",
    "frame_histogram",
    "frame_moved",
    "frame_rates",
    "frame_shares",
    "rate_pictures",
]

MOST_HISTOGRAMS = 12
"""Histograms on a page; those of the largest groups are shown."""

MOST_COLUMNS = 10
"""Columns in a picture."""

# A column with a larger error speaks for any prevalence.
_LARGEST_ERROR = 0.15
_NORMAL_95 = 1.96
_RATES = {
    "fpr": "False positive rate",
    "fnr": "False negative rate",
    "accuracy": "Accuracy",
}


def batch_pictures(summary: Summary) -> dict[str, list[Picture]]:
    """Draw the pictures of the batch page.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    dict
        Lists of pictures under the names by which the page asks for them.
    """
    frame = frame_moved(summary["groups"], summary["labels"])
    title = "Share of positives in training and now, by group"
    moved = Picture("", title, plot.moved(frame), frame)
    return {
        "moved": [moved],
        "histograms": _histogram_pictures(summary),
        "columns": _column_pictures(summary),
        "frontiers": frontier_pictures(summary),
        "rates": rate_pictures(summary),
    }


def audit_pictures(summary: Summary) -> dict[str, list[Picture]]:
    """Draw the pictures of the audit page.

    Parameters
    ----------
    summary : dict
        From `audit_summary`.

    Returns
    -------
    dict
        Lists of pictures under the names by which the page asks for them.
    """
    frame = frame_shares(summary["observed"]["cape"]["groups"])
    title = "Share called positive and share positive by the labels, by group"
    return {
        "shares": [Picture("", title, plot.audit(frame), frame)],
        "rates": rate_pictures(summary),
    }


def frame_shares(findings: list[Summary]) -> pd.DataFrame:
    """Return the predicted and the true share of each group, with their intervals.

    Parameters
    ----------
    findings : list of dict
        The entry ``groups`` of an audit.

    Returns
    -------
    DataFrame
        One row for each group: group, rows, predicted, predicted_low, predicted_high,
        true, true_low and true_high.
    """
    names = {"predicted_prevalence": "predicted", "prevalence": "true"}
    groups: dict[str, Summary] = {}
    for finding in findings:
        if finding["metric"] not in names:
            continue
        name = names[finding["metric"]]
        row = groups.setdefault(finding["group"], {"group": finding["group"]})
        row["rows"] = finding["rows"]
        row[name] = finding["value"]
        row[f"{name}_low"] = finding["low"]
        row[f"{name}_high"] = finding["high"]
    columns = ["group", "rows"]
    for name in names.values():
        columns += [name, f"{name}_low", f"{name}_high"]
    return pd.DataFrame(list(groups.values()), columns=columns)


def _histogram_pictures(summary: Summary) -> list[Picture]:
    """Draw the scores of the largest groups."""
    rows = {group["group"]: group["rows"] for group in summary["groups"]}
    largest_first = sorted(
        summary["histograms"], key=lambda entry: rows[entry["group"]], reverse=True
    )
    pictures = []
    for entry in largest_first[:MOST_HISTOGRAMS]:
        name = entry["group"]
        frame = frame_histogram(entry)
        title = (
            f"Scores of {name} in the batch, "
            "and the best mixture of the training classes"
        )
        pictures.append(Picture(name, title, plot.scores(frame), frame))
    return pictures


def _column_pictures(summary: Summary) -> list[Picture]:
    """Draw what single columns say of the prevalence, in the largest groups."""
    columns = {}
    for entry in summary["columns"]["groups"]:
        columns[entry["group"]] = entry["columns"]
    largest_first = sorted(
        summary["groups"], key=lambda group: group["rows"], reverse=True
    )
    pictures = []
    for group in largest_first[:MOST_HISTOGRAMS]:
        name = group["group"]
        frame = frame_columns(columns.get(name, []), group)
        # One column alone has nothing to disagree with.
        if len(frame) > 1:
            title = f"Share of positives that each column of {name} speaks for"
            pictures.append(Picture(name, title, plot.columns(frame), frame))
    return pictures


def frame_columns(columns: list[Summary], group: Summary) -> pd.DataFrame:
    """Return the prevalence that each column by itself speaks for.

    Parameters
    ----------
    columns : list of dict
        The columns of one group in a batch summary, the largest effect first.
    group : dict
        The entry of the group in ``groups``.

    Returns
    -------
    DataFrame
        One row for each of at most ten columns that tell the classes apart, those that
        moved first and then those with the smallest error: column, prevalence, low and
        high (cut at 0 and 1), moved, and the three lines: estimate, mean score and
        training.
    """
    telling = []
    for column in columns:
        error = column["prevalence_error"]
        if error is not None and error <= _LARGEST_ERROR:
            telling.append(column)
    telling.sort(key=lambda column: (not column["moved"], column["prevalence_error"]))
    rows = []
    for column in telling[:MOST_COLUMNS]:
        reach = _NORMAL_95 * column["prevalence_error"]
        rows.append(
            {
                "column": column["column"],
                "prevalence": _share(column["prevalence"]),
                "low": _share(column["prevalence"] - reach),
                "high": _share(column["prevalence"] + reach),
                "moved": "yes" if column["moved"] else "no",
                "estimate": group["estimate"],
                "mean score": group["mean_score"],
                "training": group["training_prevalence"],
            }
        )
    return pd.DataFrame(rows)


def _share(value: float) -> float:
    """Cut at 0 and 1: by itself a column may speak for more than everybody."""
    return min(max(value, 0.0), 1.0)


def rate_pictures(summary: Summary) -> list[Picture]:
    """Draw FPR, FNR and accuracy by group, for the batch page and the audit page.

    Parameters
    ----------
    summary : dict
        From `batch_summary` or `audit_summary`.

    Returns
    -------
    list of Picture
        One picture for each rate.
    """
    rates = frame_rates(summary)
    # One picture a rate, because readers compare groups and not rates.
    pictures = []
    for rate, name in _RATES.items():
        frame = rates[rates["rate"] == rate].drop(columns="rate")
        pictures.append(Picture(name, f"{name} by group", plot.rates(frame), frame))
    return pictures


def frame_moved(groups: list[Summary], labels: Summary | None = None) -> pd.DataFrame:
    """Return the prevalence of each group in training and now, with its interval.

    Parameters
    ----------
    groups : list of dict
        The entry ``groups`` of a batch summary.
    labels : dict or None, default=None
        Its entry ``labels``.

    Returns
    -------
    DataFrame
        One row for each group: group, training, now, low and high. With labels also
        compared, compared_low and compared_high: what they say, or, where they decide,
        what was estimated without them. Missing where labels cannot be used.
    """
    names = {
        "group": "group",
        "training_prevalence": "training",
        "estimate": "now",
        "low": "low",
        "high": "high",
    }
    frame = pd.DataFrame(groups)[list(names)].rename(columns=names)
    if labels is None:
        return frame
    compared = ("label_estimate", "low", "high")
    if labels["decide"]:
        compared = ("without_labels", "without_labels_low", "without_labels_high")
    checks = pd.DataFrame(labels["groups"])
    cannot_be_used = checks["label_verdict"].isna()
    names_of_compared = ("compared", "compared_low", "compared_high")
    for name, column in zip(names_of_compared, compared, strict=True):
        frame[name] = checks[column].astype(float).mask(cannot_be_used)
    return frame


def frame_histogram(entry: Summary) -> pd.DataFrame:
    """Return the share of scores in each cell, in the batch and in the best mixture.

    Parameters
    ----------
    entry : dict
        One entry of ``histograms`` of a batch summary.

    Returns
    -------
    DataFrame
        One row for each cell: from, to, batch and mixture.
    """
    n_cells = len(entry["batch"])
    return pd.DataFrame(
        {
            "from": [cell / n_cells for cell in range(n_cells)],
            "to": [(cell + 1) / n_cells for cell in range(n_cells)],
            "batch": entry["batch"],
            "mixture": entry["mixture"],
        }
    )


def frame_rates(summary: Summary) -> pd.DataFrame:
    """Return FPR, FNR and accuracy of each group and classifier.

    Rates are the observed ones if there are labels, and the expected ones if not.

    Parameters
    ----------
    summary : dict
        From `batch_summary` or `audit_summary`.

    Returns
    -------
    DataFrame
        With the columns rate, group, classifier, value, low and high.
    """
    rows: list[Summary] = []
    for rate in _RATES:
        if summary.get("observed"):
            rows += _observed_rates(summary["observed"], rate)
        else:
            rows += _expected_rates(summary["expected"], rate)
    columns = ["rate", "group", "classifier", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _observed_rates(observed: Summary, rate: str) -> Iterator[Summary]:
    """Yield one observed rate of each group and classifier."""
    names = {
        "cape": "CAPE",
        "unadapted": "unadapted",
    }
    if "unadapted" not in observed:
        # An audit has one column of predictions, and anybody may have made them.
        names = {"cape": "the predictions"}
    for classifier, name in names.items():
        for finding in observed[classifier]["groups"]:
            if finding["metric"] == rate:
                yield {
                    "rate": rate,
                    "group": finding["group"],
                    "classifier": name,
                    "value": finding["value"],
                    "low": finding["low"],
                    "high": finding["high"],
                }


def _expected_rates(expected: Summary, rate: str) -> Iterator[Summary]:
    """Yield one expected rate of each group and classifier."""
    for group in expected["groups"]:
        yield {
            "rate": rate,
            "group": group["group"],
            "classifier": "CAPE",
            "value": group[rate],
            "low": group[f"{rate}_low"],
            "high": group[f"{rate}_high"],
        }
    for group in expected["unadapted"]["groups"]:
        yield {
            "rate": rate,
            "group": group["group"],
            "classifier": "unadapted",
            "value": group[rate],
            "low": None,
            "high": None,
        }
