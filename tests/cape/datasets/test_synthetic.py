"""The paper's synthetic population."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape.datasets import make_synthetic


@given(
    st.integers(10, 200),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.integers(0, 5),
)
def test_groups_share_the_rows_and_have_the_prevalences_asked_for(n, prevalences, seed):
    d = make_synthetic(n, prevalences=prevalences, random_state=seed)
    sizes = np.bincount(d.sensitive_features, minlength=len(prevalences))
    assert len(d.data) == n == sizes.sum()
    assert sizes.max() - sizes.min() <= 1
    for group, rho in enumerate(prevalences):
        assert d.target[d.sensitive_features == group].sum() == round(
            rho * sizes[group]
        )


def test_features_depend_on_the_label_alone():
    """N(15, 10) and N(20, 10) for positives, N(5, 5) and N(40, 10) for negatives."""
    d = make_synthetic(60_000, prevalences=(0.3, 0.7), random_state=0)
    expected = {1: ([15, 20], [10, 10]), 0: ([5, 40], [5, 10])}
    for group in (0, 1):
        for label, (means, deviations) in expected.items():
            part = d.data[(d.target == label) & (d.sensitive_features == group)]
            np.testing.assert_allclose(part.mean(), means, atol=0.35)
            np.testing.assert_allclose(part.std(), deviations, rtol=0.03)
            assert abs(part.corr().iloc[0, 1]) < 0.04


def test_the_classes_overlap():
    """With variances in place of standard deviations they would not."""
    d = make_synthetic(5000, random_state=0)
    assert (
        0.85 < LogisticRegression().fit(d.data, d.target).score(d.data, d.target) < 0.95
    )


def test_what_comes_back():
    d = make_synthetic(50, random_state=0)
    assert list(d.frame.columns) == ["U", "V", "z", "y"]
    np.testing.assert_array_equal(d.frame[["U", "V"]], d.data)
    np.testing.assert_array_equal(d.frame["y"], d.target)
    np.testing.assert_array_equal(d.frame["z"], d.sensitive_features)
    assert "standard deviation" in d.DESCR
    assert d.frame.equals(make_synthetic(50, random_state=0).frame)
    assert not d.frame.equals(make_synthetic(50, random_state=1).frame)
    assert len(make_synthetic(random_state=0).data) == 50_000
    assert 0 < d.sensitive_features.diff().abs().sum() < 50  # in random order


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prevalences": (0.5, 1.2)}, r"prevalences must be in \[0, 1\], got 1.2"),
        (
            {"prevalences": ()},
            "n_samples must be at least the number of groups in prevalences",
        ),
        (
            {"n_samples": 1},
            "at least the number of groups in prevalences, got 1 for 2",
        ),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_synthetic(**{"n_samples": 10, **arguments})


def test_a_random_state_is_drawn_from_and_not_reset():
    random = np.random.RandomState(5)
    first = make_synthetic(20, random_state=random)
    second = make_synthetic(20, random_state=random)
    assert not first.frame.equals(second.frame)
    again = make_synthetic(20, random_state=np.random.RandomState(5))
    assert first.frame.equals(again.frame)
