"""Metrics between groups: PE, parity beside Fairlearn's, and the paper's table."""

import warnings

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_score

import cape.metrics as ours
from cape.metrics import (
    fairness_table,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._between import pe_of_prevalences, worst_pe

three_groups = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


@st.composite
def defined_pe(draw):
    """Rows in which every group has positives and predicted positives."""
    one_positive_each = [(1, 1, group) for group in "abc"]
    drawn = draw(three_groups) + one_positive_each
    y_true, y_pred, z = zip(*drawn, strict=True)
    return np.array(y_true), np.array(y_pred), np.array(z)


@given(defined_pe())
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


@given(defined_pe(), st.randoms())
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


@given(defined_pe(), st.lists(st.floats(0.1, 5), min_size=43, max_size=43))
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


shares = st.floats(0.01, 1)
groups_of_shares = st.lists(st.tuples(shares, shares), min_size=2, max_size=6)


def prevalences_of(pairs):
    prevalences, predicted = zip(*pairs, strict=True)
    return list(prevalences), list(predicted)


@given(shares, shares, shares, shares)
def test_pe_is_the_difference_of_two_ratios(rho, other_rho, predicted, other_predicted):
    expected = abs(rho / other_rho - predicted / other_predicted)
    pe = pe_of_prevalences(rho, other_rho, predicted, other_predicted)
    assert isinstance(pe, float)
    assert pe == expected


@given(shares, shares)
def test_pe_is_zero_where_predictions_keep_the_prevalences(rho, other_rho):
    assert pe_of_prevalences(rho, other_rho, rho, other_rho) == 0
    # Halving both predicted prevalences keeps their ratio.
    assert pe_of_prevalences(rho, other_rho, rho / 2, other_rho / 2) == 0


@pytest.mark.parametrize(
    ("other_prevalence", "other_predicted"), [(0.0, 0.5), (0.5, 0.0), (0.0, 0.0)]
)
@pytest.mark.parametrize("signed", [False, True])
def test_pe_relative_to_a_group_without_positives_is_undefined(
    other_prevalence, other_predicted, signed
):
    pe = pe_of_prevalences(0.5, other_prevalence, 0.5, other_predicted, signed=signed)
    assert np.isnan(pe)


def test_a_group_without_positives_can_be_compared_with_others():
    assert pe_of_prevalences(0.0, 0.5, 0.25, 0.5) == 0.5
    assert pe_of_prevalences(0.0, 0.5, 0.0, 0.5) == 0


def test_arguments_are_broadcast():
    rho = np.array([0.2, 0.4])
    predicted = np.array([0.1, 0.4])
    matrix = pe_of_prevalences(rho[:, None], rho, predicted[:, None], predicted)
    assert matrix.shape == (2, 2)
    for row in range(2):
        for column in range(2):
            alone = pe_of_prevalences(
                rho[row], rho[column], predicted[row], predicted[column]
            )
            assert matrix[row, column] == alone
    draws = pe_of_prevalences([0.2, 0.4, 0.0], 0.4, 0.2, 0.5)
    assert draws.tolist() == pytest.approx([0.1, 0.6, 0.4])


@given(groups_of_shares)
def test_the_worst_pair_is_the_greatest_of_all_ordered_pairs(pairs):
    prevalences, predicted = prevalences_of(pairs)
    values = []
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            if i != j:
                ratio = prevalences[i] / prevalences[j]
                predicted_ratio = predicted[i] / predicted[j]
                values.append(abs(ratio - predicted_ratio))
    assert worst_pe(prevalences, predicted) == max(values)


@given(groups_of_shares, st.floats(0.1, 1))
def test_a_common_factor_of_all_predictions_does_not_matter(pairs, factor):
    prevalences, predicted = prevalences_of(pairs)
    scaled = [factor * share for share in predicted]
    expected = worst_pe(prevalences, predicted)
    assert worst_pe(prevalences, scaled) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_undefined_pairs_are_left_out_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worst_pe([0.2, 0.0], [0.2, 0.5]) == 2.5
        assert worst_pe([0.5, 0.5, 0.0], [0.5, 0.25, 0.0]) == 1


def test_no_defined_pair_is_nan():
    assert np.isnan(worst_pe([0.0, 0.0], [0.5, 0.5]))
    assert np.isnan(worst_pe([0.3, 0.0], [0.0, 0.5]))
    assert np.isnan(worst_pe([0.3], [0.5]))
    assert np.isnan(worst_pe([], []))


def test_prevalences_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="prevalences has 2, predicted has 1"):
        worst_pe([0.5, 0.5], [0.5])


