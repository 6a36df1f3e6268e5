"""The synthetic experiment on few rows: its shape, its means, and that theorem's bound holds."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.experiments import run_synthetic

OPTIONS = {
    "repetitions": 2,
    "n_train": 1500,
    "n_test": 600,
    "prevalences": (0.2, 0.5, 0.8),
}


@pytest.fixture(scope="module")
def found():
    return run_synthetic(**OPTIONS)


def test_has_all_pairs_and_methods(found):
    pairs = [(pair["rho_0"], pair["rho_1"]) for pair in found["pairs"]]
    assert pairs == [(a, b) for a in (0.2, 0.5, 0.8) for b in (0.2, 0.5, 0.8)]
    assert all(
        set(pair["methods"]) == {"CAPE-D", "CAPE threshold", "Max_Acc"}
        for pair in found["pairs"]
    )


def test_cape_follows_the_groups_where_max_acc_does_not(found):
    far = [
        pair["methods"]
        for pair in found["pairs"]
        if 0.5 not in (pair["rho_0"], pair["rho_1"])
    ]
    for methods in far:
        for z in (0, 1):
            assert (
                methods["CAPE-D"]["mean"][f"pd_{z}"]
                < methods["Max_Acc"]["mean"][f"pd_{z}"]
            )


def test_theorem_3_holds_in_every_repetition_and_its_parts_are_true(found):
    for entry in found["theorem"]:
        for mean in entry["mean"]:
            assert mean["within_theorem_3"] == 1
            assert mean["theorem_3"] == pytest.approx(
                mean["delta_1"] + mean["delta_2"] + 0.05
            )
            assert mean["pd"] <= mean["theorem_3"]


def test_verdicts_are_about_the_runs_own_numbers(found):
    claims = {verdict["claim"].split(":")[0]: verdict for verdict in found["verdicts"]}
    table = claims["Table 1, 0.2 and 0.8"]
    pair = next(p for p in found["pairs"] if (p["rho_0"], p["rho_1"]) == (0.2, 0.8))[
        "methods"
    ]
    cape, max_acc = pair["CAPE-D"]["mean"], pair["Max_Acc"]["mean"]
    better = all(cape[c] < max_acc[c] for c in ("pd_0", "pd_1", "pe_01"))
    assert table["holds"] == (
        better and all(cape[c] > max_acc[c] for c in ("accuracy_0", "accuracy_1"))
    )
    over_all = next(
        v for v in found["verdicts"] if v["claim"].startswith("CAPE threshold")
    )
    theirs = np.mean(
        [
            p["methods"]["Max_Acc"]["mean"][c]
            for p in found["pairs"]
            for c in ("pd_0", "pd_1")
        ]
    )
    assert (
        "all 9 pairs" in over_all["claim"]
        and f"against {theirs:.4f}" in over_all["detail"]
    )
    spread = max(
        m["sd"]["pe_01"]
        for p in found["pairs"]
        if p["rho_0"] == 0.5
        for m in p["methods"].values()
    )
    assert f"{spread:.4f}" in found["verdicts"][-1]["detail"] and found["verdicts"][-1][
        "holds"
    ] == (spread < 0.01)


def test_deltas_are_what_they_say():
    train = make_synthetic(1500, random_state=0)
    test = make_synthetic(600, prevalences=(0.2, 0.2), random_state=1000)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    one = run_synthetic(**{**OPTIONS, "repetitions": 1})["theorem"][0]["mean"][1]
    rows = test.sensitive_features == 1
    predicted = [
        np.mean(model.predict(test.data[rows]))
        for model in clf.models_[1].pool.members  # each member by itself
    ]
    found = clf.adapt(test.data, sensitive_features=test.sensitive_features).groups[1]
    assert one["delta_1"] == pytest.approx(
        abs(test.target[rows].mean() - found.estimate)
    )
    assert one["delta_2"] == pytest.approx(np.abs(clf.prevalences_ - predicted).max())
    assert one["our_bound"] == found.pd_bound


def test_repetitions_are_kept(tmp_path, monkeypatch):
    small = {**OPTIONS, "repetitions": 1, "prevalences": (0.5,), "folder": tmp_path}
    first = run_synthetic(**small)
    monkeypatch.setattr(
        "cape.experiments._synthetic._repetition",
        lambda *given: pytest.fail("done again"),
    )
    assert run_synthetic(**small)["pairs"] == first["pairs"]


def test_a_repetition_that_fails_is_an_error_not_a_gap():
    with pytest.raises(
        RuntimeError, match="a repetition failed: ValueError: n_samples"
    ):
        run_synthetic(repetitions=1, n_train=1, n_test=10, prevalences=(0.5,))
