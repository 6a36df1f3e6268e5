"""Sentences of the pages, from codes and numbers."""

import pytest

from cape import Estimate
from cape._wording._page import (
    columns_sentence,
    expected_pe_sentence,
    labels_head,
    labels_text,
    lede,
    made_rows,
    monitor_head,
    monitor_text,
    prevalence_sentence,
    rests_sentence,
)
from cape.examination import LabelChecks

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


def expected(worst, unadapted=None, high=None):
    criterion = {"criterion": "proportional_equality", "high": high}
    return {
        "expected": {"worst": worst, "unadapted": {"pe": unadapted, "pe_at_half": 0.9}},
        "criteria": [{"criterion": "accuracy", "high": 0.9}, criterion],
    }


def test_the_sentence_names_the_worst_pair():
    worst = {"group": "b", "other": "a", "pe": 0.2}
    sentence = expected_pe_sentence(expected(worst, 1.25, high=0.75))
    # As in the table of criteria: any pair may turn out to be the worst.
    start = "Expected PE of the worst pair, b to a: 0.200 (up to 0.750)"
    then = "the model as trained would have 1.250 (0.900 if cut at 1/2)."
    assert sentence.startswith(f"{start}; {then}")


def test_what_is_undefined_is_not_said():
    sentence = expected_pe_sentence(expected({"group": "b", "other": "a", "pe": 0.2}))
    assert sentence.startswith("Expected PE of the worst pair, b to a: 0.200. PE says")
    assert expected_pe_sentence(expected(None)) == ""


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


@pytest.mark.parametrize(
    ("training", "estimate", "sentence"),
    [
        (0.045, Estimate(0.004, 0.0, 0.02), "0.045 in training, is now 0.004 (0.000 "),
        (0.5, Estimate(0.13, 0.09, 0.17), "0.50 in training, is now 0.13 (0.09 to "),
    ],
)
def test_a_small_share_keeps_three_digits(adapted, training, estimate, sentence):
    group = adapted(training_prevalence=training, estimate=estimate)
    assert f"a: prevalence was {sentence}" in prevalence_sentence("a", group)


# What labels say of the estimates


@pytest.fixture
def checks(adapted):
    """Checks of groups with given verdicts; p-values are those of the verdict."""

    def make(changes=None, decide=False, **verdicts):
        p_values = {"refuted": 0.03, "confirmed": 0.8, "not_contradicted": 0.3}
        groups = {}
        for group, verdict in verdicts.items():
            labels = {"rows": 50, "estimate": 0.25, "verdict": verdict}
            labels["p_value"] = p_values.get(verdict, float("nan"))
            groups[group] = adapted(labels={**labels, **(changes or {}).get(group, {})})
        return LabelChecks(groups, decide)

    return make


def test_a_group_that_chance_explains_is_not_refuted(checks):
    """Of twenty good estimates, one is refuted at 5 %."""
    others = dict.fromkeys([f"g{i}" for i in range(19)], "confirmed")
    labels = checks(odd="refuted", **others)
    assert "do not contradict" in labels_head(labels)
    assert "By itself, odd would be refuted, but among 20" in labels_text(labels)
    # Labels 0.25, estimate 0.2; where they lie apart, both numbers come first.
    far = {"odd": {"estimate": 0.4, "p_value": 0.3}}
    labels = checks(far, odd="not_contradicted", **others)
    assert labels_head(labels).startswith("The labels say 0.400 in odd, where 0.200")
    assert "0.400 (0.500 to 0.700) according to the labels" in labels_text(labels)
    alone = labels_head(checks(odd="refuted"))
    assert alone == "The labels refute the estimates of odd"


def test_every_group_is_named_under_its_verdict(checks):
    changes = {"c": {"rows": 4}, "d": {"rows": 0}, "f": {"p_value": 1e-3}}
    verdicts = {"a": "confirmed", "b": "not_contradicted", "c": None, "d": None}
    text = labels_text(checks(changes, **verdicts))
    assert "They confirm that of a to within 0.1" in text
    assert "In b they are no sign against the estimate" in text
    assert "Fewer than 10 rows of c have a label" in text
    assert "No row of d has a label" in text
    changes["d"]["sample_p_value"] = 0.001
    changes["d"]["rows"] = 40
    text = labels_text(checks(changes, **verdicts, f="refuted"))
    assert "The labels confirm the estimate of a to within 0.1." in text
    assert "rows of d do not look drawn from the batch" in text


def test_many_refuted_groups_are_counted(checks):
    names = [f"g{number}" for number in range(9)]
    changes = {name: {"p_value": 1e-9} for name in names}
    text = labels_text(checks(changes, **dict.fromkeys(names, "refuted")))
    assert text.count("Share of positives in") == 6
    assert "3 more groups: see below" in text
    assert "0.250 (0.500 to 0.700) according to the labels, 0.200 (0.100 to 0" in text


@pytest.mark.parametrize(
    ("decide", "verdict", "head"),
    [
        (True, "refuted", "The labels refute the label-free estimates of a"),
        (False, "confirmed", "The labels confirm the estimates to within 0.1"),
        (False, None, "The labels cannot tell whether the estimates are right"),
    ],
)
def test_the_headline_of_labels(checks, decide, verdict, head):
    assert labels_head(checks(decide=decide, a=verdict)) == head


# Many batches


def test_groups_that_moved_are_named_once():
    assert monitor_head([]) == "No group has clearly moved."
    assert monitor_head({"y", "x"}) == "x and y moved in at least one batch."


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (["consistent"], "Consistent with a prior shift in 1 of 1 batch."),
        (
            ["drifted", "cannot_tell"],
            "More moved than the prevalences, and estimates were held back, in 1 of 2 "
            "batches: b1. The prevalence of a group cannot be told in 1 of 2 batches "
            "(g in 1): b2.",
        ),
        (
            ["fault"] * 8,
            "Columns are not what they were in training in 8 of 8 batches: b1, b2, b3, "
            "b4, b5 and 3 more batches.",
        ),
    ],
)
def test_the_verdict_over_many_batches(codes, text):
    batches = [(f"b{place}", {"g": code}) for place, code in enumerate(codes, 1)]
    assert monitor_text(batches) == text


def test_a_batch_counts_under_the_verdict_of_each_of_its_groups():
    both = {"a": "drifted", "b": "cannot_tell"}
    batches = [("b1", both), ("b2", {"a": "cannot_tell", "b": "cannot_tell"})]
    text = monitor_text([*batches, ("b3", {"a": "consistent", "b": "drifted"})])
    assert "held back, in 2 of 3 batches: b1 and b3." in text
    assert "told in 2 of 3 batches (b in 2 and a in 1): b1 and b2." in text
    assert "Consistent" not in text
