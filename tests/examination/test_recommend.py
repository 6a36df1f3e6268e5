"""Choosing on training data alone."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape.examination import recommend
from cape.examination._recommend import (
    draw_batch,
    mean_over_batches,
)

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
    table = found.table()
    assert len(table) == 2 * 2 * 2 and (table["batches"] == 8).all()
    assert table.index.names == ["batch_size", "pool", "quantifier"]
    assert table["pd"].between(0, 1).all() and (table["pd_error"] > 0).all()
    assert table.loc[50]["pd"].is_monotonic_increasing
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(content["results"]) == 8


def test_the_uncorrected_count_is_not_recommended(found):
    best = found.best()
    assert best.index.tolist() == [50, 200]
    assert "cc" not in best["quantifier"].tolist()
    for metric in ("pd", "pe"):
        least = found.results[metric].groupby("batch_size").min().tolist()
        assert found.best(metric)[metric].tolist() == least
    assert len(repr(found).splitlines()) == 6
    with pytest.raises(ValueError, match="metric must be"):
        found.best("accuracy")


def test_same_seed_same_answer(train):
    one, again, other = (
        recommend(
            train.X, train.y, sensitive_features=train.z, random_state=seed, **FAST
        )
        for seed in (0, 0, 1)
    )
    assert one.results.equals(again.results)
    assert not one.results.equals(other.results)


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
    table = recommend(train.X, labels, sensitive_features=groups, **FAST).table()
    assert table["pd"].max() < 0.5


def test_a_summary_of_batches_leaves_out_what_is_undefined():
    found = mean_over_batches(np.array([[0.1, 1.0], [0.2, np.nan], [0.6, 3.0]]))
    expected = {"pd": 0.3, "pd_error": np.sqrt(0.07 / 3), "pe": 2.0, "pe_error": 1.0}
    assert found == pytest.approx({**expected, "batches": 3})
    alone = mean_over_batches(np.array([[0.1, np.nan]]))
    assert alone["pd"] == 0.1
    assert np.isnan([alone["pd_error"], alone["pe"], alone["pe_error"]]).all()


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
