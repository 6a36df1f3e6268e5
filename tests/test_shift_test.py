"""The test of the assumption on scores whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._shift_test import _nested_cuts, fit_mixture, count_agreements
from cape.histogram import ScoreHistogram, edges_for, round_scores


def draw(random, positive, n):
    return round_scores(random.beta(4, 2, n) if positive else random.beta(2, 4, n))


def classes(random, n_positives, n_negatives):
    s1, s0 = draw(random, True, n_positives), draw(random, False, n_negatives)
    edges = edges_for(s1, s0)
    return ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges)


def mixed(random, rho, n):
    k = random.binomial(n, rho)
    return np.concatenate([draw(random, True, k), draw(random, False, n - k)])


@pytest.mark.parametrize("training_rows", [100, 2000, 25_000])
def test_it_rejects_at_its_level_when_the_batch_is_a_mixture(training_rows):
    random = np.random.default_rng(training_rows)
    p_values = {rows: [] for rows in (50, 500, 5000)}
    for _ in range(100):
        positives, negatives = classes(random, training_rows, training_rows)
        for rows, found in p_values.items():
            for rho in (0.15, 0.5, 0.9):
                batch = ScoreHistogram.of(mixed(random, rho, rows), positives.edges)
                found.append(fit_mixture(positives, negatives, batch).p_value)
    for found in p_values.values():
        assert (
            0.013 < np.mean(np.array(found) < 0.05) < 0.087
        )  # three standard errors of 300 draws
        assert 0.43 < np.mean(found) < 0.57
    assert 0.03 < np.mean(np.concatenate(list(p_values.values())) < 0.05) < 0.07


def test_it_sees_scores_that_no_mixture_has():
    random = np.random.default_rng(0)
    p_values, effects = [], []
    for _ in range(50):
        positives, negatives = classes(random, 1000, 1000)
        moved = np.clip(mixed(random, 0.5, 500) + int(0.12 * 2**32), 0, 2**32)
        found = fit_mixture(
            positives, negatives, ScoreHistogram.of(moved, positives.edges)
        )
        p_values.append(found.p_value)
        effects.append(found.effect)
    assert np.mean(np.array(p_values) < 0.05) > 0.8
    assert np.mean(effects) > 0.05


def test_the_effect_is_the_share_that_no_mixture_explains():
    random = np.random.default_rng(1)
    positives, negatives = classes(random, 50_000, 50_000)
    strange = np.full(
        3000, round_scores([0.5])[0]
    )  # a fifth of the batch sits on one point
    batch = ScoreHistogram.of(
        np.concatenate([mixed(random, 0.4, 12_000), strange]), positives.edges
    )
    found = fit_mixture(positives, negatives, batch)
    assert found.p_value < 1e-10
    assert 0.13 < found.effect < 0.2
    clean = fit_mixture(
        positives,
        negatives,
        ScoreHistogram.of(mixed(random, 0.4, 15_000), positives.edges),
    )
    assert clean.effect < 0.01
    assert abs(clean.prevalence - 0.4) < 0.03


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
    few = fit_mixture(
        positives, negatives, ScoreHistogram.of(mixed(random, 0.5, 20), positives.edges)
    )
    assert (few.df, few.p_value, few.effect) == (0, 1.0, 0.0)
    half = np.full(200, 2**31)
    constant = ScoreHistogram.of(half, edges_for(half, half))
    assert fit_mixture(constant, constant, constant).df == 0


@pytest.mark.parametrize("agreement", [0.0, 0.05, 1.0])
def test_rows_with_several_scores_keep_the_level(agreement):
    """Scores of K models: a common part and a part of each model's own, more or less of it."""
    random = np.random.default_rng(4)
    n_models, rejected, unaware = 8, [], []

    def scores(positive, n):
        rows = random.normal(1.0 if positive else -1.0, 1, n)
        spread = 1e-9 if agreement == 1 else 1.0 - agreement
        return round_scores(
            1 / (1 + np.exp(-rows - spread * random.normal(0, 1, (n_models, n))))
        )

    for _ in range(150):
        s1, s0 = scores(True, 400)[0], scores(False, 400)[0]
        edges = edges_for(s1, s0)
        positives, negatives = (
            ScoreHistogram.of(s1, edges),
            ScoreHistogram.of(s0, edges),
        )
        k = random.binomial(200, 0.3)
        s = np.concatenate([scores(True, k), scores(False, 200 - k)], axis=1)
        batch = ScoreHistogram.of(s, edges, unit=n_models)
        together = count_agreements(s, positives, negatives)
        rejected.append(
            fit_mixture(positives, negatives, batch, together).p_value < 0.05
        )
        unaware.append(fit_mixture(positives, negatives, batch).p_value < 0.05)
    assert 0.015 < np.mean(rejected) < 0.085
    if agreement < 1:
        assert (
            np.mean(unaware) < 0.02
        )  # without knowing how far the models agree it would hardly ever reject


@given(st.integers(1, 5), st.integers(0, 30), st.integers(0, 30), st.integers(0, 2**32))
def test_count_agreements_add_up_over_rows(n_models, n, m, seed):
    random = np.random.default_rng(seed)
    positives, negatives = classes(random, 40, 40)
    s = random.integers(0, 2**32, (n_models, n + m))
    whole = count_agreements(s, positives, negatives)
    assert (
        whole
        == count_agreements(s[:, :n], positives, negatives)
        + count_agreements(s[:, n:], positives, negatives)
    ).all()
    assert (n_models * (n + m) <= whole).all() and (
        whole <= n_models**2 * (n + m)
    ).all()
    for together, cuts in zip(whole, _nested_cuts(positives, negatives), strict=True):
        cells = np.searchsorted(cuts, s, side="left")
        assert together == (cells[:, None] == cells[None]).sum()
    assert (np.diff(whole) <= 0).all()  # finer cells hold fewer together
    assert (
        count_agreements(np.repeat(s[:1], n_models, axis=0), positives, negatives)
        == n_models**2 * (n + m)
    ).all()
