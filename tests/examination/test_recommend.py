"""Choosing on training data alone."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape.examination import Recommendation, recommend
from cape.examination._recommend import (
    _mean_over_batches,
    _TrainingRows,
    _with_quantifiers,
)


@pytest.fixture(scope="module")
def found(train):
    return recommend(
        train.X,
        train.y,
        sensitive_features=train.z,
        estimator=LogisticRegression(),
        batch_sizes=(50, 200),
        quantifiers=("cc", "spa", "histogram"),
        n_splits=2,
        n_batches=8,
        prevalences=4,
        cv=3,
    )


def test_every_configuration_has_a_line(found):
    table = found.table()
    assert len(table) == 2 * 2 * 3 and (table["batches"] == 16).all()
    assert table.index.names == ["batch_size", "pool", "quantifier"]
    assert (
        table["pd"].between(0, 1).all()
        and (table["pd_error"] > 0).all()
        and table["pe"].gt(0).all()
    )
    assert table.loc[50]["pd"].is_monotonic_increasing


def test_the_uncorrected_count_is_not_recommended(found):
    best = found.best()
    assert best.index.tolist() == [50, 200]
    assert "cc" not in best["quantifier"].tolist()
    assert (
        best["pd"].tolist() == found.results["pd"].groupby("batch_size").min().tolist()
    )
    assert (
        found.best("pe")["pe"].tolist()
        == found.results["pe"].groupby("batch_size").min().tolist()
    )
    assert "batches of 200: lowest PD with pool " in repr(found)
    assert (
        len(json.loads(json.dumps(found.to_dict(), allow_nan=False))["results"]) == 12
    )


def test_same_seed_same_answer(train):
    call = {
        "sensitive_features": train.z,
        "estimator": LogisticRegression(),
        "pools": ("threshold",),
    }
    call |= {
        "quantifiers": ("spa",),
        "batch_sizes": (30,),
        "n_splits": 2,
        "n_batches": 2,
        "cv": 2,
    }
    first, again = (recommend(train.X, train.y, **call) for _ in range(2))
    assert first.results.equals(again.results)
    assert not first.results.equals(
        recommend(train.X, train.y, random_state=1, **call).results
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"quantifiers": ("best",)},
        {"pools": ("deep",)},
        {"batch_sizes": (0,)},
        {"batch_sizes": ()},
    ],
)
def test_wrong_settings_are_named(train, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        recommend(train.X, train.y, sensitive_features=train.z, **wrong)


def test_text_labels_and_several_columns_of_groups(train):
    labels = np.where(train.y == 1, "yes", "no")
    groups = np.column_stack([train.z, train.z])
    table = recommend(
        train.X,
        labels,
        sensitive_features=groups,
        estimator=LogisticRegression(),
        batch_sizes=(40,),
        quantifiers=("spa",),
        pools=("threshold",),
        n_splits=2,
        n_batches=2,
        cv=2,
    ).table()
    assert table["pd"].max() < 0.5


@pytest.fixture
def rows(train):
    return _TrainingRows.of(train.X, train.y, train.z)


def test_splits_have_their_share_of_every_group_and_label(rows, train):
    splits = list(rows.splits(3, np.random.RandomState(0)))
    held_out = np.concatenate([part for _, part in splits])
    assert sorted(held_out) == list(range(len(train.y)))
    strata = 2 * train.z + train.y
    whole = np.bincount(strata) / 3
    for fitted_rows, part in splits:
        assert not set(fitted_rows) & set(part)
        assert (np.abs(np.bincount(strata[part]) - whole) <= 1).all()


def test_perfect_predictions_are_perfectly_fair(rows, train):
    class Oracle:
        classes_ = np.array([0, 1])

        def predict(self, X, *, sensitive_features):
            return self.labels

    oracle = Oracle()
    chosen = np.arange(100)
    oracle.labels = train.y[chosen]
    measured = rows.measure(oracle, chosen)
    assert measured == (0.0, 0.0)
    oracle.labels = np.ones(100, dtype=int)
    worse = rows.measure(oracle, chosen)
    assert worse.pd == pytest.approx(
        1 - np.mean([train.y[chosen][train.z[chosen] == z].mean() for z in (0, 1)])
    )


def test_a_batch_without_predicted_positives_has_no_pe(rows, train):
    class Never:
        classes_ = np.array([0, 1])

        def predict(self, X, *, sensitive_features):
            return np.zeros(len(X), dtype=int)

    measured = rows.measure(Never(), np.arange(100))
    assert np.isnan(measured.pe) and 0 < measured.pd < 1


def test_other_quantifiers_share_the_trained_pools(fitted, train):
    clf = fitted(pool="threshold", quantifier="spa")
    variants = dict(_with_quantifiers(clf, ("cc", "emq")))
    for name, variant in variants.items():
        for group, model in variant.models_.items():
            assert model.pool is clf.models_[group].pool
            assert type(model.quantifier).__name__.lower() == name
    kinds = {type(model.quantifier).__name__ for model in clf.models_.values()}
    assert kinds == {"SPA"}


def test_columns_of_different_length_are_named(train):
    with pytest.raises(ValueError, match="sensitive_features"):
        recommend(train.X, train.y, sensitive_features=train.z[:-1])


def test_the_metric_of_the_best_must_be_known(found):
    with pytest.raises(ValueError, match="metric must be"):
        found.best("accuracy")


def test_a_summary_of_batches_leaves_out_what_is_undefined():
    found = _mean_over_batches(np.array([[0.1, 1.0], [0.2, np.nan], [0.6, 3.0]]))
    assert found["pd"] == pytest.approx(0.3) and found["pe"] == pytest.approx(2.0)
    assert found["pd_error"] == pytest.approx(np.sqrt(0.07 / 3)) and found[
        "pe_error"
    ] == pytest.approx(1.0)
    assert found["batches"] == 3
    alone = _mean_over_batches(np.array([[0.1, np.nan]]))
    assert (
        alone["pd"] == 0.1
        and np.isnan([alone["pd_error"], alone["pe"], alone["pe_error"]]).all()
    )


def test_the_best_is_the_least_of_its_batch_size_and_what_is_undefined_is_none():
    index = pd.MultiIndex.from_product([[50, 100], ["threshold"], ["cc", "spa"]])
    index.names = ["batch_size", "pool", "quantifier"]
    values = {
        "pd": [0.3, 0.1, 0.2, 0.4],
        "pd_error": 0.01,
        "pe": [1.0, 2.0, 4.0, 3.0],
        "pe_error": np.nan,
    }
    found = Recommendation(pd.DataFrame({**values, "batches": 5}, index=index))
    assert found.best()["quantifier"].tolist() == ["spa", "cc"]
    assert found.best("pe")["quantifier"].tolist() == ["cc", "spa"]
    assert found.table()["pd"].tolist() == [0.1, 0.3, 0.2, 0.4]
    assert [row["pe_error"] for row in found.to_dict()["results"]] == [None] * 4


@settings(max_examples=10)
@given(st.integers(1, 5), st.integers(1, 60), st.integers(0, 2**31))
def test_batches_are_drawn_from_held_out_rows_of_every_group(n_groups, size, seed):
    codes, positive = (
        np.repeat(np.arange(n_groups), 20),
        np.tile([True, False], 10 * n_groups),
    )
    held_out = np.flatnonzero(np.arange(len(codes)) % 20 < 12)
    rows = _TrainingRows(None, None, None, np.array([0, 1]), codes, positive)
    random = np.random.RandomState(seed)
    batches = list(rows.draw_batches(held_out, (size, 7), 3, random))
    assert [n for n, _ in batches] == [size] * 3 + [7] * 3
    for n, rows in batches:
        assert set(rows) <= set(held_out)
        assert np.bincount(codes[rows], minlength=n_groups).tolist() == [n] * n_groups
        for code in range(n_groups):
            share = positive[rows][codes[rows] == code].mean()
            assert (
                min(abs(share - rho) for rho in (0.1, 0.3, 0.5, 0.7, 0.9))
                <= 0.5 / n + 1e-9
            )
