"""What to expect of every criterion, against known truth."""

import dataclasses
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cape.diagnostics import examine, expected_criteria
from cape.diagnostics._chosen_draws import DrawnGroup
from cape.diagnostics._criteria import _DRAWN
from cape.rules import CRITERIA, Constrained, DemographicParity, EqualOpportunity

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import coverage_criteria

NOISY = sorted(set(CRITERIA) - {"demographic_parity_difference"})
NOISY.remove("demographic_parity_ratio")


def adapt(fitted, batch, rule, **settings):
    """A model, the evidence of the batch and its adaptation with a rule."""
    clf = fitted(**settings)
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    return clf, evidence, clf.adapt(evidence=evidence, rule=rule)


@pytest.fixture(scope="module")
def simulated():
    """Records of a few dozen batches; `benchmarks/coverage_criteria.py` has more."""
    options = SimpleNamespace(
        batches=40, batches_per_training=2, groups=2, training_rows=400, rows=200,
        scores="refit", pool="threshold", seed=7,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return coverage_criteria.simulate(options)


@pytest.mark.parametrize("name", [*NOISY, "accuracy"])
def test_intervals_hold_what_is_observed(simulated, name):
    own = simulated[simulated["criterion"] == name]
    inside = own["inside"].mean()
    # Of 80 intervals at .95, fewer than .86 are right in one simulation of 1,000; and
    # they are not right because they are wide.
    assert inside >= 0.86
    assert own["width"].median() < (0.15 if name == "accuracy" else 2.0)


def test_the_probability_is_the_share_of_batches_that_meet_the_bound(simulated):
    bounded = simulated[simulated["probability"].notna()]
    bounded = bounded[bounded["criterion"].isin(NOISY)]
    said = bounded["probability"]
    assert len(bounded) > 30 and said.std() > 0.15
    error = bounded["met"] - said
    # Errors of calibrated probabilities have mean 0 and variance p (1 - p).
    spread = np.sqrt((said * (1 - said)).sum()) / len(said)
    assert abs(error.mean()) < 3.5 * spread
    likely = said > 0.5
    assert bounded["met"][likely].mean() > bounded["met"][~likely].mean() + 0.2


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_shares_are_known(fitted, batch, pool):
    rule = DemographicParity(tolerance=0.1)
    clf, evidence, adaptation = adapt(fitted, batch, rule, pool=pool)
    found = expected_criteria(clf, evidence, adaptation)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z, adaptation=adaptation)
    shares = [y_pred[batch.z == group].mean() for group in (0, 1)]
    difference = found.criteria["demographic_parity_difference"]
    assert difference.value == pytest.approx(np.ptp(shares))
    assert difference.low == pytest.approx(difference.value)
    assert difference.high == pytest.approx(difference.value)
    assert difference.bound == 0.1
    assert difference.probability == float(difference.value <= 0.1)
    ratio = found.criteria["demographic_parity_ratio"]
    assert ratio.value == pytest.approx(min(shares) / max(shares))
    assert [ratio.low, ratio.high] == pytest.approx([ratio.value] * 2)
    assert ratio.bound is None and ratio.probability is None


def test_a_bound_met_but_for_rounding_is_met(fitted, batch):
    clf, evidence, adaptation = adapt(fitted, batch, "prevalence")
    first = expected_criteria(clf, evidence, adaptation)
    value = first.criteria["demographic_parity_difference"].value
    rule = {"name": "demographic_parity", "tolerance": value - 1e-13}
    same = dataclasses.replace(adaptation, rule=rule)
    found = expected_criteria(clf, evidence, same)
    assert found.criteria["demographic_parity_difference"].probability == 1.0


def test_only_bounds_of_the_rule_have_probabilities(fitted, batch):
    bounds = {"proportional_equality": 0.3, "equalized_odds_difference": 0.2}
    found = expected_criteria(*adapt(fitted, batch, Constrained(**bounds)))
    for name, value in found.criteria.items():
        assert value.bound == bounds.get(name)
        assert (value.probability is not None) == (name in bounds)
    # A rule without a tolerance asks for nothing that could be met.
    coin = expected_criteria(*adapt(fitted, batch, EqualOpportunity()))
    assert coin.criteria["equal_opportunity_difference"].probability is None


def test_a_wider_bound_is_more_probable(fitted, batch):
    clf, evidence, adaptation = adapt(fitted, batch, EqualOpportunity(tolerance=0.05))
    probabilities = []
    for tolerance in (0.0, 0.05, 0.1, 0.3, 1.0):
        rule = {"name": "equal_opportunity", "tolerance": tolerance}
        same_members = dataclasses.replace(adaptation, rule=rule)
        found = expected_criteria(clf, evidence, same_members)
        probability = found.criteria["equal_opportunity_difference"].probability
        probabilities.append(probability)
    assert probabilities == sorted(probabilities)
    assert probabilities[0] < 0.2 and probabilities[-1] == 1.0


