"""docs/what_to_aim_at.md: its numbers come out. How the rules are compared."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from cape.rules import RULES

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
import rules as benchmark

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "what_to_aim_at.md").read_text(encoding="utf-8")


def load_script():
    spec = importlib.util.spec_from_file_location(
        "draw_criteria", DOCS / "draw_criteria.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()


def table_below(heading):
    """Read the first table below a heading: its rows, without the title."""
    part = TEXT.split(heading)[1]
    lines = re.findall(r"^\|(.*)\|$", part.split("\n## ")[0], re.MULTILINE)
    rows = []
    for line in lines[2:]:
        rows.append([cell.strip() for cell in line.split("|")])
    return rows


@pytest.fixture(scope="module")
def names():
    """What the code of the page computes."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, "what_to_aim_at.md", "exec"), names)
    return names


def test_the_table_of_tolerances_is_what_the_code_above_it_computes(names):
    rows = table_below("## How equal: tolerance")
    assert len(rows) == len(names["accuracies"])
    for tolerance, difference, accuracy in rows:
        key = float(tolerance)
        assert names["accuracies"][key] == pytest.approx(float(accuracy), abs=0.006)
        assert names["differences"][key] == pytest.approx(float(difference), abs=0.001)


def test_the_arithmetic_of_two_aims_is_right():
    shares = []
    rows = table_below("## Why you cannot have two at once")
    for _, *numbers in rows:
        prevalence, tpr, fpr, share, precision = map(float, numbers)
        expected = prevalence * tpr + (1 - prevalence) * fpr
        assert share == pytest.approx(expected, abs=5e-4)
        assert precision == pytest.approx(prevalence * tpr / expected, abs=5e-4)
        shares.append(share)
    assert shares[1] - shares[0] == pytest.approx(0.2 * (0.85 - 0.09), abs=1e-3)


def test_every_rule_by_its_own_name_is_explained():
    explained = set(re.findall(r'### .*`"(\w+)"`', TEXT))
    of_fairlearn = {"true_positive_rate_parity", "false_positive_rate_parity"}
    assert explained == set(RULES) - of_fairlearn


def test_every_rule_with_a_criterion_has_a_picture():
    for rule in script.QUANTITIES:
        assert f"(images/aim-{rule}.svg)" in TEXT
        ET.parse(DOCS / "images" / f"aim-{rule}.svg")


@pytest.fixture(scope="module")
def frame():
    rules = ("demographic_parity", "equal_opportunity")
    return script.frame_criteria(2000, rules, moved=(0.2, 0.8))


def spread(frame, rule, choice, quantity):
    """The greatest difference between groups in any batch."""
    chosen = frame[
        (frame["rule"] == rule)
        & (frame["choice"] == choice)
        & (frame["quantity"] == quantity)
    ]
    by_batch = chosen.groupby("prevalence")["value"]
    return float((by_batch.max() - by_batch.min()).max())


def test_shares_drift_apart_unless_they_are_chosen_anew(frame):
    rule = "demographic_parity"
    assert spread(frame, rule, script.ANEW, "predicted_prevalence") < 0.01
    assert spread(frame, rule, script.ONCE, "predicted_prevalence") > 0.1


def test_true_positive_rates_stay_equal_either_way(frame):
    rule = "equal_opportunity"
    assert spread(frame, rule, script.ANEW, "tpr") < 0.1
    assert spread(frame, rule, script.ONCE, "tpr") < 0.1


def test_a_picture_has_a_panel_for_each_quantity_and_one_for_the_accuracy(frame):
    chart = script.draw_rule(frame, "equal_opportunity").to_dict()
    titles = [panel["encoding"]["y"]["title"] for panel in chart["hconcat"]]
    assert titles == ["true positive rate", "accuracy"]


# benchmarks/rules.py


def test_the_oracle_is_right_where_scores_are_perfect():
    y = np.tile([0, 1], 40)
    z = np.repeat([0, 1], 40)
    scores = 0.1 + 0.8 * y
    batch = benchmark.Rows(None, y, z)
    for criterion in benchmark.METRICS:
        np.testing.assert_array_equal(benchmark.oracle(criterion, scores, batch), y)


def test_the_oracle_of_equal_shares_pays_what_arithmetic_asks_for():
    """With perfect scores and true shares .2 and .6, one row in five is wrong."""
    y = np.repeat([0, 1, 0, 1], [80, 20, 40, 60])
    z = np.repeat([0, 1], [100, 100])
    random = np.random.default_rng(0)
    scores = y + random.uniform(0, 0.5, len(y))
    y_pred = benchmark.oracle("demographic_parity", scores, benchmark.Rows(None, y, z))
    shares = [y_pred[z == group].mean() for group in (0, 1)]
    assert shares[0] == pytest.approx(shares[1], abs=0.011)
    assert np.mean(y_pred != y) == pytest.approx(0.2, abs=0.011)


def test_a_batch_of_compas_has_the_rows_asked_for():
    random = np.random.default_rng(0)
    table = benchmark.Rows(None, np.tile([0, 1], 50), np.repeat([0, 1], 50))
    rest = np.arange(0, 100, 3)
    drawn = benchmark.resample(table, rest, random)
    assert set(drawn) <= set(rest)
    counts = np.bincount(table.z[drawn])
    assert counts.tolist() == [benchmark.COMPAS_ROWS] * 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("criterion", benchmark.CONSTRAINTS)
def test_fairlearn_gets_scores_and_keeps_its_constraint_in_training(criterion):
    random = np.random.default_rng(0)
    y = np.tile([0, 1], 1000)
    z = np.repeat([0, 1], 1000)
    scores = 1 / (1 + np.exp(-2 * y + 1 - z / 2 + random.normal(size=2000)))
    peer = benchmark.FairlearnThresholds(criterion).fit(scores, y, z)
    y_pred = peer.predict(scores, z)
    metric = benchmark.METRICS[criterion]
    assert metric(y, y_pred, sensitive_features=z) < 0.05
    assert np.mean(y_pred == y) > 0.7
