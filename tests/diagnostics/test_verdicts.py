"""The verdict on a group: its word, its reason, and what was not looked at."""

from dataclasses import replace

import pytest

from cape.adaptation import Adaptation, GroupAdaptation
from cape.diagnostics import ColumnFinding
from cape.diagnostics._verdicts import judge_group

ADAPTED = GroupAdaptation(
    rows=1234,
    labelled=0,
    training_prevalence=0.3,
    estimate=0.5,
    low=0.4,
    high=0.6,
    label_free_estimate=0.5,
    label_free_low=0.4,
    label_free_high=0.6,
    label_estimate=float("nan"),
    label_verdict=None,
    label_p_value=float("nan"),
    sample_p_value=float("nan"),
    prior_shift_estimate=0.55,
    prior_shift_low=0.5,
    prior_shift_high=0.6,
    mean_score=0.4,
    drift=0.0,
    held_back=0.0,
    verdict="consistent",
    member=0,
    theta=0.5,
    predicted_prevalence=0.5,
    pd_bound=0.1,
)


def column(name, *, moved=False, fault=""):
    return ColumnFinding(name, moved, fault, 0.1, 0.5, 0.5, 0.5, 0.1, f"`{name}`: x")


UNMOVED = [column("age")]


def judge(adapted=ADAPTED, columns=UNMOVED, **more):
    options = {"scores_tested": True, "auc": 0.7, "cautious": True, **more}
    return judge_group(adapted, columns, **options)


def test_all_is_clear_only_if_scores_and_columns_were_looked_at():
    verdict = judge()
    assert verdict.clear and verdict.text == "consistent with a prior shift"
    for options, missing in (
        ({"columns": []}, "no column was looked at"),
        ({"scores_tested": False}, "the scores were not tested"),
    ):
        verdict = judge(**options)
        assert verdict.word == "consistent" and not verdict.clear
        assert verdict.text.endswith(missing)


def test_signs_too_weak_for_a_verdict_are_a_reservation_if_they_had_effects():
    verdict = judge(replace(ADAPTED, held_back=0.4))
    assert verdict.word == "consistent" and not verdict.clear
    assert verdict.text.endswith("not clearly: the estimate was held back from 0.550")
    assert judge(replace(ADAPTED, held_back=0.05)).clear


def test_an_adaptation_has_the_reservation_of_the_verdict():
    """`print(clf.adapt(X))` is all that many people read."""
    held_back = replace(ADAPTED, held_back=0.4)
    adaptation = Adaptation("a", {"town": held_back, "country": ADAPTED})
    words = judge(held_back).text
    assert repr(adaptation).count(words) == 1
    assert list(adaptation._shown().table["verdict"]) == [words, judge().text]


def test_what_was_not_looked_at_does_not_hide_what_was_found():
    text = judge(replace(ADAPTED, held_back=0.4), columns=[]).text
    assert "was held back from 0.550" in text and "no column was looked at" in text


@pytest.mark.parametrize("cautious", [True, False])
def test_a_fault_overrides_every_other_verdict(cautious):
    names = "abcde"
    columns = [column(name, moved=True, fault="units") for name in names]
    for word in ("consistent", "some_drift", "drifted", "cannot_tell"):
        verdict = judge(replace(ADAPTED, verdict=word), columns, cautious=cautious)
        assert verdict.word == "fault" and not verdict.clear
        assert "because of `a`, `b`, `c` and 2 more" in verdict.text
        assert verdict.text.startswith("cannot tell") == cautious


def test_drift_that_was_ignored_is_not_called_consistent():
    moved = [column("age", moved=True)]
    assert judge(columns=moved, cautious=False).word == "ignored"
    drifting = replace(ADAPTED, verdict="some_drift")
    assert judge(drifting, cautious=False).word == "ignored"
    assert judge(cautious=False).word == "consistent"


def test_the_reason_for_not_telling_is_few_rows_or_columns_that_disagree():
    unknown = replace(ADAPTED, verdict="cannot_tell", low=0.2, high=0.8)
    assert judge(unknown).text == (
        "cannot tell: columns and scores disagree on the prevalence, and the estimate "
        "was held back from 0.550"
    )
    few = replace(unknown, prior_shift_low=0.1, prior_shift_high=0.9)
    assert judge(few).text == (
        "cannot tell from so few rows: 1,234 are too few for scores with an AUC of 0.70"
    )


def test_no_verdict_says_that_the_assumption_holds():
    for word in ("consistent", "some_drift", "drifted", "cannot_tell", "not_tested"):
        verdict = judge(replace(ADAPTED, verdict=word))
        assert verdict.word == word
        assert "holds" not in verdict.text and "fails" not in verdict.text
