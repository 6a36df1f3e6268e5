"""A group's model: what is read of rows is what its learners say, however asked."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier
from cape.evidence._histogram import count_agreements
from cape.quantify import SPA, ScoreHistogram, edges_for, make_quantifier, round_scores
from cape.training._reading import read_rows
from cape.training._scoring import Rows

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2

LEARNERS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), GaussianNB()),
}
CASES = [
    ("linear", "resampled", "refit"),
    ("linear", "threshold", "folds"),
    ("tree", "resampled", "folds"),
    ("tree", "threshold", "refit"),
    ("pipeline", "resampled", "refit"),
    ("pipeline", "threshold", "folds"),
]


def fit(train, name, pool="threshold", scores="refit", **given):
    settings = {
        "quantifier": "spa",
        "share_estimator": False,
        "cv": 3,
        "prevalences": 4,
        "preprocessing": "once",
        "random_state": 0,
        **given,
    }
    clf = CapeClassifier(LEARNERS[name], pool=pool, scores=scores, **settings)
    return clf.fit(train.X, train.y, sensitive_features=train.z)


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def clf(request, train):
    return fit(train, *request.param)


def by_hand(model, X, learner):
    """Scores by scikit-learn alone."""
    prepared = X if model.transformer is None else model.transformer.transform(X)
    return round_scores(learner.predict_proba(prepared)[:, 1])


def test_readings_are_what_the_learners_say(clf, batch):
    for group, model in clf.models_.items():
        scores = [by_hand(model, batch.X, learner) for learner in model.scoring_models]
        deciding = [by_hand(model, batch.X, learner) for learner in model.pool.models]
        reading = read_rows(group, model, Rows(batch.X))
        # In units of 2^-32: a product of matrices may differ in the last bit.
        assert np.abs(reading.scores - np.array(scores)).max() <= 1
        if clf.pool == "resampled":
            np.testing.assert_array_equal(reading.deciding, np.array(deciding) > HALF)
        else:
            assert reading.deciding.shape == (1, len(batch.X))
            mean = np.mean(deciding, axis=0)
            assert np.abs(reading.deciding[0] - mean).max() <= 1.5
        evidence = reading.evidence()
        n_models = len(model.scoring_models)
        assert evidence.scores == ScoreHistogram.of(
            reading.scores, model.edges, unit=n_models
        )
        members = range(len(model.pool.thetas))
        calls = [reading.calls(member).sum() for member in members]
        np.testing.assert_array_equal(model.pool.called(evidence), calls)


def test_the_model_as_trained_calls_as_many_positive_as_training_had(clf, batch):
    """Without CAPE, a threshold pool's model decides, or else the scoring models."""
    for group, model in clf.models_.items():
        as_trained = model.scoring_models
        if clf.pool == "threshold":
            as_trained = model.pool.models
        scores = [by_hand(model, batch.X, learner) for learner in as_trained]
        mean = np.mean(scores, axis=0)
        cut = model.training_cut
        clear = np.abs(mean - cut) > 1
        unadapted = read_rows(group, model, Rows(batch.X)).unadapted()
        np.testing.assert_array_equal(unadapted[clear], (mean > cut)[clear])
        place = np.searchsorted(model.edges, cut) + (cut >= 0)
        tpr = model.positives.above()[place] / model.positives.counts.sum()
        fpr = model.negatives.above()[place] / model.negatives.counts.sum()
        called = model.prevalence * tpr + (1 - model.prevalence) * fpr
        assert called == pytest.approx(model.prevalence, abs=0.05)


def test_a_fingerprint_depends_on_each_part(train):
    model = fit(train, "linear", "resampled").models_[0]
    one_more = model.positives + ScoreHistogram.of(np.array([HALF]), model.edges)
    moved = replace(model.negatives, sums=model.negatives.sums + 1)
    rates = replace(
        model.pool.rates, true_positives=model.pool.rates.true_positives + 1
    )
    others = [
        replace(model, positives=one_more),
        replace(model, negatives=moved),
        replace(model, pool=replace(model.pool, thetas=model.pool.thetas + 1e-9)),
        replace(model, pool=replace(model.pool, rates=rates)),
        replace(model, scoring_models=model.scoring_models * 2),
        replace(
            model,
            quantifier=make_quantifier("acc").fit(model.positives, model.negatives),
        ),
        fit(train, "linear", "threshold").models_[0],
    ]
    prints = {b"".join(m.fingerprint_parts()) for m in (model, *others)}
    assert len(prints) == 8
    again = fit(train, "linear", "resampled").models_[0]
    assert b"".join(again.fingerprint_parts()) == b"".join(model.fingerprint_parts())


