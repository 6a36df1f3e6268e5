"""When an adaptation is to be doubted, adapt says so once, in words."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cape import Adaptation, CapeClassifier, Estimate
from cape._adaptation import AdaptationWarning, warn_if_doubtful
from cape._drift._mixture import holm
from cape._prediction import adapt


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_between_the_p_value_and_bonferroni(p_values):
    adjusted = np.array(holm(p_values))
    p = np.array(p_values)
    assert (adjusted >= p).all() and (
        adjusted <= np.minimum(p * len(p), 1) + 1e-12
    ).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_holm_against_a_worked_example():
    np.testing.assert_allclose(
        holm([0.01, 0.02, 0.03, 0.005]), [0.03, 0.04, 0.04, 0.02]
    )
    assert holm([]) == []


def shifted(batch, by):
    return batch.X + np.array([by, 0])


@pytest.mark.parametrize("scores", ["refit", "folds"])
def test_adapt_warns_once_when_more_than_the_prevalence_moved(fitted, batch, scores):
    clf = fitted(scores=scores, pool="threshold")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.adapt(shifted(batch, 8), sensitive_features=batch.z)
    (warning,) = caught
    assert warning.category is AdaptationWarning
    assert "more than the prevalence has moved in '0' (" in str(warning.message)
    assert "'1' (" in str(warning.message)
    assert warning.filename == __file__


def test_a_column_at_fault_is_named_once_for_all_groups(fitted, batch):
    clf = fitted(pool="threshold")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        adaptation = clf.adapt(batch.X * [1, 100], sensitive_features=batch.z)
    (warning,) = caught
    assert "`x1`: 99% of the values are greater than in" in str(warning.message)
    assert warning.filename == __file__
    for adapted in adaptation.groups.values():
        assert adapted.verdict == "cannot_tell"
        assert (adapted.estimate.low, adapted.estimate.high) == (0, 1)
        assert adapted.estimate.value == adapted.training_prevalence


def test_a_prior_shift_and_prediction_without_adaptation_are_silent(fitted, batch):
    clf = fitted(pool="threshold")
    clf.adapt(batch.X, sensitive_features=batch.z)
    clf.predict(
        shifted(batch, 25), sensitive_features=batch.z
    )  # warnings are errors here


def test_a_test_that_is_not_sound_is_said_and_columns_are_tested(train, batch):
    clf = CapeClassifier(
        HistGradientBoostingClassifier(max_iter=5),
        scores="refit",
        cv=2,
        random_state=0,
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="scores of '0', '1' were not tested"):
        adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    for adapted in adaptation.groups.values():
        assert adapted.verdict in ("consistent", "cannot_tell")


def test_a_batch_that_says_too_little_is_named(fitted, batch):
    rows = [0, 1, 2]
    with pytest.warns(
        AdaptationWarning, match=r"too few rows to estimate .*'0' \(.*wider than 0\.5"
    ):
        fitted(pool="threshold").adapt(batch.X[rows], sensitive_features=batch.z[rows])


@pytest.mark.parametrize(
    ("learner", "settings", "follows"),
    [
        (LogisticRegression(), {}, True),
        (make_pipeline(StandardScaler(), LogisticRegression()), {}, True),
        (SGDClassifier(loss="log_loss"), {}, False),
        (
            make_pipeline(PolynomialFeatures(8), LogisticRegression(max_iter=5000)),
            {},
            False,
        ),  # 45 coefficients
        (HistGradientBoostingClassifier(max_iter=3), {}, False),
        (HistGradientBoostingClassifier(max_iter=3), {"scores": "folds"}, True),
    ],
    ids=[
        "linear",
        "pipeline",
        "sgd",
        "many coefficients",
        "boosting",
        "boosting, folds",
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_when_the_test_is_sound(train, learner, settings, follows):
    given = {"scores": "refit", "share_estimator": False, **settings}
    clf = CapeClassifier(learner, cv=2, random_state=0, **given)
    clf.fit(train.X / 20, train.y, sensitive_features=train.z)
    assert {model.test_is_sound for model in clf.models_.values()} == {follows}


def test_a_hold_out_is_sound(train):
    learner = HistGradientBoostingClassifier(max_iter=3).fit(
        train.X[:300], train.y[:300]
    )
    clf = CapeClassifier(learner, pool="threshold", cv="prefit").fit(
        train.X[300:], train.y[300:]
    )
    assert clf.models_["everyone"].test_is_sound


@pytest.mark.parametrize("n_groups", [1, 10, 13])
def test_wide_intervals_name_at_most_ten_groups(adapted, nothing_found, n_groups):
    wide = adapted(rows=1, quantifier_estimate=Estimate(0.5, 0, 1))
    names = [f"g{number:02}" for number in range(n_groups)]
    groups = dict.fromkeys(names, wide)
    drifts = dict.fromkeys(names, nothing_found)
    with pytest.warns(AdaptationWarning) as caught:
        warn_if_doubtful(Adaptation("f", groups, 0.9, drifts=drifts))
    (message,) = [str(warning.message) for warning in caught]
    assert "90% interval is wider than 0.5" in message
    assert message.count("(1 rows)") == min(n_groups, 10)
    assert ("3 more" in message) == (n_groups == 13)


def test_an_interval_of_one_half_is_not_yet_wide(adapted, nothing_found):
    groups = {"a": adapted(quantifier_estimate=Estimate(0.5, 0.25, 0.75))}
    warn_if_doubtful(Adaptation("f", groups, drifts={"a": nothing_found}))


def test_intervals_that_nobody_asked_for_are_not_wide(fitted, batch):
    clf = fitted(pool="threshold")
    evidence = clf.evidence(batch.X[:3], sensitive_features=batch.z[:3])
    warn_if_doubtful(adapt(clf.models_, evidence))


def test_only_the_groups_that_moved_otherwise_are_named(fitted, batch):
    clf = fitted(pool="threshold")
    moved = np.where((batch.z == 1)[:, None], shifted(batch, 8), batch.X)
    with pytest.warns(AdaptationWarning, match=r"moved in '1' \(estimate held back "):
        clf.adapt(moved, sensitive_features=batch.z)
