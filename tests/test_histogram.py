"""Score histograms: they add up, forget nothing that is needed, and never depend on the order of rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.histogram import HALF, ONE, ScoreHistogram, edges_for, round_scores

scores = st.lists(st.integers(0, ONE), max_size=60).map(
    lambda s: np.array(s, dtype=np.int64)
)
some_scores = st.lists(st.integers(0, ONE), min_size=1, max_size=60).map(
    lambda s: np.array(s, dtype=np.int64)
)
edges = st.lists(st.integers(1, ONE - 1), max_size=12, unique=True).map(
    lambda e: np.array(sorted(e), dtype=np.int64)
)
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
    assert parts[0] + parts[1] == whole == parts[1] + parts[0]
    assert whole - parts[0] == parts[1]
    assert whole + ScoreHistogram.empty(e, unit=unit) == whole
    assert whole - whole == ScoreHistogram.empty(e, unit=unit)


@given(scores, edges, st.randoms())
def test_the_order_of_rows_does_not_matter(s, e, random):
    shuffled = s.tolist()
    random.shuffle(shuffled)
    assert ScoreHistogram.of(
        np.array(shuffled, dtype=np.int64), e
    ) == ScoreHistogram.of(s, e)


@given(some_scores, edges, units)
def test_size_mean_shares_and_centres(s, e, unit):
    histogram = ScoreHistogram.of(s, e, unit=unit)
    assert histogram.size == len(s) / unit
    assert histogram.mean == pytest.approx(sum(s.tolist()) / len(s) / ONE, rel=1e-14)
    assert histogram.shares.sum() == pytest.approx(1)
    # The cells' mean scores, weighted, are the mean score; an empty cell is represented by its middle.
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


@given(some_scores, edges)
def test_weights_of_one_change_nothing_and_whole_weights_repeat_rows(s, e):
    plain = ScoreHistogram.of(s, e)
    weighted = ScoreHistogram.of(s, e, weights=np.ones(len(s)))
    assert weighted.counts.tolist() == plain.counts.tolist()
    assert weighted.sums == pytest.approx(plain.sums)
    repeats = np.arange(len(s)) % 3
    repeated, by_weight = (
        ScoreHistogram.of(np.repeat(s, repeats), e),
        ScoreHistogram.of(s, e, weights=repeats),
    )
    assert by_weight.counts.tolist() == repeated.counts.tolist()
    assert by_weight.sums == pytest.approx(repeated.sums)


@given(scores, scores, edges)
def test_raw_scores_are_kept_on_request_and_sorted(a, b, e):
    both = ScoreHistogram.of(a, e, keep_rows=True) + ScoreHistogram.of(
        b, e, keep_rows=True
    )
    assert both.rows.tolist() == sorted([*a.tolist(), *b.tolist()])
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


@given(some_scores, some_scores)
def test_edges_hold_what_quantifiers_and_members_need(positives, negatives):
    e = edges_for(positives, negatives)
    assert (np.diff(e) > 0).all()
    assert e[0] > 0
    assert e[-1] < ONE
    needed = {HALF} | {
        round(i / b * ONE) for b in range(10, 111, 10) for i in range(1, b)
    }
    assert needed <= set(e.tolist())
    extra = set(e.tolist()) - needed
    assert extra <= set(positives.tolist()) | set(negatives.tolist())


def test_half_of_the_cuts_follow_each_class(random):
    """Quantiles of all scores together would leave a rare class with a few cells only."""
    positives, negatives = (
        round_scores(random.beta(8, 2, 200)),
        round_scores(random.beta(2, 8, 20_000)),
    )
    e = edges_for(positives, negatives)
    for scores_of_class in (positives, negatives):
        shares = ScoreHistogram.of(scores_of_class, e).shares
        assert shares.max() < 0.012
