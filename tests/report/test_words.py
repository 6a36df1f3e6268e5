"""What a page says in words: every verdict, and what has moved."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import AdaptationWarning
from cape._wording._page import VERDICT_HEADS
from cape.examination import examine
from cape.files._batch import MonitoredBatch
from cape.metrics._rates import Confusion
from cape.report import to_html
from cape.report._audit import audit_summary
from cape.report._batch import batch_summary, mark_of, worst_word
from cape.report._monitor import monitor_summary


def said(page):
    """The words of the page's verdict: its class, its headline and its text."""
    return re.search(
        r'<div class="verdict (\w+)"><p><strong>(.*?)</strong>(.*?)</p>', page
    ).groups()


words = st.lists(st.sampled_from(list(VERDICT_HEADS)), min_size=1, max_size=8)


@given(words, st.booleans())
def test_the_mark_is_green_only_if_all_are_consistent_and_clear(words, clear):
    mark = mark_of(words, clear=clear)
    assert (mark == "good") == (set(words) == {"consistent"} and clear)
    red = {"fault", "drifted", "ignored"}
    assert (mark == "bad") == bool(set(words) & red)


@given(words)
def test_the_gravest_word_is_one_of_them_and_no_other_is_graver(words):
    worst = worst_word(words)
    assert worst in words
    assert list(VERDICT_HEADS).index(worst) == min(
        list(VERDICT_HEADS).index(word) for word in words
    )


@pytest.fixture(scope="module")
def report(people_folder, people_model, tmp_path_factory, batch_of_file):
    """The page's verdict on some of the new rows, changed."""

    def make(change):
        path = tmp_path_factory.mktemp("words") / "b.csv"
        change(pd.read_csv(people_folder / "new.csv")).to_csv(path, index=False)
        summary = batch_of_file(people_model, path)
        return summary, to_html({**summary, "histograms": []})

    return make


def test_a_batch_like_training_but_for_its_shares_is_consistent(report):
    summary, page = report(lambda frame: frame.drop(columns="y"))
    mark, head, text = said(page)
    assert (mark, head) == ("good", "Consistent with a prior shift")
    assert text == summary["verdict"]["text"]
    assert "speaks against a prior shift in blue and green" in text
    assert page.count("; it has moved (p below 0.001)") == 2
    assert "No sign that a column moved" in page
    assert 'class="verdict bad' not in page


def test_a_page_says_what_no_test_can_see_and_what_rests_on_the_assumption(report):
    _, page = report(lambda frame: frame.drop(columns="y"))
    assert "No test without labels sees everything." in page
    assert "MEPS from 2012 to 2013" in page
    assert "This rests on the assumption" in page
    assert "if the share were known to be that" in page
    assert "Its bound is right if the interval of the prevalence is." in page
    for lie in ("It fails", "cannot be relied on", "assumption holds"):
        assert lie not in page


