"""Sentences of the pages, from codes and numbers."""

import pytest

from cape._wording._page import (
    columns_sentence,
    expected_pe_sentence,
    lede,
    made_rows,
    rests_sentence,
)

VERSIONS = {"cape": "1.0", "python": "3.12"}
MADE = {"versions": VERSIONS, "date": "2024-03-01T08:30+00:00"}


@pytest.mark.parametrize("n", [0, 1, 12, 13, 40])
def test_columns_that_are_not_shown_are_counted(n):
    moved = [{"fault": ""}] * n
    sentence = columns_sentence({"counted": True, "moved": moved}, 12)
    assert sentence.startswith("No sign that a column moved") == (n == 0)
    if n > 12:
        assert sentence.startswith(f"{n - 12} more {'is' if n == 13 else 'are'} in")
    else:
        assert n == 0 or not sentence


def test_columns_at_fault_and_columns_that_nobody_counted():
    at_fault = {"counted": True, "moved": [{"fault": "units"}]}
    assert columns_sentence(at_fault, 12).startswith("Beside a column at fault")
    uncounted = columns_sentence({"counted": False, "moved": []}, 12)
    assert uncounted.startswith("No column was looked at")


@pytest.mark.parametrize(
    "verdict", ["fault", "ignored", "drifted", "cannot_tell", "not_tested"]
)
def test_what_rests_on_the_assumption_says_where_it_is_in_doubt(verdict):
    groups = [
        {"group": "fine", "verdict": "consistent", "label_verdict": None},
        {"group": "odd", "verdict": verdict, "label_verdict": None},
    ]
    plain = rests_sentence(groups[:1])
    assert plain.startswith("This rests on the assumption") and "doubt" not in plain
    assert "In odd that is in doubt" in rests_sentence(groups)


def expected(pairs, unadapted=None, high=None):
    criterion = {"criterion": "proportional_equality", "high": high}
    return {
        "expected": {"pairs": pairs, "unadapted": {"pe": unadapted}},
        "criteria": [{"criterion": "accuracy", "high": 0.9}, criterion],
    }


def pair(group, other, pe, high=None):
    return {"group": group, "other": other, "pe": pe, "pe_high": high}


def test_the_sentence_names_the_worst_pair():
    pairs = [pair("a", "b", 0.1, 0.4), pair("b", "a", 0.2, 0.5)]
    sentence = expected_pe_sentence(expected(pairs, 1.25, high=0.75))
    # As in the table of criteria: any pair may turn out to be the worst.
    start = "Expected PE of the worst pair, b to a: 0.200 (up to 0.750)"
    assert sentence.startswith(f"{start}; the model as trained would have 1.250.")


def test_what_is_undefined_is_not_said():
    pairs = [pair("a", "b", None), pair("b", "a", 0.2)]
    sentence = expected_pe_sentence(expected(pairs))
    assert sentence.startswith("Expected PE of the worst pair, b to a: 0.200. PE says")
    assert expected_pe_sentence(expected([pair("a", "b", None)])) == ""
    assert expected_pe_sentence(expected([])) == ""


def test_the_sentence_below_each_heading():
    observed = {"cape": {"groups": [{"group": "a"}, {"group": "a"}]}}
    audit = {"kind": "audit", "made": MADE, "rows": 1, "observed": observed}
    assert lede(audit) == "1 row in 1 group, judged by their labels."
    trained = {**MADE, "training": {"file": "t.csv"}}
    monitor = {
        "kind": "monitor",
        "made": trained,
        "rows": 12345,
        "groups": [{}, {}],
        "batches": [{}],
    }
    assert lede(monitor) == "1 batch, 12,345 rows, 2 groups; a model trained on t.csv."
    explorer = {"kind": "explorer", "made": MADE}
    expected = "What a model would do if the shares of positives were different."
    assert lede(explorer) == expected


def test_how_it_was_made_leaves_out_what_is_unknown():
    assert made_rows(MADE) == [
        ("versions", "cape 1.0, python 3.12"),
        ("date", "2024-03-01 08:30 UTC"),
    ]


def test_files_of_unknown_size_are_named_without_it():
    files = [
        {"file": "a.csv", "sha256": "00"},
        {"file": "b.csv", "rows": 1000, "sha256": "11"},
    ]
    rows = made_rows({**MADE, "files": files})
    assert rows[:2] == [
        ("data", "a.csv, SHA-256 00"),
        ("data", "b.csv, 1,000 rows, SHA-256 11"),
    ]


@pytest.mark.parametrize("n", [11, 12, 13, 40])
def test_at_most_twelve_files_are_named(n):
    files = [{"file": f"f{i}.csv", "sha256": "00"} for i in range(n)]
    rows = [
        text for term, text in made_rows({**MADE, "files": files}) if term == "data"
    ]
    assert len(rows) == min(n, 12) + (n > 12)
    if n > 12:
        assert rows[-1] == f"and {n - 12} more files"


def test_columns_of_an_audit_are_told_as_they_are():
    columns = {"label": "y", "prediction": "p", "groups": "race, sex"}
    rows = made_rows({**MADE, "columns": columns})
    assert rows[:3] == [("label", "y"), ("prediction", "p"), ("groups", "race, sex")]


def test_a_model_without_groups_says_none():
    columns = {"label": "y", "labels": ["0", "1"], "groups": [], "features": ["u"]}
    rows = dict(made_rows({**MADE, "columns": columns}))
    assert rows["groups"] == "none" and rows["features"] == "u"
    assert rows["label"] == "y: 1 is positive, 0 negative"