def test_it_can_be_repeated(fitted, batch):
    arguments = adapt(fitted, batch, "equalized_odds")
    one = expected_criteria(*arguments)
    assert one.to_dict() == expected_criteria(*arguments).to_dict()
    assert one.to_dict() != expected_criteria(*arguments, random_state=1).to_dict()


def test_table_and_dict_say_the_same(fitted, batch):
    found = expected_criteria(*adapt(fitted, batch, EqualOpportunity(tolerance=0.1)))
    entries = json.loads(json.dumps(found.to_dict(), allow_nan=False))["criteria"]
    table = found.table()
    assert [entry["criterion"] for entry in entries] == list(table.index)
    assert list(table.index) == ["accuracy", *CRITERIA]
    assert [entry["value"] for entry in entries] == table["value"].tolist()


def test_one_group_is_compared_with_none(fitted, batch):
    clf = fitted()
    own = batch.z == 1
    seen = examine(clf, batch.X[own], sensitive_features=batch.z[own])
    for value in seen.criteria.criteria.values():
        assert np.isnan(value.value) and (value.low, value.high) == (0, np.inf)
    assert 0 < seen.criteria.accuracy.value < 1
    json.dumps(seen.to_dict(), allow_nan=False)


def test_no_rows_have_no_accuracy(fitted, batch):
    clf = fitted()
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    seen = examine(clf, evidence=evidence - evidence)
    assert np.isnan(seen.criteria.accuracy.value)
    json.dumps(seen.to_dict(), allow_nan=False)


def test_groups_with_unknown_rates_are_not_compared(few_positives):
    found = expected_criteria(*few_positives)
    value = found.criteria["equal_opportunity_difference"]
    assert 0 <= value.low <= value.high < 1 and not np.isnan(value.value)
    # Their shares are known all the same.
    adaptation = few_positives[2]
    shares = [group.predicted_prevalence for group in adaptation.groups.values()]
    difference = found.criteria["demographic_parity_difference"].value
    assert difference == pytest.approx(np.ptp(shares))


def test_labels_narrow_the_accuracy(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    without = examine(clf, batch.X, **groups)
    labelled = examine(clf, batch.X, batch.y, **groups)
    y_pred = clf.predict(batch.X, adaptation=labelled.adaptation, **groups)
    accuracy = labelled.criteria.accuracy
    assert accuracy.low <= (y_pred == batch.y).mean() <= accuracy.high
    assert labelled.criteria.to_dict() != without.criteria.to_dict()


def drawn_group(random, predicted, n_draws=400):
    """Draws around a random place."""
    places = random.uniform(0.2, 0.8, 3)
    prevalence, tpr, fpr = np.clip(
        places[:, None] + random.normal(0, 0.03, (3, n_draws)), 0.01, 1
    )
    return DrawnGroup(prevalence, tpr, fpr, tpr, predicted)


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("n_groups", [2, 4, 9])
def test_blocks_of_pairs_are_all_pairs(random, name, n_groups):
    drawn = [drawn_group(random, random.uniform(0.1, 0.9)) for _ in range(n_groups)]
    found = _DRAWN[name](drawn)
    signed = every_pair(name, drawn)
    np.testing.assert_allclose(found.greatest, np.abs(signed).max(axis=0))
    low, high = found.interval(0.95)
    differ = (np.quantile(signed, 0.03, axis=1) > 0).any()
    assert differ == (low > 0)
    if differ:
        # One draw of 400 may fall on either side.
        assert np.mean(found.greatest < low) == pytest.approx(0.025, abs=0.003)
        assert np.mean(found.greatest > high) == pytest.approx(0.025, abs=0.003)


def test_groups_that_may_be_equal_have_an_interval_from_0(random):
    tpr = 0.5 + random.normal(0, 0.03, (3, 1000))
    drawn = [DrawnGroup(rates, rates, rates, rates, 0.5) for rates in tpr]
    found = _DRAWN["equal_opportunity_difference"](drawn)
    low, high = found.interval(0.95)
    # Nothing lies below 0, so that the upper end leaves out 5 % and not 2.5 %.
    assert low == 0
    assert np.mean(found.greatest > high) == pytest.approx(0.05, abs=0.002)


def every_pair(name, drawn):
    """Signed differences of all ordered pairs, one by one."""
    signed = []
    for one in drawn:
        for other in drawn:
            if one is other:
                continue
            if name == "proportional_equality":
                predicted = one.predicted / other.predicted
                signed.append(one.prevalence / other.prevalence - predicted)
                signed.append(-signed[-1])
            if name in ("equal_opportunity_difference", "equalized_odds_difference"):
                signed.append(one.tpr - other.tpr)
            if name in ("false_positive_rate_difference", "equalized_odds_difference"):
                signed.append(one.fpr - other.fpr)
    return np.array(signed)


def test_pe_relative_to_a_group_without_calls_is_left_out(random):
    drawn = [drawn_group(random, 0.4), drawn_group(random, 0.0)]
    found = _DRAWN["proportional_equality"](drawn)
    expected = drawn[1].prevalence / drawn[0].prevalence
    np.testing.assert_allclose(found.greatest, expected)
