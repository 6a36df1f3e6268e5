"""Our quantifiers against QuaPy's on the same scores."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape.quantify import (
    ACC,
    CC,
    EMQ,
    PCC,
    SPA,
    DyS,
    HDy,
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
