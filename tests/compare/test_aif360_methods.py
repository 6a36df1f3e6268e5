"""AIF360 behind our interface gives what AIF360 gives, run on its own on the same rows."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape.compare import (
    AdversarialDebiasing,
    CalibratedEqOdds,
    MetaFair,
    RejectOption,
    Reweighing,
)
from cape.compare._aif360 import undisturbed
from cape.compare._base import split_holdout

SIDES = {"unprivileged_groups": [{"z": 0.0}], "privileged_groups": [{"z": 1.0}]}


def aif360_dataset(part, labels=None, scores=None):
    """AIF360's dataset the way its users make it; group 1 has more positives, so it is the privileged one."""
    from aif360.datasets import BinaryLabelDataset

    frame = part.data.reset_index(drop=True).astype(float)
    frame["z"] = np.asarray(part.sensitive_features, dtype=float)
    frame["y"] = (
        np.zeros(len(frame)) if labels is None else np.asarray(labels, dtype=float)
    )
    dataset = BinaryLabelDataset(
        df=frame, label_names=["y"], protected_attribute_names=["z"]
    )
    if scores is not None:
        dataset.scores = scores.reshape(-1, 1)
    return dataset


def some_rows(part, rows):
    from sklearn.utils import Bunch

    return Bunch(
        data=part.data.iloc[rows], sensitive_features=part.sensitive_features.iloc[rows]
    )


def ours_on(method, moved):
    train, test = moved
    method.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    return method.predict(test.data, sensitive_features=test.sensitive_features)


def test_reweighing_weighs_as_its_formula_says(moved, learner):
    """Weights P(z) P(y) / P(z, y), computed here without AIF360."""
    train, _ = moved
    y, z = train.target.to_numpy(), train.sensitive_features.to_numpy()
    weights = np.array(
        [
            np.mean(z == b) * np.mean(y == a) / np.mean((z == b) & (y == a))
            for a, b in zip(y, z, strict=True)
        ]
    )
    X, X_test = (
        np.column_stack([part.data, part.sensitive_features]) for part in moved
    )
    expected = LogisticRegression().fit(X, y, sample_weight=weights).predict(X_test)
    assert (ours_on(Reweighing(learner), moved) == expected).all()


@pytest.mark.parametrize("cost", ["fpr", "fnr", "weighted"])
def test_calibrated_equalised_odds_is_aif360s(moved, learner, cost):
    train, test = moved
    learn, held_out = split_holdout(
        train.target.to_numpy(), train.sensitive_features.to_numpy(), 4
    )
    with undisturbed():
        from aif360.algorithms.postprocessing import CalibratedEqOddsPostprocessing

        scored, post = post_processed(
            CalibratedEqOddsPostprocessing(**SIDES, cost_constraint=cost, seed=4),
            train,
            test,
            learn,
            held_out,
        )
        expected = post.predict(scored).labels.ravel()
    assert (
        ours_on(CalibratedEqOdds(learner, cost=cost, random_state=4), moved) == expected
    ).all()


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("spd", "Statistical parity difference"),
        ("aod", "Average odds difference"),
        ("eod", "Equal opportunity difference"),
    ],
)
def test_reject_option_is_aif360s(moved, learner, metric, name):
    train, test = moved
    learn, held_out = split_holdout(
        train.target.to_numpy(), train.sensitive_features.to_numpy(), 4
    )
    with undisturbed():
        from aif360.algorithms.postprocessing import RejectOptionClassification

        alone = RejectOptionClassification(
            **SIDES, metric_name=name, num_class_thresh=8, num_ROC_margin=6
        )
        scored, post = post_processed(alone, train, test, learn, held_out)
        expected = post.predict(scored).labels.ravel()
    ours = RejectOption(learner, metric=metric, random_state=4, thresholds=8, margins=6)
    assert (ours_on(ours, moved) == expected).all()


def post_processed(post, train, test, learn, held_out):
    """Fit a post-processor of AIF360 on the rows held out; gives the scored test rows, and it."""
    base = LogisticRegression().fit(
        aif360_dataset(some_rows(train, learn)).features, train.target.iloc[learn]
    )

    def score(part):
        scores = base.predict_proba(aif360_dataset(part).features)[:, 1]
        return aif360_dataset(part, scores > 0.5, scores)

    rest = some_rows(train, held_out)
    post.fit(aif360_dataset(rest, train.target.iloc[held_out]), score(rest))
    return score(test), post


