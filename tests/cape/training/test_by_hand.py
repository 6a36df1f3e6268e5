"""Training is what scikit-learn does step by step: folds, a refit, and members."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier
from cape.quantify import ScoreHistogram, round_scores
from cape.training._sampling import pp_sampling

ONE = 2**32  # the unit of rounded scores
HALF = ONE // 2

LEARNERS = {
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "logistic": LogisticRegression(tol=1e-9, max_iter=1000),
    "pipeline": make_pipeline(
        StandardScaler(), LogisticRegression(tol=1e-9, max_iter=1000)
    ),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def rows_of(n, groups=3, seed=0):
    random = np.random.default_rng(seed)
    z = random.integers(0, groups, n)
    y = (random.random(n) < 0.3 + 0.15 * z).astype(int)
    return random.normal(size=(n, 3)) + y[:, None], y, z


X, y, z = rows_of(420)
NEW, _, NEW_Z = rows_of(150, seed=1)
WEIGHTS = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)


def cape(learner, **given):
    """Make the paper's classifier, with fewer folds and members."""
    settings = {"cv": 3, "prevalences": 3, "random_state": 7, **given}
    return CapeClassifier.paper(estimator=learner, **settings)


def seeds(n_groups, n_thetas=3, random_state=7):
    """Of each group those of its folds, fold models and refit, then of its members."""
    return np.random.RandomState(random_state).randint(
        np.iinfo(np.int32).max, size=(n_groups, 3 + n_thetas)
    )


def rows_or_none(weights, rows):
    return None if weights is None else weights[rows]


def scores_of(model):
    return model.predict_proba(NEW)[:, 1]


