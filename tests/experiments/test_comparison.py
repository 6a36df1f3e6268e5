"""The comparison: what a row is made of, and that no method can look at test labels."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape._learners._by_name import make_learner
from cape.compare import METHODS, Method, missing_packages
from cape.experiments import _comparison, compare_methods
from cape.experiments._tuning import GRID, tune_boosting
from cape.experiments._rows import mean_and_sd, result_row

sys.path.insert(0, str(Path(__file__).parent))
from conftest import small_problem


def row_of(results, name):
    return next(row for row in results["rows"] if row["method"] == name)


def test_a_row_is_the_mean_and_sd_over_seeds_of_what_the_classifier_does(compared):
    problem, rows = small_problem(), []
    for seed in range(2):
        clf = CapeClassifier(make_learner("logistic", tabular=False), random_state=seed)
        clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
        y_pred = clf.predict(problem.X_test, sensitive_features=problem.z_test)
        rows.append(result_row(problem.y_test, y_pred, problem.z_test, problem.groups))
    found = row_of(compared, "CAPE-D")
    assert (found["mean"], found["sd"]) == mean_and_sd(rows)
    assert found["seeds"] == 2 and found["printed"]["pd_0"] == 0.024


def test_the_quantifier_of_the_table_is_the_classifiers_own(compared):
    problem = small_problem()
    estimates = []
    for seed in range(2):
        clf = CapeClassifier(make_learner("logistic", tabular=False), random_state=seed)
        clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)
        estimates.append(
            clf.adapt(problem.X_test, sensitive_features=problem.z_test).table()[
                "estimate"
            ]
        )
    spa = next(row for row in compared["quantifiers"] if row["quantifier"] == "spa")
    assert spa["mean"] == pytest.approx(np.mean(estimates, axis=0).tolist())
    assert spa["printed"] == [0.592, 0.644]
    assert [
        row["printed"] for row in compared["quantifiers"] if row["quantifier"] != "spa"
    ] == [None] * 7


def test_always_positive_is_as_the_paper_says(compared):
    mean = row_of(compared, "Always positive")["mean"]
    assert mean["fpr_diff"] == mean["fnr_diff"] == 0
    assert [mean["pd_0"], mean["pd_1"]] == pytest.approx([0.7, 0.3])


def test_methods_without_chance_run_once(compared):
    assert [
        row_of(compared, name)["seeds"]
        for name in ("Max_Acc", "Always positive", "Reweigh")
    ] == [1, 1, 1]


@pytest.mark.skipif(not missing_packages("AD"), reason="tensorflow is installed")
def test_a_method_whose_library_is_missing_says_so(compared):
    found = row_of(compared, "AD")
    assert found["status"] == "not installed: tensorflow" and "mean" not in found
    assert found["printed"]["pd_0"] == 0.361


def test_results_are_json(compared):
    assert json.loads(json.dumps(compared)) == compared


class Broken:
    def fit(self, X, y, *, sensitive_features):
        raise RuntimeError("out of luck")


class Curious:
    """Remembers all that it is given."""

    seen: list = []

    def fit(self, X, y, *, sensitive_features):
        self.n = len(y)
        return self

    def predict(self, X, **given):
        Curious.seen.append((X, given))
        return np.arange(len(X)) % 2


def test_a_method_that_fails_shows_its_error_and_the_table_goes_on(monkeypatch):
    monkeypatch.setitem(
        METHODS,
        "Broken",
        Method("post", lambda learner, seed, label: Broken(), "", random=False),
    )
    found = compare_methods(
        small_problem(), methods=["Broken", "Max_Acc"], seeds=1, learner="logistic"
    )
    assert found["rows"][0]["status"] == "failed: RuntimeError: out of luck"
    assert found["rows"][1]["status"] == "ok"


def test_a_method_gets_test_rows_and_groups_and_nothing_else(monkeypatch):
    monkeypatch.setitem(
        METHODS,
        "Curious",
        Method("post", lambda learner, seed, label: Curious(), "", random=False),
    )
    problem = small_problem()
    compare_methods(problem, methods=["Curious"], seeds=1, learner="logistic")
    X, given = Curious.seen[-1]
    assert X.equals(problem.X_test)
    assert set(given) == {"sensitive_features"}


def test_predictions_do_not_depend_on_test_labels(compared):
    """With all test labels turned round, every predicted prevalence and estimate stays as it was."""
    problem = small_problem()
    turned = compare_methods(
        small_problem(y_test=1 - problem.y_test),
        methods=["CAPE-D", "CAPE threshold", "Reweigh"],
        seeds=2,
        learner="logistic",
    )
    for name in ("CAPE-D", "CAPE threshold", "Reweigh"):
        for z in (0, 1):
            column = f"predicted_prevalence_{z}"
            assert (
                row_of(turned, name)["mean"][column]
                == row_of(compared, name)["mean"][column]
            )
    assert turned["quantifiers"] == [{**row} for row in compared["quantifiers"]]


def test_a_second_run_takes_finished_cells_and_another_setting_does_not(
    tmp_path, monkeypatch
):
    options = {
        "methods": ["Max_Acc", "Reweigh"],
        "seeds": 1,
        "learner": "logistic",
        "folder": tmp_path,
    }
    first = compare_methods(small_problem(), **options)
    worked = []
    judge = _comparison._judge
    monkeypatch.setattr(
        _comparison, "_judge", lambda *given: worked.append(given[1]) or judge(*given)
    )
    again = compare_methods(small_problem(), **options)
    assert worked == [] and again["rows"] == first["rows"]
    compare_methods(small_problem(), **options, favourable="negative")
    assert worked == ["Reweigh"]  # Max_Acc knows no favourable label
    problem = small_problem()
    compare_methods(small_problem(y_train=1 - problem.y_train), **options)
    assert worked == ["Reweigh", "Max_Acc", "Reweigh"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["Magic"]}, "methods must be one of 'CAPE-D'"),
        (
            {"favourable": "best"},
            "favourable must be one of 'positive', 'negative', got 'best'",
        ),
        (
            {"learner": "forest"},
            "learner must be one of 'boosting', 'logistic', got 'forest'",
        ),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        compare_methods(
            small_problem(), **{"methods": ["Max_Acc"], "seeds": 1, **options}
        )


def test_tuning_looks_at_training_rows_alone_and_takes_the_least_loss(monkeypatch):
    monkeypatch.setitem(GRID, "max_iter", [2, 20])
    problem = small_problem()
    found = tune_boosting(problem.X_train, problem.y_train, problem.z_train)
    assert len(found["scores"]) == 6 and found["rows"] == 400
    best = min(found["scores"], key=lambda tried: tried["log_loss"])
    assert found["best"] == {key: best[key] for key in ("max_depth", "max_iter")}
    assert make_learner(
        "boosting", tabular=False, parameters=found["best"]
    ).max_iter == best["max_iter"]
    assert isinstance(make_learner("logistic", tabular=False)[-1], LogisticRegression)