def test_several_scores_a_row_count_how_often_they_agree(train, batch):
    model = fit(train, "tree", scores="folds").models_[0]
    reading = read_rows(0, model, Rows(batch.X))
    classes = model.positives, model.negatives
    total = 0
    for row in range(len(batch.X)):
        total = total + count_agreements(reading.scores[:, [row]], *classes)
    np.testing.assert_array_equal(reading.evidence().agreements, total)
    three_times_the_same = replace(
        reading, scores=np.repeat(reading.scores[:1], 3, axis=0)
    )
    np.testing.assert_array_equal(
        three_times_the_same.evidence().agreements, 9 * len(batch.X)
    )
    one_score = read_rows(0, fit(train, "tree").models_[0], Rows(batch.X))
    assert one_score.evidence().agreements is None


def test_the_test_is_sound_with_folds_a_hold_out_or_few_coefficients(train):
    sound = {
        "folds": fit(train, "tree", scores="folds"),
        "few coefficients": fit(train, "linear"),
        "hold-out": CapeClassifier(
            DecisionTreeClassifier(max_depth=2).fit(train.X, train.y),
            cv="prefit",
            pool="threshold",
        ).fit(train.X, train.y, sensitive_features=train.z),
    }
    assert all(
        model.test_is_sound for clf in sound.values() for model in clf.models_.values()
    )
    assert not any(model.test_is_sound for model in fit(train, "tree").models_.values())
    for columns, enough in (
        (3, True),
        (4, False),
    ):  # 300 rows a group: a hundred for each of 3
        noise = np.random.default_rng(0).normal(size=(600, columns - 2))
        wide = np.column_stack([train.X, noise])
        clf = CapeClassifier(
            LogisticRegression(max_iter=1000),
            cv=2,
            scores="refit",
            share_estimator=False,
            random_state=0,
        )
        clf.fit(wide, train.y, sensitive_features=train.z)
        assert [model.test_is_sound for model in clf.models_.values()] == [
            enough,
            enough,
        ]


def test_the_auc_is_the_chance_that_a_positive_scores_above_a_negative(train):
    model = fit(train, "linear").models_[0]
    positive_scores = round_scores([0.5, 0.7, 0.7, 0.9])
    negative_scores = round_scores([0.1, 0.5, 0.8])
    edges = np.unique(np.concatenate([positive_scores, negative_scores]))
    small = replace(
        model,
        positives=ScoreHistogram.of(positive_scores, edges),
        negatives=ScoreHistogram.of(negative_scores, edges),
    )
    # Of 12 pairs, 8 are in order and one is a tie.
    assert small.auc() == pytest.approx(8.5 / 12)
    swapped = replace(small, positives=small.negatives, negatives=small.positives)
    assert swapped.auc() == pytest.approx(3.5 / 12)
    alike = replace(small, negatives=small.positives)
    assert alike.auc() == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["tree"])
def test_the_auc_of_a_group_is_that_of_its_out_of_fold_scores(train, name):
    clf = fit(train, name, preprocessing="each")
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=(2, 7))
    for group, model in clf.models_.items():
        own = train.z == group
        folds = StratifiedKFold(3, shuffle=True, random_state=seeds[group][0])
        scores = cross_val_predict(
            LEARNERS[name], train.X[own], train.y[own], cv=folds, method="predict_proba"
        )[:, 1]
        # A histogram takes scores of the same cell for ties.
        expected = roc_auc_score(train.y[own], scores)
        assert model.auc() == pytest.approx(expected, abs=0.002)


def test_the_error_of_the_auc_is_that_of_hanley_and_mcneil(train):
    """It is about the spread of the AUC over repeated samples."""
    model = fit(train, "linear").models_[0]
    random = np.random.default_rng(0)
    aucs = []
    errors = []
    for _ in range(200):
        positive_scores = round_scores(expit(random.normal(1, 1, 60)))
        negative_scores = round_scores(expit(random.normal(0, 1, 90)))
        edges = edges_for(positive_scores, negative_scores)
        drawn = replace(
            model,
            positives=ScoreHistogram.of(positive_scores, edges),
            negatives=ScoreHistogram.of(negative_scores, edges),
        )
        aucs.append(drawn.auc())
        errors.append(drawn.auc_error())
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.15)
    separated = replace(
        model,
        positives=ScoreHistogram.of(np.array([ONE]), model.edges),
        negatives=ScoreHistogram.of(np.array([0]), model.edges),
    )
    assert separated.auc() == 1
    assert separated.auc_error() == 0


def test_parameters_of_the_quantifier_that_are_plain_text_enter_the_fingerprint(train):
    model = fit(train, "linear").models_[0]
    fingerprints = set()
    for binning in (10, 20):
        quantifier = BinnedSPA(binning, notes=object())
        quantifier.fit(model.positives, model.negatives)
        other = replace(model, quantifier=quantifier)
        roles = other.fingerprint_parts()[0].decode()
        assert f"'bins': {binning}" in roles
        assert "notes" not in roles
        fingerprints.add(roles)
    assert len(fingerprints) == 2


class BinnedSPA(SPA):
    """SPA with a parameter that has a plain value and one that has none."""

    def __init__(self, bins=10, notes=None):
        self.bins = bins
        self.notes = notes
