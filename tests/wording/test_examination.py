"""What is said of columns that should not be learned from."""

import pytest

from cape import examine
from cape._wording._examination import suspicion_text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (("counts",), "goes up by one in each row"),
        (("auc", 0.98765), "has an AUC of 0.988 on its own"),
        (
            ("all positive", 1200, "with a value"),
            "all 1,200 rows with a value are positive",
        ),
        (("all positive", 70, "with", "yes"), "all 70 rows with 'yes' are positive"),
        (("dates",), "holds dates"),
        (("text as dates", "%Y-%m"), "text that looks like dates (%Y-%m)"),
        (("numbers as dates", "%Y%m"), "numbers that look like dates (%Y%m)"),
        (
            ("since 1970", "seconds"),
            "numbers that look like dates (seconds since 1970)",
        ),
        (("differ", 991, 1000), "991 of 1,000 values are distinct"),
        (
            ("in order", 900, "increase", 1.0),
            "all 900 values are distinct and increase",
        ),
        (
            ("in order", 900, "decrease", 0.9978),
            "all 900 values are distinct and decrease in 99.8% of the rows",
        ),
    ],
)
def test_words_of_a_suspicion(reason, words):
    assert suspicion_text(*reason) == words


@pytest.fixture(scope="module")
def seen(fitted, batch):
    return examine(fitted(pool="threshold"), batch.X, sensitive_features=batch.z)


def test_first_lines_of_what_print_shows(seen):
    texts = {
        "Examination of 200 rows, with 95% intervals": seen,
        "PrevalenceMoved(": seen.moved,
        "PriorShiftTest(": seen.prior_shift,
        "ColumnShift(": seen.columns,
        "ExpectedPerformance(level=0.95": seen.expected,
        "ExpectedCriteria(level=0.95": seen.criteria,
    }
    for first, result in texts.items():
        assert repr(result).splitlines()[0] == first
    assert "  0: no column has clearly changed" in repr(seen.columns)
    assert "  0: consistent with a prior shift (p = " in repr(seen.prior_shift)
    assert "  0: moved, 0.500 -> 0." in repr(seen.moved)
