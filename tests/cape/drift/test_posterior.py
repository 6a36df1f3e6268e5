"""The posterior: the scores' answer where they say much, the past where little."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier


def people(n, prevalences, *, gap=1.5, seed=0):
    """Rows of groups with these prevalences, as many each, and how well they tell."""
    random = np.random.default_rng(seed)
    z = np.arange(n) % len(prevalences)
    y = (random.random(n) < np.array(prevalences)[z]).astype(int)
    return random.normal(size=(n, 2)) + gap * y[:, None], y, z


def fit(gap=1.5, prevalences=(0.3, 0.3), n=4000):
    X, y, z = people(n, prevalences, gap=gap)
    clf = CapeClassifier(LogisticRegression(), cv=3, random_state=0)
    with warnings.catch_warnings():
        # Scores that tell the classes hardly apart are what some tests are about.
        warnings.simplefilter("ignore", UserWarning)
        return clf.fit(X, y, sensitive_features=z)


@pytest.fixture(scope="module")
def sharp():
    return fit()


@pytest.fixture(scope="module")
def blunt():
    return fit(gap=0.25)


def adapt(clf, X, z, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        return clf.adapt(X, sensitive_features=z, **options)


def test_where_the_scores_say_much_it_is_the_answer_of_the_quantifier(sharp):
    X, _, z = people(40_000, (0.2, 0.7), seed=1)
    for adapted in adapt(sharp, X, z).groups.values():
        answer = adapted.quantifier_estimate
        assert adapted.estimate.value == pytest.approx(answer.value, abs=0.002)
        assert adapted.estimate.width == pytest.approx(answer.width, rel=0.03)
        assert adapted.held_back < 0.1
        assert adapted.verdict == "consistent"


def test_where_they_say_little_it_is_the_share_in_training(blunt):
    X, _, z = people(20, (0.3, 0.3), gap=0.25, seed=1)
    for adapted in adapt(blunt, X, z).groups.values():
        distance = abs(adapted.estimate.value - adapted.training_prevalence)
        assert distance < 0.1
        assert adapted.held_back > 0.3
        assert adapted.verdict == "uncertain"


@settings(max_examples=25, deadline=None)
@given(
    n=st.sampled_from([2, 10, 60, 400]),
    first=st.floats(0, 1),
    second=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_estimates_are_shares_inside_their_intervals(
    sharp, blunt, n, first, second, seed
):
    X, _, z = people(n, (first, second), seed=seed)
    for clf in (sharp, blunt):
        for adapted in adapt(clf, X, z).groups.values():
            low, high = adapted.estimate.low, adapted.estimate.high
            assert 0 <= low <= adapted.estimate.value <= high <= 1
            assert 0 <= adapted.held_back <= 1
        with warnings.catch_warnings(action="ignore"):
            plain = clf.predict(X, sensitive_features=z)
        again = clf.predict(X, sensitive_features=z, adaptation=adapt(clf, X, z))
        np.testing.assert_array_equal(plain, again)


def test_a_column_at_fault_leaves_the_anchor_and_no_interval(sharp):
    X, _, z = people(2000, (0.3, 0.3), seed=1)
    for adapted in adapt(sharp, X * [1, 1000], z).groups.values():
        assert adapted.verdict == "uncertain"
        assert adapted.held_back == 1
        assert tuple(adapted.estimate[1:]) == (0, 1)
        assert adapted.estimate.value == adapted.training_prevalence


def test_without_drift_caution_asks_for_no_posterior(sharp):
    X, _, z = people(200, (0.3, 0.6), seed=1)
    plain = adapt(sharp, X, z, drift="ignore")
    assert plain.posterior is None
    for adapted in plain.groups.values():
        assert adapted.estimate == adapted.quantifier_estimate


def test_groups_that_move_alike_tell_each_other(blunt):
    """A small group alone is further off than beside a large one that moved as far."""
    errors = {"alone": [], "together": []}
    for seed in range(12):
        X, y, z = people(6000, (0.6, 0.6), gap=0.25, seed=seed)
        small = np.flatnonzero(z == 0)[:100]
        truth = y[small].mean()
        rows = np.concatenate([small, np.flatnonzero(z == 1)])
        for name, taken in (("alone", small), ("together", rows)):
            estimate = adapt(blunt, X[taken], z[taken]).groups[0].estimate.value
            errors[name].append(abs(estimate - truth))
    assert np.mean(errors["together"]) < 0.8 * np.mean(errors["alone"])


def test_groups_that_move_oppositely_are_told_apart(sharp):
    """The shift of one does not hide that of the other."""
    X, y, z = people(1000, (0.1, 0.8), seed=3)
    found = adapt(sharp, X, z).groups
    for group, adapted in found.items():
        assert adapted.estimate.value == pytest.approx(y[z == group].mean(), abs=0.05)


def test_draws_are_those_of_the_interval_and_joint(blunt):
    X, _, z = people(200, (0.3, 0.3), gap=0.25, seed=1)
    adaptation = adapt(blunt, X, z)
    drawn = adaptation.posterior.draw(20_000, np.random.default_rng(0))
    for group, adapted in adaptation.groups.items():
        inside = (drawn[group] >= adapted.estimate.low) & (
            drawn[group] <= adapted.estimate.high
        )
        # All groups tell of the shared shift here, each of its own in the draws, too.
        assert inside.mean() == pytest.approx(0.95, abs=0.01)
        middle = np.median(drawn[group])
        assert middle == pytest.approx(adapted.estimate.value, abs=0.01)
    assert np.corrcoef(drawn[0], drawn[1])[0, 1] > 0.05


def test_near_is_how_often_draws_are_near_the_estimate(blunt):
    X, _, z = people(300, (0.3, 0.5), gap=0.25, seed=2)
    posterior = adapt(blunt, X, z).posterior
    drawn = posterior.draw(20_000, np.random.default_rng(0))
    for group, one in posterior.groups.items():
        distance = np.abs(drawn[group] - one.estimate(None).value)
        for tolerance in (0.02, 0.05, 0.2):
            share = (distance <= tolerance).mean()
            assert one.near(tolerance) == pytest.approx(share, abs=0.015)
        assert one.near(1) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100, 1000])
def test_intervals_hold_and_errors_stay_where_prevalences_alone_move(sharp, n):
    """Coverage within four standard errors of 93 %; PD at most 1.3 of the paper's."""
    X, y, z = people(20_000, (0.5, 0.5), seed=9)
    random = np.random.default_rng(0)
    inside = []
    errors = {"cautious": [], "ignore": []}
    for _ in range(150):
        rows = []
        for group, wanted in enumerate(random.uniform(0.1, 0.9, size=2)):
            n_positive = round(wanted * (n // 2))
            for label, size in ((1, n_positive), (0, n // 2 - n_positive)):
                of_class = np.flatnonzero((z == group) & (y == label))
                rows.append(random.choice(of_class, size, replace=False))
        rows = np.concatenate(rows)
        X_new, y_new, z_new = X[rows], y[rows], z[rows]
        for drift in errors:
            found = adapt(sharp, X_new, z_new, drift=drift).groups
            for group, adapted in found.items():
                truth = y_new[z_new == group].mean()
                errors[drift].append(abs(adapted.predicted_prevalence - truth))
                if drift == "cautious":
                    inside.append(
                        adapted.estimate.low <= truth <= adapted.estimate.high
                    )
    assert np.mean(inside) > 0.93 - 4 * np.sqrt(0.93 * 0.07 / len(inside))
    assert np.mean(errors["cautious"]) <= 1.3 * np.mean(errors["ignore"])


@pytest.mark.slow
def test_intervals_hold_where_scores_are_nearly_perfect():
    """A few rows on the wrong side are all the noise, and training has few of them."""
    inside = []
    for seed in range(60):
        X, y, z = people(280, (0.4,), gap=2.8, seed=seed)
        clf = CapeClassifier(LogisticRegression(), cv=3, random_state=0)
        clf.fit(X, y, sensitive_features=z)
        for share in (0.2, 0.5, 0.8):
            X, y, z = people(100, (share,), gap=2.8, seed=1000 + seed)
            low, high = adapt(clf, X, z).groups[0].estimate[1:]
            inside.append(low <= y.mean() <= high)
    assert np.mean(inside) > 0.93 - 4 * np.sqrt(0.93 * 0.07 / len(inside))
