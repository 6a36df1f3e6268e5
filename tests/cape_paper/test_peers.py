"""The peers behind our interface give what they give on the same rows."""

import importlib.util
import logging
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, EqualizedOdds, ExponentiatedGradient
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape_paper import published
from cape_paper._methods import METHODS, make_method
from cape_paper._peers import (
    AdversarialDebiasing,
    CapeOne,
    FairlearnReduction,
    FairlearnThreshold,
    MaxAcc,
    MetaFair,
    PostProcessor,
    ProjectedNormal,
    Reweighing,
    split_holdout,
    undisturbed,
)

# Fairlearn warns in the runs of its own; ours silence it.
pytestmark = pytest.mark.filterwarnings("ignore")
SIDES = {"unprivileged_groups": [{"z": 0.0}], "privileged_groups": [{"z": 1.0}]}
LEARNER = LogisticRegression()
CALIBRATED = {"algorithm": "CalibratedEqOddsPostprocessing", "cost_constraint": "fnr"}
REJECT = {
    "algorithm": "RejectOptionClassification",
    "metric_name": "Statistical parity difference",
    "num_class_thresh": 8,
    "num_ROC_margin": 6,
}


def slowly(*values):
    """Return the parameters of a test that is slow and rare."""
    return pytest.param(*values, marks=pytest.mark.slow)


HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None


@pytest.fixture(scope="module")
def moved():
    """Labelled rows of two groups that differ in prevalence, and a batch that moved."""
    train = make_synthetic(400, prevalences=(0.3, 0.6), random_state=0)
    return train, make_synthetic(200, prevalences=(0.5, 0.7), random_state=1)


def fit(method, rows):
    groups = rows.sensitive_features
    return method.fit(rows.data, rows.target, sensitive_features=groups)


def fit_predict(method, parts):
    train, test = parts
    fitted = fit(method, train)
    return fitted.predict(test.data, sensitive_features=test.sensitive_features)


def aif360_dataset(part, labels=0.0, rows=slice(None)):
    """Make AIF360's dataset the way its users do; group 1 has more positives."""
    from aif360.datasets import BinaryLabelDataset

    table = part.data.astype(float).assign(z=part.sensitive_features.astype(float))
    table = table.assign(y=np.asarray(labels, dtype=float)).iloc[rows]
    return BinaryLabelDataset(
        df=table.reset_index(drop=True),
        label_names=["y"],
        protected_attribute_names=["z"],
    )


def scored(model, part, rows=slice(None)):
    scores = model.predict_proba(aif360_dataset(part).features)[:, 1]
    dataset = aif360_dataset(part, scores > 0.5, rows)
    dataset.scores = scores[rows].reshape(-1, 1)
    return dataset


def post_process(post_processor, train, test, seed):
    """Fit AIF360's post-processor on rows held out, and predict the test rows."""
    y = train.target.to_numpy()
    learn, held_out = split_holdout(y, train.sensitive_features.to_numpy(), seed)
    model = LogisticRegression()
    model.fit(aif360_dataset(train, y, learn).features, y[learn])
    truth = aif360_dataset(train, y, held_out)
    post_processor.fit(truth, scored(model, train, held_out))
    return post_processor.predict(scored(model, test)).labels.ravel()


def test_reweighing_weighs_as_its_formula_says(moved):
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
    expected = model.predict(np.column_stack([test.data, test.sensitive_features]))
    np.testing.assert_array_equal(fit_predict(Reweighing(LEARNER), moved), expected)


@pytest.mark.parametrize("options", [CALIBRATED, REJECT])
def test_post_processors_are_aif360s(moved, options):
    options = dict(options)
    name = options.pop("algorithm")
    seed = {"seed": 4} if "Calibrated" in name else {}
    with undisturbed():
        from aif360.algorithms import postprocessing

        aif360s = getattr(postprocessing, name)(**SIDES, **seed, **options)
        expected = post_process(aif360s, *moved, seed=4)
    ours = PostProcessor(LEARNER, algorithm=name, random_state=4, **options)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


@pytest.mark.slow
def test_meta_fair_is_aif360s_with_scipys_mask_lifted(moved, monkeypatch):
    """Our density is not used: scipy is told to behave as before 1.9.3."""
    train, test = moved
    ours = fit_predict(MetaFair(type="sr", tau=0.8, random_state=2), moved)
    for owner in ("_covariance.CovViaPSD", "_multivariate._PSD"):
        target = f"scipy.stats.{owner}._support_mask"
        monkeypatch.setattr(target, lambda self, x: np.ones(len(x), dtype=bool))
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        aif360s = MetaFairClassifier(tau=0.8, sensitive_attr="z", type="sr", seed=2)
        aif360s.fit(aif360_dataset(train, train.target))
        expected = aif360s.predict(aif360_dataset(test)).labels.ravel()
    np.testing.assert_array_equal(ours, expected)
    assert 0 < ours.mean() < 1


