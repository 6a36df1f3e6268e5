"""What the audit page says in plain words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._wording._audit import GLOSSARY, audit_words
from cape.metrics._audit import audit_counts
from cape.metrics._rates import Confusion
from cape.report import to_html
from cape.report._audit import KnownPairs, audit_summary

COLUMNS = {"label": "again", "prediction": "risk", "positive": "yes", "negative": "no"}
HEADS = [
    "What is compared",
    "Who is called positive how often",
    "Who is wrongly called positive",
    "Who is wrongly called negative",
    "How sure this is",
]
BLUE = Confusion(tp=400, fp=240, fn=100, tn=260, rows=1000)
GREEN = Confusion(tp=150, fp=70, fn=150, tn=630, rows=1000)


def words_of(counts, level=0.95, columns=COLUMNS):
    names = {group: str(group) for group in counts}
    known = KnownPairs(counts, names, audit_counts(counts, level=level))
    parts = audit_words(known, columns)
    assert [part["head"] for part in parts] == HEADS
    return [part["text"] for part in parts]


def test_two_groups_are_compared_in_words():
    compared, called, accused, missed, sure = words_of({"blue": BLUE, "green": GREEN})
    assert compared == (
        "Predictions are compared with the labels of 2,000 rows in 2 groups. The label "
        "is again, and risk the prediction. Positive is yes, and negative no."
    )
    assert called.startswith(
        "green: 22 % are called positive, and 30 % are. blue: 64 % are called "
        "positive, and 50 % are. The predicted share of green is 0.34 ("
    )
    assert "times that of blue; by the labels it would be 0.60 times." in called
    assert "That is below four fifths." in called
    assert accused.startswith(
        "Of the rows that are negative according to their label, 48 % of blue and "
        "10 % of green are called positive: a difference of 38 ("
    )
    assert missed.startswith(
        "Of the rows that are positive according to their label, 50 % of green and "
        "20 % of blue are called negative: a difference of 30 ("
    )
    for text in (called, accused, missed):
        assert text.endswith("This difference is more than chance.")
    assert "95 % intervals" in sure and "takes the labels for the truth" in sure


def test_what_is_not_known_of_the_columns_is_left_out():
    compared = words_of({"blue": BLUE}, columns={})[0]
    assert (
        compared == "Predictions are compared with the labels of 1,000 rows in 1 group."
    )


def test_one_group_has_rates_and_no_difference():
    _, called, accused, missed, _ = words_of({"blue": BLUE})
    assert called == "blue: 64 % are called positive, and 50 % are."
    assert accused.endswith("48 % of blue are called positive.")
    assert missed.endswith("20 % of blue are called negative.")


def test_a_dozen_rows_are_not_the_headline():
    few = Confusion(tp=4, fp=5, fn=2, tn=1, rows=12)
    texts = words_of({"blue": BLUE, "few": few, "green": GREEN})
    for text in texts[1:4]:
        assert "few" not in text
        assert "is more than chance" in text
    assert "the clearest among 3 pairs of groups, is more" in texts[1]
    # Six of the dozen are positive, and six negative: too few to compare rates.
    assert "the clearest" not in texts[2] and "the clearest" not in texts[3]


def test_equal_groups_differ_by_chance():
    texts = words_of({"a": BLUE, "b": BLUE, "c": BLUE})
    for text in texts[1:4]:
        assert "may be chance" in text and "more than" not in text
    assert "That is above four fifths." in texts[1]


def test_few_rows_leave_four_fifths_open():
    counts = {"a": Confusion(8, 4, 2, 6, 20), "b": Confusion(6, 2, 4, 8, 20)}
    assert "The rows do not tell whether that is below" in words_of(counts)[1]


def test_groups_without_ten_rows_are_not_described():
    few = Confusion(tp=1, fp=1, fn=1, tn=1, rows=4)
    _, called, accused, missed, _ = words_of({"a": few, "b": few})
    assert called == "There are too few rows in every group to say."
    assert "too few in every group to compare" in accused
    assert "too few in every group to compare" in missed


def test_a_share_of_one_in_a_hundred_keeps_its_digits():
    counts = {
        "a": Confusion(tp=30, fp=93, fn=50, tn=9827, rows=10_000),
        "b": Confusion(tp=30, fp=40, fn=50, tn=9880, rows=10_000),
    }
    called, accused = words_of(counts)[1:3]
    assert "b: 0.70 % are called positive, and 0.80 % are." in called
    assert "0.94 % of a and 0.40 % of b are called positive" in accused
    assert "a difference of 0.53 (" in accused


@pytest.mark.slow
def test_of_many_equal_groups_the_clearest_is_seldom_called_clear():
    """20 groups with the same rates: 5 % of pages may claim a difference of FPR."""
    random = np.random.default_rng(0)
    claims = 0
    for _ in range(40):
        counts = {}
        for group in range(20):
            cells = random.multinomial(300, [0.3, 0.15, 0.1, 0.45]).tolist()
            counts[group] = Confusion(*cells, rows=300)
        claims += "is more than chance" in words_of(counts)[2]
    assert claims <= 5


cells = st.lists(st.integers(0, 60), min_size=4, max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(cells, min_size=1, max_size=4))
def test_words_are_there_for_any_counts(tables):
    counts = {}
    for place, table in enumerate(tables):
        counts[place] = Confusion(*map(float, table), rows=sum(table))
    for text in words_of(counts):
        assert text and "nan" not in text and "inf" not in text


@pytest.mark.parametrize("title", [None, "Board <paper>"])
def test_the_page_begins_with_the_words_and_ends_with_a_glossary(title):
    counts = {"<blue>": BLUE, "green": GREEN}
    facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0", "columns": COLUMNS}
    summary = audit_summary(
        counts, **facts, title=title, author="A. Person", note="Read <this> first."
    )
    page = to_html(summary)
    assert summary["title"] == (title or "a.csv")
    heading = "Board &lt;paper&gt;" if title else "a.csv"
    assert f"<h1>Audit: {heading}</h1>" in page
    places = [page.index("By A. Person"), page.index("Read &lt;this&gt; first.")]
    places += [page.index(head) for head in HEADS]
    places.append(page.index("Each rate with its 95 % interval"))
    places += [page.index(f"<dt>{term}</dt>") for term, _ in GLOSSARY]
    assert places == sorted(places)


def test_without_author_and_note_the_page_has_no_empty_lines_for_them():
    facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0", "columns": {}}
    page = to_html(audit_summary({"blue": BLUE}, **facts))
    assert "By " not in page and 'class="note"' not in page


def test_the_group_with_the_higher_rate_comes_first():
    one = Confusion(tp=100, fp=61, fn=60, tn=139, rows=360)
    other = Confusion(tp=900, fp=606, fn=610, tn=1394, rows=3510)
    for counts in ({"a": one, "b": other}, {"b": other, "a": one}):
        for text in words_of(counts)[2:4]:
            assert "a difference of 0." in text or "a difference of 2." in text
            assert "a difference of \u2212" not in text
