"""What is said of a table before training."""

import pytest

from cape.shown._check import reason_text


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
def test_words_of_a_reason(reason, words):
    assert reason_text(*reason) == words
