"""What one's own past tells, and what the estimate makes of it."""

import copy
import json
import warnings
from importlib.resources import files

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.drift import Past
from cape.persist import load, save


def people(n, prevalence, *, seed, moved=0.0):
    random = np.random.default_rng(seed)
    z = np.arange(n) % 2
    y = (random.random(n) < prevalence).astype(int)
    return random.normal(size=(n, 2)) + 0.6 * y[:, None] + moved, y, z


def shares_of(y, z):
    return {group: y[z == group].mean() for group in (0, 1)}


@pytest.fixture(scope="module")
def clf():
    X, y, z = people(3000, 0.3, seed=0)
    clf = CapeClassifier(LogisticRegression(), cv=3, random_state=0)
    return clf.fit(X, y, sensitive_features=z)


def adapt(clf, X, z, past=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        return with_past(clf, past).adapt(X, sensitive_features=z)


def with_past(clf, past):
    """Return the same model with a past; it can be set after `fit`."""
    return copy.copy(clf).set_params(past=past)


def past_of(clf, prevalences, moved=0.0):
    """Return what transitions to these prevalences tell; scores may drift by chance."""
    past = Past()
    random = np.random.default_rng(1)
    for seed, prevalence in enumerate(prevalences, start=1):
        drift = random.normal(0, moved)
        X, y, z = people(2000, prevalence, seed=seed, moved=drift)
        past += adapt(clf, X, z).posterior.learn(shares_of(y, z))
    return past


@pytest.fixture(scope="module")
def calm(clf):
    return past_of(clf, [0.3] * 8)


@pytest.fixture(scope="module")
def restless(clf):
    return past_of(clf, np.random.default_rng(0).uniform(0.1, 0.9, 8))


def test_the_public_table_has_its_provenance():
    content = json.loads(files("cape.drift").joinpath("public_past.json").read_text())
    assert np.sum(content["weights"]) == pytest.approx(1, abs=0.01)
    assert np.min(content["weights"]) > 0
    assert sum(content["transitions"].values()) > 300
    assert {"date", "series", "sha256_of_series"} <= set(content)


@pytest.mark.parametrize("pure", [0.0, 0.3, 1.0])
def test_weights_are_chances_and_pure_shifts_have_no_drift(pure):
    weights = Past(pure=pure).weights
    assert weights.sum() == pytest.approx(1)
    assert weights[:, 1:].sum() <= 1 - pure
    if pure == 1:
        assert weights[:, 1:].sum() == 0


def test_a_transition_of_several_groups_counts_once(clf):
    X, y, z = people(2000, 0.3, seed=5)
    past = adapt(clf, X, z).posterior.learn(shares_of(y, z))
    assert past.transitions == 1
    assert np.sum(past.told) == pytest.approx(1)
    both = past + past
    assert both.transitions == 2
    np.testing.assert_allclose(both.told, 2 * np.array(past.told))


def test_a_calm_past_narrows_the_interval_and_a_restless_one_follows_the_scores(
    clf, calm, restless
):
    widths = {}
    distances = {}
    for name, past in {"none": None, "calm": calm, "restless": restless}.items():
        found = []
        for seed in range(20, 28):
            X, _, z = people(300, 0.5, seed=seed)
            found += adapt(clf, X, z, past).groups.values()
        widths[name] = np.mean([one.estimate.width for one in found])
        answers = [one.estimate.value - one.quantifier_estimate.value for one in found]
        distances[name] = np.mean(np.abs(answers))
    assert widths["calm"] < widths["none"]
    assert distances["restless"] < distances["none"] < distances["calm"]


def test_a_past_with_drift_makes_scores_worth_less(clf, calm):
    drifting = past_of(clf, [0.3] * 8, moved=0.25)
    assert drifting.weights[:, 2:].sum() > calm.weights[:, 2:].sum() + 0.2


def test_intervals_are_the_better_for_the_right_past(clf, calm, restless):
    """By the interval score, each past serves its own future better."""
    random = np.random.default_rng(3)
    futures = {"calm": [0.3] * 12, "restless": random.uniform(0.1, 0.9, 12)}
    pasts = {"calm": calm, "restless": restless}
    for world, prevalences in futures.items():
        scores = {}
        for name, past in pasts.items():
            scores[name] = np.mean(
                [
                    score
                    for seed, prevalence in enumerate(prevalences, start=50)
                    for score in interval_scores(clf, prevalence, seed, past)
                ]
            )
        other = "calm" if world == "restless" else "restless"
        assert scores[world] < scores[other]


def interval_scores(clf, prevalence, seed, past):
    X, y, z = people(300, prevalence, seed=seed)
    for group, adapted in adapt(clf, X, z, past).groups.items():
        _, low, high = adapted.estimate
        truth = y[z == group].mean()
        yield high - low + 40 * max(low - truth, truth - high, 0)


def test_ignored_drift_knows_no_past(clf, calm):
    X, _, z = people(300, 0.5, seed=6)
    plain = clf.adapt(X, sensitive_features=z, drift="ignore")
    with_calm = with_past(clf, calm)
    assert with_calm.adapt(X, sensitive_features=z, drift="ignore") == plain


def test_a_model_file_keeps_its_past(clf, calm, tmp_path):
    again = load(save(with_past(clf, calm), tmp_path / "model.cape"))
    assert again.past == calm


def test_past_must_be_one():
    X, y, z = people(100, 0.5, seed=0)
    with pytest.raises(ValueError, match="past"):
        CapeClassifier(past=[0.5]).fit(X, y, sensitive_features=z)
