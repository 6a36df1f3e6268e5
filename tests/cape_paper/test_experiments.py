"""The experiments on few rows: what their numbers are made of."""

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quapy.method import aggregative
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, metrics
from cape.datasets import make_synthetic
from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)
from cape_paper import (
    Problem,
    _comparison,
    _logged,
    _quantifiers,
    _shifts,
    _small_groups,
    compare_methods,
    published,
    run_logged,
    run_quantifiers,
    run_shifts,
    run_small_groups,
    run_synthetic,
)
from cape_paper._methods import METHODS, Method, missing_packages


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_a_row_has_the_metrics_of_the_library(seed, n_groups):
    random = np.random.default_rng(seed)
    y, y_pred = random.integers(0, 2, (2, 60))
    groups = list("abcd"[:n_groups])
    z = np.array(groups)[np.arange(60) % n_groups]
    row = _comparison.result_row(y, y_pred, z, groups)
    judged = {"sensitive_features": z, "pos_label": 1}
    table = metrics.fairness_table(y, y_pred, **judged)
    for place, group in enumerate(groups):
        for rate in ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd"):
            assert row[f"{rate}_{place}"] == pytest.approx(table[rate, group])
    assert row["fnr_diff"] == pytest.approx(table["fnr", "difference"])
    assert row["pe"] == pytest.approx(table["pe", "worst pair"])
    expected = metrics.equalized_odds_difference(y, y_pred, **judged)
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


def row_of(results, name):
    [row] = [row for row in results["rows"] if row["method"] == name]
    return row


def fitted_cape(problem, seed):
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    clf = CapeClassifier.paper(estimator=learner, random_state=seed)
    X, y, z = problem.train
    return clf.fit(X, y, sensitive_features=z)


def test_a_row_is_the_mean_over_seeds_of_what_the_classifier_does(
    compared, make_problem
):
    problem = make_problem()
    X, y, z = problem.test
    rows = []
    estimates = []
    for seed in range(2):
        clf = fitted_cape(problem, seed)
        y_pred = clf.predict(X, sensitive_features=z)
        rows.append(_comparison.result_row(y, y_pred, z, problem.groups))
        estimates.append(clf.adapt(X, sensitive_features=z).table()["estimate"])
    row = row_of(compared, "CAPE-D")
    assert (row["mean"], row["sd"]) == _comparison.mean_and_sd(rows)
    assert row["seeds"] == 2
    assert row["printed"]["pd_0"] == 0.024
    assert row_of(compared, "CAPE default")["printed"] is None
    # SPA's estimates are those of the classifier, and the only ones in print.
    spa = {row["quantifier"]: row for row in compared["quantifiers"]}.pop("spa")
    assert spa["mean"] == pytest.approx(np.mean(estimates, axis=0).tolist())
    printed = {row["quantifier"]: row["printed"] for row in compared["quantifiers"]}
    assert list(printed) == list(QUANTIFIERS)
    assert printed.pop("spa") == [0.592, 0.644]
    assert set(printed.values()) == {None}


def test_results_are_json_and_say_what_was_done(compared, make_problem):
    assert json.loads(json.dumps(compared)) == compared
    assert compared["experiment"] == "small"
    assert compared["data"] == make_problem().counts()
    assert compared["learner"]["kind"] == "logistic"
    assert row_of(compared, "CAPE-D")["learner"] == "logistic"
    assert row_of(compared, "CAPE default")["learner"].startswith("chose ")
    # Two seeds of the quantifiers and of two methods, one of three, none of AD.
    if missing_packages("AD"):
        assert compared["cells"] == 2 + 2 * 2 + 3
        assert row_of(compared, "AD")["status"] == "not installed: tensorflow"


def test_other_seeds_are_other_repetitions(make_problem):
    names = ["CAPE same learner"]
    settings = {"methods": names, "learner": "logistic", "seeds": 1}
    first = compare_methods(make_problem(), **settings)
    later = compare_methods(make_problem(), first_seed=7, **settings)
    assert (first["first_seed"], later["first_seed"]) == (0, 7)
    assert later["rows"][0]["learner"] == "logistic"
    assert later["quantifiers"] != first["quantifiers"]


