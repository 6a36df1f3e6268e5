"""Rows and columns that belong together, and labels that can be compared."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, Scores, examine
from cape.metrics import (
    PARITY,
    audit,
    confusion_by_group,
    fairness_table,
    make_fairness_scorer,
    prevalence_difference,
)
from cape.training._sampling import pp_sampling
from cape.watch._stream import RollingCape


def framed(d):
    """The data as columns of pandas, all with one index that is not sorted."""
    index = pd.Index(np.random.default_rng(0).permutation(len(d.y)))
    X = pd.DataFrame(d.X, index, ["U", "V"])
    z = pd.DataFrame({"sex": d.z, "young": np.arange(len(d.z)) // 3 % 2}, index)
    return X, pd.Series(d.y, index), z


@pytest.fixture(scope="module")
def people(train):
    return framed(train)


@pytest.fixture(scope="module")
def clf(people):
    X, y, z = people
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    return clf.fit(X, y, sensitive_features=z)


# What takes labels, groups, weights or probabilities beside other rows.
CALLS = {
    "fit y": lambda c, X, y, z, by: c.fit(X, by(y), sensitive_features=z),
    "fit groups": lambda c, X, y, z, by: c.fit(X, y, sensitive_features=by(z)),
    "fit weights": lambda c, X, y, z, by: c.fit(
        X, y, sensitive_features=z, sample_weight=by(y + 1)
    ),
    "predict": lambda c, X, y, z, by: c.predict(X, sensitive_features=by(z)),
    "evidence": lambda c, X, y, z, by: c.evidence(X, by(y), sensitive_features=z),
    "labels and groups": lambda c, X, y, z, by: c.adapt(
        X.to_numpy(), by(y), sensitive_features=z
    ),
    "probabilities": lambda c, X, y, z, by: c.adapt(
        X, y, sensitive_features=z, inclusion_probability=by(y * 0 + 0.5)
    ),
    "examine": lambda c, X, y, z, by: examine(c, X, by(y), sensitive_features=z),
    "score": lambda c, X, y, z, by: c.score(X, by(y), sensitive_features=z),
    "frozen": lambda c, X, y, z, by: c.freeze(c.adapt(X, sensitive_features=z)).predict(
        X, sensitive_features=by(z)
    ),
    "stream": lambda c, X, y, z, by: RollingCape(c, 9).predict(
        X, sensitive_features=z, ids=by(pd.Series(range(len(y)), y.index))
    ),
    "truth": lambda c, X, y, z, by: prevalence_difference(by(y), y),
    "groups": lambda c, X, y, z, by: audit(y, y, sensitive_features=by(z)),
    "scorer": lambda c, X, y, z, by: make_fairness_scorer("pd")(
        c, X, by(y), sensitive_features=z
    ),
    "sampling": lambda c, X, y, z, by: pp_sampling(y, 0.5, sample_weight=by(y + 1)),
    "columns": lambda c, X, y, z, by: cape.check(X, by(y), sensitive_features=by(z)),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_same_index_in_another_order_is_refused(clf, people, call):
    """It was taken by position: the labels of other people backed an estimate."""
    unfitted = CapeClassifier(LogisticRegression(), cv=2)
    c = unfitted if "fit" in call.__code__.co_names else clf
    with pytest.raises(ValueError, match=r"in the order of .*\.reset_index\(drop=True"):
        call(c, *people, lambda column: column.sort_index())


def test_what_other_order_means(people):
    X, y, z = people
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    clf.fit(X, y, sensitive_features=z)
    y_pred = clf.predict(X, sensitive_features=z)
    positional = z.reset_index(drop=True)
    for alike in (
        positional.set_index(z.index + 1),
        positional.set_index(z.index.astype(str)),
        positional.set_index(z.index.astype(float)),
        positional.to_numpy(),
    ):
        again = clf.predict(X, sensitive_features=alike)
        np.testing.assert_array_equal(again, y_pred)
    halves = np.arange(len(X)) // 2
    for index, other in (
        # Numbers from 0 on are an index as any other.
        (X.index, pd.RangeIndex(len(X))),
        (pd.Index(halves), pd.Index(np.sort(halves)[::-1])),
        (X.index.astype(str), X.index.astype(str)[::-1]),
        (pd.MultiIndex.from_arrays([halves, X.index]),) * 2,
    ):
        rows = positional.set_index(other)
        if index is other:
            rows = rows[::-1]
        with pytest.raises(ValueError, match="sensitive_features must have its rows"):
            clf.predict(X.set_index(index), sensitive_features=rows)


def records(frame):
    return frame.to_records(index=False)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, records])
def test_sensitive_columns_are_matched_by_name(clf, people, kind):
    """In another order, (0, 1) was taken for (1, 0)."""
    X, _, z = people
    turned = kind(z[["young", "sex"]])
    y_pred = clf.predict(X, sensitive_features=z)
    frozen = clf.freeze(clf.adapt(X, sensitive_features=z))
    for predict, right in (
        (clf.predict, y_pred),
        (frozen.predict, frozen.predict(X, sensitive_features=z)),
        (RollingCape(clf, 600).predict, None),
    ):
        found = predict(X, sensitive_features=turned)
        if right is None:
            right = RollingCape(clf, 600).predict(X, sensitive_features=z)
        np.testing.assert_array_equal(found, right)
    again = clf.predict(X, sensitive_features=z.to_numpy())
    np.testing.assert_array_equal(again, y_pred)


@pytest.mark.parametrize("names", [["sex", "age"], ["sex"], ["sex", "sex"]], ids=str)
def test_other_sensitive_columns_are_refused(clf, people, names):
    X, _, z = people
    others = z.assign(age=z["young"])[names]
    message = r"columns of training, \['sex', 'young'\], got \['sex'"
    with pytest.raises(ValueError, match=message):
        clf.predict(X, sensitive_features=others)


NUMBERS = [0, 1] * 20
OF_ANOTHER_KIND = {
    "text": np.array(NUMBERS).astype(str),
    "text of pandas": pd.Series(NUMBERS).astype(str),
    "words": np.where(NUMBERS, "yes", "no"),
    "categories": pd.Categorical(np.array(NUMBERS).astype(str)),
    "flags as text": np.array(NUMBERS, dtype=bool).astype(str),
    "bytes": np.array(NUMBERS).astype(bytes),
    "both": np.array([0, "1"] * 20, dtype=object),
}


@pytest.mark.parametrize("other", OF_ANOTHER_KIND.values(), ids=OF_ANOTHER_KIND)
def test_labels_of_two_kinds_are_no_agreement(clf, people, other):
    """The difference of text and numbers was 0, the best there is."""
    z = np.repeat(["a", "b"], 20)
    for numbers in (np.array(NUMBERS), np.array(NUMBERS, dtype=bool)):
        for metric in (
            audit,
            confusion_by_group,
            PARITY["equal_opportunity_difference"],
            fairness_table,
        ):
            for pair in ((other, numbers), (numbers, other)):
                with pytest.raises(ValueError, match="mix of label input types"):
                    metric(*pair, sensitive_features=z)
    X, _, groups = people
    with pytest.raises(ValueError, match="mix of label input types"):
        clf.score(X[:40], other, sensitive_features=groups[:40])
    scorer = make_fairness_scorer("equal_opportunity_difference")
    with pytest.raises(ValueError, match="mix of label input types"):
        scorer(clf, X[:40], other, sensitive_features=groups[:40])


def test_labels_of_one_kind_may_have_two_types():
    y = np.array([0, 1, 1, 0] * 10)
    for other in (y.astype(bool), y.astype(float), pd.array(y, dtype="Int64")):
        assert prevalence_difference(y, other) == 0
        assert prevalence_difference(other, 1 - y) == 0


def test_a_chosen_label_is_of_the_kind_of_the_labels():
    with pytest.raises(ValueError, match=r"pos_label and y_true .* mix of label"):
        prevalence_difference([1, 1], [1, 1], pos_label="1")


def test_the_score_takes_the_labels_of_the_model_alone(clf, people):
    X, y, z = people
    with pytest.raises(ValueError, match=r"labels \[0, 1\] of the model, got 2"):
        clf.score(X, y + 1, sensitive_features=z)


def ordered(y, negative="good", positive="bad"):
    """Labels of which the lesser comes later in the alphabet."""
    words = np.where(np.asarray(y) == 1, positive, negative)
    return pd.Categorical(words, [negative, "fair", positive], ordered=True)


@pytest.mark.parametrize("kind", [pd.Series, pd.DataFrame, lambda labels: labels])
def test_the_order_of_labels_says_which_is_positive(train, batch, kind):
    """In "good" < "bad", the positive label was "good"."""
    plain = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    plain.fit(train.X, train.y, sensitive_features=train.z)
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    clf.fit(train.X, kind(ordered(train.y)), sensitive_features=train.z)
    assert clf.classes_.tolist() == ["good", "bad"]
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    expected = plain.predict(batch.X, sensitive_features=batch.z)
    np.testing.assert_array_equal(y_pred == "bad", expected == 1)
    found = clf.adapt(batch.X, ordered(batch.y), sensitive_features=batch.z)
    right = plain.adapt(batch.X, batch.y, sensitive_features=batch.z)
    assert found.groups[0].estimate.value == right.groups[0].estimate.value
    # Metrics know the order of the truth; predictions are plain text.
    truth = ordered(batch.y)
    of_words = audit(truth, y_pred, sensitive_features=batch.z)
    of_numbers = audit(batch.y, expected, sensitive_features=batch.z)
    pd.testing.assert_frame_equal(of_words.table(), of_numbers.table())
    scorer = make_fairness_scorer("equal_opportunity_difference")
    of_words = scorer(clf, batch.X, truth, sensitive_features=batch.z)
    of_numbers = scorer(plain, batch.X, batch.y, sensitive_features=batch.z)
    assert of_words == of_numbers
    # A fold may hold one label of two.
    one = pd.Categorical(["good"] * 2, ["good", "bad"], ordered=True)
    assert confusion_by_group(one, one)["everyone"].tn == 2


def test_the_order_of_labels_holds_for_scores_of_another_model(train):
    score = train.y + np.random.default_rng(0).normal(size=len(train.y))
    table = pd.DataFrame({"score": score, "z": train.z})
    clf = CapeClassifier(Scores("score"), group_columns="z")
    clf.fit(table, ordered(train.y))
    assert clf.classes_.tolist() == ["good", "bad"]
    called = clf.predict(table) == "bad"
    assert score[called].min() > score[~called].mean()


def test_categories_without_an_order_are_sorted(train):
    words = pd.Categorical(np.where(train.y == 1, "bad", "good"), ["good", "bad"])
    clf = CapeClassifier(LogisticRegression(), cv=2).fit(train.X, words)
    assert clf.classes_.tolist() == ["bad", "good"]


@pytest.mark.parametrize(
    "kind",
    [
        lambda flags: pd.array(flags, dtype="boolean"),
        lambda flags: pd.Series(flags, dtype="boolean"),
        lambda flags: pd.Index(flags, dtype="boolean"),
        pd.Categorical,
        list,
    ],
)
def test_flags_stay_flags(train, kind):
    """Of an array that can hold missing ones, the classes were 0.0 and 1.0."""
    clf = CapeClassifier(LogisticRegression(), cv=2)
    clf.fit(train.X, kind(train.y.astype(bool)))
    assert clf.classes_.dtype == bool


def test_a_fitted_model_of_other_labels_is_refused(train):
    """numpy calls 1 and "1" equal, and nobody was positive."""
    learner = LogisticRegression().fit(train.X, train.y)
    clf = CapeClassifier(learner, cv="prefit")
    with pytest.raises(ValueError, match=r"two classes of the fitted estimator, \[0"):
        clf.fit(train.X, train.y.astype(str))
