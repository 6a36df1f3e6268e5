"""Headings and sentences of the pages.

Functions take numbers and codes, mostly entries of the summary that a page shows, and
return text. Captions that are said once stand in the template, ``report/page``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._wording._action import action_head, action_words, reason_text
from cape._wording._audit import RATE_NAMES
from cape._wording._numbers import (
    counted,
    joined,
    level_text,
    p_value_text,
    points,
    rows_text,
    shortened,
)
from cape._wording._results import (
    are_of_one_class,
    column_line,
    said_by_labels,
)

if TYPE_CHECKING:
    from cape.examination import LabelChecks

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

# docs/design.md, decision 15: what stands side by side is corrected for the number of
# groups on both sides or on none.
EACH_BY_ITSELF = (
    "Each interval is for its group alone. Whether a group has moved is judged over "
    "all groups together (Holm's method, 5% level)."
)

PICTURES = {
    "share axis": "share of positives",
    "effect axis": "share of rows that do not fit",
    "left out": "The {which} {most} of {n} {name}s are drawn.",
    # What the marks of each picture mean, line by line.
    "training": "ring: in training",
    "now": "dot: {}, with its interval",
    "compared": "diamond: {}",
    "audit": "dot: share predicted positive\ndiamond: share positive by the labels",
    "rates": "dot: the rate, with its interval",
    "columns": (
        "dot: what a column suggests, red if it changed\n"
        "lines: estimate (solid), mean score (dotted), training (dashed)"
    ),
    "scores": "bars: the batch\nline: the best mixture of the training classes",
    "frontier": (
        "curve: the best choice for each bound, with its interval\nmarks: rules"
    ),
    # What a picture shows, for readers who cannot see it.
    "scores title": (
        "Scores of {} in the batch, and the best mixture of the training classes"
    ),
    "columns title": "Share of positives that each column of {} suggests",
    "over time title": "Share of positives of {} over {} batches",
    "demo title": "Predicted (dot) and true (tick) share of positives",
    "demo subtitle": (
        "Both groups had 0.5 in training. The line between dot and tick is the "
        "prevalence difference."
    ),
}
"""What is written on pictures."""

HEADINGS = {
    "batch": "Predictions",
    "audit": "Audit",
    "ll144": "Selection rates and impact ratios",
    "monitor": "Monitor",
    "watch": "Watch",
    "explorer": "Explorer",
}
"""Kinds of pages."""

MARKS = {"do_not_use": "bad", "label": "warn", "not_adapted": "open", "use": "good"}
"""Actions, the gravest first, and the colour of each."""

_ASKED = {
    "prevalence": "each group's true share of positives",
    "proportional_equality": "shares in proportion to the true shares",
    "demographic_parity": "the same share of positives in every group",
    "equal_opportunity": "the same true positive rate in every group",
    "predictive_equality": "the same false positive rate in every group",
    "equalized_odds": "the same true and false positive rates in every group",
    "accuracy": "as few errors as possible",
    "constrained": "as few errors as possible within bounds",
    "unchanged": "the decisions as they are",
}
"""What each rule aims at."""

COMMAND = "cape sample model.cape {file} --out to_label.csv"
CALL = "rows_to_label(clf, X, sensitive_features=groups)"
THEN = {
    COMMAND: "Fill in the labels, then predict with --checked to_label.csv.",
    CALL: "Then pass their labels to examine().",
}
"""What draws the rows to label, and what to do with their labels."""

TEXTS = {
    # Heads of columns, keys and captions
    "then": "in training",
    "now": "now",
    "called": "predicted positive",
    "do": "what to do",
    "by labels": "by the labels",
    "without labels": "without labels",
    "cannot tell": "can't tell",
    "to label": "To label:",
    "shares caption": "Share of positives, with {level} intervals",
    "numbers": "The numbers",
    # Labels
    "checked": (
        "The estimates were made without the labels, and are compared with them here."
    ),
    "corrected": (
        "Labels of a random sample correct an estimate whatever else has changed."
    ),
    "checked caption": (
        "Share of positives, with intervals; each verdict is for its group alone"
    ),
    "needed caption": (
        "Labels needed for an interval of this width, including those you have"
    ),
    # What else changed
    "assumption": (
        "CAPE assumes that within a group only the share of positives has changed: "
        "positives and negatives each look as they did in training. No test without "
        "labels sees everything. If people who look alike now have different outcomes, "
        "only labels show it."
    ),
    "verdicts caption": (
        "Tests at the 1% level over all groups and columns. Unexplained: rows whose "
        "scores no mix of positives and negatives explains"
    ),
    "scores": "scores of this batch",
    "mixture": "the best mix of positives and negatives",
    "more histograms": "The {n} smaller groups are in the JSON of this report.",
    # Columns
    "columns caption": (
        "The largest change first. Effect: share of rows that would have to change. "
        "P-values are adjusted for all columns and groups"
    ),
    "columns agree": (
        "If only the share of positives has changed, every column suggests the same "
        "share, apart from noise. The farther the dots lie from the solid line, the "
        "less the estimate can be trusted."
    ),
    "column": "share that a column suggests, with its 95% interval",
    "column moved": "a column that changed",
    "mean score": "mean score",
    "estimate": "estimate",
    # Rates
    "expected": "Estimated without labels, from rows the model was not trained on.",
    "expected with labels": "Estimated with the labels of this batch.",
    "expected caption": "Error rates of these predictions, with {level} intervals",
    "not known": "too little is known",
    "given up": (
        "Groups with different shares of positives cannot be equal by every measure at "
        "once. 0 means equal for differences and PE, 1 for the ratio."
    ),
    "criteria caption": (
        "Between the two groups farthest apart, with {level} intervals"
    ),
    "rules caption": "Expected share of right predictions, with {level} intervals",
    "this aim": "this aim",
    "not compared": "Too little is known about {groups} to compare groups.",
    "rates": (
        "FPR: share of negatives that are predicted positive. FNR: share of positives "
        "that are predicted negative. PD: distance between the predicted and the true "
        "share of positives."
    ),
    "pe": (
        "PE: distance between the ratio of two groups' predicted shares and the ratio "
        "of their true shares."
    ),
    "between": "The largest difference between two groups, by each measure",
    # Monitor
    "over time": "estimate, with its {level} interval",
    "cross": "more than the share changed",
    "training caption": "Share of positives in training: {share}",
    "batches caption": "Batches to act on come first; use the groups not named",
    # Explorer
    "explorer": (
        "Move a slider to any share of positives. The rates follow, for CAPE and for "
        "the model as trained, with the cutoff that predicts as many positives as "
        "training had. They hold if the share is known and nothing else changes."
    ),
    "no script": "The sliders need JavaScript.",
    "not adapted": (
        "Not adapted: the share rests on how rows with these scores turned out in "
        "training. Before you rely on it, label rows or collect more."
    ),
}
"""What stands in the templates; sentences that depend on more are functions below."""

PARTS = {
    "labels": "What the labels say",
    "changes": "What else changed",
    "columns": "Changed columns",
    "expected": "Expected error rates",
    "criteria": "Expected differences between groups",
    "rules": "Accuracy under other aims",
    "observed": "Observed error rates",
    "words": "In plain words",
    "batches": "Every batch, group by group",
    "other groups": "Share of positives over time, other groups",
    "questions": "What was asked",
    "looks": "Every look, group by group",
    "explorer": "Move the shares of positives",
    "glossary": "What the words mean",
    "checks": "Checks that failed",
    "notes": "Notes",
    "made": "Provenance",
}
"""Headings of the parts of pages, by which they can be linked to."""

OF_BATCHES = {
    "fault": "Columns are broken",
    "drifted": "More than the shares changed, and the model was not adapted,",
    "ignored": "More than the shares changed, and drift was ignored,",
    "cannot_tell": "We can't tell the share of a group",
    "too_little_known": "The scores say too little about a group",
    "some_drift": "Other changes made intervals wider",
    "not_tested": "Nothing could be tested",
    "consistent": "Nothing but the shares seems to have changed",
}
"""Verdicts on batches, the gravest first."""

# A year of months.
_MOST_FILES = 12
_NEAR = 0.1
"""A headline says it where labels and estimate are farther apart."""


def page_heading(kind: str, title: str) -> str:
    """Return the heading of a page; a batch without a name is not named twice."""
    heading = HEADINGS[kind]
    return heading if title == "Batch" else f"{heading}: {title}"


def lede(summary: Summary) -> str:
    """Say below the heading what the page is about, and what counts as positive."""
    kind = summary["kind"]
    if kind == "explorer":
        made = summary["made"]
        model = f"a {made.get('classifier', 'model')}"
        if "training" in made:
            model = f"a model trained on {made['training']['file']}"
        return f"What {model} would do if the shares of positives were different."
    rows = rows_text(summary["rows"])
    if kind == "ll144":
        return f"{rows}, compared by the decisions made."
    if kind == "audit":
        columns = summary["made"].get("columns", {})
        findings = summary["observed"]["cape"]["groups"]
        groups = counted(len({finding["group"] for finding in findings}), "group")
        text = f"{rows} in {groups}, judged by their labels."
        if "positive" in columns:
            text += f" Positive means {columns['label']} = {columns['positive']}."
        return text
    text = f"{rows}. Positive means {summary['positive']}."
    if kind == "monitor":
        groups = counted(len(summary["groups"]), "group")
        return (
            f"{counted(len(summary['batches']), 'batch', 'batches')}, {groups}, {text}"
        )
    if kind == "watch":
        return f"Look {summary['number']}, {text}"
    name = summary["rule"]["name"]
    return f"{text} Aim: {_ASKED.get(name, name)}."


def positive_label(columns: Mapping[str, Any]) -> str:
    """Return which label is the positive one, in the words of the user's table."""
    return f"{columns['label']} = {columns['labels'][1]}"


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


