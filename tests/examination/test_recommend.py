"""Choosing on training data alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape.examination import recommend
from cape.examination._recommend import draw_batch

FAST = {
    "estimator": LogisticRegression(),
    "quantifiers": ("spa",),
    "pools": ("threshold",),
    "batch_sizes": (30,),
    "n_splits": 2,
    "n_batches": 2,
    "cv": 2,
}


@pytest.fixture(scope="module")
def found(train):
    settings = {"batch_sizes": (50, 200), "n_batches": 4, "prevalences": 3}
    settings["quantifiers"] = ("cc", "spa")
    settings["pools"] = ("threshold", "resampled")
    return recommend(
        train.X, train.y, sensitive_features=train.z, **{**FAST, **settings}
    )


def test_every_configuration_has_a_line(found):
    assert len(found) == 2 * 2 * 2 and (found["batches"] == 8).all()
    assert found.index.names == ["batch_size", "pool", "quantifier"]
    assert found["pd"].between(0, 1).all() and (found["pd_error"] > 0).all()
    assert (found["pe"] > 0).all() and (found["pe_error"] > 0).all()
    for size in (50, 200):
        assert found.loc[size]["pd"].is_monotonic_increasing


def test_the_uncorrected_count_is_not_recommended(found):
    best = found.groupby("batch_size").head(1).index
    assert best.get_level_values("batch_size").tolist() == [50, 200]
    assert "cc" not in best.get_level_values("quantifier")


def test_same_seed_same_answer(train):
    one, again, other = (
        recommend(
            train.X, train.y, sensitive_features=train.z, random_state=seed, **FAST
        )
        for seed in (0, 0, 1)
    )
    assert one.equals(again)
    assert not one.equals(other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"quantifiers": ("best",)},
        {"pools": ("deep",)},
        {"batch_sizes": (0,)},
        {"batch_sizes": ()},
        {"sensitive_features": [0, 1]},
    ],
)
def test_wrong_settings_are_named(train, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        recommend(train.X, train.y, **{"sensitive_features": train.z, **wrong})


def test_text_labels_and_several_columns_of_groups(train):
    labels = np.where(train.y == 1, "yes", "no")
    groups = np.column_stack([train.z, train.z])
    table = recommend(train.X, labels, sensitive_features=groups, **FAST)
    assert table["pd"].max() < 0.5


@settings(max_examples=10)
@given(st.integers(1, 5), st.integers(1, 60), st.integers(0, 2**31))
def test_batches_are_drawn_from_held_out_rows_of_every_group(n_groups, size, seed):
    codes = np.repeat(np.arange(n_groups), 20)
    positive = np.tile([True, False], 10 * n_groups)
    held_out = np.flatnonzero(np.arange(len(codes)) % 20 < 12)
    random = np.random.RandomState(seed)
    rows = draw_batch(codes, positive, held_out, size, random)
    assert set(rows) <= set(held_out)
    assert np.bincount(codes[rows], minlength=n_groups).tolist() == [size] * n_groups
    for code in range(n_groups):
        share = positive[rows][codes[rows] == code].mean()
        distances = np.abs(share - np.array([0.1, 0.3, 0.5, 0.7, 0.9]))
        assert distances.min() <= 0.5 / size + 1e-9
