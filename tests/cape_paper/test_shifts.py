"""CAPE on shifts over time: invented ones, whose truth is known."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape_paper import _shift_cases, _shifts, run_shifts

sys.path.insert(0, str(Path(__file__).parent))
from test_resuming import stored_and_all, without_times

NAMES = np.array(["one", "two"])


def load_numbers(subset, data_home=None):
    """Prevalences of .5 in training, .2 and .8 in use: a prior shift and no more."""
    if subset == "train":
        part = make_synthetic(1200, random_state=0)
    else:
        part = make_synthetic(600, prevalences=(0.2, 0.8), random_state=1)
    return Bunch(
        data=part.data,
        target=part.target,
        sensitive_features=pd.Series(NAMES[part.sensitive_features]),
        groups=["one", "two"],
        variant="Numbers",
        DESCR="Invented.",
    )


def load_text(subset, data_home=None):
    """The same rows, with a column of text."""
    part = load_numbers(subset)
    words = np.where(part.target == 1, "yes", "no")
    # Wrong in every fourth row: a column that tells the label would be no test.
    words[::4] = "perhaps"
    return Bunch(**{**part, "data": part.data.assign(word=words)})


@pytest.fixture
def quick(monkeypatch):
    """One case and two quick configurations; a test may change both."""
    cases = {"invented": load_numbers}
    configurations = {
        "CAPE": CapeClassifier(LogisticRegression(), cv=3),
        "paper": CapeClassifier.paper(
            estimator=LogisticRegression(), prevalences=4, cv=3
        ),
    }
    monkeypatch.setattr(_shift_cases, "CASES", cases)
    monkeypatch.setattr(_shifts, "CONFIGURATIONS", configurations)
    return Bunch(cases=cases, configurations=configurations)


def test_estimates_are_near_the_truth_of_a_prior_shift(quick):
    results = run_shifts(seeds=2)
    one, two = results["shifts"]
    assert [one["group"], two["group"]] == ["one", "two"]
    assert one["prevalence_train"] == pytest.approx(0.5, abs=0.01)
    assert one["prevalence_test"] == pytest.approx(0.2, abs=0.01)
    assert two["prevalence_test"] == pytest.approx(0.8, abs=0.01)
    for entry in results["shifts"]:
        ours = entry["CAPE"]
        assert ours["error"] < 0.1
        assert ours["holds"] == 1
        assert ours["low"] <= ours["estimate"] <= ours["high"]
        assert ours["width"] == pytest.approx(ours["high"] - ours["low"])
        # Max_Acc does not follow the shift, and the mean score only goes half way.
        assert ours["pd"] < entry["CAPE"]["max_acc_pd"]
        assert 0.2 < ours["mean_score"] < 0.8
        assert ours["verdict"] == "consistent"


def test_results_have_what_the_tables_need_and_json_can_hold(quick):
    results = run_shifts(seeds=1)
    assert results["experiment"] == "shifts"
    assert results["configurations"] == ["CAPE", "paper"]
    assert results["seeds"] == 1
    assert results["skipped"] == []
    assert results["failed"] == []
    methods = [row["method"] for row in results["summary"]]
    assert methods == ["CAPE", "paper", "doing nothing", "mean score", "Max_Acc"]
    assert json.loads(json.dumps(results)) == results


def test_numbers_are_means_over_seeds_and_verdicts_are_listed(quick, monkeypatch):
    def judge(problem, configuration, seed):
        row = {"estimate": 0.1 + seed / 5, "pe": None}
        verdicts = ["consistent", ["drifted", "consistent"][seed]]
        return {"groups": [row, row], "verdicts": verdicts}

    del quick.configurations["paper"]
    monkeypatch.setattr(_shifts, "_judge", judge)
    monkeypatch.setattr(_shifts, "summarise", lambda *given: [])
    one, two = run_shifts(seeds=2)["shifts"]
    assert one["CAPE"] == {
        "estimate": pytest.approx(0.2),
        "pe": None,
        "verdict": "consistent",
    }
    assert two["CAPE"]["verdict"] == "consistent, drifted"


def test_a_learner_that_reads_numbers_only_is_given_encoders_for_text(quick):
    quick.cases["invented"] = load_text
    del quick.configurations["paper"]
    results = run_shifts(seeds=1)
    assert results["failed"] == []
    for entry in results["shifts"]:
        # The text tells three labels of four: without it the error is larger.
        assert entry["CAPE"]["error"] < 0.05
        assert entry["CAPE"]["max_acc_pd"] < 0.2


def test_the_same_seed_gives_the_same_numbers_and_another_seed_does_not(quick):
    problem = _shift_cases.load_cases().problems[0]
    paper = quick.configurations["paper"]
    first = _shifts._judge(problem, paper, 3)
    assert _shifts._judge(problem, paper, 3) == first
    assert _shifts._judge(problem, paper, 4) != first
    # The configuration is left as it was.
    assert paper.random_state is None


def test_a_configuration_that_fails_says_so_and_the_rest_goes_on(quick):
    quick.configurations["broken"] = CapeClassifier(
        DummyClassifier(strategy="constant", constant=5)
    )
    results = run_shifts(seeds=1)
    for entry in results["shifts"]:
        assert entry["broken"] is None
        assert entry["CAPE"]["error"] < 0.1
    [sentence] = results["failed"]
    assert sentence.startswith("invented broken 0 failed: ValueError")


def test_a_run_goes_on_from_its_cells_and_gives_the_same_numbers(quick, tmp_path):
    first = run_shifts(seeds=1, folder=tmp_path)
    assert stored_and_all(run_shifts, seeds=1, folder=tmp_path) == (2, 2)
    again = run_shifts(seeds=1, folder=tmp_path)
    assert without_times(again) == without_times(first)
    assert stored_and_all(run_shifts, seeds=2, folder=tmp_path) == (2, 4)


def test_a_changed_parameter_or_row_is_computed_again(quick, tmp_path):
    run_shifts(seeds=1, folder=tmp_path)
    quick.configurations["CAPE"] = CapeClassifier(LogisticRegression(), cv=2)
    assert stored_and_all(run_shifts, seeds=1, folder=tmp_path) == (1, 2)
    quick.cases["invented"] = load_text
    assert stored_and_all(run_shifts, seeds=1, folder=tmp_path) == (0, 2)


def test_skipped_cases_are_in_the_results(quick):
    def absent(subset, data_home):
        raise FileNotFoundError

    quick.cases["absent"] = absent
    [sentence] = run_shifts(seeds=1)["skipped"]
    assert sentence.startswith("absent was skipped")


def test_the_real_configurations_are_the_default_and_the_papers():
    assert list(_shifts.CONFIGURATIONS) == ["CAPE", "ignore", "paper"]
    assert repr(_shifts.CONFIGURATIONS["CAPE"]) == "CapeClassifier()"
    assert _shifts.CONFIGURATIONS["ignore"].drift == "ignore"
    assert repr(_shifts.CONFIGURATIONS["paper"]) == repr(CapeClassifier.paper())
