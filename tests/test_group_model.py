"""A group's model: what it sees in rows is what its learners say, however it is asked."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier
from cape._learners import RowsOf
from cape._prediction import batch_of, look, look_closely
from cape.evidence import GroupEvidence
from cape.histogram import HALF, ScoreHistogram, round_scores
from cape.quantify import make_quantifier

LEARNERS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), GaussianNB()),
}
CASES = [
    (name, pool, scores)
    for name in LEARNERS
    for pool in ("resampled", "threshold")
    for scores in ("refit", "folds")
]


def fit(train, name, pool="threshold", scores="refit", **given):
    settings = {
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


def test_what_is_seen_is_what_the_learners_say(clf, batch):
    for model in clf.models_.values():
        scores = np.array(
            [by_hand(model, batch.X, learner) for learner in model.scorer.models]
        )
        decisive = np.array(
            [by_hand(model, batch.X, learner) for learner in model.pool.models]
        )
        found, read = model.read(batch.X)
        assert np.abs(found - scores).max() <= 1  # in units of 2^-32
        if clf.pool == "resampled":
            np.testing.assert_array_equal(read, decisive > HALF)
        else:
            assert np.abs(read - decisive[0]).max() <= 1
        evidence, same = model.look(batch.X)
        np.testing.assert_array_equal(same, read)
        assert evidence.scores == ScoreHistogram.of(found, model.edges, unit=len(found))
        called = model.pool.predicted_prevalences(evidence)
        np.testing.assert_allclose(called, model.pool.decide_each(read).mean(axis=0))


def test_a_close_look_sees_the_same_and_more(clf, batch):
    for model in clf.models_.values():
        plain, read = model.look(batch.X)
        evidence, scores, unadapted = model.look_closely(batch.X)
        assert evidence.scores == plain.scores and np.array_equal(
            evidence.together, plain.together
        )
        assert (
            np.array_equal(evidence.tally, plain.tally) or evidence.tally == plain.tally
        )
        np.testing.assert_array_equal(model.pool.read_of(scores), read)
        as_trained = (
            model.pool.models if clf.pool == "threshold" else model.scorer.models
        )
        mean = np.mean(
            [by_hand(model, batch.X, learner) for learner in as_trained], axis=0
        )
        clear = np.abs(mean - HALF) > 1
        np.testing.assert_array_equal(unadapted[clear], (mean > HALF)[clear])
        for member in range(0, len(model.pool.thetas), 37):
            row = scores[model.pool.model_of(member)]
            np.testing.assert_array_equal(
                model.pool.decide(row, member), model.pool.decide_by(read, member)
            )
            np.testing.assert_array_equal(
                row, model.pool.scores_of(model.prepared(batch.X), member)
            )


def test_a_close_look_at_a_batch_puts_each_row_in_its_place(clf, batch):
    seen = batch_of(clf, batch.X, batch.z)
    plain, _ = look(seen)
    evidence, scores, unadapted = look_closely(seen)
    assert list(evidence) == list(plain) == [0, 1]
    for group, model in clf.models_.items():
        own = batch.z == group
        alone, scores_alone, unadapted_alone = model.look_closely(batch.X[own])
        assert evidence[group].scores == alone.scores == plain[group].scores
        np.testing.assert_array_equal(scores[:, own], scores_alone)
        np.testing.assert_array_equal(unadapted[own], unadapted_alone)


def test_evidence_of_no_rows_is_the_zero(clf, batch):
    for model in clf.models_.values():
        zero, found = model.no_evidence(), model.look(batch.X[:50])[0]
        nothing, read = model.look(batch.X[:0])
        assert read.shape == model.pool.nothing().shape
        for empty in (zero, nothing):
            total = found + empty
            assert empty.scores.size == 0 and total.scores == found.scores
            assert (
                np.array_equal(total.tally, found.tally) or total.tally == found.tally
            )
            assert np.array_equal(total.together, found.together)


def test_chosen_rows_are_the_rows(clf, batch):
    some = np.array([3, 7, 8, 150])
    for model in clf.models_.values():
        for X in (RowsOf(batch.X, some), RowsOf(batch.X[2:], some - 2)):
            for found, expected in zip(
                model.read(X), model.read(batch.X[some]), strict=True
            ):
                np.testing.assert_array_equal(found, expected)


def test_each_learner_is_listed_once(clf):
    for model in clf.models_.values():
        expected = len({id(m) for m in (*model.scorer.models, *model.pool.models)})
        assert (
            len(model.learners)
            == expected
            == {
                ("resampled", "refit"): 5,
                ("resampled", "folds"): 7,
                ("threshold", "refit"): 1,
                ("threshold", "folds"): 4,
            }[clf.pool, clf.scores]
        )
        assert model.is_linear == isinstance(clf.estimator, LogisticRegression)


def test_a_linear_learner_behind_a_transformer_is_not_multiplied_as_it_is(train):
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    for preprocessing in ("once", "each"):
        clf = CapeClassifier(
            scaled, pool="threshold", cv=2, preprocessing=preprocessing
        ).fit(train.X, train.y)
        assert not clf.models_["everyone"].is_linear


@pytest.mark.parametrize("name", ["linear", "tree"])
def test_rates_of_the_model_as_trained_are_those_of_its_out_of_fold_scores(train, name):
    clf = fit(train, name)
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=(2, 7))
    for group, model in clf.models_.items():
        own = train.z == group
        folds = StratifiedKFold(3, shuffle=True, random_state=seeds[group][0])
        scores = cross_val_predict(
            LEARNERS[name], train.X[own], train.y[own], cv=folds, method="predict_proba"
        )[:, 1]
        called = round_scores(scores) > HALF
        expected = called[train.y[own] == 1].mean(), called[train.y[own] == 0].mean()
        assert model.unadapted_rates() == pytest.approx(expected)


def test_scores_at_one_half_are_not_called_positive_by_the_model_as_trained(train):
    model = fit(train, "tree").models_[0]
    at_half = ScoreHistogram.of(np.array([HALF, HALF, HALF + 1, 0]), model.edges)
    above = ScoreHistogram.of(np.array([HALF + 1]), model.edges)
    assert replace(model, positives=at_half, negatives=above).unadapted_rates() == (
        0.25,
        1.0,
    )


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
        replace(model, scorer=replace(model.scorer, models=model.scorer.models * 2)),
        replace(
            model,
            quantifier=make_quantifier("acc").fit(model.positives, model.negatives),
        ),
        fit(train, "linear", "threshold").models_[0],
    ]
    prints = {b"".join(m.parts()) for m in (model, *others)}
    assert len(prints) == 8
    assert b"".join(fit(train, "linear", "resampled").models_[0].parts()) in prints


def test_several_scores_a_row_count_how_often_they_fall_together(train, batch):
    model = fit(train, "tree", scores="folds").models_[0]
    scores, _ = model.read(batch.X)
    each = sum(model.together(scores[:, [row]]) for row in range(len(batch.X)))
    np.testing.assert_array_equal(model.look(batch.X)[0].together, each)
    np.testing.assert_array_equal(
        model.together(np.repeat(scores[:1], 3, axis=0)), 9 * len(batch.X)
    )
    assert fit(train, "tree").models_[0].together(scores[:1]) is None


def test_scores_follow_training_with_folds_a_hold_out_or_few_coefficients(train):
    follows = {
        "folds": fit(train, "tree", scores="folds"),
        "few coefficients": fit(train, "linear"),
        "hold-out": CapeClassifier(
            DecisionTreeClassifier(max_depth=2).fit(train.X, train.y),
            cv="prefit",
            pool="threshold",
        ).fit(train.X, train.y, sensitive_features=train.z),
    }
    assert all(
        model.follows for clf in follows.values() for model in clf.models_.values()
    )
    assert not any(model.follows for model in fit(train, "tree").models_.values())
    for columns, enough in (
        (15, True),
        (16, False),
    ):  # 300 rows a group: twenty for each of 15
        wide = np.resize(train.X, (600, columns))
        clf = CapeClassifier(LogisticRegression(), cv=2, pool="threshold")
        clf.fit(wide, train.y, sensitive_features=train.z)
        assert [model.follows for model in clf.models_.values()] == [enough, enough]


def test_evidence_is_what_a_quantifier_reads(clf, batch):
    for group, model in clf.models_.items():
        own = batch.z == group
        found = clf.evidence(batch.X, sensitive_features=batch.z).groups[group]
        assert isinstance(found, GroupEvidence) and found.scores.size == own.sum()
        mean = model.read(batch.X[own])[0].mean() / 2**32
        q = (mean - model.negatives.mean) / (
            model.positives.mean - model.negatives.mean
        )
        assert model.quantifier.estimate(found.scores) == pytest.approx(
            np.clip(q, 0, 1), abs=1e-9
        )
