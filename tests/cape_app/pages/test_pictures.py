"""Pictures of pages: the numbers behind them, and a mark for each group."""

import re
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.shown import _plot
from cape_app.pages import _batch, to_html


def svg_of(chart, title="title"):
    return _batch.picture("", title, chart, pd.DataFrame())["svg"]


def dot(colour=_plot.NOW):
    frame = pd.DataFrame({"x": [1, 2]})
    return alt.Chart(frame).mark_point(color=colour).encode(x="x:Q")


@pytest.mark.parametrize(
    ("colour", "variable"),
    [
        (_plot.NOW, "--now"),
        (_plot.THEN, "--then"),
        (_plot.SOFT, "--soft"),
        (_plot.ALARM, "--bad"),
    ],
)
def test_colours_are_those_of_the_page(colour, variable):
    svg = svg_of(dot(colour))
    assert f"var({variable})" in svg
    assert colour not in svg and "currentColor" in svg


@settings(max_examples=8)
@given(st.text("ab<>&\"' é组", min_size=1, max_size=12))
def test_a_picture_has_one_name_one_role_and_the_font_of_the_page(title):
    svg = svg_of(dot(), title)
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    names = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert names[0] == title
    assert len(re.findall(r"\srole=", svg)) == 1 and "aria-" not in svg
    assert set(re.findall(r'font-family="([^"]*)"', svg)) == {"inherit"}


# Scores and columns


def test_cells_of_a_histogram_cover_zero_to_one():
    shares = [0.1, 0.2, 0.3, 0.4]
    frame = _batch.frame_histogram({"batch": shares, "mixture": shares[::-1]})
    assert frame["from"].tolist() == [0, 0.25, 0.5, 0.75]
    assert frame["to"].tolist() == [0.25, 0.5, 0.75, 1]
    assert frame["batch"].tolist() == shares


def test_the_largest_groups_are_drawn_and_the_page_says_how_many_are_not(summaries):
    summary = summaries["new"]
    groups, histograms, tests = [], [], []
    for place in range(20):
        name = {"group": f"g{place}"}
        groups.append({**summary["groups"][0], **name, "rows": place})
        histograms.append({**summary["histograms"][0], **name})
        tests.append({**summary["shift_test"]["groups"][0], **name})
    many = {"groups": groups, "histograms": histograms}
    entry = summary["action"]["groups"][0]
    actions = [{**entry, "group": group["group"]} for group in groups]
    many["action"] = {**summary["action"], "groups": actions}
    page = to_html({**summary, **many, "shift_test": {"groups": tests}})
    names = re.findall(r"<title>Scores of (\w+) in the batch", page)
    assert names == [f"g{place}" for place in range(19, 7, -1)]
    assert "Smaller groups (8)" in page


GROUP = {"estimate": 0.5, "mean_score": 0.4, "training_prevalence": 0.3}


def finding(name, prevalence, error, moved=False):
    numbers = {"prevalence": prevalence, "prevalence_error": error}
    return {"column": name, "moved": moved, **numbers}
