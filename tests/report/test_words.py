"""What a page says in words: every verdict, and what has moved."""

import re

import pandas as pd
import pytest

from cape.diagnostics._prior_shift import GroupShiftTest, PriorShiftTest
from cape.files import MonitoredBatch
from cape.metrics import Confusion
from cape.report import audit_summary, monitor_summary, to_html
from cape.report._batch_summary import assumption_verdict


def said(page):
    """The words of the page's verdict: its class, its headline and its text."""
    return re.search(
        r'<div class="verdict (\w+)"><p><strong>(.*?)</strong>(.*?)</p>', page
    ).groups()


def found_in(**groups):
    """A test of the assumption: groups are "rejected", "fine", "few" or "unsound"."""
    found = {
        name: GroupShiftTest(
            100, 0.5, 0.5, 0.01, word == "rejected", word != "few", word != "unsound"
        )
        for name, word in groups.items()
    }
    return PriorShiftTest(found, 0.05)


@pytest.mark.parametrize(
    ("groups", "word", "begin", "end"),
    [
        (
            {"a": "fine"},
            "holds",
            "Nothing speaks against it",
            "as they were in training.",
        ),
        (
            {"a": "fine", "b": "few"},
            "holds",
            "Nothing speaks",
            "There were too few rows to tell in b.",
        ),
        (
            {"a": "fine", "b": "few", "c": "few"},
            "holds",
            "Nothing",
            "too few rows to tell in b and c.",
        ),
        (
            {"a": "few", "b": "few"},
            "unknown",
            "There are too few rows to tell.",
            "too few rows to tell.",
        ),
        (
            {"a": "rejected", "b": "fine"},
            "fails",
            "Something other than",
            "of these groups cannot be relied on.",
        ),
        (
            {"a": "rejected", "b": "unsound"},
            "unknown",
            "The test cannot be relied on",
            "that keeps its level.",
        ),
        (
            {"a": "rejected", "b": "few"},
            "fails",
            "Something other than",
            "of these groups cannot be relied on.",
        ),
    ],
)
def test_the_verdict_on_the_assumption(groups, word, begin, end):
    found = assumption_verdict(found_in(**groups))
    assert (
        found["word"] == word
        and found["text"].startswith(begin)
        and found["text"].endswith(end)
    )


def test_the_groups_that_fail_are_named_and_no_others():
    text = assumption_verdict(
        found_in(a="rejected", b="fine", c="rejected", d="rejected")
    )["text"]
    assert " has changed in a, c and d: " in text
    many = assumption_verdict(found_in(**{f"g{i}": "rejected" for i in range(9)}))[
        "text"
    ]
    assert " has changed in g0, g1, g2, g3, g4 and 4 more groups: " in many
    six = assumption_verdict(found_in(**{f"g{i}": "rejected" for i in range(6)}))[
        "text"
    ]
    assert " has changed in g0, g1, g2, g3, g4 and g5: " in six


@pytest.fixture(scope="module")
def report(people_folder, people_model, tmp_path_factory, batch_of_file):
    """The page's verdict on some of the new rows, changed."""

    def make(change):
        path = tmp_path_factory.mktemp("words") / "b.csv"
        change(pd.read_csv(people_folder / "new.csv")).to_csv(path, index=False)
        summary = batch_of_file(people_model, path)
        return summary, to_html({**summary, "histograms": []})

    return make


def test_a_batch_like_training_but_for_its_shares_has_no_sign_against_it(report):
    summary, page = report(lambda frame: frame.drop(columns="y"))
    assert said(page) == (
        "holds",
        "No sign against it",
        summary["assumption"]["verdict"]["text"],
    )
    assert page.count("; it has moved (p below 0.001)") == 2


def test_a_batch_whose_blue_rows_all_look_alike_fails_in_blue(report):
    summary, page = report(
        lambda frame: frame.assign(
            age=frame["age"].where(frame["race"] == "green", 33.0)
        )
    )
    word, head, text = said(page)
    assert (word, head) == ("fails", "It fails") and " has changed in blue: " in text
    assert [entry["rejected"] for entry in summary["assumption"]["groups"]] == [
        True,
        False,
    ]


