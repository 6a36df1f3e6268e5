"""Settings that choose by themselves: learners, folds, scores and sharing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cape import CapeClassifier, persist
from cape.datasets import make_synthetic
from cape.training._learner import Recipe

AUTOMATIC = {
    "quantifier": "emq",
    "pool": "threshold",
    "share_estimator": "auto",
    "cv": "auto",
    "scores": "auto",
    "preprocessing": "auto",
    "random_state": 0,
}


def synthetic(n_samples, **settings):
    data = make_synthetic(n_samples, **settings)
    return data.data.to_numpy(), data.target.to_numpy(), data.frame["z"].to_numpy()


def fit(estimator=None, n_samples=600, **settings):
    X, y, z = synthetic(n_samples, random_state=0)
    clf = CapeClassifier(estimator, **{**AUTOMATIC, **settings})
    return clf.fit(X, y, sensitive_features=z)


def recipe(estimator, **changes):
    settings = {
        "estimator": estimator,
        "quantifier": "emq",
        "resampled": False,
        "thetas": np.array([0.5]),
        "cv": "auto",
        "scores": "auto",
        "transform_once": False,
        "share": "auto",
    }
    return Recipe(**{**settings, **changes})


def test_the_papers_settings_are_those_of_its_constructor():
    paper = CapeClassifier.paper()
    assert isinstance(paper.estimator, HistGradientBoostingClassifier)
    assert CapeClassifier.paper(cv=3, random_state=1).cv == 3


@pytest.mark.parametrize(
    ("n_rows", "cv"),
    [
        (200, 5),
        (999, 5),
        (1000, 3),
        (19_999, 3),
        (20_000, 0.5),
        (50_000, 0.5),
        (100_000, 0.25),
        (10**6, 0.2),
    ],
)
def test_folds_follow_the_number_of_rows(n_rows, cv):
    """A number below 1 is the share of rows that one split holds out."""
    assert recipe(GaussianNB()).scheme(n_rows, 5) == (cv, False)


@pytest.mark.parametrize("changes", [{"resampled": True}, {"scores": "folds"}])
def test_one_split_is_made_only_if_all_is_free(changes):
    assert recipe(GaussianNB(), **changes).scheme(10**6, 3)[0] == 3


@pytest.mark.parametrize(
    ("estimator", "n_rows", "refit"),
    [
        (LogisticRegression(), 500, True),
        (LogisticRegression(), 499, False),
        (make_pipeline(StandardScaler(), LogisticRegression()), 2000, True),
        (make_pipeline(OneHotEncoder(), LogisticRegression()), 2000, False),
        (SGDClassifier(loss="log_loss"), 2000, False),
        (GaussianNB(), 2000, False),
        (HistGradientBoostingClassifier(), 2000, False),
    ],
    ids=["logistic", "few rows", "scaled", "encoded", "sgd", "bayes", "boosting"],
)
def test_only_steady_learners_are_refitted(estimator, n_rows, refit):
    """A linear learner is steady with 100 rows for each of five columns."""
    assert recipe(estimator).scheme(n_rows, 5)[1] == refit


def test_what_is_said_explicitly_is_done():
    boosting = HistGradientBoostingClassifier()
    assert recipe(boosting, cv=7, scores="refit").scheme(50, 5) == (7, True)


def test_the_mean_of_the_fold_models_decides():
    clf = fit(GaussianNB(), share_estimator=False, cv=3)
    X, _, z = synthetic(200, random_state=4)
    adaptation = clf.adapt(X, sensitive_features=z)
    for group, model in clf.models_.items():
        own = X[z == group]
        scores = [fold.predict_proba(own)[:, 1] for fold in model.scoring_models]
        assert len(scores) == 3 and model.pool.models is model.scoring_models
        cut = model.pool.cuts[adaptation.groups[group].classifier] / 2**32
        called = clf.predict(X, sensitive_features=z, adaptation=adaptation)[z == group]
        mean = np.mean(scores, axis=0)
        clear = np.abs(mean - cut) > 1e-8
        np.testing.assert_array_equal(called[clear] == 1, (mean > cut)[clear])


class TestSharing:
    def test_a_shared_learner_is_told_the_group(self):
        clf = fit(HistGradientBoostingClassifier(max_iter=10), share_estimator=True)
        assert [model.group_code for model in clf.models_.values()] == [0, 1]
        assert clf.models_[0].scoring_models[0] is clf.models_[1].scoring_models[0]

    def test_a_shared_linear_learner_becomes_a_plain_one_of_each_group(self):
        clf = fit(LogisticRegression(), share_estimator=True)
        for model in clf.models_.values():
            assert model.group_code is None
            assert type(model.scoring_models[0]) is LogisticRegression
            assert model.is_linear

    def test_auto_keeps_groups_of_few_rows_shared(self):
        clf = fit(HistGradientBoostingClassifier(max_iter=10), n_samples=600)
        assert all(model.group_code is not None for model in clf.models_.values())

    def test_auto_gives_a_group_its_own_learner_where_that_is_better(self):
        """Two groups with opposite labels: a stump cannot serve both."""
        random = np.random.default_rng(0)
        z = np.repeat([0, 1], 1500)
        X = random.normal(size=(3000, 1))
        signal = np.where(z == 1, -X[:, 0], X[:, 0])
        y = (signal + 0.3 * random.normal(size=3000) > 0).astype(int)
        stump = HistGradientBoostingClassifier(max_depth=1, max_iter=20)
        clf = CapeClassifier(stump, **AUTOMATIC).fit(X, y, sensitive_features=z)
        assert [model.group_code for model in clf.models_.values()] == [None, None]

    @pytest.mark.parametrize("settings", [{"pool": "resampled"}, {"cv": "prefit"}])
    def test_sharing_cannot_be_had_where_learners_are_given_or_resampled(
        self, settings
    ):
        with pytest.raises(ValueError, match="share_estimator must be False or 'auto'"):
            fit(LogisticRegression(), share_estimator=True, **settings)

    def test_columns_that_no_table_has_cannot_be_shared(self):
        """The group is one more column, and a list of texts has no columns."""
        random = np.random.default_rng(0)
        y = random.integers(0, 2, 200)
        texts = [f"{'good' if label else 'bad'} news" for label in y]
        groups = {"sensitive_features": np.arange(200) % 2}
        learner = make_pipeline(CountVectorizer(), MultinomialNB())
        clf = CapeClassifier(learner, **{**AUTOMATIC, "share_estimator": True})
        with pytest.raises(ValueError, match="share_estimator .* if X is no table"):
            clf.fit(texts, y, **groups)
        assert not hasattr(clf, "models_")
        clf.set_params(share_estimator="auto").fit(texts, y, **groups)
        assert [model.group_code for model in clf.models_.values()] == [None, None]
        # Once they are transformed, texts are a table.
        clf.set_params(share_estimator=True, preprocessing="once")
        clf.fit(texts, y, **groups)
        assert [model.group_code for model in clf.models_.values()] == [0, 1]
        np.testing.assert_array_equal(clf.predict(texts, **groups), y)

    @pytest.mark.parametrize(
        "names",
        [["a", "b"], [0, 1], [5, -1], pd.MultiIndex.from_tuples([("a", 0), ("a", 1)])],
        ids=["text", "numbers", "any numbers", "two levels"],
    )
    def test_columns_may_have_any_names(self, names):
        X, y, z = synthetic(600, random_state=0)
        frame = pd.DataFrame(X, columns=names)
        settings = {**AUTOMATIC, "share_estimator": True}
        for learner in (GaussianNB(), LogisticRegression()):
            plain = CapeClassifier(learner, **settings).fit(X, y, sensitive_features=z)
            clf = CapeClassifier(learner, **settings)
            clf.fit(frame, y, sensitive_features=z)
            np.testing.assert_array_equal(
                clf.predict(frame, sensitive_features=z),
                plain.predict(X, sensitive_features=z),
            )
        assert list(frame.columns) == list(names)

    @pytest.mark.parametrize(
        "setting", [{"monotonic_cst": [1, 0]}, {"categorical_features": [False, True]}]
    )
    def test_settings_of_single_columns_are_not_shared(self, setting):
        """A learner that knows two columns cannot read a third, the group."""
        rows = make_synthetic(400, random_state=0)
        X = rows.data.to_numpy().round()
        X[:, 1] %= 9
        learner = HistGradientBoostingClassifier(max_iter=5, **setting)
        clf = CapeClassifier(learner, random_state=0)
        clf.fit(X, rows.target, sensitive_features=rows.sensitive_features)
        assert all(model.group_code is None for model in clf.models_.values())
        clf.set_params(share_estimator=True)
        with pytest.raises(ValueError, match="a setting for each column, got True"):
            clf.fit(X, rows.target, sensitive_features=rows.sensitive_features)

    def test_a_shared_model_is_saved_streamed_and_read_in_parts(self, tmp_path):
        from cape.watch._stream import RollingCape

        clf = fit(HistGradientBoostingClassifier(max_iter=10), share_estimator=True)
        X, _, z = synthetic(200, prevalences=(0.2, 0.8), random_state=3)
        again = persist.load(persist.save(clf, tmp_path / "m.cape"))
        assert again.fingerprint_ == clf.fingerprint_
        y_pred = clf.predict(X, sensitive_features=z)
        np.testing.assert_array_equal(again.predict(X, sensitive_features=z), y_pred)
        first = clf.evidence(X[:50], sensitive_features=z[:50])
        rest = clf.evidence(X[50:], sensitive_features=z[50:])
        assert first + rest == clf.evidence(X, sensitive_features=z)
        rolling = RollingCape(clf, window=500)
        rolling.predict(X, sensitive_features=z)
        assert rolling.evidence() == first + rest


class TestChoice:
    def test_a_small_table_has_no_choice(self):
        clf = fit(n_samples=300)
        assert clf.candidates_["chosen"].tolist() == [True]
        assert np.isnan(clf.candidates_["log_loss"]).all()

    @pytest.mark.slow
    def test_the_better_candidate_is_chosen_by_log_loss(self):
        clf = fit(n_samples=20_000)
        losses = clf.candidates_["log_loss"]
        assert losses.notna().all()
        assert losses.idxmin() == clf.candidates_.index[clf.candidates_["chosen"]][0]

    @pytest.mark.slow
    def test_a_table_with_text_and_gaps_is_served(self, tmp_path):
        random = np.random.default_rng(0)
        n = 400
        frame = pd.DataFrame(
            {
                "age": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
                "sex": random.choice(["m", "f"], n),
                "day": pd.date_range("2020-01-01", periods=n),
                "race": random.choice(["a", "b"], n),
            }
        )
        y = (frame["age"].fillna(0) + (frame["sex"] == "m") > 0.5).astype(int)
        clf = CapeClassifier(group_columns="race", **AUTOMATIC).fit(frame, y)
        assert clf.score(frame, y) > 0.8
        again = persist.load(persist.save(clf, tmp_path / "m.cape"))
        np.testing.assert_array_equal(again.predict(frame), clf.predict(frame))


class TestWarnings:
    def test_groups_whose_scores_say_nothing_are_named(self):
        random = np.random.default_rng(0)
        X, y, z = synthetic(600, random_state=0)
        y = np.where(z == 0, random.integers(0, 2, 600), y)
        clf = CapeClassifier(LogisticRegression(), **AUTOMATIC)
        with pytest.warns(UserWarning, match=r"do not tell the classes apart in '0'"):
            clf.fit(X, y, sensitive_features=z)
