"""Pictures as they are drawn: their numbers, their axes, and a mark for each group."""

import json
import re

import pandas as pd
import pytest

from cape import _plot
from cape.metrics import fairness_table
from cape.metrics._rates import Confusion
from cape.report._audit import audit_summary
from cape.report._monitor import (
    draw_over_time,
    frame_over_time,
    monitor_pictures,
)
from cape.report._pictures import (
    Picture,
    draw_prevalences,
    frame_columns,
    frame_histogram,
    frame_moved,
    frame_prevalences,
    frame_rates,
    save_chart,
)


def svg_of(chart, title):
    return Picture("", title, chart, None).svg


def layers(chart):
    """Each layer's mark, encoding and rows."""
    spec = json.loads(chart.to_json())
    parts = spec.get("layer", [spec])
    shared = spec.get("data")
    return [
        (p["mark"], p["encoding"], spec["datasets"][p.get("data", shared)["name"]])
        for p in parts
    ]


def one_rate(frame, rate):
    """The rows of one rate, as the page draws them."""
    return frame[frame["rate"] == rate].drop(columns="rate")


def moved(n):
    return [
        {
            "group": f"g{n - i}",
            "training_prevalence": 0.5,
            "estimate": i / n,
            "low": i / n / 2,
            "high": 1 - i / n / 2,
        }
        for i in range(n)
    ]


@pytest.mark.parametrize("n", [1, 2, 15])
def test_each_group_has_a_ring_a_dot_and_a_bar_in_the_order_given(n):
    groups = moved(n)
    band, then, now = layers(_plot.moved(frame_moved(groups)))
    assert [part[0]["type"] for part in (band, then, now)] == [
        "rule",
        "point",
        "circle",
    ]
    for _, encoding, rows in (band, then, now):
        assert [row["group"] for row in rows] == [g["group"] for g in groups]
        assert encoding["y"]["field"] == "group" and encoding["y"]["sort"] is None
    assert now[1]["x"]["scale"]["domain"] == [0, 1]
    assert (then[1]["x"]["field"], now[1]["x"]["field"]) == ("training", "now")
    assert (band[1]["x"]["field"], band[1]["x2"]["field"]) == ("low", "high")
    assert [(r["training"], r["now"], r["low"], r["high"]) for r in now[2]] == [
        (g["training_prevalence"], g["estimate"], g["low"], g["high"]) for g in groups
    ]


@pytest.mark.parametrize("n", [1, 2, 15])
def test_the_drawing_has_a_mark_and_a_name_for_each_group(n):
    svg = svg_of(_plot.moved(frame_moved(moved(n))), "Moved")
    for i in range(1, n + 1):
        assert svg.count(f">g{i}<") == 1
    assert (
        svg.count('stroke="var(--then)"') == n and svg.count('fill="var(--now)"') == n
    )
    assert svg.count("<title>Moved</title>") == 1


def test_cells_of_a_histogram_cover_zero_to_one_and_the_line_reaches_the_end():
    frame = frame_histogram(
        {"batch": [0.1, 0.2, 0.3, 0.4], "mixture": [0.4, 0.3, 0.2, 0.1]}
    )
    assert frame["from"].tolist() == [0, 0.25, 0.5, 0.75] and frame["to"].tolist() == [
        0.25,
        0.5,
        0.75,
        1,
    ]
    (_, bars, rows), (mark, line, steps) = layers(_plot.scores(frame))
    assert (
        bars["x"]["scale"]["domain"] == [0, 1]
        and bars["x2"]["field"] == "to"
        and bars["y"]["scale"]["zero"]
    )
    assert [row["batch"] for row in rows] == [0.1, 0.2, 0.3, 0.4]
    assert line["y"]["field"] == "mixture" and mark["interpolate"] == "step-after"
    assert [(row["from"], row["mixture"]) for row in steps][-2:] == [
        (0.75, 0.1),
        (1.0, 0.1),
    ]


def expected(group, value):
    ends = {
        f"{rate}_{end}": value + d
        for rate in ("fpr", "fnr", "accuracy")
        for end, d in (("low", -0.1), ("high", 0.1))
    }
    return {
        "group": group,
        "fpr": value,
        "fnr": value + 0.01,
        "accuracy": value + 0.02,
        **ends,
    }


