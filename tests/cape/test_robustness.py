"""Whatever the scores are: no crash, no NaN, no warning from numpy.

Warnings are errors in all tests.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, Evidence, examine
from cape.drift._mixture import fit_mixture
from cape.evidence._histogram import count_agreements
from cape.examination import rows_needed
from cape.metrics import audit
from cape.quantify import (
    QUANTIFIERS,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)

# Scores of 0 and 1 only, of few values, of one value, of any, and next to 0 or to 1.
score_lists = st.one_of(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40),
    st.floats(0, 1).flatmap(lambda s: st.lists(st.just(s), min_size=1, max_size=60)),
    st.lists(st.floats(0, 1), min_size=1, max_size=80),
    st.lists(st.floats(0, 1e-9), min_size=1, max_size=30),
    st.lists(st.floats(1 - 1e-9, 1), min_size=1, max_size=30),
)
repetitions = st.sampled_from([1, 1, 1, 3, 1000, 10**7])


def no_errors_of_numpy():
    """Make overflows, divisions by zero and invalid values errors."""
    return np.errstate(all="raise", under="ignore")


def histogram(scores, edges, repeated=1):
    """The histogram of scores that each occur so many times."""
    once = ScoreHistogram.of(scores, edges)
    return ScoreHistogram(edges, once.counts * repeated, once.sums * repeated)


def fitted_quantifier(name, positives, negatives):
    """Fit a quantifier, without the warning about scores that tell nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*cannot tell the classes apart")
        return make_quantifier(name).fit(positives, negatives)


@pytest.mark.parametrize("name", sorted(QUANTIFIERS))
@settings(max_examples=40)
@given(
    positive_scores=score_lists,
    negative_scores=score_lists,
    batch_scores=score_lists,
    repeated=repetitions,
    batch_repeated=repetitions,
    level=st.floats(0.01, 0.999),
)
def test_estimates_and_intervals_are_always_shares(
    name,
    positive_scores,
    negative_scores,
    batch_scores,
    repeated,
    batch_repeated,
    level,
):
    positive_scores = round_scores(positive_scores)
    negative_scores = round_scores(negative_scores)
    edges = edges_for(positive_scores, negative_scores)
    positives = histogram(positive_scores, edges, repeated)
    negatives = histogram(negative_scores, edges, repeated)
    batch = histogram(round_scores(batch_scores), edges, batch_repeated)
    with no_errors_of_numpy():
        quantifier = fitted_quantifier(name, positives, negatives)
        estimate = quantifier.estimate(batch)
        low, high = quantifier.interval(batch, level)
    assert 0 <= low <= estimate <= high <= 1


@settings(max_examples=150)
@given(
    positive_scores=score_lists,
    negative_scores=score_lists,
    batch_scores=score_lists,
    repeated=repetitions,
    batch_repeated=repetitions,
)
def test_the_test_of_prior_shift_is_always_a_test(
    positive_scores, negative_scores, batch_scores, repeated, batch_repeated
):
    positive_scores = round_scores(positive_scores)
    negative_scores = round_scores(negative_scores)
    edges = edges_for(positive_scores, negative_scores)
    positives = histogram(positive_scores, edges, repeated)
    negatives = histogram(negative_scores, edges, repeated)
    batch = histogram(round_scores(batch_scores), edges, batch_repeated)
    with no_errors_of_numpy():
        fit = fit_mixture(positives, negatives, batch)
    assert 0 <= fit.p_value <= 1
    assert 0 <= fit.effect <= 1
    assert fit.statistic >= 0
    # Without degrees of freedom nothing was tested, and there is no prevalence.
    assert fit.df == 0 or 0 <= fit.prevalence <= 1


@given(st.integers(2, 6), score_lists)
def test_several_scores_a_row_can_be_tested(n_models, scores):
    scores = round_scores(scores)
    edges = edges_for(scores, scores[::-1])
    training = ScoreHistogram.of(scores, edges)
    stacked = np.stack([np.roll(scores, shift) for shift in range(n_models)])
    batch = ScoreHistogram.of(stacked, edges, unit=n_models)
    with no_errors_of_numpy():
        agreements = count_agreements(stacked, training, training)
        fit = fit_mixture(training, training, batch, agreements)
    # Each score of a row agrees with itself, and at most with all others.
    assert (agreements >= n_models * len(scores)).all()
    assert (agreements <= n_models**2 * len(scores)).all()
    assert 0 <= fit.p_value <= 1
    assert np.isfinite(fit.effect)


@pytest.mark.parametrize("name", sorted(set(QUANTIFIERS) - {"cc", "pcc", "hdy"}))
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.5, 1.0])
def test_separated_classes_and_ten_million_rows(name, share):
    """Negatives score 0 and positives 1: the prevalence is the share of ones."""
    ones = round_scores(np.ones(50))
    zeros = round_scores(np.zeros(50))
    edges = edges_for(ones, zeros)
    positives = histogram(ones, edges)
    negatives = histogram(zeros, edges)
    quantifier = fitted_quantifier(name, positives, negatives)

    n_rows = 10**7
    n_positives = round(share * n_rows)
    batch_ones = histogram(ones[:1], edges, n_positives)
    batch_zeros = histogram(zeros[:1], edges, n_rows - n_positives)
    counts = batch_ones.counts + batch_zeros.counts
    batch = ScoreHistogram(edges, counts, batch_ones.sums)
    with no_errors_of_numpy():
        low, high = quantifier.interval(batch)
    assert quantifier.estimate(batch) == pytest.approx(share, abs=0.02)
    # Without noise the interval is one point, up to rounding.
    assert low - 1e-15 <= share <= high + 1e-15
    assert high - low < 0.2


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_the_audit_of_any_table_is_complete(rows):
    y_true, y_pred, groups = zip(*rows, strict=True)
    with no_errors_of_numpy():
        result = audit(
            list(y_true),
            list(y_pred),
            sensitive_features=list(groups),
            n_resamples=50,
            pos_label=True,
        )
    for finding in result.findings:
        value, low, high = finding.estimate
        assert 0 <= low <= high <= 1
        assert np.isnan(value) or 0 <= value <= 1
    for finding in result.between:
        assert finding.estimate.low <= finding.estimate.high
    assert repr(result)


