"""The page of a batch: its summary, from an `Examination` alone, and its pictures.

A function ``frame_*`` returns the numbers behind a picture, and a function of
`cape.shown._plot` draws them. To add a picture, add it to `batch_pictures`, and put
``{{ gallery(pictures.name) }}`` into ``page/batch.html``. Pictures are 340 pixels wide,
so that they can be read on a phone without being scaled.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cape.base._groups import group_labels
from cape.base._json_fields import strict_json
from cape.base._numbers import short_names
from cape.examination import Examination, LabelChecks
from cape.metrics._audit import audit_counts
from cape.rules._rules import bounds_of
from cape.shown import _action, _plot, _results
from cape_app.pages._audit import audit_content, observed_context
from cape_app.pages._model import facts_of_classifier, stamped
from cape_app.words import _page as words
from cape_app.words._page import MOST_ROWS, Summary

_TOLERATED = 0.1
"""Distance of labels and estimate that a refuted estimate may have without an alarm.
Labels of a million rows refute estimates that are good for every purpose."""

MOST_HISTOGRAMS = 12
"""Histograms on a page; those of the largest groups are shown."""

# Vega can draw fixed colours only, but the page has two themes. The colours of a chart
# are exchanged for the CSS variables of the page once the picture is drawn.
_CSS_COLOURS = {
    _plot.INK: "currentColor",
    _plot.LINE: "var(--line)",
    _plot.NOW: "var(--now)",
    _plot.THEN: "var(--then)",
    _plot.SOFT: "var(--soft)",
    _plot.ALARM: "var(--bad)",
}


def batch_summary(
    examination: Examination, *, title: str = "Batch", for_page: bool = True
) -> Summary:
    """Summarise an examined batch.

    Parameters
    ----------
    examination : Examination
        From `cape.examine`.
    title : str, default="Batch"
        What the page calls the batch.
    for_page : bool, default=True
        Whether to tell all that a page shows. What it shows of every pair of groups
        takes most of the time if groups are many, and a terminal does without.

    Returns
    -------
    dict
        All numbers and sentences of the batch page, as JSON can hold them.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> summary = batch_summary(seen, title="March")
    >>> summary["title"], summary["rows"], summary["action"]["code"]
    ('March', 1000, 'use')
    """
    # Nothing is computed here that `examine` has computed; a summary only arranges.
    rule = dict(examination.adaptation.rule)
    columns = examination.columns.to_dict()
    summary = {
        "kind": "batch",
        **batch_facts(examination, title, rates=for_page),
        "level": examination.level,
        "positive": _positive_label(examination),
        "drift": examination.adaptation.drift,
        "rule": rule,
        "labels": _labels(examination),
        "shift_test": examination.prior_shift.to_dict(),
        "columns": {**columns, "moved": _moved_columns(columns)},
        "aims": _aims(rule, examination),
        "observed": _observed(examination),
        "compared": _compared(examination),
        "made": stamped(_provenance(examination)),
    }
    if for_page:
        summary["expected"] = examination.expected.to_dict()
        summary["criteria"] = examination.criteria.to_dict()["criteria"]
        summary["histograms"] = _histograms(examination)
    return summary


def batch_facts(examination: Examination, title: str, *, rates: bool = True) -> Summary:
    """Return what conditions are checked against, and what is kept of many batches.

    Parameters
    ----------
    examination : Examination
    title : str
        Name of the batch.
    rates : bool, default=True
        Whether to tell the rates to expect, too, and the PE of the worst pair.

    Returns
    -------
    dict
        ``title``, ``rows``, ``action``, ``verdict``, ``groups``, and ``expected_pe``,
        which is None if no pair is defined.
    """
    facts = {
        "title": title,
        "rows": examination.rows,
        "action": examination.action.to_dict(),
        "verdict": batch_verdict(examination),
        "groups": examination.facts(rates=rates),
    }
    if rates:
        expected = examination.expected
        worst = expected.worst_pair()
        pe = None if worst is None else strict_json(expected.between[worst].value)
        facts["expected_pe"] = pe
    return facts


def _positive_label(examination: Examination) -> str:
    """Return which label is the positive one, in the words of the user's table."""
    if examination.provenance is not None and "columns" in examination.provenance:
        return words.positive_label(examination.provenance["columns"])
    return f"label {examination.clf.classes_[1]}"


