"""An audit in plain words, for readers who do not know what an FPR is.

Sentences name the pair of groups whose difference is the *clearest*: the pair with the
largest lower end of its interval. The largest difference is often that of a group of a
dozen rows, and says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cape._groups import Group
from cape._wording._numbers import counted, joined, percent, points, rows_text
from cape.metrics import Confusion, Finding, audit_counts
from cape.report._types import Summary, Terms

__all__ = ["GLOSSARY", "audit_words"]

_DRAWS = 20_000
"""Draws behind the interval of a pair that is judged over all pairs together."""

_RATIO = "predicted_prevalence_ratio"

GLOSSARY: Terms = [
    (
        "positive",
        "One of the two labels, named at the top of this page. It is not a praise: "
        "positive may mean that a loan is paid back, or that a crime is expected.",
    ),
    ("true share", "Share of the rows of a group whose label is positive: prevalence."),
    ("predicted share", "Share of the rows of a group that are called positive."),
    (
        "FPR",
        "False positive rate: of the rows whose label is negative, the share that is "
        "wrongly called positive.",
    ),
    (
        "FNR",
        "False negative rate: of the rows whose label is positive, the share that is "
        "wrongly called negative.",
    ),
    ("accuracy", "Share of all rows that are called what their label says."),
    (
        "precision",
        "Of the rows that are called positive, the share whose label is positive.",
    ),
    (
        "PD",
        "Prevalence difference: distance between the predicted and the true share of "
        "a group. 0 is best.",
    ),
    (
        "PE",
        "Proportional equality of two groups: distance between the ratio of their "
        "predicted shares and the ratio of their true shares. 0 is best.",
    ),
    (
        "ratio of predicted shares",
        "The predicted share of a group divided by that of another group. 1 is "
        "equality. The four-fifths rule of thumb, from American rules on hiring, calls "
        "for a closer look below 0.8. It does not look at the labels.",
    ),
    (
        "interval",
        "Where the value may lie if the rows are a sample of many more. It is wide "
        "where rows are few. It does not know whether labels are wrong.",
    ),
    (
        "too few rows",
        "Fewer than ten rows. An interval is shown, and no value.",
    ),
]
"""Terms of the audit page."""


@dataclass(frozen=True)
class _Sentences:
    """What the sentences of an audit are made from.

    Parameters
    ----------
    counts : mapping from group to Confusion
    names : mapping from group to str
    findings : tuple of Finding
        Metrics of single groups.
    between : tuple of Finding
        Metrics of ordered pairs of groups.
    level : float
        Confidence level of the intervals.
    """

    counts: Mapping[Group, Confusion]
    names: Mapping[Group, str]
    findings: tuple[Finding, ...]
    between: tuple[Finding, ...]
    level: float

    def value(self, group: Group, metric: str) -> str:
        """Write a rate of a group in percent."""
        for finding in self.findings:
            if finding.group == group and finding.metric == metric:
                return percent(finding.estimate.value)
        raise KeyError((group, metric))

    def clearest(self, metric: str) -> Finding | None:
        """Return the pair whose difference is clearest; None if none has a value."""
        pairs = []
        for finding in self.between:
            # Of a pair in both orders, the group with the higher rate comes first, or
            # that with the lower share.
            is_first = finding.estimate.value >= 0
            if metric == _RATIO:
                is_first = finding.estimate.value <= 1
            if finding.metric == metric and finding.enough and is_first:
                pairs.append(finding)
        if not pairs:
            return None
        if metric == _RATIO:
            return min(pairs, key=lambda one: (one.estimate.high, one.estimate.value))
        return max(pairs, key=lambda one: (one.estimate.low, one.estimate.value))

    def is_clear(self, pair: Finding) -> bool:
        """Tell whether a pair differs by more than chance, among all pairs.

        The clearest of 190 pairs differs by chance, too, so that its interval is
        judged at Bonferroni's level over all pairs.
        """
        n_pairs = self.n_pairs(pair.metric)
        if n_pairs > 1:
            assert pair.other is not None
            counts = {
                pair.group: self.counts[pair.group],
                pair.other: self.counts[pair.other],
            }
            level = 1 - (1 - self.level) / n_pairs
            audit = audit_counts(counts, level=level, n_resamples=_DRAWS)
            pair = next(
                finding
                for finding in audit.between
                if (finding.metric, finding.group) == (pair.metric, pair.group)
            )
        if pair.metric == _RATIO:
            return pair.estimate.high < 1
        return pair.estimate.low > 0

    def n_pairs(self, metric: str) -> int:
        """Count the pairs of groups, without order, that have enough rows."""
        pairs = set()
        for finding in self.between:
            if finding.metric == metric and finding.enough:
                pairs.add(frozenset((finding.group, finding.other)))
        return len(pairs)


def audit_words(
    counts: Mapping[Group, Confusion],
    names: Mapping[Group, str],
    *,
    level: float,
    columns: Summary,
) -> list[Summary]:
    """Say in plain words what an audit found.

    Parameters
    ----------
    counts : mapping from group to Confusion
        Confusion counts of each group.
    names : mapping from group to str
        What the groups are called.
    level : float in (0, 1)
        Confidence level of the intervals.
    columns : dict
        As in `audit_summary`; what it does not name is left out.

    Returns
    -------
    list of dict
        Each has a ``head`` of a few words and a ``text`` of a few sentences.

    Examples
    --------
    >>> counts = {"a": Confusion(tp=40, fp=10, fn=20, tn=30, rows=100)}
    >>> words = audit_words(counts, {"a": "a"}, level=0.95, columns={})
    >>> words[1]["text"]
    'a: 50 % are called positive, and 60 % are.'
    """
    audit = audit_counts(counts, level=level)
    known = _Sentences(counts, names, audit.findings, audit.between, level)
    return [
        {"head": "What is compared", "text": _what_is_compared(known, columns)},
        {"head": "Who is called positive how often", "text": _who_is_called(known)},
        {"head": "Who is wrongly called positive", "text": _wronged(known, "fpr")},
        {"head": "Who is wrongly called negative", "text": _wronged(known, "fnr")},
        {"head": "How sure this is", "text": _how_sure(known)},
    ]


def _what_is_compared(known: _Sentences, columns: Summary) -> str:
    """Say what the predictions are compared with, and which label is positive."""
    rows = rows_text(sum(confusion.rows for confusion in known.counts.values()))
    groups = counted(len(known.counts), "group")
    text = f"Predictions are compared with the labels of {rows} in {groups}."
    if "label" in columns and "prediction" in columns:
        text += f" The label is {columns['label']}, and {columns['prediction']} the "
        text += "prediction."
    if "positive" in columns:
        text += f" Positive is {columns['positive']}"
        if "negative" in columns:
            text += f", and negative {columns['negative']}"
        text += "."
    return text


def _who_is_called(known: _Sentences) -> str:
    """Say how often groups are called positive, and how often they are positive."""
    pair = known.clearest(_RATIO)
    if pair is None:
        return _shares_alone(known)
    assert pair.other is not None
    shares = [_called_and_true(known, group) for group in (pair.group, pair.other)]
    sentences = [f"{shares[0]}. {shares[1]}."]
    name = known.names[pair.group]
    other = known.names[pair.other]
    value, low, high = pair.estimate
    ratio = f"{value:.2f} ({low:.2f} to {high:.2f})"
    sentences.append(
        f"The predicted share of {name} is {ratio} times that of {other}"
        f"{_true_ratio(known, pair)}."
    )
    sentences.append(_four_fifths(pair))
    sentences.append(_more_than_chance(known, pair))
    return " ".join(sentences)


def _shares_alone(known: _Sentences) -> str:
    """Write the shares of groups of which no two can be compared."""
    sentences = []
    for finding in known.findings:
        if finding.metric == "prevalence" and finding.enough:
            sentences.append(_called_and_true(known, finding.group))
    if not sentences:
        return "There are too few rows in every group to say."
    return f"{joined(sentences)}."


def _called_and_true(known: _Sentences, group: Group) -> str:
    """Say how often a group is called positive, and how often it is."""
    called = known.value(group, "predicted_prevalence")
    true = known.value(group, "prevalence")
    return f"{known.names[group]}: {called} are called positive, and {true} are"


def _true_ratio(known: _Sentences, pair: Finding) -> str:
    """Compare the ratio of predicted shares with that of true shares."""
    assert pair.other is not None
    other = known.counts[pair.other].prevalence
    if not other:
        return ""
    ratio = known.counts[pair.group].prevalence / other
    return f"; by the labels it would be {ratio:.2f} times"


def _four_fifths(pair: Finding) -> str:
    """Say on which side of four fifths the ratio of predicted shares lies."""
    if pair.estimate.high < 0.8:
        return "That is below four fifths."
    if pair.estimate.low >= 0.8:
        return "That is above four fifths."
    return "The rows do not tell whether that is below four fifths."


_WRONGED = {
    "fpr": ("negative", "positive"),
    "fnr": ("positive", "negative"),
}


def _wronged(known: _Sentences, rate: str) -> str:
    """Say which group an error strikes more often."""
    true, called = _WRONGED[rate]
    whose = f"Of the rows that are {true} according to their label,"
    pair = known.clearest(f"{rate}_difference")
    if pair is None:
        return f"{whose} {_rates(known, rate)}."
    assert pair.other is not None
    higher = known.value(pair.group, rate)
    lower = known.value(pair.other, rate)
    name = known.names[pair.group]
    other = known.names[pair.other]
    size, low, high = map(points, pair.estimate)
    difference = f"{size} ({low} to {high})"
    return (
        f"{whose} {higher} of {name} and {lower} of {other} are called {called}: a "
        f"difference of {difference} percentage points. "
        f"{_more_than_chance(known, pair)}"
    )


def _rates(known: _Sentences, rate: str) -> str:
    """Write an error rate of the groups of which it is known."""
    texts = []
    for finding in known.findings:
        if finding.metric == rate and finding.enough:
            name = known.names[finding.group]
            texts.append(f"{percent(finding.estimate.value)} of {name}")
    if not texts:
        return "there are too few in every group to compare"
    return f"{joined(texts)} are called {_WRONGED[rate][1]}"


def _more_than_chance(known: _Sentences, pair: Finding) -> str:
    """Say whether a difference is more than chance, and among how many pairs."""
    clear = known.is_clear(pair)
    among = ""
    n_pairs = known.n_pairs(pair.metric)
    if n_pairs > 1:
        among = f", the clearest among {n_pairs} pairs of groups,"
    if clear:
        return f"This difference{among} is more than chance."
    return f"This difference{among} may be chance."


def _how_sure(known: _Sentences) -> str:
    """Say what the numbers in parentheses mean, and what they rest on."""
    level = f"{100 * known.level:g} %"
    return (
        f"Numbers in parentheses are {level} intervals: they are wide where rows are "
        "few. All of this takes the labels for the truth. Whether it is worse to be "
        "called positive or negative depends on what the predictions are used for."
    )
