"""What to expect of every criterion, against known truth."""

import dataclasses
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cape.examination import examine
from cape.examination._expected import expect_criteria, greatest_difference
from cape.rules import CRITERIA, Constrained, DemographicParity, EqualOpportunity

sys.path.insert(0, str(Path(__file__).parent))
import criteria_worlds

sys.path.pop(0)

NOISY = sorted(set(CRITERIA) - {"demographic_parity_difference"})
NOISY.remove("demographic_parity_ratio")


def look(fitted, batch, rule, **settings):
    """Examine the batch with a rule."""
    clf = fitted(**settings)
    return examine(clf, batch.X, sensitive_features=batch.z, rule=rule)


def with_rule(seen, **rule):
    """What is expected of the same members, if another rule had picked them."""
    adaptation = dataclasses.replace(seen.adaptation, rule=rule)
    return expect_criteria(seen.draws, adaptation)


@pytest.fixture(scope="module")
def simulated():
    """Records of a few dozen batches."""
    options = SimpleNamespace(
        batches=40, batches_per_training=2, groups=2, training_rows=400, rows=200,
        scores="refit", pool="threshold", seed=7,
    )  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        return criteria_worlds.simulate(options)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NOISY, "accuracy"])
def test_intervals_hold_what_is_observed(simulated, name):
    own = simulated[simulated["criterion"] == name]
    inside = own["inside"].mean()
    # Of 80 intervals at .95, fewer than .86 are right in one simulation of 1,000; and
    # they are not right because they are wide.
    assert inside >= 0.86
    assert own["width"].median() < (0.15 if name == "accuracy" else 2.0)


@pytest.mark.slow
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
    seen = look(fitted, batch, DemographicParity(tolerance=0.1), pool=pool)
    y_pred = seen.clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=seen.adaptation
    )
    shares = [y_pred[batch.z == group].mean() for group in (0, 1)]
    found = seen.criteria
    difference = found.values["demographic_parity_difference"]
    assert difference == pytest.approx((np.ptp(shares),) * 3)
    assert found.bounds == {"demographic_parity_difference": 0.1}
    is_met = float(difference.value <= 0.1)
    assert found.probabilities == {"demographic_parity_difference": is_met}
    ratio = found.values["demographic_parity_ratio"]
    assert ratio == pytest.approx((min(shares) / max(shares),) * 3)


def test_a_bound_met_but_for_rounding_is_met(fitted, batch):
    seen = look(fitted, batch, "prevalence")
    name = "demographic_parity_difference"
    tolerance = seen.criteria.values[name].value - 1e-13
    found = with_rule(seen, name="demographic_parity", tolerance=tolerance)
    assert found.probabilities[name] == 1.0


def test_only_bounds_of_the_rule_have_probabilities(fitted, batch):
    bounds = {"proportional_equality": 0.3, "equalized_odds_difference": 0.2}
    found = look(fitted, batch, Constrained(**bounds)).criteria
    assert found.bounds == bounds and set(found.probabilities) == set(bounds)
    # A rule without a tolerance asks for nothing that could be met.
    assert look(fitted, batch, EqualOpportunity()).criteria.probabilities == {}


def test_a_wider_bound_is_more_probable(fitted, batch):
    seen = look(fitted, batch, EqualOpportunity(tolerance=0.05))
    probabilities = []
    for tolerance in (0.0, 0.05, 0.1, 0.3, 1.0):
        found = with_rule(seen, name="equal_opportunity", tolerance=tolerance)
        probabilities.append(found.probabilities["equal_opportunity_difference"])
    assert probabilities == sorted(probabilities)
    assert probabilities[0] < 0.2 and probabilities[-1] == 1.0


def test_table_and_dict_say_the_same(fitted, batch):
    found = look(fitted, batch, EqualOpportunity(tolerance=0.1)).criteria
    entries = json.loads(json.dumps(found.to_dict(), allow_nan=False))["criteria"]
    table = found.table()
    assert [entry["criterion"] for entry in entries] == list(table.index)
    assert list(table.index) == ["accuracy", *CRITERIA]
    assert [entry["value"] for entry in entries] == table["value"].tolist()


