"""The section "What to aim at": what it is given, and what is drawn."""

import json

import numpy as np
import pytest

from cape.examination import examine
from cape.report import _frontier as section
from cape.report import to_html
from cape.report._batch import batch_summary


@pytest.fixture(scope="module")
def seen(fitted, batch):
    clf = fitted()
    return examine(clf, batch.X, sensitive_features=batch.z, rule="equal_opportunity")


@pytest.fixture(scope="module")
def summary(seen):
    return batch_summary(seen)


def test_points_are_those_of_the_frontier(seen, summary):
    shown = summary["frontiers"]
    found = seen.frontiers(section.CRITERIA_SHOWN)
    assert [curve["criterion"] for curve in shown["curves"]] == list(found)
    for curve, frontier in zip(shown["curves"], found.values(), strict=True):
        values = [point["criterion"] for point in curve["points"]]
        assert values == [round(point.criterion, 6) for point in frontier.curve]
        for point, source in zip(curve["points"], frontier.curve, strict=True):
            assert point["accuracy"] == round(source.accuracy.value, 6)
            predicted = [outcome[0] for outcome in point["outcomes"]]
            sources = source.groups.values()
            assert predicted == [round(g.predicted_prevalence, 6) for g in sources]
    first = next(iter(found.values()))
    for rule, source in zip(shown["rules"], [*first.rules, first.chosen], strict=True):
        assert rule["accuracy"] == round(source.accuracy.value, 6)


def test_pe_has_the_same_three_digits_everywhere_on_the_page(summary):
    """0.04246 was 0.042 in one table, and 0.043 by way of 0.0425 in another."""
    shown = summary["frontiers"]["rules"][-1]["pe"]
    [criterion] = [
        entry
        for entry in summary["criteria"]
        if entry["criterion"] == "proportional_equality"
    ]
    assert f"{shown:.3f}" == f"{criterion['value']:.3f}"
    assert f"{section._rounded(0.04246174):.3f}" == "0.042"


def test_what_was_chosen_stands_last(seen, summary):
    chosen = summary["frontiers"]["rules"][-1]
    assert chosen["mark"] == "now"
    adapted = seen.adaptation.groups.values()
    predicted = [round(group.predicted_prevalence, 6) for group in adapted]
    assert [outcome[0] for outcome in chosen["outcomes"]] == predicted
    # Above it stands the same number, as what to expect of the batch.
    assert chosen["accuracy"] == round(seen.criteria.values["accuracy"].value, 6)


def test_the_page_stays_small(summary):
    shown = summary["frontiers"]
    assert len(shown["curves"]) <= 4
    assert all(len(curve["points"]) <= 31 for curve in shown["curves"])
    assert len(json.dumps(shown, allow_nan=False)) < 25_000


def test_all_points_are_inside_the_axes(summary):
    for curve in summary["frontiers"]["curves"]:
        frame = section.frame_frontier(curve, summary["frontiers"]["rules"])
        assert frame["criterion"].between(*curve["x_domain"]).all()
        assert frame["accuracy"].between(*curve["y_domain"]).all()
        of_curve = frame[frame["rule"].isna()]
        assert len(of_curve) == len(curve["points"])
        assert of_curve["accuracy_low"].min() >= curve["y_domain"][0]
        assert of_curve["accuracy_high"].max() <= curve["y_domain"][1]


def made_up_curve(values):
    """A curve from 0 to .2, and rules with these values of the criterion."""
    return {
        "points": [],
        "rules": values,
        "x_domain": [0.0, 0.2],
        "y_domain": [0.5, 1.0],
    }


def made_up_rules(*accuracies):
    rules = []
    for number, accuracy in enumerate(accuracies, 1):
        choice = {"accuracy": accuracy, "low": 0.5, "high": 1.0}
        rules.append({"name": f"rule {number}", "mark": str(number), **choice})
    return rules


def test_marks_on_each_other_share_a_text():
    curve = made_up_curve([0.1, 0.101, 0.19, 0.1])
    frame = section.frame_frontier(curve, made_up_rules(0.9, 0.9, 0.9, 0.6))
    assert frame["mark"].tolist() == ["1 2", "", "3", "4"]
    assert frame["rule"].tolist() == ["rule 1", "rule 2", "rule 3", "rule 4"]


def test_rules_outside_the_picture_are_not_drawn():
    curve = made_up_curve([0.1, 0.3, None, 0.1])
    frame = section.frame_frontier(curve, made_up_rules(0.9, 0.9, 0.9, 0.4))
    assert frame["rule"].tolist() == ["rule 1"]


def test_each_curve_has_a_picture_of_its_own_size(summary):
    shown = summary["frontiers"]
    pictures = section.frontier_pictures(summary)
    assert len(pictures) == len(shown["curves"])
    for picture in pictures:
        chart = picture.chart.to_dict()
        assert (chart["width"], chart["height"]) == (shown["width"], shown["height"])
        # The script puts a ring into the frame of the drawing.
        frame = 'class="mark-group role-frame root"><g transform="translate(0,0)">'
        assert frame in picture.svg


def test_one_group_has_no_such_section(fitted, batch):
    own = batch.z == 0
    groups = {"sensitive_features": batch.z[own]}
    alone = batch_summary(examine(fitted(), batch.X[own], **groups))
    assert alone["frontiers"] is None
    assert section.frontier_pictures(alone) == []
    page = to_html(alone)
    assert "What to aim at" not in page and "What is given up" not in page


def test_hundreds_of_groups_have_no_such_section(seen, monkeypatch):
    monkeypatch.setattr(section, "MOST_GROUPS", 1)
    assert section.frontier_summary(seen) is None


def test_many_groups_have_fewer_points(seen, monkeypatch):
    monkeypatch.setattr(section, "_MOST_OUTCOMES", 0)
    shown = section.frontier_summary(seen)
    fewest = section._FEWEST_POINTS
    assert all(len(curve["points"]) <= fewest + 1 for curve in shown["curves"])


def test_what_is_undefined_is_none():
    assert section._rounded(float("nan")) is None
    assert section._rounded(np.inf) is None
    assert section._rounded(0.12345678) == 0.123457


def test_the_page_has_the_choice_of_the_batch_without_script(summary):
    page = to_html(summary)
    chosen = summary["frontiers"]["rules"][-1]
    for place, outcome in enumerate(chosen["outcomes"]):
        for column, value in enumerate(outcome):
            cell = f'<td data-group="{place}" data-column="{column}">{value:.3f}</td>'
            assert cell in page
    assert "four-fifths rule" in page
    for sentence in summary["aims"]:
        assert sentence in page
