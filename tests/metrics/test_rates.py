"""Rates of groups, against Fairlearn's MetricFrame on the same arrays."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    false_negative_rate,
    false_positive_rate,
    selection_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score

from cape.metrics import (
    audit,
    confusion_by_group,
    fairness_table,
    prevalence_difference,
)
from cape.metrics._rates import Confusion


@st.composite
def predictions(draw, *, weighted=False):
    n = draw(st.integers(2, 40))
    y_true, y_pred = (
        np.r_[0, 1, draw(hnp.arrays(int, n, elements=st.integers(0, 1)))]
        for _ in range(2)
    )
    z = draw(hnp.arrays(int, n + 2, elements=st.integers(0, 3)))
    weights = (
        draw(hnp.arrays(float, n + 2, elements=st.floats(0.1, 9))) if weighted else None
    )
    return y_true, y_pred, z, weights


def metric_frame(y_true, y_pred, z, weights):
    metrics = {
        "fpr": false_positive_rate,
        "fnr": false_negative_rate,
        "accuracy": accuracy_score,
        "predicted_prevalence": selection_rate,
    }
    params = (
        {}
        if weights is None
        else {"sample_params": {name: {"sample_weight": weights} for name in metrics}}
    )
    return MetricFrame(
        metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=z, **params
    ).by_group


# scikit-learn warns of a group with one class, and gives 0 where we give NaN.
@pytest.mark.filterwarnings("ignore:A single label was result")
@settings(max_examples=20)
@given(st.booleans().flatmap(lambda weighted: predictions(weighted=weighted)))
def test_rates_of_each_group_are_fairlearn_s(case):
    y_true, y_pred, z, weights = case
    theirs = metric_frame(y_true, y_pred, z, weights)
    ours = confusion_by_group(
        y_true, y_pred, sensitive_features=z, sample_weight=weights
    )
    assert list(ours) == theirs.index.tolist()
    for group, confusion in ours.items():
        for name, value in theirs.loc[group].items():
            rate = getattr(confusion, name)
            if np.isnan(rate):
                # Undefined, where Fairlearn has the best of all rates.
                rows = {"fpr": confusion.negatives, "fnr": confusion.positives}
                assert rows[name] == 0
                assert value == 0
            else:
                assert rate == pytest.approx(value, abs=1e-12)


@settings(max_examples=20)
@given(st.booleans().flatmap(lambda weighted: predictions(weighted=weighted)))
def test_prevalence_difference_is_a_metric_for_fairlearn(case):
    y_true, y_pred, z, weights = case
    params = {} if weights is None else {"sample_params": {"sample_weight": weights}}
    frame = MetricFrame(
        metrics=prevalence_difference,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=z,
        **params,
    )
    ours = confusion_by_group(
        y_true, y_pred, sensitive_features=z, sample_weight=weights
    )
    for group, confusion in ours.items():
        rows = z == group
        w = np.ones(rows.sum()) if weights is None else weights[rows]
        by_hand = abs(
            np.average(y_true[rows], weights=w) - np.average(y_pred[rows], weights=w)
        )
        assert confusion.prevalence_difference == pytest.approx(by_hand, abs=1e-12)
        assert frame.by_group[group] == pytest.approx(by_hand, abs=1e-12)
    assert frame.overall == pytest.approx(
        prevalence_difference(y_true, y_pred, sample_weight=weights)
    )


@pytest.mark.parametrize("classes", [("no", "yes"), (False, True), (-1, 1), (1, 2)])
def test_any_two_labels(classes):
    y_true, y_pred = np.array(classes)[[0, 1, 1, 1]], np.array(classes)[[0, 0, 0, 1]]
    confusion = confusion_by_group(y_true, y_pred)["everyone"]
    assert (confusion.tn, confusion.fn, confusion.tp, confusion.fp) == (1, 2, 1, 0)
    other_way = confusion_by_group(y_true, y_pred, pos_label=classes[0])["everyone"]
    assert (other_way.tp, other_way.fp) == (1, 2)
    assert prevalence_difference(pd.Series(y_true), list(y_pred)) == 0.5


def test_one_label_only():
    assert prevalence_difference([0, 0], [0, 0]) == 0
    assert prevalence_difference([1, 1], [1, 1]) == 0
    assert confusion_by_group([-1, -1], [-1, -1])["everyone"].tn == 2
    assert confusion_by_group(["b", "b"], ["b", "b"], pos_label="b")["everyone"].tp == 2
    with pytest.raises(
        ValueError, match=r"pos_label must be given when .* one label only, got \['b'\]"
    ):
        prevalence_difference(["b", "b"], ["b", "b"])


def test_a_rate_without_rows_is_undefined():
    empty = Confusion(tp=0, fp=0, fn=0, tn=0, rows=0)
    for rate in ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence"):
        assert np.isnan(getattr(empty, rate))
    only_positives = Confusion(tp=3, fp=0, fn=1, tn=0, rows=4)
    assert np.isnan(only_positives.fpr)
    assert only_positives.fnr == 0.25
    only_negatives = Confusion(tp=0, fp=3, fn=0, tn=1, rows=4)
    assert np.isnan(only_negatives.fnr)
    assert only_negatives.fpr == 0.75


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"y_pred": [0, 1]},
            "must have the same number of rows, but y_true has 4, y_pred has 2",
        ),
        ({"sensitive_features": ["a"]}, "sensitive_features has 1"),
        ({"sample_weight": [1.0]}, "sample_weight has 1"),
        (
            {"sample_weight": [1, 1, 1, -1]},
            "sample_weight must be at least 0 in every row, got -1.0",
        ),
        (
            {"y_true": [0, 1, None, 1]},
            "y_true must have a label in every row, got 1 missing",
        ),
        (
            {"y_true": [0, 1, 2, 1]},
            r"y_true and y_pred must hold two labels between them, got 3: \[0, 1, 2\]",
        ),
        ({"pos_label": 7}, r"pos_label must be one of \[0, 1\], got 7"),
        ({"y_true": [], "y_pred": []}, "y_true must have at least one row, got 0"),
        ({"y_true": None}, "y_true must be a column of labels"),
        (
            {"sensitive_features": ["a", "b", None, "a"]},
            "sensitive_features must name a group in every row, got 1",
        ),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        confusion_by_group(
            **{"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 1], **arguments}
        )


def test_a_rate_that_is_undefined_in_a_group_is_so_in_the_table_and_in_the_audit():
    z = np.repeat(["a", "b", "c"], 20)
    y_true = np.r_[np.ones(20), [0, 1] * 20].astype(int)
    y_pred = np.r_[[0, 1] * 10, [0, 0, 1, 1] * 5, [0, 1] * 10]
    row = fairness_table(y_true, y_pred, sensitive_features=z)
    audited = audit(y_true, y_pred, sensitive_features=z).table()["value"]
    assert np.isnan(row["fpr", "a"])
    assert np.isnan(audited["a", "fpr"])
    # The groups that have an FPR are compared: "a" is not the best of them.
    assert row["fpr", "difference"] == abs(row["fpr", "b"] - row["fpr", "c"])
    assert row["fnr", "difference"] == 0.5


def test_one_group_that_is_left_cannot_be_compared():
    y_true = [1, 1, 0, 1]
    row = fairness_table(y_true, [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])
    assert np.isnan(row["fpr", "difference"])
    assert row["fnr", "difference"] == 0.5
    alone = fairness_table([1, 0], [1, 0], sensitive_features=["a", "a"])
    assert alone["fpr", "difference"] == 0
