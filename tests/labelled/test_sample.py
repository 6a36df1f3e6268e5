"""Labelled rows in cells of their score, and how many rows each stands for."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._evidence import GroupEvidence, LabelledEvidence
from cape._histogram import ONE, ScoreHistogram
from cape._labelled import label_estimate, labelled_sample, predictions, score_cells
from cape._labelled._sample import row_weights

EDGES = np.array([1, 2, 3]) * (ONE // 4)


def histogram(in_cells, unit=1):
    in_cells = np.array(in_cells)
    middles = (2 * np.arange(len(in_cells)) + 1) * (ONE // (2 * len(in_cells)))
    return ScoreHistogram(EDGES, in_cells, in_cells * middles, unit)


def evidence(batch, labelled):
    """Make evidence of rows in four cells; (negatives, positives) by probability."""
    parts = {}
    for probability, (negatives, positives) in labelled.items():
        parts[round(probability * ONE)] = LabelledEvidence(
            GroupEvidence(histogram(positives)), GroupEvidence(histogram(negatives))
        )
    return GroupEvidence(histogram(batch), labelled=parts)


MODEL = SimpleNamespace(
    positives=histogram([5, 10, 30, 55]), negatives=histogram([80, 40, 20, 10])
)


def test_rows_drawn_plainly_stand_for_an_equal_share_of_the_batch():
    sample = labelled_sample(
        evidence([50, 30, 15, 5], {0: ([3, 1, 0, 0], [0, 0, 1, 0])})
    )
    assert sample.n_rows == 100
    assert sample.n_labelled == 5
    assert sample.unlabelled_share == 0.95
    assert sample.weight.tolist() == [20.0]
    assert sample.counts.tolist() == [[3, 1, 0, 0], [0, 0, 1, 0]]
    assert sample.positive_share == pytest.approx(0.2)
    assert sample.design_effect == 1
    assert sample.excess.sum() == pytest.approx(5 * (400 - 20))


def test_rows_with_a_probability_stand_for_its_inverse():
    drawn = evidence(
        [40, 40, 10, 10],
        {0.05: ([2, 1, 0, 0], [0, 1, 0, 0]), 0.25: ([0, 0, 1, 0], [0, 0, 2, 2])},
    )
    sample = labelled_sample(drawn)
    assert sample.weight == pytest.approx([20, 4])
    assert sample.is_stratified
    assert sample.positive_share == pytest.approx((20 + 16) / 100)
    assert sample.design_effect == pytest.approx(20 / (100 / 9))


def test_no_labels_are_no_sample():
    part = evidence([4, 0, 0, 0], {})
    assert labelled_sample(part) is None
    with pytest.raises(ValueError, match="evidence must have labelled rows, got none"):
        label_estimate(MODEL, part, 0.5)


@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.integers(1, 40),
    st.floats(0.05, 0.95),
)
def test_equal_probabilities_give_the_answer_of_plain_drawing(
    negatives, positives, unlabelled, label_free
):
    labelled = np.array(negatives) + positives
    if labelled.sum() < 2:
        labelled[0] += 2
        negatives[0] += 2
    batch = np.add(labelled, [unlabelled, 0, 1, 2])
    share = labelled.sum() / batch.sum()
    plain = evidence(batch, {0: (negatives, positives)})
    weighted = evidence(batch, {share: (negatives, positives)})
    one = label_estimate(MODEL, plain, label_free)
    other = label_estimate(MODEL, weighted, label_free)
    assert other.estimate == pytest.approx(one.estimate, abs=1e-6)
    assert other.variance == pytest.approx(one.variance, abs=1e-6)
    assert other.interval(0.95) == pytest.approx(one.interval(0.95), abs=1e-5)


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_labels_of_all_rows_are_exact_however_they_were_drawn(first, second):
    labelled = {first: ([3, 2, 1, 0], [0, 1, 1, 4])}
    if round(first * ONE) != round(second * ONE):
        labelled[second] = ([2, 0, 0, 0], [0, 0, 1, 0])
    total = np.sum(list(labelled.values()), axis=(0, 1))
    truth = sum(sum(positives) for _, positives in labelled.values()) / total.sum()
    labels = label_estimate(MODEL, evidence(total, labelled), 0.5)
    assert labels.estimate == pytest.approx(truth, abs=1e-12)
    assert labels.interval(0.95) == (labels.estimate, labels.estimate)


def test_known_labels_stand_for_those_that_are_missing():
    half_came_back = {0.5: ([6, 2, 1, 0], [1, 2, 2, 1])}
    sample = labelled_sample(evidence([30, 15, 9, 6], half_came_back))
    assert sample.weight == pytest.approx([60 / 15])
    # Whoever says that all rows were drawn, and labels a few, says nothing certain.
    certain = evidence([300, 150, 90, 60], {1: half_came_back[0.5]})
    assert row_weights(certain) == pytest.approx([600 / 15])
    low, high = label_estimate(MODEL, certain, 0.5).interval(0.95)
    assert high - low > 0.2


def test_weights_of_independent_draws_may_fall_short_by_chance():
    drawn = evidence([200, 100, 60, 40], {0.05: ([10, 3, 1, 0], [0, 1, 1, 1])})
    assert row_weights(drawn) == pytest.approx([20.0])


@pytest.mark.parametrize("unit", [1, 3])
def test_a_row_counts_once_in_the_cells_of_its_scores(unit):
    scores = histogram([3, 6, 3, 0], unit=unit)
    assert score_cells(GroupEvidence(scores)).tolist() == [
        3 / unit,
        6 / unit,
        3 / unit,
        0,
    ]
    tally = histogram([1, 2, 1, 0])
    assert score_cells(GroupEvidence(scores, tally)).tolist() == [1, 2, 1, 0]


@given(st.floats(0, 1), st.floats(0, 1))
def test_predictions_rise_with_the_score_and_with_the_prevalence(one, other):
    low = predictions(MODEL, min(one, other))
    high = predictions(MODEL, max(one, other))
    assert (np.diff(low) >= 0).all()
    assert (low <= high + 1e-12).all()
    assert 0 < low[0] <= high[-1] < 1


def test_predictions_are_those_of_training_at_its_prevalence():
    found = predictions(MODEL, 0.4)
    expected = np.array([5, 10, 30, 55]) / np.array([85, 50, 50, 65])
    np.testing.assert_allclose(found, expected, atol=0.01)
    flipped = SimpleNamespace(positives=MODEL.negatives, negatives=MODEL.positives)
    # A score that falls with the label has nothing to say: it cannot rise.
    assert np.ptp(predictions(flipped, 0.4)) == pytest.approx(0, abs=1e-9)


def test_cells_without_training_rows_follow_their_neighbours():
    model = SimpleNamespace(
        positives=histogram([5, 0, 30, 0]), negatives=histogram([80, 0, 20, 0])
    )
    found = predictions(model, 0.5)
    assert found[0] <= found[1] <= found[2] == pytest.approx(found[3])