def test_meta_fair_fails_without_the_work_around(moved):
    """If this test fails, AIF360 or scipy has changed, and our density can go."""
    train, _ = moved
    with undisturbed():
        from aif360.algorithms.inprocessing import MetaFairClassifier

        aif360s = MetaFairClassifier(sensitive_attr="z", type="sr", seed=0)
        with pytest.raises(TypeError, match="NoneType"):
            aif360s.fit(aif360_dataset(train, train.target))


@pytest.mark.skipif(not HAS_TENSORFLOW, reason="tensorflow is not installed")
def test_adversarial_learns_and_repeats_itself(moved):
    first = fit_predict(AdversarialDebiasing(num_epochs=5), moved)
    again = fit_predict(AdversarialDebiasing(num_epochs=5), moved)
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == moved[1].target) > 0.6


AIF360 = {
    "reweighing": (Reweighing, {}),
    "calibrated": (PostProcessor, CALIBRATED),
    "reject": (PostProcessor, REJECT),
}


@pytest.mark.parametrize("name", AIF360)
def test_a_negative_favourable_label_is_the_same_as_swapped_labels(name, moved):
    make, options = AIF360[name]
    train, test = moved
    swapped = Bunch(**{**train, "target": 1 - train.target})
    expected = 1 - fit_predict(make(LEARNER, **options), (swapped, test))
    negative = fit_predict(make(LEARNER, favourable="negative", **options), moved)
    np.testing.assert_array_equal(negative, expected)


def test_aif360_needs_two_groups(moved):
    train, _ = moved
    with pytest.raises(ValueError, match="two groups at least"):
        z = ["a"] * len(train.target)
        Reweighing(LEARNER).fit(train.data, train.target, sensitive_features=z)


@pytest.mark.parametrize(
    ("constraint", "parity"),
    [
        ("demographic_parity", DemographicParity),
        slowly("equalized_odds", EqualizedOdds),
    ],
)
def test_fairlearns_methods_are_fairlearns(moved, constraint, parity):
    train, test = moved
    y = train.target.to_numpy()
    z = train.sensitive_features.to_numpy()
    features = train.data.assign(group_1=(z == 1).astype(float))
    new_z = test.sensitive_features
    new = test.data.assign(group_1=(new_z == 1).astype(float))
    reduction = ExponentiatedGradient(LogisticRegression(), parity())
    reduction.fit(features, y, sensitive_features=z)
    ours = FairlearnReduction(LEARNER, constraint=parity.__name__, random_state=3)
    expected = reduction.predict(new, random_state=3)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)

    learn, held_out = split_holdout(y, z, 3)
    optimizer = ThresholdOptimizer(
        estimator=LogisticRegression().fit(features.iloc[learn], y[learn]),
        constraints=constraint,
        prefit=True,
        predict_method="predict_proba",
    )
    optimizer.fit(features.iloc[held_out], y[held_out], sensitive_features=z[held_out])
    expected = optimizer.predict(new, sensitive_features=new_z, random_state=3)
    ours = FairlearnThreshold(LEARNER, constraint=constraint, random_state=3)
    np.testing.assert_array_equal(fit_predict(ours, moved), expected)


EVERY_METHOD = []
for name in METHODS:
    if not METHODS[name].missing():
        is_slow = name.startswith("Meta") or name.endswith("-eo")
        EVERY_METHOD.append(slowly(name) if is_slow else name)
QUICK = {"num_class_thresh": 4, "num_ROC_margin": 3}


@pytest.mark.parametrize("name", EVERY_METHOD)
def test_every_method_takes_three_groups_and_pipelines(name, monkeypatch):
    """And leaves learner and rows as they were; ROC searches a smaller grid."""
    if name.startswith("ROC"):
        quick = METHODS[name]._replace(make=partial(METHODS[name].make, **QUICK))
        monkeypatch.setitem(METHODS, name, quick)
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 2)), columns=["a", "b"])
    z = pd.Series(random.choice(["x", "y", "z"], 150))
    y = (X["a"] + (z == "y") + random.normal(size=150) > 0).astype(int)
    before = X.copy()
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    method = make_method(name, learner, seed=1)
    if name.startswith("CAPE"):
        method.set_params(cv=2)
    predicted = method.fit(X, y, sensitive_features=z).predict(X, sensitive_features=z)
    assert set(np.unique(predicted)) <= {0, 1}
    assert len(predicted) == 150
    if "fair" not in name and name != "Always positive":
        assert np.mean(predicted == y) > 0.5
    pd.testing.assert_frame_equal(X, before)
    assert not hasattr(learner[-1], "coef_")


