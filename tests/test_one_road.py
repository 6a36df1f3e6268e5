"""One road: rows are scored once, one rule picks, and predicting is adapting first."""

from collections import Counter
from itertools import count, product
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier
from cape.rules import GroupSituation, Prevalence, Rule
from cape.watch._stream import RollingCape
from cape_app.files import predict_file

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")

FEATURES = ("number", "u", "v")
SETTINGS = list(product(("threshold", "resampled"), ("refit", "folds")))
every_setting = pytest.mark.parametrize(
    ("pool", "scores"), SETTINGS, ids=["-".join(pair) for pair in SETTINGS]
)


def rows_of(n, n_groups, seed, shift=0.0):
    """Rows of the groups "a", "b", ...; the first column holds the row's number."""
    random = np.random.default_rng(seed)
    code = random.integers(0, n_groups, n)
    y = (random.random(n) < 0.3 + shift + 0.1 * code).astype(int)
    features = random.normal(size=(n, 2)) + y[:, None]
    X = np.column_stack([np.arange(n), features])
    return X, y, np.array(list("abc"))[code]


def cape(learner, **given):
    quick = {"cv": 3, "prevalences": 4, "random_state": 0, "preprocessing": "once"}
    return CapeClassifier(learner, **{**quick, **given})


# Predicting is adapting, and then deciding


def as_frame(X):
    return pd.DataFrame(X, columns=["number", "u", "v"])


LEARNERS = {
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), np.asarray),
    "pipeline": (make_pipeline(StandardScaler(), LogisticRegression()), as_frame),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("n_groups", [1, 3])
@every_setting
def test_predicting_is_adapting_and_deciding_to_the_bit(pool, scores, n_groups, name):
    learner, kind = LEARNERS[name]
    X, y, z = rows_of(200 * n_groups, n_groups, 0)
    clf = cape(learner, pool=pool, scores=scores)
    new, _, new_z = rows_of(120, n_groups, 1, shift=0.2)
    new = kind(new)
    groups = {}
    if n_groups == 1:
        clf.fit(kind(X), y)
    else:
        clf.fit(kind(X), y, sensitive_features=z)
        groups = {"sensitive_features": new_z}
    adaptation = clf.adapt(new, **groups)
    y_pred = clf.predict(new, **groups)
    proba = clf.predict_proba(new, **groups)
    given = {**groups, "adaptation": adaptation}
    np.testing.assert_array_equal(clf.predict(new, **given), y_pred)
    np.testing.assert_array_equal(clf.predict_proba(new, **given), proba)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, y_pred == clf.classes_[1])
    for group, adapted in adaptation.groups.items():
        rows = slice(None) if n_groups == 1 else new_z == group
        assert adapted.predicted_prevalence == (y_pred[rows] == 1).mean()


@pytest.fixture(scope="module")
def trees():
    X, y, z = rows_of(600, 3, 0)
    fitted = {}
    for pool, scores in SETTINGS:
        clf = cape(LEARNERS["tree"][0], pool=pool, scores=scores)
        fitted[pool, scores] = clf.fit(X, y, sensitive_features=z)
    return fitted


N_ROWS = 90
NEW, _, NEW_Z = rows_of(N_ROWS, 3, 1, shift=0.2)


def numbers_of(group):
    """Numbers of the new rows that belong to a group."""
    return np.flatnonzero(np.equal(NEW_Z, group)).tolist()


@every_setting
@settings(max_examples=15)
@given(rows=st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=40))
def test_any_batch_is_predicted_by_its_own_adaptation(trees, pool, scores, rows):
    """Rows may be repeated, in any order, and groups may be missing."""
    clf = trees[pool, scores]
    batch = {"X": NEW[rows], "sensitive_features": NEW_Z[rows]}
    adaptation = clf.adapt(**batch)
    proba = clf.predict_proba(**batch)[:, 1]
    np.testing.assert_array_equal(clf.predict(**batch), proba > 0.5)
    np.testing.assert_array_equal(
        clf.predict_proba(**batch, adaptation=adaptation)[:, 1], proba
    )


