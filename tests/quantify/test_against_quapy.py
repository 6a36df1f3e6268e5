"""Ours against QuaPy's on the same scores, and QuaPy's through our adapter."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.histogram import ScoreHistogram, round_scores
from cape.quantify import ACC, CC, EMQ, PCC, SPA, DyS, HDy, QuaPyQuantifier


@pytest.mark.parametrize(("ours", "theirs"), [(SPA, "PACC"), (ACC, "ACC")])
def test_spa_and_acc_equal_their_pacc_and_acc(case, quapy, ours, theirs):
    assert case.ours(ours()) == pytest.approx(
        case.theirs(getattr(quapy, theirs)(LogisticRegression(), solver="exact-raise")),
        abs=1e-6,
    )


@pytest.mark.parametrize(("ours", "theirs"), [(CC, "CC"), (PCC, "PCC")])
def test_cc_and_pcc_equal_theirs(case, quapy, ours, theirs):
    assert case.ours(ours()) == pytest.approx(
        case.theirs(getattr(quapy, theirs)(LogisticRegression())), abs=1e-9
    )


def fixed_point(scores, prevalence):
    """Saerens' EM on the rows, until it no longer moves."""
    q = prevalence
    for _ in range(200_000):
        positive, negative = (
            q / prevalence * scores,
            (1 - q) / (1 - prevalence) * (1 - scores),
        )
        moved = float(np.mean(positive / (positive + negative)))
        if abs(moved - q) < 1e-13:
            return moved
        q = moved
    raise AssertionError("EM has not converged")


def test_emq_is_the_fixed_point_of_em(case, quapy):
    estimate = case.ours(EMQ())
    assert estimate == pytest.approx(fixed_point(case.batch, case.y.mean()), abs=1e-5)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "the method has reached the maximum number of iterations"
        )
        theirs, _ = quapy.EMQ.EM(
            np.array([1 - case.y.mean(), case.y.mean()]),
            np.column_stack([1 - case.batch, case.batch]),
            epsilon=1e-12,
        )
    # QuaPy stops after 1,000 steps, which is short of the fixed point where the likelihood is flat.
    assert estimate == pytest.approx(
        theirs[1], abs=1e-5 if 0.01 < estimate < 0.99 else 2e-3
    )


def squared_hellinger(case, rho, bins):
    share = [
        np.histogram(s, bins=bins, range=(0, 1))[0] / len(s)
        for s in (*rows(case), case.batch)
    ]
    return float(
        (
            (np.sqrt(rho * share[0] + (1 - rho) * share[1]) - np.sqrt(share[2])) ** 2
        ).sum()
    )


def rows(case):
    return case.train[case.y == 1], case.train[case.y == 0]


def test_hdy_is_within_a_step_of_theirs(case, quapy):
    assert case.ours(HDy()) == pytest.approx(
        case.theirs(quapy.HDy(LogisticRegression())), abs=0.01
    )


@pytest.mark.parametrize("bins", [10, 50, 110])
def test_hdy_s_objective_is_no_worse_than_any_on_a_grid(case, bins):
    """Of each binning, HDy's part: the exact minimum is no worse than the best of QuaPy's 101 points."""
    estimate = case.ours(DyS(n_bins=bins, divergence="hellinger"))
    on_grid = [squared_hellinger(case, rho, bins) for rho in np.linspace(0, 1, 101)]
    assert squared_hellinger(case, estimate, bins) <= min(on_grid) + 1e-12
    assert abs(estimate - np.argmin(on_grid) / 100) <= 0.01


def test_hdy_is_the_median_over_its_binnings(case):
    parts = [
        case.ours(DyS(n_bins=bins, divergence="hellinger"))
        for bins in range(10, 111, 10)
    ]
    assert case.ours(HDy()) == pytest.approx(np.median(parts), abs=1e-9)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("topsoe", "topsoe"), ("hellinger", "HD")]
)
@pytest.mark.parametrize("bins", [8, 10])
def test_dys_equals_theirs(case, quapy, ours, theirs, bins):
    """Up to the flat floor of their search: near its minimum the distance rounds to one number."""
    peer = quapy.DyS(LogisticRegression(), n_bins=bins, divergence=theirs, tol=1e-9)
    assert case.ours(DyS(n_bins=bins, divergence=ours)) == pytest.approx(
        case.theirs(peer), abs=2e-4
    )


@pytest.mark.parametrize("name", ["PACC", "ACC", "EMQ", "HDy", "SMM", "KDEyML"])
def test_the_adapter_gives_what_quapy_gives(some_scores, quapy, name):
    peer = getattr(quapy, name)(LogisticRegression())
    if name == "EMQ":
        peer.train_prevalence = np.array(
            [1 - some_scores.y.mean(), some_scores.y.mean()]
        )
    theirs = some_scores.theirs(peer)
    adapted = QuaPyQuantifier(getattr(quapy, name)(LogisticRegression()))
    assert some_scores.ours(adapted) == pytest.approx(theirs, abs=1e-6)
    low, high = adapted.interval(some_scores.histogram)
    assert 0 <= low <= theirs <= high <= 1


def test_quapy_in_the_classifier(quapy, train, batch):
    """By its instance; evidence then keeps the scores, and still adds up."""
    ours, theirs = (
        CapeClassifier(
            LogisticRegression(), quantifier=quantifier, random_state=0, cv=5
        ).fit(train.X, train.y, sensitive_features=train.z)
        for quantifier in ("spa", quapy.SMM(LogisticRegression()))
    )
    tables = [
        clf.adapt(batch.X, sensitive_features=batch.z).table() for clf in (ours, theirs)
    ]
    assert tables[1]["estimate"].to_numpy() == pytest.approx(
        tables[0]["estimate"].to_numpy(), abs=1e-6
    )
    assert tables[1]["member"].tolist() == tables[0]["member"].tolist()
    parts = [
        theirs.evidence(batch.X[rows], sensitive_features=batch.z[rows])
        for rows in (slice(50), slice(50, None))
    ]
    found = theirs.adapt(evidence=parts[0] + parts[1]).table()
    assert found["estimate"].to_numpy() == pytest.approx(
        tables[1]["estimate"].to_numpy(), abs=1e-12
    )
    one_by_one = theirs.predict_individually(
        batch.X[:5], sensitive_features=batch.z[:5]
    )
    np.testing.assert_array_equal(
        one_by_one,
        ours.predict_individually(batch.X[:5], sensitive_features=batch.z[:5]),
    )
    with pytest.raises(TypeError, match="raw scores for a foreign quantifier"):
        _ = parts[0] - parts[0]


def test_the_adapter_refuses(quapy, train, some_scores):
    with pytest.raises(
        TypeError, match=r"quantifier must be an aggregative one of QuaPy .* got 'SMM'"
    ):
        QuaPyQuantifier("SMM").fit(some_scores.positives, some_scores.negatives)
    without_rows = [
        ScoreHistogram.of(round_scores(s), some_scores.positives.edges)
        for s in ([0.9, 0.8], [0.1, 0.2])
    ]
    with pytest.raises(
        TypeError, match=r"histograms that keep their rows \(keep_rows=True\)"
    ):
        QuaPyQuantifier(quapy.SMM(LogisticRegression())).fit(*without_rows)
    clf = CapeClassifier(
        LogisticRegression(), quantifier=quapy.SMM(LogisticRegression())
    )
    with pytest.raises(
        ValueError, match="sample_weight must be None with a quantifier of QuaPy"
    ):
        clf.fit(train.X, train.y, sample_weight=np.ones(len(train.y)))
    assert not hasattr(clf, "classes_")
