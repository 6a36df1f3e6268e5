"""A frozen model decides each row by itself, with one adaptation."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from cape import AdaptationWarning, CapeClassifier, FrozenCape
from cape.datasets import make_synthetic


def frame(seed, prevalences=(0.5, 0.5), n=1500):
    """Return the paper's data as one table with its group column, and the labels."""
    bunch = make_synthetic(n, prevalences=prevalences, random_state=seed)
    table = pd.DataFrame(np.asarray(bunch.data), columns=["u", "v"])
    table["z"] = np.asarray(bunch.sensitive_features)
    return table, np.asarray(bunch.target)


@pytest.fixture(scope="module")
def clf():
    table, y = frame(0)
    learner = LogisticRegression()
    return CapeClassifier(learner, group_columns="z", random_state=0).fit(table, y)


@pytest.fixture(scope="module")
def batch():
    return frame(1, prevalences=(0.2, 0.8), n=800)


@pytest.fixture(scope="module")
def frozen(clf, batch):
    return clf.freeze(clf.adapt(batch[0]))


def test_a_row_by_itself_is_decided_as_in_the_batch(clf, batch, frozen):
    table, _ = batch
    together = clf.predict(table)
    one_by_one = [frozen.predict(table.iloc[[row]])[0] for row in range(60)]
    np.testing.assert_array_equal(one_by_one, together[:60])
    np.testing.assert_array_equal(frozen.predict(table), together)
    np.testing.assert_array_equal(frozen.predict_proba(table), clf.predict_proba(table))


# A column that has one value in all rows is at fault.
@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_partial_dependence_asks_one_model_and_not_many(clf, batch, frozen):
    table, _ = batch
    asked = partial_dependence(frozen, table, ["u"], grid_resolution=5)
    probabilities = []
    for value in asked["grid_values"][0]:
        moved = table.assign(u=value)
        probabilities.append(frozen.predict_proba(moved)[:, 1].mean())
    np.testing.assert_allclose(asked["average"][0], probabilities)
    adapting = partial_dependence(clf, table, ["u"], grid_resolution=5)
    # Whoever adapts to every moved batch answers another question.
    assert np.abs(asked["average"] - adapting["average"]).max() > 0.1


def test_fit_does_nothing_and_a_clone_is_itself(batch, frozen):
    table, y = batch
    before = frozen.predict(table)
    assert frozen.fit(table, 1 - y) is frozen
    assert clone(frozen) is frozen
    np.testing.assert_array_equal(frozen.predict(table), before)


def test_it_is_a_fitted_classifier(clf, frozen):
    check_is_fitted(frozen)
    assert is_classifier(frozen)
    assert isinstance(frozen, FrozenCape)
    assert frozen.classes_.tolist() == clf.classes_.tolist()
    assert frozen.n_features_in_ == 3
    assert frozen.feature_names_in_.tolist() == ["u", "v", "z"]


def test_cross_validation_and_pipelines_take_it(batch, frozen):
    table, y = batch
    scores = cross_val_score(frozen, table, y, cv=2)
    piped = make_pipeline(FunctionTransformer(), frozen).fit(table, y)
    np.testing.assert_array_equal(piped.predict(table), frozen.predict(table))
    assert scores.mean() == pytest.approx(frozen.score(table, y), abs=0.01)
    np.testing.assert_array_equal(
        FrozenEstimator(frozen).predict(table), frozen.predict(table)
    )


def test_it_can_be_sent_elsewhere(batch, frozen):
    table, _ = batch
    again = pickle.loads(pickle.dumps(frozen))
    np.testing.assert_array_equal(again.predict(table), frozen.predict(table))


def test_groups_that_are_given_apart(batch):
    table, y = frame(0)
    learner = LogisticRegression()
    apart = CapeClassifier(learner, random_state=0)
    apart.fit(table[["u", "v"]], y, sensitive_features=table["z"])
    new, _ = batch
    adaptation = apart.adapt(new[["u", "v"]], sensitive_features=new["z"])
    frozen = apart.freeze(adaptation)
    np.testing.assert_array_equal(
        frozen.predict(new[["u", "v"]], sensitive_features=new["z"]),
        apart.predict(new[["u", "v"]], sensitive_features=new["z"]),
    )
    with pytest.raises(ValueError, match="sensitive_features must be given"):
        frozen.predict(new[["u", "v"]])


