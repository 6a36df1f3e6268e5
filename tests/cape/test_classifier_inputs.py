"""What CapeClassifier takes: groups, weights, models, labels, tables, learners."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from cape import CapeClassifier

POOLS = ("resampled", "threshold")


def cape(estimator=None, **settings):
    quick = {"cv": 3, "prevalences": 4, "random_state": 0}
    return CapeClassifier(
        LogisticRegression() if estimator is None else estimator,
        **{**quick, **settings},
    )


# Where groups come from


def frame_of(data):
    return pd.DataFrame(data.X, columns=["U", "V"]).assign(
        z=np.where(data.z == 0, "a", "b")
    )


def test_group_columns_of_a_frame(train, batch):
    apart = cape().fit(train.X, train.y, sensitive_features=train.z)
    expected = apart.predict(batch.X, sensitive_features=batch.z)
    clf = cape(group_columns=["z"]).fit(frame_of(train), train.y)
    assert clf.groups_ == ["a", "b"]
    np.testing.assert_array_equal(clf.predict(frame_of(batch)), expected)
    np.testing.assert_array_equal(clf.feature_names_in_, ["U", "V", "z"])
    assert clf.models_["a"].pool.models[0].feature_names_in_.tolist() == ["U", "V"]
    by_name = cape(group_columns="z").fit(pl.from_pandas(frame_of(train)), train.y)
    np.testing.assert_array_equal(
        by_name.predict(pl.from_pandas(frame_of(batch))), expected
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda X: X.tolist()])
@pytest.mark.parametrize("column", [-3, [0]])
def test_group_columns_of_an_array(train, batch, column, kind):
    # Sparse tables have no counts of columns, which would be evidence of drift.
    expected = (
        cape(drift="ignore")
        .fit(train.X, train.y, sensitive_features=train.z)
        .predict(batch.X, sensitive_features=batch.z)
    )
    clf = cape(group_columns=column, drift="ignore").fit(
        kind(np.column_stack([train.z, train.X])), train.y
    )
    np.testing.assert_array_equal(
        clf.predict(kind(np.column_stack([batch.z, batch.X]))), expected
    )
    assert clf.n_features_in_ == 3


def test_group_columns_need_no_routing_in_searches_and_pipelines(train, batch):
    search = GridSearchCV(
        cape(group_columns="z"), {"prevalences": [2, 3], "pool": POOLS}, cv=2
    )
    search.fit(frame_of(train), train.y)
    assert search.score(frame_of(batch), batch.y) > 0.8
    numbers = frame_of(train).assign(z=train.z)
    pipeline = make_pipeline(
        SimpleImputer().set_output(transform="pandas"), cape(group_columns="z")
    )
    pipeline.fit(numbers, train.y)
    alone = cape(group_columns="z").fit(numbers, train.y)
    new = frame_of(batch).assign(z=batch.z)
    np.testing.assert_array_equal(pipeline.predict(new), alone.predict(new))


def test_several_sensitive_columns(train, batch):
    def tables(z):
        two = pd.DataFrame({"a": z, "b": np.arange(len(z)) % 2})
        return [two, two.to_numpy(), pl.from_pandas(two), two.to_numpy().tolist()]

    expected = None
    for z, new_z in zip(tables(train.z), tables(batch.z), strict=True):
        clf = cape(cv=2).fit(train.X, train.y, sensitive_features=z)
        assert clf.groups_ == [(0, 0), (0, 1), (1, 0), (1, 1)]
        y_pred = clf.predict(batch.X, sensitive_features=new_z)
        expected = y_pred if expected is None else expected
        np.testing.assert_array_equal(y_pred, expected)
    assert clf.adapt(batch.X, sensitive_features=new_z).table().index.tolist() == [
        "0, 0",
        "0, 1",
        "1, 0",
        "1, 1",
    ]
    joined = [f"{a}{b}" for a, b in tables(train.z)[3]]
    one_column = cape(cv=2).fit(train.X, train.y, sensitive_features=joined)
    np.testing.assert_array_equal(
        one_column.predict(batch.X, sensitive_features=[f"{a}{b}" for a, b in new_z]),
        expected,
    )


def test_without_groups_there_is_one(train, batch):
    clf = cape().fit(train.X, train.y)
    assert clf.groups_ == ["everyone"]
    assert clf.adapt(batch.X).table().loc["everyone", "rows"] == 200
    np.testing.assert_array_equal(
        clf.predict(batch.X),
        cape()
        .fit(train.X, train.y, sensitive_features=np.zeros(600))
        .predict(batch.X, sensitive_features=np.zeros(200)),
    )


# Weights


# A model that is already fitted


def test_a_prefit_model_may_know_the_group(train):
    X = frame_of(train).assign(z=train.z)
    learner = LogisticRegression().fit(X, train.y)
    clf = CapeClassifier(learner, cv="prefit")
    clf.fit(X, train.y, sensitive_features=X["z"])
    expected = learner.predict_proba(X)[:, 1]
    scores = clf.predict_proba(X, sensitive_features=X["z"])[:, 1]
    assert np.corrcoef(scores, expected)[0, 1] > 0.99
    with pytest.raises(ValueError, match="sensitive_features, in fit and in predict"):
        clf.set_params(group_columns="z").fit(X, train.y)
    with pytest.raises(ValueError, match="must have the columns .* same order"):
        CapeClassifier(learner, cv="prefit").fit(X[X.columns[::-1]], train.y)


def test_prefit_survives_cloning_when_frozen(train):
    frozen = FrozenEstimator(LogisticRegression().fit(train.X, train.y))
    clf = cape(frozen, cv="prefit", pool="threshold")
    assert cross_validate(clf, train.X, train.y, cv=2)["test_score"].min() > 0.8


# Labels, tables and learners of any kind


@pytest.mark.parametrize(
    "classes", [("no", "yes"), (False, True), (-1, 1), (1, 2), (0.0, 1.0)]
)
def test_any_two_labels(train, batch, classes):
    plain = cape().fit(train.X, train.y, sensitive_features=train.z)
    clf = cape().fit(train.X, np.array(classes)[train.y], sensitive_features=train.z)
    assert clf.classes_.tolist() == list(classes)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(
        y_pred, np.array(classes)[plain.predict(batch.X, sensitive_features=batch.z)]
    )
    assert (
        clf.score(batch.X, np.array(classes)[batch.y], sensitive_features=batch.z) > 0.8
    )


@pytest.mark.parametrize(
    "kind",
    [
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, columns=["U", "V"]),
        lambda X: pl.DataFrame(X, schema=["U", "V"]),
    ],
)
def test_tables_of_any_kind(train, batch, kind):
    # Sparse tables have no counts of columns, which would be evidence of drift.
    expected = (
        cape(drift="ignore")
        .fit(train.X, train.y, sensitive_features=train.z)
        .predict(batch.X, sensitive_features=batch.z)
    )
    clf = cape(drift="ignore").fit(
        kind(train.X),
        pd.Series(train.y),
        sensitive_features=pd.Series(train.z, index=range(1, 601)),
    )
    np.testing.assert_array_equal(
        clf.predict(kind(batch.X), sensitive_features=batch.z), expected
    )


def test_text_and_missing_values_are_the_learner_s_business(train):
    X = pd.DataFrame(
        {"text": np.where(train.y == 1, "good", "bad"), "number": train.X[:, 0]}
    )
    X["text"] = X["text"].astype("category")
    X.loc[::7, "number"] = np.nan
    # Boosting takes both.
    clf = cape(HistGradientBoostingClassifier(max_iter=20)).fit(X, train.y)
    assert clf.score(X, train.y) == 1.0


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_a_column_of_texts(train, kind):
    """A learner may take something other than a table: rows are only picked."""
    texts = kind(
        [
            ("good " if label else "bad ") + word
            for label, word in zip(train.y, ["red", "blue"] * 300, strict=False)
        ]
    )
    clf = cape(make_pipeline(CountVectorizer(), LogisticRegression())).fit(
        texts, train.y, sensitive_features=train.z
    )
    assert clf.score(texts, train.y, sensitive_features=train.z) == 1.0
    assert not hasattr(clf, "n_features_in_")


class Foreign:
    """Fit, predict_proba, and nothing else."""

    def fit(self, X, y):
        self.model = GaussianNB().fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def test_a_foreign_learner_needs_two_methods(train, batch):
    assert not cape(Foreign()).__sklearn_tags__().input_tags.allow_nan
    clf = cape(Foreign()).fit(train.X, train.y, sensitive_features=train.z)
    np.testing.assert_array_equal(
        clf.predict(batch.X, sensitive_features=batch.z),
        cape(GaussianNB())
        .fit(train.X, train.y, sensitive_features=train.z)
        .predict(batch.X, sensitive_features=batch.z),
    )


def test_a_learner_that_meets_text_is_told_which_column_it_is(train):
    table = frame_of(train).assign(device="old scanner")
    clf = cape(group_columns="z")
    with pytest.raises(ValueError, match="could not convert string") as caught:
        clf.fit(table, train.y)
    (note,) = caught.value.__notes__
    assert "('device')" in note and "estimator" in note
    assert not hasattr(clf, "models_")


def test_other_errors_of_a_learner_have_no_note_on_text(train):
    table = frame_of(train).assign(device="old scanner")
    with pytest.raises(ValueError, match="min_group_size") as caught:
        cape(group_columns="z", min_group_size=10_000, small_groups="error").fit(
            table, train.y
        )
    assert not hasattr(caught.value, "__notes__")


def with_column(d, values):
    return np.column_stack([d.X, values])


@pytest.mark.parametrize("share", ["auto", False])
@pytest.mark.parametrize("filled", ["none", "one", "a group"])
def test_the_default_learner_reads_columns_without_values(train, batch, filled, share):
    """Histogram boosting failed: "window shape cannot be larger"."""
    rows = {"none": [], "one": [7], "a group": np.flatnonzero(train.z == 1)}[filled]
    column = np.full(len(train.y), np.nan)
    column[rows] = 1.5
    clf = CapeClassifier(random_state=0, cv=2, share_estimator=share)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(with_column(train, column), train.y, sensitive_features=train.z)
    told = [str(warning.message) for warning in caught]
    assert len(told) == (filled == "none")
    assert all("X has no value in 'x2': the learner leaves" in text for text in told)
    # What a batch holds there changes nothing.
    y_pred = []
    adaptation = clf.adapt(
        with_column(train, column), sensitive_features=train.z, drift="ignore"
    )
    for value in (np.nan, 5.0):
        batch_of = with_column(batch, np.full(len(batch.y), value))
        y_pred.append(
            clf.predict(batch_of, sensitive_features=batch.z, adaptation=adaptation)
        )
    if filled != "a group":
        np.testing.assert_array_equal(*y_pred)


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_histogram_boosting_reads_a_column_of_nothing(train, batch, nothing):
    """Of objects, it still failed: "window shape cannot be larger"."""
    clf = CapeClassifier(HistGradientBoostingClassifier(), random_state=0, cv=2)
    table = pd.DataFrame(train.X).assign(e=pd.Series(nothing, dtype=object))
    table.columns = table.columns.astype(str)
    new = pd.DataFrame(batch.X).assign(e=pd.Series(nothing, dtype=object))
    new.columns = new.columns.astype(str)
    with pytest.warns(UserWarning, match="X has no value in 'e'"):
        clf.fit(table, train.y, sensitive_features=train.z)
    with warnings.catch_warnings(action="ignore"):
        y_pred = clf.predict(new, sensitive_features=batch.z)
    assert (y_pred == batch.y).mean() > 0.8


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_encoders_work_whatever_scikit_learn_is_set_to_make(train, output):
    """Text ended in "This _MinMaxScaler instance is not fitted yet"."""
    table = frame_of(train).assign(t=np.where(train.y == 1, "yes", "no"))
    table.loc[::5, "t"] = "yes"
    plain = CapeClassifier(group_columns="z", random_state=0, cv=2)
    expected = plain.fit(table, train.y).predict(table)
    with config_context(transform_output=output):
        clf = CapeClassifier(group_columns="z", random_state=0, cv=2)
        clf.fit(table, train.y)
        np.testing.assert_array_equal(clf.predict(table), expected)


class Swapped(LogisticRegression):
    """A classifier whose columns are in the wrong order."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


@pytest.mark.parametrize("prefit", [True, False])
def test_scores_that_run_the_wrong_way_are_said_to(train, prefit):
    """An AUC of .05 was said to tell nothing."""
    learner = Swapped().fit(train.X, train.y) if prefit else Swapped()
    clf = CapeClassifier(learner, cv="prefit" if prefit else 3)
    with pytest.warns(UserWarning, match=r"scores are reversed in '0' \(AUC 0\.0"):
        clf.fit(train.X, train.y, sensitive_features=train.z)


def test_a_relation_of_duckdb_is_a_table(train, batch):
    duckdb = pytest.importorskip("duckdb")
    clf = cape(group_columns="z").fit(frame_of(train), train.y)
    expected = clf.predict(frame_of(batch))
    again = cape(group_columns="z").fit(duckdb.from_df(frame_of(train)), train.y)
    y_pred = again.predict(duckdb.from_df(frame_of(batch)))
    np.testing.assert_array_equal(y_pred, expected)
