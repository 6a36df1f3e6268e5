"""Our metrics beside those of Fairlearn, AIF360, scikit-learn and scipy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from cape.metrics import audit, confusion_by_group
from cape_paper._peers import undisturbed


@st.composite
def rows(draw, n_groups):
    """Rows in which every group has each pair of label and prediction."""
    n = draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = np.r_[np.tile([0, 0, 1, 1], n_groups), random.integers(0, 2, n)]
    y_hat = np.r_[np.tile([0, 1, 0, 1], n_groups), random.integers(0, 2, n)]
    z = np.r_[np.repeat(np.arange(n_groups), 4), random.integers(0, n_groups, n)]
    return y, y_hat, z, random.uniform(0.2, 3, len(y))


@settings(max_examples=6)
@given(rows(2))
def test_rates_of_both_groups_are_aif360_s(case):
    y, y_hat, z, w = case
    with undisturbed():
        from aif360.datasets import BinaryLabelDataset
        from aif360.metrics import ClassificationMetric

        truth, said = (
            BinaryLabelDataset(
                df=pd.DataFrame({"z": z, "y": labels, "w": w}, dtype=float),
                label_names=["y"],
                protected_attribute_names=["z"],
                instance_weights_name="w",
            )
            for labels in (y, y_hat)
        )
        theirs = ClassificationMetric(truth, said, [{"z": 0.0}], [{"z": 1.0}])
        ours = confusion_by_group(y, y_hat, sensitive_features=z, sample_weight=w)
        for group, privileged in ((0, False), (1, True)):
            assert ours[group].fpr == pytest.approx(
                theirs.false_positive_rate(privileged)
            )
            assert ours[group].fnr == pytest.approx(
                theirs.false_negative_rate(privileged)
            )
            assert ours[group].accuracy == pytest.approx(theirs.accuracy(privileged))
            assert ours[group].prevalence == pytest.approx(theirs.base_rate(privileged))
            assert ours[group].predicted_prevalence == pytest.approx(
                theirs.selection_rate(privileged)
            )
        pairs = (
            audit(y, y_hat, sensitive_features=z, sample_weight=w, n_resamples=2)
            .pairs()["value"]
            .loc[0, 1]
        )
        assert pairs["predicted_prevalence_difference"] == pytest.approx(
            theirs.statistical_parity_difference()
        )
        assert pairs["fpr_difference"] == pytest.approx(
            theirs.false_positive_rate_difference()
        )
        assert -pairs["fnr_difference"] == pytest.approx(
            theirs.equal_opportunity_difference()
        )
        odds = (pairs["fpr_difference"] - pairs["fnr_difference"]) / 2
        assert odds == pytest.approx(theirs.average_odds_difference())


def test_bootstrap_ends_are_those_of_scipy_s_bootstrap_of_rows():
    """Resampled counts and resampled rows have one distribution.

    The standard error of an end at 2.5 % of B draws is sqrt(.025 * .975 / B) / density,
    and the density of a normal there is .0584 / sd: 2.67 sd / sqrt(B). Both sides have
    it, so five of them are 18.9 sd / sqrt(B).
    """
    random = np.random.default_rng(3)
    sizes = (250, 180)
    y = [random.random(n) < share for n, share in zip(sizes, (0.4, 0.55), strict=True)]
    y_hat = [
        random.random(n) < np.where(labels, 0.8, 0.25)
        for n, labels in zip(sizes, y, strict=True)
    ]
    result = audit(
        np.concatenate(y).astype(int),
        np.concatenate(y_hat).astype(int),
        sensitive_features=np.repeat(["a", "b"], sizes),
        n_resamples=4000,
    ).pairs()

    def pe(i, j, axis=-1):
        rho = np.take(y[0], i).mean(axis=axis)
        other_rho = np.take(y[1], j).mean(axis=axis)
        predicted = np.take(y_hat[0], i).mean(axis=axis)
        other_predicted = np.take(y_hat[1], j).mean(axis=axis)
        return rho / other_rho - predicted / other_predicted

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = bootstrap(
            [np.arange(n) for n in sizes],
            pe,
            n_resamples=4000,
            method="percentile",
            rng=np.random.default_rng(4),
        )
    signed = sorted(abs(end) for end in theirs.confidence_interval)
    crosses = theirs.confidence_interval.low <= 0 <= theirs.confidence_interval.high
    low, high = result.loc[("a", "b", "pe"), ["low", "high"]]
    tolerance = 18.9 * theirs.standard_error / np.sqrt(4000)
    assert high == pytest.approx(signed[1], abs=tolerance)
    assert low == pytest.approx(0 if crosses else signed[0], abs=tolerance)