def test_expected_rates_have_a_bar_for_cape_and_a_ring_for_the_model_as_trained():
    plain = [{"group": g, "fpr": 0.3, "fnr": 0.4, "accuracy": 0.6} for g in "ab"]
    summary = {
        "expected": {
            "groups": [expected("a", 0.2), expected("b", 0.5)],
            "unadapted": {"groups": plain},
        }
    }
    frame = frame_rates(summary)
    assert len(frame) == 3 * 4
    fnr = one_rate(frame, "fnr")
    assert fnr[fnr["classifier"] == "CAPE"][
        ["group", "value", "low", "high"]
    ].to_numpy().tolist() == [
        ["a", 0.2 + 0.01, 0.2 - 0.1, 0.2 + 0.1],
        ["b", 0.5 + 0.01, 0.5 - 0.1, 0.5 + 0.1],
    ]
    band, ring, dot = layers(_plot.rates(fnr))
    assert [row["classifier"] for row in ring[2]] == ["unadapted"] * 2
    assert (
        [row["classifier"] for row in band[2]]
        == [row["classifier"] for row in dot[2]]
        == ["CAPE"] * 2
    )
    assert dot[1]["x"]["scale"]["domain"] == [0, 1] and [
        row["value"] for row in ring[2]
    ] == [0.4, 0.4]


@pytest.mark.parametrize("n", [1, 2, 15])
def test_an_audit_draws_a_dot_for_each_group_and_no_ring(n):
    counts = {
        f"g{i}": Confusion(tp=20 + i, fp=5, fn=10, tn=30, rows=65 + i) for i in range(n)
    }
    summary = audit_summary(
        counts, level=0.95, file="a.csv", file_sha256="0", columns={}
    )
    frame = frame_rates(summary)
    band, ring, dot = layers(_plot.rates(one_rate(frame, "accuracy")))
    assert [(row["group"], row["value"]) for row in dot[2]] == [
        (g, c.accuracy) for g, c in counts.items()
    ]
    assert ring[2] == [] and all(
        row["low"] < row["value"] < row["high"] for row in band[2]
    )


def column_finding(name, prevalence, error, moved=False):
    return {
        "column": name,
        "prevalence": prevalence,
        "prevalence_error": error,
        "moved": moved,
    }


GROUP = {"estimate": 0.5, "mean_score": 0.4, "training_prevalence": 0.3}


def test_columns_that_moved_come_first_and_those_that_tell_nothing_are_left_out():
    columns = [
        column_finding("noisy", 0.5, 0.9),
        column_finding("untested", None, None),
        column_finding("exact", 0.5, 0.01),
        column_finding("beyond", 1.2, 0.1, moved=True),
    ]
    frame = frame_columns(columns, GROUP)
    assert frame["column"].tolist() == ["beyond", "exact"]
    assert frame["prevalence"].tolist() == [1.0, 0.5]
    assert frame["high"].tolist() == [1.0, pytest.approx(0.5196)]
    many = [column_finding(f"x{i}", 0.5, 0.1) for i in range(30)]
    assert len(frame_columns(many, GROUP)) == 10
    assert frame_columns([], GROUP).empty


def test_three_lines_stand_where_estimate_mean_score_and_training_are():
    columns = [
        column_finding("a", 0.9, 0.1, moved=True),
        column_finding("b", 0.5, 0.1),
    ]
    drawn = layers(_plot.columns(frame_columns(columns, GROUP)))
    lines = [part for part in drawn if len(part[2]) == 1 and "x2" not in part[1]][:3]
    fields = {part[1]["x"]["field"] for part in lines}
    assert fields == {"training", "mean score", "estimate"}
    dots = [part for part in drawn if part[0]["type"] == "circle"]
    assert [[row["column"] for row in part[2]] for part in dots] == [["b"], ["a"]]
    svg = svg_of(_plot.columns(frame_columns(columns, GROUP)), "Columns")
    assert "var(--bad)" in svg and "var(--then)" in svg and "currentColor" in svg


def over_time(*words, labels=None):
    batches = [
        {
            "batch": f"b{i}",
            "place": i,
            "estimate": 0.4,
            "low": 0.3,
            "high": 0.5,
            "verdict": word,
            "training": 0.6,
        }
        for i, word in enumerate(words, 1)
        if word is not None
    ]
    labels = labels or [f"b{i}" for i in range(1, len(words) + 1)]
    return frame_over_time({"group": "a", "batches": batches}, labels)


