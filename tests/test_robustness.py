"""Whatever the scores are: no crash, no NaN, no warning from numpy (warnings are errors here)."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape._shift_test import fit_mixture, pairs_together
from cape.adaptation import AdaptationWarning
from cape.diagnostics import (
    expected_performance,
    prevalence_moved,
    prior_shift_test,
    rows_needed,
)
from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.metrics import audit
from cape.quantify import QUANTIFIERS, make_quantifier

some_scores = st.one_of(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40),
    st.floats(0, 1).flatmap(lambda s: st.lists(st.just(s), min_size=1, max_size=60)),
    st.lists(st.floats(0, 1), min_size=1, max_size=80),
    st.lists(st.floats(0, 1e-9), min_size=1, max_size=30),
    st.lists(st.floats(1 - 1e-9, 1), min_size=1, max_size=30),
)
factors = st.sampled_from([1, 1, 1, 3, 1000, 10**7])


def histogram(scores, edges, factor=1):
    """Every score so many times."""
    once = ScoreHistogram.of(scores, edges)
    return ScoreHistogram(edges, once.counts * factor, once.sums * factor)


def quietly_fitted(name, positives, negatives):
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="the scores cannot tell the classes apart"
        )
        return make_quantifier(name).fit(positives, negatives)


@pytest.mark.parametrize("name", sorted(QUANTIFIERS))
@settings(max_examples=40)
@given(
    s1=some_scores,
    s0=some_scores,
    s=some_scores,
    factor=factors,
    batch_factor=factors,
    level=st.floats(0.01, 0.999),
)
def test_estimates_and_intervals_are_always_shares(
    name, s1, s0, s, factor, batch_factor, level
):
    s1, s0, s = map(round_scores, (s1, s0, s))
    edges = edges_for(s1, s0)
    positives, negatives = histogram(s1, edges, factor), histogram(s0, edges, factor)
    batch = histogram(s, edges, batch_factor)
    with np.errstate(all="raise", under="ignore"):
        quantifier = quietly_fitted(name, positives, negatives)
        estimate = quantifier.estimate(batch)
        low, high = quantifier.interval(batch, level)
        fit = fit_mixture(positives, negatives, batch)
    assert 0 <= low <= estimate <= high <= 1
    assert 0 <= fit.p_value <= 1 and 0 <= fit.effect <= 1 and fit.statistic >= 0
    assert fit.df == 0 or 0 <= fit.prevalence <= 1


@pytest.mark.parametrize("name", sorted(set(QUANTIFIERS) - {"cc", "pcc", "hdy"}))
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.5, 1.0])
def test_separated_classes_and_ten_million_rows(name, share):
    """Scores of 0 for all negatives and 1 for all positives: the prevalence is the share of ones."""
    ones, zeros = round_scores(np.ones(50)), round_scores(np.zeros(50))
    edges = edges_for(ones, zeros)
    quantifier = quietly_fitted(name, histogram(ones, edges), histogram(zeros, edges))
    n = 10**7
    k = round(share * n)
    counts = (
        histogram(ones[:1], edges, k).counts + histogram(zeros[:1], edges, n - k).counts
    )
    batch = ScoreHistogram(edges, counts, histogram(ones[:1], edges, k).sums)
    with np.errstate(all="raise", under="ignore"):
        low, high = quantifier.interval(batch)
    assert quantifier.estimate(batch) == pytest.approx(share, abs=0.02)
    assert low <= share <= high and high - low < 0.2


def test_intervals_shrink_to_a_point_of_training_noise_as_rows_grow():
    random = np.random.default_rng(0)
    s1, s0 = round_scores(random.beta(4, 2, 500)), round_scores(random.beta(2, 4, 500))
    edges = edges_for(s1, s0)
    positives, negatives = ScoreHistogram.of(s1, edges), ScoreHistogram.of(s0, edges)
    for name in QUANTIFIERS:
        quantifier = make_quantifier(name).fit(positives, negatives)
        batch = np.concatenate([s1[:30], s0[:70]])
        widths = [
            np.ptp(quantifier.interval(histogram(batch, edges, factor)))
            for factor in (1, 10, 1000, 10**5)
        ]
        assert (np.diff(widths) <= 1e-3).all() and widths[-1] > 0.01, name


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_any_audit_is_whole(rows):
    y, y_hat, z = (list(column) for column in zip(*rows, strict=True))
    with np.errstate(all="raise", under="ignore"):
        found = audit(y, y_hat, sensitive_features=z, n_resamples=50, pos_label=True)
    for finding in found.findings:
        assert 0 <= finding.low <= finding.high <= 1 and (
            np.isnan(finding.value) or 0 <= finding.value <= 1
        )
    for finding in found.between:
        assert finding.low <= finding.high
    assert repr(found)


def test_an_audit_of_a_thousand_groups():
    random = np.random.default_rng(0)
    y, y_hat, z = (
        random.integers(0, 2, 5000),
        random.integers(0, 2, 5000),
        np.arange(5000) % 1000,
    )
    found = audit(y, y_hat, sensitive_features=z, n_resamples=100)
    assert len(found.table()) == 6000 and not found.table()["enough"].any()
    assert len(found.pairs()) == 0
    few = audit(y, y_hat, sensitive_features=z % 40, n_resamples=20, pairs=True)
    assert len(few.pairs()) == 40 * 39 * 5


@pytest.fixture(scope="module")
def pooled(train):
    clf = CapeClassifier(
        LogisticRegression(),
        pool="threshold",
        unknown_groups="pooled",
        cv=2,
        random_state=0,
    )
    return clf.fit(train.X, train.y, sensitive_features=train.z)


def test_a_thousand_groups_of_one_row(pooled):
    random = np.random.default_rng(0)
    X, z = random.normal([10, 30], 10, (1000, 2)), np.arange(1000) + 10
    evidence = pooled.evidence(X, sensitive_features=z)
    with pytest.warns(AdaptationWarning, match="and 9[0-9][0-9] more"):
        adaptation = pooled.adapt(evidence=evidence)
    assert len(adaptation.groups) == 1000
    assert not prior_shift_test(pooled, evidence=evidence).rejected
    table = prevalence_moved(pooled, evidence=evidence).table()
    assert table["p_value"].between(0, 1).all() and not table["moved"].any()
    some = {group: evidence.groups[group] for group in list(evidence.groups)[:5]}
    expected = expected_performance(
        pooled, type(evidence)(evidence.fingerprint, some), adaptation, n_draws=50
    )
    assert expected.table()["accuracy"].between(0, 1).all()


@pytest.mark.parametrize("quantifier", ["spa", "histogram"])
@pytest.mark.parametrize("kind", ["constant", "separated", "duplicated", "rare"])
def test_difficult_training_data(kind, quantifier):
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = random.normal(0, 1, (200, 2)) + y[:, None]
    if kind == "constant":
        X[:] = 1
    if kind == "separated":
        X += 1000 * y[:, None]
    if kind == "duplicated":
        X = np.repeat(X[:4], 50, axis=0)
        y = np.repeat(y[:4], 50)
    if kind == "rare":
        y = (np.arange(200) < 4).astype(int)
    clf = CapeClassifier(
        LogisticRegression(),
        pool="threshold",
        quantifier=quantifier,
        cv=2,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*cannot tell the classes apart")
        warnings.simplefilter("ignore", AdaptationWarning)
        with np.errstate(all="raise", under="ignore"):
            clf.fit(X, y)
            evidence = clf.evidence(X)
            adaptation = clf.adapt(evidence=evidence)
            tested = prior_shift_test(clf, evidence=evidence)
            expected = expected_performance(clf, evidence, adaptation)
            needed = rows_needed(clf, 0.2)
    found = adaptation.groups["everyone"]
    assert (
        0 <= found.low <= found.estimate <= found.high <= 1 and 0 <= found.pd_bound <= 1
    )
    assert tested.table()["p_value"].between(0, 1).all()
    assert (
        not expected.table()[["fpr_low", "fpr_high", "fnr_low", "fnr_high"]]
        .isna()
        .any(axis=None)
    )
    assert (needed["rows"] > 0).all()
    if kind == "constant":
        assert (found.low, found.high) == (0, 1)


@given(st.integers(2, 6), some_scores)
def test_several_scores_a_row(n_models, scores):
    s = round_scores(scores)
    edges = edges_for(s, s[::-1])
    both = ScoreHistogram.of(s, edges)
    stacked = np.stack([np.roll(s, k) for k in range(n_models)])
    batch = ScoreHistogram.of(stacked, edges, unit=n_models)
    with np.errstate(all="raise", under="ignore"):
        fit = fit_mixture(both, both, batch, pairs_together(stacked, both, both))
    assert 0 <= fit.p_value <= 1 and np.isfinite(fit.effect)
