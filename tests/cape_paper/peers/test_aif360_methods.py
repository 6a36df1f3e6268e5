"""AIF360 behind our interface gives what AIF360 gives on the same rows."""

import importlib.util

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from cape.datasets import make_synthetic
from cape.metrics import confusion_by_group
from cape_paper._aif360 import undisturbed
from cape_paper._base import split_holdout
from cape_paper._peers import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MaxAcc,
    MetaFair,
    RejectOption,
    Reweighing,
)

SIDES = {"unprivileged_groups": [{"z": 0.0}], "privileged_groups": [{"z": 1.0}]}


def aif360_dataset(part, labels=None, scores=None):
    """Make AIF360's dataset the way its users do.

    Group 1 has more positives, so it is the privileged one.
    """
    from aif360.datasets import BinaryLabelDataset

    table = part.data.reset_index(drop=True).astype(float)
    table["z"] = np.asarray(part.sensitive_features, dtype=float)
    table["y"] = 0.0
    if labels is not None:
        table["y"] = np.asarray(labels, dtype=float)
    dataset = BinaryLabelDataset(
        df=table, label_names=["y"], protected_attribute_names=["z"]
    )
    if scores is not None:
        dataset.scores = scores.reshape(-1, 1)
    return dataset


def take(part, rows):
    return Bunch(
        data=part.data.iloc[rows],
        target=part.target.iloc[rows],
        sensitive_features=part.sensitive_features.iloc[rows],
    )


def scored_dataset(model, part):
    scores = model.predict_proba(aif360_dataset(part).features)[:, 1]
    return aif360_dataset(part, scores > 0.5, scores)


def post_process(post_processor, train, test, seed):
    """Fit AIF360's post-processor on rows held out, and predict the test rows."""
    y = train.target.to_numpy()
    z = train.sensitive_features.to_numpy()
    learn, held_out = split_holdout(y, z, seed)
    features = aif360_dataset(take(train, learn)).features
    model = LogisticRegression().fit(features, y[learn])
    rest = take(train, held_out)
    post_processor.fit(aif360_dataset(rest, rest.target), scored_dataset(model, rest))
    return post_processor.predict(scored_dataset(model, test)).labels.ravel()


def test_reweighing_weighs_as_its_formula_says(moved, learner, fit_predict):
    """Weights P(z) P(y) / P(z, y), computed here without AIF360."""
    train, test = moved
    y = train.target.to_numpy()
    z = train.sensitive_features.to_numpy()
    weights = np.empty(len(y))
    for label in (0, 1):
        for group in (0, 1):
            both = (y == label) & (z == group)
            independent = np.mean(y == label) * np.mean(z == group)
            weights[both] = independent / np.mean(both)
    model = LogisticRegression()
    model.fit(np.column_stack([train.data, z]), y, sample_weight=weights)
    features = np.column_stack([test.data, test.sensitive_features])
    predicted = fit_predict(Reweighing(learner), moved)
    np.testing.assert_array_equal(predicted, model.predict(features))


@pytest.mark.parametrize("cost", ["fpr", "fnr", "weighted"])
def test_calibrated_equalised_odds_is_aif360s(moved, learner, cost, fit_predict):
    with undisturbed():
        from aif360.algorithms.postprocessing import CalibratedEqOddsPostprocessing

        aif360s = CalibratedEqOddsPostprocessing(**SIDES, cost_constraint=cost, seed=4)
        expected = post_process(aif360s, *moved, seed=4)
    ours = CalibratedEqOdds(learner, cost=cost, random_state=4)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("spd", "Statistical parity difference"),
        ("aod", "Average odds difference"),
        ("eod", "Equal opportunity difference"),
    ],
)
def test_reject_option_is_aif360s(moved, learner, metric, name, fit_predict):
    with undisturbed():
        from aif360.algorithms.postprocessing import RejectOptionClassification

        aif360s = RejectOptionClassification(
            **SIDES, metric_name=name, num_class_thresh=8, num_ROC_margin=6
        )
        expected = post_process(aif360s, *moved, seed=4)
    ours = RejectOption(learner, metric=metric, random_state=4, thresholds=8, margins=6)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


def every_point_is_on_the_support(self, x):
    return np.ones(len(x), dtype=bool)


@pytest.mark.parametrize("kind", ["sr", "fdr"])
def test_meta_fair_is_aif360s_with_scipys_mask_lifted(
    moved, monkeypatch, kind, fit_predict
):
    """Our density is not used: scipy is told to behave as before 1.9.3."""
    train, test = moved
    ours = fit_predict(MetaFair(kind, random_state=2), moved)
    for owner in ("_covariance.CovViaPSD", "_multivariate._PSD"):
        target = f"scipy.stats.{owner}._support_mask"
        monkeypatch.setattr(target, every_point_is_on_the_support)
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        aif360s = MetaFairClassifier(tau=0.8, sensitive_attr="z", type=kind, seed=2)
        aif360s.fit(aif360_dataset(train, train.target))
        expected = aif360s.predict(aif360_dataset(test)).labels.ravel()
    np.testing.assert_array_equal(ours, expected)
    assert 0 < ours.mean() < 1