def level(value: float) -> str:
    """Write a confidence level, as in "95%"."""
    return level_text(value).replace(" ", "")


def action_name(action: Summary) -> str:
    """Name the action of a group, as in "Label 97 rows"."""
    text = action_words(action["code"], action["labels"])
    return text[0].upper() + text[1:]


def action_reason(action: Summary) -> str:
    """Say why a group has its action."""
    return reason_text(action["code"], action["reason"], action["columns"])


def batch_head(action: Summary) -> str:
    """Say what to do with the predictions of a batch, and for how many groups.

    Examples
    --------
    >>> groups = [{"group": "a", "code": "use"}, {"group": "b", "code": "label"}]
    >>> batch_head({"code": "label", "labels": 97, "groups": groups})
    'Use the predictions for 1 of 2 groups'
    """
    n_groups = len(action["groups"])
    n_used = sum(entry["code"] == "use" for entry in action["groups"])
    if 0 < n_used < n_groups:
        return f"Use the predictions for {n_used} of {n_groups} groups"
    return action_head(action)


def how_to_label(summary: Summary, file: str) -> tuple[str, str]:
    """Return the command or the call that draws the rows to label, and what is next.

    Parameters
    ----------
    summary : mapping
        If it has an entry ``sample``, that is the command; empty, there is none.
    file : str
        Name of the batch.
    """
    if "files" not in summary["made"]:
        return CALL, THEN[CALL]
    command = COMMAND.format(file=shlex.quote(file))
    return summary.get("sample", command), THEN[COMMAND]