@every_setting
def test_a_level_changes_no_decision(trees, pool, scores):
    clf = trees[pool, scores]
    batch = {"X": NEW, "sensitive_features": NEW_Z}
    expected = clf.predict_proba(**batch)
    for level in (0.1, 0.999):
        adaptation = clf.adapt(**batch, level=level)
        np.testing.assert_array_equal(
            clf.predict_proba(**batch, adaptation=adaptation), expected
        )


# Each row is scored once


class CountingBayes(GaussianNB):
    """Notes which rows it is asked for; the first column holds their numbers.

    It is no plain logistic regression, and so never part of a shared product.
    """

    asked: Counter = Counter()
    _lock = Lock()
    _numbers = count()

    def fit(self, X, y, sample_weight=None):
        self.token_ = next(CountingBayes._numbers)
        return super().fit(np.asarray(X)[:, 1:], y, sample_weight)

    def predict_proba(self, X):
        table = np.asarray(X)
        with CountingBayes._lock:
            for number in table[:, 0].astype(int).tolist():
                CountingBayes.asked[self.token_, number] += 1
        return super().predict_proba(table[:, 1:])


@pytest.fixture
def asked():
    CountingBayes.asked.clear()
    return CountingBayes.asked


@pytest.fixture(scope="module")
def frame():
    return as_frame(NEW).assign(z=NEW_Z)


@pytest.fixture(scope="module")
def counting():
    """Classifiers whose learners count, with the groups in a column of X."""
    X, y, z = rows_of(600, 3, 0)
    table = as_frame(X).assign(z=z)
    fitted = {}
    for pool, scores in SETTINGS:
        clf = cape(CountingBayes(), pool=pool, scores=scores, group_columns=["z"])
        fitted[pool, scores] = clf.fit(table, y)
    return fitted


def by_every_learner(clf):
    """Every learner of a group is asked for each row of that group, once."""
    expected = {}
    for group, model in clf.models_.items():
        for learner in model.learners:
            for number in numbers_of(group):
                expected[learner.token_, number] = 1
    return expected


def by_the_picked_member(clf, adaptation):
    """Only the models behind the picked member are asked, once a row."""
    expected = {}
    for group, adapted in adaptation.groups.items():
        pool = clf.models_[group].pool
        for learner in pool.models_of(adapted.classifier):
            for number in numbers_of(group):
                expected[learner.token_, number] = 1
    return expected


def score(clf, frame):
    return clf.score(frame, np.arange(len(frame)) % 2)


def roll(clf, frame):
    return RollingCape(clf, window=10).predict(frame)


def roll_piecewise(clf, frame):
    rolling = RollingCape(clf, window=10)
    rolling.predict(frame[:31])
    rolling.predict(frame[31:])
    return rolling.adapt()


ROADS = {
    "predict": CapeClassifier.predict,
    "predict_proba": CapeClassifier.predict_proba,
    "predict_individually": CapeClassifier.predict_individually,
    "score": score,
    "evidence": CapeClassifier.evidence,
    "adapt": CapeClassifier.adapt,
    "stream": roll,
    "stream in two lots": roll_piecewise,
}


@every_setting
@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
def test_each_learner_is_asked_for_each_row_once(
    counting, frame, asked, pool, scores, road
):
    clf = counting[pool, scores]
    road(clf, frame)
    assert asked == by_every_learner(clf)


def test_in_pieces_each_learner_is_asked_for_each_row_once(
    counting, frame, asked, monkeypatch
):
    monkeypatch.setattr("cape.training._threads._MOST_ROWS", 7)
    clf = counting["resampled", "folds"]
    clf.predict(frame)
    assert asked == by_every_learner(clf)


@every_setting
def test_given_evidence_or_an_adaptation_only_the_picked_member_is_asked(
    counting, frame, asked, pool, scores
):
    clf = counting[pool, scores]
    evidence = clf.evidence(frame)
    asked.clear()
    adaptation = clf.adapt(evidence=evidence)
    assert asked == {}
    for predict in (clf.predict, clf.predict_proba):
        asked.clear()
        predict(frame, adaptation=adaptation)
        assert asked == by_the_picked_member(clf, adaptation)


