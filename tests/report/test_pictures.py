"""Pictures of pages: the numbers behind them, and a mark for each group."""

import json
import re
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import _plot
from cape.examination import examine
from cape.report import _pictures, to_html


def svg_of(chart, title="title"):
    return _pictures.picture("", title, chart, pd.DataFrame())["svg"]


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


def test_numbers_have_three_digits_and_what_is_missing_is_empty(pages):
    (table,) = re.findall(
        r"<summary>The numbers</summary>[^§]*?False positive rate by group.*?</table>",
        pages["new"],
        re.DOTALL,
    )
    row = re.search(r'<th scope="row">blue</th>(<td>unadapted.*?)</tr>', table)[1]
    assert re.fullmatch(r"<td>unadapted</td><td>0\.\d{3}</td><td></td><td></td>", row)


# How far each group has moved


def moved(n):
    groups = []
    for i in range(n):
        shares = {"training_prevalence": 0.5, "estimate": i / n}
        ends = {"low": i / n / 2, "high": 1 - i / n / 2}
        groups.append({"group": f"g{n - i}", **shares, **ends})
    return groups


@pytest.mark.parametrize("n", [1, 2, 15])
def test_each_group_has_a_mark_and_a_name(n):
    frame = _pictures.frame_moved(moved(n))
    assert frame["group"].tolist() == [group["group"] for group in moved(n)]
    assert frame["now"].tolist() == [group["estimate"] for group in moved(n)]
    svg = svg_of(_plot.moved(frame), "Moved")
    for i in range(1, n + 1):
        assert svg.count(f">g{i}<") == 1
    assert svg.count('stroke="var(--then)"') == svg.count('fill="var(--now)"') == n


def checks(*verdicts):
    groups = []
    for verdict in verdicts:
        said = {"label_estimate": 0.3, "low": 0.2, "high": 0.4}
        said |= {"without_labels": 0.5, "without_labels_low": 0.4}
        groups.append({**said, "without_labels_high": 0.6, "label_verdict": verdict})
    return groups


@pytest.mark.parametrize(("decide", "diamond"), [(False, 0.3), (True, 0.5)])
def test_a_diamond_is_what_the_estimate_is_compared_with(decide, diamond):
    labels = {"decide": decide, "groups": checks("refuted", None)}
    frame = _pictures.frame_moved(moved(2), labels)
    assert frame["compared"][0] == diamond
    # Labels that cannot be used are not drawn.
    assert frame.loc[1, ["compared", "compared_low", "compared_high"]].isna().all()
    drawn = _plot.moved(frame).to_dict()
    assert [len(rows) for rows in drawn["datasets"].values()] == [2, 1]


# Scores and columns


def test_cells_of_a_histogram_cover_zero_to_one():
    shares = [0.1, 0.2, 0.3, 0.4]
    frame = _pictures.frame_histogram({"batch": shares, "mixture": shares[::-1]})
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
    many = {"groups": groups, "histograms": histograms, "frontiers": None}
    page = to_html({**summary, **many, "shift_test": {"groups": tests}})
    names = re.findall(r"<title>Scores of (\w+) in the batch", page)
    assert names == [f"g{place}" for place in range(19, 7, -1)]
    assert "8 more groups with fewer rows" in page


GROUP = {"estimate": 0.5, "mean_score": 0.4, "training_prevalence": 0.3}


def finding(name, prevalence, error, moved=False):
    numbers = {"prevalence": prevalence, "prevalence_error": error}
    return {"column": name, "moved": moved, **numbers}


def test_columns_that_moved_come_first_and_those_that_tell_nothing_are_left_out():
    columns = [
        finding("noisy", 0.5, 0.9),
        finding("untested", None, None),
        finding("exact", 0.5, 0.01),
        finding("beyond", 1.2, 0.1, moved=True),
    ]
    frame = _pictures.frame_columns(columns, GROUP)
    assert frame["column"].tolist() == ["beyond", "exact"]
    assert frame["prevalence"].tolist() == [1.0, 0.5]
    assert frame["high"].tolist() == [1.0, pytest.approx(0.5196)]
    svg = svg_of(_plot.columns(frame))
    assert "var(--bad)" in svg and "var(--then)" in svg and "currentColor" in svg
    many = [finding(f"x{i}", 0.5, 0.1) for i in range(30)]
    assert len(_pictures.frame_columns(many, GROUP)) == 10
    assert _pictures.frame_columns([], GROUP).empty


# Rates


def test_rates_are_observed_where_there_are_labels_and_expected_where_not(summaries):
    batch, new = summaries["batch"], summaries["new"]
    observed, expected = _pictures.frame_rates(batch), _pictures.frame_rates(new)
    for rate in ("fpr", "fnr", "accuracy"):
        values = []
        for who in ("cape", "unadapted"):
            for found in batch["observed"][who]["groups"]:
                if found["metric"] == rate:
                    values.append(found["value"])
        assert observed[observed["rate"] == rate]["value"].tolist() == values
        of_cape = [group[rate] for group in new["expected"]["groups"]]
        of_model = [group[rate] for group in new["expected"]["unadapted"]["groups"]]
        own = expected[expected["rate"] == rate]
        assert own["value"].tolist() == of_cape + of_model
        assert own["low"].isna().tolist() == [False, False, True, True]
    # The predictions of an audit may be anybody's: there is no model as trained.
    assert _pictures.frame_rates(summaries["audit"])["classifier"].nunique() == 1


