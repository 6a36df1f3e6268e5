"""Sentences of the pages, from codes and numbers."""

import pytest

from cape._wording._page import (
    columns_sentence,
    is_told,
    labels_head,
    lede,
    made_rows,
    moved_by,
)
from cape.examination import LabelChecks

VERSIONS = {"cape": "1.0", "python": "3.12"}
MADE = {"versions": VERSIONS, "date": "2024-03-01T08:30+00:00"}


@pytest.mark.parametrize("n", [0, 1, 12, 13, 40])
def test_columns_that_are_not_shown_are_counted(n):
    moved = [{"fault": ""}] * n
    sentence = columns_sentence({"counted": True, "moved": moved}, 12)
    assert sentence.startswith("No column has clearly changed") == (n == 0)
    if n > 12:
        assert sentence.endswith(f"lists {n - 12} more.")
    else:
        assert n == 0 or not sentence


def test_columns_at_fault_and_columns_that_nobody_counted():
    at_fault = {"counted": True, "moved": [{"fault": "units"}]}
    assert columns_sentence(at_fault, 12).startswith(
        "A broken column distorts the scores"
    )
    uncounted = columns_sentence({"counted": False, "moved": []}, 12)
    assert uncounted.startswith("Columns were not checked")


def test_the_sentence_below_each_heading():
    observed = {"cape": {"groups": [{"group": "a"}, {"group": "a"}]}}
    audit = {"kind": "audit", "made": MADE, "rows": 1, "observed": observed}
    assert lede(audit) == "1 row, 1 group."
    about = {"made": MADE, "rows": 12345, "groups": [{}, {}], "positive": "y = 1"}
    batches = {"kind": "batches", "batches": [{}], **about}
    said = "1 batch, 2 groups, 12,345 rows. Positive means y = 1."
    assert lede(batches) == said
    batch = {"kind": "batch", "rule": {"name": "accuracy"}, **about}
    said = "12,345 rows. Positive means y = 1. Aim: best accuracy."
    assert lede(batch) == said
    batch["rule"] = {"name": "Mine"}
    assert lede(batch).endswith("Aim: Mine.")


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
    assert rows["label"] == "y: 1 is positive and 0 is negative"


@pytest.mark.parametrize(
    ("verdict", "code", "decided", "told"),
    [
        ("cannot_tell", "label", False, False),
        ("cannot_tell", "use", False, True),
        ("cannot_tell", "label", True, True),
        ("fault", "do_not_use", False, False),
        ("drifted", "not_adapted", False, True),
    ],
)
def test_a_share_is_told_where_something_tells_it(verdict, code, decided, told):
    assert is_told({"verdict": verdict}, {"code": code}, decided=decided) is told


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
    # Labels 0.25, estimate 0.2; where they lie apart, both numbers come first.
    far = {"odd": {"estimate": 0.4, "p_value": 0.3}}
    labels = checks(far, odd="not_contradicted", **others)
    assert labels_head(labels) == "The labels say 40% (not 20%) for odd"
    both = checks({**far, "g0": far["odd"]}, odd="not_contradicted", **others)
    assert labels_head(both).endswith("for odd and 40% (not 20%) for g0")
    alone = labels_head(checks(odd="refuted"))
    assert alone == "The labels contradict the estimates for odd"


@pytest.mark.parametrize(
    ("decide", "verdict", "head"),
    [
        (True, "refuted", "The labels corrected the estimates for a"),
        (
            False,
            "confirmed",
            "Judged by the labels, the estimates are off by at most 0.05",
        ),
        (False, None, "Too few labels to judge the estimates"),
    ],
)
def test_the_headline_of_labels(checks, decide, verdict, head):
    assert labels_head(checks(decide=decide, a=verdict)) == head


def test_a_move_from_an_unknown_share_is_not_told():
    batch = {"verdict": "consistent", "estimate": 0.4, "training_prevalence": 0.3}
    assert moved_by(batch) == "+0.100"
    assert moved_by({**batch, "verdict": "fault"}) == "?"
    # Fewer than ten training rows.
    assert moved_by({**batch, "training_prevalence": None}) == "?"