@every_setting
@pytest.mark.parametrize("labelled", [False, True])
def test_both_passes_over_a_file_together_ask_for_each_row_once(
    counting, frame, table_model, tmp_path, asked, pool, scores, labelled
):
    clf = counting[pool, scores]
    table = frame
    if labelled:
        table = frame.assign(y=np.arange(N_ROWS) % 2)
    table.to_csv(tmp_path / "new.csv", index=False)
    model = table_model(clf, FEATURES)
    predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv", rows=13)
    assert asked == by_every_learner(clf)
    out = pd.read_csv(tmp_path / "out.csv")
    proba = clf.predict_proba(frame)[:, 1]
    np.testing.assert_allclose(out["probability"], proba, atol=1e-9)
    np.testing.assert_array_equal(out["prediction"], proba > 0.5)
    asked.clear()
    found = predict_file(model, tmp_path / "new.csv", rows=20)
    assert asked == by_every_learner(clf)
    assert found.evidence.rows == clf.evidence(frame).rows


@pytest.fixture
def partitions(frame):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=4)


@every_setting
def test_a_cluster_asks_for_each_row_once(
    counting, frame, partitions, asked, pool, scores
):
    from cape.elsewhere import dask as scale

    clf = counting[pool, scores]
    adaptation = clf.adapt(evidence=scale.evidence(clf, partitions))
    assert asked == by_every_learner(clf)
    asked.clear()
    y_pred = scale.predict(clf, partitions, adaptation=adaptation).compute()
    assert asked == by_the_picked_member(clf, adaptation)
    np.testing.assert_array_equal(y_pred, clf.predict(frame))
    # Without an adaptation, scores stay where they were computed until it is known.
    asked.clear()
    adapted_first = scale.predict(clf, partitions).compute()
    assert asked == Counter(by_every_learner(clf))
    np.testing.assert_array_equal(adapted_first, y_pred)


# One rule, for all groups together


@pytest.fixture
def calls_of_the_rule(monkeypatch):
    """List what the rule saw, call by call."""
    calls = []
    choose = Prevalence.choose

    def spy(self, groups):
        calls.append(dict(groups))
        return choose(self, groups)

    monkeypatch.setattr(Prevalence, "choose", spy)
    return calls


@pytest.mark.parametrize("name", ["predict", "predict_proba", "score", "adapt"])
def test_the_rule_sees_all_groups_of_a_batch_in_one_call(
    counting, frame, calls_of_the_rule, name
):
    ROADS[name](counting["resampled", "folds"], frame)
    assert [list(groups) for groups in calls_of_the_rule] == [["a", "b", "c"]]


def test_the_rule_sees_all_groups_of_a_file_and_of_a_cluster_in_one_call(
    counting, frame, table_model, partitions, tmp_path, calls_of_the_rule
):
    from cape.elsewhere import dask as scale

    clf = counting["threshold", "refit"]
    frame.to_csv(tmp_path / "new.csv", index=False)
    model = table_model(clf, FEATURES)
    predict_file(model, tmp_path / "new.csv", tmp_path / "out.csv", rows=11)
    assert [list(groups) for groups in calls_of_the_rule] == [["a", "b", "c"]]
    calls_of_the_rule.clear()
    scale.predict(clf, partitions).compute()
    assert [list(groups) for groups in calls_of_the_rule] == [["a", "b", "c"]]


def test_no_rule_is_asked_where_nothing_is_chosen(counting, frame, calls_of_the_rule):
    clf = counting["resampled", "refit"]
    adaptation = clf.adapt(frame)
    calls_of_the_rule.clear()
    clf.evidence(frame)
    clf.predict(frame, adaptation=adaptation)
    clf.predict_proba(frame, adaptation=adaptation)
    assert calls_of_the_rule == []