FAULTS = {
    "recoded": lambda frame: frame.assign(
        degree=frame["degree"].map({"F": "felony", "M": "misdemeanour"})
    ),
    "in other units": lambda frame: frame.assign(age=frame["age"] * 365),
    "all missing": lambda frame: frame.assign(age=np.nan),
    "all alike": lambda frame: frame.assign(age=33.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_red_and_stands_before_any_number(report, fault):
    summary, page = report(FAULTS[fault])
    assert summary["verdict"]["word"] == "fault"
    assert summary["verdict"]["mark"] == "bad"
    (entry,) = summary["verdict"]["faults"]
    assert sorted(entry["groups"]) == ["blue", "green"]
    box = page.index('<div class="verdict bad faults">')
    assert box < page.index("<h2>")
    assert page.index(html.escape(entry["what_happened"])) < page.index("<h2>")
    # The labels have a box of their own, below it.
    boxes = re.findall(r'class="verdict ([^"]*)"', page)
    assert boxes == ["bad faults", "labels open"]
    assert "; it has moved" not in page
    assert page.count("what it is now cannot be told (0.00 to 1.00)") == 2


def test_a_fault_in_one_group_leaves_the_verdict_of_the_other(report):
    summary, page = report(
        lambda frame: frame.assign(
            age=frame["age"].where(frame["race"] == "green", 33.0)
        )
    )
    assert [group["verdict"] for group in summary["groups"]] == ["fault", "consistent"]
    assert summary["verdict"]["faults"][0]["groups"] == ["blue"]
    assert "the prevalences of blue until this is mended" in page
    assert "In blue that is in doubt" in page


def test_a_column_that_moved_is_in_the_table_and_in_the_picture(report):
    random = np.random.default_rng(0)
    summary, page = report(
        lambda frame: frame.assign(
            degree=frame["degree"].where(random.random(len(frame)) < 0.5, "M")
        )
    )
    moved = summary["columns"]["moved"]
    assert "degree" in {entry["column"] for entry in moved}
    effects = [entry["effect"] for entry in moved]
    assert effects == sorted(effects, reverse=True)
    assert summary["verdict"]["mark"] in ("warn", "bad", "open")
    for entry in moved:
        _, _, happened = entry["what_happened"].partition(": ")
        assert f"<td>{happened}</td>" in html.unescape(page)
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    of_columns = [svg for svg in pictures if "each column of" in svg]
    assert any("var(--bad)" in svg for svg in of_columns)


def test_drift_that_is_ignored_is_named_and_never_green(people_model, people_folder):
    frame = pd.read_csv(people_folder / "new.csv").drop(columns="y")
    odd = FAULTS["all alike"](frame)
    with pytest.warns(AdaptationWarning, match="look at the scores"):
        seen = examine(people_model.clf, odd, drift="ignore")
    summary = batch_summary(seen)
    assert summary["drift"] == "ignore"
    assert summary["verdict"]["mark"] == "bad"
    assert "the estimate is worthless" in summary["groups"][0]["verdict_text"]
    assert "as if the shares of positives" not in to_html(summary)


def test_four_rows_are_too_few_to_tell_and_no_sign_of_a_move(report):
    _, page = report(lambda frame: frame.groupby("race").head(2).drop(columns="y"))
    mark, head, _ = said(page)
    assert (mark, head) == ("open", "Cannot tell")
    assert page.count("cannot tell from so few rows: 2 are too few") == 2
    assert page.count("<td>too few rows</td>") == 2
    assert "4 rows in 2 groups, predicted by a model trained on train.csv." in page
    assert page.count("2 rows; whether it has moved cannot be told") == 2
    assert "judged over all groups together" in page


def monitored(*batches):
    """Batches, given for each group whether it moved and its verdict."""
    return [
        MonitoredBatch(
            f"b{place}.csv",
            10,
            "0",
            [
                {
                    "group": g,
                    "training": 0.5,
                    "moved": moved,
                    "verdict": verdict,
                    "clear": True,
                    "columns": [],
                }
                for g, (moved, verdict) in groups.items()
            ],
            None,
        )
        for place, groups in enumerate(batches, 1)
    ]


STILL, MOVED, BROKEN, FEW, FAULT = (
    (False, "consistent"),
    (True, "consistent"),
    (False, "drifted"),
    (False, "cannot_tell"),
    (False, "fault"),
)
HELD_BACK = "More moved than the prevalences, and estimates were held back,"


@pytest.mark.parametrize(
    ("batches", "mark", "head", "text"),
    [
        (
            [{"x": STILL, "y": STILL}],
            "good",
            "No group has clearly moved.",
            "Consistent with a prior shift in 1 of 1 batch.",
        ),
        (
            [{"x": STILL, "y": MOVED}, {"x": STILL, "y": STILL}],
            "good",
            "y moved in at least one batch.",
            "Consistent with a prior shift in 2 of 2 batches.",
        ),
        (
            [{"y": MOVED, "x": BROKEN}, {"x": MOVED, "y": FEW}],
            "bad",
            "x and y moved in at least one batch.",
            f"{HELD_BACK} in 1 of 2 batches: b1.csv. The prevalence of a group "
            "cannot be told in 1 of 2 batches: b2.csv.",
        ),
        (
            [{"x": BROKEN}] * 8,
            "bad",
            "No group has clearly moved.",
            f"{HELD_BACK} in 8 of 8 batches: "
            "b1.csv, b2.csv, b3.csv, b4.csv, b5.csv and 3 more batches.",
        ),
        (
            [{"x": FEW}, {"x": FEW, "y": FEW}],
            "open",
            "No group has clearly moved.",
            "The prevalence of a group cannot be told in 2 of 2 batches: b1.csv and "
            "b2.csv.",
        ),
        (
            [{"x": FAULT, "y": BROKEN}],
            "bad",
            "No group has clearly moved.",
            "Columns are not what they were in training in 1 of 1 batch: b1.csv.",
        ),
    ],
)
def test_the_verdict_over_many_batches(batches, mark, head, text):
    found = monitor_summary(monitored(*batches), level=0.95, provenance={})
    verdict = found["verdict"]
    assert (verdict["mark"], verdict["head"], verdict["text"]) == (mark, head, text)
    broken = []
    for place, groups in enumerate(batches, 1):
        if {BROKEN, FAULT} & set(groups.values()):
            broken.append(f"b{place}.csv")
    assert found["drifted"] == broken


def test_a_monitor_page_names_the_fault_and_marks_its_batch(
    people_folder, people_model, tmp_path, monitor_of_files
):
    frame = pd.read_csv(people_folder / "new.csv")
    frame.assign(age=frame["age"].where(frame["race"] == "green", 33.0)).to_csv(
        tmp_path / "odd.csv", index=False
    )
    paths = [tmp_path / "odd.csv", people_folder / "train.csv"]
    summary = monitor_of_files(people_model, paths, level=0.8)
    page = to_html(summary)
    (fault,) = summary["verdict"]["faults"]
    assert fault["column"] == "age" and fault["batches"] == ["odd.csv"]
    assert page.index("Columns are not what they were") < page.index("<h2>")
    assert "training in 1 of 2 batches: odd.csv." in page
    svgs = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert ["var(--bad)" in svg for svg in svgs] == [True, False]
    assert "estimate, with its 80 % interval" in page
    assert "2 batches, 1,600 rows, 2 groups; a model trained on train.csv." in page
    happened = html.escape(f"`age`: {fault['what_happened']}")
    assert f"<li>odd.csv: {happened}</li>" in page


def test_an_undefined_rate_and_few_rows_are_told():
    counts = {
        "all positive": Confusion(tp=40, fp=0, fn=10, tn=0, rows=50),
        "few": Confusion(1, 1, 1, 1, 4),
    }
    page = to_html(
        audit_summary(counts, level=0.95, file="a.csv", file_sha256="0", columns={})
    )
    first, second = re.findall(
        r"<tr[^>]*>\s*<th scope=\"rowgroup\">(.*?)</tr>", page, re.DOTALL
    )
    assert "<td>undefined<small>0.000\u20131.000</small></td>" in first
    assert first.count("too few rows") == 0 and second.count("too few rows") == 7
    assert "54 rows in 2 groups, judged by their labels." in page