@pytest.fixture
def five_thousand():
    """Labels and predictions by chance."""
    random = np.random.default_rng(0)
    return random.integers(0, 2, 5000), random.integers(0, 2, 5000)


def test_an_audit_of_a_thousand_groups(five_thousand):
    groups = np.arange(5000) % 1000
    result = audit(*five_thousand, sensitive_features=groups, n_resamples=100)
    table = result.table()
    assert len(table) == 7000
    assert not table["enough"].any()
    assert len(result.pairs()) == 0


@pytest.fixture(scope="module")
def pooled(train):
    """A model that takes unknown groups as the pool of all."""
    clf = CapeClassifier(
        LogisticRegression(),
        pool="threshold",
        unknown_groups="pooled",
        cv=2,
        random_state=0,
    )
    return clf.fit(train.X, train.y, sensitive_features=train.z)


@pytest.fixture(scope="module")
def thousand_groups(pooled):
    """Evidence of a thousand unknown groups of one row each."""
    X = np.random.default_rng(0).normal([10, 30], 10, (1000, 2))
    return pooled.evidence(X, sensitive_features=np.arange(1000) + 10)


@pytest.mark.slow
def test_adapting_to_a_thousand_groups_of_one_row(pooled, thousand_groups):
    with pytest.warns(AdaptationWarning, match="9[0-9][0-9] more"):
        adaptation = pooled.adapt(evidence=thousand_groups)
    assert len(adaptation.groups) == 1000
    for adapted in adaptation.groups.values():
        value, low, high = adapted.estimate
        assert 0 <= low <= value <= high <= 1


@pytest.mark.slow
def test_testing_a_thousand_groups_of_one_row(pooled, thousand_groups):
    with pytest.warns(AdaptationWarning, match="too little evidence"):
        seen = examine(pooled, evidence=thousand_groups)
    assert not seen.prior_shift.rejected
    table = seen.moved.table()
    assert table["p_value"].between(0, 1).all()
    assert not table["moved"].any()


def test_the_expected_performance_of_groups_of_one_row(pooled, thousand_groups):
    groups = list(thousand_groups.groups)[:5]
    few = {group: thousand_groups.groups[group] for group in groups}
    evidence = Evidence(thousand_groups.fingerprint, few)
    with pytest.warns(AdaptationWarning, match="too little evidence"):
        seen = examine(pooled, evidence=evidence, n_draws=50)
    assert seen.expected.table()["accuracy"].between(0, 1).all()


def difficult_data(kind):
    """Rows and labels with which a learner has trouble."""
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(0, 1, (200, 2)) + y[:, None]
    if kind == "constant":
        X[:] = 1
    if kind == "separated":
        X += 1000 * y[:, None]
    if kind == "duplicated":
        X = np.repeat(X[:4], 50, axis=0)
        y = np.repeat(y[:4], 50)
    if kind == "rare":
        y = (np.arange(200) < 4).astype(int)
    return X, y


@pytest.mark.filterwarnings("ignore:.*cannot tell the classes apart")
@pytest.mark.filterwarnings("ignore:the scores do not tell the classes apart in")
@pytest.mark.filterwarnings("ignore:fewer than")
@pytest.mark.filterwarnings("ignore:.*rows occur more than once")
@pytest.mark.filterwarnings("ignore::cape.rules._adaptation.AdaptationWarning")
@pytest.mark.parametrize("quantifier", ["spa", "onestep"])
@pytest.mark.parametrize("kind", ["constant", "separated", "duplicated", "rare"])
def test_difficult_training_data(kind, quantifier):
    X, y = difficult_data(kind)
    clf = CapeClassifier(
        LogisticRegression(),
        pool="threshold",
        quantifier=quantifier,
        cv=2,
        random_state=0,
    )
    with no_errors_of_numpy():
        clf.fit(X, y)
        seen = examine(clf, X)
        tested, expected = seen.prior_shift, seen.expected
        needed = rows_needed(clf, 0.2)
    adapted = seen.adaptation.groups["everyone"]
    value, low, high = adapted.estimate
    assert 0 <= low <= value <= high <= 1
    assert 0 <= adapted.pd_bound <= 1
    assert tested.table()["p_value"].between(0, 1).all()
    rates = expected.table()[["fpr_low", "fpr_high", "fnr_low", "fnr_high"]]
    assert not rates.isna().any(axis=None)
    assert (needed["rows"] > 0).all()
    if kind == "constant":
        # Scores that are all alike say nothing about the prevalence.
        assert adapted.estimate.width > 0.5
        assert adapted.verdict == "uncertain"
