"""Pictures of frames."""

import numpy as np
import pandas as pd
import pytest

from cape.shown import _plot


def kind_of(layer):
    return layer["mark"]["type"]


@pytest.mark.parametrize("package", ["altair", "jinja2"])
def test_without_altair_it_says_what_to_install(hide_package, package):
    hide_package(package)
    with pytest.raises(ImportError, match=rf"needs {package}.*cape-fair\[app\]"):
        _plot.moved(audited(3))


def audited(n):
    """The numbers of an audit of n groups."""
    share = np.linspace(0.1, 0.4, n)
    return pd.DataFrame(
        {
            "group": [f"g{i}" for i in range(n)],
            "now": share,
            "low": share - 0.05,
            "high": share + 0.05,
            "compared": share + 0.02,
            "compared_low": share - 0.1,
            "compared_high": share + 0.1,
        }
    )


def test_an_audit_has_two_marks_with_intervals_for_each_group():
    chart = _plot.moved(audited(3)).to_dict()
    drawn = {}
    for layer in chart["layer"]:
        x = layer["encoding"]["x"]["field"]
        drawn[kind_of(layer), x] = layer["encoding"].get("x2", {}).get("field")
        assert layer["encoding"]["y"]["sort"] is None
        if x == "now":
            assert layer["encoding"]["x"]["scale"]["domain"] == [0.0, 0.5]
    assert drawn == {
        ("rule", "low"): "high",
        ("circle", "now"): None,
        ("rule", "compared_low"): "compared_high",
        ("point", "compared"): None,
    }
    assert "title" not in chart


def test_a_title_comes_with_what_the_marks_mean():
    title = _plot.moved(audited(3), title="Two shares").to_dict()["title"]
    assert title["text"] == "Two shares"
    assert [line.split(":")[0] for line in title["subtitle"]] == ["dot", "diamond"]


def groups_drawn(chart):
    [rows] = chart["datasets"].values()
    return [row["group"] for row in rows]


def test_of_many_groups_the_first_or_the_largest_are_drawn_in_their_order():
    frame = audited(300)
    chart = _plot.moved(frame).to_dict()
    assert groups_drawn(chart) == [f"g{i}" for i in range(_plot.MOST_ROWS)]
    assert chart["title"]["text"] == "Only the first 24 of 300 groups are shown."
    frame["rows"] = np.arange(300)
    # An index of any kind does not matter.
    frame.index = [0] * 300
    chart = _plot.moved(frame, title="x").to_dict()
    assert groups_drawn(chart) == [f"g{i}" for i in range(276, 300)]
    assert (
        chart["title"]["subtitle"][-1] == "Only the largest 24 of 300 groups are shown."
    )


def test_names_that_nobody_sees_are_written_out():
    frame = audited(2)
    frame["group"] = ["a\x00b", 7]
    assert groups_drawn(_plot.moved(frame).to_dict()) == ["a\\x00b", "7"]


@pytest.mark.parametrize(
    ("highest", "end"), [(0.004, 0.01), (0.05, 0.05), (0.051, 0.1), (0.6, 1), (1, 1)]
)
def test_an_axis_of_small_shares_is_short(highest, end):
    frame = pd.DataFrame({"a": [0.0, None], "b": [highest, np.nan], "c": [1, 1]})
    assert _plot.share_domain(frame[["a", "b"]]) == [0, end]
    assert _plot.share_domain(frame["c"]) == [0, 1]


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


@pytest.mark.parametrize(
    "colour", [_plot.ALARM, _plot.INK, _plot.NOW, _plot.SOFT, _plot.THEN]
)
@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#1e1e1e", "#333333"])
def test_marks_are_seen_on_light_and_on_dark_grounds(colour, ground):
    dark, light = sorted([luminance(colour), luminance(ground)])
    # WCAG 2.1, 1.4.11: graphical objects need a contrast of 3.
    assert (light + 0.05) / (dark + 0.05) >= 3
