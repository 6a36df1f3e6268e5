"""Headings and sentences of the pages.

Functions take numbers and codes, mostly entries of the summary that a page shows, and
return text. Captions that are said once stand in the template, ``report/page``.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._wording._action import CONFIRMED, MARKS, action_words
from cape._wording._audit import GLOSSARY, RATE_NAMES
from cape._wording._numbers import (
    counted,
    first_of,
    joined,
    pairs_text,
    points,
    rows_text,
    shortened,
)
from cape._wording._results import RULE_NAMES, column_line, p_text, said_by_labels

if TYPE_CHECKING:
    from cape.examination import LabelChecks

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

# docs/design.md, decision 15: what stands side by side is corrected for the number of
# groups on both sides or on none.
EACH_BY_ITSELF = (
    "Each interval covers one group. The test for a change covers all groups together "
    "(Holm's method, 5% level)."
)

PICTURES = {
    "share axis": "share of positives",
    "effect axis": "share of rows that do not fit",
    "left out": "Only the {which} {most} of {n} {name}s are shown.",
    # What the marks of each picture mean, line by line.
    "training": "ring: in training",
    "now": "dot: {} and its interval",
    "compared": "diamond: {}",
    "audit": "dot: share predicted positive\ndiamond: share labeled positive",
    "rates": "dot: the rate and its interval",
    "columns": "dot: share that a column suggests, red if the column changed\n"
    "lines: estimate (solid), mean score (dotted), training (dashed)",
    "scores": "bars: scores of the batch\nline: best mix of the training classes",
    "frontier": "curve: the best choice for each bound, with its interval\n"
    "marks: rules",
    # What a picture shows, for readers who cannot see it.
    "scores title": "Scores of {} in the batch and the best mix of the training "
    "classes",
    "columns title": "Share of positives that each column suggests for {}",
    "over time title": "Share of positives in {} over {} batches",
    "demo title": "Predicted (dot) and true (tick) share of positives",
    "demo subtitle": "Half of each group was positive in training. The line from dot "
    "to tick is the prevalence difference.",
}
"""What is written on pictures."""

HEADINGS = {
    "batch": "Predictions",
    "audit": "Audit",
    "ll144": "Selection rates and impact ratios",
    "batches": "Predictions",
    "watch": "Watch",
}
"""Kinds of pages."""

COMMAND = "cape sample model.cape {file} --out to_label.csv"
CALL = "rows_to_label(clf, X, sensitive_features=groups)"
"""What draws the rows to label."""

TEXTS = {
    # Heads of columns, keys and captions
    "then": "training",
    "now": "now",
    "called": "predicted positive",
    "by labels": "by labels",
    "without labels": "without labels",
    "cannot tell": "can't tell",
    "shares caption": "Share of positives, with {level} intervals",
    "numbers": "The numbers",
    # Labels
    "checked": "The estimates were made without labels and are compared with them "
    "here.",
    "corrected": "Labels from a random sample correct the estimates, whatever else has "
    "changed.",
    "checked caption": "Share of positives, with intervals and a verdict for each "
    "group alone",
    "needed caption": "Labels needed for an interval this wide, counting those you "
    "have",
    # What else changed
    "assumption": "CAPE assumes that within each group only the share of positives has "
    "changed: positives still look like the positives in training, and negatives like "
    "the negatives. No test without labels catches everything. If people with the same "
    "data now have different outcomes, only labels will show it.",
    "not adapted": "“Hold off” means that too little is known about the group's share "
    "in this batch. Its predictions rest on how rows with these scores turned out in "
    "training.",
    "verdicts caption": "Tested at the 1% level across all groups and columns. "
    "Unexplained: rows whose scores fit no mix of positives and negatives.",
    "scores": "scores of this batch",
    "mixture": "best mix of positives and negatives",
    "more histograms": "Smaller groups ({n}) are in the JSON version of this report.",
    # Columns
    "columns caption": "Largest change first. Effect: share of rows that would have to "
    "change to fit. P-values are adjusted for all columns and groups.",
    "columns agree": "If only the share of positives has changed, every column "
    "suggests the same share, apart from noise. The farther the dots are from the "
    "solid line, the less the estimate can be trusted.",
    "column": "share that a column suggests, with its 95% interval",
    "column moved": "column that changed",
    "mean score": "mean score",
    "estimate": "estimate",
    # Rates
    "expected": "Estimated without labels, from rows the model was not trained on.",
    "expected with labels": "Estimated with the labels of this batch.",
    "expected caption": "Expected rates, with {level} intervals",
    "not known": "too little is known",
    "given up": "Groups with different shares of positives cannot be equal by every "
    "measure at once. For differences and PE, 0 means equal; for the ratio, 1 means "
    "equal.",
    "criteria caption": "Between the two groups farthest apart, with {level} intervals",
    "not compared": "Too little is known about {groups} to compare groups.",
    "rates": " ".join(f"{name}: {GLOSSARY[name]}" for name in ("FPR", "FNR", "PD")),
    "pe": f"PE: {GLOSSARY['PE']}",
    "between": "Largest difference between two groups, by each measure",
    # Several batches
    "over time": "estimate, with {level} interval",
    "cross": "other changes",
    "training caption": "Share of positives in training: {share}",
    "batches caption": "Batches to act on first",
}
"""What stands in the templates; sentences that depend on more are functions below."""

PARTS = {
    "labels": "What the labels say",
    "changes": "What else changed",
    "columns": "Changed columns",
    "expected": "What to expect",
    "criteria": "Expected differences between groups",
    "observed": "Observed error rates",
    "batches": "Every batch, group by group",
    "other groups": "Other groups over time",
    "questions": "What each alarm means",
    "looks": "Every look, group by group",
    "about": "About these tables",
    "glossary": "Glossary",
    "checks": "Checks that failed",
    "notes": "Notes",
    "made": "Provenance",
}
"""Headings of the parts of pages, by which they can be linked to."""

# A year of months.
_MOST_FILES = 12
_NO_BREAK = "\N{NO-BREAK SPACE}"
_NEAR = 0.1
"""A headline says it where labels and estimate are farther apart."""


def page_heading(kind: str, title: str) -> str:
    """Return the heading of a page; a batch without a name is not named twice."""
    heading = HEADINGS[kind]
    return heading if title == "Batch" else f"{heading}: {title}"


def lede(summary: Summary) -> str:
    """Say below the heading what the page is about, and what counts as positive."""
    kind = summary["kind"]
    rows = rows_text(summary["rows"])
    if kind == "ll144":
        return f"{rows}. The law sets no threshold; this is not legal advice."
    if kind == "audit":
        columns = summary["made"].get("columns", {})
        findings = summary["observed"]["cape"]["groups"]
        groups = counted(len({finding["group"] for finding in findings}), "group")
        text = f"{rows}, {groups}."
        if "positive" in columns:
            text += f" Positive means {columns['label']} = {columns['positive']}."
        return text
    text = f"{rows}. Positive means {summary['positive']}."
    if kind == "batches":
        groups = counted(len(summary["groups"]), "group")
        return (
            f"{counted(len(summary['batches']), 'batch', 'batches')}, {groups}, {text}"
        )
    if kind == "watch":
        return f"Look {summary['number']}, {text}"
    name = summary["rule"]["name"]
    return f"{text} Aim: {RULE_NAMES.get(name, name)}."


def positive_label(columns: Mapping[str, Any]) -> str:
    """Return which label is the positive one, in the words of the user's table."""
    return f"{columns['label']} = {columns['labels'][1]}"