def test_one_group_is_compared_with_none(fitted, batch):
    own = batch.z == 1
    seen = examine(fitted(), batch.X[own], sensitive_features=batch.z[own])
    for name in CRITERIA:
        assert seen.criteria.values[name] == (np.nan, 0, np.inf)
    assert 0 < seen.criteria.values["accuracy"].value < 1
    json.dumps(seen.to_dict(), allow_nan=False)


def test_groups_with_unknown_rates_are_not_compared(few_positives):
    found = few_positives.criteria
    value = found.values["equal_opportunity_difference"]
    assert 0 <= value.low <= value.high < 1 and not np.isnan(value.value)
    # Their shares are known all the same.
    groups = few_positives.adaptation.groups.values()
    shares = [group.predicted_prevalence for group in groups]
    difference = found.values["demographic_parity_difference"].value
    assert difference == pytest.approx(np.ptp(shares))


def test_with_labels_the_accuracy_is_inside(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    seen = examine(clf, batch.X, batch.y, **groups)
    y_pred = clf.predict(batch.X, adaptation=seen.adaptation, **groups)
    accuracy = seen.criteria.values["accuracy"]
    assert accuracy.low <= (y_pred == batch.y).mean() <= accuracy.high


def drawn_group(random, predicted, n_draws=400):
    """Draws around a random place."""
    places = random.uniform(0.2, 0.8, 3)
    prevalence, tpr, fpr = np.clip(
        places[:, None] + random.normal(0, 0.03, (3, n_draws)), 0.01, 1
    )
    predicted = np.full(n_draws, predicted)
    return SimpleNamespace(
        prevalence=prevalence, tpr=tpr, fpr=fpr, predicted_prevalence=predicted
    )


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("n_groups", [2, 5])
def test_blocks_of_pairs_are_all_pairs(random, name, n_groups):
    drawn = [drawn_group(random, random.uniform(0.1, 0.9)) for _ in range(n_groups)]
    greatest, (low, high) = greatest_difference(name, drawn, 0.95)
    signed = every_pair(name, drawn)
    np.testing.assert_allclose(greatest, np.abs(signed).max(axis=0))
    differ = (np.quantile(signed, 0.03, axis=1) > 0).any()
    assert differ == (low > 0)
    if differ:
        # One draw of 400 may fall on either side.
        assert np.mean(greatest < low) == pytest.approx(0.025, abs=0.003)
        assert np.mean(greatest > high) == pytest.approx(0.025, abs=0.003)


def test_groups_that_may_be_equal_have_an_interval_from_0(random):
    tpr = 0.5 + random.normal(0, 0.03, (3, 1000))
    drawn = [SimpleNamespace(tpr=rates) for rates in tpr]
    name = "equal_opportunity_difference"
    greatest, (low, high) = greatest_difference(name, drawn, 0.95)
    # Nothing lies below 0, so that the upper end leaves out 5 % and not 2.5 %.
    assert low == 0
    assert np.mean(greatest > high) == pytest.approx(0.05, abs=0.002)


def every_pair(name, drawn):
    """Signed differences of all ordered pairs, one by one."""
    signed = []
    for one in drawn:
        for other in drawn:
            if one is other:
                continue
            if name == "proportional_equality":
                predicted = one.predicted_prevalence / other.predicted_prevalence
                signed.append(one.prevalence / other.prevalence - predicted)
                signed.append(-signed[-1])
            if name in ("equal_opportunity_difference", "equalized_odds_difference"):
                signed.append(one.tpr - other.tpr)
            if name in ("false_positive_rate_difference", "equalized_odds_difference"):
                signed.append(one.fpr - other.fpr)
    return np.array(signed)


def test_pe_relative_to_a_group_without_calls_is_left_out(random):
    drawn = [drawn_group(random, 0.4), drawn_group(random, 0.0)]
    greatest, _ = greatest_difference("proportional_equality", drawn, 0.95)
    expected = drawn[1].prevalence / drawn[0].prevalence
    np.testing.assert_allclose(greatest, expected)