def _aims(rule: Summary, examination: Examination) -> list[str]:
    """Say of each criterion that the rule aims at how likely its bound is met."""
    bounds = bounds_of(rule)
    if not bounds:
        return []
    criteria = examination.criteria.to_dict()["criteria"]
    entries = {entry["criterion"]: entry for entry in criteria}
    return [
        _results.bound_sentence(entries[name], bound) for name, bound in bounds.items()
    ]


def batch_verdict(examination: Examination) -> Summary:
    """Return what the tests found.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    dict
        ``word`` is the gravest verdict of the groups, and ``faults`` lists the columns
        at fault.
    """
    groups = examination.adaptation.groups
    codes = [examination.verdict(group).word for group in groups] or ["not_tested"]
    # Mostly the same happened in all groups; it is told as it is in the largest.
    rows = {
        examination.names[group]: n for group, n in examination.evidence.rows.items()
    }
    columns = _columns_of_groups(examination.columns.to_dict())
    columns.sort(key=lambda column: rows[column[0]], reverse=True)
    return {"word": worst_word(codes), "faults": columns_at_fault(columns, "groups")}


def worst_word(codes: Sequence[str]) -> str:
    """Return the gravest of some verdicts.

    Examples
    --------
    >>> worst_word(["consistent", "drifted", "some_drift"])
    'drifted'
    """
    return min(codes, key=list(_action.VERDICTS).index)


def columns_at_fault(
    columns: Iterable[tuple[str, Summary]], where: str
) -> list[Summary]:
    """List the columns at fault, once each, with the places in which they are.

    Parameters
    ----------
    columns : iterable of (place, column)
        Columns as in a summary, each with the group or batch in which it was found.
        What happened to a column is told as it is where it comes first.
    where : {"groups", "batches"}
        What the places are.

    Returns
    -------
    list of dict
        With ``column``, ``what_happened``, and the places under ``where``.
    """
    faults: dict[str, Summary] = {}
    for place, column in columns:
        if column["fault"]:
            name = column["column"]
            happened = column["what_happened"]
            entry = {"column": name, "what_happened": happened, where: []}
            places = faults.setdefault(name, entry)[where]
            if place not in places:
                places.append(place)
    return list(faults.values())


def _columns_of_groups(columns: Summary) -> list[tuple[str, Summary]]:
    """Return all columns of all groups, each with the name of its group."""
    pairs = []
    for entry in columns["groups"]:
        pairs += [(entry["group"], column) for column in entry["columns"]]
    return pairs


def _moved_columns(columns: Summary) -> list[Summary]:
    """List the columns that moved in any group: at fault first, then by effect."""
    entries: list[Summary] = []
    for name, column in _columns_of_groups(columns):
        if column["moved"]:
            entries.append({"group": name, **column})
    entries.sort(key=lambda entry: (not entry["fault"], -entry["effect"]))
    return entries


def _labels(examination: Examination) -> Summary | None:
    """Return what labels say of the estimates; None if no row has a label.

    ``used`` tells whether labels corrected any estimate.
    """
    labels = examination.labels
    if labels is None:
        return None
    verdicts = [check.labels.verdict for check in labels.groups.values()]
    return {
        **labels.to_dict(),
        "used": labels.decide and any(verdicts),
        "verdict": {
            "mark": _mark_of_labels(labels),
            "head": words.labels_head(labels),
        },
    }


def _mark_of_labels(labels: LabelChecks) -> str:
    """Choose the colour of what labels say: that of the gravest verdict."""
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if any(check.labels.contradict_scores for check in labels.groups.values()):
        return "bad"
    if not labels.refuted:
        return "good" if verdicts == {"confirmed"} else "open"
    if labels.decide:
        return "warn"
    for group in labels.refuted:
        check = labels.groups[group]
        if abs(check.labels.estimate - check.without_labels.value) > _TOLERATED:
            return "bad"
    return "warn"


def _compared(examination: Examination) -> Summary | None:
    """Compare observed rates with those expected, in groups with labels of all rows."""
    both = examination.expected_and_observed()
    if both is None:
        return None
    names = {}
    for group, label in group_labels(examination.adaptation.groups).items():
        names[label] = examination.names[group]
    rows = both.rename(index=names, level="group").reset_index()
    return {"rates": strict_json(rows.to_dict("records"))}


