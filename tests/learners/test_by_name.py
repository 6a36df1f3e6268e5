"""Learners by name: one for any table, one for numbers that repeats itself."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from cape._learners._choice import LEARNERS, make_learner

every_name = pytest.mark.parametrize("name", LEARNERS)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("boosting", HistGradientBoostingClassifier), ("logistic", LogisticRegression)],
)
def test_a_tabular_learner_is_a_pipeline_that_ends_with_the_learner(name, kind):
    pipeline = make_learner(name)
    assert isinstance(pipeline, Pipeline)
    assert isinstance(pipeline[-1], kind)


def test_boosting_of_numbers_has_a_seed_and_the_parameters_that_were_given():
    learner = make_learner("boosting", tabular=False, parameters={"max_depth": 2})
    expected = HistGradientBoostingClassifier(max_depth=2, random_state=0)
    assert learner.get_params() == expected.get_params()


def test_boosting_of_tables_takes_parameters_too():
    pipeline = make_learner("boosting", parameters={"max_iter": 7})
    assert pipeline[-1].max_iter == 7


def test_logistic_regression_of_numbers_scales_them_first():
    pipeline = make_learner("logistic", tabular=False)
    assert list(pipeline.named_steps) == ["standardscaler", "logisticregression"]


@every_name
@pytest.mark.parametrize("tabular", [True, False])
def test_each_call_makes_a_new_learner(name, tabular):
    first = make_learner(name, tabular=tabular)
    second = make_learner(name, tabular=tabular)
    assert first is not second
    assert repr(first) == repr(second)


@every_name
def test_a_tabular_learner_takes_text_dates_and_missing_values(name):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 80)
    table = pd.DataFrame(
        {
            "age": np.where(random.random(80) < 0.2, np.nan, 40 + 20 * y),
            "job": random.choice(["nurse", "clerk"], 80),
            "when": pd.Timestamp("2020-01-01"),
        }
    )
    accuracy = make_learner(name).fit(table, y).score(table, y)
    assert accuracy > 0.7


@pytest.mark.parametrize("tabular", [True, False])
def test_another_name_is_an_error(tabular):
    message = "learner must be one of 'boosting', 'logistic', got 'forest'"
    with pytest.raises(ValueError, match=message):
        make_learner("forest", tabular=tabular)
