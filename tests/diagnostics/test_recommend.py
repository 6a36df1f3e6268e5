"""Choosing on training data alone."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape.diagnostics import recommend


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
    settings = {
        "sensitive_features": train.z,
        "estimator": LogisticRegression(),
        "pools": ("threshold",),
    }
    settings |= {
        "quantifiers": ("spa",),
        "batch_sizes": (30,),
        "n_splits": 2,
        "n_batches": 2,
        "cv": 2,
    }
    first, again = (recommend(train.X, train.y, **settings) for _ in range(2))
    assert first.results.equals(again.results)
    assert not first.results.equals(
        recommend(train.X, train.y, random_state=1, **settings).results
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
    from cape.diagnostics._recommend import _TrainingRows

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
    from cape.diagnostics._recommend import _with_quantifiers

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