class Alternating:
    """A method that remembers what its instances were given, and may misbehave."""

    given: list = []

    def __init__(self, fault=None, random_state=0):
        self.fault = fault

    def fit(self, X, y, *, sensitive_features):
        if self.fault == "error":
            raise RuntimeError("out of memory")
        if self.fault == "warnings":
            for text in ("one", "two", "one", "three", "four"):
                warnings.warn(text, stacklevel=1)
        return self

    def predict(self, X, **given):
        Alternating.given.append((X, given))
        return np.arange(len(X)) % 2


@pytest.fixture
def methods(monkeypatch):
    """Put other methods in place of the real ones."""
    few = {
        "Quick": Method("post", Alternating, "random_state"),
        "Slow": Method("post", Alternating, "random_state", slow=True),
        "Failing": Method("post", Alternating, "", {"fault": "error"}),
        "Warning": Method("post", Alternating, "", {"fault": "warnings"}, random=False),
    }
    monkeypatch.setattr(_comparison, "METHODS", few)
    for name, method in few.items():
        monkeypatch.setitem(METHODS, name, method)
    return few


def test_failures_warnings_and_seeds_of_methods(methods, make_problem):
    problem = make_problem()
    results = compare_methods(problem, seeds=3, slow_seeds=2, learner="logistic")
    assert [row["method"] for row in results["rows"]] == list(methods)
    quick, slow, failing, warning = results["rows"]
    assert (quick["seeds"], slow["seeds"], warning["seeds"]) == (3, 2, 1)
    assert failing["status"] == "failed: RuntimeError: out of memory"
    assert "mean" not in failing
    texts = ["UserWarning: one", "UserWarning: two", "UserWarning: three"]
    assert warning["warnings"] == texts
    # A method gets test rows and groups, and nothing else.
    X, given = Alternating.given[-1]
    assert X.equals(problem.test[0])
    assert list(given) == ["sensitive_features"]
    assert given["sensitive_features"].equals(problem.test[2])


def test_all_methods_get_the_learner_tuned_on_training_rows(monkeypatch, make_problem):
    grid = {**_comparison.GRID, "max_iter": [2, 20], "max_depth": [1]}
    monkeypatch.setattr(_comparison, "GRID", grid)
    results = compare_methods(make_problem(), ["Always positive"], seeds=1)
    learner = results["learner"]
    best = min(learner["scores"], key=lambda setting: setting["log_loss"])
    assert learner["best"] == {"max_depth": 1, "max_iter": best["max_iter"]}
    assert f"max_iter={best['max_iter']}" in learner["repr"]
    assert learner["rows"] == 400
    # Three rows cannot be cut into ten folds.
    X, y, z = make_problem().train
    few = make_problem(train=(X[:3], y[:3], z[:3]))
    with pytest.raises(ValueError, match="could not be tuned"):
        compare_methods(few, ["Always positive"], seeds=1)


PREVALENCES = (0.2, 0.8)
SMALL = {"n_train": 1200, "n_test": 600}


@pytest.fixture(scope="module")
def synthetic():
    options = {**SMALL, "repetitions": 2, "prevalences": np.array(PREVALENCES)}
    return run_synthetic(**options, also=["CAPE demographic parity", "Max_Acc"])


def methods_at(results, rho_0, rho_1):
    for pair in results["pairs"]:
        if (pair["rho_0"], pair["rho_1"]) == (rho_0, rho_1):
            return pair["methods"]
    raise KeyError((rho_0, rho_1))


def test_the_synthetic_run_has_all_pairs_and_methods_and_is_json(synthetic):
    expected = [(rho_0, rho_1) for rho_0 in PREVALENCES for rho_1 in PREVALENCES]
    for part in ("pairs", "theorem"):
        assert [(e["rho_0"], e["rho_1"]) for e in synthetic[part]] == expected
    names = ["CAPE-D", "CAPE default", "Max_Acc", "CAPE demographic parity"]
    for pair in synthetic["pairs"]:
        assert list(pair["methods"]) == names
    assert json.loads(json.dumps(synthetic)) == synthetic
    assert synthetic["printed"] == published()["table_synthetic"]
    # Repetitions draw data of their own.
    assert methods_at(synthetic, 0.2, 0.8)["Max_Acc"]["sd"]["accuracy_0"] > 0


