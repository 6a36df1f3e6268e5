"""CC, PCC, ACC and SPA against their formulas on the rows."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
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


def test_above_one_half_means_the_same_for_scores_and_integers():
    """A score is above 1/2 if its integer is, and not by less than a rounding."""
    near = 0.5 + np.arange(-8, 9) * 2.0**-34
    np.testing.assert_array_equal(near > (HALF + 0.5) / ONE, round_scores(near) > HALF)


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


@pytest.mark.parametrize("ours", [CC, PCC, ACC, SPA])
def test_many_batches_of_one_row_at_once(ours, random):
    p, n, _ = histograms(
        round_scores(random.beta(4, 2, 50)),
        round_scores(random.beta(2, 4, 50)),
        np.array([HALF]),
    )
    fitted = ours().fit(p, n)
    scores = round_scores(random.uniform(size=(3, 20)))
    one_by_one = []
    for row in scores.T:
        batch = ScoreHistogram.of(row, p.edges, unit=3)
        one_by_one.append(fitted.estimate(batch))
    assert fitted.estimate_each(scores) == pytest.approx(one_by_one, abs=1e-12)
