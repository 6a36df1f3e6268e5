"""Proportional equality: of pairs, of the worst one, and where it is undefined."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.metrics import (
    fairness_table,
    proportional_equality,
    proportional_equality_matrix,
)

rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


@st.composite
def defined(draw):
    """Rows in which every group has positives and predicted positives."""
    one_positive_each = [(1, 1, group) for group in "abc"]
    drawn = draw(rows) + one_positive_each
    y_true, y_pred, z = zip(*drawn, strict=True)
    return np.array(y_true), np.array(y_pred), np.array(z)


@given(defined())
def test_pairs_follow_the_definition(case):
    y_true, y_pred, z = case
    pairs = proportional_equality_matrix(y_true, y_pred, sensitive_features=z)
    for a in "abc":
        for b in "abc":
            true = y_true[z == a].mean() / y_true[z == b].mean()
            predicted = y_pred[z == a].mean() / y_pred[z == b].mean()
            assert pairs.loc[a, b] == pytest.approx(abs(true - predicted), abs=1e-12)
    assert proportional_equality(y_true, y_pred, sensitive_features=z) == pytest.approx(
        pairs.to_numpy().max()
    )


def test_it_is_not_symmetric():
    pairs = proportional_equality_matrix(
        [1, 0, 1, 1], [1, 1, 1, 0], sensitive_features=list("aabb")
    )
    assert pairs.loc["a", "b"] == 1.5
    assert pairs.loc["b", "a"] == 1.5
    pairs = proportional_equality_matrix(
        [1, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 1], sensitive_features=list("aaaabb")
    )
    assert pairs.loc["a", "b"] == pytest.approx(0.25)
    assert pairs.loc["b", "a"] == pytest.approx(2)


@given(defined(), st.randoms())
def test_order_of_rows_and_names_of_groups_do_not_matter(case, random):
    y_true, y_pred, z = case
    order = list(range(len(z)))
    random.shuffle(order)
    expected = proportional_equality(y_true, y_pred, sensitive_features=z)
    renamed = np.array(
        [{"a": "z", "b": 7, "c": "m"}[group] for group in z], dtype=object
    )
    assert proportional_equality(
        y_true[order], y_pred[order], sensitive_features=z[order]
    ) == pytest.approx(expected)
    assert proportional_equality(
        y_true, y_pred, sensitive_features=renamed
    ) == pytest.approx(expected)
    row = fairness_table(y_true, y_pred, sensitive_features=z)
    shuffled = fairness_table(y_true[order], y_pred[order], sensitive_features=z[order])
    pd.testing.assert_series_equal(row, shuffled)


@given(defined(), st.lists(st.floats(0.1, 5), min_size=43, max_size=43))
def test_weights_scale_and_repeat(case, weights):
    y_true, y_pred, z = case
    w = np.array(weights[: len(z)])
    plain = proportional_equality(y_true, y_pred, sensitive_features=z)
    same = proportional_equality(
        y_true, y_pred, sensitive_features=z, sample_weight=np.full(len(z), 3.0)
    )
    assert same == pytest.approx(plain)
    weighted = proportional_equality_matrix(
        y_true, y_pred, sensitive_features=z, sample_weight=w
    )
    a, b = z == "a", z == "b"
    ratios = [
        np.average(y[a], weights=w[a]) / np.average(y[b], weights=w[b])
        for y in (y_true, y_pred)
    ]
    assert weighted.loc["a", "b"] == pytest.approx(
        abs(ratios[0] - ratios[1]), rel=1e-9, abs=1e-9
    )


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20),
    st.integers(2, 4),
)
def test_equal_groups_have_none_of_it(pairs, n_groups):
    """Groups that are copies of one another: every difference is 0."""
    y_true, y_pred = (
        np.tile([*column, 1], n_groups) for column in zip(*pairs, strict=True)
    )
    z = np.repeat(np.arange(n_groups), len(pairs) + 1)
    row = fairness_table(y_true, y_pred, sensitive_features=z)
    assert proportional_equality(y_true, y_pred, sensitive_features=z) == 0
    assert row["fnr", "difference"] == row["accuracy", "difference"] == 0
    # Without negatives there is no FPR, and so no difference.
    assert row["fpr", "difference"] == 0 or np.all(y_true == 1)


def test_a_perfect_prediction_has_none_of_it():
    y, z = [1, 0, 1, 1, 0, 1], list("aabbbc")
    assert proportional_equality(y, y, sensitive_features=z) == 0


@pytest.mark.parametrize(
    ("y_true", "y_pred"), [([1, 0, 0, 0], [1, 0, 1, 0]), ([1, 0, 1, 0], [1, 0, 0, 0])]
)
def test_a_pair_without_positives_is_undefined(y_true, y_pred):
    z = list("aabb")
    with pytest.warns(
        UserWarning,
        match="undefined relative to groups without positives .* 'b'; NaN there",
    ):
        pairs = proportional_equality_matrix(y_true, y_pred, sensitive_features=z)
    assert np.isnan(pairs.loc["a", "b"])
    assert np.isnan(pairs.loc["b", "b"])
    assert pairs.loc["b", "a"] == pytest.approx(1)
    with pytest.warns(UserWarning, match="'b'"):
        assert proportional_equality(
            y_true, y_pred, sensitive_features=z
        ) == pytest.approx(1)


def test_no_pair_is_defined():
    with pytest.warns(UserWarning, match="'a', 'b'"):
        assert np.isnan(
            proportional_equality([0, 0], [0, 1], sensitive_features=["a", "b"])
        )
    assert proportional_equality([0, 0], [0, 1], sensitive_features=["a", "a"]) == 0


def test_the_table_is_a_row_of_the_paper(batch):
    y_pred = 1 - batch.y
    y_pred[::3] = batch.y[::3]
    row = fairness_table(batch.y, y_pred, sensitive_features=batch.z)
    assert row.index.names == ["metric", "group"]
    for group in (0, 1):
        y, p = batch.y[batch.z == group], y_pred[batch.z == group]
        assert row["fpr", group] == pytest.approx(p[y == 0].mean())
        assert row["fnr", group] == pytest.approx(1 - p[y == 1].mean())
        assert row["accuracy", group] == pytest.approx((y == p).mean())
        assert row["prevalence", group] == pytest.approx(y.mean())
        assert row["predicted_prevalence", group] == pytest.approx(p.mean())
        assert row["pd", group] == pytest.approx(abs(y.mean() - p.mean()))
    assert row["fpr", "difference"] == pytest.approx(abs(row["fpr", 0] - row["fpr", 1]))
    assert row["pe", "worst pair"] == proportional_equality(
        batch.y, y_pred, sensitive_features=batch.z
    )


def test_combinations_of_columns_are_named_in_words():
    z = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2]})
    row = fairness_table([1, 1, 1, 1], [1, 1, 1, 1], sensitive_features=z)
    assert ("accuracy", "x, 1") in row.index
    pairs = proportional_equality_matrix(
        [1, 1, 1, 1], [1, 1, 1, 1], sensitive_features=z
    )
    assert pairs.columns.tolist() == ["x, 1", "x, 2", "y, 1", "y, 2"]
