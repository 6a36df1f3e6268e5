"""The comparison: what a row is made of, and that no method gets test labels."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from cape import CapeClassifier
from cape._learners import make_learner
from cape.quantify import QUANTIFIERS
from cape_paper import _comparison, compare_methods
from cape_paper._peers import METHODS, Method, missing_packages
from cape_paper._rows import mean_and_sd, result_row
from cape_paper._tuning import GRID, tune_boosting

sys.path.insert(0, str(Path(__file__).parent))
from conftest import small_problem

QUICK = {"seeds": 1, "learner": "logistic"}


def fitted_cape(problem, seed):
    learner = make_learner("logistic", tabular=False)
    clf = CapeClassifier.paper(estimator=learner, random_state=seed)
    return clf.fit(problem.X_train, problem.y_train, sensitive_features=problem.z_train)


class AlternatingLabels:
    """A method that remembers what its instances were given."""

    given: list = []

    def fit(self, X, y, *, sensitive_features):
        return self

    def predict(self, X, **given):
        AlternatingLabels.given.append((X, given))
        return np.arange(len(X)) % 2


class Failing(AlternatingLabels):
    def fit(self, X, y, *, sensitive_features):
        raise RuntimeError("out of memory")


class Warning4(AlternatingLabels):
    """A method that gives four different warnings, one of them twice."""

    def fit(self, X, y, *, sensitive_features):
        for text in ("one", "two", "one", "three", "four"):
            warnings.warn(text, stacklevel=1)
        return self


@pytest.fixture
def add_method(monkeypatch):
    """Add a method to the comparison for one test."""

    def add(name, classifier, **options):
        def make(learner, seed, favourable):
            return classifier()

        options = {"random": False, **options}
        monkeypatch.setitem(METHODS, name, Method("post", make, "", **options))

    return add


def test_a_row_is_the_mean_and_sd_over_seeds_of_what_the_classifier_does(
    compared, row_of
):
    problem = small_problem()
    rows = []
    for seed in range(2):
        clf = fitted_cape(problem, seed)
        y_pred = clf.predict(problem.X_test, sensitive_features=problem.z_test)
        rows.append(result_row(problem.y_test, y_pred, problem.z_test, problem.groups))
    expected = mean_and_sd(rows)
    row = row_of(compared, "CAPE-D")
    assert row["mean"] == expected.mean
    assert row["sd"] == expected.sd
    assert row["seeds"] == 2


def test_a_row_has_the_printed_numbers_of_its_method(compared, row_of):
    assert row_of(compared, "CAPE-D")["printed"]["pd_0"] == 0.024
    assert row_of(compared, "CAPE default")["printed"] is None


def test_the_estimates_of_spa_are_those_of_the_classifier(compared):
    problem = small_problem()
    estimates = []
    for seed in range(2):
        clf = fitted_cape(problem, seed)
        adaptation = clf.adapt(problem.X_test, sensitive_features=problem.z_test)
        estimates.append(adaptation.table()["estimate"])
    [spa] = [row for row in compared["quantifiers"] if row["quantifier"] == "spa"]
    assert spa["mean"] == pytest.approx(np.mean(estimates, axis=0).tolist())
    assert spa["seeds"] == 2


def test_every_quantifier_has_a_row_and_only_spa_is_printed(compared):
    printed = {row["quantifier"]: row["printed"] for row in compared["quantifiers"]}
    assert list(printed) == list(QUANTIFIERS)
    assert printed.pop("spa") == [0.592, 0.644]
    assert set(printed.values()) == {None}


def test_always_positive_is_as_the_paper_says(compared, row_of):
    mean = row_of(compared, "Always positive")["mean"]
    assert mean["fpr_diff"] == 0
    assert mean["fnr_diff"] == 0
    assert mean["pd_0"] == pytest.approx(0.7)
    assert mean["pd_1"] == pytest.approx(0.3)


@pytest.mark.parametrize("name", ["Max_Acc", "Always positive", "Reweigh"])
def test_methods_that_do_not_draw_run_once(compared, row_of, name):
    row = row_of(compared, name)
    assert row["seeds"] == 1
    assert set(row["sd"].values()) == {0.0}


@pytest.mark.skipif(not missing_packages("AD"), reason="tensorflow is installed")
def test_a_method_whose_library_is_missing_says_so(compared, row_of):
    row = row_of(compared, "AD")
    assert row["status"] == "not installed: tensorflow"
    assert row["seeds"] == 0
    assert "mean" not in row
    assert row["printed"]["pd_0"] == 0.361


def test_results_are_json(compared):
    assert json.loads(json.dumps(compared)) == compared


def test_results_say_what_the_problem_is(compared):
    assert compared["experiment"] == "small"
    assert compared["title"] == "Small data"
    assert compared["groups"] == ["one", "two"]
    assert compared["notes"] == ["Invented."]
    assert compared["data"] == small_problem().counts()


def test_results_say_what_was_done(compared):
    assert compared["learner"]["kind"] == "logistic"
    assert "LogisticRegression" in compared["learner"]["repr"]
    assert compared["favourable"] == "positive"
    assert compared["seeds"] == 2
    # Two seeds of the quantifiers and of three methods, one of three, none of AD.
    assert compared["cells"] == 2 + 3 * 2 + 3
    assert compared["versions"]["cape-fair"]
    assert compared["cell_seconds"] > 0


def test_versions_name_what_is_not_installed(monkeypatch):
    installed = {"python": "3.12", "cape": "1", "numpy": "2.0", "cape-fair": "1"}
    monkeypatch.setattr(_comparison, "package_versions", lambda packages: installed)
    versions = _comparison.run_facts(0.0, [])["versions"]
    assert versions["python"] == "3.12"
    assert versions["numpy"] == "2.0"
    assert versions["tensorflow-cpu"] == "not installed"
    assert "cape" not in versions


def test_an_unknown_load_is_none(monkeypatch):
    monkeypatch.delattr("os.getloadavg")
    assert _comparison.run_facts(0.0, [])["load"] is None


def test_the_seconds_of_all_cells_are_added():
    facts = _comparison.run_facts(0.0, [{"seconds": 1.25}, {"seconds": 2.5}])
    assert facts["cell_seconds"] == 3.8
    assert facts["cells"] == 2


def test_a_method_that_fails_shows_its_error_and_the_others_go_on(add_method):
    add_method("Failing", Failing)
    results = compare_methods(
        small_problem(), methods=["Failing", "Always positive"], **QUICK
    )
    failed, finished = results["rows"]
    assert failed["status"] == "failed: RuntimeError: out of memory"
    assert "mean" not in failed
    assert finished["status"] == "ok"


def test_a_method_gets_test_rows_and_groups_and_nothing_else(add_method):
    add_method("Alternating", AlternatingLabels)
    problem = small_problem()
    compare_methods(problem, methods=["Alternating"], **QUICK)
    X, given = AlternatingLabels.given[-1]
    assert X.equals(problem.X_test)
    assert list(given) == ["sensitive_features"]
    assert given["sensitive_features"].equals(problem.z_test)


def test_at_most_three_different_warnings_of_a_method_are_kept(add_method):
    add_method("Warning", Warning4)
    results = compare_methods(small_problem(), methods=["Warning"], **QUICK)
    assert results["rows"][0]["warnings"] == [
        "UserWarning: one",
        "UserWarning: two",
        "UserWarning: three",
    ]


def test_slow_methods_have_their_own_number_of_seeds(add_method):
    add_method("Quick", AlternatingLabels, random=True)
    add_method("Slow", AlternatingLabels, random=True, slow=True)
    results = compare_methods(
        small_problem(),
        methods=["Slow", "Quick"],
        seeds=3,
        slow_seeds=2,
        learner="logistic",
    )
    assert [row["seeds"] for row in results["rows"]] == [2, 3]


def test_without_names_all_methods_are_run_in_order(monkeypatch):
    few = {name: METHODS[name] for name in ("Always positive", "Max_Acc")}
    monkeypatch.setattr(_comparison, "METHODS", few)
    results = compare_methods(small_problem(), **QUICK)
    assert [row["method"] for row in results["rows"]] == ["Always positive", "Max_Acc"]


def test_rows_are_in_the_order_of_the_names():
    names = ["Max_Acc", "Always positive"]
    results = compare_methods(small_problem(), methods=names, **QUICK)
    assert [row["method"] for row in results["rows"]] == names


def test_predictions_do_not_depend_on_test_labels(compared, row_of):
    """With all test labels swapped, predicted prevalences and estimates stay."""
    names = ["CAPE-D", "CAPE default", "Reweigh"]
    swapped = compare_methods(
        small_problem(y_test=1 - small_problem().y_test),
        methods=names,
        seeds=2,
        learner="logistic",
    )
    for name in names:
        for z in (0, 1):
            column = f"predicted_prevalence_{z}"
            expected = row_of(compared, name)["mean"][column]
            assert row_of(swapped, name)["mean"][column] == expected
    assert swapped["quantifiers"] == compared["quantifiers"]


def test_a_run_without_a_finished_quantifier_has_no_rows_of_them():
    failed = [{"error": "ValueError: none", "seconds": 0.0}]
    assert _comparison._quantifier_rows(small_problem(), failed) == []


@pytest.fixture
def judged(monkeypatch):
    """Names of the methods that are really trained."""
    names = []
    judge = _comparison._judge

    def note_and_judge(problem, name, *rest):
        names.append(name)
        return judge(problem, name, *rest)

    monkeypatch.setattr(_comparison, "_judge", note_and_judge)
    return names


OPTIONS = {"methods": ["Max_Acc", "Reweigh"], **QUICK}


def test_a_second_run_takes_finished_cells(tmp_path, judged):
    first = compare_methods(small_problem(), **OPTIONS, folder=tmp_path)
    judged.clear()
    again = compare_methods(small_problem(), **OPTIONS, folder=tmp_path)
    assert judged == []
    assert again["rows"] == first["rows"]


def test_only_aif360_is_run_again_with_another_favourable_label(tmp_path, judged):
    compare_methods(small_problem(), **OPTIONS, folder=tmp_path)
    judged.clear()
    compare_methods(small_problem(), **OPTIONS, folder=tmp_path, favourable="negative")
    assert judged == ["Reweigh"]


def test_everything_is_run_again_with_other_labels(tmp_path, judged):
    compare_methods(small_problem(), **OPTIONS, folder=tmp_path)
    judged.clear()
    other = small_problem(y_train=1 - small_problem().y_train)
    compare_methods(other, **OPTIONS, folder=tmp_path)
    assert judged == ["Max_Acc", "Reweigh"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["Magic"]}, "methods must be one of 'CAPE-D'.* got 'Magic'"),
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


def test_a_learner_that_cannot_be_tuned_is_an_error(monkeypatch):
    def fail(X, y, sensitive_features):
        raise ValueError("n_splits=10 cannot be greater")

    monkeypatch.setattr(_comparison, "tune_boosting", fail)
    message = "could not be tuned on the training rows: ValueError: n_splits=10"
    with pytest.raises(ValueError, match=message):
        compare_methods(small_problem(), methods=["Always positive"], seeds=1)


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setitem(GRID, "max_iter", [2, 20])
    monkeypatch.setitem(GRID, "max_depth", [1, 2])


def test_tuning_takes_the_setting_with_the_least_loss(small_grid):
    problem = small_problem()
    tuning = tune_boosting(problem.X_train, problem.y_train, problem.z_train)
    assert len(tuning["scores"]) == 4
    assert tuning["rows"] == 400
    best = min(tuning["scores"], key=lambda setting: setting["log_loss"])
    assert tuning["best"]["max_depth"] == best["max_depth"]
    assert tuning["best"]["max_iter"] == best["max_iter"]


def test_all_methods_get_the_tuned_learner(small_grid):
    results = compare_methods(small_problem(), methods=["Always positive"], seeds=1)
    best = results["learner"]["best"]
    learner = make_learner("boosting", tabular=False, parameters=best)
    assert results["learner"]["repr"] == repr(learner)
    assert results["learner"]["kind"] == "boosting"


def test_tuning_uses_training_rows_alone(small_grid):
    """Test rows that would break any learner do not matter to it."""
    problem = small_problem()
    hidden = problem.X_test.map(lambda value: float("nan"))
    tunings = []
    for X_test in (problem.X_test, hidden):
        changed = small_problem(X_test=X_test)
        tunings.append(_comparison._tune(changed, "boosting", None, None))
        del tunings[-1]["seconds"]
    assert tunings[0] == tunings[1]


def test_logistic_regression_is_not_tuned():
    assert _comparison._tune(small_problem(), "logistic", None, None) == {}