def audit_head(audit: Summary) -> str:
    """Say what differs most for sure.

    Examples
    --------
    >>> audit_head({"differences": []})
    'No difference beyond chance'
    """
    if not audit["differences"]:
        return "No difference beyond chance"
    first = audit["differences"][0]
    if "other" in first:
        rate = RATE_NAMES[first["metric"].removesuffix("_difference")]
        range_of = interval(first["low"], first["high"]).removesuffix("%")
        return (
            f"{rate} is {points(first['value'])} points ({range_of}) higher for "
            f"{first['group']} than for {first['other']}"
        )
    shares = {}
    for finding in audit["groups"]:
        if finding["group"] == first["group"]:
            shares[finding["metric"]] = share(finding["value"])
    return (
        f"{first['group']}: {shares['predicted_prevalence']} predicted positive, "
        f"{shares['prevalence']} by the labels"
    )


def more_differences(n: int) -> str:
    """Count the other differences that are more than chance."""
    return f"and {counted(n, 'more difference')} beyond chance"


def part_head(name: str, n: int | None = None) -> str:
    """Return the heading of a part, with the number of things in it."""
    return PARTS[name] if n is None else f"{PARTS[name]} ({n:,})"


def more(rows: Sequence[Summary], one: str = "group", many: str = "") -> str:
    """Count the rows that are folded away, by what to do with them.

    Examples
    --------
    >>> more([{"action": {"code": "use"}}, {"action": {"code": "use"}}])
    '2 more groups: 2 use'
    """
    counts = []
    for code in MARKS:
        n = sum(row.get("action", {}).get("code") == code for row in rows)
        if n:
            counts.append(f"{n} {code.replace('_', ' ')}")
    text = counted(len(rows), f"more {one}", many and f"more {many}")
    return f"{text}: {', '.join(counts)}" if counts else text