def label_fact(columns: Mapping[str, Any]) -> str:
    """Say which label is positive and which is negative."""
    negative, positive = columns["labels"]
    return f"{columns['label']}: {positive} is positive and {negative} is negative"


def share(value: float | None) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> share(0.441), share(0.0123), share(None)
    ('44%', '1.2%', 'unknown')
    """
    return "unknown" if value is None else f"{points(value)}%"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval of shares in percent; equal ends are none.

    Examples
    --------
    >>> interval(0.4, 0.52), interval(0.4, 0.4)
    ('40–52%', '')
    """
    if low is None or high is None or low == high:
        return ""
    return f"{points(low)}\N{EN DASH}{points(high)}%"


def is_told(group: Summary, action: Summary, *, decided: bool = False) -> bool:
    """Tell whether to show the share of a group: labels tell it whatever tests say."""
    if decided or action["code"] == "use":
        return True
    return group["verdict"] not in ("fault", "cannot_tell")


def action_name(action: Summary) -> str:
    """Name the action of a group, as in "Label 97 rows"."""
    text = action_words(action["code"], action["labels"], action.get("reason", ""))
    return text[0].upper() + text[1:]


def how_to_label(summary: Summary, file: str) -> str:
    """Return the command or the call that draws the rows to label.

    Parameters
    ----------
    summary : mapping
        If it has an entry ``sample``, that is the command; empty, there is none.
    file : str
        Name of the batch.
    """
    if "files" not in summary["made"]:
        return CALL
    return summary.get("sample", COMMAND.format(file=shlex.quote(file)))


def audit_head(audit: Summary) -> str:
    """Say what differs most for sure.

    Examples
    --------
    >>> audit_head({"differences": []})
    'No difference beyond chance'
    """
    if not audit["differences"]:
        return "No difference beyond chance"
    return difference_text(audit["differences"][0], audit["groups"])