@every_setting
def test_single_rows_show_the_rule_a_batch_each(
    counting, frame, calls_of_the_rule, pool, scores
):
    clf = counting[pool, scores]
    clf.predict_individually(frame)
    assert [list(groups) for groups in calls_of_the_rule] == [["a"], ["b"], ["c"]]
    for groups in list(calls_of_the_rule):
        [(group, situation)] = groups.items()
        rows = numbers_of(group)
        assert situation.share == 1
        assert situation.estimate.value.shape == (len(rows),)
        shape = (len(rows), len(situation.thetas))
        assert situation.predicted_prevalences.shape == shape
        assert np.isin(situation.predicted_prevalences, (0, 1)).all()
        # A row by itself is decided as in the paper, whatever was known before.
        alone = clf.adapt(frame.iloc[rows[:1]], drift="ignore").groups[group]
        assert situation.estimate.value[0] == pytest.approx(
            alone.estimate.value, abs=1e-12
        )
    calls_of_the_rule.clear()
    rolling = RollingCape(clf, window=5)
    for row in range(20):
        rolling.predict(frame[row : row + 1])
    seen = [[*groups] for groups in calls_of_the_rule]
    assert seen == [[group] for group in NEW_Z[:20]]


# A rule of one's own


class Spread(Rule):
    """Pick the first member for the smallest group and the last one for the others."""

    def choose(self, groups):
        smallest = min(groups, key=lambda name: groups[name].share)
        chosen = {}
        for name, group in groups.items():
            chosen[name] = 0 if name == smallest else len(group.thetas) - 1
        return chosen


@every_setting
def test_a_rule_of_ones_own_decides(counting, frame, pool, scores):
    clf = counting[pool, scores]
    evidence = clf.evidence(frame)
    adaptation = clf.adapt(evidence=evidence, rule=Spread())
    smallest = min(evidence.rows, key=evidence.rows.get)
    y_pred = clf.predict(frame, adaptation=adaptation)
    usual = clf.adapt(evidence=evidence)
    for group, adapted in adaptation.groups.items():
        thetas = clf.models_[group].pool.thetas
        member = 0 if group == smallest else len(thetas) - 1
        assert adapted.classifier == member
        assert adapted.made_for == thetas[member]
        assert adapted.predicted_prevalence == y_pred[numbers_of(group)].mean()
        assert adapted.estimate.value == usual.groups[group].estimate.value


class AsArrays(Rule):
    """Return numpy's integers, as `argmin` does."""

    def choose(self, groups):
        return {name: np.array(1) for name in groups}


def test_an_adaptation_holds_plain_numbers_whatever_the_rule_returns(counting, frame):
    adaptation = counting["resampled", "refit"].adapt(frame, rule=AsArrays())
    assert all(type(a.classifier) is int for a in adaptation.groups.values())
    assert type(adaptation).from_json(adaptation.to_json()) == adaptation


# What a rule sees


class Remember(Prevalence):
    """Remember the situations."""

    def choose(self, groups):
        self.situations = dict(groups)
        return super().choose(groups)


@every_setting
def test_the_situation_of_each_group_is_right(counting, frame, pool, scores):
    """A member calls what the rule was told it would call: observed, not estimated."""
    clf = counting[pool, scores]
    evidence = clf.evidence(frame)
    rule = Remember()
    adaptation = clf.adapt(evidence=evidence, rule=rule)
    assert adaptation.groups == clf.adapt(evidence=evidence).groups
    assert list(rule.situations) == ["a", "b", "c"]
    assert sum(s.share for s in rule.situations.values()) == pytest.approx(1)
    for group, situation in rule.situations.items():
        assert isinstance(situation, GroupSituation)
        assert situation.share == len(numbers_of(group)) / N_ROWS
        assert situation.estimate == adaptation.groups[group].estimate
        for rates in (situation.tpr, situation.fpr):
            assert rates.shape == situation.thetas.shape
            known = rates[~np.isnan(rates)]
            assert len(known) > 0
            assert ((known >= 0) & (known <= 1)).all()
    n_members = min(len(s.thetas) for s in rule.situations.values())
    for member in {0, n_members // 2, n_members - 1}:

        class Always(Rule):
            def choose(self, groups, member=member):
                return dict.fromkeys(groups, member)

        adaptation = clf.adapt(evidence=evidence, rule=Always())
        y_pred = clf.predict(frame, adaptation=adaptation)
        for group, situation in rule.situations.items():
            share = y_pred[numbers_of(group)].mean()
            assert situation.predicted_prevalences[member] == share
