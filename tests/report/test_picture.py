"""A picture on the page: its name, its colours, and the numbers behind it."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape._plot import ALARM, NOW, SOFT, THEN
from cape.report._monitor import draw_over_time, frame_over_time
from cape.report._pictures import Picture, batch_pictures, rate_pictures


def svg_of(chart, title):
    return Picture("", title, chart, None).svg


def chart(colour=NOW):
    frame = pd.DataFrame({"x": [1, 2]})
    return alt.Chart(frame).mark_point(color=colour).encode(x="x:Q")


def test_numbers_have_three_digits_and_what_is_missing_is_empty():
    frame = pd.DataFrame(
        {
            "group": ["a", "b"],
            "rows": [3, 4],
            "value": [0.12345, float("nan")],
            "low": [None, 0.5],
        }
    )
    picture = Picture("a heading", "a title", chart(), frame)
    assert picture.columns == ["group", "rows", "value", "low"]
    assert picture.rows == [["a", "3", "0.123", ""], ["b", "4", "", "0.500"]]


@pytest.mark.parametrize(
    ("colour", "variable"),
    [(NOW, "--now"), (THEN, "--then"), (SOFT, "--soft"), (ALARM, "--bad")],
)
def test_colours_are_those_of_the_page(colour, variable):
    svg = svg_of(chart(colour), "title")
    assert f"var({variable})" in svg
    assert colour not in svg and "currentColor" in svg


@settings(max_examples=8)
@given(st.text("ab<>&\"' é组", min_size=1, max_size=12))
def test_the_name_of_a_picture_is_its_title(title):
    svg = svg_of(chart(), title)
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    names = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert names[0] == title


def test_a_picture_has_one_role_and_the_font_of_the_page():
    svg = svg_of(chart(), "title")
    assert len(re.findall(r"\srole=", svg)) == 1 and "aria-" not in svg
    fonts = set(re.findall(r'font-family="([^"]*)"', svg))
    assert fonts == {"inherit"}


@pytest.mark.parametrize("last", [1, 2, 3, 11, 12, 13, 40, 365])
def test_every_tick_of_the_axis_is_a_batch_and_comes_once(last):
    batches = []
    for place in range(1, last + 1):
        batches.append(
            {
                "batch": f"b{place}",
                "place": place,
                "estimate": 0.4,
                "low": 0.3,
                "high": 0.5,
                "verdict": "consistent",
                "training": 0.6,
            }
        )
    labels = [batch["batch"] for batch in batches]
    frame = frame_over_time({"batches": batches}, labels)
    spec = draw_over_time(frame, [0, 1]).to_dict()
    ticks = spec["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert ticks[0] == "b1" and len(ticks) <= 12
    assert len(set(ticks)) == len(ticks)
    places = [labels.index(tick) for tick in ticks]
    steps = {after - before for before, after in pairwise(places)}
    assert len(steps) <= 1


def test_the_largest_groups_are_drawn_and_the_page_says_how_many_are_not(
    people_folder, people_model, batch_of_file
):
    summary = batch_of_file(people_model, people_folder / "new.csv")
    groups = []
    histograms = []
    for place in range(20):
        name = f"g{place}"
        groups.append({**summary["groups"][0], "group": name, "rows": place})
        histograms.append({**summary["histograms"][0], "group": name})
    many = {**summary, "groups": groups, "histograms": histograms}
    pictures = batch_pictures(many)
    names = [picture.heading for picture in pictures["histograms"]]
    assert names == [f"g{place}" for place in range(19, 7, -1)]
    assert set(pictures) == {"moved", "histograms", "columns", "rates"}


def test_each_rate_has_a_picture_of_its_own_numbers(
    people_folder, people_model, batch_of_file
):
    summary = batch_of_file(people_model, people_folder / "new.csv")
    pictures = rate_pictures(summary)
    headings = [picture.heading for picture in pictures]
    assert headings == ["False positive rate", "False negative rate", "Accuracy"]
    for picture, rate in zip(pictures, ("fpr", "fnr", "accuracy"), strict=True):
        values = []
        for who in ("cape", "unadapted"):
            for finding in summary["observed"][who]["groups"]:
                if finding["metric"] == rate:
                    values.append(finding["value"])
        assert picture.frame["value"].tolist() == values
        assert picture.title == f"{picture.heading} by group"
