"""The verdict on a batch: what stands at the top of its page and of the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cape._wording._numbers import joined
from cape.examination import Examination, GroupVerdict
from cape.report._types import Summary

__all__ = ["VERDICTS", "batch_verdict", "mark_of", "moved_columns", "worst_word"]

_MARKS = {
    "fault": "bad",
    "drifted": "bad",
    "ignored": "bad",
    "cannot_tell": "open",
    "some_drift": "warn",
    "not_tested": "open",
    "consistent": "good",
}
"""Verdicts, the gravest first, and the mark that each of them gets."""

VERDICTS = tuple(_MARKS)
"""All verdicts, the gravest first."""

_HEADS = {
    "fault": "Columns are not what they were in training",
    "drifted": "More moved than the prevalences",
    "ignored": "More moved than the prevalences, and it was ignored",
    "cannot_tell": "Cannot tell",
    "some_drift": "Some drift",
    "not_tested": "Not tested",
    "consistent": "Consistent with a prior shift",
}

_TEXTS = {
    "fault": (
        "Nothing can be said of the prevalences of {groups} until this is mended."
    ),
    "drifted": (
        "The estimates of {groups} were held back, towards the mean score or the "
        "training prevalence. Check the columns that moved."
    ),
    "ignored": (
        "The estimates of {groups} are right only if nothing but the share of "
        "positives moved, and more did. Check the columns that moved."
    ),
    "cannot_tell": (
        "The intervals of {groups} are too wide to tell the prevalence; the reasons "
        "are below."
    ),
    "some_drift": (
        "The intervals of {groups} are wider because more moved than the share of "
        "positives."
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
        "Without labels, the estimates of {groups} would be held back, towards the "
        "mean score or the training prevalence. Check the columns that moved."
    ),
    "ignored": (
        "Without labels, the estimates of {groups} would be right only if nothing but "
        "the share of positives moved, and more did. Check the columns that moved."
    ),
    "cannot_tell": (
        "Without labels, the prevalence of {groups} could not be told; the reasons are "
        "below."
    ),
    "some_drift": (
        "Without labels, the intervals of {groups} would be wider because more moved "
        "than the share of positives."
    ),
}
"""What is said instead where labels corrected the estimates."""

_SEEN_BY_LABELS_ALONE = (
    " But the labels refute what follows from it: outcomes moved in a way that no test "
    "without labels sees."
)


def mark_of(words: Sequence[str], *, clear: bool) -> str:
    """Choose the colour of some verdicts together.

    Parameters
    ----------
    words : sequence of str
    clear : bool
        Whether there is no reservation about any group.

    Returns
    -------
    {"good", "warn", "bad", "open"}
        "good" only if all groups are consistent with a prior shift, without
        reservation.

    Examples
    --------
    >>> mark_of(["consistent", "some_drift"], clear=False)
    'warn'
    >>> mark_of(["consistent"], clear=False)
    'open'
    """
    mark = _MARKS[worst_word(words)]
    if mark == "good" and not clear:
        return "open"
    return mark


def worst_word(words: Sequence[str]) -> str:
    """Return the gravest of some verdicts.

    Examples
    --------
    >>> worst_word(["consistent", "drifted", "some_drift"])
    'drifted'
    """
    return min(words, key=VERDICTS.index)


def batch_verdict(examination: Examination) -> Summary:
    """Say in a word, a headline and a few sentences what the tests found.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    dict
        ``word`` is the gravest verdict of the groups, ``mark`` its colour, ``head`` and
        ``text`` are for the reader, and ``faults`` lists the columns at fault.
    """
    verdicts = {}
    with_labels = {}
    names = examination.names
    for group, adapted in examination.adaptation.groups.items():
        name = names[group]
        verdicts[name] = examination.verdict(group)
        if adapted.labels.verdict is not None:
            with_labels[name] = verdicts[name]
    if not verdicts:
        return {
            "word": "not_tested",
            "mark": "open",
            "head": _HEADS["not_tested"],
            "text": "There are no rows.",
            "faults": [],
        }
    words = [verdict.word for verdict in verdicts.values()]
    mark = mark_of(words, clear=all(verdict.clear for verdict in verdicts.values()))
    word = worst_word(words)
    head = _HEADS[word]
    if word == "consistent" and mark != "good":
        head += ", with reservations"
    if word == "cannot_tell" and with_labels:
        head += " without labels"
    text = _text(verdicts, with_labels)
    if mark in ("good", "open") and _labels_refute(examination):
        # Green would say that all is well.
        mark = "warn"
        text += _SEEN_BY_LABELS_ALONE
    return {
        "word": word,
        "mark": mark,
        "head": head,
        "text": text,
        "faults": _faults(examination),
    }


def _labels_refute(examination: Examination) -> bool:
    """Tell whether labels refute what was estimated without them."""
    return examination.labels is not None and bool(examination.labels.refuted)


def _text(
    verdicts: Mapping[str, GroupVerdict], with_labels: Mapping[str, GroupVerdict]
) -> str:
    """Return a sentence for each kind of verdict, the gravest first.

    Of groups whose estimates were corrected by labels, another sentence is said.
    """
    sentences = []
    for word, sentence in _TEXTS.items():
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


def _faults(examination: Examination) -> list[Summary]:
    """List the columns at fault, once each, with the groups in which they are.

    What happened is told as it is in the largest group: mostly the same happened in
    all of them.
    """
    rows = examination.evidence.rows
    largest_first = sorted(
        examination.columns.groups, key=lambda group: rows[group], reverse=True
    )
    faults: dict[str, Summary] = {}
    names = examination.names
    for group in largest_first:
        for finding in examination.columns.groups[group]:
            if not finding.fault:
                continue
            entry = {
                "column": finding.column,
                "what_happened": finding.what_happened,
                "groups": [],
            }
            faults.setdefault(finding.column, entry)["groups"].append(names[group])
    return list(faults.values())


def moved_columns(examination: Examination) -> list[Summary]:
    """List the columns that moved in any group, those at fault first, then by effect.

    Parameters
    ----------
    examination : Examination

    Returns
    -------
    list of dict
        Group, column, fault, effect, p_adjusted and what happened.
    """
    entries: list[Summary] = []
    names = examination.names
    for group in examination.columns.groups:
        for finding in examination.columns.moved(group):
            entry = {
                "group": names[group],
                "column": finding.column,
                "fault": finding.fault,
                "effect": finding.effect,
                "p_adjusted": finding.p_adjusted,
                "what_happened": finding.what_happened,
            }
            entries.append(entry)
    entries.sort(key=lambda entry: (not entry["fault"], -entry["effect"]))
    return entries