def test_four_rows_are_too_few_to_tell_and_no_sign_of_a_move(report):
    summary, page = report(
        lambda frame: frame.groupby("race").head(2).drop(columns="y")
    )
    assert said(page) == (
        "unknown",
        "Not known",
        "There are too few rows to tell.",
    )
    assert page.count("<td>too few rows</td>") == 2
    assert "4 rows in 2 groups, predicted by a model trained on train.csv." in page
    for entry in summary["groups"]:
        shown = "it has moved" if entry["moved"] else "no clear sign that it has moved"
        assert f"2 rows; {shown} (p = {entry['p_moved']:.3f})" in page
        # Neither the interval nor the p-value beside it is corrected; the verdict is.
        assert entry["p_moved"] <= entry["p_moved_adjusted"]
        assert entry["moved"] == (entry["p_moved_adjusted"] < 0.05)
    assert "judged over all groups together" in page


def monitored(*batches):
    """Batches, given for each group whether it moved and how the assumption stands."""
    return [
        MonitoredBatch(
            f"b{place}.csv",
            10,
            "0",
            [
                {"group": g, "training": 0.5, "moved": m, "assumption": a}
                for g, (m, a) in groups.items()
            ],
            None,
        )
        for place, groups in enumerate(batches, 1)
    ]


STILL, MOVED, BROKEN, FEW, UNKNOWN = (
    (False, "holds"),
    (True, "holds"),
    (False, "fails"),
    (False, "too few rows"),
    (False, "unknown"),
)


@pytest.mark.parametrize(
    ("batches", "word", "head", "text"),
    [
        (
            [{"x": STILL, "y": STILL}],
            "holds",
            "No group has clearly moved.",
            "Nothing speaks against the assumption in 1 batch.",
        ),
        (
            [{"x": STILL, "y": MOVED}, {"x": STILL, "y": STILL}],
            "holds",
            "y moved in at least one batch.",
            "Nothing speaks against the assumption in 2 batches.",
        ),
        (
            [{"y": MOVED, "x": BROKEN}, {"x": MOVED, "y": FEW}],
            "fails",
            "x and y moved in at least one batch.",
            "The assumption fails in 1 of 2 batches: b1.csv.",
        ),
        (
            [{"x": BROKEN}, {"x": STILL}, {"x": BROKEN, "y": BROKEN}],
            "fails",
            "No group has clearly moved.",
            "The assumption fails in 2 of 3 batches: b1.csv and b3.csv.",
        ),
        (
            [{"x": BROKEN}] * 8,
            "fails",
            "No group has clearly moved.",
            "The assumption fails in 8 of 8 batches: "
            "b1.csv, b2.csv, b3.csv, b4.csv, b5.csv and 3 more batches.",
        ),
        (
            [{"x": FEW}, {"x": FEW, "y": FEW}],
            "unknown",
            "No group has clearly moved.",
            "There are too few rows to tell if the assumption holds.",
        ),
        (
            [{"x": UNKNOWN}],
            "unknown",
            "No group has clearly moved.",
            "Whether the assumption holds cannot be told for this model.",
        ),
    ],
)
def test_the_verdict_over_many_batches(batches, word, head, text):
    found = monitor_summary(monitored(*batches), level=0.95, provenance={})
    assert found["verdict"] == {"word": word, "head": head, "text": text}
    broken = [
        f"b{i}.csv" for i, groups in enumerate(batches, 1) if BROKEN in groups.values()
    ]
    assert found["failed"] == broken


def test_a_monitor_page_says_its_verdict_and_marks_the_batch_that_fails(
    people_folder, people_model, tmp_path, monitor_of_files
):
    frame = pd.read_csv(people_folder / "new.csv")
    frame.assign(age=frame["age"].where(frame["race"] == "green", 33.0)).to_csv(
        tmp_path / "odd.csv", index=False
    )
    paths = [tmp_path / "odd.csv", people_folder / "train.csv"]
    page = to_html(monitor_of_files(people_model, paths, level=0.8))
    word, head, text = said(page)
    assert word == "fails" and head.endswith("moved in at least one batch.")
    assert text == "The assumption fails in 1 of 2 batches: odd.csv."
    svgs = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert ["var(--bad)" in svg for svg in svgs] == [True, False]
    assert "estimate, with its 80 % band" in page
    assert "2 batches, 1,600 rows, 2 groups; a model trained on train.csv." in page


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
    assert first.count("too few rows") == 0 and second.count("too few rows") == 6
    assert "54 rows in 2 groups, judged by their labels." in page
