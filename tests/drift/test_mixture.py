"""The shift test on scores whose truth is known, and over several groups."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._drift._mixture import (
    _design_effect,
    _fineness,
    _nested_cuts,
    count_agreements,
    fit_mixture,
    holm,
)
from cape._histogram import ONE, ScoreHistogram, edges_for, round_scores


def draw(random, positive, n):
    shape = (4, 2) if positive else (2, 4)
    return round_scores(random.beta(*shape, n))


def classes(random, n_positives, n_negatives):
    positives = draw(random, True, n_positives)
    negatives = draw(random, False, n_negatives)
    edges = edges_for(positives, negatives)
    return ScoreHistogram.of(positives, edges), ScoreHistogram.of(negatives, edges)


def mixed(random, rho, n):
    k = random.binomial(n, rho)
    return np.concatenate([draw(random, True, k), draw(random, False, n - k)])


@pytest.mark.parametrize("training_rows", [100, 2000, 25_000])
@pytest.mark.slow
def test_it_rejects_at_its_level_when_the_batch_is_a_mixture(training_rows):
    random = np.random.default_rng(training_rows)
    p_values = {rows: [] for rows in (50, 500, 5000)}
    for _ in range(100):
        positives, negatives = classes(random, training_rows, training_rows)
        for rows, values in p_values.items():
            for rho in (0.15, 0.5, 0.9):
                batch = ScoreHistogram.of(mixed(random, rho, rows), positives.edges)
                values.append(fit_mixture(positives, negatives, batch).p_value)
    for values in p_values.values():
        # Three standard errors of 300 draws.
        assert 0.013 < np.mean(np.array(values) < 0.05) < 0.087
        assert 0.43 < np.mean(values) < 0.57
    all_values = np.concatenate(list(p_values.values()))
    assert 0.03 < np.mean(all_values < 0.05) < 0.07


def test_it_sees_scores_that_no_mixture_has():
    random = np.random.default_rng(0)
    p_values = []
    effects = []
    for _ in range(50):
        positives, negatives = classes(random, 1000, 1000)
        moved = mixed(random, 0.5, 500) + int(0.12 * ONE)
        batch = ScoreHistogram.of(np.minimum(moved, ONE), positives.edges)
        fit = fit_mixture(positives, negatives, batch)
        p_values.append(fit.p_value)
        effects.append(fit.effect)
    assert np.mean(np.array(p_values) < 0.05) > 0.8
    assert np.mean(effects) > 0.05


def test_the_effect_is_the_share_that_no_mixture_explains():
    random = np.random.default_rng(1)
    positives, negatives = classes(random, 50_000, 50_000)
    # A fifth of the batch sits on one point.
    strange = np.full(3000, ONE // 2)
    scores = np.concatenate([mixed(random, 0.4, 12_000), strange])
    fit = fit_mixture(positives, negatives, ScoreHistogram.of(scores, positives.edges))
    assert fit.p_value < 1e-10
    assert 0.13 < fit.effect < 0.2
    clean = ScoreHistogram.of(mixed(random, 0.4, 15_000), positives.edges)
    clean_fit = fit_mixture(positives, negatives, clean)
    assert clean_fit.effect < 0.01
    assert abs(clean_fit.prevalence - 0.4) < 0.03


@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_pure_batches_are_mixtures_too(rho):
    random = np.random.default_rng(2)
    rejected = []
    for _ in range(200):
        positives, negatives = classes(random, 500, 500)
        batch = ScoreHistogram.of(mixed(random, rho, 300), positives.edges)
        rejected.append(fit_mixture(positives, negatives, batch).p_value < 0.05)
    assert 0.01 < np.mean(rejected) < 0.09


def test_few_rows_or_few_scores_are_not_tested():
    random = np.random.default_rng(3)
    positives, negatives = classes(random, 500, 500)
    batch = ScoreHistogram.of(mixed(random, 0.5, 20), positives.edges)
    few = fit_mixture(positives, negatives, batch)
    assert (few.df, few.p_value, few.effect) == (0, 1.0, 0.0)
    half = np.full(200, ONE // 2)
    constant = ScoreHistogram.of(half, edges_for(half, half))
    assert fit_mixture(constant, constant, constant).df == 0


@pytest.mark.parametrize("agreement", [0.0, 0.05, 1.0])
def test_rows_with_several_scores_keep_the_level(agreement):
    """Scores of K models share one part and differ in another, more or less."""
    random = np.random.default_rng(4)
    n_models = 8
    spread = 1.0 - agreement if agreement < 1 else 1e-9

    def scores(positive, n):
        rows = random.normal(1.0 if positive else -1.0, 1, n)
        log_odds = rows + spread * random.normal(0, 1, (n_models, n))
        return round_scores(1 / (1 + np.exp(-log_odds)))

    rejected = []
    rejected_unaware = []
    for _ in range(150):
        s1 = scores(True, 400)[0]
        s0 = scores(False, 400)[0]
        edges = edges_for(s1, s0)
        positives = ScoreHistogram.of(s1, edges)
        negatives = ScoreHistogram.of(s0, edges)
        k = random.binomial(200, 0.3)
        s = np.concatenate([scores(True, k), scores(False, 200 - k)], axis=1)
        batch = ScoreHistogram.of(s, edges, unit=n_models)
        agreements = count_agreements(s, positives, negatives)
        fit = fit_mixture(positives, negatives, batch, agreements)
        rejected.append(fit.p_value < 0.05)
        unaware = fit_mixture(positives, negatives, batch)
        rejected_unaware.append(unaware.p_value < 0.05)
    assert 0.015 < np.mean(rejected) < 0.085
    if agreement < 1:
        # Without knowing how far the models agree it would hardly ever reject.
        assert np.mean(rejected_unaware) < 0.02


@given(st.integers(1, 5), st.integers(0, 30), st.integers(0, 30), st.integers(0, 2**32))
def test_agreements_add_up_over_rows(n_models, n, m, seed):
    random = np.random.default_rng(seed)
    positives, negatives = classes(random, 40, 40)
    s = random.integers(0, ONE, (n_models, n + m))
    whole = count_agreements(s, positives, negatives)
    first = count_agreements(s[:, :n], positives, negatives)
    second = count_agreements(s[:, n:], positives, negatives)
    np.testing.assert_array_equal(first + second, whole)
    assert whole.dtype == np.int64
    assert (n_models * (n + m) <= whole).all()
    assert (whole <= n_models**2 * (n + m)).all()
    # Scores agree less often in finer cells.
    assert (np.diff(whole) <= 0).all()


@given(st.integers(1, 5), st.integers(0, 30), st.integers(0, 2**32))
def test_agreements_are_the_ordered_pairs_in_one_cell(n_models, n, seed):
    random = np.random.default_rng(seed)
    positives, negatives = classes(random, 40, 40)
    s = random.integers(0, ONE, (n_models, n))
    counted = count_agreements(s, positives, negatives)
    nested = _nested_cuts(positives, negatives)
    for agreements, cuts in zip(counted, nested, strict=True):
        cells = np.searchsorted(cuts, s, side="left")
        assert agreements == (cells[:, None] == cells[None]).sum()
    equal = np.repeat(s[:1], n_models, axis=0)
    all_agree = count_agreements(equal, positives, negatives)
    assert (all_agree == n_models**2 * n).all()


@given(st.integers(20, 400), st.integers(20, 400), st.integers(0, 2**32))
def test_cuts_are_nested_edges_at_quantiles(n_positives, n_negatives, seed):
    positives, negatives = classes(
        np.random.default_rng(seed), n_positives, n_negatives
    )
    nested = _nested_cuts(positives, negatives)
    for cuts, cells in zip(nested, (4, 8, 16), strict=True):
        assert len(cuts) < cells
    for coarse, fine in itertools.pairwise(nested):
        assert set(coarse.tolist()) <= set(fine.tolist())
    assert set(nested[-1].tolist()) <= set(positives.edges.tolist())
    # Both classes weigh the same, whatever their sizes.
    for cuts in nested:
        shares = (
            positives.merged(cuts) / n_positives + negatives.merged(cuts) / n_negatives
        )
        assert shares.max() / 2 < 1 / (len(cuts) + 1) + 0.12


@pytest.mark.parametrize(
    ("rows", "fineness"),
    [(0, None), (31, None), (32, 0), (63, 0), (64, 1), (127, 1), (128, 2), (1e6, 2)],
)
def test_finer_cells_need_eight_rows_each(rows, fineness):
    assert _fineness(rows) == fineness


@pytest.mark.parametrize("n_models", [2, 4])
def test_the_design_effect_is_the_ratio_of_the_variances(n_models):
    """Shares of batches of rows with several scores, against rows with one."""
    random = np.random.default_rng(n_models)
    cuts = round_scores([0.25, 0.5, 0.75])
    by_several = []
    by_one = []
    effects = []
    for _ in range(400):
        rows = random.normal(size=200)
        log_odds = rows + 0.7 * random.normal(size=(n_models, 200))
        s = round_scores(1 / (1 + np.exp(-log_odds)))
        several = ScoreHistogram.of(s, cuts, unit=n_models)
        by_several.append(several.shares)
        by_one.append(ScoreHistogram.of(s[0], cuts).shares)
        cells = np.searchsorted(cuts, s, side="left")
        agreements = (cells[:, None] == cells[None]).sum()
        effects.append(_design_effect(several.shares, agreements, several))
    ratio = np.var(by_several, axis=0).sum() / np.var(by_one, axis=0).sum()
    assert np.mean(effects) == pytest.approx(ratio, rel=0.15)
    assert 1 / n_models < np.mean(effects) < 1


def test_the_design_effect_of_scores_in_one_cell_is_one():
    batch = ScoreHistogram.of(np.full((2, 40), ONE), np.array([ONE // 2]), unit=2)
    assert _design_effect(batch.shares, 160, batch) == 1.0


def test_agreements_of_a_group_are_used():
    random = np.random.default_rng(6)
    training = classes(random, 500, 500)
    s = np.stack([mixed(random, 0.4, 300), mixed(random, 0.4, 300)])
    histogram = ScoreHistogram.of(s, training[0].edges, unit=2)
    aware = fit_mixture(*training, histogram, count_agreements(s, *training))
    assert aware.statistic > fit_mixture(*training, histogram).statistic


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_follows_its_definition(p_values):
    """The k-th smallest of m is multiplied by m - k + 1, and never less than before."""
    adjusted = holm(p_values)
    m = len(p_values)
    running = 0.0
    for k, place in enumerate(np.argsort(p_values, kind="stable")):
        running = max(running, (m - k) * p_values[place])
        assert adjusted[place] == pytest.approx(min(running, 1.0))


def test_holm_rejects_anything_true_at_most_as_often_as_it_says():
    """Five true hypotheses, 2,000 times: .05 and three standard errors."""
    random = np.random.default_rng(7)
    false_rejections = []
    for _ in range(2000):
        false_rejections.append(min(holm(random.random(5))) < 0.05)
    assert np.mean(false_rejections) < 0.065