def test_crosses_stand_where_more_moved_than_the_prevalence_and_nowhere_else():
    frame = over_time("some_drift", "drifted", "cannot_tell", "fault")
    bars, then, line, dots, crosses = layers(draw_over_time(frame, [0, 0.5]))
    assert [row["batch"] for row in crosses[2]] == ["b2", "b4"]
    assert crosses[0]["shape"] == "cross"
    assert len(line[2]) == len(dots[2]) == len(bars[2]) == 4
    assert then[1]["y"]["field"] == "training" and "strokeDash" in then[0]
    assert line[1]["y"]["scale"]["domain"] == [0, 0.5]
    assert line[1]["x"]["scale"]["domain"] == ["b1", "b2", "b3", "b4"]
    assert (bars[1]["y"]["field"], bars[1]["y2"]["field"]) == ("low", "high")


def test_a_line_is_broken_where_a_group_or_a_month_is_missing():
    labels = ["2024-01", "2024-02", "2024-04"]
    frame = over_time("consistent", None, "consistent", labels=labels)
    assert frame["batch"].tolist() == ["2024-01", "2024-02", "2024-03", "2024-04"]
    assert frame["estimate"].isna().tolist() == [False, True, True, False]
    bars, _, line, dots, _ = layers(draw_over_time(frame, [0, 1]))
    assert len(line[2]) == 4 and len(dots[2]) == len(bars[2]) == 2
    svg = svg_of(draw_over_time(frame, [0, 1]), "Broken")
    assert all(label in svg for label in frame["batch"])
    # Two separate points have no line between them.
    (drawn,) = re.findall(r'<path d="([^"]*)" stroke="var\(--now\)"', svg)
    assert "L" not in drawn


def test_many_batches_have_twelve_names():
    frame = over_time(*["consistent"] * 40)
    line = layers(draw_over_time(frame, [0, 1]))[2]
    values = line[1]["x"]["axis"]["values"]
    assert len(values) <= 12 and values[0] == "b1"


def test_all_groups_have_the_same_axes():
    low = {"batch": "x.csv", "place": 1, "estimate": 0.01, "low": 0.0, "high": 0.015}
    high = {**low, "place": 2, "estimate": 0.03, "high": 0.04}
    more = {"verdict": "consistent", "training": 0.02}
    groups = [
        {"group": "a", "batches": [{**low, **more}]},
        {"group": "b", "batches": [{**high, **more}]},
    ]
    batches = [{"batch": "x.csv"}, {"batch": "y.csv"}]
    pictures = monitor_pictures({"groups": groups, "batches": batches})["over_time"]
    for picture in pictures:
        line = layers(picture.chart)[2]
        assert line[1]["x"]["scale"]["domain"] == ["x", "y"]
        assert line[1]["y"]["scale"]["domain"] == [0, 0.05]


def test_a_title_is_text_of_the_picture():
    svg = svg_of(draw_over_time(over_time("consistent"), [0, 1]), 'a & b < c > "d"')
    assert (
        '<title>a &amp; b &lt; c &gt; "d"</title>' in svg
        and svg.count('role="img"') == 1
    )


@pytest.mark.parametrize("groups", ["a", "ab", "abcdef"])
def test_prevalences_have_a_tick_a_dot_and_the_gap_between_them(groups):
    if len(groups) == 1:
        y, called, z = [1, 0, 1, 0], [1, 0, 0, 0], ["a"] * 4
    else:
        y, called, z = [1, 0] * len(groups), [1, 1] * len(groups), sorted(groups * 2)
    row = fairness_table(y, called, sensitive_features=z)
    frame = frame_prevalences(pd.DataFrame({"one": row, "two": row}).T)
    assert len(frame) == 2 * 2 * len(groups)
    gap, tick, dot = layers(draw_prevalences(frame))
    assert [part[0]["type"] for part in (gap, tick, dot)] == ["rule", "tick", "circle"]
    assert {row["prevalence"] for row in tick[2]} == {0.5}
    assert {row["prevalence"] for row in dot[2]} == {1.0 if len(groups) > 1 else 0.25}
    assert {row["group"] for row in gap[2]} == {f"group {group}" for group in groups}
    assert (
        all(row["true prevalence"] == 0.5 for row in gap[2])
        and gap[1]["x2"]["field"] == "predicted prevalence"
    )
    assert tick[1]["x"]["scale"]["domain"] == [0, 1] and tick[1]["y"]["sort"] == [
        "one",
        "two",
    ]


def test_a_chart_is_saved_by_its_ending_and_its_folder_made(tmp_path):
    chart = _plot.moved(frame_moved(moved(1)))
    path = save_chart(chart, tmp_path / "new" / "folder" / "a.svg")
    assert path.read_text().startswith("<svg") and [
        p.name for p in path.parent.iterdir()
    ] == ["a.svg"]
    assert save_chart(chart, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
