"""Fairlearn behind our interface gives what Fairlearn gives."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape.datasets import make_synthetic
from cape_paper._base import split_holdout
from cape_paper._peers import FairlearnReduction, FairlearnThreshold, MaxAcc

# Fairlearn warns in the runs of its own; ours silence it.
pytestmark = pytest.mark.filterwarnings("ignore")

both_methods = pytest.mark.parametrize("make", [FairlearnReduction, FairlearnThreshold])
both_constraints = pytest.mark.parametrize(
    "constraint", ["demographic_parity", "equalized_odds"]
)
PARITIES = {"demographic_parity": DemographicParity, "equalized_odds": EqualizedOdds}


def with_group(part):
    indicator = (part.sensitive_features == 1).astype(float)
    return part.data.assign(group_1=indicator)


@both_constraints
def test_reduction_is_fairlearns(moved, learner, constraint, fit_predict):
    train, test = moved
    ours = FairlearnReduction(learner, constraint=constraint, random_state=3)
    fairlearns = ExponentiatedGradient(LogisticRegression(), PARITIES[constraint]())
    groups = train.sensitive_features
    fairlearns.fit(with_group(train), train.target, sensitive_features=groups)
    expected = fairlearns.predict(with_group(test), random_state=3)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


@both_constraints
def test_thresholds_are_fairlearns_on_rows_held_out(
    moved, learner, constraint, fit_predict
):
    train, test = moved
    ours = FairlearnThreshold(learner, constraint=constraint, random_state=3)
    y = train.target.to_numpy()
    z = train.sensitive_features.to_numpy()
    learn, held_out = split_holdout(y, z, 3)
    features = with_group(train)
    base = LogisticRegression().fit(features.iloc[learn], y[learn])
    fairlearns = ThresholdOptimizer(
        estimator=base,
        constraints=constraint,
        prefit=True,
        predict_method="predict_proba",
    )
    fairlearns.fit(features.iloc[held_out], y[held_out], sensitive_features=z[held_out])
    expected = fairlearns.predict(
        with_group(test), sensitive_features=test.sensitive_features, random_state=3
    )
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


@both_methods
def test_takes_labels_that_are_words_many_groups_and_pipelines(
    make, three_groups, fit, predict
):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    clf = make(pipeline, constraint="demographic_parity")
    predicted = predict(fit(clf, three_groups), three_groups)
    assert set(predicted) <= {"yes", "no"}
    assert np.mean(predicted == three_groups.target) > 0.6
    np.testing.assert_array_equal(predicted, predict(clf, three_groups))


@both_methods
def test_demographic_parity_is_nearer_than_max_acc_brings_it(
    make, learner, fit_predict
):
    """On new rows of the training distribution, where the constraint must hold."""
    parts = []
    for seed in (0, 1):
        part = make_synthetic(3000, prevalences=(0.3, 0.7), random_state=seed)
        parts.append(part)
    differences = []
    for method in (make(learner, constraint="demographic_parity"), MaxAcc(learner)):
        predicted = fit_predict(method, parts)
        differences.append(
            demographic_parity_difference(
                parts[1].target,
                predicted,
                sensitive_features=parts[1].sensitive_features,
            )
        )
    assert differences[0] < 0.1 < differences[1]


@both_methods
def test_the_learner_that_was_given_is_not_fitted(make, moved, learner, fit):
    fit(make(learner), moved[0])
    assert not hasattr(learner, "coef_")


def test_reduction_treats_an_unknown_group_as_the_first(moved, learner, fit):
    """It does not use the group itself, only its indicator among the features."""
    train, test = moved
    clf = fit(FairlearnReduction(learner, constraint="demographic_parity"), train)
    n_rows = len(test.target)
    unknown = clf.predict(test.data, sensitive_features=["new"] * n_rows)
    first = clf.predict(test.data, sensitive_features=[0] * n_rows)
    np.testing.assert_array_equal(unknown, first)


@both_methods
def test_an_unknown_constraint_is_an_error(make, moved, learner, fit):
    message = (
        "constraint must be one of 'demographic_parity', 'equalized_odds', got 'x'"
    )
    with pytest.raises(ValueError, match=message):
        fit(make(learner, constraint="x"), moved[0])


@both_methods
def test_more_than_two_labels_are_an_error(make, moved, learner):
    train, _ = moved
    labels = np.arange(len(train.target)) % 3
    groups = train.sensitive_features
    with pytest.raises(ValueError, match="y must hold two classes, got 3"):
        make(learner).fit(train.data, labels, sensitive_features=groups)


def test_reduction_needs_a_learner_that_takes_weights(moved, fit):
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(ValueError, match="fit takes no weights"):
        fit(FairlearnReduction(KNeighborsClassifier()), moved[0])
