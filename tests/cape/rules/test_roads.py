"""The parameter ``rule``: on every road, in adaptations, streams, files and models."""

import copy
import json
import warnings
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cape import Adaptation, AdaptationWarning, CapeClassifier
from cape.examination import examine
from cape.metrics import PARITY
from cape.rules import (
    RULES,
    Constrained,
    DemographicParity,
    EqualOpportunity,
    Prevalence,
    Rule,
)
from cape.watch._stream import RollingCape
from cape_app.files import predict_file

DP = DemographicParity(tolerance=0.05)
every_pool = pytest.mark.parametrize("pool", ["threshold", "resampled"])


@pytest.fixture
def groups(batch):
    return {"sensitive_features": batch.z}


class Last(Rule):
    """A rule of one's own: the last member of every pool."""

    def choose(self, groups):
        return {name: len(group.thetas) - 1 for name, group in groups.items()}


# Adapting and predicting


@every_pool
@pytest.mark.parametrize("name", RULES)
def test_predict_uses_the_rule_of_the_classifier(fitted, batch, groups, pool, name):
    clf = fitted(pool=pool)
    ruled = clone_fitted(clf, rule=name)
    adaptation = clf.adapt(batch.X, rule=name, **groups)
    expected = clf.predict(batch.X, adaptation=adaptation, **groups)
    np.testing.assert_array_equal(ruled.predict(batch.X, **groups), expected)
    again = ruled.adapt(batch.X, **groups)
    assert again == adaptation
    # Fairlearn's names are kept as ours.
    assert RULES[again.rule["name"]] is RULES[name]


def clone_fitted(clf, **parameters):
    """The same fitted model with other parameters, which may be set after fitting."""
    return copy.copy(clf).set_params(**parameters)


def test_the_fingerprint_does_not_depend_on_the_rule(train):
    fingerprints = set()
    for rule in ("prevalence", EqualOpportunity(tolerance=0.1)):
        clf = CapeClassifier(LogisticRegression(), rule=rule, cv=3, random_state=0)
        clf.fit(train.X, train.y, sensitive_features=train.z)
        fingerprints.add(clf.fingerprint_)
    assert len(fingerprints) == 1


def test_the_rule_of_the_paper_is_the_default_and_the_paper_s(fitted, batch, groups):
    assert CapeClassifier.paper().rule == "prevalence"
    clf = fitted()
    adaptation = clf.adapt(batch.X, **groups)
    assert adaptation.rule == {"name": "prevalence"}
    assert adaptation == clf.adapt(batch.X, rule=Prevalence(), **groups)
    assert adaptation.notes == ()


def test_demographic_parity_is_met_in_the_batch(fitted, batch, groups):
    clf = fitted()
    plain = clf.predict(batch.X, **groups)
    assert PARITY["demographic_parity_difference"](batch.y, plain, **groups) > 0.3
    adaptation = clf.adapt(batch.X, rule=DP, **groups)
    equal = clf.predict(batch.X, adaptation=adaptation, **groups)
    assert (
        PARITY["demographic_parity_difference"](batch.y, equal, **groups)
        <= 0.05 + 1e-12
    )


@pytest.mark.parametrize("name", RULES)
def test_the_bound_on_pd_is_right_for_every_rule(fitted, batch, groups, name):
    for adapted in fitted().adapt(batch.X, rule=name, **groups).groups.values():
        delta = max(
            adapted.estimate.value - adapted.estimate.low,
            adapted.estimate.high - adapted.estimate.value,
        )
        distance = abs(adapted.estimate.value - adapted.predicted_prevalence)
        assert adapted.pd_bound == pytest.approx(min(distance + delta, 1))


def test_single_rows_keep_the_paper_s_rule(fitted, batch, groups):
    clf = fitted()
    ruled = clone_fitted(clf, rule="accuracy")
    np.testing.assert_array_equal(
        ruled.predict_individually(batch.X, **groups),
        clf.predict_individually(batch.X, **groups),
    )


def test_a_rule_can_be_cloned_and_is_a_parameter():
    clf = CapeClassifier(rule=DP)
    assert clone(clf).rule == DP
    assert clf.get_params()["rule"] == DP


@pytest.mark.parametrize("wrong", ["fair", 3, Prevalence])
def test_a_wrong_rule_is_refused_before_anything_is_trained(train, wrong):
    with pytest.raises(ValueError, match="'rule' parameter"):
        CapeClassifier(rule=wrong).fit(train.X, train.y, sensitive_features=train.z)


def test_a_wrong_rule_is_refused_by_adapt_and_predict(fitted, batch, groups):
    clf = fitted()
    with pytest.raises(ValueError, match="rule must be .* got 'fair'"):
        clf.adapt(batch.X, rule="fair", **groups)
    with pytest.raises(TypeError, match=r"cape\.rules\.Rule, got 3"):
        clone_fitted(clf, rule=3).predict(batch.X, **groups)


@pytest.mark.parametrize(
    "answer",
    [{}, {0: 0}, {0: 0, 1: -1}, {0: 0, 1: 10**6}, {0: 0, 1: 0.5}, {0: 0, 1: None}],
)
def test_what_a_rule_of_your_own_returns_is_checked(fitted, batch, groups, answer):
    class Wrong(Rule):
        def choose(self, groups):
            return answer

    with pytest.raises(ValueError, match=r"Wrong\.choose must return .* every group"):
        fitted().adapt(batch.X, rule=Wrong(), **groups)


# Adaptations


