"""Always positive, CAPE-1, Max_Acc, and the rows that post-processors hold out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape.compare import AlwaysPositive, CapeOne, MaxAcc, with_group_columns
from cape.compare._base import HELD_OUT, split_holdout


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)])
def test_always_positive_is_just_that(labels):
    clf = AlwaysPositive().fit(np.zeros((4, 1)), np.array([labels[0], labels[1]] * 2))
    assert (
        clf.predict(np.zeros((3, 1)), sensitive_features=["a", "b", "c"]).tolist()
        == [labels[1]] * 3
    )


def test_cape_1_does_not_depend_on_the_batch(moved):
    train, test = moved
    clf = CapeOne(LogisticRegression(), random_state=0, cv=3)
    clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    whole = clf.predict(test.data, sensitive_features=test.sensitive_features)
    half = clf.predict(test.data[:50], sensitive_features=test.sensitive_features[:50])
    assert (whole[:50] == half).all()


def test_max_acc_is_one_model_with_the_group_among_its_features(moved, learner):
    train, test = moved
    clf = MaxAcc(learner).fit(
        train.data, train.target, sensitive_features=train.sensitive_features
    )
    alone = LogisticRegression().fit(
        train.data.assign(group_1=train.sensitive_features == 1), train.target
    )
    expected = alone.predict(test.data.assign(group_1=test.sensitive_features == 1))
    assert (
        clf.predict(test.data, sensitive_features=test.sensitive_features) == expected
    ).all()


def test_group_columns_are_one_fewer_than_groups():
    X = np.arange(3.0)[:, None]
    assert with_group_columns(X, ["c", "a", "b"], ["a", "b", "c"])[:, 1:].tolist() == [
        [0, 1],
        [0, 0],
        [1, 0],
    ]


def test_held_out_rows_have_the_mix_of_the_whole():
    rng = np.random.default_rng(0)
    y, z = rng.integers(0, 2, 1000), rng.integers(0, 3, 1000)
    learn, held_out = split_holdout(y, z, 0)
    assert sorted([*learn, *held_out]) == list(range(1000))
    assert len(held_out) == round(HELD_OUT * 1000)
    for label in (0, 1):
        for group in (0, 1, 2):
            share = np.mean((y == label) & (z == group))
            assert np.mean(
                (y[held_out] == label) & (z[held_out] == group)
            ) == pytest.approx(share, abs=0.01)
    assert (split_holdout(y, z, 0)[1] == held_out).all()
    assert not np.array_equal(split_holdout(y, z, 1)[1], held_out)


def test_rows_are_held_out_even_where_a_group_has_one_row_of_a_label():
    y, z = np.tile([0, 1], 10), np.zeros(20, dtype=int)
    z[0] = 1
    assert len(split_holdout(y, z, 0)[1]) == 6
