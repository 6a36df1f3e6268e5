"""`examine`: everything about a batch, each part computed once, for any groups."""

import copy
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, Evidence, examine


class Counted(LogisticRegression):
    """A learner that counts how often it is asked for scores."""

    asked = 0

    def predict_proba(self, X):
        Counted.asked += 1
        return super().predict_proba(X)


def test_every_part_is_computed_once(train, batch):
    """The rows are read once, and no part is made again."""
    clf = CapeClassifier(Counted(), pool="threshold", cv=3, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    Counted.asked = 0
    seen = examine(clf, batch.X, batch.y, sensitive_features=batch.z)
    asked = Counted.asked
    assert asked == 2  # once a group
    for _ in range(2):
        repr(seen)
        seen.to_dict()
        seen.table()
    assert Counted.asked == asked
    for part in ("moved", "prior_shift", "columns", "draws", "expected", "criteria"):
        assert getattr(seen, part) is getattr(seen, part)


def test_rows_evidence_and_parts_are_examined_alike(clf, batch, seen):
    halves = []
    for rows in (slice(0, 77), slice(77, None)):
        part = clf.evidence(batch.X[rows], sensitive_features=batch.z[rows])
        halves.append(part)
    summed = examine(clf, evidence=halves[1] + halves[0])
    assert summed.evidence == seen.evidence
    assert summed.adaptation == seen.adaptation == clf.adapt(evidence=seen.evidence)
    assert summed.to_dict() == seen.to_dict()
    assert repr(summed) == repr(seen)


@pytest.mark.parametrize(
    ("quantifier", "scores"),
    [("acc", "refit"), ("emq", "folds"), ("hdy", "folds"), ("dys", "refit")],
)
def test_every_quantifier_can_be_examined_with(fitted, batch, quantifier, scores):
    clf = fitted(pool="threshold", quantifier=quantifier, scores=scores)
    seen = examine(clf, batch.X, sensitive_features=batch.z)
    assert seen.rows == 200 and list(seen.adaptation.groups) == [0, 1]
    assert json.dumps(seen.to_dict(), allow_nan=False)


@pytest.mark.parametrize("level", [0.6, 0.99])
def test_the_level_is_that_of_all_intervals_and_not_of_the_tests(clf, seen, level):
    other = examine(clf, evidence=seen.evidence, level=level)
    assert other.level == other.adaptation.level == other.expected.level == level
    assert other.prior_shift.alpha == 0.01 and other.moved.alpha == 0.05
    narrow, wide = sorted([seen, other], key=lambda one: one.level)
    for name in ("fpr", "fnr", "accuracy", "pd"):
        for group in (0, 1):
            inner = getattr(narrow.expected.groups[group], name)
            outer = getattr(wide.expected.groups[group], name)
            assert outer.low <= inner.low and inner.high <= outer.high
            assert inner.value == pytest.approx(outer.value)


def test_table_and_dict_have_the_numbers_of_the_parts(seen, clf):
    table = seen.table()
    assert table.index.tolist() == [0, 1] and table.index.name == "group"
    adapted = seen.adaptation.table()
    for column in ("rows", "estimate", "low", "made_for", "verdict", "held_back"):
        assert table[column].tolist() == adapted[column].tolist()
    assert table["fpr"].tolist() == seen.expected.table()["fpr"].tolist()
    assert table["moved"].tolist() == seen.moved.table()["moved"].tolist()
    content = seen.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["rows"] == 200 and content["level"] == 0.95
    assert content["fingerprint"] == clf.fingerprint_
    assert content["drift"] == "cautious"
    for part in ("columns", "moved", "expected"):
        assert content[part] == getattr(seen, part).to_dict()
    assert content["shift_test"] == seen.prior_shift.to_dict()
    assert content["criteria"] == seen.criteria.to_dict()["criteria"]
    assert content["observed"] is None and content["labels"] is None


def test_labels_that_arrive_later_are_set(seen, confusion, observed):
    labelled = copy.copy(seen)
    counts = {0: confusion(5, 1, 2, 9)}
    labelled.observed = observed(cape=counts, unadapted={})
    entry = {"group": "0", "tp": 5, "fp": 1, "fn": 2, "tn": 9, "rows": 17}
    assert labelled.to_dict()["observed"] == {"cape": [entry], "unadapted": []}
    # Labels of some rows are not compared with rates of all rows.
    assert labelled.expected_and_observed() is None


def test_warnings_of_the_adaptation_come_through(clf, batch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odd = examine(clf, batch.X + np.array([25, 0]), sensitive_features=batch.z)
    assert {warning.category for warning in caught} == {AdaptationWarning}
    # They point to whoever called.
    assert {warning.filename for warning in caught} == {__file__}
    assert odd.prior_shift.rejected
    assert odd.verdict(1).word == "fault"
    assert odd.columns.moved(1)[0].what_happened in " ".join(repr(odd).split())
    with pytest.warns(AdaptationWarning, match="too little evidence"):
        few = examine(clf, batch.X[:6], sensitive_features=batch.z[:6])
    assert not few.verdict(0).clear


def test_a_test_that_is_not_sound_says_so(train, batch):
    learner = HistGradientBoostingClassifier(max_iter=3)
    clf = CapeClassifier(learner, scores="refit", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="were not tested"):
        seen = examine(clf, batch.X, sensitive_features=batch.z)
    assert not seen.prior_shift.sound
    assert not seen.prior_shift.table()["sound"].any()
    assert seen.prior_shift.table()["tested"].all()
    assert " ".join(repr(seen).split()).endswith(seen.prior_shift.advice)
    assert seen.prior_shift.advice
    assert not seen.verdict(0).clear


def test_one_group_has_no_pair(train, batch):
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    seen = examine(clf.fit(train.X, train.y), batch.X)
    assert seen.expected.worst_pair() is None and seen.expected.between == {}
    assert list(seen.names.values()) == ["everyone"]


def test_no_rows_can_be_examined(clf):
    seen = examine(clf, evidence=Evidence(clf.fingerprint_))
    assert seen.rows == 0 and repr(seen).startswith("No rows, so no predictions.")
    assert len(seen.table()) == 0 and not seen.prior_shift.rejected
    assert np.isnan(seen.criteria.values["accuracy"].value)
    assert json.dumps(seen.to_dict(), allow_nan=False)


def test_wrong_calls_are_named(clf, batch, seen, fitted):
    evidence = seen.evidence
    with pytest.raises(ValueError, match="exactly one of X and evidence .* neither"):
        examine(clf)
    with pytest.raises(ValueError, match="exactly one of X and evidence .* both"):
        examine(clf, batch.X, evidence=evidence)
    with pytest.raises(ValueError, match="sensitive_features must be None"):
        examine(clf, evidence=evidence, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="level must be"):
        examine(clf, evidence=evidence, level=95)
    with pytest.raises(ValueError, match="drift must be"):
        examine(clf, evidence=evidence, drift="never")
    with pytest.raises(TypeError, match="evidence must be of type Evidence"):
        examine(clf, evidence=batch.X)
    with pytest.raises(ValueError, match="must come from this model"):
        examine(fitted(pool="resampled"), evidence=evidence)
    with pytest.raises(NotFittedError):
        examine(CapeClassifier(), batch.X)


def disagreements(seen):
    """Everything that two places of an examination say differently."""
    pairs = []
    accuracy = 0.0
    for group, expected in seen.expected.groups.items():
        share = seen.evidence.rows[group] / seen.rows
        accuracy += share * expected.accuracy.value
    pairs.append((seen.criteria.values["accuracy"].value, accuracy))
    for name, rates in (
        ("equal_opportunity_difference", ["fnr"]),
        ("false_positive_rate_difference", ["fpr"]),
        ("equalized_odds_difference", ["fnr", "fpr"]),
    ):
        table = seen.expected.table()[rates]
        spread = (table.max() - table.min()).max()
        pairs.append((seen.criteria.values[name].value, spread))
    return [pair for pair in pairs if pair[0] != pytest.approx(pair[1], abs=1e-8)]


@pytest.mark.parametrize(
    ("labelled", "rule"), [(None, "equal_opportunity"), (3, None), (1, None)]
)
def test_one_thing_has_one_number(fitted, batch, labelled, rule):
    """Without labels, with labels of every third row, and with all labels."""
    labels = None
    if labelled is not None:
        labels = np.where(np.arange(len(batch.y)) % labelled, np.nan, batch.y)
    seen = examine(fitted(), batch.X, labels, sensitive_features=batch.z, rule=rule)
    assert (seen.labels is not None) == (labelled is not None)
    assert disagreements(seen) == []


NAMES = {
    "text": ["d", "c", "b", "a"],
    "tuples": [(1, "x"), (0, "y"), (1, "y"), (0, "x")],
}


@pytest.fixture(scope="module", params=NAMES)
def case(request, train, batch):
    """A model fitted to groups under these names, and what it takes to examine."""
    names = NAMES[request.param]

    def groups(data):
        codes = (np.arange(len(data.y)) // 2) % 2 + 2 * data.z
        rows = [names[code] for code in codes]
        return pd.DataFrame(rows) if request.param == "tuples" else np.array(rows)

    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=groups(train))
    return clf, names, groups(batch)


@pytest.mark.filterwarnings("ignore:too little is known:cape.AdaptationWarning")
def test_every_group_is_looked_at_by_itself(case, batch):
    """A group by itself gives the same numbers, but for Holm's correction."""
    clf, names, z = case
    together = examine(clf, batch.X, sensitive_features=z)
    for part in ("moved", "prior_shift"):
        found = getattr(together, part).groups
        assert set(found) == set(names)
        for name in names:
            evidence = {name: together.evidence.groups[name]}
            seen = examine(clf, evidence=Evidence(clf.fingerprint_, evidence))
            alone = getattr(seen, part).groups[name]
            assert (found[name].rows, found[name].p_value) == (50, alone.p_value)
            assert alone.p_adjusted == alone.p_value <= found[name].p_adjusted
        smallest = min(found.values(), key=lambda test: test.p_value)
        assert smallest.p_adjusted == pytest.approx(
            min(1, len(names) * smallest.p_value)
        )


@pytest.mark.filterwarnings("ignore:too little is known:cape.AdaptationWarning")
def test_one_key_finds_a_group_everywhere(case, batch):
    clf, _, z = case
    seen = examine(clf, batch.X, sensitive_features=z)
    labels = seen.adaptation.table().index
    for table in (seen.table(), seen.moved.table(), seen.expected.table()):
        assert table.index.tolist() == labels.tolist()
    for group, label in zip(seen.adaptation.groups, labels, strict=True):
        assert seen.verdict(label) == seen.verdict(group)
    with pytest.raises(KeyError):
        seen.verdict("nobody")
    content = seen.expected.to_dict()
    words = [entry["group"] for entry in content["groups"]]
    assert words == list(seen.names.values()) and len(set(words)) == 4
    assert len(content["pairs"]) == len(seen.expected.pairs()) == 12


def test_the_pe_of_the_worst_pair_is_one_number(seen):
    worst = seen.expected.worst_pair()
    pe = seen.expected.between[worst].value
    assert seen.criteria.values["proportional_equality"].value == pe
    assert f"expected PE: {pe:.3f}" in repr(seen)
