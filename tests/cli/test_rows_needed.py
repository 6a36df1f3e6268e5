"""``cape rows-needed`` says what `cape.examination` computes."""

import json

import pytest

from cape import examine
from cape.examination import rows_needed
from cape.files import gather_evidence, rows_needed_of_file


def test_without_a_batch_it_is_the_plan_of_the_model(cape, people_folder, people_model):
    options = ("--width", 0.2, "--level", 0.9, "--prevalence", 0.3, "--json")
    code, out, err = cape("rows-needed", people_folder / "m.cape", *options)
    assert (code, err) == (0, "")
    content = json.loads(out)
    plan = rows_needed(people_model.clf, 0.2, level=0.9, prevalence=0.3)
    assert (content["width"], content["level"]) == (0.2, 0.9)
    assert [group["group"] for group in content["groups"]] == list(plan.index)
    for group, rows, narrowest in zip(
        content["groups"], plan["rows"], plan["narrowest"], strict=True
    ):
        assert (group["rows_needed"] or float("inf")) == rows
        assert group["narrowest"] == narrowest
        assert "labels_needed" not in group


def test_with_a_batch_labels_are_counted_too(people_folder, people_model):
    path = people_folder / "new.csv"
    needs = rows_needed_of_file(people_model, path, 0.2)
    evidence, _ = gather_evidence(people_model, path)
    plan = examine(people_model.clf, evidence=evidence).labels_needed(0.2)
    for need, rows, labels, plain in zip(
        needs, plan["rows"], plan["labels"], plan["plain"], strict=True
    ):
        assert need["rows"] == rows
        assert need["labels_needed"] == labels
        assert need["labels_needed_drawn_plainly"] == plain
        assert 0 < labels <= rows


def test_a_width_out_of_reach_is_no_number(cape, people_folder, read_rows):
    code, out, _ = cape("rows-needed", people_folder / "m.cape", "--width", 0.001)
    assert code == 0
    for cells in read_rows(out, "blue", "green"):
        assert cells[1] == "none is enough"
        assert float(cells[2]) > 0.001


def test_the_table_says_what_its_columns_mean(cape, people_folder, read_rows):
    files = (people_folder / "m.cape", people_folder / "new.csv")
    code, out, _ = cape("rows-needed", *files, "--width", 0.3)
    assert code == 0
    assert all(len(cells) == 6 for cells in read_rows(out, "blue", "green"))
    assert "labels needed: if rows are drawn by cape sample --width" in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--width", 1], "--width must be in (0, 1), got 1.0."),
        (["--level", 0], "--level must be in (0, 1), got 0.0."),
        (["--prevalence", 2], "--prevalence must be in [0, 1], got 2.0."),
        (["nothing.csv"], "there is no file nothing.csv."),
    ],
)
def test_mistakes_name_the_option(refused, people_folder, options, says):
    refused("rows-needed", people_folder / "m.cape", *options, says=says)


def test_it_says_which_share_rows_are_planned_for(cape, people_folder):
    options = ("rows-needed", people_folder / "m.cape", "--level", 0.995)
    _, out, _ = cape(*options)
    assert "planned for the share of positives that needs the most" in out
    # Not 100%, which no interval has.
    assert "For 99.5% intervals" in out
    _, out, _ = cape(*options, "--prevalence", 0.3)
    assert "planned for" not in out
