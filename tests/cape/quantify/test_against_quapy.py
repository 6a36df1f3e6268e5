"""Our quantifiers against QuaPy's on the same scores, and each in the other."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.quantify import (
    ACC,
    CC,
    EMQ,
    PCC,
    SPA,
    DyS,
    HDy,
    QuaPyQuantifier,
    ScoreHistogram,
    round_scores,
)


@pytest.mark.parametrize(("ours", "theirs"), [(SPA, "PACC"), (ACC, "ACC")])
def test_spa_and_acc_equal_their_pacc_and_acc(case, quapy, ours, theirs):
    peer = getattr(quapy, theirs)(LogisticRegression(), solver="exact-raise")
    assert case.ours(ours()) == pytest.approx(case.theirs(peer), abs=1e-6)


@pytest.mark.parametrize(("ours", "theirs"), [(CC, "CC"), (PCC, "PCC")])
def test_cc_and_pcc_equal_theirs(case, quapy, ours, theirs):
    peer = getattr(quapy, theirs)(LogisticRegression())
    assert case.ours(ours()) == pytest.approx(case.theirs(peer), abs=1e-9)


def fixed_point(scores, prevalence):
    """Run Saerens' EM on the rows until it no longer moves."""
    q = prevalence
    for _ in range(200_000):
        positive = q / prevalence * scores
        negative = (1 - q) / (1 - prevalence) * (1 - scores)
        moved = float(np.mean(positive / (positive + negative)))
        if abs(moved - q) < 1e-13:
            return moved
        q = moved
    raise AssertionError("EM has not converged")


def test_emq_is_the_fixed_point_of_em(case):
    expected = fixed_point(case.batch, case.y.mean())
    assert case.ours(EMQ()) == pytest.approx(expected, abs=1e-5)


def test_emq_equals_theirs(case, quapy):
    estimate = case.ours(EMQ())
    prevalence = case.y.mean()
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "the method has reached the maximum number of iterations"
        )
        theirs, _ = quapy.EMQ.EM(
            np.array([1 - prevalence, prevalence]),
            np.column_stack([1 - case.batch, case.batch]),
            epsilon=1e-12,
        )
    # QuaPy stops after 1,000 steps, which is short of the fixed point where the
    # likelihood is flat.
    tolerance = 1e-5 if 0.01 < estimate < 0.99 else 2e-3
    assert estimate == pytest.approx(theirs[1], abs=tolerance)


def test_hdy_is_within_a_step_of_theirs(case, quapy):
    """Their estimate is the best of 101 points."""
    peer = quapy.HDy(LogisticRegression())
    assert case.ours(HDy()) == pytest.approx(case.theirs(peer), abs=0.01)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("topsoe", "topsoe"), ("hellinger", "HD")]
)
@pytest.mark.parametrize("bins", [8, 10])
def test_dys_equals_theirs(case, quapy, ours, theirs, bins):
    """Up to the flat floor of their search, where the distance rounds to one number."""
    peer = quapy.DyS(LogisticRegression(), n_bins=bins, divergence=theirs, tol=1e-9)
    quantifier = DyS(n_bins=bins, divergence=ours)
    assert case.ours(quantifier) == pytest.approx(case.theirs(peer), abs=2e-4)


@pytest.mark.parametrize("name", ["PACC", "ACC", "EMQ", "HDy", "SMM", "KDEyML"])
def test_the_adapter_gives_what_quapy_gives(one_case, quapy, name):
    peer = getattr(quapy, name)(LogisticRegression())
    if name == "EMQ":
        prevalence = one_case.y.mean()
        peer.train_prevalence = np.array([1 - prevalence, prevalence])
    theirs = one_case.theirs(peer)
    adapted = QuaPyQuantifier(getattr(quapy, name)(LogisticRegression()))
    assert one_case.ours(adapted) == pytest.approx(theirs, abs=1e-6)
    low, high = adapted.interval(one_case.histogram)
    assert 0 <= low <= theirs <= high <= 1


@pytest.fixture(scope="module")
def with_spa_and_smm(quapy, train):
    """Two classifiers that differ in whose implementation of SPA they use."""
    fitted = []
    for quantifier in ("spa", quapy.SMM(LogisticRegression())):
        clf = CapeClassifier(
            LogisticRegression(), quantifier=quantifier, random_state=0, cv=5
        )
        clf.fit(train.X, train.y, sensitive_features=train.z)
        fitted.append(clf)
    return fitted


def test_the_classifier_takes_a_quantifier_of_quapy(with_spa_and_smm, batch):
    spa, smm = with_spa_and_smm
    ours = spa.adapt(batch.X, sensitive_features=batch.z).table()
    with pytest.warns(AdaptationWarning, match="SMM has no interval of its own"):
        adaptation = smm.adapt(batch.X, sensitive_features=batch.z)
    assert len(adaptation.notes) == 1
    theirs = adaptation.table()
    np.testing.assert_allclose(theirs["estimate"], ours["estimate"], atol=1e-6)
    assert theirs["classifier"].tolist() == ours["classifier"].tolist()


@pytest.mark.filterwarnings("ignore:SMM has no interval")
def test_evidence_for_a_quantifier_of_quapy_adds_up_but_cannot_be_subtracted(
    with_spa_and_smm, batch
):
    _, clf = with_spa_and_smm
    whole = clf.adapt(batch.X, sensitive_features=batch.z).table()
    first = clf.evidence(batch.X[:50], sensitive_features=batch.z[:50])
    second = clf.evidence(batch.X[50:], sensitive_features=batch.z[50:])
    added = clf.adapt(evidence=first + second).table()
    np.testing.assert_allclose(added["estimate"], whole["estimate"], atol=1e-12)
    with pytest.raises(TypeError, match="raw scores for a foreign quantifier"):
        _ = first - first


def test_the_adapter_refuses_what_is_no_quantifier_of_quapy(one_case):
    with pytest.raises(
        TypeError, match=r"quantifier must be an aggregative one of QuaPy .* got 'SMM'"
    ):
        QuaPyQuantifier("SMM").fit(one_case.positives, one_case.negatives)


def test_the_adapter_refuses_histograms_without_rows(quapy, one_case):
    edges = one_case.positives.edges
    positives = ScoreHistogram.of(round_scores([0.9, 0.8]), edges)
    negatives = ScoreHistogram.of(round_scores([0.1, 0.2]), edges)
    adapter = QuaPyQuantifier(quapy.SMM(LogisticRegression()))
    with pytest.raises(
        TypeError, match=r"histograms that keep their rows \(keep_rows=True\)"
    ):
        adapter.fit(positives, negatives)
