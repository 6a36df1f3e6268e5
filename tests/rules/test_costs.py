"""Expected costs of members, with and without the shares that were observed."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._group_model import MemberRates
from cape.rules._costs import expected_costs, has_known_rates, rates_given_shares

sys.path.insert(0, str(Path(__file__).parent))
from situations import invent, situation

seeds = st.integers(0, 2**32 - 1)


def test_costs_are_false_negatives_and_false_positives():
    group = situation([0.8, 1.0], [0.1, 1.0], [0.4, 1.0], estimate=0.3)
    costs = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=False)
    np.testing.assert_allclose(costs, [0.3 * 0.2 + 0.7 * 0.1, 0.7])
    costs = expected_costs(group, cost_fp=2, cost_fn=5, use_shares=False)
    np.testing.assert_allclose(costs, [5 * 0.3 * 0.2 + 2 * 0.7 * 0.1, 2 * 0.7])


@given(seeds)
def test_corrected_rates_give_the_observed_shares(seed):
    (group,) = invent(seed, 1, 20).values()
    tpr, fpr = rates_given_shares(group)
    shares = group.estimate.value * tpr + (1 - group.estimate.value) * fpr
    inside = (tpr > 0) & (tpr < 1) & (fpr > 0) & (fpr < 1)
    np.testing.assert_allclose(shares[inside], group.predicted_prevalences[inside])
    assert ((tpr >= 0) & (tpr <= 1) & (fpr >= 0) & (fpr <= 1)).all()


def test_nothing_is_corrected_where_the_shares_are_as_expected():
    tpr = np.array([0.9, 0.6])
    fpr = np.array([0.3, 0.1])
    group = situation(tpr, fpr, 0.4 * tpr + 0.6 * fpr, estimate=0.4)
    np.testing.assert_allclose(rates_given_shares(group), [tpr, fpr])


def test_equal_costs_are_the_two_forms_with_the_share_weighted_by_variance():
    """The share gives the accuracy from TPR alone, or from FPR alone."""
    q, share = 0.4, 0.45
    group = situation([0.8], [0.2], [share], estimate=q, rows=100)
    rates = MemberRates(*np.array([[160.0], [200.0], [10.0], [50.0]]))
    group = replace(group, rates=rates)
    tpr, fpr = 0.8, 0.2
    from_tpr = 1 - q - share + 2 * q * tpr
    from_fpr = 1 - q + share - 2 * (1 - q) * fpr
    smooth_tpr = 160.5 / 201
    smooth_fpr = 10.5 / 51
    variance_tpr = 4 * q**2 * smooth_tpr * (1 - smooth_tpr) / 201
    variance_fpr = 4 * (1 - q) ** 2 * smooth_fpr * (1 - smooth_fpr) / 51
    weights = [1 / variance_tpr, 1 / variance_fpr]
    accuracy = np.average([from_tpr, from_fpr], weights=weights)
    costs = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=True)
    assert 1 - costs[0] == pytest.approx(accuracy)


@pytest.mark.parametrize("q", [0.0, 1.0])
def test_a_prevalence_of_0_or_1_is_no_division_by_0(q):
    group = situation([0.9, 0.5], [0.2, 0.1], [0.3, 0.2], estimate=q)
    costs = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=True)
    # All rows are of one class, so that the observed share tells all errors.
    np.testing.assert_allclose(costs, [abs(q - 0.3), abs(q - 0.2)])


def test_rates_of_few_rows_are_unknown():
    rows = np.array([9.0, 10.0])
    group = situation([1, 1], [0, 0], [0.5, 0.5])
    group = replace(group, rates=MemberRates(rows, rows, 0 * rows, rows))
    assert has_known_rates(group).tolist() == [False, True]
    costs = expected_costs(group, cost_fp=1, cost_fn=1, use_shares=True)
    assert np.isnan(costs).tolist() == [True, False]


def test_with_the_shares_the_accuracy_is_nearer_the_truth():
    """Simulated: the rates come from 100 rows of a class, the batch has 2,000 rows."""
    random = np.random.default_rng(0)
    errors = []
    for _ in range(400):
        q, tpr, fpr = 0.3, 0.8, 0.2
        n_positive = 600
        called = [random.binomial(100, tpr), random.binomial(100, fpr)]
        true = random.binomial(n_positive, tpr)
        false = random.binomial(2000 - n_positive, fpr)
        accuracy = (true + 1400 - false) / 2000
        share = (true + false) / 2000
        group = situation(
            [called[0] / 100], [called[1] / 100], [share], estimate=q, rows=100
        )
        costs = []
        for use_shares in (False, True):
            costs.append(
                expected_costs(group, cost_fp=1, cost_fn=1, use_shares=use_shares)[0]
            )
        errors.append(np.abs(1 - np.array(costs) - accuracy))
    plain, with_shares = np.mean(errors, axis=0)
    assert with_shares < 0.8 * plain
