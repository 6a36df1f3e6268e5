"""Pictures of frames."""

import sys

import pandas as pd
import pytest

from cape import plot


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "rule": [None, None, None, "accuracy", "prevalence"],
            "gap": [0.0, 0.1, 0.4, 0.4, 0.2],
            "accuracy": [0.7, 0.8, 0.9, 0.9, 0.85],
            "accuracy_low": [0.6, 0.7, 0.8, 0.8, 0.75],
            "accuracy_high": [0.8, 0.9, 1.0, 1.0, 0.95],
            "mark": [None, None, None, "7", "1"],
        }
    )


def rows_of(chart, layer):
    """The rows behind one layer of a chart."""
    name = layer["data"]["name"]
    return chart["datasets"][name]


def kind_of(layer):
    return layer["mark"]["type"]


def test_the_curve_and_the_rules_are_drawn_apart(frame):
    chart = plot.frontier(frame, criterion="gap").to_dict()
    rows = {kind_of(layer): rows_of(chart, layer) for layer in chart["layer"]}
    assert [row["gap"] for row in rows["line"]] == [0.0, 0.1, 0.4]
    assert rows["area"] == rows["line"]
    assert [row["rule"] for row in rows["point"]] == ["accuracy", "prevalence"]


def test_the_band_is_the_interval(frame):
    chart = plot.frontier(frame, criterion="gap").to_dict()
    [band] = [layer for layer in chart["layer"] if kind_of(layer) == "area"]
    assert band["encoding"]["y"]["field"] == "accuracy_low"
    assert band["encoding"]["y2"]["field"] == "accuracy_high"


def test_a_legend_names_the_rules_unless_they_have_texts(frame):
    legend = plot.frontier(frame, criterion="gap").to_dict()["layer"][-1]
    assert legend["encoding"]["color"]["field"] == "rule"
    chart = plot.frontier(frame, criterion="gap", label="mark").to_dict()
    kinds = [kind_of(layer) for layer in chart["layer"]]
    assert kinds == ["area", "line", "circle", "text"]
    assert chart["layer"][-1]["encoding"]["text"]["field"] == "mark"


def test_axes_have_the_ends_that_are_asked_for(frame):
    chart = plot.frontier(
        frame, criterion="gap", title="difference", x_domain=[0, 1], y_domain=[0.5, 1]
    ).to_dict()
    for layer in chart["layer"]:
        assert layer["encoding"]["x"]["title"] == "difference"
        assert layer["encoding"]["x"]["scale"]["domain"] == [0, 1]
        assert layer["encoding"]["y"]["scale"]["domain"] == [0.5, 1]


def test_costs_are_drawn_by_their_name(frame):
    names = {"accuracy": "cost", "accuracy_low": "cost_low"}
    frame = frame.rename(columns={**names, "accuracy_high": "cost_high"})
    chart = plot.frontier(frame, criterion="gap", value="cost").to_dict()
    assert chart["layer"][1]["encoding"]["y"]["field"] == "cost"


def test_without_altair_it_says_what_to_install(frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match=r"cape-fair\[app\]"):
        plot.frontier(frame, criterion="gap")
