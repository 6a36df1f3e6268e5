"""The page of many batches: its axis of time, its verdicts and its pictures."""

import html
import re
from itertools import pairwise

import pandas as pd
import pytest

from cape_app.pages import to_html
from cape_app.pages._over_time import (
    batches_summary,
    draw_over_time,
    frame_over_time,
)

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
    assert ["var(--bad)" in svg for svg in svgs] == [True, False]
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
            f"{group['estimate']:.3f}",
            f"{group['low']:.3f}\u2013{group['high']:.3f}",
            f"{group['estimate'] - group['training_prevalence']:+.3f}",
            "yes",
            f"{group['pd_bound']:.3f}",
            "consistent",
        ]
    worst = max(pair["pe"] for pair in alone["expected"]["pairs"])
    assert found["batches"][1]["expected_pe"] == worst


# Pictures


def over_time(*codes, labels=None):
    batches = []
    shares = {"estimate": 0.4, "low": 0.3, "high": 0.5}
    for place, code in enumerate(codes, 1):
        if code is not None:
            batches.append({"place": place, "verdict": code, **shares})
    labels = labels or [f"b{place}" for place in range(1, len(codes) + 1)]
    group = {"group": "a", "training_prevalence": 0.6, "batches": batches}
    return frame_over_time(group, labels)


def layers(chart):
    """Each layer's encoding and rows."""
    spec = chart.to_dict()
    shared = spec.get("data")
    found = []
    for part in spec["layer"]:
        rows = spec["datasets"][part.get("data", shared)["name"]]
        found.append((part["encoding"], rows))
    return found


def test_crosses_stand_where_more_moved_than_the_prevalence_and_nowhere_else():
    frame = over_time("some_drift", "drifted", "uncertain", "fault")
    bars, then, line, dots, crosses = layers(draw_over_time(frame, [0, 0.5]))
    assert [row["batch"] for row in crosses[1]] == ["b2", "b4"]
    assert len(line[1]) == len(dots[1]) == len(bars[1]) == 4
    assert then[0]["y"]["field"] == "training"
    assert line[0]["y"]["scale"]["domain"] == [0, 0.5]
    assert line[0]["x"]["scale"]["domain"] == ["b1", "b2", "b3", "b4"]
    assert (bars[0]["y"]["field"], bars[0]["y2"]["field"]) == ("low", "high")


def test_a_line_is_broken_where_a_group_is_missing():
    labels = ["2024-01", "2024-02", "2024-04"]
    frame = over_time("consistent", None, "consistent", labels=labels)
    assert frame["batch"].tolist() == labels
    assert frame["estimate"].isna().tolist() == [False, True, False]
    bars, _, line, dots, _ = layers(draw_over_time(frame, [0, 1]))
    assert len(line[1]) == 3 and len(dots[1]) == len(bars[1]) == 2


@pytest.mark.parametrize("n", [1, 3, 11, 12, 13, 365])
def test_every_tick_of_the_axis_is_a_batch_and_comes_once(n):
    frame = over_time(*["consistent"] * n)
    spec = draw_over_time(frame, [0, 1]).to_dict()
    ticks = spec["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert ticks[0] == "b1" and len(ticks) <= 12
    places = [int(tick[1:]) for tick in ticks]
    assert len({after - before for before, after in pairwise(places)}) <= 1