def near(found, expected):
    """The last bits of a sum depend on the way it is added."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def histograms_hold(model, scores, labels, weights=None, rows=None):
    """The two histograms are those of these out-of-fold scores.

    ``rows`` says which row each score is of: a row counts once, however often tested.
    """
    counts = np.ones(len(scores))
    if rows is None:
        rows = np.arange(len(scores))
    if weights is not None:
        _, first = np.unique(rows, return_index=True)
        distinct = weights[first]
        counts = weights * distinct.sum() / (distinct @ distinct)
    counts = counts / np.bincount(rows)[rows]
    for histogram, mask in (
        (model.positives, labels == 1),
        (model.negatives, labels == 0),
    ):
        rounded = round_scores(scores[mask])
        expected = ScoreHistogram.of(rounded, model.edges, weights=counts[mask])
        assert histogram.size == pytest.approx(expected.size)
        assert histogram.mean == pytest.approx(expected.mean, abs=1e-6)
        moved = np.abs(histogram.counts - expected.counts).sum() / 2
        assert moved <= 0.05 * expected.size  # scores a rounding error from an edge


def sample_of(labels, theta, seed, weights=None):
    return pp_sampling(
        labels, theta, sample_weight=weights, random_state=np.random.RandomState(seed)
    )


@every_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_a_group_is_trained_as_by_hand(name, weighted):
    learner, weights = LEARNERS[name], WEIGHTS if weighted else None
    clf = cape(learner).fit(X, y, sensitive_features=z, sample_weight=weights)
    keyword = (
        "logisticregression__sample_weight" if name == "pipeline" else "sample_weight"
    )
    for group, group_seeds in zip(range(3), seeds(3), strict=True):
        own, model = z == group, clf.models_[group]
        Xg, yg, wg = X[own], y[own], rows_or_none(weights, own)
        fit_params = {} if wg is None else {keyword: wg}
        folds = StratifiedKFold(3, shuffle=True, random_state=group_seeds[0])
        scores = cross_val_predict(
            learner, Xg, yg, cv=folds, method="predict_proba", params=fit_params
        )[:, 1]
        histograms_hold(model, scores, yg, wg)
        assert (model.size, model.prevalence) == (
            len(yg),
            pytest.approx(np.average(yg, weights=wg)),
        )
        refit = clone(learner).fit(Xg, yg, **fit_params)
        near(scores_of(model.scoring_models[0]), scores_of(refit))
        for member, theta in enumerate([1 / 6, 1 / 2, 5 / 6]):
            sample = sample_of(yg, theta, group_seeds[3 + member], wg)
            by_hand = clone(learner).fit(Xg[sample], yg[sample])
            near(scores_of(model.pool.models[member]), scores_of(by_hand))
            unseen = np.setdiff1d(np.arange(len(yg)), sample)
            called = round_scores(by_hand.predict_proba(Xg[unseen])[:, 1]) > HALF
            if (yg[unseen] == 1).sum() >= 10 and not weighted:
                recall = recall_score(yg[unseen], called)
                assert model.pool.rates.tpr[member] == pytest.approx(recall)
            counts = np.ones(len(yg)) if wg is None else wg * len(yg) / wg.sum()
            of_positives = counts[unseen] @ yg[unseen]
            assert model.pool.rates.positives[member] == pytest.approx(of_positives)


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(3),
        ShuffleSplit(4, test_size=0.3, random_state=0),
        TimeSeriesSplit(3),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_splitter_splits_the_rows_of_each_group(splitter, weighted):
    weights = WEIGHTS if weighted else None
    clf = cape(GaussianNB(), cv=splitter, pool="threshold", min_class_size=0)
    clf.fit(X, y, sensitive_features=z, sample_weight=weights)
    for group in range(3):
        own = np.flatnonzero(z == group)
        scores, tested = [], []
        for train, test in splitter.split(X[own], y[own]):
            rows = own[train]
            fold = GaussianNB()
            fold.fit(X[rows], y[rows], sample_weight=rows_or_none(weights, rows))
            scores.append(fold.predict_proba(X[own[test]])[:, 1])
            tested.append(own[test])
        tested = np.concatenate(tested)
        histograms_hold(
            clf.models_[group],
            np.concatenate(scores),
            y[tested],
            rows_or_none(weights, tested),
            rows=tested,
        )


def test_given_splits_are_cut_down_to_the_rows_of_each_group_in_their_order():
    random = np.random.default_rng(0)
    only_group_0 = np.flatnonzero(z == 0)
    splits = [
        (random.permutation(420)[:300], random.permutation(420)[:90]) for _ in range(3)
    ]
    splits.append(
        (only_group_0[:60], only_group_0[60:])
    )  # a fold in which other groups have no rows
    settings = {"scores": "folds", "unknown_groups": "pooled", "min_class_size": 0}
    clf = cape(GaussianNB(), cv=iter(splits), **settings).fit(
        X, y, sensitive_features=z
    )
    n_models = [len(clf.models_[group].scoring_models) for group in range(3)]
    assert n_models == [4, 3, 3]
    for group, model in [*clf.models_.items(), (None, clf.pooled_)]:
        own = np.full(420, True) if group is None else z == group
        scores, tested = [], []
        for place, (train, test) in enumerate(splits[: len(model.scoring_models)]):
            train, test = train[own[train]], test[own[test]]
            fold = GaussianNB().fit(X[train], y[train])
            scores.append(fold.predict_proba(X[test])[:, 1])
            tested.append(test)
            near(scores_of(model.scoring_models[place]), scores_of(fold))
        tested = np.concatenate(tested)
        histograms_hold(model, np.concatenate(scores), y[tested], rows=tested)


@pytest.fixture
def threads():
    """Workers that need not be started, with all else as in processes."""
    with parallel_config("threading"):
        yield


class FailsOnMany(ClassifierMixin, BaseEstimator):
    """Fails when positives are more than a share: folds pass, a member does not."""

    def fit(self, X, y):
        if y.mean() > 0.8:
            raise RuntimeError("too many positives")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.usefixtures("threads")
def test_a_member_that_fails_leaves_nothing_half_fitted(n_jobs):
    clf = cape(FailsOnMany(), n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match="too many positives"):
        clf.fit(X, y, sensitive_features=z)
    assert [name for name in vars(clf) if name.endswith("_")] == []
    clf.set_params(prevalences=[0.2, 0.6]).fit(X, y, sensitive_features=z)
    assert clf.prevalences_.tolist() == [0.2, 0.6]


@pytest.mark.parametrize("preprocessing", ["each", "once"])
def test_transformers_are_fitted_in_each_fold_or_once_a_group(preprocessing):
    transformer = QuantileTransformer(n_quantiles=20, random_state=0)
    learner = make_pipeline(transformer, GaussianNB())
    clf = cape(learner, preprocessing=preprocessing).fit(X, y, sensitive_features=z)
    for group, group_seeds in zip(range(3), seeds(3), strict=True):
        own, model = z == group, clf.models_[group]
        folds = StratifiedKFold(3, shuffle=True, random_state=group_seeds[0])
        once = clone(transformer).fit(X[own])
        Xg, trained = (
            (once.transform(X[own]), GaussianNB())
            if preprocessing == "once"
            else (X[own], learner)
        )
        new = once.transform(NEW) if preprocessing == "once" else NEW
        histograms_hold(
            model,
            cross_val_predict(trained, Xg, y[own], cv=folds, method="predict_proba")[
                :, 1
            ],
            y[own],
        )
        sample = sample_of(y[own], 0.5, group_seeds[4])
        by_hand = (
            clone(trained).fit(Xg[sample], y[own][sample]).predict_proba(new)[:, 1]
        )
        prepared = NEW
        if model.transformer is not None:
            prepared = model.transformer.transform(NEW)
        near(model.pool.models[1].predict_proba(prepared)[:, 1], by_hand)


@pytest.mark.filterwarnings(
    "ignore:the scores of:cape.rules._adaptation.AdaptationWarning"
)
@pytest.mark.parametrize("small", ["pooled by size", "pooled by class", "unknown"])
def test_the_pooled_model_is_trained_on_the_rows_of_all_groups(small):
    groups, labels, new_z = z.copy(), y.copy(), NEW_Z
    if small == "pooled by size":
        groups[np.flatnonzero(z == 2)[10:]] = 1
    elif small == "pooled by class":
        labels[z == 2] = 1
    else:
        new_z = np.where(NEW_Z == 2, 9, NEW_Z)
    clf = cape(GaussianNB(), small_groups="pooled", unknown_groups="pooled")
    clf.fit(X, labels, sensitive_features=groups)
    n_own = 3 if small == "unknown" else 2
    group_seeds = seeds(n_own + 1)[n_own]
    folds = StratifiedKFold(3, shuffle=True, random_state=group_seeds[0])
    scores = cross_val_predict(
        GaussianNB(), X, labels, cv=folds, method="predict_proba"
    )[:, 1]
    histograms_hold(clf.pooled_, scores, labels)
    assert clf.pooled_.size == 420
    stranger = 9 if small == "unknown" else 2
    rows = new_z == stranger
    refit = GaussianNB().fit(X, labels)
    estimates = refit.predict_proba(NEW[rows])[:, 1].mean()
    tp, fp = scores[labels == 1].mean(), scores[labels == 0].mean()
    found = clf.adapt(NEW[rows], sensitive_features=new_z[rows]).groups[stranger]
    assert found.estimate.value == pytest.approx(
        np.clip((estimates - fp) / (tp - fp), 0, 1), abs=1e-6
    )
    sample = sample_of(
        labels, clf.prevalences_[found.classifier], group_seeds[3 + found.classifier]
    )
    by_hand = GaussianNB().fit(X[sample], labels[sample]).predict(NEW[rows])
    predicted = clf.predict(NEW, sensitive_features=new_z)
    np.testing.assert_array_equal(predicted[rows], by_hand)


@pytest.mark.parametrize("weighted", [False, True])
def test_prefit_scores_the_hold_out_with_the_model_itself(weighted):
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        *rows_of(500, seed=5)[:2]
    )
    weights = WEIGHTS if weighted else None
    clf = cape(model, cv="prefit", pool="threshold").fit(
        X, y, sensitive_features=z, sample_weight=weights
    )
    scores = model.predict_proba(X)[:, 1]
    for group in range(3):
        own = z == group
        histograms_hold(
            clf.models_[group], scores[own], y[own], rows_or_none(weights, own)
        )
        assert clf.models_[group].pool.models == [model]
        assert clf.models_[group].scoring_models == [model]


def test_rows_of_weight_zero_do_not_make_a_group_large_enough():
    weights = np.ones(420)
    weights[np.flatnonzero(z == 2)[5:]] = 0
    with pytest.raises(ValueError, match=r"got: '2' has 5 rows\."):
        cape(GaussianNB()).fit(X, y, sensitive_features=z, sample_weight=weights)
    clf = cape(GaussianNB(), small_groups="pooled").fit(
        X, y, sensitive_features=z, sample_weight=weights
    )
    is_pooled = [clf.models_[group].pool is clf.pooled_.pool for group in range(3)]
    assert is_pooled == [False, False, True]
    assert clf.models_[2].size == 5
    assert clf.models_[2].prevalence == y[z == 2][:5].mean()


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([0] * 20 + [1] * 9, "29 rows"),
        ([0] * 30, "30 rows of one class only"),
        ([0] * 29 + [1], "30 rows with 1 of the smaller class, too few for 2 folds"),
    ],
)
def test_why_a_group_is_too_small(labels, why):
    groups = np.where(np.arange(420) < len(labels), "a", "b")
    with pytest.raises(ValueError, match=f"got: 'a' has {why}\\. Lower"):
        cape(GaussianNB()).fit(
            X, [*labels, *y[len(labels) :]], sensitive_features=groups
        )


@pytest.mark.parametrize("pool", ["resampled", "threshold"])
@pytest.mark.parametrize(
    ("scores", "refitted"),
    [("refit", [True, True]), ("folds", [False, False]), ("auto", [True, False])],
)
def test_a_refit_is_trained_only_if_somebody_needs_it(pool, scores, refitted):
    clf = cape(GaussianNB(), pool=pool, scores=scores).fit(X, y)
    is_refitted = refitted[pool == "threshold"]
    assert len(clf.models_["everyone"].scoring_models) == (1 if is_refitted else 3)


def test_progress_bars_count_every_training(capsys):
    clf = cape(GaussianNB(), prevalences=2, verbose=1)
    clf.fit(X, y, sensitive_features=z)
    first, then, rest = capsys.readouterr().err.split("\n")
    # Three folds and a refit in each of three groups, then two members.
    assert "12/12" in first
    assert "6/6" in then
    assert rest == ""


def test_scores_that_do_not_tell_the_classes_apart_are_told_with_their_group():
    clf = cape(DummyClassifier(strategy="uniform"), min_class_size=0)
    with pytest.warns(UserWarning, match=r"(?i)scores") as caught:
        clf.fit(X, y, sensitive_features=z)
    starts = [str(warning.message)[:9] for warning in caught]
    assert starts[:3] == ["group '0'", "group '1'", "group '2'"]
    model = clf.models_[1]
    assert model.quantifier.estimate(model.positives) == model.prevalence
