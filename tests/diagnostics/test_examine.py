"""`examine`: everything about a batch, the same numbers as its parts, computed once."""

import json
import math
import warnings
from dataclasses import FrozenInstanceError, asdict, replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from cape import AdaptationWarning, CapeClassifier, Evidence
from cape.diagnostics import (
    Observed,
    compare_expected,
    examine,
    expected_criteria,
    expected_performance,
    prevalence_moved,
    prior_shift_test,
)
from cape.diagnostics._result import json_ready
from cape.metrics import Confusion
from cape.quantify import Quantifier


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


@pytest.fixture(scope="module")
def seen(clf, batch):
    return examine(clf, batch.X, sensitive_features=batch.z)


@pytest.fixture(scope="module")
def evidence(clf, batch):
    return clf.evidence(batch.X, sensitive_features=batch.z)


def test_its_parts_are_those_that_the_functions_give(clf, seen, evidence):
    adaptation = clf.adapt(evidence=evidence)
    assert seen.clf is clf
    assert seen.evidence == evidence
    assert seen.adaptation == adaptation
    assert seen.shift_test == prior_shift_test(clf, evidence=evidence)
    assert seen.moved == prevalence_moved(clf, evidence=evidence)
    assert seen.expected == expected_performance(clf, evidence, adaptation)
    assert seen.observed is None and seen.provenance is None


def test_rows_and_evidence_are_examined_alike(clf, seen, evidence):
    assert examine(clf, evidence=evidence) == seen


def test_evidence_of_parts_is_examined_as_the_whole(clf, batch, seen):
    halves = []
    for rows in (slice(0, 77), slice(77, None)):
        part = clf.evidence(batch.X[rows], sensitive_features=batch.z[rows])
        halves.append(part)
    assert examine(clf, evidence=sum(halves)) == seen


@pytest.mark.parametrize("quantifier", ["spa", "acc", "emq", "histogram", "dys"])
def test_every_quantifier_can_be_examined_with(fitted, batch, quantifier):
    clf = fitted(pool="threshold", quantifier=quantifier)
    seen = examine(clf, batch.X, sensitive_features=batch.z)
    alone = prevalence_moved(clf, batch.X, sensitive_features=batch.z)
    assert seen.moved == alone
    adaptation = clf.adapt(evidence=seen.evidence)
    assert seen.expected == expected_performance(clf, seen.evidence, adaptation)


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize("scores", ["refit", "folds"])
def test_every_pool_can_be_examined(fitted, batch, pool, scores):
    clf = fitted(pool=pool, scores=scores, prevalences=4)
    seen = examine(clf, batch.X, sensitive_features=batch.z)
    assert seen.rows == 200 and list(seen.adaptation.groups) == [0, 1]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
def test_the_level_is_that_of_all_intervals_and_not_of_the_tests(clf, evidence, level):
    seen = examine(clf, evidence=evidence, level=level)
    assert seen.level == seen.adaptation.level == seen.expected.level == level
    assert seen.shift_test.alpha == 0.01 and seen.moved.alpha == 0.05


def test_a_higher_level_gives_wider_intervals(clf, evidence):
    tables = [examine(clf, evidence=evidence, level=x).table() for x in (0.6, 0.99)]
    narrow, wide = tables
    assert (wide["low"] < narrow["low"]).all()
    assert (narrow["high"] < wide["high"]).all()
    assert narrow["estimate"].tolist() == wide["estimate"].tolist()


