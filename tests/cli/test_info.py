"""``cape info``: the facts of a model file, a line each."""

import io
import json

import pytest
from rich.console import Console

import cape.cli._app as app
import cape.cli._info as info_module
from cape.cli._info import _facts

CONTENT = {
    "columns": {
        "label": "repaid",
        "labels": ["yes", "no"],
        "groups": ["race", "sex"],
        "features": {"age": "number", "since": "date"},
    },
    "data": {"file": "train.csv", "rows": 120, "sha256": "0123456789abcdef" * 4},
    "learner": "boosting",
    "settings": {"random_state": 5, "cv": 3, "pool": "threshold", "verbose": 1},
    "fingerprint": "fedcba9876543210" * 4,
    "saved": "2024-02-29T12:00:00",
    "versions": {"cape": "0.1", "numpy": "2.0"},
}


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("trained on", "train.csv, 120 rows, sha256 0123456789abcdef"),
        ("label", "repaid: no is positive, yes negative"),
        ("groups", "race, sex"),
        ("features", "age (number), since (date)"),
        ("learner", "boosting; pool threshold, cv 3, random_state 5"),
        ("saved", "2024-02-29T12:00:00 by cape 0.1, numpy 2.0"),
        ("fingerprint", "fedcba9876543210"),
    ],
)
def test_each_fact_is_a_sentence(name, fact):
    assert _facts(CONTENT)[name] == fact


def test_a_model_without_groups_says_so():
    columns = {**CONTENT["columns"], "groups": []}
    assert _facts({**CONTENT, "columns": columns})["groups"] == "none"


def test_json_is_the_description_of_the_file(cape, people_folder):
    from cape.files import describe_file

    code, out, err = cape("info", people_folder / "m.cape", "--json")
    assert code == 0
    assert err == ""
    assert json.loads(out) == describe_file(people_folder / "m.cape")


def test_a_pipe_gets_one_line_a_fact(cape, people_folder):
    _, out, _ = cape("info", people_folder / "m.cape")
    names = [line.split(":")[0] for line in out.splitlines() if ": " in line]
    assert names == list(_facts(CONTENT))


def test_a_terminal_gets_lines_that_fit(cape, people_folder, monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=60)
    monkeypatch.setattr(app, "console", terminal)
    monkeypatch.setattr(info_module, "console", terminal)
    code, _, _ = cape("info", people_folder / "m.cape")
    assert code == 0
    table_begins = screen.getvalue().index("group")
    facts = screen.getvalue()[:table_begins]
    assert max(len(line) for line in facts.splitlines()) <= 60


def test_a_rule_with_numbers_is_written_in_words():
    rule = {"name": "accuracy", "cost_fp": 1.0, "cost_fn": 4.0}
    facts = _facts({**CONTENT, "settings": {"rule": rule}})
    assert facts["learner"] == "boosting; rule (accuracy, cost_fp 1, cost_fn 4)"