# What to aim at


@pytest.fixture(scope="module")
def seen(fitted, batch):
    rule = {"rule": "equal_opportunity"}
    return examine(fitted(), batch.X, sensitive_features=batch.z, **rule)


@pytest.fixture(scope="module")
def summary(seen, summarise):
    return summarise(seen)


def test_points_are_those_of_the_frontier(seen, summary):
    shown = summary["frontiers"]
    found = seen.frontiers([curve["criterion"] for curve in shown["curves"]])
    for curve, frontier in zip(shown["curves"], found.values(), strict=True):
        assert len(curve["points"]) <= 31
        for point, source in zip(curve["points"], frontier.curve, strict=True):
            assert point["criterion"] == round(source.criterion, 6)
            assert point["accuracy"] == round(source.accuracy.value, 6)
            predicted = [outcome[0] for outcome in point["outcomes"]]
            sources = source.groups.values()
            assert predicted == [round(g.predicted_prevalence, 6) for g in sources]
    first = next(iter(found.values()))
    for rule, source in zip(shown["rules"], [*first.rules, first.chosen], strict=True):
        assert rule["accuracy"] == round(source.accuracy.value, 6)
    assert len(shown["curves"]) <= 4
    assert len(json.dumps(shown, allow_nan=False)) < 25_000


def test_what_was_chosen_stands_last_and_agrees_with_the_criteria(seen, summary):
    chosen = summary["frontiers"]["rules"][-1]
    assert chosen["mark"] == "now"
    adapted = seen.adaptation.groups.values()
    predicted = [round(group.predicted_prevalence, 6) for group in adapted]
    assert [outcome[0] for outcome in chosen["outcomes"]] == predicted
    # Elsewhere on the page stand the same numbers, with the same three digits.
    for name, key in (("accuracy", "accuracy"), ("proportional_equality", "pe")):
        assert chosen[key] == round(seen.criteria.values[name].value, 6)


def test_all_points_are_inside_the_axes(summary):
    for curve in summary["frontiers"]["curves"]:
        frame = _pictures.frame_frontier(curve, summary["frontiers"]["rules"])
        assert frame["criterion"].between(*curve["x_domain"]).all()
        assert frame["accuracy"].between(*curve["y_domain"]).all()
        of_curve = frame[frame["rule"].isna()]
        assert len(of_curve) == len(curve["points"])
        assert of_curve["accuracy_low"].min() >= curve["y_domain"][0]
        assert of_curve["accuracy_high"].max() <= curve["y_domain"][1]


@pytest.mark.parametrize(
    ("values", "accuracies", "marks"),
    [
        # Marks on each other share a text.
        ([0.1, 0.101, 0.19, 0.1], [0.9, 0.9, 0.9, 0.6], ["1 2", "", "3", "4"]),
        # Rules outside the picture are not drawn.
        ([0.1, 0.3, None, 0.1], [0.9, 0.9, 0.9, 0.4], ["1"]),
    ],
)
def test_marks_of_rules(values, accuracies, marks):
    curve = {"points": [], "rules": values}
    curve |= {"x_domain": [0.0, 0.2], "y_domain": [0.5, 1.0]}
    rules = []
    for number, accuracy in enumerate(accuracies, 1):
        choice = {"accuracy": accuracy, "low": 0.5, "high": 1.0}
        rules.append({"name": f"rule {number}", "mark": str(number), **choice})
    assert _pictures.frame_frontier(curve, rules)["mark"].tolist() == marks


def test_the_page_has_the_choice_of_the_batch_without_script(summary):
    page = to_html(summary)
    chosen = summary["frontiers"]["rules"][-1]
    for place, outcome in enumerate(chosen["outcomes"]):
        for column, value in enumerate(outcome):
            cell = f'<td data-group="{place}" data-column="{column}">{value:.3f}</td>'
            assert cell in page
    for sentence in summary["aims"]:
        assert sentence in page
    # The script puts a ring into the frame of each drawing.
    frame = 'class="mark-group role-frame root"><g transform="translate(0,0)">'
    section = page.split('<section id="aim">')[1].split("</section>")[0]
    assert section.count(frame) == len(summary["frontiers"]["curves"])


def test_many_groups_have_fewer_points_and_hundreds_have_none(seen, monkeypatch):
    monkeypatch.setattr(_pictures, "_MOST_OUTCOMES", 0)
    curves = _pictures.frontier_summary(seen)["curves"]
    assert all(len(curve["points"]) <= 9 for curve in curves)
    monkeypatch.setattr(_pictures, "MOST_GROUPS", 1)
    assert _pictures.frontier_summary(seen) is None