def difference_text(first: Summary, findings: Sequence[Summary]) -> str:
    """Say what differs, and by how much.

    Parameters
    ----------
    first : mapping
        The difference.
    findings : sequence of mappings
        Those of all groups.
    """
    range_of = interval(first["low"], first["high"]).removesuffix("%")
    if "other" in first:
        rate = RATE_NAMES[first["metric"].removesuffix("_difference")]
        return (
            f"{rate} is {points(first['value'])} points ({range_of}) higher for "
            f"{first['group']} than for {first['other']}"
        )
    shares = {}
    for finding in findings:
        if finding["group"] == first["group"]:
            shares[finding["metric"]] = finding["value"]
    called, true = shares["predicted_prevalence"], shares["prevalence"]
    more = "too high" if called > true else "too low"
    return (
        f"{first['group']}: {share(called)} predicted positive, {share(true)} labeled "
        f"positive ({range_of} points {more})"
    )


def more_differences(n: int) -> str:
    """Count the other differences that are more than chance."""
    return f"and {counted(n, 'more difference')} beyond chance"


def part_head(name: str, n: int | None = None) -> str:
    """Return the heading of a part, with the number of things in it."""
    return PARTS[name] if n is None else f"{PARTS[name]} ({n:,})"


def failed_check(failed: Summary) -> str:
    """Write one condition of ``--fail-if`` that was met, and where."""
    text = f"{failed['condition']}: {failed['where']}"
    if "<" in failed["condition"] or ">" in failed["condition"]:
        text += f", {failed['value']:.3f}"
    return text


def failed_checks(failed: Sequence[Summary]) -> str:
    """Name the conditions of ``--fail-if`` that were met, each once.

    Examples
    --------
    >>> failed_checks([{"condition": "fault"}, {"condition": "fault"}])
    'Failed: fault'
    """
    return f"Failed: {', '.join(dict.fromkeys(one['condition'] for one in failed))}"


def alike(actions: Sequence[Summary]) -> list[tuple[Summary, str]]:
    """Put groups together with which the same is to be done, and name or count them.

    Examples
    --------
    >>> groups = [{"group": name, "code": "label", "labels": 9} for name in "abc"]
    >>> alike(groups[:1])[0][1], alike(groups)[0][1]
    ('a', 'all groups')
    """
    together: dict[str, list[Summary]] = {}
    for action in actions:
        together.setdefault(action["code"], []).append(action)
    pairs = []
    for code in sorted(together, key=list(MARKS).index):
        same = together[code]
        whose = same[0]["group"] if len(same) == 1 else counted(len(same), "group")
        if len(same) == len(actions) > 1:
            whose = "all groups"
        labels = sum(action["labels"] for action in same)
        pairs.append(({"code": code, "labels": labels}, whose))
    return pairs


def batches_action(batches: Sequence[Summary]) -> str:
    """Say how many batches need action."""
    number = counted(len(batches), "batch", "batches")
    n = sum(batch["action"]["code"] != "use" for batch in batches)
    if not n:
        return f"Use the predictions for {number}"
    return f"{n} of {number} {'needs' if n == 1 else 'need'} action"


