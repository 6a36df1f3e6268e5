"""What the audit page says first, from counts alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape_app.words._page import audit_head, why_no_pe

BLUE = (400, 240, 100, 260)
GREEN = (150, 70, 150, 630)


@pytest.fixture(scope="module")
def audit_of(summaries_of, confusion):
    """Audit counts of tp, fp, fn and tn."""

    def audit(counts):
        groups = {group: confusion(*cells) for group, cells in counts.items()}
        facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0", "columns": {}}
        return summaries_of.audit(groups, **facts)["observed"]["cape"]

    return audit


def test_the_headline_is_the_largest_difference_that_is_sure(audit_of):
    audit = audit_of({"blue": BLUE, "few": (4, 5, 2, 1), "green": GREEN})
    assert audit_head(audit).startswith(
        "blue: 64% predicted positive, 50% labeled positive ("
    )
    found = [(entry["metric"], entry["group"]) for entry in audit["differences"]]
    assert found[0] == ("pd", "blue")
    assert ("fpr_difference", "blue") in found and ("fnr_difference", "green") in found
    assert "few" not in dict(found).values()


def test_a_difference_that_the_labels_explain_is_no_finding(audit_of):
    # Twice as many of a are positive, and twice as many are predicted positive.
    audit = audit_of({"a": (480, 60, 60, 400), "b": (240, 95, 30, 635)})
    found = {entry["metric"] for entry in audit["differences"]}
    assert "predicted_prevalence_difference" not in found
    alike = audit_of({"a": (400, 100, 100, 400), "b": (200, 50, 50, 200)})
    assert audit_head(alike) == "No difference beyond chance"


def test_a_difference_between_rates_is_in_points(audit_of):
    head = audit_head(audit_of({"a": (300, 200, 200, 300), "b": (450, 50, 50, 450)}))
    assert head.startswith("FPR is 30 points (") or head.startswith(
        "FNR is 30 points ("
    )
    assert head.endswith(") higher for a than for b")


def test_pe_never_vanishes_without_a_word(audit_of):
    assert why_no_pe(audit_of({"blue": BLUE, "green": GREEN})) == ""
    assert "only one" in why_no_pe(audit_of({"blue": BLUE}))
    assert "enough rows" in why_no_pe(audit_of({"a": (1, 1, 1, 1), "b": (9, 9, 9, 9)}))
    many = audit_of(dict.fromkeys(range(31), BLUE))
    assert "this many groups" in why_no_pe(many)


cells = st.lists(st.integers(0, 60), min_size=4, max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(cells, min_size=1, max_size=4))
def test_there_is_a_headline_for_any_counts(audit_of, tables):
    head = audit_head(audit_of(dict(enumerate(tables))))
    assert head and "nan" not in head and "inf" not in head
