"""What is said of training, of adaptations and their verdicts, and of rules."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from cape.base._limits import (
    FEWEST_LABELS,
    NOTABLY_HELD_BACK,
    ONE_CLASS,
    TOLERANCE,
    USEFUL_WIDTH,
    WIDEST,
)
from cape.base._numbers import (
    KINDS,
    counted,
    group_name,
    listed,
    points,
    quoted,
    rows_text,
    share_text,
    shortened,
)
from cape.shown._action import REASONS, VERDICTS, helps_text

if TYPE_CHECKING:
    from cape.rules._adaptation import Adaptation, GroupAdaptation

_MOST_NAMES = 10
_MOST_COLUMNS = 5
_MOST_FAULTS = 3


def _from_others(adapted: GroupAdaptation) -> str:
    """Say how much of what is known comes from other groups, if it is notable."""
    if not adapted.borrowed >= NOTABLY_HELD_BACK or adapted.fully_labelled:
        return ""
    return f" ({points(adapted.borrowed)}% of the evidence comes from other groups)"


def few_labels(drawn: int, groups: int, enough: int) -> str:
    """Say that labels are few for so many groups, and how many would do."""
    return (
        f"{drawn:,} labels may be too few for {counted(groups, 'group')}; {enough:,} "
        f"would pin down each share to within about {USEFUL_WIDTH / 2:.2f}"
    )


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
        before, now = adapted.without_labels.value, adapted.estimate.value
        if before == now:
            return "no row has a label"
        return (
            "no row has a label; labels of other groups moved the estimate from "
            f"{share_text(before)} to {share_text(now)}"
        )
    rows = counted(labels.rows, "label")
    if labels.rows == adapted.rows > 1:
        rows = f"labels for all {labels.rows:,} rows"
    # What labels say comes first: a verdict on an estimate that says nothing hides it.
    said = share_text(said_by_labels(adapted, decide=decide))
    share = f"{rows} put the share at {said}"
    if labels.verdict == "confirmed":
        return f"{share} and confirm the label-free estimate to within 10 points"
    if labels.verdict == "not_contradicted":
        estimate = "the label-free estimate"
        if adapted.without_labels.width > WIDEST:
            estimate = f"{estimate}, whose interval is too wide to say much"
        return f"{share} and do not contradict {estimate} ({p_text(labels.p_value)})"
    if labels.verdict == "refuted":
        return (
            f"{share} and contradict the label-free estimate ({p_text(labels.p_value)})"
        )
    if labels.contradict_scores:
        return (
            f"{REASONS['contradicted'].words} (AUC {labels.auc:.2f} among {rows}, "
            f"{labels.training_auc:.2f} in training) and are not used; alone they put "
            f"the share at {share_text(labels.estimate)}. "
            f"{REASONS['contradicted'].helps.capitalize()}"
        )
    if labels.rows < FEWEST_LABELS:
        return f"too few labels to use ({labels.rows}); {FEWEST_LABELS} are needed"
    if not math.isnan(labels.p_value):
        label = "positive" if labels.estimate == 1 else "negative"
        return (
            f"labels are not used because all {labels.rows:,} are {label}: the chance "
            f"of that is below 1 in {1 / ONE_CLASS:,.0f} if the label-free estimate is "
            "right. Were rows with the other label left blank? If not, label more rows "
            "until both labels occur"
        )
    return (
        "labels are not used because the labeled rows are not a random sample of the "
        f"batch ({p_text(labels.sample_p_value)})"
    )


def said_by_labels(adapted: GroupAdaptation, *, decide: bool) -> float:
    """Return the share of positives that labels stand for: one number everywhere."""
    # Where labels did not decide, what they say is not mixed with what they check.
    return adapted.estimate.value if decide else adapted.labels.estimate


def p_text(p_value: float) -> str:
    """Write a p-value."""
    # Further digits would claim more than a large-sample test can tell.
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}"


def describe_verdict(adapted: GroupAdaptation) -> str:
    """Say in a few words what the tests say of the assumption of a prior shift."""
    return _verdict_alone(adapted) + _from_others(adapted)


def _verdict_alone(adapted: GroupAdaptation) -> str:
    text = VERDICTS[adapted.verdict].words
    if adapted.verdict == "some_drift":
        return f"{text}{_widened(adapted)}"
    if adapted.verdict == "drifted":
        scores_alone = share_text(adapted.quantifier_estimate.value)
        return f"{text}; the scores alone suggest {scores_alone}"
    if adapted.verdict == "uncertain":
        return f"{text}: the {_label_free(adapted)}{_LIKELY_OFF}"
    return text


_LIKELY_OFF = f"estimate is likely off by more than {points(TOLERANCE)} points"


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
    without = "" if adapted.labels.verdict is None else " without labels"
    text = VERDICTS[word].words
    if word == "fault":
        columns = listed([f"`{name}`" for name in at_fault], _MOST_FAULTS)
        result = f"the {_label_free(adapted)}estimate is worthless"
        if cautious:
            result = f"the share of positives cannot be estimated{without}"
        return f"{text}, {columns}: {result}"
    if word == "ignored":
        return text
    if word == "uncertain" and adapted.quantifier_estimate.width > WIDEST:
        scores = "" if math.isnan(auc) else f" (AUC {auc:.2f})"
        # Where no number of rows would do, more rows are no remedy.
        if math.isinf(rows_needed):
            return (
                f"{text}: the scores{scores} cannot tell the share of positives"
                f"{without}, no matter how many rows there are; label some rows"
            )
        text = f"{text}: {rows_text(adapted.rows)} with scores this weak{scores}"
        if rows_needed > adapted.rows:
            return f"{text}{without}; about {rows_needed:,.0f} would be enough"
        return f"{text}{without}"
    return describe_verdict(adapted) + _UNTESTED[untested]


_UNTESTED = {
    "columns": " (only the scores were tested)",
    "scores": " (only the columns were tested)",
    "": "",
}


def _label_free(adapted: GroupAdaptation) -> str:
    """Tell an estimate or an interval without labels from one with them."""
    return "" if adapted.labels.verdict is None else "label-free "


def _widened(adapted: GroupAdaptation) -> str:
    before = adapted.quantifier_estimate.width
    after = adapted.without_labels.width
    if not after > before:
        return ""
    interval = f"{_label_free(adapted)}interval"
    return f": the {interval} is {points(after)} points wide, not {points(before)}"


def _few(names: Iterable[str], most: int = _MOST_NAMES, between: str = ", ") -> str:
    """List the first names, and say how many more there are."""
    return between.join(shortened(names, most))


REFITTED = (
    "once refitted on all rows, a learner that is flexible, or whose scores are few or "
    "hardly vary, scores new rows differently from its out-of-fold rows. Fit with "
    "scores='folds' for a valid test."
)


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
    untested = []
    for group, drift in adaptation.drifts.items():
        if drift.score is None:
            untested.append(names[group])
    if untested:
        yield (f"the scores of {_few(map(repr, untested))} were not tested: {REFITTED}")
    yield from _of_wide_intervals(adaptation, names)
    listed = []
    for group in refuted:
        adapted = adaptation.groups[group]
        listed.append(
            f"{names[group]!r} ({share_text(adapted.without_labels.value)} without "
            f"labels, {share_text(adapted.estimate.value)} with {adapted.labels.rows})"
        )
    if listed:
        yield (
            f"labels contradict the label-free estimate for {_few(listed)} and have "
            "corrected it."
        )
    unused = []
    for group, adapted in adaptation.groups.items():
        if adapted.labels.contradict_scores:
            yield f"{names[group]!r}: {describe_labels(adapted)}."
        elif adapted.labels.rows and adapted.labels.verdict is None:
            unused.append(f"{names[group]!r}: {describe_labels(adapted)}")
    if unused:
        yield (
            f"{_few(unused, between='; ')}. The label-free estimate is kept. Label a "
            f"random sample of the batch, at least {FEWEST_LABELS} rows in each group; "
            "rows drawn by rows_to_label need their inclusion_probability."
        )
    yield from adaptation.notes


def of_faults(adaptation: Adaptation, faults: list[str]) -> Iterator[str]:
    """Warn of columns that are plainly not what they were in training."""
    if not faults:
        return
    without = ""
    grown: dict[str, None] = {}
    for group, drift in adaptation.drifts.items():
        if drift.faults and adaptation.groups[group].labels.verdict is not None:
            without = " without labels"
        grown |= {one.column: None for one in drift.faults if one.outgrown}
    remedy = helps_text("outgrown", grown)
    listed = _few(faults, _MOST_COLUMNS, between="; ")
    yield (
        f"columns are not what they were in training: {listed}. The share of positives "
        f"cannot be estimated{without} until this is fixed."
        + (f" If values only grow: {remedy}." if grown else "")
    )


def _of_drift(adaptation: Adaptation, names: Mapping[Any, str]) -> Iterator[str]:
    """Warn of groups in which more than the prevalence has moved, at 1 %."""
    listed = []
    columns: dict[str, None] = {}
    for group, drift in adaptation.drifts.items():
        if drift.faults or not drift.is_clear:
            continue
        adapted = adaptation.groups[group]
        estimate = f"the {_label_free(adapted)}estimate"
        rests = f"{adapted.held_back:.0%} of {estimate} rests on training"
        listed.append(f"{names[group]!r} ({rests})")
        columns.update(dict.fromkeys(column.column for column in drift.moved_columns))
    if not listed:
        return
    where = "the scores"
    if columns:
        where = f"the columns {_few(columns, _MOST_COLUMNS)}"
    yield (
        f"{VERDICTS['drifted'].words} in {_few(listed)}: more than the share of "
        f"positives. Look at {where}; cape.examine(...).columns has the details."
    )


def _of_wide_intervals(
    adaptation: Adaptation, names: Mapping[Any, str]
) -> Iterator[str]:
    """Warn of groups that the scores say too little of to decide by them."""
    listed = []
    for group, adapted in adaptation.groups.items():
        # With labels more is known, and drift has a sentence of its own.
        drift = adaptation.drifts[group]
        if adapted.labels.verdict is not None or drift.is_clear:
            continue
        is_wide = adapted.verdict == "uncertain" and adapted.estimate.width > WIDEST
        if is_wide and not drift.faults:
            listed.append(f"{names[group]!r} ({rows_text(adapted.rows)})")
    if listed:
        yield (
            f"{VERDICTS['uncertain'].words} in {_few(listed)}: the {_LIKELY_OFF}. "
            "Label some rows; cape.examination.rows_needed says whether more rows "
            "would help."
        )


_COLUMN_HAPPENED = {
    "units": "values are about {factor:,g} times those in training, where the median "
    "was {median:.4g}, as if the units had changed",
    "type": "{share:.0%} have a different type; training had {held}",
    "missing": "{share:.0%} are missing ({expected:.0%} expected)",
    "above": "{part} are {greater} than {end} ({expected:.0%} expected{usual})",
    "below": "{part} are {smaller} than {end} ({expected:.0%} expected{usual})",
    "constant": "{part} are {where} ({expected:.0%} expected)",
    "edge": "{share:.0%} are {below} {end} ({expected:.0%} expected)",
    "unseen": "{share:.0%} are values never seen in training{names}",
    "level": "{share:.0%} are {level!r} ({expected:.0%} expected)",
    "moved": "{share:.0%} of the values changed",
}

_MOST_NAMES_OF_VALUES = 3


def what_happened(code: str, form: str, numbers: Mapping[str, Any]) -> str:
    """Say what has happened to a column, without its name.

    Parameters
    ----------
    code : str
        What has happened, from `ColumnDrift.what_happened`.
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

        all values are later than 2013-12-29 (0% expected)
        100% are values never seen in training: M, F
        40% are missing (0% expected)
        31% are below 2 (64% expected)

    Shares beyond an edge are exact; a median would have to be interpolated.
    """
    said = dict(numbers)
    for name in ("low", "high", "end"):
        if name in said:
            said[name] = _value_text(numbers[name], form)
    said["greater"], said["smaller"], said["below"] = "greater", "smaller", "below"
    least = "at least"
    if form == "date":
        said["greater"], said["smaller"], said["below"] = "later", "earlier", "before"
        least = "on or after"
    if code == "constant":
        said["where"] = f"{least} {said['low']} but {said['below']} {said['high']}"
        high = np.float32(numbers["high"])
        if np.nextafter(np.float32(numbers["low"]), high) == high:
            said["where"] = said["low"]
    if code == "units":
        said["factor"] = float(f"{numbers['factor']:.2g}")
    if code == "type":
        said["held"] = KINDS[numbers["kind"]]
    if code == "unseen":
        names = [name[:40] for name in numbers["names"][:_MOST_NAMES_OF_VALUES]]
        # A blank at an end may be all that is wrong.
        names = [name if name == name.strip() else repr(name) for name in names]
        said["names"] = f": {', '.join(names)}" if names else ""
    said["usual"] = ""
    if not math.isnan(numbers.get("usual", math.nan)):
        said["usual"] = f"; mostly {_value_text(numbers['usual'], form)}"
    said["part"] = f"{numbers.get('share', 0):.0%}"
    if are_all_values(numbers):
        # Without their number: each group has its own.
        said["part"] = "all values"
    return _COLUMN_HAPPENED[code].format(**said)


def are_all_values(numbers: Mapping[str, Any]) -> bool:
    """Tell whether what happened to a column happened to all of its values."""
    if "present" not in numbers:
        return False
    return math.isclose(
        numbers["share"], numbers["present"], rel_tol=1e-5, abs_tol=1e-8
    )


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
        f"with fewer than {fewest_rows} unseen rows in a class, the error rates of "
        f"{_named(groups)} are unknown. The classifier whose predicted share is "
        "nearest the estimate was chosen."
    )


def criterion_is_undefined(criterion: str, groups: Sequence[Hashable]) -> str:
    """Say for which groups a criterion of a rule is undefined."""
    return f"{criterion} is undefined for {_named(groups)}; the rule ignores it there."


def bound_is_missed(criterion: str, measured: float, bound: float | None) -> str:
    """Say how near a rule comes to a bound that no choice of members meets."""
    closest = f"the closest has {criterion} {measured:.4g}"
    if bound is None:
        return f"no choice of classifiers makes the groups equal: {closest}."
    return f"no choice of classifiers meets every bound: {closest}, not {bound:g}."


def _named(groups: Sequence[Hashable]) -> str:
    return ", ".join(repr(group_name(group)) for group in groups)


# Rules and criteria

CRITERION_NAMES = {
    "accuracy": "accuracy",
    "proportional_equality": "proportional equality (PE)",
    "demographic_parity_difference": "difference in predicted shares",
    "demographic_parity_ratio": "ratio of predicted shares (four-fifths rule)",
    "equal_opportunity_difference": "difference in true positive rates",
    "false_positive_rate_difference": "difference in false positive rates",
    "equalized_odds_difference": "larger of the two rate differences (equalized odds)",
}
"""What the page and the terminal call a criterion, by the name of its metric."""


RULE_NAMES = {
    "prevalence": "as many predicted positives as true ones in each group",
    "proportional_equality": "predicted shares in proportion to the true ones",
    "demographic_parity": "equal shares of predicted positives",
    "equal_opportunity": "equal shares of positives found",
    "predictive_equality": "equal shares of negatives called positive",
    "equalized_odds": "equal error rates",
    "accuracy": "best accuracy",
    "constrained": "best accuracy within bounds",
    "unchanged": "decisions left unchanged",
}
"""What the page and the terminal call a rule, by its name in `cape.rules.RULES`."""


def bound_text(name: str, bound: float | None) -> str:
    """Say what a rule asks of a criterion."""
    if bound is None:
        return "nearly zero"
    if name == "demographic_parity_ratio":
        return f"at least {bound:g}"
    return f"at most {bound:g}"


def bound_sentence(entry: Mapping[str, Any], bound: float | None) -> str:
    """Say with which probability a bound of the rule is met in a batch."""
    name = CRITERION_NAMES[entry["criterion"]]
    start = name[0].upper() + name[1:]
    if entry["value"] is None:
        return f"{start}: unknown because there are too few groups to compare."
    expected = f"{start}: expected {entry['value']:.3f} ({criterion_interval(entry)})"
    if _is_known(entry):
        expected = f"{start}: {entry['value']:.3f}, as observed in this batch"
    if bound is None:
        return f"{expected}."
    return (
        f"{expected}. You asked for {bound_text(entry['criterion'], bound)}; the "
        f"probability that this batch meets it is {entry['probability']:.2f}."
    )


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
        f"fewer than {least} rows in a class of {', '.join(groups)}: "
        "the intervals for these groups may be wrong."
    )


def few_rows(n_rows: int) -> str:
    """Say that a model adapts to what is no batch."""
    return (
        f"predict adapts to the {rows_text(n_rows)} it was given, too few to estimate "
        "the share of positives: as part of its full batch, a row may get a different "
        "decision. Adapt to a whole batch, and predict with clf.freeze(adaptation)."
    )


def borrowed_interval(quantifier: str) -> str:
    """Say whose interval stands beside the estimate of a quantifier from outside."""
    return (
        f"{quantifier} has no interval of its own: the intervals are those of the mean "
        "score (SPA), stretched to contain the estimate."
    )


def weighted(names: Sequence[str]) -> str:
    """Say that only the rows of training, or only those of the batch, had weights."""
    return (
        f"of {quoted(names, _MOST_NAMES)}, either training rows or rows of this batch "
        "have unequal weights, and the others none: give both their weights "
        "(sample_weight, --weight). Where the batch differs from training, nobody can "
        "say whether that is more than the weights."
    )


def worth_little(names: Sequence[str]) -> str:
    """Say that a few rows have most of the weight."""
    return (
        f"rows of {quoted(names, _MOST_NAMES)} have weights so unequal that a few "
        "decide: all are worth fewer than ten of equal weight. Trim the largest "
        "weights, or give more rows."
    )


def columns_without_values(names: Sequence[str]) -> str:
    """Name columns that hold no value in training."""
    return (
        f"X has no value in {quoted(names, 5)}: the learner leaves the column out, and "
        "nothing that a batch holds there is used."
    )


_LABELS = 97
"""Labels that make the interval of any share 0.2 wide: (1.96 / 0.2)^2, rounded up."""

WEAK_SCORES = {
    "perfect": "the fitted estimator makes almost no mistakes in {}. Was it trained on "
    "these rows? cv='prefit' needs rows that it has not seen; otherwise estimates are "
    "wrong.",
    "reversed": "the scores are reversed in {}: positives have the lower ones. Does "
    "predict_proba of the estimator return its columns in the order of classes_, or is "
    "another label positive?",
    "no signal": "the scores do not tell the classes apart in {}: the 95% interval of "
    "the AUC reaches down to 0.5 or lower. The share of positives in such a group "
    "cannot be estimated from its scores.",
    "weak": "the scores barely tell the classes apart in {}: without labels, a batch "
    "will usually say nothing about the share of positives because a little drift "
    f"drowns out weak scores. With labels for {_LABELS} random rows of a group, its "
    "interval is about 0.2 wide.",
}
"""What is wrong with the scores of groups."""


def weak_scores(why: str, aucs: Mapping[Hashable, float]) -> str:
    """Name groups whose estimates will be worth little, with their AUC."""
    digits = 3 if why == "perfect" else 2
    groups = []
    for group, auc in aucs.items():
        groups.append(f"{group_name(group)!r} (AUC {auc:.{digits}f})")
    return WEAK_SCORES[why].format(_few(groups))


def scores_are_alike(positives: float, negatives: float) -> str:
    """Compare the mean scores of two classes that no quantifier can tell apart."""
    return (
        "the scores cannot tell the classes apart (mean score of positives "
        f"{positives:.4f}, of negatives {negatives:.4f}): every estimate will equal "
        "the training prevalence, with interval [0, 1]."
    )


def of_group(message: str, group: Hashable) -> str:
    """Say which group a warning is about."""
    return f"group {group_name(group)!r}: {message}"


def rows_are_repeated(n_repeated: int, n_rows: int) -> str:
    """Say how many rows are copies, and what to do about it."""
    return (
        f"{n_repeated:,} of {n_rows:,} rows occur more than once with the same label: "
        "intervals count every copy as a new row and will be too narrow. Leave out the "
        "copies, or give each row once with its count as sample_weight."
    )


def decisions_run_against_labels(column: Any, positive: Any) -> str:
    """Warn that decisions go the other way than labels."""
    return (
        f"Rows with the decision {positive!r} in column {column!r} are positive less "
        "often than the rest. Pass the decision that predicts a positive as "
        "Scores(positive=...), or --positive-decision."
    )
