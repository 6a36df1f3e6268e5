"""The experiments on few rows: what their numbers are made of."""

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, metrics
from cape.datasets import make_synthetic
from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    round_scores,
)
from cape_paper import _comparison, _shifts, compare_methods, published, run_synthetic
from cape_paper._methods import METHODS, Method
from cape_paper._quantifiers import fit_quapy

RUNS = ["compared", "synthetic", "shifts", "quantifiers", "small_groups", "logged"]


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_json_and_say_what_was_done(name, request):
    results = request.getfixturevalue(name)
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    assert "seeds" in results["settings"]


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_a_row_has_the_metrics_of_the_library(seed, n_groups):
    random = np.random.default_rng(seed)
    y, y_pred = random.integers(0, 2, (2, 60))
    groups = list("dcba"[:n_groups])
    z = np.array(groups)[np.arange(60) % n_groups]
    row = _comparison.result_row(y, y_pred, z, groups)
    judged = {"sensitive_features": z, "pos_label": 1}
    table = metrics.fairness_table(y, y_pred, **judged)
    for place, group in enumerate(groups):
        for rate in ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd"):
            assert row[f"{rate}_{place}"] == pytest.approx(table[rate, group])
    assert row["fnr_diff"] == pytest.approx(table["fnr", "difference"])
    assert row["pe"] == pytest.approx(table["pe", "worst pair"])
    expected = metrics.PARITY["equalized_odds_difference"](y, y_pred, **judged)
    assert row["equalized_odds_difference"] == pytest.approx(expected)
    if n_groups == 2:
        rho = [y[z == group].mean() for group in groups]
        hat = [y_pred[z == group].mean() for group in groups]
        pe = abs(rho[0] / rho[1] - hat[0] / hat[1])
        assert row["pe_01"] == pytest.approx(pe)


def test_what_is_undefined_is_none_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = _comparison.result_row(
            [1, 0, 1, 1], [0, 0, 1, 1], ["a", "a", "b", "b"], ["a", "b"]
        )
    assert row["fpr_1"] is None
    # Group a has no predicted positive: PE is undefined with a below.
    assert row["pe"] is None
    assert row["pe_01"] == pytest.approx(0.5)
    printed = published()["table_results"]["compas"]["CAPE-D"]
    assert set(printed) <= set(row)


def rows_of(results, name):
    return [row for row in results["rows"] if row["method"] == name]


def test_a_row_is_what_the_classifier_does(compared, make_problem, learner):
    problem = make_problem()
    rows = rows_of(compared, "CAPE-D")
    assert len(rows) == 2
    for seed, row in enumerate(rows):
        clf = CapeClassifier.paper(estimator=learner, random_state=seed)
        X, y, z = problem.train
        clf.fit(X, y, sensitive_features=z)
        X, y, z = problem.test
        y_pred = clf.predict(X, sensitive_features=z)
        expected = _comparison.result_row(y, y_pred, z, problem.groups)
        assert row.items() >= expected.items()
        # SPA's estimates are those of the classifier.
        estimates = clf.adapt(X, sensitive_features=z).table()["estimate"]
        spa = [
            entry["estimate"]
            for entry in compared["quantifiers"]
            if (entry["quantifier"], entry["seed"]) == ("spa", seed)
        ]
        assert spa == pytest.approx(estimates.tolist())
    names = {entry["quantifier"] for entry in compared["quantifiers"]}
    assert names == set(QUANTIFIERS)


def test_a_comparison_names_learners_and_what_is_missing(compared, make_problem):
    assert compared["experiment"] == "small"
    assert compared["data"] == make_problem().counts()
    assert rows_of(compared, "CAPE-D")[0]["learner"] == "the base learner"
    assert rows_of(compared, "CAPE default")[0]["learner"].startswith("chose ")
    # Two seeds of the quantifiers and of two methods, one of three, none of AD.
    if METHODS["AD"].missing():
        assert compared["cells"] == 2 + 2 * 2 + 3
        assert compared["skipped"] == ["AD was skipped: tensorflow is missing."]


class Alternating:
    """A method that remembers what its instances were given, and may fail."""

    given: list = []

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y, *, sensitive_features):
        return self

    def predict(self, X, **given):
        Alternating.given.append((X, given))
        return np.arange(len(X)) % 2


