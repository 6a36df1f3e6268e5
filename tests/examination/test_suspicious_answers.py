"""Columns that tell the answer are recognised, and good predictors are not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cape.examination._suspicious import (
    Answers,
    _auc,
    _level_auc,
    _Levels,
    _number_auc,
    read_column,
    reason_answer,
)

SEEDS = st.integers(0, 10_000)


def draw_labels(n, prevalence=0.5, seed=0):
    return np.random.default_rng(seed).random(n) < prevalence


def split(positive, seed=0):
    return Answers.split(positive, np.random.RandomState(seed))


def reason(values, positive):
    return reason_answer(read_column(pd.Series(values)), split(positive))


def level_auc(values, positive):
    levels = _Levels.of(read_column(pd.Series(values)))
    return _level_auc(levels.codes, split(positive))


@given(SEEDS, st.integers(1, 20))
def test_auc_is_scikit_learns(seed, n_values):
    random = np.random.default_rng(seed)
    positive = np.r_[True, False, random.random(98) < 0.3]
    scores = random.integers(0, n_values, 100)
    expected = roc_auc_score(positive, scores)
    assert _auc(scores, positive) == pytest.approx(expected)
    either_way = max(expected, 1 - expected)
    assert _number_auc(scores.astype(float), positive) == pytest.approx(either_way)


@given(SEEDS)
def test_the_auc_of_numbers_depends_on_their_order_alone(seed):
    random = np.random.default_rng(seed)
    positive = np.r_[True, False, random.random(98) < 0.3]
    numbers = random.normal(size=100)
    numbers[random.random(100) < 0.2] = np.nan
    auc = _number_auc(numbers, positive)
    assert _number_auc(-numbers, positive) == pytest.approx(auc)
    assert _number_auc(np.exp(3 * numbers), positive) == pytest.approx(auc)
    assert _number_auc(numbers, ~positive) == pytest.approx(auc)
    order = random.permutation(100)
    assert _number_auc(numbers[order], positive[order]) == pytest.approx(auc)


@given(SEEDS, st.floats(0.05, 0.95))
def test_halves_have_the_prevalence_of_all(seed, prevalence):
    positive = draw_labels(500, prevalence, seed)
    answers = split(positive, seed)
    for half in (answers.in_first_half, ~answers.in_first_half):
        assert abs(half.sum() - 250) <= 1
        assert abs(positive[half].sum() - positive.sum() / 2) <= 0.5


@given(SEEDS, st.sampled_from([2, 50, 400, 2000]))
def test_levels_of_noise_have_an_auc_of_a_half(seed, n_levels):
    # In the rows themselves, 2,000 levels would have an AUC near 1, and shares that
    # leave out the row an AUC near 0 or 1.
    positive = draw_labels(2000, seed=seed)
    values = np.random.default_rng(seed + 1).integers(0, n_levels, 2000).astype(str)
    assert abs(level_auc(values, positive) - 0.5) < 0.08


def test_text_identifiers_tell_nothing():
    positive = draw_labels(1000)
    assert level_auc([f"case {i}" for i in range(1000)], positive) == 0.5


@pytest.mark.parametrize("as_type", [float, str, bool, "category", "Int64"])
def test_the_answer_under_another_name(as_type):
    positive = draw_labels(1000)
    again = pd.Series(positive).astype(int).astype(as_type)
    assert reason(again, positive) == "alone has an AUC of 1.000"
    assert reason(again, ~positive) == "alone has an AUC of 1.000"


@pytest.mark.parametrize("kind", ["number", "text", "date"])
def test_details_that_only_positives_have(kind):
    # Each case has a number of its own: only that there is one tells the answer.
    positive = draw_labels(1000)
    numbers = np.random.default_rng(1).permutation(1000)
    details = {
        "number": pd.Series(numbers / 7),
        "text": pd.Series([f"case {i}" for i in numbers]),
        "date": pd.Timestamp("2013-01-01") + pd.to_timedelta(pd.Series(numbers), "D"),
    }
    values = details[kind].where(positive)
    assert reason(values, positive) == "alone has an AUC of 1.000"


def test_codes_in_no_order():
    positive = draw_labels(1000)
    random = np.random.default_rng(1)
    of_positives = random.choice([1, 3, 5], 1000)
    of_negatives = random.choice([2, 4], 1000)
    codes = np.where(positive, of_positives, of_negatives)
    assert _number_auc(codes.astype(float), positive) < 0.9
    assert reason(codes, positive) == "alone has an AUC of 1.000"


@pytest.mark.parametrize(("separation", "tells"), [(2.5, False), (3.3, True)])
def test_the_limit_is_an_auc_of_98_percent(separation, tells):
    # Two normal distributions: the AUC is Phi(separation / sqrt(2)), .961 and .990.
    positive = draw_labels(20_000)
    numbers = np.random.default_rng(1).normal(size=20_000) + separation * positive
    assert (reason(numbers, positive) is not None) == tells
    assert (reason(-numbers, positive) is not None) == tells


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((1.0, 0.0), "with 1"),
        (("yes", "no"), "with 'yes'"),
        ((True, False), "with 'True'"),
        (("a charge", None), "with a value"),
        ((3.5, None), "with a value"),
        ((None, 3.5), "without a value"),
    ],
)
def test_what_a_part_of_the_positives_has(values, words):
    positive = draw_labels(2000, 0.4)
    has_it = positive & (np.random.default_rng(1).random(2000) < 0.3)
    of_some, of_others = values
    column = [of_some if has else of_others for has in has_it]
    expected = f"all {has_it.sum()} rows {words} are positive"
    assert reason(column, positive) == expected
    # One negative among them, and it is a good predictor, but no answer.
    first_negative = int(np.flatnonzero(~positive)[0])
    column[first_negative] = of_some
    assert reason(column, positive) is None


def test_what_rules_the_event_out_is_known_before():
    # Nobody below 16 is employed.
    employed = draw_labels(2000, 0.5)
    is_child = ~employed & (np.random.default_rng(1).random(2000) < 0.3)
    assert reason(is_child, employed) is None


def test_where_nearly_all_are_positive_a_value_without_negatives_is_no_wonder():
    positive = draw_labels(20_000, 0.8)
    has_it = positive & (np.random.default_rng(1).random(20_000) < 0.3)
    assert reason(has_it, positive) is None


def test_few_rows_of_a_class_tell_nothing():
    positive = np.arange(100) < 9
    assert reason(positive, positive) is None
    assert reason(positive, ~positive) is None
    positive = np.arange(100) < 10
    assert reason(positive, positive) is not None


@given(SEEDS, st.floats(0.1, 0.9), st.floats(0, 2))
def test_good_predictors_are_no_answers(seed, prevalence, separation):
    # AUCs of up to .92.
    random = np.random.default_rng(seed)
    positive = np.r_[[True] * 15, [False] * 15, random.random(500) < prevalence]
    numbers = random.normal(size=530) + separation * positive
    assert reason(numbers, positive) is None
    assert reason(numbers > 1, positive) is None
    assert reason(np.where(numbers > 0.5, np.nan, numbers), positive) is None
    assert reason(numbers.round().astype(str), positive) is None


def test_a_column_without_values_tells_nothing():
    assert reason([None] * 100, draw_labels(100)) is None
    assert reason(["a"] * 100, draw_labels(100)) is None
