"""A batch given as scores, counted directly, is the batch given as a histogram."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import QUANTIFIERS, DyS, make_quantifier
from cape.quantify._base import decreasing_root

TRAINING = np.random.default_rng(0)
POSITIVES, NEGATIVES = (
    round_scores(TRAINING.beta(*shape, 400)) for shape in ((4, 2), (2, 4))
)
EDGES = edges_for(POSITIVES, NEGATIVES)


def fitted(quantifier):
    return make_quantifier(quantifier).fit(
        ScoreHistogram.of(POSITIVES, EDGES), ScoreHistogram.of(NEGATIVES, EDGES)
    )


METHODS = {name: fitted(name) for name in QUANTIFIERS} | {
    "dys, 4 bins": fitted(DyS(n_bins=4))
}


@pytest.mark.parametrize("name", METHODS)
@given(
    share=st.floats(0, 1),
    seed=st.integers(0, 1000),
    n=st.sampled_from([1, 2, 30, 1000, 12_000]),
)
def test_scores_and_their_histogram_give_the_same(name, share, seed, n):
    random = np.random.default_rng(seed)
    scores = np.where(
        random.random(n) < share, random.beta(4, 2, n), random.beta(2, 4, n)
    )
    scores[: n // 5] = random.choice(
        [0, 0.125, 0.25, 0.5, 0.5 + 2.0**-33, 0.5 + 2.0**-32, 1], n // 5
    )
    method = METHODS[name]
    histogram = ScoreHistogram.of(round_scores(scores), EDGES)
    # A mean of scores that were not rounded is off by half a unit of 2^-32 at most; SPA divides it by about .3.
    assert method.estimate_scores(scores) == pytest.approx(
        method.estimate(histogram), abs=2 / ONE
    )


@pytest.mark.parametrize("name", METHODS)
def test_bad_scores_are_named(name):
    for bad in ([0.5, 1.5], [-0.1], [np.nan]):
        with pytest.raises(
            ValueError, match=r"scores must be probabilities in \[0, 1\]"
        ):
            METHODS[name].estimate_scores(bad)
    with pytest.raises(ValueError, match="at least one"):
        METHODS[name].estimate_scores([])


def test_above_one_half_means_the_same_for_scores_and_integers():
    near = 0.5 + np.arange(-8, 9) * 2.0**-34
    np.testing.assert_array_equal(near > (HALF + 0.5) / ONE, round_scores(near) > HALF)


@given(
    roots=st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=5),
    bend=st.floats(-0.9, 20),
)
def test_roots_are_found_inside_and_at_both_ends(roots, bend):
    roots = np.array(roots)

    def slope(x):  # decreasing on [0, 1], bent one way or the other
        value = (roots - x) * (1 + bend * x * x)
        return value, -(1 + bend * x * x) + (roots - x) * 2 * bend * x

    found = decreasing_root(slope, np.full(len(roots), 0.5))
    np.testing.assert_allclose(found, np.clip(roots, 0, 1), atol=1e-9)
