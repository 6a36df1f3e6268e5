"""Our metrics beside those of Fairlearn, AIF360 and scipy."""

import sys
import warnings
from pathlib import Path

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import bootstrap
from sklearn.metrics import accuracy_score, precision_score

import cape.metrics as ours
from cape.metrics import audit, confusion_by_group

sys.path.append(str(Path(__file__).parent))
from metric_rows import weighted_rows

RATES = {
    "fpr": fairlearn.false_positive_rate,
    "fnr": fairlearn.false_negative_rate,
    "accuracy": accuracy_score,
    "precision": precision_score,
    "predicted_prevalence": fairlearn.selection_rate,
    # Ours takes no groups, so that Fairlearn can apply it to each.
    "prevalence_difference": ours.prevalence_difference,
}
SAME_NAMES = (
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "false_positive_rate_difference",
    "false_positive_rate_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
)


@settings(max_examples=4)
@given(weighted_rows())
def test_all_are_fairlearn_s(case):
    y, y_hat, z, w = case
    frame = fairlearn.MetricFrame(
        metrics=RATES,
        y_true=y,
        y_pred=y_hat,
        sensitive_features=z,
        sample_params={name: {"sample_weight": w} for name in RATES},
    )
    compared = {"sensitive_features": z, "sample_weight": w}
    confusions = confusion_by_group(y, y_hat, **compared)
    assert list(confusions) == frame.by_group.index.tolist()
    for group, confusion in confusions.items():
        for name, value in frame.by_group.loc[group].items():
            assert getattr(confusion, name) == pytest.approx(value, abs=1e-12)
    theirs = {
        "precision_difference": frame.difference()["precision"],
        "precision_ratio": frame.ratio()["precision"],
    }
    for name in SAME_NAMES:
        theirs[name] = getattr(fairlearn, name)(y, y_hat, **compared)
    for name, value in theirs.items():
        assert ours.PARITY[name](y, y_hat, **compared) == pytest.approx(value), name


def test_rates_of_both_groups_are_aif360_s():
    random = np.random.default_rng(0)
    y, y_hat, z = random.integers(0, 2, (3, 60))
    w = random.uniform(0.2, 3, 60)
    with warnings.catch_warnings(action="ignore"):
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
        names = {
            "fpr": "false_positive_rate",
            "fnr": "false_negative_rate",
            "accuracy": "accuracy",
            "prevalence": "base_rate",
            "predicted_prevalence": "selection_rate",
        }
        confusions = confusion_by_group(y, y_hat, sensitive_features=z, sample_weight=w)
        for group, privileged in ((0, False), (1, True)):
            for name, their_name in names.items():
                rate = getattr(confusions[group], name)
                assert rate == pytest.approx(getattr(theirs, their_name)(privileged))
        audited = audit(y, y_hat, sensitive_features=z, sample_weight=w, n_resamples=2)
        pairs = audited.pairs()["value"].loc[0, 1]
        parity = theirs.statistical_parity_difference()
        assert pairs["predicted_prevalence_difference"] == pytest.approx(parity)
        fpr = theirs.false_positive_rate_difference()
        assert pairs["fpr_difference"] == pytest.approx(fpr)
        opportunity = theirs.equal_opportunity_difference()
        assert -pairs["fnr_difference"] == pytest.approx(opportunity)


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

    with warnings.catch_warnings(action="ignore"):
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


@pytest.mark.parametrize(
    ("name", "label", "theirs", "left_out"),
    [
        # Groups without the label have no rate of the rows that have it.
        ("equal_opportunity_difference", 1, 1.0, 0.5),
        ("equal_opportunity_ratio", 1, 0.0, 0.5),
        ("false_positive_rate_difference", 0, 1.0, 0.5),
        ("false_positive_rate_ratio", 0, 0.0, 0.5),
        ("equalized_odds_difference", 1, 1.0, 0.5),
    ],
)
def test_an_undefined_rate_is_left_out_and_fairlearn_counts_it_as_0(
    name, label, theirs, left_out
):
    # Group a has a rate of 1, b one of 1/2; all rows of c have the other label.
    y = np.array([label] * 4 + [1 - label] * 6)
    z = np.array(list("aabb" + "aabbcc"))
    y_hat = np.array([1, 1, 1, 0] + [1, 0] * 3)
    groups = {"sensitive_features": z}
    assert getattr(fairlearn, name)(y, y_hat, **groups) == theirs
    with pytest.warns(UserWarning, match="undefined"):
        assert ours.PARITY[name](y, y_hat, **groups) == left_out
    # Beside c alone, b can be compared with nobody: there is no difference to report.
    b_and_c = z != "a"
    y, y_hat, groups = y[b_and_c], y_hat[b_and_c], {"sensitive_features": z[b_and_c]}
    assert np.isfinite(getattr(fairlearn, name)(y, y_hat, **groups))
    with pytest.warns(UserWarning, match="undefined"):
        assert np.isnan(ours.PARITY[name](y, y_hat, **groups))
