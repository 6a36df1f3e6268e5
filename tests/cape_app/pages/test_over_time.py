"""The page of many batches: its axis of time, its verdicts and its pictures."""

import html
import re

import pandas as pd
import pytest

from cape.base._numbers import points, share_text
from cape_app.pages import to_html
from cape_app.pages._over_time import (
    batches_summary,
    frame_over_time,
)
from cape_app.words import _page as words

# Verdicts


def predicted(*batches):
    """Facts of batches, given for each group whether it moved and its verdict."""
    gravity = ["fault", "drifted", "uncertain", "consistent"]
    facts = []
    for place, groups in enumerate(batches, 1):
        entries = []
        for group, (moved, verdict) in groups.items():
            entry = {"group": group, "training_prevalence": 0.5, "moved": moved}
            entries.append({**entry, "verdict": verdict})
        word = min((entry["verdict"] for entry in entries), key=gravity.index)
        about = {"title": f"b{place}.csv", "rows": 10, "expected_pe": None}
        about |= {"action": {}, "verdict": {"word": word, "faults": []}}
        facts.append({**about, "groups": entries})
    return facts


STILL, MOVED, BROKEN, FEW, FAULT = (
    (False, "consistent"),
    (True, "consistent"),
    (False, "drifted"),
    (False, "uncertain"),
    (False, "fault"),
)


@pytest.mark.parametrize(
    ("batches", "word", "drifted"),
    [
        ([{"x": STILL, "y": STILL}], "consistent", []),
        ([{"x": STILL, "y": MOVED}, {"x": STILL}], "consistent", []),
        ([{"y": MOVED, "x": BROKEN}, {"y": FEW}], "drifted", ["b1.csv"]),
        ([{"x": FEW}, {"x": FEW, "y": STILL}], "uncertain", []),
        ([{"x": STILL}, {"x": FAULT, "y": BROKEN}], "fault", ["b2.csv"]),
    ],
)
def test_the_verdict_over_many_batches(batches, word, drifted):
    provenance = {"columns": {"label": "y", "labels": [0, 1]}}
    found = batches_summary(predicted(*batches), level=0.95, provenance=provenance)
    assert found["verdict"]["word"] == word
    assert found["drifted"] == drifted


def test_a_page_names_the_fault_and_marks_its_batch(
    people_folder, people_model, tmp_path, batches_of_files
):
    frame = pd.read_csv(people_folder / "new.csv")
    odd = frame.assign(age=frame["age"].where(frame["race"] == "green", 33.0))
    odd.to_csv(tmp_path / "odd.csv", index=False)
    paths = [tmp_path / "odd.csv", people_folder / "train.csv"]
    summary = batches_of_files(people_model, paths, level=0.8)
    page = to_html(summary)
    (fault,) = summary["verdict"]["faults"]
    assert fault["column"] == "age" and fault["batches"] == ["odd.csv"]
    happened = html.escape(f"`age` in odd.csv: {fault['what_happened']}")
    assert page.index(happened) < page.index("<table")
    happened = html.escape(f"`age`: {fault['what_happened']}")
    assert f"<li>odd.csv: {happened}</li>" in page
    # Batches to act on come first.
    actions = [batch["action"]["code"] for batch in summary["batches"]]
    assert actions == ["do_not_use", "use"]
    turned = to_html({**summary, "batches": summary["batches"][::-1]})
    first = turned.split("</table>")[0]
    assert first.index("odd.csv</th>") < first.index("train.csv</th>")
    svgs = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert ["var(--bad)" in svg for svg in svgs] == [True]
    assert "80% interval" in page


def test_a_batch_among_many_has_the_numbers_of_a_batch_alone(summaries, pages):
    found, alone = summaries["batches"], summaries["batch"]
    assert found["title"] == "train.csv to new.csv" and found["rows"] == 1600
    shared = ("rows", "estimate", "low", "high", "predicted_prevalence", "pd_bound")
    rows = re.findall(
        r'<tr>\s*<th scope="row">new.csv</th>(.*?)</tr>', pages["batches"], re.DOTALL
    )
    # The first row is that of the first screen.
    rows = rows[1:]
    for place, group in enumerate(alone["groups"]):
        entry = found["groups"][place]
        assert [batch["moved"] for batch in entry["batches"]] == [False, True]
        last = entry["batches"][-1]
        assert {name: last[name] for name in shared} == {
            name: group[name] for name in shared
        }
        rates = alone["expected"]["groups"][place]
        assert (last["fpr"], last["accuracy"]) == (rates["fpr"], rates["accuracy"])
        assert (last["made_for"], last["place"]) == (group["made_for"], 2)
        assert entry["training_prevalence"] == group["training_prevalence"]
        assert re.findall(r"<td>(.*?)</td>", rows[place]) == [
            str(group["rows"]),
            share_text(group["estimate"]),
            words.interval(group["low"], group["high"]),
            points(group["estimate"] - group["training_prevalence"]),
            "yes",
            share_text(group["pd_bound"]),
            "no other changes found",
        ]
    worst = max(pair["pe"] for pair in alone["expected"]["pairs"])
    assert found["batches"][1]["expected_pe"] == worst


# Pictures


def test_marks_stand_where_more_moved_than_the_prevalence_and_numbers_may_be_missing():
    batches = []
    for place, verdict in ((1, "drifted"), (3, "consistent")):
        batches.append({"place": place, "verdict": verdict, "estimate": 0.4})
    frame = frame_over_time([{"group": "a", "batches": batches}], ["b1", "b2", "b3"])
    assert frame["look"].tolist() == ["b1", "b2", "b3"]
    assert frame["share"].isna().tolist() == [False, True, False]
    assert (frame["alarm"] != "").tolist() == [True, False, False]
