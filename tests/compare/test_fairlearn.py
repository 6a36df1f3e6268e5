"""Fairlearn behind our interface gives what Fairlearn gives."""

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape.compare import FairlearnReduction, FairlearnThreshold
from cape.compare._base import split_holdout

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # Fairlearn's own, in the independent runs


def with_group(part):
    return part.data.assign(group_1=(part.sensitive_features == 1).astype(float))


@pytest.mark.parametrize(
    ("constraint", "parity"),
    [("demographic_parity", DemographicParity), ("equalized_odds", EqualizedOdds)],
)
def test_reduction_is_fairlearns(moved, learner, constraint, parity):
    train, test = moved
    ours = FairlearnReduction(learner, constraint=constraint, random_state=3)
    ours.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    alone = ExponentiatedGradient(LogisticRegression(), parity())
    alone.fit(
        with_group(train), train.target, sensitive_features=train.sensitive_features
    )
    expected = alone.predict(with_group(test), random_state=3)
    assert (
        ours.predict(test.data, sensitive_features=test.sensitive_features) == expected
    ).all()


@pytest.mark.parametrize("constraint", ["demographic_parity", "equalized_odds"])
def test_thresholds_are_fairlearns_on_rows_held_out(moved, learner, constraint):
    train, test = moved
    ours = FairlearnThreshold(learner, constraint=constraint, random_state=3)
    ours.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    learn, held_out = split_holdout(
        train.target.to_numpy(), train.sensitive_features.to_numpy(), 3
    )
    X = with_group(train)
    base = LogisticRegression().fit(X.iloc[learn], train.target.iloc[learn])
    alone = ThresholdOptimizer(
        estimator=base,
        constraints=constraint,
        prefit=True,
        predict_method="predict_proba",
    ).fit(
        X.iloc[held_out],
        train.target.iloc[held_out],
        sensitive_features=train.sensitive_features.iloc[held_out],
    )
    expected = alone.predict(
        with_group(test), sensitive_features=test.sensitive_features, random_state=3
    )
    assert (
        ours.predict(test.data, sensitive_features=test.sensitive_features) == expected
    ).all()


@pytest.mark.parametrize("method", [FairlearnReduction, FairlearnThreshold])
def test_takes_other_labels_many_groups_and_pipelines(method):
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(300, 2)), np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    clf = method(
        make_pipeline(StandardScaler(), LogisticRegression()),
        constraint="demographic_parity",
    )
    predicted = clf.fit(X, y, sensitive_features=z).predict(X, sensitive_features=z)
    assert set(predicted) <= {"yes", "no"}
    assert np.mean(predicted == y) > 0.6
    assert (predicted == clf.predict(X, sensitive_features=z)).all()


def test_an_unknown_constraint_is_an_error(moved, learner):
    train, _ = moved
    with pytest.raises(
        ValueError,
        match="constraint must be one of 'demographic_parity', 'equalized_odds', got 'x'",
    ):
        FairlearnReduction(learner, constraint="x").fit(
            train.data, train.target, sensitive_features=train.sensitive_features
        )
