"""Parity metrics: Fairlearn's on the same arrays, and NaN where they are undefined."""

import warnings

import fairlearn.metrics as fairlearn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_score

import cape.metrics as ours

# Their name of each metric; None where they have it through a MetricFrame only.
SAME = {
    "demographic_parity_difference": "demographic_parity_difference",
    "demographic_parity_ratio": "demographic_parity_ratio",
    "equal_opportunity_difference": "equal_opportunity_difference",
    "equal_opportunity_ratio": "equal_opportunity_ratio",
    "false_positive_rate_difference": "false_positive_rate_difference",
    "false_positive_rate_ratio": "false_positive_rate_ratio",
    "equalized_odds_difference": "equalized_odds_difference",
    "precision_difference": None,
    "precision_ratio": None,
}


@st.composite
def rows(draw):
    """Rows in which every group has each pair of label and prediction."""
    n_groups = draw(st.integers(1, 5))
    n = draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = np.r_[np.tile([0, 0, 1, 1], n_groups), random.integers(0, 2, n)]
    y_hat = np.r_[np.tile([0, 1, 0, 1], n_groups), random.integers(0, 2, n)]
    z = np.r_[np.repeat(np.arange(n_groups), 4), random.integers(0, n_groups, n)]
    return y, y_hat, z, random.uniform(0.2, 3, len(y))


def theirs(name, y, y_hat, z, w):
    if SAME[name] is not None:
        metric = getattr(fairlearn, SAME[name])
        return metric(y, y_hat, sensitive_features=z, sample_weight=w)
    frame = fairlearn.MetricFrame(
        metrics=precision_score,
        y_true=y,
        y_pred=y_hat,
        sensitive_features=z,
        sample_params={"sample_weight": w},
    )
    return frame.difference() if name.endswith("difference") else frame.ratio()


@settings(max_examples=10, deadline=None)
@given(rows(), st.booleans())
def test_all_are_fairlearn_s(case, weighted):
    y, y_hat, z, w = case
    if not weighted:
        w = np.ones(len(y))
    for name in SAME:
        own = getattr(ours, name)(y, y_hat, sensitive_features=z, sample_weight=w)
        assert own == pytest.approx(theirs(name, y, y_hat, z, w)), name


@pytest.mark.parametrize("name", SAME)
def test_one_group_is_equal_to_itself(name):
    value = getattr(ours, name)([0, 1, 0, 1], [0, 1, 1, 0], sensitive_features=[1] * 4)
    assert value == (1.0 if name.endswith("ratio") else 0.0)


@given(rows())
@settings(max_examples=20)
def test_nothing_depends_on_the_order_of_rows_or_the_names_of_groups(case):
    y, y_hat, z, w = case
    order = np.random.default_rng(0).permutation(len(y))
    names = np.array(["e", "d", "c", "b", "a"])[z]
    for name in SAME:
        metric = getattr(ours, name)
        plain = metric(y, y_hat, sensitive_features=z, sample_weight=w)
        other = metric(
            y[order],
            y_hat[order],
            sensitive_features=names[order],
            sample_weight=w[order],
        )
        assert other == pytest.approx(plain)


def test_a_group_without_positives_is_left_out_and_named():
    """Fairlearn counts its rate as 0, which would make it the worst of all."""
    y = [1, 1, 0, 1, 0, 0]
    y_hat = [1, 0, 0, 1, 1, 0]
    z = ["a", "a", "a", "b", "c", "c"]
    with pytest.warns(UserWarning, match="tpr is undefined .* 'c'") as caught:
        value = ours.equal_opportunity_difference(y, y_hat, sensitive_features=z)
    assert value == 0.5
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert theirs("equal_opportunity_difference", y, y_hat, z, None) == 1.0


def test_what_is_defined_for_no_group_is_nan():
    nobody = [0, 0, 0, 0]
    settings_ = {"sensitive_features": ["a", "a", "b", "b"], "pos_label": 1}
    truth = [0, 1, 0, 1]
    assert np.isnan(ours.demographic_parity_ratio(truth, nobody, **settings_))
    assert ours.demographic_parity_difference(truth, nobody, **settings_) == 0
    for metric in (ours.precision_difference, ours.precision_ratio):
        with pytest.warns(UserWarning, match="precision is undefined .* 'a', 'b'"):
            assert np.isnan(metric(truth, nobody, **settings_))


@pytest.mark.filterwarnings("ignore:.* is undefined")
def test_odds_of_which_one_half_is_undefined_are_nan():
    """The greater of a number and of something unknown is unknown."""
    all_positive = [1, 1, 1, 1]
    value = ours.equalized_odds_difference(
        all_positive, [0, 1, 1, 1], sensitive_features=[0, 0, 1, 1]
    )
    assert np.isnan(value)
