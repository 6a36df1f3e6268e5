"""What all quantifiers promise, tested on all of them at once."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.quantify import (
    QUANTIFIERS,
    SPA,
    DyS,
    Quantifier,
    ScoreHistogram,
    edges_for,
    make_quantifier,
    round_scores,
)

ONE = 2**32  # the unit of rounded scores

UNCORRECTED = {"cc", "pcc"}
CORRECTED = sorted(set(QUANTIFIERS) - UNCORRECTED)
every_quantifier = pytest.mark.parametrize("name", QUANTIFIERS)
every_corrected_quantifier = pytest.mark.parametrize("name", CORRECTED)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def count(batch, edges):
    return ScoreHistogram.of(round_scores(batch), edges)


def fit(name, positives, negatives):
    """Return a fitted quantifier, and a function that counts the scores of a batch."""
    edges = edges_for(round_scores(positives), round_scores(negatives))
    quantifier = make_quantifier(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the scores cannot tell the classes apart")
        quantifier.fit(count(positives, edges), count(negatives, edges))
    return quantifier, partial(count, edges=edges)


@every_quantifier
@given(rho=st.integers(0, 20), noise=st.floats(0, 0.02))
def test_the_truth_is_found_when_scores_are_perfect(name, rho, noise):
    """Classes far apart: positives score near 1, negatives near 0."""
    quantifier, of = fit(
        name, np.linspace(1 - noise, 1, 200), np.linspace(0, noise, 200)
    )
    high_scores = np.linspace(1 - noise, 1, 20 * rho)
    low_scores = np.linspace(0, noise, 400 - 20 * rho)
    batch = of(np.concatenate([high_scores, low_scores]))
    # A posterior median under a flat prior stays log(2) / n inside at the ends.
    assert quantifier.estimate(batch) == pytest.approx(rho / 20, abs=0.02)
    low, high = quantifier.interval(batch)
    assert low - 0.02 <= rho / 20 <= high + 0.02


def calibrated(x):
    """The probability that x is of Beta(4, 2) and not of Beta(2, 4)."""
    return x**2 / (x**2 + (1 - x) ** 2)


@every_quantifier
def test_more_positives_never_lower_the_estimate(name, random):
    quantifier, of = fit(
        name,
        calibrated(random.beta(4, 2, 1000)),
        calibrated(random.beta(2, 4, 1000)),
    )
    positives = calibrated(random.beta(4, 2, 1000))
    negatives = calibrated(random.beta(2, 4, 1000))
    estimates = []
    for k in range(11):
        batch = np.concatenate([positives[: 100 * k], negatives[: 100 * (10 - k)]])
        estimates.append(quantifier.estimate(of(batch)))
    assert np.diff(estimates).min() >= 0
    if name not in UNCORRECTED:
        assert estimates == pytest.approx(np.linspace(0, 1, 11), abs=0.1)


@every_corrected_quantifier
@pytest.mark.parametrize("constant", [0.5, 0.0, 1.0, 0.3])
def test_constant_scores_give_the_training_prevalence_and_no_certainty(name, constant):
    rounded = round_scores([constant])
    edges = edges_for(rounded, rounded)
    positives = count([constant] * 30, edges)
    negatives = count([constant] * 10, edges)
    with pytest.warns(
        UserWarning,
        match="cannot tell the classes apart .* training prevalence, with interval",
    ):
        quantifier = make_quantifier(name).fit(positives, negatives)
    batch = count([constant, 0.9], edges)
    assert quantifier.estimate(batch) == 0.75
    assert quantifier.interval(batch) == (0.0, 1.0)
    assert quantifier.estimate_each(round_scores([[0.1, 0.9]])).tolist() == [0.75, 0.75]


@pytest.mark.parametrize("name", sorted(UNCORRECTED))
def test_uncorrected_quantifiers_need_no_difference_between_the_classes(name):
    edges = edges_for(round_scores([0.7]), round_scores([0.7]))
    alike = count([0.7] * 5, edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantifier = make_quantifier(name).fit(alike, alike)
    assert quantifier.informative_
    assert 0 < quantifier.estimate(count([0.7, 0.2], edges)) < 1


@every_quantifier
def test_estimate_each_is_estimate_row_by_row(name, random):
    quantifier, _ = fit(name, random.beta(4, 2, 60), random.beta(2, 4, 60))
    several_models = round_scores(random.uniform(size=(2, 25)))
    one_by_one = []
    for row in several_models.T:
        batch = ScoreHistogram.of(row, quantifier.positives_.edges, unit=2)
        one_by_one.append(quantifier.estimate(batch))
    estimates = quantifier.estimate_each(several_models)
    assert estimates == pytest.approx(one_by_one, abs=1e-12)


@every_quantifier
def test_a_batch_scored_by_several_models_counts_each_row_once(name, random):
    """K copies of a batch, in units of 1/K, have the interval of the batch."""
    quantifier, of = fit(name, random.beta(4, 2, 200), random.beta(2, 4, 200))
    batch = random.beta(3, 3, 40)
    once = of(batch)
    thrice = ScoreHistogram.of(np.tile(round_scores(batch), 3), once.edges, unit=3)
    estimate = quantifier.estimate(once)
    assert quantifier.estimate(thrice) == pytest.approx(estimate, abs=1e-9)
    interval = quantifier.interval(once)
    assert quantifier.interval(thrice) == pytest.approx(interval, abs=1e-9)


# EMQ takes the score for a probability.
@pytest.mark.parametrize("name", sorted(set(CORRECTED) - {"emq"}))
def test_scores_may_point_the_other_way(name, random):
    """A score that falls with the label still tells the classes apart."""
    quantifier, of = fit(name, random.beta(2, 4, 500), random.beta(4, 2, 500))
    batch = np.concatenate([random.beta(2, 4, 400), random.beta(4, 2, 100)])
    assert quantifier.estimate(of(batch)) > 0.65


def test_what_cannot_be_estimated_is_refused():
    quantifier, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    for method in (quantifier.estimate, quantifier.interval):
        with pytest.raises(ValueError, match="batch must hold at least one row, got"):
            method(of([]))
    for level in (0, 1, "high"):
        with pytest.raises(ValueError, match=rf"level must be .* got {level!r}"):
            quantifier.interval(of([0.5]), level)
    unfitted = make_quantifier("spa")
    for method in (unfitted.estimate, unfitted.interval, unfitted.estimate_each):
        with pytest.raises(ValueError, match="not fitted"):
            method(of([0.5]))


def test_classes_that_are_empty_or_have_other_edges_are_refused():
    _, of = fit("spa", [0.9, 0.8], [0.1, 0.2])
    other = count([0.1], np.array([ONE // 2]))
    with pytest.raises(ValueError, match="negatives must hold at least one score"):
        make_quantifier("spa").fit(of([0.9]), of([]))
    with pytest.raises(ValueError, match="positives must hold at least one score"):
        make_quantifier("spa").fit(of([]), of([0.1]))
    with pytest.raises(ValueError, match="must have the same edges"):
        make_quantifier("spa").fit(of([0.9]), other)


def test_settings_are_checked():
    with pytest.raises(
        ValueError, match="divergence must be one of 'topsoe', 'hellinger', got 'kl'"
    ):
        fit(DyS(divergence="kl"), [0.9], [0.1])


class MeanOfTheBatch(Quantifier):
    """All that a new quantifier has to define."""

    def _estimate(self, batch):
        return batch.mean


def test_your_own_quantifier_needs_one_method(random):
    quantifier, of = fit(
        MeanOfTheBatch(), random.beta(4, 2, 100), random.beta(2, 4, 100)
    )
    batch = of([0.4, 0.6])
    assert quantifier.estimate(batch) == pytest.approx(0.5)
    low, high = quantifier.interval(batch)
    assert low <= 0.5 <= high
    each = quantifier.estimate_each(round_scores([[0.2, 0.7]]))
    assert each == pytest.approx([0.2, 0.7])
    assert isinstance(clone(quantifier), MeanOfTheBatch)


class WithInterval(MeanOfTheBatch):
    """One that brings an interval of its own."""

    def _interval(self, batch, estimate, level):
        return estimate - 0.1, estimate + 0.1


def test_an_interval_that_is_not_the_quantifiers_own_is_told(train, batch):
    groups = {"sensitive_features": batch.z}
    for quantifier, notes in ((MeanOfTheBatch(), 1), (WithInterval(), 0), ("pcc", 0)):
        clf = CapeClassifier(
            LogisticRegression(), quantifier=quantifier, cv=2, random_state=0
        )
        clf.fit(train.X, train.y, sensitive_features=train.z)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", AdaptationWarning)
            adaptation = clf.adapt(batch.X, **groups)
        told = [str(warning.message) for warning in caught]
        assert sum("interval of its own" in text for text in told) == notes
        assert len(adaptation.notes) == notes


def test_a_quantifier_without_that_method_says_which(random):
    with pytest.raises(TypeError, match=r"Quantifier must define _estimate\(batch\)"):
        fit(Quantifier(), [0.9], [0.1])
    for answer, error in (
        (None, TypeError),
        ([0.1, 0.2], TypeError),
        (0.5 + 0.1j, TypeError),
        (np.nan, ValueError),
        (np.inf, ValueError),
    ):
        quantifier, of = fit(Outside(answer), [0.9], [0.1])
        with pytest.raises(error, match="Outside._estimate must return a finite numb"):
            quantifier.estimate(of([0.5]))


class Spoiled(Quantifier):
    """A quantifier with one method that returns NaN."""

    def __init__(self, method):
        self.method = method

    def estimate(self, batch):
        return np.nan if self.method == "estimate" else super().estimate(batch)

    def _estimate(self, batch):
        return np.nan if self.method == "_estimate" else batch.mean

    def _estimate_each(self, scores):
        return np.full(scores.shape[1], np.nan)

    def _statistic(self, histogram, prevalence):
        return histogram.centres + (np.nan if self.method == "_statistic" else 0)

    def _interval(self, batch, estimate, level):
        if self.method == "interval":
            return np.nan, np.nan
        return super()._interval(batch, estimate, level)


@pytest.mark.parametrize("drift", ["cautious", "ignore"])
@pytest.mark.parametrize("method", ["estimate", "_estimate", "_statistic", "interval"])
def test_a_quantifier_of_nan_is_named(train, batch, method, drift):
    """It was an IndexError, or 0 % positive and "consistent"."""
    clf = CapeClassifier(
        LogisticRegression(), quantifier=Spoiled(method), cv=2, drift=drift
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    message = rf"Spoiled\.{method}.* got .*nan"
    with pytest.raises(ValueError, match=message):
        clf.adapt(batch.X, sensitive_features=batch.z)
    if "estimate" in method:
        with pytest.raises(ValueError, match=message):
            clf.predict(batch.X, sensitive_features=batch.z)
    with pytest.raises(ValueError, match=r"Spoiled\._estimate_each must return shares"):
        clf.predict_individually(batch.X, sensitive_features=batch.z)


class Outside(Quantifier):
    """An estimate that is no share."""

    def __init__(self, answer=1.7):
        self.answer = answer

    def _estimate(self, batch):
        return self.answer


@pytest.mark.parametrize(("answer", "clipped"), [(1.7, 1.0), (-0.2, 0.0), (0.3, 0.3)])
def test_estimates_of_your_own_are_clipped_and_held_by_the_interval(answer, clipped):
    quantifier, of = fit(Outside(answer), [0.6, 0.9], [0.1, 0.4])
    batch = of([0.5, 0.5, 0.6])
    assert quantifier.estimate(batch) == clipped
    low, high = quantifier.interval(batch)
    assert low <= clipped <= high


# The table of quantifiers: what every entry promises, and quantifiers by name.


every_entry = pytest.mark.parametrize("name", QUANTIFIERS)

# Classes that scores tell apart perfectly, and a batch with a prevalence of 1/4.
PERFECT = round_scores(np.linspace(0.97, 1, 40)), round_scores(np.linspace(0, 0.03, 60))
EDGES = edges_for(*PERFECT)
POSITIVES, NEGATIVES = (ScoreHistogram.of(scores, EDGES) for scores in PERFECT)
BATCH = ScoreHistogram.of(
    np.concatenate([np.tile(PERFECT[0], 5), np.tile(PERFECT[1], 10)]), EDGES
)


@every_entry
def test_every_entry_is_made_by_its_name_alone(name):
    quantifier = make_quantifier(name)
    assert type(quantifier) is QUANTIFIERS[name]
    assert quantifier is not make_quantifier(name)
    assert repr(quantifier) == f"{QUANTIFIERS[name].__name__}()"
    assert not hasattr(quantifier, "prevalence_")


@every_entry
def test_every_entry_can_be_cloned_and_refitted(name):
    fitted = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    copy = clone(fitted)
    assert type(copy) is type(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "prevalence_")
    copy.fit(POSITIVES, NEGATIVES)
    assert copy.estimate(BATCH) == fitted.estimate(BATCH)
    assert copy.interval(BATCH) == fitted.interval(BATCH)


@every_entry
def test_weighted_training_rows_are_accepted(name):
    """Weights of 1/2 for rows that stand there twice change nothing but rounding."""
    plain = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    halved = []
    for scores in PERFECT:
        weights = np.full(2 * len(scores), 0.5)
        halved.append(ScoreHistogram.of(np.tile(scores, 2), EDGES, weights=weights))
    weighted = make_quantifier(name).fit(*halved)
    assert weighted.prevalence_ == pytest.approx(0.4)
    assert weighted.estimate(BATCH) == pytest.approx(plain.estimate(BATCH), abs=1e-6)


def test_a_new_quantifier_needs_one_line_in_the_table(monkeypatch):
    class Cautious(Quantifier):
        """Half way between the training prevalence and the mean score."""

        def _estimate(self, batch):
            return (self.prevalence_ + batch.mean) / 2

    monkeypatch.setitem(QUANTIFIERS, "cautious", Cautious)
    quantifier = make_quantifier("cautious").fit(POSITIVES, NEGATIVES)
    assert quantifier.estimate(BATCH) == pytest.approx((0.4 + BATCH.mean) / 2)
    with pytest.raises(ValueError, match="'cautious', got 'bold'"):
        make_quantifier("bold")


@pytest.mark.parametrize("wrong", [3, None, SPA, LogisticRegression()])
def test_anything_else_is_refused_with_what_is_accepted(wrong):
    with pytest.raises(
        TypeError,
        match=r"quantifier must be one of 'cc', .*'onestep' or an instance of a "
        r"subclass of cape.quantify.Quantifier, got ",
    ) as raised:
        make_quantifier(wrong)
    assert str(raised.value).endswith(f"got {wrong!r}.")