def test_theorem_3_holds_and_is_the_sum_of_its_parts(synthetic):
    """With ten members eps / 2 is 0.05."""
    for pair, entry in zip(synthetic["pairs"], synthetic["theorem"], strict=True):
        for place, group in enumerate(entry["mean"]):
            assert group["within_theorem_3"] == 1
            assert group["pd"] <= group["theorem_3"]
            parts = group["delta_1"] + group["delta_2"] + 0.05
            assert group["theorem_3"] == pytest.approx(parts)
            mean = pair["methods"]["CAPE-D"]["mean"]
            assert group["pd"] == pytest.approx(mean[f"pd_{place}"])


def test_a_repetition_is_what_the_classifier_does_on_its_data():
    results = run_synthetic(**SMALL, repetitions=1, prevalences=(0.2,))
    train = make_synthetic(1200, random_state=0)
    test = make_synthetic(600, prevalences=(0.2, 0.2), random_state=1000)
    clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=0)
    groups = train.sensitive_features
    clf.fit(train.data, train.target, sensitive_features=groups)
    z = test.sensitive_features
    y_pred = clf.predict(test.data, sensitive_features=z)
    [pair] = results["pairs"]
    expected = _comparison.result_row(test.target, y_pred, z, (0, 1))
    assert pair["methods"]["CAPE-D"]["mean"] == expected
    assert set(pair["methods"]["CAPE-D"]["sd"].values()) == {0.0}
    adapted = clf.adapt(test.data, sensitive_features=z).table().iloc[1]
    group_1 = results["theorem"][0]["mean"][1]
    assert group_1["our_bound"] == adapted["pd_bound"]
    # delta_2 is the greatest error of a member.
    rows = z == 1
    predicted = []
    for model in clf.models_[1].pool.models:
        predicted.append(np.mean(model.predict(test.data[rows])))
    greatest = np.abs(clf.prevalences_ - predicted).max()
    assert group_1["delta_2"] == pytest.approx(greatest)


def test_a_repetition_that_fails_is_an_error_not_a_gap():
    with pytest.raises(
        RuntimeError, match="a repetition failed: ValueError: n_samples"
    ):
        run_synthetic(repetitions=1, n_train=1, n_test=10, prevalences=(0.5,))
    with pytest.raises(ValueError, match="also must be one of 'CAPE-D'"):
        run_synthetic(also=["Magic"])


@pytest.fixture(scope="module")
def text_problem():
    """A shift whose rows have text and gaps."""
    parts = []
    for seed, prevalences in ((0, (0.3, 0.5)), (1, (0.6, 0.2))):
        d = make_synthetic(500, prevalences=prevalences, random_state=seed)
        X = d.data.assign(kind=np.where(d.data["U"] > 8, "high", "low"))
        X.loc[::7, "V"] = np.nan
        z = d.sensitive_features.map({0: "a", 1: "b"})
        parts.append((X, d.target.to_numpy(), z))
    return Problem("case", "Case", ["a", "b"], *parts)


@pytest.fixture(scope="module")
def shifts(text_problem):
    # Too few rows to train on: the case fails, and the other goes on.
    X, y, z = text_problem.train
    few = Problem("few", "", ["a"], (X[:3], y[:3], z[:3]), text_problem.test)
    problems = [text_problem, few]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_shifts, "load_cases", lambda *given: (problems, ["gone"]))
        patch.setattr(_shifts, "SIZES", (30,))
        return run_shifts(draws=1)


def test_shifts_have_estimates_beside_the_truth(shifts, text_problem):
    assert json.loads(json.dumps(shifts)) == shifts
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


def test_shifts_judge_decisions_as_the_classifier_makes_them(shifts, text_problem):
    X, y, z = text_problem.train
    clf = CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)
    X, y, z = text_problem.test
    y_pred = clf.predict(X, sensitive_features=z)
    expected = _comparison.result_row(y, y_pred, z, ["a", "b"])
    ours = [row for row in shifts["decisions"] if row["method"] == "CAPE"]
    assert [row["pd"] for row in ours] == [expected["pd_0"], expected["pd_1"]]
    assert ours[0]["pe"] == expected["pe"]


def test_shifts_name_what_is_skipped_and_what_failed(shifts):
    assert shifts["skipped"] == ["gone"]
    [failed] = shifts["failed"]
    assert failed.startswith("few 0 failed: ValueError")
    assert {row["case"] for row in shifts["records"]} == {"case"}