class Failing(Alternating):
    """A method that fails with one of its seeds."""

    def predict(self, X, **given):
        if self.random_state == 1:
            raise RuntimeError("out of memory")
        return super().predict(X, **given)


def test_seeds_of_methods_and_failures(monkeypatch, make_problem, learner):
    few = {
        "Quick": Method(Alternating, "random_state"),
        "Slow": Method(Alternating, "random_state", repeats="slow_seeds"),
        "Failing": Method(Failing, "random_state"),
        "Once": Method(Alternating, "", repeats="once"),
    }
    for name, method in few.items():
        monkeypatch.setitem(METHODS, name, method)
    problem = make_problem()
    results = compare_methods(
        problem, methods=list(few), seeds=3, slow_seeds=2, learner=learner
    )
    names = [row["method"] for row in results["rows"]]
    # A mean over the seeds that did not fail would flatter the method.
    assert names == ["Quick"] * 3 + ["Slow"] * 2 + ["Once"]
    assert results["failed"] == {"Failing 1": "RuntimeError: out of memory"}
    # A method gets test rows and groups, and nothing else.
    X, given = Alternating.given[-1]
    assert X.equals(problem.test[0])
    assert list(given) == ["sensitive_features"]
    assert given["sensitive_features"].equals(problem.test[2])


def test_all_methods_get_the_learner_tuned_on_training_rows(monkeypatch, make_problem):
    grid = {**_comparison.GRID, "max_iter": [2, 20], "max_depth": [1]}
    monkeypatch.setattr(_comparison, "GRID", grid)
    settings = {"methods": ["Always positive"], "seeds": 1}
    run = compare_methods(make_problem(), **settings)["settings"]
    # Two trees cannot tell as much as twenty.
    assert "max_iter=20" in run["base learner"]
    assert "'max_iter': 2," in run["tried"]
    # Three rows cannot be cut into ten folds.
    X, y, z = make_problem().train
    few = make_problem(train=(X[:3], y[:3], z[:3]))
    with pytest.raises(ValueError, match="could not be tuned"):
        compare_methods(few, **settings)


def test_the_synthetic_run_has_all_pairs_and_methods(synthetic):
    places = {(row["rho_0"], row["rho_1"]) for row in synthetic["rows"]}
    assert places == {(0.1, 0.1), (0.1, 0.5), (0.5, 0.1), (0.5, 0.5)}
    # Two seeds, four pairs and three methods.
    assert len(synthetic["rows"]) == 2 * 4 * 3
    # Repetitions draw data of their own.
    rows = pd.DataFrame(synthetic["rows"]).query("rho_0 == 0.1 and rho_1 == 0.5")
    assert rows.query("method == 'Max_Acc'")["accuracy_0"].nunique() == 2


def test_theorem_3_holds_and_is_the_sum_of_its_parts(synthetic):
    """With ten members eps / 2 is 0.05."""
    rows = rows_of(synthetic, "CAPE-D")
    for row, entry in zip(rows, synthetic["theorem"], strict=True):
        assert entry["pd"] <= entry["theorem_3"]
        parts = entry["delta_1"] + entry["delta_2"] + 0.05
        assert entry["theorem_3"] == pytest.approx(parts)
        assert entry["pd"] == pytest.approx(row["pd_1"])


def test_a_repetition_is_what_the_classifier_does_on_its_data(synthetic):
    train = make_synthetic(1200, random_state=0)
    test = make_synthetic(600, prevalences=(0.1, 0.1), random_state=1000)
    clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=0)
    groups = train.sensitive_features
    clf.fit(train.data, train.target, sensitive_features=groups)
    z = test.sensitive_features
    y_pred = clf.predict(test.data, sensitive_features=z)
    expected = _comparison.result_row(test.target, y_pred, z, (0, 1))
    assert rows_of(synthetic, "CAPE-D")[0].items() >= expected.items()
    adapted = clf.adapt(test.data, sensitive_features=z).table().iloc[1]
    group_1 = synthetic["theorem"][0]
    assert group_1["our_bound"] == adapted["pd_bound"]
    # delta_2 is the greatest error of a member.
    predicted = []
    for model in clf.models_[1].pool.models:
        predicted.append(np.mean(model.predict(test.data[z == 1])))
    greatest = np.abs(clf.prevalences_ - predicted).max()
    assert group_1["delta_2"] == pytest.approx(greatest)


