"""CC, PCC, ACC and SPA, against their formulas and against QuaPy."""

import numpy as np
import pytest
from hypothesis import given
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
def test_estimates_are_the_formulas_on_the_rows(positives, negatives, batch):
    """From histograms alone, CC, PCC, ACC and SPA are what the rows would give, exactly."""
    p, n, b = histograms(positives, negatives, batch)
    assert CC().fit(p, n).estimate(b) == (batch > HALF).mean()
    assert PCC().fit(p, n).estimate(b) == pytest.approx(batch.mean() / ONE, abs=1e-12)
    tpr, fpr = (positives > HALF).mean(), (negatives > HALF).mean()
    tppa, fppa = positives.mean() / ONE, negatives.mean() / ONE
    if abs(tppa - fppa) > 0.05:
        spa = SPA().fit(p, n)
        assert spa.estimate(b) == pytest.approx(
            np.clip((batch.mean() / ONE - fppa) / (tppa - fppa), 0, 1), abs=1e-9
        )
        acc = ACC().fit(p, n).estimate(b)
        if tpr == fpr:
            assert acc == len(positives) / (len(positives) + len(negatives))
        else:
            assert acc == pytest.approx(
                np.clip(((batch > HALF).mean() - fpr) / (tpr - fpr), 0, 1), abs=1e-12
            )


def test_a_score_of_just_a_half_is_not_counted():
    p, n, b = histograms(
        *(round_scores(s) for s in ([0.9, 0.6], [0.1, 0.5], [0.5, 0.5 + 2**-32]))
    )
    assert CC().fit(p, n).estimate(b) == 0.5


@pytest.mark.parametrize("ours", [CC, PCC, ACC, SPA])
def test_many_batches_of_one_row_at_once(ours, random):
    p, n, _ = histograms(
        round_scores(random.beta(4, 2, 50)),
        round_scores(random.beta(2, 4, 50)),
        np.array([HALF]),
    )
    fitted = ours().fit(p, n)
    scores = round_scores(random.uniform(size=(3, 20)))
    one_by_one = [
        fitted.estimate(ScoreHistogram.of(row, p.edges, unit=3)) for row in scores.T
    ]
    assert fitted.estimate_each(scores) == pytest.approx(one_by_one, abs=1e-12)
