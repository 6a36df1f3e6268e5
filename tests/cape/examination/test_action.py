"""What to do with the predictions of a batch."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Estimate, Scores, examine
from cape.base._groups import EVERYONE
from cape.base._numbers import points
from cape.examination import rows_to_label
from cape.examination._action import Action, GroupAction, choose_action
from cape.examination._needed import LabelChecks
from cape.labels._use import LabelFindings
from cape.shown._action import MARKS, action_head
from cape_app.pages import to_html

BROKEN = GroupAction("do_not_use", "fault", columns=["age"])
LABELLED = {"rows": 90, "estimate": 0.6, "verdict": "confirmed", "p_value": 0.4}


@pytest.mark.parametrize(
    ("given", "verdict", "asked", "action"),
    [
        ({}, "consistent", 0, ("use", "consistent")),
        ({}, "some_drift", 0, ("use", "some_drift")),
        ({}, "drifted", 0, ("use", "drifted")),
        ({}, "ignored", 60, ("label", "ignored")),
        ({}, "ignored", 0, ("hold_off", "ignored")),
        ({}, "weighted", 0, ("hold_off", "weighted")),
        ({"labels": LABELLED}, "drifted", 0, ("use", "labels")),
        ({"labels": LABELLED}, "ignored", 60, ("use", "labels")),
    ],
)
def test_a_share_that_is_likely_near_is_used(adapted, given, verdict, asked, action):
    found = choose_action(adapted(**given), verdict, [], None, "a", asked, 0.81)
    assert (found.code, found.reason, found.chance) == (*action, 0.81)


@pytest.mark.parametrize(
    ("given", "verdict", "asked", "action"),
    [
        ({}, "uncertain", 80, ("label", "uncertain")),
        ({}, "consistent", 80, ("label", "uncertain")),
        ({}, "drifted", 80, ("label", "drifted")),
        ({"labels": {"rows": 12}}, "consistent", 80, ("label", "few_labels")),
        ({}, "uncertain", 0, ("hold_off", "uncertain")),
        ({}, "drifted", 0, ("hold_off", "drifted")),
    ],
)
def test_a_share_that_may_be_far_off_is_not_used(
    adapted, given, verdict, asked, action
):
    found = choose_action(adapted(**given), verdict, [], None, "a", asked, 0.79)
    assert (found.code, found.reason, found.labels) == (*action, asked)


@pytest.mark.parametrize(
    ("said", "action"), [(0.55, ("use", "labels")), (0.12, ("label", "uncertain"))]
)
def test_labels_back_an_estimate_that_is_near_beside_the_share(adapted, said, action):
    value = said + 0.08
    of_group = adapted(
        estimate=Estimate(value, value - 0.2, value + 0.2),
        labels={**LABELLED, "estimate": said},
    )
    labels = LabelChecks({"a": of_group}, decide=False)
    unchecked = replace(of_group, labels=LabelFindings(0))
    found = choose_action(unchecked, "uncertain", [], labels, "a", 80, 0.3)
    assert (found.code, found.reason) == action


@pytest.mark.parametrize("verdict", ["uncertain", "drifted"])
def test_labels_that_are_there_are_not_asked_for(adapted, verdict):
    wide = Estimate(0.5, 0.2, 0.8)
    given = {**LABELLED, "estimate": 0.1, "verdict": "not_contradicted"}
    of_group = adapted(estimate=wide, labels=given)
    unchecked = replace(of_group, labels=LabelFindings(0))
    found = {}
    for rows in (90, 500):
        labels = LabelChecks({"a": replace(of_group, rows=rows)}, decide=False)
        found[rows] = choose_action(unchecked, verdict, [], labels, "a", 80, 0.3)
    assert found[90] == GroupAction("hold_off", "given", 0.3)
    assert found[500].labels == 80


def test_the_whole_is_as_grave_as_its_gravest_group():
    groups = {
        "a": GroupAction("use", "consistent", 0.9),
        "b": GroupAction("label", "uncertain", 0.5, 60),
        "c": GroupAction("label", "drifted", 0.4, 20),
    }
    action = Action(groups)
    assert (action.code, action.labels, action.columns) == ("label", 80, [])
    broken = Action(
        {**groups, "d": GroupAction("do_not_use", "fault", columns=["age"])}
    )
    assert (broken.code, broken.labels, broken.columns) == ("do_not_use", 80, ["age"])
    assert broken.to_dict()["groups"][-1]["group"] == "d"
    assert broken.table().loc["b", "labels"] == 60


def test_a_wider_tolerance_is_likelier_and_used_sooner(clf, batch):
    chances = []
    codes = []
    for tolerance in (0.01, 0.05, 0.3):
        seen = examine(clf, batch.X, sensitive_features=batch.z, tolerance=tolerance)
        chances.append([one.chance for one in seen.action.groups.values()])
        codes.append(seen.action.code)
    assert (np.diff(chances, axis=0) > 0).all()
    assert codes[0] != "use" and codes[-1] == "use"


def test_no_rows_are_nothing_to_use(clf, batch):
    action = examine(clf, batch.X[:0], sensitive_features=batch.z[:0]).action
    assert action.code == "hold_off"
    assert "Use" not in repr(action)


def test_a_broken_column_is_named(clf, batch):
    with warnings.catch_warnings(action="ignore"):
        seen = examine(clf, batch.X * [1, 60], sensitive_features=batch.z)
    assert (seen.action.code, seen.action.columns) == ("do_not_use", ["x1"])
    assert seen.action.labels == 0


def test_labels_that_refute_forbid_what_they_did_not_decide(clf, batch, refuting):
    wrong = refuting
    with warnings.catch_warnings(action="ignore"):
        seen = examine(clf, batch.X, wrong, sensitive_features=batch.z)
        unused = examine(
            clf, batch.X, wrong, sensitive_features=batch.z, labels_decide=False
        )
    assert seen.action.code == "use"
    assert {one.reason for one in unused.action.groups.values()} == {"refuted"}


def noisy(n, prevalence, strength, seed):
    """Rows of one group whose only column tells little of the label."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < prevalence).astype(int)
    return random.normal(0, 1, (n, 1)) + strength * y[:, None], y


