"""What the command line says: notes, tables, conditions, and options in messages."""

import math
import pickle
import re

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import cape_app.cli
from cape import CapeClassifier
from cape.base._errors import ParameterError
from cape_app.words._notes import note_text
from cape_app.words._page import breach_text, left_out_texts, number
from cape_app.words._terminal import (
    OPTIONS,
    Styled,
    TextTable,
    blocks_of,
    error_text,
    in_options,
)


@pytest.mark.parametrize(
    ("code", "values", "text"),
    [
        (
            "columns_not_used",
            {"columns": ["x1", "x2"]},
            "the model does not use 2 columns: 'x1', 'x2'.",
        ),
        (
            "columns_not_used",
            {"columns": ["x"]},
            "the model does not use 1 column: 'x'.",
        ),
        (
            "converted",
            {"column": "f", "here": "text", "training": "flag"},
            "column 'f' holds text, but held true/false values in training. It was "
            "converted.",
        ),
        (
            "respelled",
            {"column": "z", "value": 1.0, "read_as": "1"},
            "group column 'z': 1.0 is read as 1, the same group.",
        ),
        (
            "disarmed",
            {"n": 3, "path": "o.csv", "predicted": True},
            "o.csv: 3 fields that spreadsheets would run as formulas got a leading "
            "apostrophe. To use that file as input, write Parquet instead.",
        ),
        ("rule", {"text": "missed.", "file": "jan.csv"}, "jan.csv: missed."),
        ("rule", {"text": "missed.", "file": ""}, "missed."),
        (
            "left_out",
            {"kind": "row number", "columns": [("row", "goes up by one in each row")]},
            "left out row numbers, which mean nothing in another table: 'row' (goes up "
            "by one in each row). To learn from one, pass --keep.",
        ),
        (
            "sampled",
            {"n": 30, "rows": 60, "most": 10},
            "the model was trained on a sample of 30 of 60 rows, at most 10 per group "
            "and label.",
        ),
        (
            "labels_not_used",
            {
                "group": "a",
                "returned": 3,
                "drawn": 9,
                "p_value": 0.0012,
                "one_class": False,
            },
            "labels for 'a' are not used: 3 of the 9 rows drawn came back and are not "
            "a random sample (p = 0.0012).",
        ),
        (
            "never_predicted",
            {"column": "p", "value": "hgih"},
            "--map: 'hgih' never occurs in 'p'.",
        ),
    ],
)
def test_notes_in_words(code, values, text):
    assert note_text(code, values) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.000"), (1 / 3, "0.333"), (-0.5, "-0.500"), (None, "-"), (math.nan, "-")],
)
def test_numbers_have_three_decimals_and_unknown_ones_are_a_dash(value, text):
    assert number(value) == text


def test_what_is_folded_is_counted_and_opened_by_verbose():
    folded = "<details><summary><h2>2 more</h2></summary><p>a, b</p></details>"
    table = (
        '<table><tr><th>group</th><th><span class="ends">0 1</span></th></tr>'
        "<tr><th>[red]</th><td><svg><p>drawn</p></svg></td></tr></table>"
    )
    page = f'<div class="bad"><p>Stop</p></div><p>so</p>{table}{folded}'
    shown = [Styled("Stop", "bad"), "so", TextTable("", ["group"], [["[red]"]])]
    assert blocks_of(page) == [*shown, "2 more (see --verbose)."]
    assert blocks_of(page, verbose=True) == [*shown, "2 more", "a, b"]


def test_a_condition_that_is_met_says_where_and_by_how_much():
    breach = {"condition": "pd>0.1", "where": "a", "value": 0.3, "by": 0.2}
    assert breach_text(breach) == (
        "fail-if pd>0.1 is met: a: 0.300, 0.200 beyond the limit"
    )
    verdict = {**breach, "condition": "fault", "where": "march, a: `age`: missing"}
    assert breach_text(verdict) == "fail-if fault is met: march, a: `age`: missing"


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, unique=True))
def test_six_places_are_named_and_the_others_are_counted(names):
    (line,) = left_out_texts(
        {"condition": "pe>1", "where": name, "why": "undefined"} for name in names
    )
    start, _, places = line.partition(": ")
    assert start == "fail-if pe>1 skipped, undefined"
    shown = places.split("; ")
    assert shown[:6] == names[:6]
    assert shown[6:] == ([f"{len(names) - 6} more"] if len(names) > 6 else [])


def parameters(command):
    """The parameters of a command and of the commands below it."""
    yield from command.params
    for below in getattr(command, "commands", {}).values():
        yield from parameters(below)


def test_every_option_of_the_commands_is_in_the_table():
    for parameter in parameters(typer.main.get_command(cape_app.cli.app)):
        options = [name for name in parameter.opts if name.startswith("--")]
        if options and "completion" not in options[0]:
            assert OPTIONS[parameter.name] in options


@pytest.mark.parametrize(
    ("of_the_library", "of_the_command"),
    [
        ("use small_groups='pooled'.", "use --small-groups pooled."),
        ('use small_groups="pooled".', "use --small-groups pooled."),
        ("(overwrite=True replaces it)", "(--force replaces it)"),
        ("at least min_group_size=30 rows", "at least --min-group-size 30 rows"),
        ("scores='folds'", "--scores folds"),
        ("got 'rule=1'.", "got 'rule=1'."),
        (
            "there is no file data/year=2024.csv.",
            "there is no file data/year=2024.csv.",
        ),
        ("a level of a column", "a level of a column"),
    ],
)
def test_settings_are_written_as_they_are_typed(of_the_library, of_the_command):
    assert in_options(of_the_library) == of_the_command


@given(name=st.sampled_from(sorted(OPTIONS)))
def test_an_error_that_carries_its_parameter_names_the_option(name):
    message = f"must be this, got {name!r}."
    assert error_text(ParameterError(name, message)) == f"{OPTIONS[name]} {message}"
    assert error_text(ValueError(f"{name} {message}")) == f"{name} {message}"


def test_an_error_of_scikit_learn_names_the_option():
    with pytest.raises(ValueError, match="'cv' parameter") as caught:
        CapeClassifier(cv=1).fit([[1], [2]], [0, 1])
    text = error_text(caught.value)
    assert text == "--cv must be an int in the range [2, inf), got 1."
    with pytest.raises(ValueError, match="'rule' parameter") as caught:
        CapeClassifier(rule="x").fit([[1], [2]], [0, 1])
    text = error_text(caught.value)
    assert text.startswith("--rule must be one of 'accuracy', ")
    assert text.endswith(", got 'x'.")


def test_an_error_of_a_parameter_survives_a_pickle():
    again = pickle.loads(pickle.dumps(ParameterError("level", "must be so.")))
    assert (again.parameter, str(again)) == ("level", "level must be so.")


def test_every_name_in_the_help_is_filled_in():
    for command in typer.main.get_command(cape_app.cli.app).commands.values():
        for parameter in command.params:
            names = re.findall(r"{(\w+)", getattr(parameter, "help", None) or "")
            known = {"sources", "rules", "quantifiers", "learners", "default", "paper"}
            assert set(names) <= known
