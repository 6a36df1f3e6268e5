"""Groups that are small, unknown, absent, of one row, or named in different ways."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier


def cape(**settings):
    return CapeClassifier(
        LogisticRegression(),
        **{"cv": 2, "prevalences": 4, "random_state": 0, **settings},
    )


@pytest.fixture(scope="module")
def with_small(train):
    """Groups of 300, 290 and 10 rows."""
    return np.where(np.cumsum(train.z == 1) * (train.z == 1) > 290, 2, train.z)


def test_a_small_group_is_refused_with_its_size(train, with_small):
    with pytest.raises(
        ValueError,
        match=r"min_group_size=30 rows .* got: '2' has 10 rows\. Lower min_group_size",
    ):
        cape(small_groups="error").fit(train.X, train.y, sensitive_features=with_small)
    clf = cape(min_group_size=10)
    few_rows = r"fewer than 25 rows in a class of '2' \(2 of 10 rows\): "
    with pytest.warns(UserWarning, match=few_rows):
        clf.fit(train.X, train.y, sensitive_features=with_small)
    assert clf.groups_ == [0, 1, 2]


@pytest.mark.parametrize("pool", ["resampled", "threshold"])
def test_a_small_group_may_use_what_all_groups_have_in_common(
    train, batch, with_small, pool
):
    clf = cape(small_groups="pooled", pool=pool).fit(
        train.X, train.y, sensitive_features=with_small
    )
    assert clf.models_[2].pool is clf.pooled_.pool
    assert clf.models_[2].quantifier is clf.pooled_.quantifier
    assert clf.pooled_.size == 600
    # The facts of a small group are its own.
    assert clf.models_[2].size == 10
    assert clf.models_[2].prevalence == train.y[with_small == 2].mean()
    assert clf.models_[1].size == 290
    z = np.where(np.arange(200) < 40, 2, batch.z)
    table = clf.adapt(batch.X, sensitive_features=z).table()
    assert table.loc[2, "rows"] == 40  # a row of its own in the adaptation
    alone = clf.adapt(batch.X[:40], sensitive_features=z[:40]).table()
    # What its own scores say does not depend on who else is in the batch.
    own = ["training_prevalence", "quantifier_estimate", "mean_score"]
    pd.testing.assert_series_equal(alone.loc[2, own], table.loc[2, own])


@pytest.mark.filterwarnings("ignore:fewer than")
def test_folds_are_at_most_the_rows_of_the_smaller_class(train):
    y = train.y.copy()
    positives = np.flatnonzero((train.z == 1) & (y == 1))
    y[positives[3:]] = 0  # three positives are left
    clf = cape(cv=10, scores="folds")
    clf.fit(train.X, y, sensitive_features=train.z)
    assert len(clf.models_[1].scoring_models) == 3
    assert len(clf.models_[0].scoring_models) == 10


def test_an_unknown_group_is_refused_by_name(train, batch):
    clf = cape().fit(train.X, train.y, sensitive_features=train.z)
    z = np.where(np.arange(200) < 3, 7, batch.z)
    for call in (
        clf.predict,
        clf.predict_proba,
        clf.predict_individually,
        clf.adapt,
        clf.evidence,
    ):
        with pytest.raises(
            ValueError,
            match=r"sensitive_features must hold groups seen .*\(0, 1\), "
            r"got 7 in 3 rows",
        ):
            call(batch.X, sensitive_features=z)


def test_a_number_that_became_text_is_told_from_the_number(train, batch):
    table = pd.DataFrame(train.X, columns=["U", "V"]).assign(z=train.z)
    clf = cape(group_columns="z").fit(table, train.y)
    as_text = pd.DataFrame(batch.X, columns=["U", "V"]).assign(z=batch.z.astype(str))
    with pytest.raises(ValueError, match=r"group_columns must .*\(0, 1\), got '0' in"):
        clf.predict(as_text)


@pytest.mark.parametrize("pool", ["resampled", "threshold"])
def test_an_unknown_group_may_use_what_all_groups_have_in_common(train, batch, pool):
    clf = cape(unknown_groups="pooled", pool=pool).fit(
        train.X, train.y, sensitive_features=train.z
    )
    everyone = cape(pool=pool).fit(train.X, train.y)
    assert 7 not in clf.models_
    found = clf.adapt(batch.X, sensitive_features=np.full(200, 7)).groups[7]
    assert found.rows == 200
    assert found.estimate.value == pytest.approx(
        everyone.adapt(batch.X).groups["everyone"].estimate.value, abs=0.05
    )
    new = np.where(np.arange(200) < 50, 7, batch.z)
    y_pred = clf.predict(batch.X, sensitive_features=new)
    np.testing.assert_array_equal(
        y_pred[:50], clf.predict(batch.X[:50], sensitive_features=np.full(50, 7))
    )
    adaptation = clf.adapt(batch.X, sensitive_features=new)
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=new, adaptation=adaptation), y_pred
    )


def test_a_group_absent_from_a_batch_is_absent_from_the_adaptation(fitted, batch):
    clf, only = fitted(), batch.z == 1
    adaptation = clf.adapt(batch.X[only], sensitive_features=batch.z[only])
    assert list(adaptation.groups) == [1]
    whole = clf.predict(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(
        clf.predict(batch.X[only], sensitive_features=batch.z[only]), whole[only]
    )
    with pytest.raises(
        ValueError, match=r"adaptation must hold every group of X, got \[1\] without 0"
    ):
        clf.predict(batch.X, sensitive_features=batch.z, adaptation=adaptation)


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_a_group_of_one_row_in_a_batch(fitted, batch):
    clf = fitted()
    rows = np.r_[np.flatnonzero(batch.z == 0)[:50], np.flatnonzero(batch.z == 1)[:1]]
    table = clf.adapt(batch.X[rows], sensitive_features=batch.z[rows]).table()
    assert table["rows"].tolist() == [50, 1]
    assert table.loc[1, "predicted_prevalence"] in (0.0, 1.0)
    y_pred = clf.predict(batch.X[rows], sensitive_features=batch.z[rows])
    assert (
        y_pred[-1]
        == clf.predict_individually(
            batch.X[rows[-1:]], sensitive_features=batch.z[rows[-1:]]
        )[0]
    )


def test_an_empty_batch(fitted):
    clf, none = fitted(), np.empty((0, 2))
    assert clf.predict(none, sensitive_features=[]).shape == (0,)
    assert clf.predict_proba(none, sensitive_features=[]).shape == (0, 2)
    assert clf.predict_individually(none, sensitive_features=[]).shape == (0,)
    assert clf.adapt(none, sensitive_features=[]).groups == {}


@pytest.mark.parametrize(
    "same",
    [np.asarray, lambda z: z.astype(float), lambda z: z.astype(bool), list, pd.Series],
)
def test_1_and_1_0_and_true_are_the_same_group(fitted, batch, same):
    clf = fitted()
    expected = clf.predict(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=same(batch.z)), expected
    )
    evidence = [
        clf.evidence(batch.X, sensitive_features=z) for z in (batch.z, same(batch.z))
    ]
    assert (evidence[0] + evidence[1]).rows == {0: 200, 1: 200}


def test_groups_must_be_given_as_in_training(fitted, train, batch):
    with pytest.raises(
        ValueError, match="must be given, because .* fitted with groups; got None"
    ):
        fitted().predict(batch.X)
    with pytest.raises(
        ValueError,
        match="sensitive_features must be None: the model was fitted without groups",
    ):
        cape().fit(train.X, train.y).predict(batch.X, sensitive_features=batch.z)
    with pytest.raises(
        ValueError,
        match="sensitive_features must be None when group_columns names columns of X",
    ):
        cape(group_columns=0).fit(train.X, train.y, sensitive_features=train.z)