def made_rows(made: Summary) -> list[tuple[str, str]]:
    """Return the section "How it was made" as terms and texts.

    Parameters
    ----------
    made : mapping
        The entry ``made`` of a summary. What it does not know is left out.

    Returns
    -------
    list of (str, str)
    """
    # Without files nothing is said about files.
    files = [_file_text(file) for file in made.get("files", [])]
    rows = [("data", text) for text in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        rows.append(("data", f"and {shortened(files, _MOST_FILES, 'files')[-1]}"))
    if "training" in made:
        rows.append(("trained on", _file_text(made["training"])))
    rows += _columns_used(made.get("columns", {}))
    for term in ("classifier", "learner"):
        if term in made:
            rows.append((term, made[term]))
    if "settings" in made:
        rows.append(("parameters", pairs_text(made["settings"])))
    if "fingerprint" in made:
        rows.append(("fingerprint", made["fingerprint"]))
    rows.append(("versions", pairs_text(made["versions"])))
    date = made["date"].replace("T", " ").replace("+00:00", "")
    rows.append(("date", f"{date} UTC"))
    return rows


def _file_text(file: Summary) -> str:
    facts = [file["file"], f"SHA-256 {file['sha256']}"]
    if "rows" in file:
        facts.insert(1, rows_text(file["rows"]))
    return ", ".join(facts)


def _columns_used(columns: Summary) -> list[tuple[str, str]]:
    """Return which columns were used: those of a model, or those of an audit."""
    # An audit names its columns itself; a model also knows the two labels.
    if "labels" not in columns:
        return [(name, str(value)) for name, value in columns.items()]
    return [
        ("label", label_fact(columns)),
        ("groups", ", ".join(columns["groups"]) or "none"),
        ("features", ", ".join(columns["features"])),
    ]


def label_verdict(check: Summary) -> str:
    """Write the verdict of labels on a group in a few words."""
    verdict = check["label_verdict"]
    if verdict == "confirmed":
        return CONFIRMED
    said = {"not_contradicted": "no contradiction", "refuted": "contradicted"}
    p_value = check["label_p_value"]
    if verdict is not None:
        text = said[verdict]
    elif p_value is not None:
        text = "all of one class"
    else:
        text = "not a random sample"
        p_value = check["label_sample_p_value"]
    if p_value is None:
        return "too few labels"
    # A line must not end between "p" and its value.
    return f"{text}, {p_text(p_value).replace(' ', _NO_BREAK)}"


def labels_head(labels: LabelChecks) -> str:
    """Return the headline of what labels say of the estimates."""
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if labels.refuted:
        names = first_of([labels.names[group] for group in labels.refuted])
        verb = "corrected" if labels.decide else "contradict"
        return f"The labels {verb} the estimates for {names}"
    if verdicts <= {None}:
        return "Too few labels to judge the estimates"
    gaps = _gaps(labels)
    if verdicts == {"confirmed"}:
        off = math.ceil(100 * max(gaps.values())) / 100
        return f"Judged by the labels, the estimates are off by at most {off:.2f}"
    far = []
    for group in sorted(gaps, key=lambda group: -gaps[group]):
        if gaps[group] > _NEAR:
            # "Not contradicted" would hide what the labels say.
            check = labels.groups[group]
            said = share(said_by_labels(check, decide=labels.decide))
            estimate = share(check.without_labels.value)
            shares = f"{said} (not {estimate})"
            if labels.decide:
                shares = f"from {estimate} to {said}"
            far.append(f"{shares} for {labels.names[group]}")
    if not far:
        return "The labels do not contradict the estimates"
    verb = "moved the share" if labels.decide else "say"
    return f"The labels {verb} {joined(far)}"


def _gaps(labels: LabelChecks) -> dict[Any, float]:
    """Return how far labels and estimate of each group with a verdict lie apart."""
    gaps = {}
    for group, check in labels.groups.items():
        if check.labels.verdict is not None:
            said = said_by_labels(check, decide=labels.decide)
            gaps[group] = abs(said - check.without_labels.value)
    return gaps


def compared_text(rates: Sequence[Summary]) -> str:
    """Count the rates that are inside their intervals, and name the others."""
    known = [rate for rate in rates if rate["observed"] is not None]
    outside = []
    for rate in known:
        if not rate["inside"]:
            outside.append(f"{RATE_NAMES[rate['metric']]} of {rate['group']}")
    inside = f"{len(known) - len(outside)} of {len(known)}"
    text = f"Observed rates inside the intervals expected without labels: {inside}."
    return f"{text} Outside: {joined(outside, 'rates')}." if outside else text


COLUMNS_NOT_CHECKED = (
    "Columns were not checked: the model was trained on a sparse matrix or with "
    "drift='ignore'."
)


def columns_sentence(columns: Summary, shown: int) -> str:
    """Say what the table of columns leaves out, or why there is none."""
    if not columns["counted"]:
        return COLUMNS_NOT_CHECKED
    if not columns["moved"]:
        return "No column has clearly changed in any group (1% level)."
    sentences = []
    left_out = len(columns["moved"]) - shown
    if left_out > 0:
        sentences.append(f"The JSON version of this report lists {left_out} more.")
    if any(entry["fault"] for entry in columns["moved"]):
        sentences.append(
            "A broken column distorts the scores, so the other columns were tested "
            "without the scores."
        )
    return " ".join(sentences)


_NO_MOVE = ("cannot_tell", "too_little_known", "fault")
"""Verdicts under which nobody can say how far a share has moved."""


def moved_by(batch: Mapping[str, Any]) -> str:
    """Write how far a group has moved in a batch, where that can be told."""
    training = batch["training_prevalence"]
    if training is None or batch["verdict"] in _NO_MOVE:
        return "?"
    return f"{batch['estimate'] - training:+.3f}"


def worst_column(column: Any, n_moved: int) -> str:
    """Say what happened to the column that moved most, and count the others."""
    text = column_line(column.column, column.what_happened)
    more = n_moved - 1
    return f"{text} (and {more} more)" if more else text
