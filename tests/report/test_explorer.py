"""The closed form of the explorer, compared with a plain loop and with counting."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cape.report._explorer import Members, explorer_data, members_of, outcomes

shares = st.floats(0, 1, width=16)
rates = st.integers(1, 8).flatmap(
    lambda n: st.tuples(*(arrays(float, n, elements=shares) for _ in range(3)))
)


@given(rates, shares)
def test_it_is_the_plain_loop(values, rho):
    thetas, tpr, fpr = values
    found = outcomes(Members(thetas, tpr, fpr), rho)
    predicted = [rho * t + (1 - rho) * f for t, f in zip(tpr, fpr, strict=True)]
    best = min(
        range(len(thetas)),
        key=lambda j: (
            round(abs(predicted[j] - rho), 12),
            round(abs(thetas[j] - rho), 12),
            thetas[j],
        ),
    )
    assert found["theta"] == thetas[best]
    assert found["predicted"] == pytest.approx(
        rho * (1 - found["fnr"]) + (1 - rho) * found["fpr"], abs=1e-12
    )
    assert found["pd"] == pytest.approx(min(abs(p - rho) for p in predicted), abs=1e-9)
    assert found["accuracy"] == pytest.approx(
        rho * (1 - found["fnr"]) + (1 - rho) * (1 - found["fpr"]), abs=1e-12
    )


def test_it_is_what_counting_gives():
    pool = Members(np.array([0.2, 0.7]), np.array([0.5, 0.9]), np.array([0.1, 0.3]))
    found = outcomes(pool, 0.6)
    positives, negatives = 600, 400
    called = 0.9 * positives + 0.3 * negatives
    right = 0.9 * positives + 0.7 * negatives
    assert (found["predicted"], found["accuracy"]) == (
        pytest.approx(called / 1000),
        pytest.approx(right / 1000),
    )
    assert found["pd"] == pytest.approx(abs(called - positives) / 1000)


def test_many_prevalences_at_once_are_each_alone():
    pool = Members(np.linspace(0, 1, 7), np.linspace(0, 1, 7), np.linspace(0, 0.6, 7))
    grid = np.linspace(0, 1, 11)
    together = outcomes(pool, grid)
    for i, rho in enumerate(grid):
        assert all(
            together[name][i] == value for name, value in outcomes(pool, rho).items()
        )


def test_members_are_thinned_without_loss_that_matters(people_model):
    for model in people_model.clf.models_.values():
        pool, plain = members_of(model)
        assert len(pool.thetas) <= 200 < len(model.pool.thetas)
        full = Members(model.pool.thetas, model.pool.rates.tpr, model.pool.rates.fpr)
        grid = np.linspace(0, 1, 51)
        assert (outcomes(pool, grid)["pd"] <= outcomes(full, grid)["pd"] + 0.01).all()
        assert plain.tpr[0] > plain.fpr[0]


def test_the_model_as_trained_is_the_member_that_cuts_at_one_half(people_model):
    from cape._histogram import HALF

    for model in people_model.clf.models_.values():
        place = model.pool.cuts.tolist().index(HALF)
        assert model.unadapted_rates() == (
            model.pool.rates.tpr[place],
            model.pool.rates.fpr[place],
        )


def test_unknown_rates_are_left_out(train):
    from sklearn.linear_model import LogisticRegression

    from cape import CapeClassifier

    few = CapeClassifier(
        LogisticRegression(), pool="resampled", prevalences=4, cv=2, random_state=0
    )
    few.fit(train.X[:60], train.y[:60])
    (group,) = explorer_data(few)["groups"]
    json.dumps(group, allow_nan=False)
    known = ~np.isnan(
        few.models_["everyone"].pool.rates.tpr + few.models_["everyone"].pool.rates.fpr
    )
    assert len(group["cape"]["theta"]) == known.sum()


def test_data_for_the_page(people_model):
    content = explorer_data(people_model.clf, {"green": 0.256})
    assert [(g["name"], g["now"]) for g in content["groups"]] == [("green", 0.256)]
    assert [g["name"] for g in explorer_data(people_model.clf)["groups"]] == [
        "blue",
        "green",
    ]
    assert len(json.dumps(content)) < 10_000