def test_the_warning_of_undefined_pairs_points_at_the_caller():
    y_true, y_pred, groups = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    for metric in (proportional_equality, proportional_equality_matrix):
        with pytest.warns(UserWarning, match="undefined relative to groups") as caught:
            metric(y_true, y_pred, sensitive_features=groups)
        assert caught[0].filename == __file__


# Their name of each metric; None where they have it through a MetricFrame only.
SAME = {
    "demographic_parity_difference": "demographic_parity_difference",
    "demographic_parity_ratio": "demographic_parity_ratio",
    "equal_opportunity_difference": "equal_opportunity_difference",
    "equal_opportunity_ratio": "equal_opportunity_ratio",
    "false_positive_rate_difference": "false_positive_rate_difference",
    "false_positive_rate_ratio": "false_positive_rate_ratio",
    "equalized_odds_difference": "equalized_odds_difference",
    "precision_difference": None,
    "precision_ratio": None,
}


@st.composite
def rows(draw):
    """Rows in which every group has each pair of label and prediction."""
    n_groups = draw(st.integers(1, 5))
    n = draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = np.r_[np.tile([0, 0, 1, 1], n_groups), random.integers(0, 2, n)]
    y_hat = np.r_[np.tile([0, 1, 0, 1], n_groups), random.integers(0, 2, n)]
    z = np.r_[np.repeat(np.arange(n_groups), 4), random.integers(0, n_groups, n)]
    return y, y_hat, z, random.uniform(0.2, 3, len(y))


def theirs(name, y, y_hat, z, w):
    if SAME[name] is not None:
        metric = getattr(fairlearn, SAME[name])
        return metric(y, y_hat, sensitive_features=z, sample_weight=w)
    frame = fairlearn.MetricFrame(
        metrics=precision_score,
        y_true=y,
        y_pred=y_hat,
        sensitive_features=z,
        sample_params={"sample_weight": w},
    )
    return frame.difference() if name.endswith("difference") else frame.ratio()


@settings(max_examples=10, deadline=None)
@given(rows(), st.booleans())
def test_all_are_fairlearn_s(case, weighted):
    y, y_hat, z, w = case
    if not weighted:
        w = np.ones(len(y))
    for name in SAME:
        own = getattr(ours, name)(y, y_hat, sensitive_features=z, sample_weight=w)
        assert own == pytest.approx(theirs(name, y, y_hat, z, w)), name


@pytest.mark.parametrize("name", SAME)
def test_one_group_is_equal_to_itself(name):
    value = getattr(ours, name)([0, 1, 0, 1], [0, 1, 1, 0], sensitive_features=[1] * 4)
    assert value == (1.0 if name.endswith("ratio") else 0.0)


def test_a_group_without_positives_is_left_out_and_named():
    """Fairlearn counts its rate as 0, which would make it the worst of all."""
    y = [1, 1, 0, 1, 0, 0]
    y_hat = [1, 0, 0, 1, 1, 0]
    z = ["a", "a", "a", "b", "c", "c"]
    with pytest.warns(UserWarning, match="tpr is undefined .* 'c'") as caught:
        value = ours.equal_opportunity_difference(y, y_hat, sensitive_features=z)
    assert value == 0.5
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert theirs("equal_opportunity_difference", y, y_hat, z, None) == 1.0


def test_what_is_defined_for_no_group_is_nan():
    nobody = [0, 0, 0, 0]
    settings_ = {"sensitive_features": ["a", "a", "b", "b"], "pos_label": 1}
    truth = [0, 1, 0, 1]
    assert np.isnan(ours.demographic_parity_ratio(truth, nobody, **settings_))
    assert ours.demographic_parity_difference(truth, nobody, **settings_) == 0
    for metric in (ours.precision_difference, ours.precision_ratio):
        with pytest.warns(UserWarning, match="precision is undefined .* 'a', 'b'"):
            assert np.isnan(metric(truth, nobody, **settings_))


@pytest.mark.filterwarnings("ignore:.* is undefined")
def test_odds_of_which_one_half_is_undefined_are_nan():
    """The greater of a number and of something unknown is unknown."""
    all_positive = [1, 1, 1, 1]
    value = ours.equalized_odds_difference(
        all_positive, [0, 1, 1, 1], sensitive_features=[0, 0, 1, 1]
    )
    assert np.isnan(value)
