"""The synthetic experiment on few rows: its shape, its means, and Theorem 3."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape_paper import published, run_synthetic
from cape_paper._rows import result_row

PREVALENCES = (0.2, 0.5, 0.8)
OPTIONS = {
    "repetitions": 2,
    "n_train": 1500,
    "n_test": 600,
    "prevalences": PREVALENCES,
}
METHODS = ["CAPE-D", "CAPE default", "Max_Acc"]


@pytest.fixture(scope="module")
def results():
    return run_synthetic(**OPTIONS)


@pytest.fixture(scope="module")
def one_repetition():
    return run_synthetic(**{**OPTIONS, "repetitions": 1})


def methods_at(results, rho_0, rho_1):
    for pair in results["pairs"]:
        if (pair["rho_0"], pair["rho_1"]) == (rho_0, rho_1):
            return pair["methods"]
    raise KeyError((rho_0, rho_1))


def test_has_all_pairs_and_methods(results):
    expected = [(rho_0, rho_1) for rho_0 in PREVALENCES for rho_1 in PREVALENCES]
    for part in ("pairs", "theorem"):
        pairs = [(entry["rho_0"], entry["rho_1"]) for entry in results[part]]
        assert pairs == expected
    for pair in results["pairs"]:
        assert list(pair["methods"]) == METHODS


def test_rules_are_judged_beside_the_methods_of_the_paper():
    more = ["CAPE demographic parity", "Max_Acc", "CAPE equal opportunity"]
    options = {**OPTIONS, "repetitions": 1, "prevalences": (0.2, 0.8)}
    results = run_synthetic(**options, also=more)
    methods = methods_at(results, 0.2, 0.8)
    assert list(methods) == [*METHODS, more[0], more[2]]
    shares = methods[more[0]]["mean"]["demographic_parity_difference"]
    assert shares < 0.05 < methods["Max_Acc"]["mean"]["demographic_parity_difference"]


def test_an_unknown_method_is_refused_before_anything_is_trained():
    with pytest.raises(ValueError, match="also must be one of 'CAPE-D'"):
        run_synthetic(**OPTIONS, also=["Magic"])


def test_results_are_json_and_say_how_they_were_made(results):
    assert json.loads(json.dumps(results)) == results
    assert results["experiment"] == "synthetic"
    assert results["learner"] == "LogisticRegression()"
    assert results["repetitions"] == 2
    assert results["n_train"] == 1500
    assert results["cells"] == 2
    assert results["printed"] == published()["table_synthetic"]
    assert len(results["reasons"]) == 2


@pytest.mark.parametrize("rho_0", [0.2, 0.8])
@pytest.mark.parametrize("rho_1", [0.2, 0.8])
@pytest.mark.parametrize("z", [0, 1])
def test_cape_follows_the_groups_where_max_acc_does_not(results, rho_0, rho_1, z):
    methods = methods_at(results, rho_0, rho_1)
    cape = methods["CAPE-D"]["mean"][f"pd_{z}"]
    max_acc = methods["Max_Acc"]["mean"][f"pd_{z}"]
    assert cape < max_acc


def test_theorem_3_holds_in_every_repetition(results):
    for entry in results["theorem"]:
        for group in entry["mean"]:
            assert group["within_theorem_3"] == 1
            assert group["pd"] <= group["theorem_3"]


def test_the_bound_of_theorem_3_is_the_sum_of_its_parts(results):
    """With ten members eps / 2 is 0.05."""
    for entry in results["theorem"]:
        for group in entry["mean"]:
            parts = group["delta_1"] + group["delta_2"] + 0.05
            assert group["theorem_3"] == pytest.approx(parts)


def test_pd_in_the_theorem_is_pd_in_the_table(results):
    for pair, entry in zip(results["pairs"], results["theorem"], strict=True):
        mean = pair["methods"]["CAPE-D"]["mean"]
        for z in (0, 1):
            assert entry["mean"][z]["pd"] == pytest.approx(mean[f"pd_{z}"])


def test_one_repetition_has_no_spread(one_repetition):
    for pair in one_repetition["pairs"]:
        for summary in pair["methods"].values():
            assert set(summary["sd"].values()) <= {0.0, None}


def test_the_first_repetition_does_not_depend_on_how_many_follow(
    results, one_repetition
):
    """Mean and spread of both are those of the first and of the second solved for."""
    first = methods_at(one_repetition, 0.2, 0.8)["Max_Acc"]["mean"]["pd_0"]
    both = methods_at(results, 0.2, 0.8)["Max_Acc"]
    second = 2 * both["mean"]["pd_0"] - first
    spread = np.std([first, second], ddof=1)
    assert both["sd"]["pd_0"] == pytest.approx(spread, abs=1e-9)


@pytest.fixture(scope="module")
def by_hand():
    """CAPE trained as in the first repetition, and the batch of its first pair."""
    train = make_synthetic(1500, random_state=0)
    test = make_synthetic(600, prevalences=(0.2, 0.2), random_state=1000)
    clf = CapeClassifier.paper(estimator=LogisticRegression(), random_state=0)
    groups = train.sensitive_features
    clf.fit(train.data, train.target, sensitive_features=groups)
    return clf, test


def test_a_row_is_what_the_classifier_does(one_repetition, by_hand):
    clf, test = by_hand
    z = test.sensitive_features
    y_pred = clf.predict(test.data, sensitive_features=z)
    expected = result_row(test.target, y_pred, z, (0, 1))
    assert methods_at(one_repetition, 0.2, 0.2)["CAPE-D"]["mean"] == expected


def test_delta_1_is_the_error_of_the_quantifier(one_repetition, by_hand):
    clf, test = by_hand
    z = test.sensitive_features
    adapted = clf.adapt(test.data, sensitive_features=z).groups[1]
    group_1 = one_repetition["theorem"][0]["mean"][1]
    true_prevalence = test.target[z == 1].mean()
    assert group_1["delta_1"] == pytest.approx(abs(true_prevalence - adapted.estimate))
    assert group_1["our_bound"] == adapted.pd_bound


def test_delta_2_is_the_greatest_error_of_a_member(one_repetition, by_hand):
    clf, test = by_hand
    rows = test.sensitive_features == 1
    predicted = []
    for model in clf.models_[1].pool.models:
        predicted.append(np.mean(model.predict(test.data[rows])))
    group_1 = one_repetition["theorem"][0]["mean"][1]
    greatest = np.abs(clf.prevalences_ - predicted).max()
    assert group_1["delta_2"] == pytest.approx(greatest)


def test_the_verdict_on_table_1_follows_from_its_numbers(results):
    methods = methods_at(results, 0.2, 0.8)
    cape = methods["CAPE-D"]["mean"]
    max_acc = methods["Max_Acc"]["mean"]
    fairer = all(cape[c] < max_acc[c] for c in ("pd_0", "pd_1", "pe_01"))
    better = all(cape[c] > max_acc[c] for c in ("accuracy_0", "accuracy_1"))
    [verdict] = [
        verdict
        for verdict in results["verdicts"]
        if verdict["claim"].startswith("Table 1, 0.2 and 0.8")
    ]
    assert verdict["holds"] == (fairer and better)


def test_the_verdict_over_all_pairs_has_the_means_of_the_run(results):
    values = []
    for pair in results["pairs"]:
        mean = pair["methods"]["Max_Acc"]["mean"]
        values += [mean["pd_0"], mean["pd_1"]]
    [verdict] = [
        verdict
        for verdict in results["verdicts"]
        if verdict["claim"].startswith("CAPE default")
    ]
    assert "all 9 pairs" in verdict["claim"]
    assert f"against {np.mean(values):.4f}" in verdict["detail"]


def test_the_verdict_on_the_spread_has_the_greatest_of_the_figure(results):
    spreads = []
    for pair in results["pairs"]:
        if pair["rho_0"] == 0.5:
            for summary in pair["methods"].values():
                spreads.append(summary["sd"]["pe_01"])
    verdict = results["verdicts"][-1]
    assert f"{max(spreads):.4f}" in verdict["detail"]
    assert verdict["holds"] == (max(spreads) < 0.01)


SMALL = {"repetitions": 1, "n_train": 400, "n_test": 200, "prevalences": (0.5,)}


def test_prevalences_may_come_from_numpy():
    results = run_synthetic(**{**SMALL, "prevalences": np.array([0.5])})
    assert json.loads(json.dumps(results))["pairs"][0]["rho_0"] == 0.5


def test_without_the_figures_prevalence_there_is_no_verdict_on_it():
    results = run_synthetic(**{**SMALL, "prevalences": (0.4,)})
    claims = [verdict["claim"] for verdict in results["verdicts"]]
    assert not any("standard deviations" in claim for claim in claims)


def test_repetitions_are_kept(tmp_path, monkeypatch):
    first = run_synthetic(**SMALL, folder=tmp_path)

    def fail(*given):
        pytest.fail("done again")

    monkeypatch.setattr("cape_paper._synthetic._repetition", fail)
    assert run_synthetic(**SMALL, folder=tmp_path)["pairs"] == first["pairs"]


def test_a_repetition_that_fails_is_an_error_not_a_gap():
    message = "a repetition failed: ValueError: n_samples"
    with pytest.raises(RuntimeError, match=message):
        run_synthetic(repetitions=1, n_train=1, n_test=10, prevalences=(0.5,))


def test_the_numbers_do_not_depend_on_the_number_of_jobs():
    options = {**SMALL, "repetitions": 2}
    alone = run_synthetic(**options)
    together = run_synthetic(**options, n_jobs=2)
    assert together["pairs"] == alone["pairs"]
    assert together["theorem"] == alone["theorem"]


def test_repetitions_draw_different_data():
    results = run_synthetic(**{**SMALL, "repetitions": 2})
    [pair] = results["pairs"]
    assert pair["methods"]["Max_Acc"]["sd"]["accuracy_0"] > 0
