"""PE of prevalences: the definition, its symmetries, and where it is undefined."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.metrics import (
    Confusion,
    audit_counts,
    confusion_by_group,
    proportional_equality,
    proportional_equality_matrix,
)
from cape.metrics._between import pe_of_prevalences, worst_pe

shares = st.floats(0.01, 1)
shares_or_zero = st.just(0.0) | shares
groups_of_shares = st.lists(st.tuples(shares, shares), min_size=2, max_size=6)


def prevalences_of(pairs):
    prevalences, predicted = zip(*pairs, strict=True)
    return list(prevalences), list(predicted)


def rows_with_prevalences(pairs, n_rows=100):
    """Labels and predictions whose prevalences are whole hundredths."""
    y_true, y_pred, groups = [], [], []
    for group, (prevalence, predicted) in enumerate(pairs):
        n_positive = round(prevalence * n_rows)
        n_predicted = round(predicted * n_rows)
        y_true += [1] * n_positive + [0] * (n_rows - n_positive)
        y_pred += [1] * n_predicted + [0] * (n_rows - n_predicted)
        groups += [group] * n_rows
    return y_true, y_pred, groups


@given(shares, shares, shares, shares)
def test_pe_is_the_difference_of_two_ratios(rho, other_rho, predicted, other_predicted):
    expected = abs(rho / other_rho - predicted / other_predicted)
    pe = pe_of_prevalences(rho, other_rho, predicted, other_predicted)
    assert isinstance(pe, float)
    assert pe == expected


@given(shares, shares, shares, shares)
def test_the_sign_says_which_ratio_is_greater(
    rho, other_rho, predicted, other_predicted
):
    arguments = (rho, other_rho, predicted, other_predicted)
    signed = pe_of_prevalences(*arguments, signed=True)
    assert abs(signed) == pe_of_prevalences(*arguments)
    if rho / other_rho > predicted / other_predicted:
        assert signed > 0
    swapped = pe_of_prevalences(predicted, other_predicted, rho, other_rho, signed=True)
    assert swapped == pytest.approx(-signed)


@given(shares, shares)
def test_pe_is_zero_where_predictions_keep_the_prevalences(rho, other_rho):
    assert pe_of_prevalences(rho, other_rho, rho, other_rho) == 0
    # Halving both predicted prevalences keeps their ratio.
    assert pe_of_prevalences(rho, other_rho, rho / 2, other_rho / 2) == 0


@given(shares, shares, shares, shares)
def test_the_two_orders_of_a_pair_are_tied_by_the_ratios(
    rho, other_rho, predicted, other_predicted
):
    """PE(a, b) = |r - s| and PE(b, a) = |1/r - 1/s| = |r - s| / (r s)."""
    one = pe_of_prevalences(rho, other_rho, predicted, other_predicted)
    other = pe_of_prevalences(other_rho, rho, other_predicted, predicted)
    product_of_ratios = (rho / other_rho) * (predicted / other_predicted)
    assert one == pytest.approx(other * product_of_ratios, rel=1e-6, abs=1e-9)


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


def test_unknown_prevalences_leave_pe_unknown():
    assert np.isnan(pe_of_prevalences(np.nan, 0.5, 0.5, 0.5))
    assert np.isnan(pe_of_prevalences(0.5, np.nan, 0.5, 0.5))


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


@given(groups_of_shares, st.randoms())
def test_the_order_of_groups_does_not_matter(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert worst_pe(*prevalences_of(pairs)) == worst_pe(*prevalences_of(shuffled))


@given(groups_of_shares, st.floats(0.1, 1))
def test_a_common_factor_of_all_predictions_does_not_matter(pairs, factor):
    prevalences, predicted = prevalences_of(pairs)
    scaled = [factor * share for share in predicted]
    expected = worst_pe(prevalences, predicted)
    assert worst_pe(prevalences, scaled) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(groups_of_shares, st.tuples(shares, shares))
def test_one_more_group_never_makes_the_worst_pair_better(pairs, another):
    fewer = worst_pe(*prevalences_of(pairs))
    more = worst_pe(*prevalences_of([*pairs, another]))
    assert more >= fewer


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


@given(
    st.lists(
        st.tuples(st.integers(1, 100), st.integers(1, 100)), min_size=2, max_size=4
    )
)
def test_the_metrics_of_rows_are_those_of_their_prevalences(hundredths):
    pairs = [(one / 100, other / 100) for one, other in hundredths]
    y_true, y_pred, groups = rows_with_prevalences(pairs)
    prevalences, predicted = prevalences_of(pairs)
    expected = worst_pe(prevalences, predicted)
    metric = proportional_equality(
        y_true, y_pred, sensitive_features=groups, pos_label=1
    )
    assert metric == pytest.approx(expected)
    matrix = proportional_equality_matrix(
        y_true, y_pred, sensitive_features=groups, pos_label=1
    )
    for i, j in [(0, 1), (1, 0)]:
        pe = pe_of_prevalences(
            prevalences[i], prevalences[j], predicted[i], predicted[j]
        )
        assert matrix.loc[i, j] == pytest.approx(pe)


@given(st.lists(st.tuples(shares_or_zero, shares_or_zero), min_size=2, max_size=4))
def test_the_audit_has_the_pe_of_its_prevalences(pairs):
    groups = {}
    for name, (prevalence, predicted) in enumerate(pairs):
        groups[name] = Confusion(
            tp=0, fp=predicted, fn=prevalence, tn=2 - prevalence - predicted, rows=9
        )
    pe = audit_counts(groups, n_resamples=2).pairs()["value"].xs("pe", level="metric")
    for (one, other), value in pe.items():
        expected = pe_of_prevalences(
            groups[one].prevalence,
            groups[other].prevalence,
            groups[one].predicted_prevalence,
            groups[other].predicted_prevalence,
        )
        assert value == pytest.approx(expected, nan_ok=True)


def test_the_warning_of_undefined_pairs_points_at_the_caller():
    y_true, y_pred, groups = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    for metric in (proportional_equality, proportional_equality_matrix):
        with pytest.warns(UserWarning, match="undefined relative to groups") as caught:
            metric(y_true, y_pred, sensitive_features=groups)
        assert caught[0].filename == __file__


def test_a_single_group_is_treated_equally():
    counts = confusion_by_group([1, 0], [0, 0])
    assert len(counts) == 1
    assert proportional_equality([1, 0], [0, 0], sensitive_features=["a", "a"]) == 0
