"""The shift test on scores whose truth is known, and over several groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from cape.drift._mixture import (
    _design_effect,
    fit_mixture,
    holm,
)
from cape.evidence._histogram import count_agreements, nested_cuts
from cape.quantify import ScoreHistogram, edges_for, round_scores

ONE = 2**32  # the unit of rounded scores


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


@given(st.integers(1, 5), st.integers(0, 30), st.integers(0, 2**32))
def test_agreements_are_the_ordered_pairs_in_one_cell(n_models, n, seed):
    random = np.random.default_rng(seed)
    positives, negatives = classes(random, 40, 40)
    s = random.integers(0, ONE, (n_models, n))
    counted = count_agreements(s, positives, negatives)
    nested = nested_cuts(positives, negatives)
    for agreements, cuts in zip(counted, nested, strict=True):
        cells = np.searchsorted(cuts, s, side="left")
        assert agreements == (cells[:, None] == cells[None]).sum()
    equal = np.repeat(s[:1], n_models, axis=0)
    all_agree = count_agreements(equal, positives, negatives)
    assert (all_agree == n_models**2 * n).all()


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


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_follows_its_definition(p_values):
    """The k-th smallest of m is multiplied by m - k + 1, and never less than before."""
    adjusted = holm(p_values)
    m = len(p_values)
    running = 0.0
    for k, place in enumerate(np.argsort(p_values, kind="stable")):
        running = max(running, (m - k) * p_values[place])
        assert adjusted[place] == pytest.approx(min(running, 1.0))


# The shift test: exact cases, scipy's chi-square, and what it must not depend on.


EDGES = round_scores([0.25, 0.5, 0.75])
MIDDLES = round_scores([0.1, 0.3, 0.6, 0.9])


def of(counts, unit=1):
    counts = np.asarray(counts, dtype=np.int64)
    return ScoreHistogram(EDGES, counts, counts * MIDDLES, unit)


def sure(counts):
    """Training with the same shares and no noise to speak of."""
    return of(np.asarray(counts) * 10**9)


cells = st.lists(st.integers(4, 60), min_size=4, max_size=4)


@given(cells, cells, cells)
def test_swapping_the_classes_turns_the_prevalence_round_and_nothing_else(
    positives, negatives, batch
):
    positives = of(np.array(positives) + 8)
    negatives = of(np.array(negatives) + 8)
    batch = of(np.array(batch) + 8)
    one = fit_mixture(positives, negatives, batch)
    other = fit_mixture(negatives, positives, batch)
    assert other.df == one.df
    if one.df:
        # Each stops within 1e-4 of its fixed point.
        assert one.prevalence + other.prevalence == pytest.approx(1, abs=1e-3)
        assert other.statistic == pytest.approx(one.statistic, rel=1e-2, abs=1e-2)


@given(st.lists(st.integers(0, 40), min_size=3, max_size=3).map(sorted), st.booleans())
def test_beyond_either_end_it_is_pearsons_chi_square_against_that_class(few, swap):
    """The batch is more extreme than one class: the share of the other is held at 0.

    There is no noise of training.
    """
    extreme = [1, 2, 3, 4]
    other = [4, 3, 2, 1]
    batch = np.array([*few, 400])
    if swap:
        fit = fit_mixture(sure(other), sure(extreme), of(batch))
    else:
        fit = fit_mixture(sure(extreme), sure(other), of(batch))
    theirs = chisquare(batch, batch.sum() * np.array(extreme) / 10)
    assert (fit.prevalence, fit.df) == (float(not swap), 3)
    assert fit.statistic == pytest.approx(theirs.statistic, rel=1e-5)
    assert fit.p_value == pytest.approx(theirs.pvalue, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("tenths", range(1, 10))
def test_an_exact_mixture_fits_without_rest(tenths):
    p, n = np.array([1, 2, 3, 4]), np.array([4, 3, 2, 1])
    fit = fit_mixture(sure(p), sure(n), of(10 * (tenths * p + (10 - tenths) * n)))
    assert fit.prevalence == pytest.approx(tenths / 10, abs=1e-6)
    assert (fit.statistic, fit.effect, fit.df) == (pytest.approx(0, abs=1e-6), 0, 2)
    assert fit.p_value == pytest.approx(1)


def test_the_least_square_is_found_over_all_prevalences():
    """A scan over rho of the weighted square, whose weights are those at rho itself.

    The fit holds the weights fixed within a step, so that its square may exceed the
    least square of the scan, but by little.
    """
    positives = np.array([30, 60, 90, 120])
    negatives = np.array([150, 60, 60, 30])
    batch = np.array([60, 20, 60, 60])
    fit = fit_mixture(of(positives), of(negatives), of(batch))
    p = (positives + 0.5) / (300 + 2)
    n = (negatives + 0.5) / (300 + 2)
    b = batch / 200

    def multinomial(shares):
        return np.diag(shares) - np.outer(shares, shares)

    def square(rho):
        covariance = (rho / 200 + rho**2 / 300) * multinomial(p)
        covariance += ((1 - rho) / 200 + (1 - rho) ** 2 / 300) * multinomial(n)
        residual = (b - rho * p - (1 - rho) * n)[:-1]
        return residual @ np.linalg.solve(covariance[:-1, :-1], residual)

    grid = np.linspace(0, 1, 2001)
    squares = np.array([square(rho) for rho in grid])
    assert fit.statistic == pytest.approx(square(fit.prevalence), rel=1e-3)
    assert squares.min() - 1e-9 <= fit.statistic <= 1.05 * squares.min()
    assert fit.prevalence == pytest.approx(grid[squares.argmin()], abs=0.05)


@given(cells, st.integers(2, 9))
def test_more_rows_of_the_same_shares_speak_louder_by_as_much(batch, factor):
    """Without training noise the square grows as the rows do; the prevalence stays."""
    p = sure([1, 2, 3, 4])
    n = sure([4, 3, 2, 1])
    counts = 8 * np.array(batch)
    few = fit_mixture(p, n, of(counts))
    many = fit_mixture(p, n, of(factor * counts))
    assert many.prevalence == pytest.approx(few.prevalence, abs=1e-3)
    assert many.statistic == pytest.approx(factor * few.statistic, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("n_models", [2, 5])
def test_models_that_always_agree_are_one_model(n_models):
    random = np.random.default_rng(n_models)
    p = of([40, 60, 80, 120])
    n = of([150, 60, 60, 30])
    scores = MIDDLES[random.integers(0, 4, 100)]
    again = np.repeat(scores[None], n_models, axis=0)
    one = fit_mixture(p, n, ScoreHistogram.of(scores, EDGES))
    several = ScoreHistogram.of(again, EDGES, unit=n_models)
    agreeing = fit_mixture(p, n, several, count_agreements(again, p, n))
    assert (agreeing.statistic, agreeing.p_value) == pytest.approx(
        (one.statistic, one.p_value), rel=1e-9
    )
    # The same counts, by models that disagree.
    rolled = np.stack([np.roll(scores, k) for k in range(n_models)])
    histogram = ScoreHistogram.of(rolled, EDGES, unit=n_models)
    apart = fit_mixture(p, n, histogram, count_agreements(rolled, p, n))
    assert apart.p_value < one.p_value


@pytest.mark.parametrize("rows", [0, 1, 31])
def test_too_few_rows_of_any_of_the_three_are_not_tested(rows):
    enough = of([20, 20, 20, 20])
    few = ScoreHistogram.of(np.resize(MIDDLES, rows), EDGES)
    cases = [(enough, enough, few)]
    if rows:
        cases += [(few, enough, enough), (enough, few, enough)]
    for case in cases:
        fit = fit_mixture(*case)
        assert (fit.df, fit.p_value, fit.effect, fit.statistic) == (0, 1.0, 0.0, 0.0)
        assert np.isnan(fit.prevalence)
    assert fit_mixture(enough, of([10, 20, 20, 30]), of([8, 8, 8, 8])).df > 0
