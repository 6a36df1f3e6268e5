"""What the audit page says in plain words, from counts alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

COLUMNS = {"label": "again", "prediction": "risk", "positive": "yes", "negative": "no"}
BLUE = (400, 240, 100, 260)
GREEN = (150, 70, 150, 630)


HEADS = [
    "What is compared",
    "How often each group is predicted positive",
    "Who is wrongly predicted positive",
    "Who is wrongly predicted negative",
    "How sure this is",
]


@pytest.fixture(scope="module")
def words_of(summaries_of, confusion):
    """Say in words what counts of tp, fp, fn and tn are."""

    def words(counts, columns=COLUMNS):
        groups = {group: confusion(*cells) for group, cells in counts.items()}
        facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0"}
        parts = summaries_of.audit(groups, **facts, columns=columns)["words"]
        assert [part["head"] for part in parts] == HEADS
        return [part["text"] for part in parts]

    return words


def test_two_groups_are_compared_in_words(words_of):
    compared, called, accused, missed, sure = words_of({"blue": BLUE, "green": GREEN})
    assert compared == (
        "Predictions are compared with the labels of 2,000 rows in 2 groups. The label "
        "is again, and risk the prediction. Positive is yes, and negative no."
    )
    assert called.startswith(
        "blue: 64 % are predicted positive, and 50 % are positive by the labels: 14 ("
    )
    assert "points more, which is more than chance. The predicted share of" in called
    assert "times that of blue; by the labels it would be 0.60 times." in called
    assert "That is below four fifths." in called
    assert "The labels explain" not in called
    assert accused.startswith(
        "Of the rows whose label is negative, 48 % of blue and 10 % of green are "
        "predicted positive: a difference of 38 ("
    )
    assert missed.startswith(
        "Of the rows whose label is positive, 50 % of green and 20 % of blue are "
        "predicted negative: a difference of 30 ("
    )
    for text in (accused, missed):
        assert text.endswith("which is more than chance.")
    assert "95 % intervals" in sure and "labels are taken as the truth" in sure


def test_a_difference_that_the_labels_explain_is_no_finding(words_of):
    counts = {"a": (500, 50, 50, 400), "b": (200, 40, 40, 720)}
    called = words_of(counts)[1]
    assert called.startswith("No group's predicted share differs from its true share")
    assert called.endswith("The labels explain this difference.")


def test_one_group_has_rates_and_no_difference(words_of):
    compared, called, accused, missed, _ = words_of({"blue": BLUE}, columns={})
    assert compared == (
        "Predictions are compared with the labels of 1,000 rows in 1 group."
    )
    assert called.startswith("blue: 64 % are predicted positive, and 50 % are positive")
    assert accused.endswith("48 % of blue are predicted positive.")
    assert missed.endswith("20 % of blue are predicted negative.")


def test_a_dozen_rows_are_not_the_headline(words_of):
    texts = words_of({"blue": BLUE, "few": (4, 5, 2, 1), "green": GREEN})
    for text in texts[1:4]:
        assert "few" not in text
        assert "is more than chance" in text


def test_equal_groups_differ_by_chance(words_of):
    texts = words_of({"a": BLUE, "b": BLUE, "c": BLUE})
    for text in texts[2:4]:
        assert "may be chance" in text and "more than" not in text
    assert "That is above four fifths." in texts[1]


def test_few_rows_leave_much_open(words_of):
    counts = {"a": (8, 4, 2, 6), "b": (6, 2, 4, 8)}
    assert "too few rows to say whether that is below" in words_of(counts)[1]
    _, called, accused, missed, _ = words_of({"a": (1, 1, 1, 1), "b": (1, 1, 1, 1)})
    assert called == "There are too few rows in every group to say."
    assert "too few in every group to compare" in accused
    assert "too few in every group to compare" in missed


def test_a_share_of_one_in_a_hundred_keeps_its_digits(words_of):
    counts = {"a": (30, 93, 50, 9827), "b": (30, 40, 50, 9880)}
    called, accused = words_of(counts)[1:3]
    assert "a: 1.2 % are predicted positive, and 0.80 % are positive" in called
    assert "0.94 % of a and 0.40 % of b are predicted positive" in accused
    assert "a difference of 0.53 (" in accused


cells = st.lists(st.integers(0, 60), min_size=4, max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(cells, min_size=1, max_size=4))
def test_words_are_there_for_any_counts(words_of, tables):
    for text in words_of(dict(enumerate(tables))):
        assert text and "nan" not in text and "inf" not in text


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_group_with_the_higher_rate_comes_first(words_of, order):
    counts = {"a": (100, 61, 60, 139), "b": (900, 606, 610, 1394)}
    for text in words_of({group: counts[group] for group in order})[2:4]:
        assert "a difference of 0." in text or "a difference of 2." in text
        assert "a difference of \u2212" not in text