@pytest.mark.parametrize(
    "rule",
    [DP, Constrained(proportional_equality=0.1), "accuracy", Last()],
    ids=["instance", "constrained", "name", "own"],
)
def test_an_adaptation_carries_its_rule(fitted, batch, groups, rule):
    adaptation = fitted().adapt(batch.X, rule=rule, **groups)
    again = Adaptation.from_json(adaptation.to_json())
    assert again == adaptation
    assert json.loads(adaptation.to_json())["state"]["rule"] == adaptation.rule
    if isinstance(rule, Last):
        assert adaptation.rule == {"name": "Last"}


class Talkative(Last):
    def notes(self, groups, chosen):
        return [f"{len(groups)} groups, members {sorted(chosen)}."]


def test_notes_are_warnings_and_stay_with_the_adaptation(fitted, batch, groups):
    with pytest.warns(AdaptationWarning, match="2 groups, members") as caught:
        adaptation = fitted().adapt(batch.X, rule=Talkative(), **groups)
    assert adaptation.notes == ("2 groups, members [0, 1].",)
    assert Adaptation.from_json(adaptation.to_json()).notes == adaptation.notes
    (warning,) = [one for one in caught if "2 groups" in str(one.message)]
    assert warning.filename == __file__


def test_prediction_asks_for_no_notes(fitted, batch, groups):
    class Shy(Last):
        def notes(self, groups, chosen):
            raise AssertionError("nobody shows them")

    with warnings.catch_warnings(action="error"):
        clone_fitted(fitted(), rule=Shy()).predict(batch.X, **groups)


def test_a_bound_that_cannot_be_met_is_said(fitted, batch, groups):
    impossible = Constrained(
        proportional_equality=0.01, demographic_parity_difference=0.01
    )
    with pytest.warns(AdaptationWarning, match="no choice of classifiers"):
        fitted().adapt(batch.X, rule=impossible, **groups)


def test_an_examination_is_of_the_rule(fitted, batch, groups):
    clf = fitted()
    seen = examine(clf, batch.X, rule=DP, **groups)
    assert seen.adaptation == clf.adapt(batch.X, rule=DP, **groups)
    assert seen.to_dict()["rule"]["tolerance"] == 0.05


# Streams, clusters, files


@every_pool
@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_a_stream_is_at_its_last_row_the_batch(fitted, batch, groups, pool):
    """A window that holds all rows decides the last one as the whole batch does."""
    clf = clone_fitted(fitted(pool=pool, drift="ignore"), rule=DP)
    X = batch.X[:31]
    z = {"sensitive_features": batch.z[:31]}
    rolling = RollingCape(clf, window=500)
    last = rolling.predict(X, **z)[-1]
    assert last == clf.predict(X, **z)[-1]
    assert rolling.adapt() == clf.adapt(X, **z)


def test_rows_of_another_group_that_are_too_old_do_not_count(fitted):
    seen = []

    class Spy(Last):
        def choose(self, groups):
            seen.append({name: group.share for name, group in groups.items()})
            return super().choose(groups)

    rolling = RollingCape(fitted(drift="ignore"), window=timedelta(days=1), rule=Spy())
    X = np.zeros((4, 2))
    times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-01", "2024-01-09"])
    for row, group in enumerate([0, 0, 1, 1]):
        here = slice(row, row + 1)
        rolling.predict(X[here], sensitive_features=[group], times=times[here])
    assert seen == [{0: 1}, {0: 1}, {0: 2 / 3, 1: 1 / 3}, {1: 1}]


def test_a_cluster_follows_the_rule(fitted, batch, groups):
    dd = pytest.importorskip("dask.dataframe")
    from cape.elsewhere import dask as scale

    clf = fitted()
    frame = pd.DataFrame(batch.X, columns=["u", "v"])
    ddf = dd.from_pandas(frame.assign(z=batch.z), npartitions=3)
    # Partitions are data frames with other names of columns than in training.
    with warnings.catch_warnings(action="ignore"):
        evidence = scale.evidence(clf, ddf, sensitive_features="z")
        found = clf.adapt(evidence=evidence, rule=DP)
        ruled = clone_fitted(clf, rule=DP)
        y_pred = scale.predict(ruled, ddf, sensitive_features="z").compute()
        expected = ruled.predict(batch.X, **groups)
    assert found == clf.adapt(batch.X, rule=DP, **groups)
    np.testing.assert_array_equal(y_pred, expected)


@pytest.fixture(scope="module")
def table(table_model):
    """A model of a file, and a batch."""
    random = np.random.default_rng(0)
    frames = []
    for shares in ({"a": 0.4, "b": 0.5}, {"a": 0.2, "b": 0.7}):
        z = random.choice(["a", "b"], 400)
        y = (random.random(400) < pd.Series(z).map(shares)).astype(int)
        frames.append(pd.DataFrame({"x": random.normal(size=400) + 2 * y, "z": z}))
        frames[-1]["y"] = y
    train, new = frames
    clf = CapeClassifier(LogisticRegression(), group_columns=["z"], cv=3)
    clf.fit(train[["x", "z"]], train["y"])
    return table_model(clf, ["x"]), new[["x", "z"]]


def test_files_follow_the_rule_and_note_what_it_says(table, tmp_path, make_notes):
    model, new = table
    path = tmp_path / "new.csv"
    new.to_csv(path, index=False)
    notes = make_notes()
    adaptation = predict_file(model, path, rule=Talkative(), notes=notes).adaptation
    assert adaptation.rule == {"name": "Talkative"}
    (note,) = notes
    assert note.values == {"text": "2 groups, members ['a', 'b'].", "file": "new.csv"}


def test_a_wrong_rule_is_refused_before_a_file_is_read(table, tmp_path):
    model, _ = table
    with pytest.raises(ValueError, match="got 'fair'"):
        predict_file(model, tmp_path / "not there", rule="fair")