def count_calls(monkeypatch, owner, name):
    """Count the calls of a function or method, and let them through."""
    calls = []
    original = getattr(owner, name)

    def counted(*arguments, **options):
        calls.append(arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_nothing_is_computed_over_and_over(monkeypatch, clf, evidence):
    from cape import _shift_test

    fits = count_calls(monkeypatch, _shift_test, "fit_mixture")
    estimates = count_calls(monkeypatch, Quantifier, "estimate")
    adaptations = count_calls(monkeypatch, CapeClassifier, "adapt")
    n_groups = len(evidence.groups)
    examine(clf, evidence=evidence)
    assert len(adaptations) == 1
    # Once for the warning of `adapt`, once for the test.
    assert len(fits) <= 2 * n_groups
    assert len(estimates) <= 3 * n_groups


def test_expected_rates_take_their_estimates_from_the_adaptation(
    monkeypatch, clf, evidence
):
    adaptation = clf.adapt(evidence=evidence)
    estimates = count_calls(monkeypatch, Quantifier, "estimate")
    expected_performance(clf, evidence, adaptation)
    assert estimates == []


def test_the_table_has_a_row_a_group_with_the_numbers_of_the_parts(seen):
    table = seen.table()
    assert table.index.tolist() == [0, 1] and table.index.name == "group"
    for column in ("rows", "estimate", "low", "high", "theta", "pd_bound"):
        assert table[column].tolist() == seen.adaptation.table()[column].tolist()
    for column in ("fpr", "fnr", "accuracy"):
        assert table[column].tolist() == seen.expected.table()[column].tolist()
    assert table["moved"].tolist() == seen.moved.table()["moved"].tolist()
    for column in ("verdict", "held_back"):
        assert table[column].tolist() == seen.adaptation.table()[column].tolist()


def test_the_dict_is_json_and_holds_every_part(seen, clf):
    content = seen.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["rows"] == 200 and content["level"] == 0.95
    assert content["fingerprint"] == clf.fingerprint_
    assert content["drift"] == "cautious"
    for part in ("shift_test", "columns", "moved", "expected"):
        assert content[part] == getattr(seen, part).to_dict()
    first = {"group": "0", **json_ready(asdict(seen.adaptation.groups[0]))}
    assert content["adaptation"][0] == first
    assert content["observed"] is None and content["labels"] is None


def test_it_reads_well(seen):
    text = repr(seen)
    assert text.startswith("Examination of 200 rows, intervals at 95%")
    assert "0: 100 rows" in text and "1: 100 rows" in text
    for group in seen.adaptation.groups.values():
        assert f"-> {group.estimate:.3f} ({group.low:.3f} to {group.high:.3f})" in text
    assert text.count("consistent with a prior shift") == 2
    worst = seen.expected.worst_pair()
    names = f"({worst.group} to {worst.other})"
    assert text.endswith(f"worst expected PE: {worst.pe:.3f} {names}")
    assert "holds" not in text
    assert max(map(len, text.splitlines())) <= 88


def test_labels_are_added_to_a_copy(seen):
    counts = {0: Confusion(tp=5, fp=1, fn=2, tn=9, rows=17)}
    observed = Observed(cape=counts, unadapted={})
    labelled = replace(seen, observed=observed, provenance={"files": []})
    assert seen.observed is None and labelled.observed is observed
    assert labelled.provenance == {"files": []}
    entry = {"group": "0", "tp": 5, "fp": 1, "fn": 2, "tn": 9, "rows": 17}
    assert labelled.to_dict()["observed"] == {"cape": [entry], "unadapted": []}


def test_it_cannot_be_changed(seen):
    with pytest.raises(FrozenInstanceError):
        seen.observed = None


def test_warnings_of_the_adaptation_come_through(clf, batch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odd = examine(clf, batch.X + np.array([25, 0]), sensitive_features=batch.z)
    messages = " ".join(str(warning.message) for warning in caught)
    assert "columns are not what they were in training: `x0`: 69%" in messages
    assert "more than the prevalence has moved in '0'" in messages
    assert odd.shift_test.rejected
    assert "cannot tell the prevalence" in repr(odd)
    assert "`x0`: 69% of the values are greater than in training" in repr(odd)
    with pytest.warns(AdaptationWarning, match="too few rows"):
        few = examine(clf, batch.X[:6], sensitive_features=batch.z[:6])
    assert "few rows" in repr(few)


def test_a_test_that_is_not_sound_says_so_in_the_repr(train, batch):
    learner = HistGradientBoostingClassifier(max_iter=3)
    clf = CapeClassifier(learner, scores="refit", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="were not tested"):
        seen = examine(clf, batch.X, sensitive_features=batch.z)
    assert repr(seen).endswith(seen.shift_test.advice) and seen.shift_test.advice


def test_one_group_has_no_pair_and_no_pe(train, batch, fitted):
    clf = CapeClassifier(
        fitted(pool="threshold").estimator, pool="threshold", cv=3, random_state=0
    ).fit(train.X, train.y)
    seen = examine(clf, batch.X)
    assert seen.expected.worst_pair() is None
    assert "PE" not in repr(seen) and "everyone: 200 rows" in repr(seen)


def test_no_rows_can_be_examined(clf):
    seen = examine(clf, evidence=Evidence(clf.fingerprint_))
    assert seen.rows == 0 and repr(seen) == "Examination(no rows)"
    assert len(seen.table()) == 0
    assert json.dumps(seen.to_dict(), allow_nan=False)


def test_an_undefined_pe_is_never_the_worst(seen):
    undefined = replace(seen.expected.between[0], pe=math.nan)
    expected = replace(seen.expected, between=(undefined, seen.expected.between[1]))
    assert expected.worst_pair() == seen.expected.between[1]
    both = replace(seen.expected, between=(undefined, undefined))
    assert both.worst_pair() is None


def test_wrong_calls_are_named(clf, batch, evidence, fitted):
    with pytest.raises(ValueError, match="exactly one of X and evidence .* neither"):
        examine(clf)
    with pytest.raises(ValueError, match="exactly one of X and evidence .* both"):
        examine(clf, batch.X, evidence=evidence)
    with pytest.raises(ValueError, match="sensitive_features must be None"):
        examine(clf, evidence=evidence, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="level must be"):
        examine(clf, evidence=evidence, level=95)
    with pytest.raises(TypeError, match="evidence must be of type Evidence"):
        examine(clf, evidence=batch.X)
    with pytest.raises(ValueError, match="must come from this model"):
        examine(fitted(pool="resampled"), evidence=evidence)


def test_an_unfitted_classifier_is_named(batch):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        examine(CapeClassifier(), batch.X)


def test_criteria_are_those_of_the_function(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    seen = examine(clf, batch.X, rule="equalized_odds", **groups)
    alone = expected_criteria(clf, seen.evidence, seen.adaptation)
    assert seen.criteria.to_dict() == alone.to_dict()
    assert seen.to_dict()["criteria"] == alone.to_dict()["criteria"]


def disagreements(seen):
    """Everything that two places of an examination say differently."""
    chosen = seen.frontiers(["equal_opportunity_difference"], n_points=2)
    (point,) = (found.chosen for found in chosen.values())
    pairs = [(seen.criteria.accuracy.value, point.accuracy)]
    shares = dict(seen.evidence.rows)
    accuracy = 0.0
    for group, expected in seen.expected.groups.items():
        outcome = point.groups[group]
        for rate in ("fpr", "fnr", "accuracy", "pd"):
            pairs.append((getattr(expected, rate), getattr(outcome, rate)))
        accuracy += shares[group] / seen.rows * expected.accuracy
    pairs.append((point.accuracy, accuracy))
    for name, rates in (
        ("equal_opportunity_difference", ["fnr"]),
        ("false_positive_rate_difference", ["fpr"]),
        ("equalized_odds_difference", ["fnr", "fpr"]),
    ):
        spreads = []
        for rate in rates:
            values = [getattr(group, rate) for group in seen.expected.groups.values()]
            spreads.append(np.ptp(values))
        pairs.append((seen.criteria.criteria[name].value, max(spreads)))
    return [pair for pair in pairs if pair[0] != pytest.approx(pair[1], abs=1e-8)]


@pytest.mark.parametrize("labelled", [None, 3, 1])
@pytest.mark.parametrize("rule", [None, "equal_opportunity"])
def test_one_thing_has_one_number(fitted, batch, labelled, rule):
    """Without labels, with labels of every third row, and with all labels."""
    labels = None
    if labelled is not None:
        labels = np.where(np.arange(len(batch.y)) % labelled, np.nan, batch.y)
    seen = examine(fitted(), batch.X, labels, sensitive_features=batch.z, rule=rule)
    assert (seen.labels is not None) == (labelled is not None)
    assert disagreements(seen) == []


def test_with_all_labels_the_expected_rates_are_the_observed_ones(fitted, batch):
    clf = fitted()
    seen = examine(clf, batch.X, batch.y, sensitive_features=batch.z)
    groups = {"sensitive_features": batch.z}
    y_pred = clf.predict(batch.X, adaptation=seen.adaptation, **groups)
    both = compare_expected(seen.expected, batch.y, y_pred, **groups)
    assert both["expected"].tolist() == pytest.approx(both["observed"].tolist())


def test_what_a_member_calls_positive_is_part_of_what_to_expect(fitted, batch):
    """Predicted share = prevalence x TPR + (1 - prevalence) x FPR."""
    seen = examine(fitted(), batch.X, sensitive_features=batch.z)
    for group, expected in seen.expected.groups.items():
        adapted = seen.adaptation.groups[group]
        rho = adapted.estimate
        called = rho * (1 - expected.fnr) + (1 - rho) * expected.fpr
        assert called == pytest.approx(adapted.predicted_prevalence)
        accuracy = rho * (1 - expected.fnr) + (1 - rho) * (1 - expected.fpr)
        assert expected.accuracy == pytest.approx(accuracy)
