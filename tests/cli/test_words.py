"""Errors and notes speak of options, whatever parameter the library names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cape.cli  # noqa: F401
from cape.cli._words import _options, in_options
from cape.datasets import make_synthetic


@pytest.mark.parametrize(
    ("of_the_library", "of_the_command"),
    [
        ("rule must be 'a', got 'b'.", "--rule must be 'a', got 'b'."),
        ("n must be a whole number.", "--rows must be a whole number."),
        (
            "exactly one of n and width must be given, got both.",
            "exactly one of --rows and --width must be given, got both.",
        ),
        ("seed must not be negative.", "--seed must not be negative."),
        ("use small_groups='pooled'.", "use --small-groups pooled."),
        ('use small_groups="pooled".', "use --small-groups pooled."),
        ("(--force or overwrite=True replaces it)", "(--force replaces it)"),
        ("Lower min_group_size.", "Lower --min-group-size."),
        ("at least min_group_size=30 rows", "at least --min-group-size 30 rows"),
        ("Fit with scores='folds' for", "Train with --scores folds for"),
        ("fewer than min_class_size=25 rows", "fewer than 25 rows"),
        ("path must be a model file", "MODEL must be a model file"),
        (
            "The 'cv' parameter of CapeClassifier must be an int in the range [2, inf)"
            ", an object implementing 'split' and 'get_n_splits', an iterable or None "
            "or a str among {'auto', 'prefit'}. Got 1 instead.",
            "--cv must be a whole number from 2 on, got 1.",
        ),
        (
            "The 'rule' parameter of CapeClassifier must be a str among {'b', 'a'} or "
            "an instance of 'cape.rules._base.Rule'. Got 'x' instead.",
            "--rule must be one of 'a', 'b', got 'x'.",
        ),
    ],
)
def test_parameters_become_options(of_the_library, of_the_command):
    assert in_options(of_the_library) == of_the_command


@pytest.mark.parametrize(
    "message",
    [
        "t.csv, line 3: the label must be 'a' or 'b', or empty, got 'c'.",
        "every group must have at least 30 rows",
        "the positive label must be '0' or '1'",
        "s.csv, line 3: rows must come from one call of cape sample",
        "t.csv has no column 'min_group_size'; did you mean 'min_group'?",
        "there is no file data/min_group_size.csv.",
        "unknown_groups.csv exists already.",
        "a level of a column",
    ],
)
def test_other_sentences_and_the_words_of_users_stay(message):
    assert in_options(message) == message


@given(
    name=st.sampled_from(sorted(_options())),
    template=st.sampled_from(
        ["column {!r}: text.", "got {!r}.", "/data/{}.csv is empty"]
    ),
)
def test_names_of_columns_and_files_stay(name, template):
    message = template.format(name)
    assert in_options(message) == message


@given(name=st.sampled_from(sorted(_options())))
def test_every_option_is_named_where_its_parameter_must_be_something(name):
    translated = in_options(f"{name} must be this, got 'that'.")
    assert translated == f"{_options()[name]} must be this, got 'that'."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    make_synthetic(300, random_state=0).frame.to_csv(folder / "t.csv", index=False)
    return folder


TRAIN = "train t.csv --label y --group z --learner logistic --out x.cape "
WRONG = [
    (TRAIN + "--small-groups x", "--small-groups must be one of"),
    (TRAIN + "--unknown-groups x", "--unknown-groups must be one of"),
    (TRAIN + "--cv 1", "--cv must be"),
    (TRAIN + "--pool x", "--pool must be one of"),
    (TRAIN + "--quantifier x", "--quantifier must be one of"),
    (TRAIN + "--scores x", "--scores must be one of"),
    (TRAIN + "--rule x", "--rule must be one of"),
    (TRAIN + "--drift x", "--drift must be one of"),
    (TRAIN + "--learner x", "--learner must be one of"),
    (TRAIN + "--min-group-size 0", "--min-group-size must be"),
    (TRAIN + "--min-group-size 999", "or use --small-groups pooled"),
    (TRAIN + "--most 0", "--most must be"),
    (TRAIN + "--seed -1", "--seed must be"),
    (TRAIN + "--jobs 0", "--jobs must not be 0"),
    (TRAIN + "--decimal x", "--decimal must be"),
    (TRAIN + "--separator xx", "--separator must be"),
    (TRAIN + "--encoding x", "--encoding must be"),
    ("train t.csv --label y --out t.csv", "--force replaces it"),
    ("audit t.csv --label y --prediction y --level 2", "--level must be"),
    ("predict t.csv t.csv", "MODEL must be a model file"),
    ("compare t.csv t.csv --label y --group z --method x", "--method must be one of"),
    ("reproduce shifts --case x", "--case must be one of"),
    ("demo --out t.csv", "t.csv"),
    ("bogus", "See: cape --help"),
]


@pytest.mark.parametrize(("call", "says"), WRONG)
def test_no_error_names_a_parameter_of_python(cape, folder, monkeypatch, call, says):
    monkeypatch.chdir(folder)
    code, _, err = cape(*call.split())
    assert code == 2, err
    assert says in err
    assert err.count("\n") == 1
    # Neither name=value, nor a class or function of the library.
    assert not re.search(r"\w=['\"\dTF]|cape\.[a-z]|CapeClassifier|\[Errno", err)
