"""What is said of labels, verdicts, rules and training; doubts are warned of."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import Adaptation, AdaptationWarning, Estimate
from cape.rules import CRITERIA, RULES
from cape.shown import _results as wording

USED = {"rows": 46, "estimate": 0.62, "verdict": "refuted", "p_value": 0.003}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {**USED, "verdict": "confirmed"},
            "46 labels put the share at 60% and confirm the label-free estimate to "
            "within 10 points",
        ),
        (
            {**USED, "verdict": "not_contradicted", "p_value": 0.21},
            "46 labels put the share at 60% and do not contradict the label-free "
            "estimate, whose interval is too wide to say much (p = 0.210)",
        ),
        (
            USED,
            "46 labels put the share at 60% and contradict the label-free estimate "
            "(p = 0.003)",
        ),
        (
            {**USED, "rows": 500, "p_value": 1e-9},
            "labels for all 500 rows put the share at 60% and contradict the "
            "label-free estimate (p < 0.001)",
        ),
        (
            {"rows": 46, "sample_p_value": 0.004},
            "labels are not used because the labeled rows are not a random sample of "
            "the batch (p = 0.004)",
        ),
        (
            {"rows": 3},
            "too few labels to use (3); 10 are needed",
        ),
        (
            {"rows": 46, "estimate": 1.0, "p_value": 1e-5},
            "labels are not used because all 46 are positive: the chance of that is "
            "below 1 in 1,000 if the label-free estimate is right. Were rows with the "
            "other label left blank? If not, label more rows until both labels occur",
        ),
        (
            {"rows": 0},
            "no row has a label; labels of other groups moved the estimate from 20% "
            "to 60%",
        ),
    ],
)
def test_the_verdict_in_words(adapted, given, text):
    group = adapted(labels=given)
    assert wording.describe_labels(group) == text
    in_repr = text in " ".join(repr(Adaptation("f", {"a": group})).split())
    assert in_repr == (group.labels.rows > 0)


def test_print_shows_both_estimates_if_labels_were_used(adapted):
    text = repr(Adaptation("f", {"a": adapted(labels=USED)}))
    assert "0.500 0.600 (0.500 to 0.700) 0.200 (0.100 to 0.8" in " ".join(text.split())
    unused = repr(Adaptation("f", {"a": adapted()}))
    assert "without labels" not in unused


@pytest.mark.parametrize("verdict", ["uncertain", "some_drift"])
def test_where_labels_were_used_the_tests_speak_of_the_label_free_estimate(
    adapted, verdict
):
    with_labels = wording.describe_verdict(adapted(verdict=verdict, labels=USED))
    assert re.search("label-free|without labels", with_labels)
    # The interval with labels is 0.2 wide, the one without them 0.7.
    assert verdict != "some_drift" or with_labels.endswith("70 points wide, not 10")
    unused = wording.describe_verdict(adapted(verdict=verdict))
    assert "label" not in unused


@given(st.lists(st.floats(0, 1), max_size=30))
def test_an_alarm_is_for_all_groups_together(adapted, p_values):
    groups = {}
    for group, p_value in enumerate(p_values):
        groups[group] = adapted(labels={**USED, "p_value": p_value})
    refuted = Adaptation("f", groups).refuted
    for group, p_value in enumerate(p_values):
        if p_value < 0.05 / len(p_values):
            assert group in refuted
        if p_value >= 0.05:
            assert group not in refuted


def test_groups_without_a_verdict_do_not_count_among_the_tests(adapted):
    groups = {"a": adapted(labels={**USED, "p_value": 0.04})}
    for group in "bcd":
        groups[group] = adapted()
    assert Adaptation("f", groups).refuted == ["a"]


@pytest.fixture(scope="module")
def warnings_of(nothing_found, warn_if_doubtful):
    """List what is warned of if groups are like these."""

    def warn(groups):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drifts = dict.fromkeys(groups, nothing_found)
            warn_if_doubtful(Adaptation("f", groups, drifts=drifts))
        return [str(warning.message) for warning in caught]

    return warn


def test_a_refuted_estimate_is_warned_of_with_both_numbers(adapted, warnings_of):
    (message,) = warnings_of({"a": adapted(labels=USED)})
    assert "the label-free estimate for 'a' (20% without labels" in message
    assert "60% with 46" in message
    confirmed = adapted(labels={**USED, "verdict": "confirmed", "p_value": 0.6})
    assert warnings_of({"a": confirmed}) == []


def test_labels_that_cannot_be_used_are_warned_of(adapted, warnings_of):
    groups = {
        "early": adapted(labels={"rows": 46, "sample_p_value": 0.001}),
        "few": adapted(labels={"rows": 4}),
        "none": adapted(),
    }
    (message,) = warnings_of(groups)
    assert "'early': labels are not used" in message
    assert "'few': too few labels to use (4)" in message
    assert "'none'" not in message


def hidden(y, share, seed=0):
    """Keep the labels of a plain sample."""
    known = np.random.default_rng(seed).random(len(y)) < share
    return np.where(known, y, None)


def test_labels_that_narrow_an_interval_silence_the_warning_of_a_wide_one(
    fitted, batch
):
    clf = fitted(pool="threshold")
    some = batch.z == 0
    X = batch.X[some]
    y = batch.y[some]
    # Rows that look like either class.
    middle = X[y == 1].mean(axis=0) / 2 + X[y == 0].mean(axis=0) / 2
    few = np.array([middle] * 10)
    groups = {"sensitive_features": [0] * 10}
    with pytest.warns(AdaptationWarning, match="too little evidence"):
        clf.adapt(few, level=0.99999, **groups)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.adapt(few, [0, 1] * 5, level=0.99999, **groups)
    assert not any("too little evidence" in str(warning.message) for warning in caught)


def test_a_column_at_fault_leaves_labels_their_say(fitted, batch):
    clf = fitted(pool="threshold")
    far = batch.X * [1, 100]
    groups = {"sensitive_features": batch.z}
    with pytest.warns(AdaptationWarning, match="fixed.") as caught:
        clf.adapt(far, hidden(batch.y, 0.5), **groups)
    messages = [str(warning.message) for warning in caught]
    assert any("be estimated without labels until" in text for text in messages)
    with pytest.warns(AdaptationWarning, match="be estimated until"):
        clf.adapt(far, **groups)


# Rules and criteria

TPR = "equal_opportunity_difference"


def entry(name, value=0.04, low=0.0, high=0.12, bound=None, probability=None):
    return {
        "criterion": name,
        "value": value,
        "low": low,
        "high": high,
        "bound": bound,
        "probability": probability,
    }


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_criterion_and_rule_has_a_name(name):
    assert set(wording.CRITERION_NAMES) == {"accuracy", *CRITERIA}
    # Some rules have a second, short name.
    own_name = next(one for one, kind in RULES.items() if kind is RULES[name])
    assert own_name in wording.RULE_NAMES


def test_the_probability_is_said():
    sentence = wording.bound_sentence(entry(TPR, bound=0.05, probability=0.6123), 0.05)
    assert sentence == (
        "Difference in true positive rates: expected 0.040 (0.000 to 0.120). You "
        "asked for at most 0.05; the probability that this batch meets it is 0.61."
    )


def test_what_is_observed_is_not_expected():
    known = entry("demographic_parity_ratio", 0.81, 0.81, 0.81, 0.8, 1.0)
    sentence = wording.bound_sentence(known, 0.8)
    assert "0.810, as observed in this batch. You asked for at least 0.8" in sentence
    assert "four-fifths" in sentence


def test_a_rule_without_a_tolerance_has_no_probability():
    sentence = wording.bound_sentence(entry(TPR), None)
    assert sentence.endswith("expected 0.040 (0.000 to 0.120).")


def test_an_undefined_criterion_is_said_to_be_unknown():
    assert "unknown" in wording.bound_sentence(entry(TPR, None, 0.0, None), 0.05)


def test_intervals_may_be_open_or_observed():
    endless = entry("proportional_equality", 0.4, 0.1, None)
    assert wording.criterion_interval(endless) == "0.100 or more"
    assert wording.criterion_interval(entry(TPR)) == "0.000 to 0.120"
    # Quantiles of equal numbers differ in their last digit.
    known = entry("demographic_parity_ratio", 0.4, 0.4, np.nextafter(0.4, 1))
    assert wording.criterion_interval(known) == "observed"


def test_warnings_of_fit():
    sizes = {("a", 1): (42, 21), "b": (90, 12.5)}
    assert wording.few_rows_of_a_class(sizes, 25) == (
        "fewer than 25 rows in a class of 'a, 1' (21 of 42 rows), 'b' "
        "(12.5 of 90 rows): the intervals for these groups may be wrong."
    )
    assert wording.weak_scores("no signal", {"b": 0.512}) == (
        "the scores do not tell the classes apart in 'b' (AUC 0.51): the 95% interval "
        "of the AUC reaches down to 0.5 or lower. The share of positives in such a "
        "group cannot be estimated from its scores."
    )
    assert "'b' (AUC 0.56)" in wording.weak_scores("weak", {"b": 0.56})
    alike = wording.scores_are_alike(0.3, 0.25)
    assert wording.of_group(alike, 0) == (
        "group '0': the scores cannot tell the classes apart (mean score of positives "
        "0.3000, of negatives 0.2500): every estimate will equal the training "
        "prevalence, with interval [0, 1]."
    )
    assert wording.rows_are_repeated(4000, 5000) == (
        "4,000 of 5,000 rows occur more than once with the same label: intervals "
        "count every copy as a new row and will be too narrow. Leave out the copies, "
        "or give each row once with its count as sample_weight."
    )


VERDICTS = [
    ({"verdict": "consistent"}, {}, "no other changes found"),
    (
        {"verdict": "consistent"},
        {"untested": "columns"},
        "no other changes found (only the scores were tested)",
    ),
    (
        {"verdict": "consistent"},
        {"untested": "scores"},
        "no other changes found (only the columns were tested)",
    ),
    (
        {"verdict": "drifted", "without_labels": Estimate(0.6, 0.5, 0.7)},
        {},
        "other changes found; the scores alone suggest 55%",
    ),
    (
        {"verdict": "uncertain"},
        {},
        "too little evidence: the estimate is likely off by more than 5 points",
    ),
    (
        {"verdict": "uncertain", "quantifier_estimate": Estimate(0.5, 0.1, 0.9)},
        {},
        "too little evidence: 1,234 rows with scores this weak (AUC 0.70)",
    ),
    (
        {"verdict": "uncertain", "quantifier_estimate": Estimate(0.5, 0.1, 0.9)},
        {"rows_needed": 1500.2},
        "too little evidence: 1,234 rows with scores this weak (AUC 0.70); about 1,500 "
        "would be enough",
    ),
    (
        # Not even a batch without end.
        {"verdict": "uncertain", "quantifier_estimate": Estimate(0.5, 0.1, 0.9)},
        {"rows_needed": float("inf"), "auc": 0.55},
        "too little evidence: the scores (AUC 0.55) cannot tell the share of "
        "positives, no matter how many rows there are; label some rows",
    ),
    (
        {"verdict": "fault"},
        {"at_fault": list("abcde")},
        "a column is broken, `a`, `b`, `c` and 2 more: the share of positives cannot "
        "be estimated",
    ),
    (
        {"verdict": "fault"},
        {"at_fault": ["a"], "cautious": False},
        "a column is broken, `a`: the estimate is worthless",
    ),
    (
        {"verdict": "ignored"},
        {},
        "other changes found but ignored",
    ),
]


@pytest.mark.parametrize(("changes", "options", "words"), VERDICTS)
def test_words_of_a_verdict(adapted, changes, options, words):
    plain = {"rows": 1234, "held_back": 0.0}
    plain["quantifier_estimate"] = Estimate(0.55, 0.5, 0.6)
    group = adapted(**{**plain, **changes})
    facts = {"at_fault": [], "auc": 0.7, "cautious": True, "untested": "", **options}
    assert wording.verdict_text(group.verdict, group, **facts) == words