@pytest.mark.parametrize("kind", ["sr", "fdr"])
def test_meta_fair_is_aif360s_with_scipys_mask_lifted(moved, monkeypatch, kind):
    """Independently of our density: scipy itself is told that every point is on the support, as before 1.9.3."""
    train, test = moved
    ours = ours_on(MetaFair(kind, random_state=2), moved)
    from scipy.stats._multivariate import _PSD

    monkeypatch.setattr(
        "scipy.stats._covariance.CovViaPSD._support_mask",
        lambda self, x: np.ones(len(x), dtype=bool),
    )
    monkeypatch.setattr(
        _PSD, "_support_mask", lambda self, x: np.ones(len(x), dtype=bool)
    )
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        alone = MetaFairClassifier(tau=0.8, sensitive_attr="z", type=kind, seed=2)
        alone.fit(aif360_dataset(train, train.target))
        expected = alone.predict(aif360_dataset(test)).labels.ravel()
    assert np.mean(ours == expected) == 1
    assert 0 < ours.mean() < 1


def test_meta_fair_fails_without_the_work_around(moved):
    """If this test fails, AIF360 or scipy has mended it, and `cape.compare._singular` can go."""
    train, _ = moved
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        with pytest.raises(TypeError, match="NoneType"):
            MetaFairClassifier(sensitive_attr="z", type="sr", seed=0).fit(
                aif360_dataset(train, train.target)
            )


CHEAP = [
    lambda learner, **options: Reweighing(learner, **options),
    lambda learner, **options: MetaFair(**options),
    lambda learner, **options: CalibratedEqOdds(learner, **options),
    lambda learner, **options: RejectOption(
        learner, thresholds=4, margins=3, **options
    ),
]


@pytest.mark.parametrize("make", CHEAP)
def test_takes_any_labels_and_three_groups_and_repeats_itself(make, learner):
    rng = np.random.default_rng(0)
    X, z = (
        pd.DataFrame(rng.normal(size=(240, 2))),
        np.array(["a", "b", "c"])[rng.integers(0, 3, 240)],
    )
    y = np.where(X[0] + (z == "b") + rng.normal(size=240) > 0, "yes", "no")
    first, again = (
        make(learner, random_state=1).fit(X, y, sensitive_features=z) for _ in range(2)
    )
    predicted = first.predict(X, sensitive_features=z)
    assert set(predicted) <= {"no", "yes"} and len(predicted) == 240
    assert (predicted == again.predict(X, sensitive_features=z)).all()


@pytest.mark.parametrize("make", CHEAP)
def test_the_favourable_label_may_be_the_negative_one(make, moved, learner):
    """Then it is the same as to swap the labels, predict, and swap back."""
    train, test = moved
    swapped = make(learner).fit(
        train.data, 1 - train.target, sensitive_features=train.sensitive_features
    )
    negative = make(learner, favourable="negative")
    negative.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    expected = 1 - swapped.predict(
        test.data, sensitive_features=test.sensitive_features
    )
    assert (
        negative.predict(test.data, sensitive_features=test.sensitive_features)
        == expected
    ).all()


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
def test_bad_settings_are_named_and_leave_nothing_fitted(moved, method, message):
    with pytest.raises(ValueError, match=message):
        ours_on(method, moved)
    assert not hasattr(method, "classes_")


def test_one_group_is_an_error(moved, learner):
    train, _ = moved
    with pytest.raises(
        ValueError, match="sensitive_features must have two groups at least"
    ):
        Reweighing(learner).fit(
            train.data, train.target, sensitive_features=["a"] * len(train.target)
        )


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="tensorflow is not installed"
)
def test_adversarial_learns_and_repeats_itself(moved):
    first, again = (
        ours_on(AdversarialDebiasing(random_state=0, num_epochs=5), moved)
        for _ in range(2)
    )
    assert (first == again).all()
    assert np.mean(first == moved[1].target) > 0.6
