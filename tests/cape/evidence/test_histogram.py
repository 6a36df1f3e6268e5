"""Score histograms add up, are exact, and do not depend on the order of rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.quantify import ScoreHistogram, edges_for, round_scores

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2


def as_integers(values):
    return np.array(values, dtype=np.int64)


integers = st.integers(0, ONE)
scores = st.lists(integers, max_size=60).map(as_integers)
at_least_one_score = st.lists(integers, min_size=1, max_size=60).map(as_integers)
inner = st.integers(1, ONE - 1)
edges = st.lists(inner, max_size=12, unique=True).map(sorted).map(as_integers)
units = st.integers(1, 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_rounding_moves_a_score_by_at_most_half_a_unit(values):
    rounded = round_scores(values)
    assert rounded.dtype == np.int64
    assert (np.abs(rounded - np.array(values) * ONE) <= 0.5).all()
    assert ((rounded >= 0) & (rounded <= ONE)).all()


@pytest.mark.parametrize("bad", [-0.1, 1.0000001, np.nan, np.inf])
def test_scores_that_are_no_probabilities_are_refused(bad):
    with pytest.raises(
        ValueError,
        match=r"scores must be probabilities in \[0, 1\], got (-0.1|1.0000001|nan|inf)",
    ):
        round_scores([0.5, bad])


@pytest.mark.parametrize("weights", [None, "even", "some are 0"])
@pytest.mark.parametrize("n", [1, 7, 600])
def test_edges_are_the_quantiles_of_numpy(n, weights):
    random = np.random.default_rng(n)
    s = np.sort(random.integers(1, ONE, n))
    worth = None if weights is None else random.uniform(0.1, 2, n)
    if weights == "some are 0":
        worth[1:] *= random.integers(0, 2, n - 1)
    found = edges_for(s, s, positive_weights=worth, negative_weights=worth, cuts=100)
    levels = np.linspace(0, 1, 51)[1:-1]
    wanted = np.quantile(s, levels, weights=worth, method="inverted_cdf")
    borders = edges_for(s[:1], s[:1])
    assert set(found) - set(borders) - {s[0]} == set(wanted) - set(borders) - {s[0]}


@given(scores, edges)
def test_a_cell_holds_the_scores_above_its_left_edge_up_to_its_right_one(s, e):
    histogram = ScoreHistogram.of(s, e)
    bounds = [-1, *e.tolist(), ONE]
    for cell, (left, right) in enumerate(itertools.pairwise(bounds)):
        inside = s[(s > left) & (s <= right)]
        assert histogram.counts[cell] == len(inside)
        assert histogram.sums[cell] == sum(inside.tolist())


@given(scores, edges)
def test_above_counts_what_lies_strictly_above_each_cut(s, e):
    cuts = [-1, *e.tolist(), ONE]
    assert ScoreHistogram.of(s, e).above().tolist() == [
        int((s > cut).sum()) for cut in cuts
    ]


@given(scores, scores, edges, units)
def test_histograms_of_parts_add_up_to_the_whole(a, b, e, unit):
    whole = ScoreHistogram.of(np.concatenate([a, b]), e, unit=unit)
    parts = [ScoreHistogram.of(part, e, unit=unit) for part in (a, b)]
    empty = ScoreHistogram.of(np.empty(0, dtype=np.int64), e, unit=unit)
    assert parts[0] + parts[1] == whole == parts[1] + parts[0]
    assert whole - parts[0] == parts[1]
    assert whole + empty == whole
    assert whole - whole == empty
    assert whole - empty == whole


@given(at_least_one_score, edges, units)
def test_size_mean_shares_and_centres(s, e, unit):
    histogram = ScoreHistogram.of(s, e, unit=unit)
    assert histogram.size == len(s) / unit
    assert histogram.mean == pytest.approx(sum(s.tolist()) / len(s) / ONE, rel=1e-14)
    assert histogram.shares.sum() == pytest.approx(1)
    # The weighted mean of the cells' mean scores is the mean score.
    assert histogram.shares @ histogram.centres == pytest.approx(
        histogram.mean, abs=1e-12
    )
    bounds = np.concatenate([[0], e, [ONE]]) / ONE
    assert (histogram.centres >= bounds[:-1]).all()
    assert (histogram.centres <= bounds[1:]).all()


def test_sums_are_exact_where_floating_point_is_not():
    s = np.full(3_000_000, ONE - 1, dtype=np.int64)
    s[::2] = ONE - 2
    histogram = ScoreHistogram.of(s, np.array([HALF]))
    assert histogram.sums.tolist() == [0, 1_500_000 * (ONE - 1) + 1_500_000 * (ONE - 2)]
    assert histogram.sums[1] > 2**53


@given(scores, edges, st.data())
def test_merging_cells_is_the_histogram_of_the_coarser_edges(s, e, data):
    keep = data.draw(st.lists(st.booleans(), min_size=len(e), max_size=len(e)))
    coarse = e[np.array(keep, dtype=bool)]
    assert (
        ScoreHistogram.of(s, e).merged(coarse).tolist()
        == ScoreHistogram.of(s, coarse).counts.tolist()
    )


@given(at_least_one_score, edges)
def test_weights_of_one_change_nothing_and_whole_weights_repeat_rows(s, e):
    plain = ScoreHistogram.of(s, e)
    weighted = ScoreHistogram.of(s, e, weights=np.ones(len(s)))
    assert weighted.counts.tolist() == plain.counts.tolist()
    # Each product of a weight and a score is rounded to a multiple of 2^-20.
    rounding = len(s) * ONE / 2**20
    assert weighted.sums == pytest.approx(plain.sums, abs=rounding)
    repeats = np.arange(len(s)) % 3
    repeated = ScoreHistogram.of(np.repeat(s, repeats), e)
    by_weight = ScoreHistogram.of(s, e, weights=repeats)
    assert by_weight.counts.tolist() == repeated.counts.tolist()
    assert by_weight.sums == pytest.approx(repeated.sums, abs=rounding)


def test_histograms_that_do_not_fit_are_refused():
    a = ScoreHistogram.of(round_scores([0.2]), np.array([HALF]))
    with pytest.raises(ValueError, match="same edges and unit"):
        _ = a + ScoreHistogram.of(round_scores([0.2]), np.array([HALF + 1]))
    with pytest.raises(ValueError, match="same edges and unit"):
        _ = a - ScoreHistogram.of(round_scores([0.2]), np.array([HALF]), unit=2)
    with pytest.raises(ValueError, match="never added"):
        _ = a - ScoreHistogram.of(round_scores([0.7]), np.array([HALF]))
    assert a != "a histogram"


@given(at_least_one_score, at_least_one_score)
def test_edges_hold_what_quantifiers_and_members_need(positives, negatives):
    e = edges_for(positives, negatives)
    assert (np.diff(e) > 0).all()
    assert e[0] > 0
    assert e[-1] < ONE
    needed = {HALF}
    for n_bins in range(10, 111, 10):
        needed.update(round(i / n_bins * ONE) for i in range(1, n_bins))
    assert needed <= set(e.tolist())
    others = set(e.tolist()) - needed
    assert others <= set(positives.tolist()) | set(negatives.tolist())


def test_half_of_the_cuts_follow_each_class(random):
    """Quantiles of all scores would leave a rare class with a few cells only."""
    positives = round_scores(random.beta(8, 2, 200))
    negatives = round_scores(random.beta(2, 8, 20_000))
    e = edges_for(positives, negatives)
    for scores_of_class in (positives, negatives):
        shares = ScoreHistogram.of(scores_of_class, e).shares
        assert shares.max() < 0.012


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_scores_of_any_shape_are_rounded(shape):
    rounded = round_scores(np.full(shape, 0.25))
    assert rounded.shape == shape
    assert (rounded == ONE // 4).all()


@pytest.mark.parametrize("n", [100, 2**15 - 1, 2**15, 2**15 + 1, 2**17 + 3])
def test_a_table_of_cells_block_by_block_counts_the_same(n, random):
    s = random.randint(0, ONE + 1, n)
    e = np.sort(random.choice(s, 50, replace=False))
    histogram = ScoreHistogram.of(s, e)
    cells = np.searchsorted(e, s)
    np.testing.assert_array_equal(histogram.counts, np.bincount(cells))
    sums = np.zeros(51, dtype=np.int64)
    np.add.at(sums, cells, s)
    np.testing.assert_array_equal(histogram.sums, sums)


@given(at_least_one_score, edges, st.integers(2, 5))
def test_a_row_may_have_several_scores(s, e, n_models):
    by_models = np.tile(s, (n_models, 1))
    once = ScoreHistogram.of(s, e)
    several = ScoreHistogram.of(by_models, e, unit=n_models)
    assert several.size == once.size
    assert type(several.size) is int
    assert several.mean == pytest.approx(once.mean, rel=1e-12)
    np.testing.assert_allclose(several.shares, once.shares)
    np.testing.assert_allclose(several.centres, once.centres)
    assert several != once


def test_an_empty_histogram_has_no_rows_and_the_middles_of_its_cells():
    empty = ScoreHistogram.of(np.empty(0, dtype=np.int64), round_scores([0.2, 0.6]))
    assert empty.size == 0
    assert empty.counts.tolist() == [0, 0, 0]
    assert empty.centres == pytest.approx([0.1, 0.4, 0.8])
    assert empty.above().tolist() == [0, 0, 0, 0]


def test_histograms_are_equal_in_value_and_have_no_hash():
    one = ScoreHistogram.of(round_scores([0.2, 0.8]), np.array([HALF]))
    same = ScoreHistogram.of(round_scores([0.8, 0.2]), np.array([HALF]))
    other = ScoreHistogram.of(round_scores([0.3, 0.8]), np.array([HALF]))
    assert one == same
    assert one != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_rows_of_other_scores_cannot_be_taken_away():
    """The counts of a cell may do, while the sum of its scores does not."""
    low = ScoreHistogram.of(round_scores([0.1]), np.array([HALF]))
    high = ScoreHistogram.of(round_scores([0.4]), np.array([HALF]))
    assert (high - low).counts.tolist() == [0, 0]
    with pytest.raises(ValueError, match="never added"):
        _ = low - high


@given(at_least_one_score, at_least_one_score, st.integers(2, 5))
def test_whole_weights_move_edges_as_repeated_rows_do(positives, negatives, factor):
    repeats = 1 + np.arange(len(positives)) % factor
    weighted = edges_for(positives, negatives, positive_weights=repeats.astype(float))
    repeated = edges_for(np.repeat(positives, repeats), negatives)
    np.testing.assert_array_equal(weighted, repeated)
