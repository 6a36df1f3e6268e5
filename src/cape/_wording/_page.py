"""Headings and sentences of the pages.

Functions take numbers and codes, mostly entries of the summary that a page shows, and
return text. Captions that are said once stand in the template, ``report/page``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._wording._audit import RATE_NAMES
from cape._wording._numbers import (
    counted,
    joined,
    p_value_text,
    rows_text,
    share_text,
    shortened,
)
from cape._wording._results import (
    are_of_one_class,
    column_line,
    describe_labels,
    said_by_labels,
)

if TYPE_CHECKING:
    from cape._adaptation import GroupAdaptation
    from cape.examination import LabelChecks
    from cape.examination._shift import GroupVerdict

Summary = dict[str, Any]
"""All that a page says, as JSON can hold it; also a part of it."""

# docs/design.md, decision 15: what stands side by side is corrected for the number of
# groups on both sides or on none.
EACH_BY_ITSELF = (
    "An interval, and a p-value beside it, is that of a group by itself. Whether a "
    "group has moved is judged over all groups together, by Holm's method at the 5 % "
    "level."
)

PICTURES = {
    "share axis": "share of positives",
    "effect axis": "share of rows that do not fit",
    "batches": "batches of {} rows",
    "left out": "The {which} {most} of {n} {name}s are drawn.",
    # What the marks of each picture mean, line by line.
    "training": "ring: in training",
    "now": "dot: {}, with its interval",
    "compared": "diamond: {}",
    "audit": "dot: share called positive\ndiamond: share positive by the labels",
    "rates": "dot: the rate, with its interval",
    "columns": (
        "dot: what a column speaks for, red if it moved\n"
        "lines: estimate (solid), mean score (dotted), training (dashed)"
    ),
    "scores": "bars: the batch\nline: the best mixture of the training classes",
    "frontier": (
        "curve: the best choice for each bound, with its interval\nmarks: rules"
    ),
    "recommendation": (
        "mark: mean over batches; bar: two standard errors; left is fairer"
    ),
    # What a picture shows, for readers who cannot see it.
    "moved title": "Share of positives in training and now, by group",
    "audit title": "Share called positive and share positive by the labels, by group",
    "scores title": (
        "Scores of {} in the batch, and the best mixture of the training classes"
    ),
    "columns title": "Share of positives that each column of {} speaks for",
    "rates title": "{} by group",
    "frontier title": "Best expected accuracy for each {}",
    "over time title": "Share of positives of {} over {} batches",
    "demo title": "Predicted (dot) and true (tick) share of positives",
    "demo subtitle": (
        "Both groups had 0.5 in training. The line between dot and tick is the "
        "prevalence difference."
    ),
    "chosen": "what CAPE chose for this batch",
}
"""What is written on pictures."""

HEADINGS = {
    "batch": "Batch report",
    "audit": "Audit",
    "ll144": "Selection rates and impact ratios",
    "monitor": "Monitor",
    "explorer": "Explorer",
}
"""Kinds of pages."""

VERDICT_HEADS = {
    "fault": "Columns are not what they were in training",
    "drifted": "More moved than the prevalences",
    "ignored": "More moved than the prevalences, and it was ignored",
    "cannot_tell": "Cannot tell",
    "too_little_known": "Too little is known",
    "some_drift": "Some drift",
    "not_tested": "Not tested",
    "consistent": "Consistent with a prior shift",
}

_VERDICT_TEXTS = {
    "fault": (
        "Nothing can be said of the prevalences of {groups} until this is mended."
    ),
    "drifted": (
        "The estimates of {groups} rest on what rows with these scores had in "
        "training, more than on what the scores say. Check the columns that moved."
    ),
    "ignored": (
        "The estimates of {groups} are right only if nothing but the share of "
        "positives moved, and more did. Check the columns that moved."
    ),
    "cannot_tell": (
        "The intervals of {groups} are too wide to tell the prevalence; the reasons "
        "are below."
    ),
    "too_little_known": (
        "The scores of {groups} say too little to decide by them: the estimates rest "
        "on what rows with these scores had in training."
    ),
    "some_drift": (
        "More moved than the share of positives in {groups}, and the intervals count "
        "it."
    ),
    "not_tested": "Nothing could be tested in {groups}.",
    "consistent": (
        "At the 1 % level nothing speaks against a prior shift in {groups}: scores and "
        "columns look like a mixture of the two classes as they were in training."
    ),
}

_TEXTS_WITH_LABELS = {
    "fault": "Without labels, nothing could be said of the prevalences of {groups}.",
    "drifted": (
        "Without labels, the estimates of {groups} would rest on what rows with these "
        "scores had in training. Check the columns that moved."
    ),
    "ignored": (
        "Without labels, the estimates of {groups} would be right only if nothing but "
        "the share of positives moved, and more did. Check the columns that moved."
    ),
    "cannot_tell": (
        "Without labels, the prevalence of {groups} could not be told; the reasons are "
        "below."
    ),
    "too_little_known": (
        "Without labels, the estimates of {groups} would rest on what rows with these "
        "scores had in training."
    ),
    "some_drift": (
        "Without labels, the intervals of {groups} would be wider because more moved "
        "than the share of positives."
    ),
}
"""What is said instead where labels corrected the estimates."""

SEEN_BY_LABELS_ALONE = (
    " But the labels refute what follows from it: outcomes moved in a way that no test "
    "without labels sees."
)

_OF_BATCHES = {
    "fault": "Columns are not what they were in training",
    "drifted": "More moved than the prevalences, and estimates were held back,",
    "ignored": "More moved than the prevalences, and it was ignored,",
    "cannot_tell": "The prevalence of a group cannot be told",
    "too_little_known": "Too little is known of a group to decide by its scores",
    "some_drift": "Some drift made intervals wider",
    "not_tested": "Nothing could be tested",
    "consistent": "Consistent with a prior shift",
}

# Below it, two decimals hide what a share is: 0.004 would be 0.00.
_SMALL_SHARE = 0.1

# Verdicts for whose groups the interval already says what is known, or all is well.
_AS_EXPECTED = ("consistent", "some_drift")

# A year of months.
_MOST_FILES = 12
_MOST_GROUPS = 6
_NEAR = 0.1
"""A headline says it where labels and estimate are farther apart."""


def page_heading(kind: str, title: str) -> str:
    """Return the heading of a page; a batch without a name is not named twice."""
    heading = HEADINGS[kind]
    return heading if title == "Batch" else f"{heading}: {title}"


def lede(summary: Summary) -> str:
    """Return the sentence below the heading of a page, from its summary."""
    kind = summary["kind"]
    model = _model_words(summary["made"])
    if kind == "explorer":
        return f"What {model} would do if the shares of positives were different."
    rows = rows_text(summary["rows"])
    if kind == "ll144":
        return f"{rows}, compared by what was decided."
    if kind == "audit":
        findings = summary["observed"]["cape"]["groups"]
        groups = counted(len({finding["group"] for finding in findings}), "group")
        return f"{rows} in {groups}, judged by their labels."
    groups = counted(len(summary["groups"]), "group")
    if kind == "monitor":
        batches = counted(len(summary["batches"]), "batch", "batches")
        return f"{batches}, {rows}, {groups}; {model}."
    return f"{rows} in {groups}, predicted by {model}."


def _model_words(made: Summary) -> str:
    """Return what is known about the model, in words."""
    if "training" in made:
        return f"a model trained on {made['training']['file']}"
    return f"a {made.get('classifier', 'model')}"


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


def verdict_word(word: str) -> str:
    """Write the code of a verdict as a person would, "some_drift" as "some drift"."""
    return word.replace("_", " ")


def verdict_head(word: str, *, clear: bool, with_labels: bool) -> str:
    """Return the headline of a verdict on a batch."""
    head = VERDICT_HEADS[word]
    if word == "consistent" and not clear:
        head += ", with reservations"
    if word == "cannot_tell" and with_labels:
        head += " without labels"
    return head


def verdict_text(
    verdicts: Mapping[str, GroupVerdict], with_labels: Iterable[str]
) -> str:
    """Return a sentence for each kind of verdict on groups, the gravest first.

    Parameters
    ----------
    verdicts : mapping from name to GroupVerdict
    with_labels : iterable of str
        Groups whose estimates were corrected by labels: another sentence is said.
    """
    if not verdicts:
        return "There are no rows."
    sentences = []
    for word, sentence in _VERDICT_TEXTS.items():
        of_labels = _TEXTS_WITH_LABELS.get(word, sentence)
        names = []
        corrected = []
        for name, found in verdicts.items():
            if found.word != word:
                continue
            if name in with_labels and of_labels != sentence:
                corrected.append(name)
            else:
                names.append(name)
        if names:
            sentences.append(sentence.format(groups=joined(names)))
        if corrected:
            sentences.append(of_labels.format(groups=joined(corrected)))
    doubtful = []
    for name, found in verdicts.items():
        if found.word == "consistent" and not found.clear:
            doubtful.append(name)
    if doubtful:
        sentences.append(f"There are reservations about {joined(doubtful)}, see below.")
    return " ".join(sentences)


def moved_text(adapted: GroupAdaptation, moved: Any, alpha: float) -> str:
    """Say whether one group has clearly moved, from its test at level ``alpha``."""
    if adapted.move_cannot_be_told:
        return "whether it has moved cannot be told"
    if not moved.moved and moved.p_adjusted < alpha:
        return "no clear sign that it has moved: what else moved may look like it"
    p_value = _p_value(moved.p_value)
    if moved.moved:
        return f"it has moved (p {p_value})"
    return f"no clear sign that it has moved (p {p_value})"


def _p_value(value: float) -> str:
    text = p_value_text(value)
    return text if text.startswith("below") else f"= {text}"


def prevalence_sentence(name: str, adapted: GroupAdaptation) -> str:
    """Say how far one group has moved."""
    value, low, high = adapted.estimate
    digits = _digits(adapted.training_prevalence, value)
    before = share_text(adapted.training_prevalence, digits)
    training = f"{name}: prevalence was {before} in training"
    interval = f"{low:.{digits}f} to {high:.{digits}f}"
    if adapted.cannot_be_told:
        return f"{training}; what it is now cannot be told ({interval})"
    return f"{training}, is now {value:.{digits}f} ({interval})"


def _digits(*shares: float) -> int:
    """Return how many decimals tell shares apart: small shares need one more."""
    return 3 if min(shares) < _SMALL_SHARE else 2


def label_text(adapted: GroupAdaptation, *, decide: bool) -> str:
    """Say what the labels of a group say of its label-free estimate."""
    said = describe_labels(adapted, decide=decide)
    if adapted.labels.verdict is None:
        return said
    digits = _digits(adapted.without_labels.value, adapted.labels.estimate)
    if decide:
        value, low, high = adapted.without_labels
        interval = f"({low:.{digits}f} to {high:.{digits}f})"
        return f"{said}; without them it would be {value:.{digits}f} {interval}"
    if adapted.fully_labelled:
        return said
    _, low, high = adapted.estimate
    return f"{said}; their interval is {low:.{digits}f} to {high:.{digits}f}"


def label_verdict(check: Summary) -> str:
    """Write the verdict of labels on a group in a few words."""
    verdict = check["label_verdict"]
    if verdict == "confirmed":
        return "confirmed to within 0.1"
    if verdict is not None:
        return f"{verdict_word(verdict)}, {_unbroken_p(check['label_p_value'])}"
    if check["label_p_value"] is not None:
        return f"all of one class, {_unbroken_p(check['label_p_value'])}"
    if check["label_sample_p_value"] is not None:
        return f"no random sample, {_unbroken_p(check['label_sample_p_value'])}"
    return "too few labels"


def _unbroken_p(value: float) -> str:
    # A line must not end between "p" and its value.
    return f"p {_p_value(value)}".replace(" ", "\u00a0")


def width_headings(widths: Iterable[float]) -> list[str]:
    """Return the heads of columns that stand for widths of intervals."""
    return [f"width {width:g}" for width in widths]


def labels_head(labels: LabelChecks) -> str:
    """Return the headline of what labels say of the estimates."""
    estimates = "label-free estimates" if labels.decide else "estimates"
    verdicts = {check.labels.verdict for check in labels.groups.values()}
    if labels.refuted:
        names = joined([labels.names[group] for group in labels.refuted])
        return f"The labels refute the {estimates} of {names}"
    if verdicts == {None}:
        return f"The labels cannot tell whether the {estimates} are right"
    if verdicts == {"confirmed"}:
        return f"The labels confirm the {estimates} to within 0.1"
    apart = _far_apart(labels)
    if apart:
        # "Not contradicted" would hide what the labels say.
        check = labels.groups[apart[0]]
        share = said_by_labels(check, decide=labels.decide)
        verb = "make it" if labels.decide else "say"
        return (
            f"The labels {verb} {share:.3f} in {labels.names[apart[0]]}, where "
            f"{check.without_labels.value:.3f} was estimated without them"
        )
    return f"The labels do not contradict the {estimates}"


def _far_apart(labels: LabelChecks) -> list[Any]:
    """List groups whose labels and estimate differ by more than 0.1, farthest first."""
    gaps = {}
    for group, check in labels.groups.items():
        if check.labels.verdict is not None:
            share = said_by_labels(check, decide=labels.decide)
            gaps[group] = abs(share - check.without_labels.value)
    farthest_first = sorted(gaps, key=lambda group: -gaps[group])
    return [group for group in farthest_first if gaps[group] > _NEAR]


_OF_LABELS = {
    "not_contradicted": (
        "In {names} they are no sign against the estimate, but do not confirm it to "
        "within 0.1."
    ),
    # Of twenty good estimates, one is refuted by chance.
    "by_chance": (
        "By itself, {names} would be refuted, but among {n} groups chance explains it."
    ),
    "no_sample": (
        "The labelled rows of {names} do not look drawn from the batch, which is how "
        "early outcomes look: nothing is concluded from them."
    ),
    "one_class": (
        "All labels of {names} are of one class, which the estimate makes less likely "
        "than 1 in 1,000, and were not used. Were rows with the other label left "
        "empty? If not, label more rows, until both labels occur."
    ),
    "few": "Fewer than 10 rows of {names} have a label.",
    "no_label": "No row of {names} has a label.",
}


def labels_text(labels: LabelChecks) -> str:
    """Say in a few sentences what labels say of the estimates."""
    sentences = []
    if labels.refuted:
        sentences += _refuted_sentences(labels)
    else:
        sentences += _both_sentences(labels, _far_apart(labels))
    names: dict[str, list[str]] = {}
    for group, name in labels.names.items():
        names.setdefault(_label_code(labels, group), []).append(name)
    confirmed = names.get("confirmed", [])
    if confirmed and len(confirmed) < len(labels.groups):
        confirm = (
            "The labels confirm the estimate" if sentences else "They confirm that"
        )
        sentences.append(f"{confirm} of {joined(confirmed)} to within 0.1.")
    for code, sentence in _OF_LABELS.items():
        if code in names:
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


def _refuted_sentences(labels: LabelChecks) -> list[str]:
    """Say what labels and estimates are in groups whose estimate is refuted."""
    sentences = _both_sentences(labels, labels.refuted)
    if labels.decide:
        sentences.append("The estimates below were corrected by the labels.")
    else:
        sentences.append(
            "The predictions rest on the estimates, which were made without labels."
        )
    return sentences


def _both_sentences(labels: LabelChecks, groups: Sequence[Any]) -> list[str]:
    """Put what labels say of groups beside the estimates, a sentence each."""
    sentences = []
    for group in groups[:_MOST_GROUPS]:
        both = _both(labels.groups[group], labels.decide)
        sentences.append(f"Share of positives in {labels.names[group]}: {both}.")
    more = len(groups) - _MOST_GROUPS
    if more > 0:
        sentences.append(f"{counted(more, 'more group')}: see below.")
    return sentences


def _both(check: GroupAdaptation, decide: bool) -> str:
    """Put what labels say beside the label-free estimate."""
    value, low, high = check.without_labels
    share = f"{said_by_labels(check, decide=decide):.3f}"
    if not check.fully_labelled:
        share += f" ({check.estimate.low:.3f} to {check.estimate.high:.3f})"
    without = f"{value:.3f} ({low:.3f} to {high:.3f})"
    according = "with the labels" if decide else "according to the labels"
    return f"{share} {according}, {without} without them"


def compared_text(rates: Sequence[Summary]) -> str:
    """Count the rates that are inside their intervals, and name the others."""
    known = [rate for rate in rates if rate["observed"] is not None]
    outside = []
    for rate in known:
        if not rate["inside"]:
            outside.append(f"{RATE_NAMES[rate['metric']]} of {rate['group']}")
    inside = len(known) - len(outside)
    text = f"{inside} of {counted(len(known), 'observed rate')} lie in the interval "
    text += "that was expected before labels were known"
    if not outside:
        return f"{text}."
    return f"{text}; outside: {joined(outside, 'rates')}."


def columns_sentence(columns: Summary, shown: int) -> str:
    """Say what the table of columns leaves out, or why there is none."""
    if not columns["counted"]:
        return (
            "No column was looked at: the model was trained on a sparse matrix or with "
            "drift='ignore', and has no counts of columns to compare with."
        )
    if not columns["moved"]:
        return (
            "No sign that a column moved, in any group, at the 1 % level over all "
            "columns and groups."
        )
    sentences = []
    left_out = len(columns["moved"]) - shown
    if left_out > 0:
        are = "is" if left_out == 1 else "are"
        sentences.append(f"{left_out} more {are} in the JSON of this report.")
    if any(entry["fault"] for entry in columns["moved"]):
        sentences.append(
            "Beside a column at fault, every other column is tested at the share that "
            "it speaks for itself: the scores read the column at fault, too."
        )
    return " ".join(sentences)


def rests_sentence(groups: Sequence[Summary]) -> str:
    """Say what the bound and the expected rates rest on, and where that is in doubt."""
    doubtful = []
    corrected = []
    for group in groups:
        if group["label_verdict"] is not None:
            corrected.append(group["group"])
        elif group["verdict"] not in _AS_EXPECTED:
            doubtful.append(group["group"])
    of_labels = "rest on labels of a random sample, and hold whatever has moved."
    if len(corrected) == len(groups):
        return f"These numbers {of_labels}"
    sentences = [
        "This rests on the assumption that positives and negatives each look as they "
        "did in training."
    ]
    if doubtful:
        sentences.append(
            f"In {joined(doubtful)} that is in doubt or could not be tested, and these "
            "numbers can be wrong by more than their intervals say."
        )
    if corrected:
        sentences.append(f"The numbers of {joined(corrected)} {of_labels}")
    return " ".join(sentences)


def expected_pe_sentence(summary: Summary) -> str:
    """Return the sentence about the PE to expect of the worst pair."""
    worst = summary["expected"]["worst"]
    if worst is None:
        return ""
    number = f"{worst['pe']:.3f}"
    # The interval of PE is wide, and one-sided for the reader: how bad can it be? That
    # of the pair that is expected to be the worst is narrower than that of the
    # criterion: another pair may turn out to be worse.
    for entry in summary["criteria"]:
        if entry["criterion"] == "proportional_equality" and entry["high"] is not None:
            number += f" (up to {entry['high']:.3f})"
    unadapted = summary["expected"]["unadapted"]["pe"]
    if unadapted is not None:
        number += f"; the model as trained would have {unadapted:.3f}"
        at_half = summary["expected"]["unadapted"]["pe_at_half"]
        if at_half is not None and f"{at_half:.3f}" != f"{unadapted:.3f}":
            number += f" ({at_half:.3f} if cut at 1/2)"
    return (
        f"Expected PE of the worst pair, {worst['group']} to {worst['other']}: "
        f"{number}. PE says how far the ratio of two groups' predicted shares is from "
        "the ratio of their true shares."
    )


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
    for word, sentence in _OF_BATCHES.items():
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
    return f"{batch['estimate'] - batch['training']:+.3f}"


def worst_column(column: Summary, n_moved: int) -> str:
    """Say what happened to the column that moved most, and count the others."""
    text = column_line(column["column"], column["what_happened"])
    more = n_moved - 1
    return f"{text} (and {more} more)" if more else text
