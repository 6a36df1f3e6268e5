"""The shift test: exact cases, scipy's chi-square, and what it must not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chisquare

from cape._drift._mixture import count_agreements, fit_mixture
from cape._histogram import ScoreHistogram, round_scores

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


@given(cells, cells, cells)
def test_the_p_value_is_scipys_chi_square(positives, negatives, batch):
    fit = fit_mixture(
        *(of(np.array(counts) + 8) for counts in (positives, negatives, batch))
    )
    expected = chi2.sf(fit.statistic, fit.df) if fit.df else 1
    assert fit.p_value == pytest.approx(expected, abs=1e-12)
    assert 0 <= fit.effect <= 1
    assert fit.effect == 0 or fit.statistic > fit.df


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


@given(st.integers(1, 30))
def test_more_of_what_no_mixture_has_is_a_greater_effect(step):
    p = np.array([10, 20, 30, 40])
    n = np.array([40, 30, 20, 10])
    mixed = 20 * (p + n)
    strange = np.array([0, 4000, 0, 0])

    def fit(share):
        batch = of((1 - share) * mixed + share * strange)
        return fit_mixture(sure(p), sure(n), batch)

    less = fit(step / 100)
    more = fit((step + 10) / 100)
    assert less.effect < more.effect <= (step + 10) / 100
    assert less.statistic < more.statistic


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
