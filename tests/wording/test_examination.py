"""What is said of columns that should not be learned from."""

from dataclasses import replace

import pytest

from cape import Estimate, examine
from cape._wording._examination import suspicion_text
from cape._wording._results import verdict_text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (("counts",), "counts the rows"),
        (("auc", 0.98765), "alone has an AUC of 0.988"),
        (
            ("all positive", 1200, "with a value"),
            "all 1,200 rows with a value are positive",
        ),
        (("all positive", 70, "with", "yes"), "all 70 rows with 'yes' are positive"),
        (("dates",), "holds dates"),
        (("text as dates", "%Y-%m"), "text that reads as dates (%Y-%m)"),
        (("numbers as dates", "%Y%m"), "numbers that read as dates (%Y%m)"),
        (("since 1970", "seconds"), "numbers that read as dates (seconds since 1970)"),
        (("differ", 991, 1000), "991 of 1,000 values differ"),
        (("in order", 900, "increase", 1.0), "all 900 values differ and increase"),
        (
            ("in order", 900, "decrease", 0.9978),
            "all 900 values differ and decrease in 99.8% of the rows",
        ),
    ],
)
def test_words_of_a_suspicion(reason, words):
    assert suspicion_text(*reason) == words


@pytest.fixture(scope="module")
def seen(fitted, batch):
    return examine(fitted(pool="threshold"), batch.X, sensitive_features=batch.z)


VERDICTS = [
    ({"verdict": "consistent"}, {}, "consistent with a prior shift"),
    (
        {"verdict": "consistent"},
        {"untested": "columns"},
        "consistent with a prior shift, as far as the scores tell: no column was "
        "looked at",
    ),
    (
        {"verdict": "consistent", "held_back": 0.4},
        {"untested": "scores"},
        "consistent with a prior shift, but not clearly: the estimate was held back "
        "from 0.550, as far as the columns tell: the scores were not tested",
    ),
    (
        {"verdict": "cannot_tell"},
        {},
        "cannot tell: columns and scores disagree on the prevalence, and the estimate "
        "was held back from 0.550",
    ),
    (
        {"verdict": "cannot_tell", "quantifier_estimate": Estimate(0.5, 0.1, 0.9)},
        {},
        "cannot tell from so few rows: 1,234 are too few for scores with an AUC of "
        "0.70",
    ),
    (
        {"verdict": "fault"},
        {"at_fault": list("abcde")},
        "cannot tell the prevalence because of `a`, `b`, `c` and 2 more, not what it "
        "was in training",
    ),
    (
        {"verdict": "fault"},
        {"at_fault": ["a"], "cautious": False},
        "the estimate is worthless because of `a`, not what it was in training",
    ),
    (
        {"verdict": "ignored"},
        {},
        "more moved than the prevalence, and it was ignored as you asked",
    ),
]


@pytest.mark.parametrize(("changes", "options", "words"), VERDICTS)
def test_words_of_a_verdict(seen, changes, options, words):
    plain = {"rows": 1234, "held_back": 0.0}
    plain["quantifier_estimate"] = Estimate(0.55, 0.5, 0.6)
    adapted = replace(seen.adaptation.groups[0], **{**plain, **changes})
    facts = {"at_fault": [], "auc": 0.7, "cautious": True, "untested": "", **options}
    assert verdict_text(adapted.verdict, adapted, **facts) == words


def test_first_lines_of_what_print_shows(seen):
    texts = {
        "Examination of 200 rows, intervals at 95%": seen,
        "PrevalenceMoved(": seen.moved,
        "PriorShiftTest(": seen.prior_shift,
        "ColumnShift(": seen.columns,
        "ExpectedPerformance(level=0.95": seen.expected,
        "ExpectedCriteria(level=0.95": seen.criteria,
    }
    for first, result in texts.items():
        assert repr(result).splitlines()[0] == first
    assert "  0: no sign that a column moved" in repr(seen.columns)
    assert "  0: no sign against a prior shift (p = " in repr(seen.prior_shift)
    assert "  0: moved, 0.500 -> 0." in repr(seen.moved)