def failed_check(failed: Summary) -> str:
    """Write one condition of ``--fail-if`` that was met, and where."""
    text = f"{failed['condition']}: {failed['where']}"
    if "<" in failed["condition"] or ">" in failed["condition"]:
        text += f", {failed['value']:.3f}"
    return text


def failed_checks(failed: Sequence[Summary]) -> str:
    """Count the checks that failed, and name the first of them.

    Examples
    --------
    >>> failed_checks([{"condition": "fault", "where": "a"}] * 3)
    '3 checks failed: fault: a; fault: a; ...'
    """
    first = [failed_check(one) for one in failed[:2]]
    if len(failed) > len(first):
        first.append("...")
    return f"{counted(len(failed), 'check')} failed: {'; '.join(first)}"


def alike(actions: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Put groups together with which the same is to be done for the same reason.

    Groups to use are left out where there are others.

    Examples
    --------
    >>> fine = {"code": "use", "reason": "consistent", "labels": 0, "columns": []}
    >>> [names for names, _ in alike([{"group": "a", **fine}, {"group": "b", **fine}])]
    ['all groups']
    """
    together: dict[tuple[str, ...], tuple[list[str], Summary]] = {}
    to_act_on = [action for action in actions if action["code"] != "use"]
    for action in to_act_on or actions:
        key = (action["code"], action_reason(action))
        names, joint = together.setdefault(key, ([], {**action, "labels": 0}))
        names.append(action["group"])
        joint["labels"] += action["labels"]
    n_named = sum(len(names) for names, _ in together.values())
    if len(together) == 1 and n_named == len(actions) > 1:
        return [("all groups", joint) for _, joint in together.values()]
    return [(joined(names), joint) for names, joint in together.values()]


def monitor_action(batches: Sequence[Summary]) -> str:
    """Say how many batches need action."""
    number = counted(len(batches), "batch", "batches")
    n = sum(batch["action"]["code"] != "use" for batch in batches)
    if not n:
        return f"Use the predictions of {number}"
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
    files = []
    for file in made.get("files", []):
        facts = [file["file"]]
        if "rows" in file:
            facts.append(rows_text(file["rows"]))
        files.append(", ".join([*facts, f"SHA-256 {file['sha256']}"]))
    rows = [("data", text) for text in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        rows.append(("data", f"and {shortened(files, _MOST_FILES, 'files')[-1]}"))
    if "training" in made:
        training = made["training"]
        size = rows_text(training["rows"])
        text = f"{training['file']}, {size}, SHA-256 {training['sha256']}"
        rows.append(("trained on", text))
    rows += _columns_used(made.get("columns", {}))
    for term in ("classifier", "learner"):
        if term in made:
            rows.append((term, made[term]))
    if "settings" in made:
        settings = [f"{name} {value}" for name, value in made["settings"].items()]
        rows.append(("parameters", "; ".join(settings)))
    if "fingerprint" in made:
        rows.append(("fingerprint", made["fingerprint"]))
    versions = [f"{name} {version}" for name, version in made["versions"].items()]
    rows.append(("versions", ", ".join(versions)))
    date = made["date"].replace("T", " ").replace("+00:00", "")
    rows.append(("date", f"{date} UTC"))
    return rows


def _columns_used(columns: Summary) -> list[tuple[str, str]]:
    """Return which columns were used: those of a model, or those of an audit."""
    # An audit names its columns itself; a model also knows the two labels.
    if "labels" not in columns:
        return [(name, str(value)) for name, value in columns.items()]
    negative, positive = columns["labels"]
    label = f"{columns['label']}: {positive} is positive, {negative} negative"
    return [
        ("label", label),
        ("groups", ", ".join(columns["groups"]) or "none"),
        ("features", ", ".join(columns["features"])),
    ]


def label_verdict(check: Summary) -> str:
    """Write the verdict of labels on a group in a few words."""
    verdict = check["label_verdict"]
    if verdict == "confirmed":
        return "agrees to within 0.1"
    if verdict is not None:
        said = {"not_contradicted": "no contradiction", "refuted": "contradicted"}
        return f"{said[verdict]}, {_unbroken_p(check['label_p_value'])}"
    if check["label_p_value"] is not None:
        return f"all of one class, {_unbroken_p(check['label_p_value'])}"
    if check["label_sample_p_value"] is not None:
        return f"not a random sample, {_unbroken_p(check['label_sample_p_value'])}"
    return "too few labels"


def _unbroken_p(value: float) -> str:
    # A line must not end between "p" and its value.
    text = p_value_text(value)
    equals = "" if text.startswith("below") else "= "
    return f"p {equals}{text}".replace(" ", "\u00a0")


def labels_head(labels: LabelChecks) -> str:
    """Return the headline of what labels say of the estimates."""
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if labels.refuted:
        names = joined([labels.names[group] for group in labels.refuted])
        verb = "corrected" if labels.decide else "contradict"
        return f"The labels {verb} the estimates for {names}"
    if verdicts == {None}:
        return "The labels can't tell whether the estimates are right"
    if verdicts == {"confirmed"}:
        return "The labels agree with the estimates to within 0.1"
    apart = _far_apart(labels)
    if apart:
        # "Not contradicted" would hide what the labels say.
        check = labels.groups[apart[0]]
        said = share(said_by_labels(check, decide=labels.decide))
        return (
            f"The labels say {said} for {labels.names[apart[0]]}; without them the "
            f"estimate is {share(check.without_labels.value)}"
        )
    return "The labels do not contradict the estimates"


def _far_apart(labels: LabelChecks) -> list[Any]:
    """List groups whose labels and estimate differ by more than 0.1, farthest first."""
    gaps = {}
    for group, check in labels.groups.items():
        if check.labels.verdict is not None:
            said = said_by_labels(check, decide=labels.decide)
            gaps[group] = abs(said - check.without_labels.value)
    farthest_first = sorted(gaps, key=lambda group: -gaps[group])
    return [group for group in farthest_first if gaps[group] > _NEAR]


_OF_LABELS = {
    "confirmed": "The labels agree with the estimates for {names} to within 0.1.",
    "not_contradicted": (
        "For {names} they do not contradict the estimate, but are too few to confirm "
        "it to within 0.1."
    ),
    # Of twenty good estimates, one is refuted by chance.
    "by_chance": (
        "Taken alone, {names} would be contradicted; among {n} groups that can be "
        "chance."
    ),
    "no_sample": (
        "The labelled rows of {names} are not a random sample of the batch, so their "
        "labels were not used. Early outcomes look like this."
    ),
    "one_class": (
        "All labels of {names} are the same, which the estimate makes very unlikely, "
        "so they were not used. Were rows with the other label left empty? If not, "
        "label more rows until both labels occur."
    ),
    "few": "Fewer than 10 rows of {names} have a label.",
    "no_label": "No row of {names} has a label.",
}


def labels_text(labels: LabelChecks) -> str:
    """Say in a few sentences what labels say of the estimates."""
    sentences = []
    if labels.refuted and not labels.decide:
        sentences.append("The predictions rest on estimates made without the labels.")
    names: dict[str, list[str]] = {}
    for group, name in labels.names.items():
        names.setdefault(_label_code(labels, group), []).append(name)
    for code, sentence in _OF_LABELS.items():
        # If all agree, the headline says so.
        if code in names and names[code] != [*labels.names.values()]:
            listed = joined(names[code])
            sentences.append(sentence.format(names=listed, n=len(labels.groups)))
    return " ".join(sentences)


def _label_code(labels: LabelChecks, group: Any) -> str:
    """Return the verdict of labels on a group, or why there is none."""
    found = labels.groups[group].labels
    if found.verdict == "refuted" and group not in labels.refuted:
        return "by_chance"
    if found.verdict is not None:
        return found.verdict
    if found.rows == 0:
        return "no_label"
    if are_of_one_class(labels.groups[group]):
        return "one_class"
    # NaN, where nothing was tested, is the only number that differs from itself.
    return "no_sample" if found.sample_p_value == found.sample_p_value else "few"


def compared_text(rates: Sequence[Summary]) -> str:
    """Count the rates that are inside their intervals, and name the others."""
    known = [rate for rate in rates if rate["observed"] is not None]
    outside = []
    for rate in known:
        if not rate["inside"]:
            outside.append(f"{RATE_NAMES[rate['metric']]} of {rate['group']}")
    inside = len(known) - len(outside)
    text = f"{inside} of {counted(len(known), 'observed rate')} lie in the interval "
    text += "expected before the labels were known"
    if not outside:
        return f"{text}."
    return f"{text}; outside: {joined(outside, 'rates')}."


def columns_sentence(columns: Summary, shown: int) -> str:
    """Say what the table of columns leaves out, or why there is none."""
    if not columns["counted"]:
        return (
            "Columns were not checked: the model was trained on a sparse matrix or "
            "with drift='ignore'."
        )
    if not columns["moved"]:
        return "No column has clearly changed in any group (1% level)."
    sentences = []
    left_out = len(columns["moved"]) - shown
    if left_out > 0:
        are = "is" if left_out == 1 else "are"
        sentences.append(f"{left_out} more {are} in the JSON of this report.")
    if any(entry["fault"] for entry in columns["moved"]):
        sentences.append(
            "A broken column spoils the scores, so the other columns are judged "
            "without them."
        )
    return " ".join(sentences)


def monitor_head(moved: Iterable[str]) -> str:
    """Name the groups that have moved."""
    names = sorted(moved)
    if not names:
        return "No group has clearly moved."
    return f"{joined(names)} moved in at least one batch."


def monitor_text(words: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    """Return a sentence for each kind of verdict, the gravest first.

    Parameters
    ----------
    words : sequence of (batch, verdicts)
        The verdict of each group. A batch counts under each of them.
    """
    number = counted(len(words), "batch", "batches")
    sentences = []
    for word, sentence in OF_BATCHES.items():
        names = []
        groups: dict[str, int] = {}
        for name, of_groups in words:
            concerned = [group for group, found in of_groups.items() if found == word]
            # Batches without remark are those that are so in every group.
            if word == "consistent" and len(concerned) < len(of_groups):
                continue
            if concerned:
                names.append(name)
            for group in concerned:
                groups[group] = groups.get(group, 0) + 1
        if not names:
            continue
        where = f"{len(names)} of {number}"
        if word == "cannot_tell":
            counts = [f"{group} in {n}" for group, n in groups.items()]
            where += f" ({joined(counts, 'groups')})"
        if word != "consistent":
            # Batches without remark are counted only.
            where += f": {joined(names, 'batches')}"
        sentences.append(f"{sentence} in {where}.")
    return " ".join(sentences)


def moved_by(batch: Mapping[str, Any]) -> str:
    """Write how far a group has moved in a batch, where that can be told."""
    if batch["verdict"] in ("cannot_tell", "too_little_known", "fault"):
        return "?"
    return f"{batch['estimate'] - batch['training_prevalence']:+.3f}"


def worst_column(column: Summary, n_moved: int) -> str:
    """Say what happened to the column that moved most, and count the others."""
    text = column_line(column["column"], column["what_happened"])
    more = n_moved - 1
    return f"{text} (and {more} more)" if more else text
