"""Labels in an examination: they correct the estimates, or are compared with them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from cape import AdaptationWarning
from cape.diagnostics import LabelChecks, examine, prevalence_moved

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


@pytest.fixture(scope="module")
def groups(batch):
    return {"sensitive_features": batch.z}


@pytest.fixture(scope="module")
def some_labels(batch):
    """Labels of a plain sample of 80 rows."""
    known = np.random.default_rng(0).permutation(len(batch.y)) < 80
    return np.where(known, batch.y, None)


def test_labels_that_decide_are_those_of_adapt(clf, batch, groups, some_labels):
    seen = examine(clf, batch.X, some_labels, **groups)
    assert seen.adaptation == clf.adapt(batch.X, some_labels, **groups)
    assert isinstance(seen.labels, LabelChecks) and seen.labels.decide
    for group, check in seen.labels.groups.items():
        adapted = seen.adaptation.groups[group]
        assert check.label_verdict == adapted.label_verdict is not None
        assert (check.low, check.high) == (adapted.low, adapted.high)
        assert check.labelled == adapted.labelled > 10


def test_evidence_with_labels_is_examined_as_its_rows(clf, batch, groups, some_labels):
    evidence = clf.evidence(batch.X, some_labels, **groups)
    one = examine(clf, batch.X, some_labels, **groups)
    other = examine(clf, evidence=evidence)
    assert one.to_dict() == other.to_dict()
    assert repr(one) == repr(other)


def test_inclusion_probabilities_reach_the_estimate(clf, batch, groups, some_labels):
    plain = examine(clf, batch.X, some_labels, **groups)
    odd = np.where(batch.y == 1, 0.9, 0.2)
    weighted = examine(clf, batch.X, some_labels, inclusion_probability=odd, **groups)
    assert weighted.labels.groups[0] != plain.labels.groups[0]


def test_labels_that_do_not_decide_leave_everything_else_alone(clf, batch, groups):
    with_labels = examine(clf, batch.X, batch.y, labels_decide=False, **groups)
    without = examine(clf, batch.X, **groups)
    content = with_labels.to_dict()
    assert content.pop("labels") is not None
    expected = without.to_dict()
    assert expected.pop("labels") is None
    assert content == expected
    assert with_labels.evidence == without.evidence


def test_labels_of_all_rows_give_the_true_share(clf, batch, groups):
    for decide in (False, True):
        seen = examine(clf, batch.X, batch.y, labels_decide=decide, **groups)
        for group, check in seen.labels.groups.items():
            share = pytest.approx(batch.y[batch.z == group].mean())
            assert (check.label_estimate, check.low, check.high) == (share,) * 3
            assert check.is_complete and "labels of all" in check.text


def test_wrong_estimates_are_refuted_and_right_ones_are_not(clf, batch, groups):
    right = examine(clf, batch.X, batch.y, labels_decide=False, **groups)
    wrong = examine(clf, batch.X, 1 - batch.y, labels_decide=False, **groups)
    assert right.labels.refuted == []
    assert wrong.labels.refuted == [0, 1]
    assert wrong.labels.to_dict()["refuted"] == ["0", "1"]


def test_early_outcomes_are_no_sample_and_get_no_verdict(clf, batch, groups):
    known = batch.X[:, 0] > np.median(batch.X[:, 0])
    early = np.where(known, batch.y, None)
    seen = examine(clf, batch.X, early, labels_decide=False, **groups)
    for check in seen.labels.groups.values():
        assert check.label_verdict is None and check.sample_p_value < 0.01
        assert np.isnan(check.label_estimate)
        assert (check.low, check.high) == (check.label_free_low, check.label_free_high)


def test_a_group_without_labels_is_checked_by_nobody(clf, batch, groups):
    of_one = np.where(batch.z == 0, batch.y, None)
    seen = examine(clf, batch.X, of_one, **groups)
    assert seen.labels.groups[0].label_verdict is not None
    assert seen.labels.groups[1].text == "no row has a label"
    without = examine(clf, batch.X, **groups)
    assert seen.adaptation.groups[1] == without.adaptation.groups[1]


@pytest.mark.parametrize("y", [None, np.full(200, np.nan), pd.Series([pd.NA] * 200)])
def test_no_labels_are_no_checks(clf, batch, groups, y):
    assert examine(clf, batch.X, y, **groups).labels is None


def test_the_repr_says_what_labels_say(clf, batch, groups, some_labels):
    used = repr(examine(clf, batch.X, some_labels, **groups))
    assert used.count("\n  without labels 0.") == 2
    compared = repr(examine(clf, batch.X, batch.y, labels_decide=False, **groups))
    assert compared.count("\n  according to labels 0.") == 2
    assert "without labels" not in compared
    for text in (used, compared):
        assert "labels of " in text
        assert max(map(len, text.splitlines())) <= 88


def test_table_and_json_hold_the_checks(clf, batch, groups, some_labels):
    seen = examine(clf, batch.X, some_labels, **groups)
    table = seen.table()
    assert table["labelled"].sum() == 80
    assert set(table["label_verdict"]) <= {"confirmed", "not_contradicted", "refuted"}
    assert "labelled" not in examine(clf, batch.X, **groups).table()
    content = seen.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    texts = [entry["text"] for entry in content["labels"]["groups"]]
    assert texts == [check.text for check in seen.labels.groups.values()]


def test_with_labels_a_move_is_that_of_the_labels(clf, train):
    rows = train.z == 0
    X = train.X[rows]
    y = train.y[rows]
    groups = {"sensitive_features": train.z[rows]}
    # Everybody looks more like a positive, and not a label changes.
    far = X + X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    scores = prevalence_moved(clf, far, **groups)
    assert scores.groups[0].p_value < 0.001
    labels = prevalence_moved(clf, evidence=clf.evidence(far, y, **groups))
    assert labels.groups[0].p_value == pytest.approx(1)
    assert not labels.moved
    changed = clf.evidence(far, np.ones_like(y), **groups)
    assert prevalence_moved(clf, evidence=changed).moved


def test_the_test_of_a_move_keeps_its_level_with_labels(clf, train):
    """Batches of the training population, 40 labels: about 5 % are called moved."""
    random = np.random.default_rng(0)
    p_values = []
    for _ in range(60):
        rows = random.integers(len(train.y), size=400)
        known = random.permutation(400) < 80
        labels = np.where(known, train.y[rows], None)
        evidence = clf.evidence(train.X[rows], labels, sensitive_features=train.z[rows])
        moved = prevalence_moved(clf, evidence=evidence)
        p_values += [test.p_value for test in moved.groups.values()]
    # With a true level of 5 %, more than 14 of 120 come once in a thousand times.
    assert (np.array(p_values) < 0.05).sum() <= 14
    assert np.median(p_values) < 0.9


def test_evidence_without_its_labels_is_that_of_unlabelled_rows(clf, batch, groups):
    with_labels = clf.evidence(batch.X, batch.y, **groups)
    assert with_labels.without_labels() == clf.evidence(batch.X, **groups)
    assert with_labels.groups[0].labelled_rows > 0


def test_what_adapt_warns_of_comes_through(clf, batch, groups):
    with pytest.warns(AdaptationWarning, match="labels refute the label-free"):
        examine(clf, batch.X, 1 - batch.y, **groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="more than the prevalence")
        examine(clf, batch.X, 1 - batch.y, labels_decide=False, **groups)