@pytest.mark.parametrize(
    ("prevalence", "strength", "code"),
    [
        # Of a rare class hardly a row is found, and a common one is guessed.
        (0.06, 0.6, "shares"),
        (0.68, 0.25, "shares"),
        # Rare rows found far more often than by chance, and errors in one of five.
        (0.08, 2.0, "use"),
        (0.5, 1.7, "use"),
    ],
)
def test_shares_alone_are_used_where_single_predictions_are_useless(
    prevalence, strength, code
):
    X, y = noisy(30_000, prevalence, strength, seed=0)
    with warnings.catch_warnings(action="ignore"):
        clf = CapeClassifier(LogisticRegression(), random_state=0).fit(X, y)
        X, y = noisy(20_000, prevalence, strength, seed=1)
        known = np.where(np.arange(len(y)) % 20 == 0, y, np.nan)
        seen = examine(clf, X, known)
    assert seen.action.code == code
    right = y[clf.predict(X, adaptation=seen.adaptation) == 1].mean()
    action = seen.action.to_dict()["groups"][0]
    said = action_head([action])
    assert (said == "Use the predictions") == (code == "use")
    assert said in " ".join(repr(seen).split())
    if code == "shares":
        told = action["true_positives"] / action["predicted_positives"]
        assert told == pytest.approx(right, abs=0.05)
        assert said in to_html(seen) and f"{100 * told:.0f} are right" in said


def test_a_group_of_useless_predictions_is_named_beside_useful_ones():
    useless = GroupAction(
        "shares", "rates", 0.9, predicted_positives=50.0, true_positives=3.0
    )
    action = Action({"a": GroupAction("use", "consistent"), "b": useless})
    assert action.code == "shares" and MARKS["shares"] != MARKS["use"]
    said = action_head(action.to_dict()["groups"])
    assert "1 of 2 groups" in said and "6 are right" in said
    nobody = GroupAction("shares", "rates")
    assert "no row" in action_head(Action({"b": nobody}).to_dict()["groups"])


def test_the_rows_that_are_asked_for_are_drawn_and_end_the_asking():
    random = np.random.default_rng(0)
    y = random.random(3000) < 0.4
    # Scores that hardly tell the classes apart in one of two groups.
    z = np.where(np.arange(3000) % 2 == 0, "weak", "strong")
    strength = np.where(z == "weak", 0.25, 2.5)
    X = random.normal(0, 1, (3000, 1)) + (strength * y)[:, None]
    clf = CapeClassifier(random_state=0)
    with warnings.catch_warnings(action="ignore"):
        clf.fit(X[:1500], y[:1500], sensitive_features=z[:1500])
        X, y, z = X[1500:1900], y[1500:1900], z[1500:1900]
        seen = examine(clf, X, sensitive_features=z)
        asked = seen.action
        drawn = rows_to_label(clf, X, sensitive_features=z)
        labels = np.full(len(y), None, dtype=object)
        labels[drawn.rows] = y[drawn.rows]
        labelled = examine(
            clf,
            X,
            labels,
            sensitive_features=z,
            inclusion_probability=drawn.inclusion_probability,
        )
    assert asked.groups["strong"].code == "use"
    assert asked.groups["weak"].code == "label"
    assert drawn.groups == ["weak"] * asked.labels
    # The share is known now; predictions of rows stay as weak as the scores.
    assert labelled.action.groups["weak"].code in ("use", "shares")


def test_decisions_left_as_they_are_are_told_where_they_lie_far_from_the_share():
    random = np.random.default_rng(0)

    def logged(n, share, cut):
        y = (random.random(n) < share).astype(int)
        p = 1 / (1 + np.exp(-random.normal(3 * y - 1.5)))
        return pd.DataFrame({"p": p, "d": p > cut}), y

    clf = CapeClassifier(Scores("p", "d"), random_state=0).fit(*logged(4000, 0.5, 0.5))
    said = {}
    for cut in (0.5, 0.9):
        batch, _ = logged(4000, 0.5, cut)
        seen = examine(clf, batch)
        action = seen.action.groups[EVERYONE]
        adapted = seen.adaptation.groups[EVERYONE]
        gap = adapted.predicted_prevalence - adapted.estimate.value
        assert action.gap == pytest.approx(gap)
        assert action.proposal == pytest.approx(adapted.estimate.value, abs=0.02)
        said[action.code] = action_head(seen.action.to_dict()["groups"])
        assert said[action.code] in " ".join(repr(seen).split())
    assert said["use"] == "Use the decisions: they fit the estimated shares"
    assert f"{points(-gap)} points below the estimated share" in said["shares"]
    assert f"CAPE would decide {points(action.proposal)}%" in said["shares"]