def test_quapy_reads_cells_as_it_would_read_rows():
    """Estimates from the cells of histograms are those from the scores themselves."""
    random = np.random.default_rng(0)
    scores = [random.beta(4, 2, 900), random.beta(2, 4, 1500), random.beta(3, 3, 400)]
    rounded = [round_scores(part) for part in scores]
    edges = edges_for(*rounded[:2])
    positives, negatives, batch = (ScoreHistogram.of(part, edges) for part in rounded)
    model = SimpleNamespace(positives=positives, negatives=negatives)
    estimates = _shifts.quapy_estimates(model, batch)
    kept = [ScoreHistogram.of(part, edges, keep_rows=True) for part in rounded]
    for name, estimate in estimates.items():
        quantifier = make_quantifier(getattr(aggregative, name)()).fit(*kept[:2])
        assert estimate == pytest.approx(quantifier.estimate(kept[2]), abs=0.002)


def test_quantifiers_are_judged_on_pure_and_on_real_shifts(text_problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_quantifiers, "load_cases", lambda *given: ([text_problem], []))
        patch.setattr(_quantifiers, "SIZES", (20, 200))
        results = run_quantifiers(draws=3)
    assert json.loads(json.dumps(results)) == results
    assert results["failed"] == []
    errors = {}
    for row in results["records"]:
        errors[row["kind"], row["size"], row["method"]] = row["error"]
        assert row["times"] == 1
    for name in QUANTIFIERS:
        assert ("real", "20", f"cape {name}") in errors
    # Counting is biased, and quantifiers that correct it are not.
    assert errors["pure", "200", "cape onestep"] < 0.1
    assert errors["pure", "200", "quapy PACC"] == pytest.approx(
        errors["pure", "200", "cape spa"], abs=0.005
    )


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """Two years of a survey with the columns of BRFSS, and four groups."""
    for year in (2019, 2020):
        d = make_synthetic(1600, prevalences=(0.3, 0.5), random_state=year)
        random = np.random.default_rng(year)
        table = d.data.assign(
            SEX=d.sensitive_features + 1,
            EDUCATION_LEVEL=random.integers(1, 3, 1600),
            AGE_CATEGORIES=5,
            POOR_HEALTH=d.target,
        )
        table.to_csv(tmp_path / f"{year}.csv", index=False)

    def read(path, folder):
        return pd.read_csv(tmp_path / f"{path.split('_')[1]}.csv")

    monkeypatch.setattr(_small_groups, "read_table", read)
    monkeypatch.setattr(_small_groups, "TRAINING_ROWS", (20,))
    monkeypatch.setattr(_small_groups, "SIZES", (30,))


def test_small_groups_borrow_stand_alone_or_are_pooled(survey):
    results = run_small_groups(seeds=1)
    assert json.loads(json.dumps(results)) == results
    assert (results["failed"], results["groups"]) == ([], 4)
    found = {(row["kind"], row["method"]): row for row in results["records"]}
    for kind in ("real", "alike", "apart"):
        for way in _small_groups.WAYS:
            assert found[kind, way]["times"] == 4
            assert 0 < found[kind, way]["width"] <= 1
        assert "width" not in found[kind, "mean score"]


# Answers as NannyML would give them.
STAND_IN = """#!/bin/sh
echo '{"version": "0.13", "groups": {"a": RATES, "b": RATES}}'
"""
RATES = '{"accuracy": [0.5, 0, 1], "fnr": [0.5, 0, 0], "fpr": [0.5, 0, 1]}'


@pytest.mark.parametrize("with_nannyml", [False, True])
def test_logged_decisions_are_judged_by_labels(text_problem, tmp_path, with_nannyml):
    python = None
    if with_nannyml:
        python = tmp_path / "python"
        python.write_text(STAND_IN.replace("RATES", RATES))
        python.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_logged, "LEARNERS", {"logistic": LogisticRegression()})
        patch.setattr(_logged, "load_cases", lambda *given: ([text_problem], []))
        results = run_logged(seeds=1, nannyml=python)
    assert json.loads(json.dumps(results)) == results
    assert results["failed"] == []
    found = {(row["rate"], row["method"]): row for row in results["summary"]}
    assert found["accuracy", "CAPE"]["error"] < found["accuracy", "reference"]["error"]
    assert found["fpr", "CAPE"]["width"] > 0
    assert ("fnr", "NannyML") in found or not with_nannyml
    if with_nannyml:
        assert results["versions"]["nannyml"] == "0.13"
        assert found["fnr", "NannyML"]["holds"] == 0
    else:
        assert "NannyML" in results["skipped"][0]
