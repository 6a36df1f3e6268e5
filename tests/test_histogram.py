"""Score histograms add up, are exact, and do not depend on the order of rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._histogram import (
    HALF,
    ONE,
    ScoreHistogram,
    _count_by_lookup,
    _count_by_sorting,
    check_scores,
    edges_for,
    round_scores,
)


def as_integers(values):
    return np.array(values, dtype=np.int64)


integers = st.integers(0, ONE)
scores = st.lists(integers, max_size=60).map(as_integers)
at_least_one_score = st.lists(integers, min_size=1, max_size=60).map(as_integers)
inner = st.integers(1, ONE - 1)
edges = st.lists(inner, max_size=12, unique=True).map(sorted).map(as_integers)
units = st.integers(1, 4)


def test_scores_are_counted_in_units_of_two_to_the_minus_32():
    assert (ONE, HALF) == (2**32, 2**31)


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
    empty = ScoreHistogram.empty(e, unit=unit)
    assert parts[0] + parts[1] == whole == parts[1] + parts[0]
    assert whole - parts[0] == parts[1]
    assert whole + empty == whole
    assert whole - whole == empty
    assert whole - empty == whole


@given(scores, edges, st.randoms())
def test_the_order_of_rows_does_not_matter(s, e, random):
    shuffled = s.tolist()
    random.shuffle(shuffled)
    assert ScoreHistogram.of(
        np.array(shuffled, dtype=np.int64), e
    ) == ScoreHistogram.of(s, e)


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
    assert weighted.sums == pytest.approx(plain.sums)
    repeats = np.arange(len(s)) % 3
    repeated = ScoreHistogram.of(np.repeat(s, repeats), e)
    by_weight = ScoreHistogram.of(s, e, weights=repeats)
    assert by_weight.counts.tolist() == repeated.counts.tolist()
    assert by_weight.sums == pytest.approx(repeated.sums)


@given(scores, scores, edges)
def test_raw_scores_are_kept_on_request_and_sorted(a, b, e):
    one = ScoreHistogram.of(a, e, keep_rows=True)
    other = ScoreHistogram.of(b, e, keep_rows=True)
    both = one + other
    assert both.rows.tolist() == sorted([*a.tolist(), *b.tolist()])
    assert ScoreHistogram.of(a, e).rows is None
    with pytest.raises(TypeError, match="raw scores"):
        _ = both - both


def test_several_models_count_in_parts_of_a_row():
    by_three_models = round_scores([[0.1, 0.9], [0.2, 0.8], [0.3, 0.6]])
    histogram = ScoreHistogram.of(by_three_models, np.array([HALF]), unit=3)
    assert histogram.size == 2
    assert histogram.counts.tolist() == [3, 3]
    assert repr(histogram) == "ScoreHistogram(2 rows in 2 cells)"


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


@given(st.floats(0, 1), st.floats(0, 1))
def test_rounding_keeps_the_order_of_scores(one, other):
    low, high = round_scores(sorted([one, other]))
    assert low <= high


@given(st.floats(2**-9, 1, width=32))
def test_scores_in_single_precision_are_not_changed(score):
    """They are multiples of 2^-32 already."""
    assert round_scores(score) / ONE == score


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_scores_of_any_shape_are_checked_and_rounded(shape):
    values = np.full(shape, 0.25)
    assert check_scores(values).shape == shape
    assert round_scores(values).shape == shape
    assert (round_scores(values) == ONE // 4).all()


def test_checked_scores_are_float64_and_not_copied_without_need():
    values = np.array([0.0, -0.0, 1.0])
    assert check_scores(values) is values
    assert check_scores([0, 1]).dtype == np.float64
    assert check_scores(np.array([0.5], dtype=np.float32)).tolist() == [0.5]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([0.5, 1.5, -2], "1.5"),
        ([[0.1, 0.2], [0.3, -0.5]], "-0.5"),
        ([np.nan, 2], "nan"),
        (-np.inf, "-inf"),
        (np.nextafter(1, 2), "1.0000000000000002"),
    ],
)
def test_the_first_bad_score_is_named(values, first):
    with pytest.raises(ValueError, match="scores must be probabilities") as raised:
        check_scores(values)
    assert str(raised.value).endswith(f"got {first}.")


@given(scores, edges)
def test_sorting_and_looking_up_count_the_same(s, e):
    """The fast way to count, and its plain twin."""
    fast = _count_by_sorting(s, e)
    plain = _count_by_lookup(s, e, None)
    assert fast.counts.tolist() == plain.counts.tolist()
    assert fast.sums.tolist() == plain.sums.tolist()
    assert fast.counts.dtype == fast.sums.dtype == plain.sums.dtype == np.int64


@pytest.mark.parametrize("n", [2**16 - 1, 2**16, 2**16 + 1, 2**17 + 3])
def test_sorting_block_by_block_counts_the_same(n, random):
    s = random.randint(0, ONE + 1, n)
    e = np.sort(random.choice(s, 50, replace=False))
    fast = _count_by_sorting(s, e)
    plain = _count_by_lookup(s, e, None)
    np.testing.assert_array_equal(fast.counts, plain.counts)
    np.testing.assert_array_equal(fast.sums, plain.sums)


@given(at_least_one_score, edges, st.integers(0, 2**32))
def test_weighted_counts_are_those_of_the_rows(s, e, seed):
    weights = np.random.default_rng(seed).uniform(0, 3, len(s))
    histogram = ScoreHistogram.of(s, e, weights=weights)
    cells = np.searchsorted(e, s)
    for cell in range(len(e) + 1):
        inside = cells == cell
        assert histogram.counts[cell] == pytest.approx(weights[inside].sum())
        expected = (weights[inside] * s[inside]).sum()
        assert histogram.sums[cell] == pytest.approx(expected)
    assert histogram.size == pytest.approx(weights.sum())
    assert type(histogram.size) is float


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


def test_half_a_row_is_not_rounded_away():
    histogram = ScoreHistogram.of(
        round_scores([0.1, 0.2, 0.3]), np.array([HALF]), unit=2
    )
    assert histogram.size == 1.5
    assert repr(histogram) == "ScoreHistogram(1.5 rows in 2 cells)"


def test_an_empty_histogram_has_no_rows_and_the_middles_of_its_cells():
    empty = ScoreHistogram.empty(round_scores([0.2, 0.6]), keep_rows=True)
    assert empty.size == 0
    assert empty.counts.tolist() == [0, 0, 0]
    assert empty.rows.tolist() == []
    assert empty.centres == pytest.approx([0.1, 0.4, 0.8])
    assert empty.above().tolist() == [0, 0, 0, 0]


@given(at_least_one_score, edges)
def test_above_falls_from_all_scores_to_none(s, e):
    above = ScoreHistogram.of(s, e).above()
    assert (above[0], above[-1]) == (len(s), 0)
    assert (np.diff(above) <= 0).all()
    assert above.dtype == np.int64


def test_merging_all_cells_counts_everything():
    e = round_scores([0.2, 0.6])
    histogram = ScoreHistogram.of(round_scores([0.1, 0.3, 0.9]), e)
    assert histogram.merged(np.empty(0, dtype=np.int64)).tolist() == [3]
    assert histogram.merged(e).tolist() == histogram.counts.tolist()


def test_histograms_are_equal_in_value_and_have_no_hash():
    one = ScoreHistogram.of(round_scores([0.2, 0.8]), np.array([HALF]))
    same = ScoreHistogram.of(round_scores([0.8, 0.2]), np.array([HALF]))
    other = ScoreHistogram.of(round_scores([0.3, 0.8]), np.array([HALF]))
    assert one == same
    assert one != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_addition_leaves_both_histograms_alone():
    one = ScoreHistogram.of(round_scores([0.2]), np.array([HALF]))
    other = ScoreHistogram.of(round_scores([0.8]), np.array([HALF]))
    _ = one + other
    _ = one - one
    assert one.counts.tolist() == [1, 0]
    assert other.counts.tolist() == [0, 1]


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


@given(at_least_one_score, at_least_one_score)
def test_edges_do_not_depend_on_which_class_is_called_positive(one, other):
    np.testing.assert_array_equal(edges_for(one, other), edges_for(other, one))


def test_more_cuts_give_more_edges(random):
    positives = round_scores(random.beta(4, 2, 5000))
    negatives = round_scores(random.beta(2, 4, 5000))
    numbers = [
        len(edges_for(positives, negatives, cuts=cuts)) for cuts in (10, 100, 1000)
    ]
    assert numbers[0] < numbers[1] < numbers[2]
    regular = len(edges_for(np.array([HALF]), np.array([HALF])))
    assert numbers[2] - regular == pytest.approx(998, abs=3)
