"""Labels in an examination: they correct the estimates, or are compared with them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from cape import AdaptationWarning, examine

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


@pytest.fixture(scope="module")
def groups(batch):
    return {"sensitive_features": batch.z}


@pytest.fixture(scope="module")
def some_labels(batch):
    """Labels of a plain sample of 80 rows."""
    known = np.random.default_rng(0).permutation(len(batch.y)) < 80
    return np.where(known, batch.y, None)


@pytest.fixture(scope="module")
def corrected(clf, batch, groups, some_labels):
    return examine(clf, batch.X, some_labels, **groups)


def test_labels_that_decide_are_those_of_adapt(
    corrected, clf, batch, groups, some_labels
):
    assert corrected.adaptation == clf.adapt(batch.X, some_labels, **groups)
    assert corrected.labels.decide
    for group, check in corrected.labels.groups.items():
        adapted = corrected.adaptation.groups[group]
        assert check.labels.verdict == adapted.labels.verdict is not None
        assert check.estimate == adapted.estimate
        assert check.labels.rows == adapted.labels.rows > 10
    evidence = clf.evidence(batch.X, some_labels, **groups)
    assert examine(clf, evidence=evidence).to_dict() == corrected.to_dict()
    odd = np.where(batch.y == 1, 0.9, 0.2)
    weighted = examine(clf, batch.X, some_labels, inclusion_probability=odd, **groups)
    assert weighted.labels.groups[0] != corrected.labels.groups[0]


def test_labels_that_do_not_decide_leave_everything_else_alone(
    clf, batch, groups, seen
):
    compared = examine(clf, batch.X, batch.y, labels_decide=False, **groups)
    content = compared.to_dict()
    assert content.pop("labels") is not None
    expected = seen.to_dict()
    assert expected.pop("labels") is None
    # Labels that agree are a better reason to use the predictions.
    assert content.pop("action")["code"] in ("use", expected.pop("action")["code"])
    for entry, before in zip(content["groups"], expected["groups"], strict=True):
        # What the labels say stands beside the estimate that they leave alone.
        assert entry["label_verdict"] is not None and before["label_verdict"] is None
        for name in [*entry]:
            if name.startswith("label") or name == "action":
                del entry[name], before[name]
    assert content == expected
    assert compared.evidence == seen.evidence


@pytest.mark.parametrize("decide", [False, True])
def test_labels_of_all_rows_give_the_true_share(clf, batch, groups, decide):
    seen = examine(clf, batch.X, batch.y, labels_decide=decide, **groups)
    for group, check in seen.labels.groups.items():
        share = pytest.approx(batch.y[batch.z == group].mean())
        assert (check.labels.estimate, *check.estimate[1:]) == (share,) * 3
        assert check.fully_labelled


def test_wrong_estimates_are_refuted_and_right_ones_are_not(
    clf, batch, groups, refuting
):
    right = examine(clf, batch.X, batch.y, labels_decide=False, **groups)
    wrong = examine(clf, batch.X, refuting, labels_decide=False, **groups)
    assert right.labels.refuted == []
    assert wrong.labels.refuted == [0, 1]
    assert wrong.labels.to_dict()["refuted"] == ["0", "1"]


def test_early_outcomes_are_no_sample_and_get_no_verdict(clf, batch, groups):
    known = batch.X[:, 0] > np.median(batch.X[:, 0])
    early = np.where(known, batch.y, None)
    seen = examine(clf, batch.X, early, labels_decide=False, **groups)
    for check in seen.labels.groups.values():
        assert check.labels.verdict is None and check.labels.sample_p_value < 0.01
        assert np.isnan(check.labels.estimate)
        assert check.estimate == check.without_labels


def test_a_group_without_labels_is_checked_by_nobody(clf, batch, groups, seen):
    of_one = np.where(batch.z == 0, batch.y, None)
    found = examine(clf, batch.X, of_one, **groups)
    assert found.labels.groups[0].labels.verdict is not None
    assert found.labels.groups[1].labels.verdict is None
    assert found.labels.groups[1].labels.rows == 0
    adapted = found.adaptation.groups[1]
    assert adapted.without_labels == seen.adaptation.groups[1].estimate


@pytest.mark.parametrize("y", [None, np.full(200, np.nan), pd.Series([pd.NA] * 200)])
def test_no_labels_are_no_checks(clf, batch, groups, y):
    assert examine(clf, batch.X, y, **groups).labels is None


def test_table_repr_and_json_hold_the_checks(corrected, clf, batch, groups, seen):
    table = corrected.table()
    assert table["labelled"].sum() == 80
    assert set(table["label_verdict"]) <= {"confirmed", "not_contradicted", "refuted"}
    assert "labelled" not in seen.table()
    content = corrected.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    compared = examine(clf, batch.X, batch.y, labels_decide=False, **groups)
    for one in (corrected, compared):
        assert max(map(len, repr(one).splitlines())) <= 88
        for entry in one.to_dict()["labels"]["groups"]:
            assert entry["text"] in " ".join(repr(one).split())


def test_with_labels_a_move_is_that_of_the_labels(clf, train):
    rows = train.z == 0
    X = train.X[rows]
    y = train.y[rows]
    groups = {"sensitive_features": train.z[rows]}
    # Everybody looks more like a positive, and not a label changes.
    far = X + X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert examine(clf, far, **groups).moved.groups[0].p_value < 0.001
    labelled = examine(clf, far, y, **groups).moved
    assert labelled.groups[0].p_value == pytest.approx(1)
    assert not labelled.moved
    assert examine(clf, far, np.ones_like(y), **groups).moved.moved


@pytest.mark.slow
def test_the_test_of_a_move_keeps_its_level_with_labels(clf, train):
    """Batches of the training population, 40 labels: about 5 % are called moved."""
    random = np.random.default_rng(0)
    p_values = []
    for _ in range(60):
        rows = random.integers(len(train.y), size=400)
        known = random.permutation(400) < 80
        labels = np.where(known, train.y[rows], None)
        seen = examine(clf, train.X[rows], labels, sensitive_features=train.z[rows])
        p_values += [test.p_value for test in seen.moved.groups.values()]
    # With a true level of 5 %, more than 14 of 120 come once in a thousand times.
    assert (np.array(p_values) < 0.05).sum() <= 14
    assert np.median(p_values) < 0.9


def test_what_adapt_warns_of_comes_through(clf, batch, groups, refuting):
    with pytest.warns(AdaptationWarning, match="labels contradict the label-free"):
        examine(clf, batch.X, refuting, **groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="other changes found")
        examine(clf, batch.X, refuting, labels_decide=False, **groups)
