"""CC, PCC, ACC and SPA against their formulas on the rows."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape._histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import ACC, CC, PCC, SPA

grid_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=40).map(
    lambda s: np.array(s, dtype=np.int64)
)


def histograms(positives, negatives, batch):
    edges = edges_for(positives, negatives)
    return [ScoreHistogram.of(s, edges) for s in (positives, negatives, batch)]


@given(grid_scores, grid_scores, grid_scores)
def test_uncorrected_estimates_are_the_formulas_on_the_rows(
    positives, negatives, batch
):
    p, n, b = histograms(positives, negatives, batch)
    assert CC().fit(p, n).estimate(b) == (batch > HALF).mean()
    assert PCC().fit(p, n).estimate(b) == pytest.approx(batch.mean() / ONE, abs=1e-12)


@given(grid_scores, grid_scores, grid_scores)
def test_spa_is_the_formula_on_the_rows(positives, negatives, batch):
    tppa = positives.mean() / ONE
    fppa = negatives.mean() / ONE
    assume(abs(tppa - fppa) > 0.05)
    p, n, b = histograms(positives, negatives, batch)
    expected = (batch.mean() / ONE - fppa) / (tppa - fppa)
    spa = SPA().fit(p, n)
    assert spa.estimate(b) == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)
    assert (spa.positive_mean_, spa.negative_mean_) == pytest.approx((tppa, fppa))


@given(grid_scores, grid_scores, grid_scores)
def test_acc_is_the_formula_on_the_rows(positives, negatives, batch):
    assume(abs(positives.mean() - negatives.mean()) > 0.05 * ONE)
    p, n, b = histograms(positives, negatives, batch)
    tpr = (positives > HALF).mean()
    fpr = (negatives > HALF).mean()
    estimate = ACC().fit(p, n).estimate(b)
    if tpr == fpr:
        assert estimate == len(positives) / (len(positives) + len(negatives))
    else:
        expected = ((batch > HALF).mean() - fpr) / (tpr - fpr)
        assert estimate == pytest.approx(np.clip(expected, 0, 1), abs=1e-12)


def test_a_score_of_just_a_half_is_not_counted():
    p, n, b = histograms(
        round_scores([0.9, 0.6]),
        round_scores([0.1, 0.5]),
        round_scores([0.5, 0.5 + 2**-32]),
    )
    assert CC().fit(p, n).estimate(b) == 0.5


@pytest.mark.parametrize("rows", [[0.2], [0.2, 0.9, 0.9]])
def test_counts_that_tell_nothing_give_the_training_prevalence(rows):
    """Mean scores differ, but both classes have half of their rows above 1/2."""
    p, n, b = histograms(
        round_scores([0.4, 0.9]), round_scores([0.1, 0.6]), round_scores(rows)
    )
    quantifier = ACC().fit(p, n)
    assert quantifier.informative_
    assert quantifier.estimate(b) == 0.5
    assert quantifier.estimate_each(round_scores([rows])).tolist() == [0.5] * len(rows)
    assert quantifier.interval(b) == (0.0, 1.0)
