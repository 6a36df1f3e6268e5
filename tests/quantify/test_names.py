"""The table of quantifiers: what every entry promises, and quantifiers by name."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cape._histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import (
    QUANTIFIERS,
    SPA,
    HistogramPosterior,
    Quantifier,
    QuaPyQuantifier,
    make_quantifier,
)

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
def test_every_entry_finds_the_truth_when_scores_are_perfect(name):
    quantifier = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    estimate = quantifier.estimate(BATCH)
    low, high = quantifier.interval(BATCH)
    assert type(estimate) is float
    assert estimate == pytest.approx(0.25, abs=0.01)
    assert 0 <= low <= estimate <= high <= 1
    assert high - low < 0.1


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
def test_fitting_and_estimating_leave_histograms_alone(name):
    before = [h.counts.copy() for h in (POSITIVES, NEGATIVES, BATCH)]
    quantifier = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    quantifier.estimate(BATCH)
    quantifier.interval(BATCH)
    for histogram, counts in zip((POSITIVES, NEGATIVES, BATCH), before, strict=True):
        np.testing.assert_array_equal(histogram.counts, counts)


@every_entry
def test_fitting_again_forgets_the_first_fit(name):
    once = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    twice = make_quantifier(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice.fit(NEGATIVES, POSITIVES)
    twice.fit(POSITIVES, NEGATIVES)
    assert twice.estimate(BATCH) == once.estimate(BATCH)
    assert twice.interval(BATCH) == once.interval(BATCH)


@every_entry
def test_weighted_training_rows_are_accepted(name):
    """Weights of 1/2 for rows that stand there twice change nothing."""
    plain = make_quantifier(name).fit(POSITIVES, NEGATIVES)
    halved = []
    for scores in PERFECT:
        weights = np.full(2 * len(scores), 0.5)
        halved.append(ScoreHistogram.of(np.tile(scores, 2), EDGES, weights=weights))
    weighted = make_quantifier(name).fit(*halved)
    assert weighted.prevalence_ == pytest.approx(0.4)
    assert weighted.estimate(BATCH) == pytest.approx(plain.estimate(BATCH), abs=1e-9)


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


def test_an_instance_is_cloned():
    fitted = HistogramPosterior(cells=5).fit(POSITIVES, NEGATIVES)
    copy = make_quantifier(fitted)
    assert copy is not fitted
    assert copy.cells == 5
    assert not hasattr(copy, "cuts_")


class LooksLikeAQuantifier:
    """Has the methods, but is no Quantifier."""

    def fit(self, positives, negatives):
        return self

    def estimate(self, batch):
        return 0.5

    def interval(self, batch, level=0.95):
        return 0.0, 1.0

    def __repr__(self):
        return "LooksLikeAQuantifier()"


@pytest.mark.parametrize(
    "wrong", [3, None, SPA, LooksLikeAQuantifier(), LogisticRegression()]
)
def test_anything_else_is_refused_with_what_is_accepted(wrong):
    with pytest.raises(
        TypeError,
        match=r"quantifier must be one of 'cc', .*'histogram'.*, an instance of a "
        r"subclass of cape.quantify.Quantifier or an aggregative quantifier of "
        r"QuaPy, got ",
    ) as raised:
        make_quantifier(wrong)
    assert str(raised.value).endswith(f"got {wrong!r}.")


def test_a_quantifier_of_quapy_is_adapted(quapy):
    peer = quapy.SMM(LogisticRegression())
    adapted = make_quantifier(peer)
    assert isinstance(adapted, QuaPyQuantifier)
    assert adapted.quantifier is peer
    assert adapted.keeps_rows
    with pytest.raises(TypeError, match="quantifier must be one of"):
        make_quantifier(quapy.SMM)
