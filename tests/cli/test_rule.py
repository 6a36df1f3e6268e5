"""The options of a rule: what they make, and what they refuse."""

import json

import pytest

from cape.cli._rule import rule_of
from cape.rules import RULES, Accuracy, DemographicParity

NOTHING = {"tolerance": None, "cost_fp": None, "cost_fn": None}


@pytest.mark.parametrize("name", [None, "prevalence", "no such rule"])
def test_without_numbers_a_name_is_passed_on(name):
    assert rule_of(name, **NOTHING) == name


def test_numbers_make_a_rule():
    assert rule_of("accuracy", **NOTHING | {"cost_fn": 5}) == Accuracy(cost_fn=5)
    parity = rule_of("demographic_parity", tolerance=0, cost_fp=2, cost_fn=3)
    assert parity == DemographicParity(tolerance=0, cost_fp=2, cost_fn=3)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("parameter", NOTHING)
def test_a_rule_takes_its_own_numbers_or_says_which(name, parameter):
    takes = parameter in RULES[name].__dataclass_fields__
    given = NOTHING | {parameter: 0.5}
    if takes:
        assert getattr(rule_of(name, **given), parameter) == 0.5
    else:
        with pytest.raises(ValueError, match=f"{parameter} must not be given: --rule"):
            rule_of(name, **given)


def test_the_numbers_reach_the_adaptation(cape, people_folder):
    options = ("--rule", "accuracy", "--cost-fp", 2, "--cost-fn", 3, "--json")
    files = (people_folder / "m.cape", people_folder / "new.csv")
    for command in ("predict", "monitor"):
        code, _, err = cape(command, *files, *options)
        assert code == 0, err
    summary = json.loads(cape("predict", *files, *options)[1])
    assert summary["rule"] == {"name": "accuracy", "cost_fp": 2.0, "cost_fn": 3.0}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--tolerance", 0.1], "--tolerance must be given together with --rule."),
        (["--rule", "prevalence", "--cost-fn", 2], "prevalence takes no numbers."),
        (["--rule", "accuracy", "--tolerance", 1], "takes --cost-fp and --cost-fn."),
        (["--rule", "x", "--tolerance", 1], "--rule must be one of"),
        (["--rule", "accuracy", "--cost-fp", -1], "--cost-fp must be"),
    ],
)
def test_mistakes_name_the_options(refused, people_folder, options, says):
    files = (people_folder / "m.cape", people_folder / "new.csv")
    refused("predict", *files, *options, says=says)


def test_the_training_file_is_noticed_by_its_bytes(cape, people_folder, tmp_path):
    model = people_folder / "m.cape"
    copy = tmp_path / "copy.csv"
    copy.write_bytes((people_folder / "train.csv").read_bytes())
    said = f"note: {copy} is the file that the model was trained on"
    assert said in cape("predict", model, copy)[2]
    assert said in cape("monitor", model, people_folder / "new.csv", copy)[2]
    copy.write_bytes(copy.read_bytes().rstrip())
    assert "was trained on" not in cape("predict", model, copy)[2]