def test_a_model_that_adapts_to_single_rows_says_what_to_serve(clf, frozen, batch):
    new, _ = batch
    for method in (clf.predict, clf.predict_proba):
        with pytest.warns(AdaptationWarning, match="freeze") as caught:
            method(new[:1])
        assert caught[0].filename == __file__
        # Warnings are errors.
        method(new[:10])
        method(new[:0])
        method(new[:1], adaptation=frozen.adaptation)
    frozen.predict(new[:1])


def test_what_cannot_be_frozen_is_refused(clf, batch):
    with pytest.raises(TypeError, match="adaptation must be of type Adaptation"):
        clf.freeze(None)
    table, y = frame(5)
    other = CapeClassifier(LogisticRegression(), group_columns="z", random_state=0)
    other.fit(table, y)
    with pytest.raises(ValueError, match="adaptation must come from this model"):
        clf.freeze(other.adapt(batch[0]))


def test_an_unfitted_model_cannot_be_frozen(frozen):
    with pytest.raises(ValueError, match="not fitted"):
        CapeClassifier().freeze(frozen.adaptation)


OTHER_TYPES = {
    "date": lambda n: pd.Timestamp("2020-01-01"),
    "decimal comma": lambda n: ["3,14"] * n,
    "one decimal comma": lambda n: ["3,14"] + [1.5] * (n - 1),
    "text": lambda n: "high",
    "category": lambda n: pd.Categorical(["high"] * n),
    "time span": lambda n: pd.Timedelta("1s"),
}


@pytest.fixture(scope="module")
def of_mixed_types(train):
    """A model of a number, a date and a text, and its table."""
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(600) % 90, unit="D")
    table = pd.DataFrame({"u": train.X[:, 0], "day": day, "t": train.y})
    table["t"] = table["t"].map({0: "low", 1: "high"})
    table.loc[::7, "t"] = "high"
    clf = CapeClassifier(random_state=0, cv=2).fit(
        table, train.y, sensitive_features=train.z
    )
    frozen = clf.freeze(clf.adapt(table, sensitive_features=train.z))
    return frozen, table, train.z


@pytest.mark.parametrize("kind", OTHER_TYPES.values(), ids=OTHER_TYPES)
@pytest.mark.parametrize("n", [1, 40])
def test_a_column_of_another_type_is_refused(of_mixed_types, kind, n):
    """All rows of a date were positive, and a decimal comma counted as missing."""
    frozen, table, z = of_mixed_types
    if n == 1 and kind is OTHER_TYPES["one decimal comma"]:
        n = 2
    others = table[:n].assign(u=kind(n))
    for predict in (
        frozen.predict,
        frozen.predict_proba,
        frozen.estimator.predict_individually,
    ):
        with pytest.raises(ValueError, match="must hold numbers in column 'u', as in"):
            predict(others, sensitive_features=z[:n])


def test_types_are_compared_where_drift_is_ignored(of_mixed_types, train):
    """Nothing else would tell: the learner took a date for a missing number."""
    _, table, z = of_mixed_types
    clf = CapeClassifier(drift="ignore", random_state=0, cv=2)
    clf.fit(table, train.y, sensitive_features=z)
    adaptation = clf.adapt(table, sensitive_features=z)
    others = table[:40].assign(u=table["day"])
    groups = {"sensitive_features": z[:40]}
    for given in ({}, {"adaptation": adaptation}):
        with pytest.raises(ValueError, match="must hold numbers in column 'u', as in"):
            clf.predict(others, **groups, **given)
    with pytest.raises(ValueError, match="must hold numbers in column 'u', as in"):
        clf.freeze(adaptation).predict(others, **groups)
    clf.predict(table[:40], **groups)


def test_a_number_is_no_text_and_no_date(of_mixed_types):
    frozen, table, z = of_mixed_types
    for name, kind in (("t", "text"), ("day", "dates")):
        others = table[:9].assign(**{name: 7.5})
        with pytest.raises(ValueError, match=f"must hold {kind} in column '{name}'"):
            frozen.predict(others, sensitive_features=z[:9])


def test_types_that_fit_are_taken(of_mixed_types):
    frozen, table, z = of_mixed_types
    rows = table[:40]
    y_pred = frozen.predict(rows, sensitive_features=z[:40])
    for alike in (
        rows.astype({"u": object}),
        rows.astype({"t": "category"}),
        rows.assign(u=pd.array(rows["u"], dtype="Float64")),
        rows.assign(day=rows["day"].dt.tz_localize("UTC")),
    ):
        again = frozen.predict(alike, sensitive_features=z[:40])
        np.testing.assert_array_equal(again, y_pred)
    # Missing values fit every type.
    frozen.predict(rows.assign(u=None, t=None, day=None), sensitive_features=z[:40])
