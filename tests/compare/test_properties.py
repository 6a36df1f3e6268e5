"""What the methods of the comparison promise whatever the rows: no dependence on order, names or number of groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape._groups import check_groups
from cape.compare import (
    AlwaysPositive,
    CapeOne,
    FairlearnThreshold,
    MaxAcc,
    Reweighing,
    with_group_columns,
)
from cape.compare._aif360 import SIDES, Bridge, algorithm, undisturbed
from cape.compare._base import HELD_OUT, split_holdout
from cape.compare._singular import ProjectedNormal
from cape.metrics import confusion_by_group, fairness_table


@given(st.integers(4, 80), st.integers(1, 5), st.integers(0, 2**31))
def test_every_row_is_learned_from_or_held_out(n, n_groups, seed):
    random = np.random.default_rng(seed)
    y, codes = (
        np.r_[0, 1, random.integers(0, 2, n)],
        random.integers(0, n_groups, n + 2),
    )
    learn, held_out = split_holdout(y, codes, seed)
    assert sorted([*learn, *held_out]) == list(range(n + 2))
    assert len(held_out) == np.ceil(HELD_OUT * (n + 2))
    assert (np.diff(learn) > 0).all() and (np.diff(held_out) > 0).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 6))
def test_group_columns_tell_every_known_group_and_no_other(codes, n_known):
    known = [("g", code) for code in range(n_known)]
    z = pd.DataFrame({"one": "g", "two": codes})
    indicators = with_group_columns(np.zeros((len(codes), 1)), z, known)[:, 1:]
    assert indicators.shape == (len(codes), n_known - 1)
    for row, code in zip(indicators, codes, strict=True):
        expected = np.zeros(n_known - 1)
        if 0 < code < n_known:
            expected[code - 1] = 1
        assert row.tolist() == expected.tolist()


@pytest.mark.parametrize("make", [MaxAcc, FairlearnThreshold, Reweighing])
def test_names_of_groups_and_order_of_a_batch_do_not_matter(make, moved, learner):
    train, test = moved
    order = np.random.default_rng(0).permutation(len(test.target))
    renamed = [
        pd.DataFrame({"one": "g", "two": part.sensitive_features.to_numpy()})
        for part in moved
    ]
    clf = make(learner).fit(
        train.data, train.target, sensitive_features=train.sensitive_features
    )
    tuples = make(learner).fit(train.data, train.target, sensitive_features=renamed[0])
    expected = clf.predict(test.data, sensitive_features=test.sensitive_features)
    assert (tuples.predict(test.data, sensitive_features=renamed[1]) == expected).all()
    if make is not FairlearnThreshold:  # which draws lots, one after another
        shuffled = clf.predict(
            test.data.iloc[order],
            sensitive_features=test.sensitive_features.iloc[order],
        )
        assert (shuffled == expected[order]).all()


@given(st.integers(2, 5), st.integers(0, 2**31))
def test_the_weights_of_reweighing_leave_no_difference_in_prevalence(n_groups, seed):
    """Of any number of groups, the privileged one against all others: group and label are independent."""
    random = np.random.default_rng(seed)
    favourable = np.r_[np.tile([0, 1], n_groups), random.integers(0, 2, 40)]
    groups = check_groups(
        np.r_[np.repeat(np.arange(n_groups), 2), random.integers(0, n_groups, 40)]
    )
    bridge = Bridge.of(favourable, groups)
    features = bridge.features(np.zeros((len(favourable), 1)), groups)
    with undisturbed():
        weights = algorithm("preprocessing", "Reweighing")(**SIDES)
        weighted = weights.fit_transform(
            bridge.dataset(features, favourable)
        ).instance_weights
    found = confusion_by_group(
        favourable,
        favourable,
        sensitive_features=features[:, -1].astype(int),
        sample_weight=weighted,
    )
    assert found[0].prevalence == pytest.approx(found[1].prevalence)
    assert found[1].prevalence == pytest.approx(favourable.mean())
    shares = [favourable[groups.codes == code].mean() for code in range(n_groups)]
    assert shares[groups.keys.index(bridge.privileged)] == max(shares)
    assert (
        features[:, -1].sum()
        == (groups.codes == groups.keys.index(bridge.privileged)).sum()
    )


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=40)
)
def test_always_positive_is_as_unfair_as_can_be_by_pd(rows):
    y, z = np.array(
        [*rows, *((label, group) for label in (0, 1) for group in range(4))]
    ).T
    said = AlwaysPositive().fit(np.zeros((len(y), 1)), y).predict(np.zeros((len(y), 1)))
    row = fairness_table(y, said, sensitive_features=z)
    assert row["fpr", "difference"] == row["fnr", "difference"] == 0
    np.testing.assert_allclose(row["pd"], 1 - row["prevalence"])


def test_cape_1_is_cape_on_batches_of_one_row(moved):
    train, test = moved
    settings = {"random_state": 0, "cv": 2, "prevalences": 4}
    one, whole = (
        make(LogisticRegression(), **settings).fit(
            train.data, train.target, sensitive_features=train.sensitive_features
        )
        for make in (CapeOne, CapeClassifier)
    )
    X, z = test.data[:25], test.sensitive_features[:25]
    by_hand = [
        whole.predict(X[k : k + 1], sensitive_features=z[k : k + 1])[0]
        for k in range(25)
    ]
    assert one.predict(X, sensitive_features=z).tolist() == by_hand


@given(st.floats(0.1, 10), st.floats(-5, 5), st.integers(0, 2**31))
def test_the_density_on_a_line_is_that_of_the_line(scale, shift, seed):
    """Points a + t v with t normal: in length units of v the density is scipy's of one dimension."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=3)
    direction /= np.linalg.norm(direction)
    flat = ProjectedNormal(shift * direction, scale * np.outer(direction, direction))
    t = random.normal(shift, np.sqrt(scale), 5)
    off = np.cross(direction, random.normal(size=3))
    expected = multivariate_normal(shift, scale).pdf(t)
    np.testing.assert_allclose(
        flat.pdf(t[:, None] * direction + off), expected, rtol=1e-6
    )
