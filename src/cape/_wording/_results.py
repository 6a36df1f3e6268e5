"""What is said of training, of adaptations and their verdicts, and of rules."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._limits import (
    FEWEST_LABELS,
    LEVEL,
    NOTABLY_HELD_BACK,
    ONE_CLASS,
    USEFUL_WIDTH,
    WIDEST,
)
from cape._wording._numbers import (
    counted,
    group_name,
    listed,
    percent,
    rows_text,
    share_text,
    shortened,
)

if TYPE_CHECKING:
    from cape._adaptation import Adaptation, GroupAdaptation

_MOST_NAMES = 10
_MOST_COLUMNS = 5
_MOST_FAULTS = 3


def describe_group(adapted: GroupAdaptation) -> str:
    """Say in one line what was found of a group and chosen for it."""
    estimate = adapted.estimate
    parts = [
        f"{adapted.rows} rows",
        f"prevalence {share_text(adapted.training_prevalence)} -> "
        f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})",
    ]
    if adapted.labels.verdict is not None:
        parts.append(describe_label_free(adapted))
    if adapted.labels.rows:
        parts.append(describe_labels(adapted))
    parts += [
        describe_verdict(adapted) + from_others(adapted),
        f"member for {adapted.made_for:.3f} predicts "
        f"{adapted.predicted_prevalence:.3f}",
        f"PD at most {adapted.pd_bound:.3f}",
    ]
    return ", ".join(parts)


def from_others(adapted: GroupAdaptation) -> str:
    """Say how much of what is known comes from other groups, if it is notable."""
    if adapted.borrowed < NOTABLY_HELD_BACK or adapted.fully_labelled:
        return ""
    return f" ({percent(adapted.borrowed)} from other groups)"


def few_labels(drawn: int, groups: int, enough: int) -> str:
    """Say that labels are few for so many groups, and how many would do."""
    return (
        f"{drawn:,} labels are few for {counted(groups, 'group')}: {enough:,} would "
        f"tell the share of each to about {USEFUL_WIDTH / 2:.2f}"
    )


def describe_label_free(adapted: GroupAdaptation) -> str:
    """Say in a few words what was estimated without labels."""
    value, low, high = adapted.without_labels
    return f"without labels {value:.3f} ({low:.3f} to {high:.3f})"


def describe_labels(adapted: GroupAdaptation, *, decide: bool = True) -> str:
    """Say in a few words what labels say, and what of the label-free estimate.

    Parameters
    ----------
    adapted : GroupAdaptation
    decide : bool, default=True
        Whether labels corrected the estimate, which is then what they make it.
    """
    labels = adapted.labels
    if labels.rows == 0:
        return "no row has a label"
    rows = f"labels of {labels.rows:,} rows"
    if labels.rows == adapted.rows:
        rows = f"labels of all {labels.rows:,} rows"
    p_value = p_text(labels.p_value)
    # What labels say comes first: a verdict on an estimate that says nothing hides it.
    verb = "make it" if decide else "say"
    rows_say = f"{rows} {verb} {said_by_labels(adapted, decide=decide):.3f}"
    if labels.verdict == "confirmed":
        return f"{rows_say}, and confirm the label-free estimate to within 0.1"
    if labels.verdict == "not_contradicted":
        estimate = "the label-free estimate"
        if adapted.without_labels.width > WIDEST:
            estimate += ", whose interval allows for almost anything"
        return f"{rows_say}, and do not contradict {estimate} ({p_value})"
    if labels.verdict == "refuted":
        return f"{rows_say}, and refute the label-free estimate ({p_value})"
    if labels.rows < FEWEST_LABELS:
        return f"fewer than {FEWEST_LABELS} labels ({labels.rows}): not used"
    if are_of_one_class(adapted):
        label = "positive" if labels.estimate == 1 else "negative"
        return (
            f"labels were not used: all {labels.rows:,} are {label}, which the "
            f"label-free estimate makes less likely than 1 in {1 / ONE_CLASS:,.0f}. "
            "Were rows with the other label left empty? If not, label more rows, until "
            "both labels occur"
        )
    return (
        "labels were not used: the labelled rows do not look drawn from the batch "
        f"({p_text(labels.sample_p_value)})"
    )


def said_by_labels(adapted: GroupAdaptation, *, decide: bool) -> float:
    """Return the share of positives that labels stand for: one number everywhere."""
    # Where labels did not decide, what they say is not mixed with what they check.
    return adapted.estimate.value if decide else adapted.labels.estimate


def are_of_one_class(adapted: GroupAdaptation) -> bool:
    """Tell whether labels were not used because all are of one class."""
    labels = adapted.labels
    return labels.verdict is None and not math.isnan(labels.p_value)


def p_text(p_value: float) -> str:
    """Write a p-value."""
    # Further digits would claim more than a large-sample test can tell.
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}"


def describe_verdict(adapted: GroupAdaptation) -> str:
    """Say in a few words what the tests say of the assumption of a prior shift."""
    if adapted.verdict == "consistent":
        return f"consistent with a prior shift{reservation(adapted)}"
    if adapted.verdict == "some_drift":
        return f"some drift{_widened(adapted)}"
    if adapted.verdict == "drifted":
        return f"more moved than the prevalence; {by_scores_alone(adapted)}"
    if adapted.verdict == "too_little_known":
        return (
            f"too little known: {estimate_name(adapted)} rests on what rows with "
            "these scores had in training"
        )
    if adapted.verdict == "cannot_tell":
        return f"cannot tell the prevalence{without_labels(adapted)}"
    return "not tested for other shifts"


def verdict_text(
    word: str,
    adapted: GroupAdaptation,
    *,
    at_fault: Sequence[str],
    auc: float,
    cautious: bool,
    untested: str,
    rows_needed: float = math.nan,
) -> str:
    """Say what the tests of one group found, with the reason.

    Parameters
    ----------
    word : str
        The verdict.
    adapted : GroupAdaptation
    at_fault : sequence of str
        Columns that are plainly not what they were in training.
    auc : float
        How well the scores tell the classes apart in training; NaN if the model is
        not that of the group alone.
    rows_needed : float, default=nan
        Rows with which the scores would tell the prevalence; infinite if none would do.
    cautious : bool
        Whether drift held the estimate back.
    untested : {"columns", "scores", ""}
        What was not looked at.

    Returns
    -------
    str
        A sentence without its full stop.
    """
    without = without_labels(adapted)
    if word == "fault":
        columns = listed([f"`{name}`" for name in at_fault], _MOST_FAULTS)
        reason = f"because of {columns}, not what it was in training"
        if cautious:
            return f"cannot tell the prevalence{without} {reason}"
        return f"{estimate_name(adapted)} is worthless {reason}"
    if word == "ignored":
        return "more moved than the prevalence, and it was ignored as you asked"
    if word == "cannot_tell" and adapted.quantifier_estimate.width > WIDEST:
        scores = (
            "such scores" if math.isnan(auc) else f"scores with an AUC of {auc:.2f}"
        )
        # Rows that no number of can do are no remedy.
        if math.isinf(rows_needed):
            return (
                f"cannot tell{without}: {scores} say too little of the prevalence, "
                "however many rows there are. Labels of some rows would tell"
            )
        enough = ""
        if rows_needed > adapted.rows:
            enough = f", about {rows_needed:,.0f} would do"
        return (
            f"cannot tell from so few rows{without}: {adapted.rows:,} are too few for "
            f"{scores}{enough}"
        )
    if word == "cannot_tell":
        return (
            f"cannot tell{without}: columns and scores disagree on the prevalence; "
            f"{by_scores_alone(adapted)}"
        )
    return describe_verdict(adapted) + from_others(adapted) + _UNTESTED[untested]


_UNTESTED = {
    "columns": ", as far as the scores tell: no column was looked at",
    "scores": ", as far as the columns tell: the scores were not tested",
    "": "",
}


def reservation(adapted: GroupAdaptation) -> str:
    """Say that signs too weak for a verdict held the estimate back, if they did."""
    # Drift begins to count before it is significant, so that estimates do not jump.
    if not (adapted.drift > 0 and adapted.held_back > NOTABLY_HELD_BACK):
        return ""
    return f", but not clearly; {by_scores_alone(adapted)}"


def by_scores_alone(adapted: GroupAdaptation) -> str:
    """Say what the estimate would be if nothing else were known."""
    said = "it"
    if adapted.labels.verdict is not None:
        said = estimate_name(adapted)
    value = adapted.quantifier_estimate.value
    return f"by the scores alone {said} would be {value:.3f}"


def estimate_name(adapted: GroupAdaptation) -> str:
    """Name the estimate that tests without labels are about."""
    if adapted.labels.verdict is None:
        return "the estimate"
    return "the label-free estimate"


def without_labels(adapted: GroupAdaptation) -> str:
    """Restrict what is said to the estimate without labels, where labels were used."""
    if adapted.labels.verdict is None:
        return ""
    return " without labels"


def _widened(adapted: GroupAdaptation) -> str:
    before = adapted.quantifier_estimate.width
    after = adapted.without_labels.width
    if not after > before:
        return ""
    interval = "interval"
    if adapted.labels.verdict is not None:
        interval = "label-free interval"
    return f": {interval} widened from {before:.2f} to {after:.2f}"


def _few(names: Iterable[str], most: int = _MOST_NAMES, between: str = ", ") -> str:
    """List the first names, and say how many more there are."""
    return between.join(shortened(names, most))


def doubts(
    adaptation: Adaptation,
    names: Mapping[Any, str],
    faults: Iterable[str],
    refuted: Iterable[Any],
) -> Iterator[str]:
    """Yield what makes an adaptation doubtful, a sentence each.

    Parameters
    ----------
    adaptation : Adaptation
    names : mapping from group to str
        What the groups are called.
    faults : iterable of str
        Columns that are not what they were in training, in words.
    refuted : iterable of groups
        Groups whose estimate labels refute.
    """
    yield from of_faults(adaptation, list(faults))
    yield from _of_drift(adaptation, names)
    untested = [
        name for group, name in names.items() if _is_untested(adaptation, group)
    ]
    if untested:
        yield (
            f"the scores of {_few(map(repr, untested))} were not tested: those of a "
            "flexible learner that was refitted on all rows do not follow its "
            "out-of-fold scores. Fit with scores='folds' for a test that keeps its "
            "level."
        )
    yield from _of_wide_intervals(adaptation, names)
    listed = []
    for group in refuted:
        adapted = adaptation.groups[group]
        listed.append(
            f"{names[group]!r} ({adapted.without_labels.value:.3f} without labels, "
            f"{adapted.estimate.value:.3f} with {adapted.labels.rows} of them)"
        )
    if listed:
        yield (
            f"labels refute the label-free estimate of {_few(listed)}. The estimate "
            "was corrected by them."
        )
    unused = []
    for group, adapted in adaptation.groups.items():
        if adapted.labels.rows and adapted.labels.verdict is None:
            unused.append(f"{names[group]!r}: {describe_labels(adapted)}")
    if unused:
        yield (
            f"{_few(unused, between='; ')}. The label-free estimate stays. Labels must "
            f"be those of a random sample of the batch, at least {FEWEST_LABELS} in a "
            "group; rows of rows_to_label need their inclusion_probability."
        )
    yield from adaptation.notes


def _is_untested(adaptation: Adaptation, group: Any) -> bool:
    drift = adaptation.drifts.get(group)
    return drift is not None and drift.score is None


def of_faults(adaptation: Adaptation, faults: list[str]) -> Iterator[str]:
    """Warn of columns that are plainly not what they were in training."""
    if not faults:
        return
    nothing = "Nothing"
    for group, drift in adaptation.drifts.items():
        if drift.faults and adaptation.groups[group].labels.verdict is not None:
            nothing = "Without labels, nothing"
    listed = _few(faults, _MOST_COLUMNS, between="; ")
    yield (
        f"columns are not what they were in training: {listed}. {nothing} can be said "
        "of the prevalences until this is mended."
    )


def _of_drift(adaptation: Adaptation, names: Mapping[Any, str]) -> Iterator[str]:
    """Warn of groups in which more than the prevalence has moved, at 1 %."""
    listed = []
    columns: dict[str, None] = {}
    for group, drift in adaptation.drifts.items():
        if drift.faults or drift.p_adjusted >= LEVEL:
            continue
        adapted = adaptation.groups[group]
        held = adapted.held_back
        kept = "kept" if held == 0 else f"held back by {held:.0%}"
        name = estimate_name(adapted).removeprefix("the ")
        listed.append(f"{names[group]!r} ({name} {kept})")
        columns.update(dict.fromkeys(column.name for column in drift.moved_columns))
    if not listed:
        return
    where = "the scores"
    if columns:
        where = f"the columns {_few(columns, _MOST_COLUMNS)}"
    yield (
        f"more than the prevalence has moved in {_few(listed)}: look at {where}. "
        "cape.examine(...).columns has the details."
    )


def _of_wide_intervals(
    adaptation: Adaptation, names: Mapping[Any, str]
) -> Iterator[str]:
    """Warn of groups that the scores say too little of to decide by them."""
    listed = []
    for group, adapted in adaptation.groups.items():
        # With labels more is known, and drift has a sentence of its own.
        drift = adaptation.drifts[group]
        if adapted.labels.verdict is not None or drift.p_adjusted < LEVEL:
            continue
        if adapted.verdict in ("too_little_known", "cannot_tell") and not drift.faults:
            listed.append(f"{names[group]!r} ({adapted.rows} rows)")
    if listed:
        yield (
            f"too little is known of the prevalence of {_few(listed)}: the estimate "
            "rests on what rows with these scores had in training. "
            "cape.examination.rows_needed computes how many rows are needed, if more "
            "rows help at all; labels of some rows do."
        )


_COLUMN_HAPPENED = {
    "units": (
        "values are about {factor:,g} times those of training (median {median:.4g}), "
        "as if in other units"
    ),
    "type": "{share:.0%} are of another type; training held {held}",
    "missing": "{share:.0%} are missing, {expected:.0%} expected",
    "above": "{part} are {greater} than {end}, {expected:.0%} expected",
    "below": "{part} are {smaller} than {end}, {expected:.0%} expected",
    "constant": "{part} are from {low} to below {high}, {expected:.0%} expected",
    "edge": "{share:.0%} are {below} {end}, {expected:.0%} expected",
    "unseen": "{share:.0%} are values never seen in training{names}",
    "level": "{share:.0%} are {level!r}, {expected:.0%} expected",
    "moved": "{share:.0%} of the values have moved",
}

_KINDS_OF_VALUES = {
    "number": "numbers",
    "date": "dates",
    "text": "text",
    "mixed": "text and numbers",
    "empty": "no value at all",
}

_MOST_NAMES_OF_VALUES = 3


def what_happened(code: str, form: str, numbers: Mapping[str, Any]) -> str:
    """Say what has happened to a column, without its name.

    Parameters
    ----------
    code : str
        What has happened, from `cape._drift._columns.what_happened`.
    form : {"date", "number"}
        How a value of the column is written.
    numbers : mapping
        What the code comes with.

    Returns
    -------
    str

    Examples
    --------
    Some of the sentences ::

        all 711 values are later than 2013-12-29, 0% expected
        100% are values never seen in training: M, F
        40% are missing, 0% expected
        31% are below 2, 64% expected

    Shares beyond an edge are exact; a median would have to be interpolated.
    """
    said = dict(numbers)
    for name in ("low", "high", "end"):
        if name in said:
            said[name] = _value_text(numbers[name], form)
    said["greater"], said["smaller"], said["below"] = "greater", "smaller", "below"
    if form == "date":
        said["greater"], said["smaller"], said["below"] = "later", "earlier", "before"
    if code == "units":
        said["factor"] = float(f"{numbers['factor']:.2g}")
    if code == "type":
        said["held"] = _KINDS_OF_VALUES[numbers["kind"]]
    if code == "unseen":
        names = [name[:40] for name in numbers["names"][:_MOST_NAMES_OF_VALUES]]
        said["names"] = f": {', '.join(names)}" if names else ""
    if "present" in numbers:
        share = numbers["share"]
        said["part"] = f"{share:.0%}"
        # In rows if it is all of them.
        if math.isclose(share, numbers["present"], rel_tol=1e-5, abs_tol=1e-8):
            said["part"] = f"all {round(share * numbers['rows']):,} values"
    return _COLUMN_HAPPENED[code].format(**said)


_DAY = 86_400
_PRECISION = 128
"""Seconds to which a date of our century is held in single precision."""


def _value_text(number: float, form: str) -> str:
    """Write an edge with all its digits: shares beyond a rounded one are others."""
    if form == "number":
        return f"{float(str(np.float32(number))):.15g}"
    midnight = round(float(number) / _DAY) * _DAY
    if abs(number - midnight) <= _PRECISION:
        return f"{datetime.fromtimestamp(midnight, UTC):%Y-%m-%d}"
    return f"{datetime.fromtimestamp(float(number), UTC):%Y-%m-%d %H:%M}"


def column_line(column: str, what_happened: str) -> str:
    """Write what happened to a column behind its name."""
    return f"`{column}`: {what_happened}"


def rates_are_unknown(groups: Sequence[Hashable], fewest_rows: int) -> str:
    """Say by what the members of groups were picked whose error rates are unknown."""
    return (
        f"the error rates of {_named(groups)} are unknown (fewer than {fewest_rows} "
        "unseen rows of a class): its member was picked by predicted prevalence, as "
        "near to the estimate as possible."
    )


def criterion_is_undefined(criterion: str, groups: Sequence[Hashable]) -> str:
    """Say for which groups a criterion of a rule is undefined."""
    return f"{criterion} is undefined for {_named(groups)} and does not count it."


def bound_is_missed(criterion: str, measured: float, bound: float | None) -> str:
    """Say how near a rule comes to a bound that no choice of members meets."""
    if bound is None:
        return (
            "no members make the groups equal: the nearest have "
            f"{criterion} {measured:.4g}."
        )
    return (
        f"no members meet all bounds: the nearest have {criterion} {measured:.4g}, and "
        f"{bound:g} was asked for."
    )


def _named(groups: Sequence[Hashable]) -> str:
    return ", ".join(repr(group_name(group)) for group in groups)


# Rules and criteria

Bounds = Mapping[str, float | None]
"""Bounds that a rule keeps, by criterion; None is as near to parity as a coin."""

CRITERION_NAMES = {
    "accuracy": "accuracy",
    "proportional_equality": "proportional equality (PE)",
    "demographic_parity_difference": "difference of predicted shares",
    "demographic_parity_ratio": "ratio of predicted shares (four-fifths rule)",
    "equal_opportunity_difference": "difference of true positive rates",
    "false_positive_rate_difference": "difference of false positive rates",
    "equalized_odds_difference": "difference of both rates (equalized odds)",
}
"""How the page and the terminal call a criterion, by the name of its metric."""

CRITERION_MEANINGS = {
    "accuracy": "share of the rows that are decided right",
    "proportional_equality": (
        "how far the ratio of two groups' predicted shares is from the ratio of their "
        "true shares"
    ),
    "demographic_parity_difference": (
        "between the groups that are called positive most and least"
    ),
    "demographic_parity_ratio": (
        "smallest share called positive, relative to the greatest; the four-fifths "
        "rule asks for at least 0.8"
    ),
    "equal_opportunity_difference": "of those who are positive, how many are called so",
    "false_positive_rate_difference": (
        "of those who are negative, how many are called positive"
    ),
    "equalized_odds_difference": "the greater of the two differences of rates",
}

RULE_NAMES = {
    "prevalence": "predicted share = true share (the paper's rule)",
    "proportional_equality": "proportional equality",
    "demographic_parity": "demographic parity",
    "equal_opportunity": "equal opportunity",
    "predictive_equality": "equal false positive rates",
    "equalized_odds": "equalized odds",
    "accuracy": "best accuracy",
    "constrained": "several bounds at once",
    "unchanged": "decisions as they are",
}
"""How the page calls a rule, by its name in `cape.rules.RULES`."""

_SENTENCES = {
    "unchanged": "The decisions stay as they were made. CAPE only looks at them.",
    "prevalence": (
        "In each group, the classifier whose predicted share of positives is nearest "
        "the estimated one."
    ),
    "accuracy": (
        "In each group, the classifier whose errors are expected to cost least."
    ),
}


def rule_sentence(name: str, bounds: Bounds) -> str:
    """Say what the rule of a batch aims at.

    Parameters
    ----------
    name : str
        Of the rule.
    bounds : mapping

    Returns
    -------
    str

    Examples
    --------
    >>> rule_sentence("equal_opportunity", {"equal_opportunity_difference": 0.05})
    'One classifier for each group, chosen together: those whose errors are expected to
    cost least among all with a difference of true positive rates of at most 0.05.'
    """
    if name in _SENTENCES:
        return _SENTENCES[name]
    wishes = []
    for criterion, bound in bounds.items():
        asked = bound_text(criterion, bound)
        wishes.append(f"a {CRITERION_NAMES[criterion]} of {asked}")
    if not wishes:
        return f"One classifier for each group, chosen by {name}."
    return (
        "One classifier for each group, chosen together: those whose errors are "
        f"expected to cost least among all with {' and '.join(wishes)}."
    )


def bound_text(name: str, bound: float | None) -> str:
    """Say what a rule asks of a criterion."""
    if bound is None:
        return "next to nothing"
    if name == "demographic_parity_ratio":
        return f"at least {bound:g}"
    return f"at most {bound:g}"


def bound_sentence(entry: Mapping[str, Any], bound: float | None) -> str:
    """Say with which probability a bound of the rule is met in a batch."""
    name = CRITERION_NAMES[entry["criterion"]]
    start = name[0].upper() + name[1:]
    if entry["value"] is None:
        return f"{start}: it cannot be told, because too few groups are compared."
    expected = (
        f"{start}: {entry['value']:.3f} is expected ({criterion_interval(entry)})"
    )
    if _is_known(entry):
        expected = f"{start}: {entry['value']:.3f}, as observed in this batch"
    if bound is None:
        return f"{expected}."
    asked = f"{bound_text(entry['criterion'], bound)} was asked for"
    met = f"which this batch meets with probability {entry['probability']:.2f}"
    return f"{expected}; {asked}, {met}."


def _is_known(entry: Mapping[str, Any]) -> bool:
    """Tell whether a criterion needs no label, as those of predicted shares."""
    if entry["low"] is None or entry["high"] is None:
        return False
    # Not ==: quantiles of equal numbers differ in their last digit.
    return math.isclose(entry["low"], entry["high"], rel_tol=1e-9)


def criterion_interval(entry: Mapping[str, Any]) -> str:
    """Write the interval of a criterion, which may be open or observed."""
    if _is_known(entry):
        return "observed"
    if entry["high"] is None:
        return f"{entry['low']:.3f} or more"
    return f"{entry['low']:.3f} to {entry['high']:.3f}"


# Training


def few_rows_of_a_class(sizes: Mapping[Hashable, tuple[int, float]], least: int) -> str:
    """Name groups, their rows, and how many of them the smaller class has."""
    groups = []
    for group, (rows, smaller) in sizes.items():
        groups.append(f"{group_name(group)!r} ({smaller:g} of {rows_text(rows)})")
    return (
        f"fewer than min_class_size={least} rows of a class in {', '.join(groups)}: "
        "intervals of these groups may not hold."
    )


DRAWN_UNEQUALLY = (
    "the labelled rows are those that rows_to_label drew, more of them where the score "
    "tells less, and inclusion_probability is not given: they are taken for a plain "
    "sample, and estimates may be off. Give inclusion_probability of the draw."
)


def scores_are_perfect(aucs: Mapping[Hashable, float]) -> str:
    """Name groups in which a prefit model makes hardly a mistake."""
    groups = [f"{group_name(group)!r} (AUC {auc:.3f})" for group, auc in aucs.items()]
    return (
        f"the fitted estimator makes hardly a mistake in {', '.join(groups)}. Was it "
        "trained on these rows? With cv='prefit' they must be rows that it has not "
        "seen: otherwise scores of new rows do not follow theirs, and estimates are "
        "wrong."
    )


def scores_without_signal(aucs: Mapping[Hashable, float]) -> str:
    """Name groups whose AUC may be 1/2."""
    groups = [f"{group_name(group)!r} (AUC {auc:.2f})" for group, auc in aucs.items()]
    return (
        f"the scores do not tell the classes apart in {', '.join(groups)}: the 95 % "
        "interval of the AUC is not above 0.5. The prevalences of these groups cannot "
        "be estimated from such scores."
    )


_LABELS = 97
"""Labels that make the interval of any share 0.2 wide: (1.96 / 0.2)^2, rounded up."""


def scores_say_too_little(aucs: Mapping[Hashable, float]) -> str:
    """Name groups of which a batch without labels will say nothing."""
    groups = [f"{group_name(group)!r} (AUC {auc:.2f})" for group, auc in aucs.items()]
    return (
        f"the scores hardly tell the classes apart in {_few(groups)}: without labels, "
        "a batch will mostly say nothing of the prevalence, because a little drift "
        f"outweighs what such scores tell. Labels of {_LABELS} rows of a group, drawn "
        "at random, make its interval about 0.2 wide."
    )


def scores_are_alike(positives: float, negatives: float) -> str:
    """Compare the mean scores of two classes that no quantifier can tell apart."""
    return (
        "the scores cannot tell the classes apart (mean score of positives "
        f"{positives:.4f}, of negatives {negatives:.4f}): every estimate will be the "
        "training prevalence, with interval [0, 1]."
    )


def of_group(message: str, group: Hashable) -> str:
    """Say which group a warning is about."""
    return f"group {group_name(group)!r}: {message}"


def rows_are_repeated(n_repeated: int, n_rows: int) -> str:
    """Say how many rows are copies, and what to do about it."""
    return (
        f"{n_repeated:,} of {n_rows:,} rows occur more than once, with the same label: "
        "intervals count every copy as one more row and will be too narrow. Leave the "
        "copies out, or give each row once with its number as sample_weight."
    )


def decisions_run_against_labels(column: Any, positive: Any) -> str:
    """Warn that decisions go the other way than labels."""
    return (
        f"Rows with the decision {positive!r} in column {column!r} are positive less "
        "often than the rest. Name the decision that predicts a positive as "
        "Scores(positive=...), or --positive-decision."
    )