def test_the_table_of_methods_has_the_rows_of_the_paper():
    for results in published()["table_results"].values():
        assert set(results) <= set(METHODS)
    assert make_method("CAPE default", LEARNER, seed=3).get_params()[
        "random_state"
    ] == (3)
    assert make_method("CAPE same learner", LEARNER).estimator is LEARNER
    assert make_method("Reweigh", LEARNER, favourable="negative").favourable == (
        "negative"
    )


def test_max_acc_is_one_model_with_the_group_among_its_features(moved):
    train, test = moved
    features = train.data.assign(group_1=train.sensitive_features == 1)
    model = LogisticRegression().fit(features, train.target)
    expected = model.predict(test.data.assign(group_1=test.sensitive_features == 1))
    np.testing.assert_array_equal(fit_predict(MaxAcc(LEARNER), moved), expected)


def test_cape_1_is_cape_on_batches_of_one_row(moved):
    train, test = moved
    settings = {"random_state": 0, "cv": 2, "prevalences": 4}
    cape = fit(CapeClassifier(LEARNER, **settings), train)
    one_by_one = []
    for row in range(15):
        X = test.data[row : row + 1]
        z = test.sensitive_features[row : row + 1]
        one_by_one += cape.predict(X, sensitive_features=z).tolist()
    predicted = fit_predict(CapeOne(LEARNER, **settings), moved)
    assert predicted[:15].tolist() == one_by_one


def test_the_holdout_keeps_the_mix_of_groups_and_labels():
    y = np.tile([0, 1, 1, 1], 50)
    z = np.repeat(["a", "b"], 100)
    learn, held_out = split_holdout(y, z, seed=0)
    assert sorted([*learn, *held_out]) == list(range(200))
    for group in ("a", "b"):
        assert y[held_out][z[held_out] == group].mean() == pytest.approx(0.75, abs=0.02)
    # A stratum of one row cannot be split: then the rows are drawn as they come.
    learn, held_out = split_holdout(np.array([0] * 9 + [1]), np.zeros(10), seed=0)
    assert (len(learn), len(held_out)) == (7, 3)


def make_noise():
    logging.warning("noise")
    print("noise")  # noqa: T201
    warnings.warn("noise", stacklevel=1)
    np.random.seed(3)


def test_noise_is_kept_inside_and_nothing_is_changed_for_good(capsys):
    root = logging.getLogger()
    setup = list(root.handlers), list(root.filters)
    state = np.random.get_state()[1].copy()
    with pytest.raises(RuntimeError), undisturbed():
        make_noise()
        raise RuntimeError
    assert capsys.readouterr() == ("", "")
    assert (list(root.handlers), list(root.filters)) == setup
    assert (np.random.get_state()[1] == state).all()


@pytest.mark.slow
def test_importing_and_using_aif360_writes_nothing():
    """In a process of its own, since AIF360 speaks when it is first imported."""
    code = """
import logging
from sklearn.linear_model import LogisticRegression
from cape_paper._peers import Reweighing
from cape.datasets import make_synthetic
d = make_synthetic(200, prevalences=(0.3, 0.6), random_state=0)
model = Reweighing(LogisticRegression())
model.fit(d.data, d.target, sensitive_features=d.sensitive_features)
assert not logging.getLogger().handlers
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@given(st.integers(0, 10_000))
def test_the_density_is_scipys_on_the_support_and_of_the_projection_off_it(seed):
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, 2))
    cov = root @ root.T
    orthogonal = np.linalg.svd(root)[0][:, 2]
    on_support = root @ random.normal(size=2)
    ours = ProjectedNormal(np.zeros(3), cov, allow_singular=True)
    scipys = multivariate_normal(np.zeros(3), cov, allow_singular=True)
    np.testing.assert_allclose(ours.pdf(on_support), scipys.pdf(on_support), rtol=1e-6)
    # What scipy gives since 1.9.3.
    assert scipys.pdf(on_support + orthogonal) == 0
    projected = ours.pdf(on_support + orthogonal)
    np.testing.assert_allclose(projected, ours.pdf(on_support), rtol=1e-6)