def test_meta_fair_fails_without_the_work_around(moved):
    """If this test fails, AIF360 or scipy has changed, and `_singular` can go."""
    train, _ = moved
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        aif360s = MetaFairClassifier(sensitive_attr="z", type="sr", seed=0)
        with pytest.raises(TypeError, match="NoneType"):
            aif360s.fit(aif360_dataset(train, train.target))


def make_reweighing(learner, **options):
    return Reweighing(learner, **options)


def make_meta_fair(learner, **options):
    return MetaFair(**options)


def make_calibrated(learner, **options):
    return CalibratedEqOdds(learner, **options)


def make_reject_option(learner, **options):
    return RejectOption(learner, thresholds=4, margins=3, **options)


cheap_methods = pytest.mark.parametrize(
    "make", [make_reweighing, make_meta_fair, make_calibrated, make_reject_option]
)


@cheap_methods
def test_takes_labels_that_are_words_and_three_groups(
    make, learner, three_groups, fit, predict
):
    predicted = predict(fit(make(learner), three_groups), three_groups)
    assert set(predicted) <= {"no", "yes"}
    assert len(predicted) == 240


@cheap_methods
def test_repeats_itself(make, learner, three_groups, fit, predict):
    first = fit(make(learner, random_state=1), three_groups)
    second = fit(make(learner, random_state=1), three_groups)
    expected = predict(first, three_groups)
    np.testing.assert_array_equal(predict(second, three_groups), expected)
    np.testing.assert_array_equal(predict(first, three_groups), expected)


@cheap_methods
def test_a_negative_favourable_label_is_the_same_as_swapped_labels(
    make, moved, learner, fit_predict, fit, predict
):
    train, test = moved
    swapped = Bunch(
        data=train.data,
        target=1 - train.target,
        sensitive_features=train.sensitive_features,
    )
    expected = 1 - predict(fit(make(learner), swapped), test)
    negative = fit_predict(make(learner, favourable="negative"), moved)
    np.testing.assert_array_equal(negative, expected)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            RejectOption(LogisticRegression(), metric="x"),
            "metric must be one of 'spd', 'aod', 'eod', got 'x'",
        ),
        (
            CalibratedEqOdds(LogisticRegression(), cost="x"),
            "cost must be one of 'fpr', 'fnr', 'weighted', got 'x'",
        ),
        (
            Reweighing(LogisticRegression(), favourable="x"),
            "favourable must be one of 'positive', 'negative', got 'x'",
        ),
    ],
)
def test_bad_settings_are_named_and_leave_nothing_fitted(moved, method, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(method, moved[0])
    assert not hasattr(method, "classes_")
    assert not hasattr(method, "bridge_")


def test_one_group_is_an_error(moved, learner):
    train, _ = moved
    groups = ["a"] * len(train.target)
    message = r"sensitive_features must have two groups at least, got 1: \['a'\]"
    with pytest.raises(ValueError, match=message):
        Reweighing(learner).fit(train.data, train.target, sensitive_features=groups)


def test_labels_of_another_length_are_an_error(moved, learner):
    train, _ = moved
    message = "X and y and sensitive_features must have the same number of rows"
    with pytest.raises(ValueError, match=message):
        Reweighing(learner).fit(
            train.data,
            train.target[:-1],
            sensitive_features=train.sensitive_features,
        )


def predicted_shares(y_pred, test):
    counts = confusion_by_group(
        test.target, y_pred, sensitive_features=test.sensitive_features
    )
    return [counts[group].predicted_prevalence for group in (0, 1)]


def test_reweighing_and_reject_option_bring_predicted_shares_nearer(
    learner, fit_predict
):
    """Both aim at statistical parity; the true prevalences are 0.3 and 0.7."""
    train = make_synthetic(2000, prevalences=(0.3, 0.7), random_state=0)
    test = make_synthetic(2000, prevalences=(0.3, 0.7), random_state=1)
    differences = {}
    for method in (
        MaxAcc(learner),
        Reweighing(learner),
        RejectOption(learner, thresholds=10, margins=10),
    ):
        y_pred = fit_predict(method, (train, test))
        group_0, group_1 = predicted_shares(y_pred, test)
        differences[type(method).__name__] = abs(group_0 - group_1)
    assert differences["Reweighing"] < differences["MaxAcc"]
    assert differences["RejectOption"] < differences["MaxAcc"]


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="tensorflow is not installed"
)
def test_adversarial_learns_and_repeats_itself(moved, fit_predict):
    first = fit_predict(AdversarialDebiasing(random_state=0, num_epochs=5), moved)
    again = fit_predict(AdversarialDebiasing(random_state=0, num_epochs=5), moved)
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == moved[1].target) > 0.6


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is not None, reason="tensorflow is installed"
)
def test_adversarial_without_tensorflow_is_an_import_error(moved, fit):
    with pytest.raises(ImportError, match="tensorflow"):
        fit(AdversarialDebiasing(), moved[0])
