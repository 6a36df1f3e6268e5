"""Words, numbers and tables of the pages as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.report._page_tables import (
    chosen_rows,
    column_rows,
    columns_sentence,
    expected_pe_sentence,
    lede,
    made_rows,
    monitor_rows,
    observed_tables,
    rests_sentence,
    verdict_rows,
    verdict_word,
)

VERSIONS = {"cape": "1.0", "python": "3.12"}
MADE = {"versions": VERSIONS, "date": "2024-03-01T08:30+00:00"}


def score_test(group, **more):
    """The test of the scores of a group."""
    plain = {"p_adjusted": 1.0, "effect": 0.0, "tested": True, "sound": True}
    return {"group": group, **plain, **more}


def test_a_group_that_could_not_be_tested_has_no_p_value():
    tests = [
        score_test("a", p_adjusted=0.0314, effect=0.0251),
        score_test("b", tested=False),
        score_test("c", sound=False),
    ]
    groups = [{"group": name, "verdict_text": f"of {name}"} for name in "abc"]
    summary = {"groups": groups, "shift_test": {"groups": tests}}
    assert verdict_rows(summary) == [
        ["a", "of a", "0.031", "2.5%"],
        ["b", "of b", "too few rows", ""],
        ["c", "of c", "not tested", ""],
    ]


def columns_of(*moved, counted=True):
    return {"columns": {"moved": list(moved), "counted": counted}}


def moved_column(column, fault="", effect=0.123, p=0.0001, group="a"):
    return {
        "group": group,
        "column": column,
        "fault": fault,
        "effect": effect,
        "p_adjusted": p,
        "what_happened": f"`{column}`: median 5, 2 expected",
    }


def test_a_column_is_named_once_and_one_at_fault_needs_no_p_value():
    summary = columns_of(moved_column("a`: b", "units"), moved_column("age"))
    assert column_rows(columns_of(moved_column("age"))) == [
        ["age", "a", "median 5, 2 expected", "12%", "below 0.001"]
    ]
    assert column_rows(summary)[0][-2:] == ["", "at fault"]
    assert columns_sentence(summary).startswith("Beside a column at fault")


@given(st.integers(0, 40))
def test_at_most_twelve_columns_are_shown_and_the_others_counted(n):
    summary = columns_of(*[moved_column(f"x{i}") for i in range(n)])
    assert len(column_rows(summary)) == min(n, 12)
    sentence = columns_sentence(summary)
    assert ("more are in the JSON" in sentence) == (n > 12)
    if n > 12:
        assert sentence.startswith(f"{n - 12} more")
    assert sentence.startswith("No sign that a column moved") == (n == 0)


def test_columns_that_nobody_counted_are_not_said_to_be_unmoved():
    sentence = columns_sentence(columns_of(counted=False))
    assert sentence.startswith("No column was looked at")
    assert "No sign" not in sentence


@pytest.mark.parametrize(
    "verdict", ["fault", "ignored", "drifted", "cannot_tell", "not_tested"]
)
def test_what_rests_on_the_assumption_says_where_it_is_in_doubt(verdict):
    groups = [
        {"group": "fine", "verdict": "consistent", "label_verdict": None},
        {"group": "odd", "verdict": verdict, "label_verdict": None},
    ]
    plain = rests_sentence({"groups": groups[:1]})
    assert plain.startswith("This rests on the assumption") and "doubt" not in plain
    assert "In odd that is in doubt" in rests_sentence({"groups": groups})
    assert "_" not in verdict_word(verdict)


def test_choices_have_three_digits():
    group = {
        "group": "a",
        "theta": 0.12345,
        "predicted_prevalence": 1.0,
        "pd_bound": 0.00049,
    }
    assert chosen_rows({"groups": [group]}) == [["a", "0.123", "1.000", "0.000"]]


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


def monitored(verdict):
    return {
        "batch": "march.csv",
        "rows": 1234,
        "estimate": 0.25,
        "training": 0.5,
        "low": 0.2,
        "high": 0.3,
        "moved": True,
        "pd_bound": 0.07,
        "verdict": verdict,
    }


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [
        ("consistent", "consistent"),
        ("some_drift", "some drift"),
        ("cannot_tell", "cannot tell"),
        ("fault", "fault"),
    ],
)
def test_a_batch_shows_its_verdict(verdict, shown):
    groups = [{"group": "a", "batches": [monitored(verdict)]}]
    (row,) = monitor_rows({"groups": groups})["a"]
    assert row == [
        "march.csv",
        "1,234",
        "0.250",
        "0.200\u20130.300",
        "-0.250",
        "yes",
        "0.070",
        shown,
    ]


def finding(group, metric, rows):
    return {"group": group, "metric": metric, "value": 0.5, "rows": rows}


def audited(groups, pairs=(), worst=None):
    return {"groups": groups, "pairs": list(pairs), "worst": worst or {}}


def test_rows_of_a_group_are_those_of_its_largest_denominator():
    groups = [finding("a", "fpr", 30), finding("a", "accuracy", 50)]
    summary = {"level": 0.9, "observed": {"cape": audited(groups)}}
    tables = observed_tables(summary)
    (row,) = tables["observed_rows"]
    assert row["group"] == "a" and row["rows"] == 50
    assert set(row["classifiers"]["cape"]["rates"]) == {"fpr", "accuracy"}
    assert tables["observed_caption"] == "Each rate with its 90 % interval"
    assert not tables["both"] and tables["between_rows"] == []
    assert tables["between_columns"] == ["measure", "the predictions"]


def test_two_classifiers_stand_one_below_the_other():
    groups = [finding("b", "fpr", 3), finding("a", "fpr", 5)]
    pairs = [{"metric": "pe", "why": None}]
    few = [{"metric": "pe", "why": "too few rows"}, {"metric": "pe", "why": None}]
    worst = {"pe": pair("a", "b", 0.1)}
    observed = {
        "cape": audited(groups, pairs, worst),
        "unadapted": audited(groups, few),
    }
    tables = observed_tables({"level": 0.95, "observed": observed})
    assert tables["both"]
    assert [row["group"] for row in tables["observed_rows"]] == ["b", "a"]
    for row in tables["observed_rows"]:
        names = [entry["name"] for entry in row["classifiers"].values()]
        assert names == ["CAPE", "as trained"]
    (label, pairs), *others = tables["between_rows"]
    assert label == "PE"
    assert pairs == [worst["pe"], "too few rows"]
    assert [row[1] for row in others] == [["undefined", "undefined"]] * 5


def test_the_sentence_below_each_heading():
    observed = {"cape": audited([finding("a", "fpr", 3), finding("a", "fnr", 3)])}
    audit = {"kind": "audit", "made": MADE, "rows": 3, "observed": observed}
    assert lede(audit) == "3 rows in 1 group, judged by their labels."
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