def test_a_repetition_that_fails_is_an_error_not_a_gap():
    with pytest.raises(RuntimeError, match="a repetition failed: .*n_samples"):
        run_synthetic(seeds=1, rows=1, test_rows=10, prevalences=(0.5,))


def test_shifts_have_estimates_beside_the_truth(shifts, text_problem):
    X, y, z = text_problem.train
    clf = CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)
    X, y, z = text_problem.test
    adapted = clf.adapt(X, sensitive_features=z).table()
    records = {}
    for row in shifts["records"]:
        records[row["size"], row["group"], row["method"]] = row
    for group in ("a", "b"):
        truth = y[z == group].mean()
        ours = records["all", group, "CAPE"]
        assert ours["estimate"] == adapted["estimate"][group]
        assert ours["verdict"] == adapted["verdict"][group]
        assert ours["error"] == pytest.approx(abs(ours["estimate"] - truth))
        assert ours["holds"] == float(ours["low"] <= truth <= ours["high"])
        for method in ("KDEyML", "EMQ", "PACC", "paper"):
            assert records["all", group, method]["error"] < 0.2
        share = records["all", group, "last year's share"]["estimate"]
        assert share == text_problem.counts()["ab".index(group)]["prevalence_train"]
        assert records["30", group, "CAPE"]["times"] == 1
    # Decisions are those of the classifier.
    y_pred = clf.predict(X, sensitive_features=z)
    expected = _comparison.result_row(y, y_pred, z, ["a", "b"])
    decisions = [row for row in shifts["decisions"] if row["method"] == "CAPE"]
    assert [row["pd"] for row in decisions] == [expected["pd_0"], expected["pd_1"]]
    assert decisions[0]["pe"] == expected["pe"]


def test_shifts_name_what_is_skipped_and_what_failed(shifts):
    assert shifts["skipped"] == ["gone"]
    assert shifts["failed"]["few 0"].startswith("ValueError")
    assert {row["case"] for row in shifts["records"]} == {"case"}


def test_quapy_reads_cells_as_it_would_read_rows():
    """Estimates from the cells of histograms are those from the scores themselves."""
    random = np.random.default_rng(0)
    scores = [random.beta(4, 2, 900), random.beta(2, 4, 1500), random.beta(3, 3, 400)]
    edges = edges_for(*[round_scores(part) for part in scores[:2]])
    every_score = np.unique(round_scores(np.concatenate(scores)))
    for name, most in _shifts.QUAPY.items():
        estimates = []
        for cuts in (edges, every_score):
            parts = [ScoreHistogram.of(round_scores(part), cuts) for part in scores]
            model = SimpleNamespace(positives=parts[0], negatives=parts[1])
            estimates.append(fit_quapy(model, name, most)(parts[2]))
        assert estimates[0] == pytest.approx(estimates[1], abs=0.002)


def test_quantifiers_are_judged_on_pure_and_on_real_shifts(quantifiers):
    assert quantifiers["failed"] == {}
    errors = {}
    for row in quantifiers["records"]:
        errors[row["kind"], row["size"], row["method"]] = row["error"]
        # Three draws of two groups.
        assert row["times"] == 6
    for name in QUANTIFIERS:
        assert ("real", "20", f"cape {name}") in errors
    # Counting is biased, and quantifiers that correct it are not.
    assert errors["pure", "200", "cape onestep"] < 0.1
    assert errors["pure", "200", "quapy PACC"] == pytest.approx(
        errors["pure", "200", "cape spa"], abs=0.005
    )


def test_small_groups_borrow_stand_alone_or_are_pooled(small_groups):
    assert small_groups["failed"] == {}
    assert small_groups["settings"]["groups"] == 4
    found = {(row["kind"], row["method"]): row for row in small_groups["records"]}
    for kind in ("real", "alike", "apart"):
        for way in ("borrow", "separate", "pooled"):
            assert found[kind, way]["times"] == 4
            assert 0 < found[kind, way]["width"] <= 1
        assert "width" not in found[kind, "mean score"]


def test_logged_decisions_are_judged_by_labels(logged):
    assert logged["failed"] == {}
    found = {(row["rate"], row["method"]): row for row in logged["records"]}
    assert found["accuracy", "CAPE"]["error"] < found["accuracy", "reference"]["error"]
    assert found["fpr", "CAPE"]["width"] > 0
    assert logged["versions"]["nannyml"] == "0.13"
    assert found["fnr", "NannyML"]["holds"] == 0
