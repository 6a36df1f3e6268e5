"""Drawing rows: seeded, without replacement, whatever the parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from cape.labels._draw import RowDraw, Strata, share_out, stratify
from cape.labels._factor import LabelFactor
from cape.labels._sample import LabelledSample, returned_p_value
from cape.quantify import ScoreHistogram, edges_for, round_scores
from cape.training._group_model import GroupModel

GROUPS = np.array([0, 1] * 300)
CELLS = np.random.default_rng(0).integers(0, 10, 600)


def strata_of(code, drawn):
    """Cells 0 to 4 and 5 to 9 of a group."""
    low = (CELLS[code == GROUPS] < 5).sum()
    return Strata(np.array([0, 5]), np.array([low, 300 - low]), np.array(drawn))


STRATA = [strata_of(0, (10, 30)), strata_of(1, (5, 0))]


def drawn_in_parts(cuts, seed=0):
    draw = RowDraw(STRATA, seed)
    probabilities = []
    for part in np.split(np.arange(600), sorted(cuts)):
        probabilities.append(draw.add(GROUPS[part], CELLS[part]))
    return draw.result(), np.concatenate(probabilities)


@given(st.lists(st.integers(0, 600), max_size=5), st.integers(0, 3))
def test_rows_do_not_depend_on_the_parts_they_come_in(cuts, seed):
    drawn, probabilities = drawn_in_parts(cuts, seed)
    at_once, same = drawn_in_parts([], seed)
    assert drawn.rows.tolist() == at_once.rows.tolist()
    assert probabilities.tolist() == same.tolist()


@given(st.integers(0, 1000))
def test_each_stratum_gives_its_number_of_rows_and_no_row_twice(seed):
    drawn, probabilities = drawn_in_parts([], seed)
    assert len(set(drawn.rows.tolist())) == len(drawn) == 45
    assert drawn.groups.tolist() == GROUPS[drawn.rows].tolist()
    assert drawn.cells.tolist() == CELLS[drawn.rows].tolist()
    assert drawn.strata.tolist() == (drawn.cells >= 5).astype(int).tolist()
    counts = np.bincount(2 * drawn.groups + drawn.strata, minlength=4)
    assert counts.tolist() == [10, 30, 5, 0]
    assert drawn.probabilities.tolist() == probabilities[drawn.rows].tolist()
    assert probabilities.sum() == pytest.approx(45)


def test_every_row_is_drawn_as_often_as_its_probability_says():
    times = np.zeros(600)
    for seed in range(2000):
        drawn, probabilities = drawn_in_parts([], seed)
        times[drawn.rows] += 1
    deviation = np.sqrt(2000 * probabilities * (1 - probabilities))
    assert (np.abs(times - 2000 * probabilities) <= 4.5 * deviation).all()


def test_the_first_rows_are_a_sample_as_well():
    drawn, _ = drawn_in_parts([])
    first = slice(0, 18)
    counts = np.bincount(2 * drawn.groups[first] + drawn.strata[first], minlength=4)
    # 18 of 45 rows: two fifths of 10, 30 and 5.
    assert counts.tolist() == [4, 12, 2, 0]


def test_rows_that_came_back_at_random_pass_and_chosen_ones_do_not():
    random = np.random.default_rng(0)
    cells = np.arange(100)
    p_values = [returned_p_value(cells, random.random(100) < 0.7) for _ in range(200)]
    assert np.mean(np.array(p_values) < 0.05) < 0.1
    assert returned_p_value(cells, cells < 70) < 0.001
    # Ten missing rows, all of the highest scores.
    assert returned_p_value(cells, cells < 90) < 0.01


def test_there_is_nothing_to_test_if_all_or_none_or_few_came_back():
    cells = np.arange(100)
    assert returned_p_value(cells, np.ones(100, dtype=bool)) == 1
    assert returned_p_value(cells, np.zeros(100, dtype=bool)) == 1
    assert returned_p_value(np.arange(9), np.arange(9) < 4) == 1


# Strata of the score, and how labels are shared out to them and to groups.


sizes = st.lists(st.integers(1, 300), min_size=1, max_size=8).map(np.array)


def model_with(positives, negatives):
    """A group with these training scores."""
    return GroupModel(
        size=0,
        prevalence=positives.size / (positives.size + negatives.size),
        positives=positives,
        negatives=negatives,
        positive=1,
        scoring_models=[],
        quantifier=None,
        pool=None,
    )


def model_of(positives, negatives):
    """A group whose training scores have these counts in ten equal cells."""
    edges = round_scores(np.arange(1, 10) / 10)
    nothing = np.zeros(10, dtype=np.int64)
    return model_with(
        ScoreHistogram(edges, np.array(positives), nothing),
        ScoreHistogram(edges, np.array(negatives), nothing),
    )


RISING = [1, 2, 5, 150, 400, 600, 850, 995, 998, 999]
SHARP = model_of(RISING, RISING[::-1])
BLUNT = model_of([100] * 10, [100] * 10)
batches = st.lists(st.integers(0, 80), min_size=10, max_size=10).map(np.array)


@given(sizes, st.integers(0, 2000), st.sampled_from(["equal", "proportional"]))
def test_all_labels_are_shared_out_and_no_group_gets_more_than_its_rows(rows, n, how):
    shares = share_out(rows, n, how)
    assert shares.sum() == min(n, rows.sum())
    assert (shares >= 0).all()
    assert (shares <= rows).all()


@given(sizes, st.integers(0, 2000))
def test_equal_shares_differ_by_one_row_except_where_a_group_is_too_small(rows, n):
    shares = share_out(rows, n, "equal")
    # A group with fewer rows than the share of the greatest is labelled completely.
    incomplete = shares[shares < rows]
    if len(incomplete):
        assert incomplete.min() >= shares.max() - 1


@given(sizes, st.integers(1, 2000))
def test_proportional_shares_are_within_one_row_of_the_exact_ones(rows, n):
    n = min(n, int(rows.sum()))
    exact = n * rows / rows.sum()
    assert np.abs(share_out(rows, n, "proportional") - exact).max() <= 1 + 1e-6


@given(batches, st.integers(1, 400), st.sampled_from([SHARP, BLUNT]))
def test_strata_partition_the_rows_and_draw_at_least_two_of_each(batch, n, model):
    batch = batch + 1
    n = min(n, int(batch.sum()))
    strata = stratify(model, batch, n, 0.3, 0.4)
    of_cells = strata.of_cells(np.arange(10))
    counted = np.bincount(of_cells, weights=batch, minlength=len(strata.rows))
    assert strata.rows.tolist() == counted.tolist()
    assert strata.drawn.sum() == n
    assert (strata.drawn <= strata.rows).all()
    # The sum of all probabilities is the number of rows drawn.
    assert strata.probabilities[of_cells] @ batch == pytest.approx(n)
    if n < 50 or n == batch.sum():
        assert len(strata.rows) == 1
    else:
        assert (strata.drawn >= 2).all()
        assert len(strata.rows) <= 6


@given(batches, st.sampled_from([SHARP, BLUNT]), st.floats(0, 1), st.floats(0, 1))
def test_no_row_stands_for_more_than_twice_as_many_as_in_a_plain_draw(
    batch, model, estimate, mean_score
):
    # So many rows that whole numbers make no difference.
    batch = 10_000 * batch + 1000
    n = 3000
    strata = stratify(model, batch, n, estimate, mean_score)
    plain = n / batch.sum()
    # The bound of docs/method.md.
    assert plain / strata.probabilities.min() <= 1.01 * np.sqrt(1 + 0.65**2) / 0.65


def test_a_blunt_score_is_drawn_evenly_and_a_sharp_one_where_it_is_unsure():
    batch = np.full(10, 600)
    even = stratify(BLUNT, batch, 120, 0.5, 0.5)
    assert np.ptp(even.drawn / even.rows) < 0.004
    sharp = stratify(SHARP, batch, 120, 0.5, 0.5)
    # Shares of positives pass 1/2 in the middle of the cells.
    middle = sharp.probabilities[sharp.of_cells(np.array([5]))][0]
    assert middle > 1.3 * sharp.probabilities[0]
    # No part of the score is left out: it may be wrong there.
    assert sharp.probabilities.min() > 0.6 * sharp.drawn.sum() / sharp.rows.sum()


def test_labels_that_did_not_come_back_are_weighed_for_within_their_stratum():
    strata = Strata(np.arange(4), np.array([10, 20, 30, 40]), np.array([4, 4, 4, 4]))
    assert strata.probabilities_of(np.array([4, 4, 4, 4])).tolist() == [
        0.4,
        0.2,
        4 / 30,
        0.1,
    ]
    # Nothing came back of the second: it is merged with the third.
    merged = strata.probabilities_of(np.array([4, 0, 3, 4]))
    assert merged.tolist() == [0.4, 3 / 50, 3 / 50, 0.1]
    # At the end there is only the neighbour before.
    assert strata.probabilities_of(np.array([4, 4, 4, 0])).tolist() == [
        0.4,
        0.2,
        4 / 70,
        4 / 70,
    ]


@given(st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any))
def test_weights_of_what_came_back_add_up_to_the_rows(returned):
    returned = np.array(returned)
    strata = Strata(np.arange(4), np.array([10, 20, 30, 40]), np.full(4, 6))
    probabilities = strata.probabilities_of(returned)
    assert (returned / probabilities).sum() == pytest.approx(100)


# Estimates from rows that were drawn by strata, on data whose truth is known.

ONE = 2**32  # the unit of rounded scores


def scores_of(random, y, auc):
    distance = np.sqrt(2) * ndtri(auc)
    x = random.normal(size=len(y)) + distance * y
    return round_scores(expit(distance * x - distance**2 / 2))


def make_model(random, auc):
    y = np.arange(2000) % 2 == 1
    scores = scores_of(random, y, auc)
    edges = edges_for(scores[y], scores[~y])
    return model_with(
        ScoreHistogram.of(scores[y], edges), ScoreHistogram.of(scores[~y], edges)
    )


def sample_of(batch, y, cells, rows, probabilities):
    weight, place = np.unique(1 / probabilities, return_inverse=True)
    strata = np.zeros((len(weight), 2, len(batch)))
    np.add.at(strata, (place, y[rows].astype(int), cells[rows]), 1)
    return LabelledSample(batch, strata, weight)


def draw_batch(random, model, prevalence, auc, by_strata, m=100, n_rows=3000):
    """Draw a batch and labels; return its true prevalence and the estimate."""
    y = random.random(n_rows) < prevalence
    scores = scores_of(random, y, auc)
    cells = np.searchsorted(model.edges, scores)
    batch = np.bincount(cells, minlength=len(model.edges) + 1)
    if by_strata:
        strata = stratify(model, batch, m, prevalence, scores.mean() / ONE)
        draw = RowDraw([strata], random)
        draw.add(np.zeros(n_rows, dtype=int), cells)
        drawn = draw.result()
        sample = sample_of(batch, y, cells, drawn.rows, drawn.probabilities)
    else:
        rows = random.choice(n_rows, m, replace=False)
        sample = sample_of(batch, y, cells, rows, np.full(m, m / n_rows))
    log_odds = model.log_odds
    if by_strata is None:
        log_odds = np.zeros(len(batch))
    return y.mean(), LabelFactor.of(log_odds, sample).alone(0.95), batch


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.1, 0.5])
def test_intervals_hold_and_strata_save_a_third_of_the_labels(prevalence):
    random = np.random.default_rng(1)
    model = make_model(random, 0.88)
    covered = 0
    errors = []
    widths = {True: 0.0, None: 0.0}
    repetitions = 250
    for _ in range(repetitions):
        for by_strata in widths:
            truth, found, _ = draw_batch(random, model, prevalence, 0.88, by_strata)
            widths[by_strata] += found.width
            if by_strata:
                covered += found.low <= truth <= found.high
                errors.append(found.value - truth)
    assert 0.92 <= covered / repetitions <= 0.99
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(repetitions)
    # Widths fall with the root of the number of labels.
    assert (widths[True] / widths[None]) ** 2 < 0.7


@pytest.mark.slow
def test_a_score_that_tells_nothing_any_more_costs_little():
    random = np.random.default_rng(2)
    model = make_model(random, 0.9)
    widths = {True: 0.0, False: 0.0}
    for _ in range(60):
        for by_strata in widths:
            _, found, _ = draw_batch(random, model, 0.3, 0.5, by_strata)
            widths[by_strata] += found.width
    assert (widths[True] / widths[False]) ** 2 < 1.1