def _histograms(examination: Examination) -> list[Summary]:
    """Return the scores of each group, and the mixture that should explain them."""
    entries = []
    for group, evidence in examination.evidence.groups.items():
        model = examination.clf.model_of(group)
        # The best mixture is the quantifier's, even where drift held the estimate back.
        adapted = examination.adaptation.groups[group]
        share = adapted.quantifier_estimate.value
        batch = evidence.scores.shares_of_even_cells()
        positives = model.positives.shares_of_even_cells()
        negatives = model.negatives.shares_of_even_cells()
        # Under prior shift, P(s) = rho P(s | positive) + (1 - rho) P(s | negative).
        mixture = share * positives + (1 - share) * negatives
        entries.append(
            {
                "group": examination.names[group],
                "batch": batch.round(5).tolist(),
                "mixture": mixture.round(5).tolist(),
            }
        )
    return entries


def _observed(examination: Examination) -> Summary | None:
    """Return the audits of CAPE and of the model as trained, if there are labels."""
    observed = examination.observed
    # A file may have a label column in which every label is missing.
    if observed is None or not observed.cape:
        return None
    # The names of all groups, even if those with labels alone would have shorter ones.
    names = examination.names
    audits = {}
    for who in ("cape", "unadapted"):
        counts = getattr(observed, who)
        audit = audit_counts(counts, level=examination.level)
        audits[who] = audit_content(audit, counts, names)
    return audits


def _provenance(examination: Examination) -> Summary:
    """Return where the batch comes from: from files, or from the classifier alone."""
    if examination.provenance is None:
        return facts_of_classifier(examination.clf)
    return {"fingerprint": examination.clf.fingerprint_, **examination.provenance}


def picture(heading: str, title: str, chart: Any, frame: pd.DataFrame) -> Summary:
    """Return one picture as the template shows it, with the numbers behind it.

    Parameters
    ----------
    heading : str
        The text above the picture, such as the name of a group.
    title : str
        What the picture shows, for readers who cannot see it.
    chart : altair chart
        The drawing.
    frame : DataFrame
        The numbers behind the drawing.
    """
    svg, failure = _plot.svg_or_reason(lambda: chart, title, _CSS_COLOURS)
    if failure:
        # Whoever waits for a page does not look at every picture.
        warnings.warn(failure.replace("This", "A"), stacklevel=2)
    return {
        "heading": heading,
        "title": title,
        "svg": svg,
        "columns": list(frame.columns),
        "rows": list(frame.itertuples(index=False, name=None)),
    }


def batch_pictures(summary: Summary) -> list[Summary]:
    """Draw the scores of the largest groups.

    Parameters
    ----------
    summary : dict
        From `batch_summary`.

    Returns
    -------
    list of dict
    """
    rows = {group["group"]: group["rows"] for group in summary["groups"]}
    entries = sorted(summary["histograms"], key=lambda one: -rows[one["group"]])
    pictures = []
    for entry in entries[:MOST_HISTOGRAMS]:
        frame = frame_histogram(entry)
        name = entry["group"]
        title = f"Scores of {name} in the batch and the best mix of the classes"
        pictures.append(picture(name, title, _plot.scores(frame), frame))
    return pictures


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
    cells = np.arange(n_cells)
    return pd.DataFrame(
        {
            "from": cells / n_cells,
            "to": (cells + 1) / n_cells,
            "batch": entry["batch"],
            "mixture": entry["mixture"],
        }
    )


def gravity(row: Summary) -> int:
    """Return the place of a row in the order of what is to be done."""
    return list(_action.MARKS).index(row["action"]["code"])


def batch_context(summary: Summary, draw: bool) -> Summary:
    """Return the rows of the first screen, the pictures and the bounds of the rule."""
    rows = []
    shares = []
    labels = summary["labels"]
    columns = summary["made"].get("columns", {}).get("groups", [])
    names = [group["group"] for group in summary["groups"]]
    group_head, short = short_names(names, columns)
    for place, group in enumerate(summary["groups"]):
        check = None if labels is None else labels["groups"][place]
        rows.append({**group, "name": short[group["group"]], "check": check})
        shares += [group["high"], group["training_prevalence"]]
    if len(rows) > MOST_ROWS:
        rows.sort(key=gravity)
    context = {
        "rows": rows,
        "group_head": group_head,
        "end": _plot.share_domain(shares)[1],
        "pictures": batch_pictures(summary) if draw else [],
        "bounds": bounds_of(summary["rule"]),
    }
    if summary["observed"]:
        context.update(observed_context(summary))
    return context
