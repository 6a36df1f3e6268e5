"""Labels are used from ten on, and only if they are a sample of the batch."""

import numpy as np
import pytest
from scipy.special import ndtri

from cape import Estimate
from cape._labelled import use_labels
from cape.datasets import make_synthetic

NEW = make_synthetic(800, prevalences=(0.2, 0.8), random_state=4)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
LABEL_FREE = Estimate(0.25, 0.2, 0.3)


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


def findings(clf, labelled, label_free=LABEL_FREE, rows=slice(None), level=0.95):
    """Use the labels of some rows of group 0."""
    known = np.full(len(y), None, dtype=object)
    known[labelled] = y[labelled]
    evidence = clf.evidence(X[rows], known[rows], sensitive_features=z[rows])
    return use_labels(clf.model_of(0), evidence.groups[0], label_free, level)


OF_GROUP_0 = np.flatnonzero(z == 0)


def test_the_standard_error_fits_the_width_of_the_interval():
    assert LABEL_FREE.standard_error(0.95) == pytest.approx(0.05 / ndtri(0.975))
    assert Estimate(0.25, 0.25, 0.25).standard_error(0.5) == 0


@pytest.mark.parametrize("n", [0, 1, 9])
def test_fewer_than_ten_labels_change_nothing(clf, n):
    found, estimate, calls = findings(clf, OF_GROUP_0[:n])
    assert found.rows == n
    assert estimate == (0.25, 0.2, 0.3)
    assert found.verdict is None
    assert calls is None
    assert np.isnan([found.estimate, found.p_value, found.sample_p_value]).all()


def test_ten_labels_are_used(clf):
    found, estimate, _ = findings(
        clf, np.random.default_rng(0).choice(OF_GROUP_0, 10, False)
    )
    assert found.rows == 10
    assert found.verdict in ("confirmed", "not_contradicted")
    assert estimate.low < estimate.value < estimate.high
    # The interval is that of the labels, whatever the label-free one promised.
    assert estimate.width > 0.1


def test_few_rows_with_all_their_labels_are_exact(clf):
    few = np.concatenate([OF_GROUP_0[:5], np.flatnonzero(z == 1)[:5]])
    found, estimate, _ = findings(clf, OF_GROUP_0[:5], rows=few)
    truth = y[OF_GROUP_0[:5]].mean()
    assert estimate == (truth, truth, truth)
    assert found.sample_p_value == 1


def test_labels_that_are_no_sample_change_nothing_and_are_called_so(clf):
    order = np.argsort(X[OF_GROUP_0, 0])
    found, estimate, calls = findings(clf, OF_GROUP_0[order[-100:]])
    assert found.sample_p_value < 0.01
    assert estimate == (0.25, 0.2, 0.3)
    assert found.verdict is None
    assert calls is None
    assert np.isnan(found.p_value)


def test_a_wrong_estimate_is_refuted_and_corrected(clf):
    labelled = np.random.default_rng(1).choice(OF_GROUP_0, 120, False)
    found, estimate, _ = findings(clf, labelled, Estimate(0.6, 0.55, 0.65))
    assert found.verdict == "refuted"
    assert found.p_value < 1e-3
    truth = y[OF_GROUP_0].mean()
    assert abs(estimate.value - truth) < 0.06
    assert estimate.low < truth < estimate.high


def test_the_level_of_the_interval_is_the_level_asked(clf):
    labelled = np.random.default_rng(2).choice(OF_GROUP_0, 50, False)
    _, wide, _ = findings(clf, labelled, level=0.95)
    _, narrow, _ = findings(clf, labelled, level=0.6)
    assert wide.low < narrow.low < narrow.high < wide.high
