"""What else has moved holds the estimate back, and only then."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, Estimate, examine
from cape._columns import ColumnCells
from cape._drift import (
    ColumnDrift,
    GroupDrift,
    hold_back,
    ignore_drift,
    variance_between,
)
from cape._drift._columns import ColumnFit, ColumnInBatch
from cape._drift._mixture import MixtureFit

NO_SHARES = np.zeros(2)
COLUMN = ColumnInBatch(
    ColumnCells("x", "empty"), NO_SHARES, NO_SHARES, NO_SHARES, 100, 0.5
)


def found(p=1.0, spread=0.0, effect=0.0, fault=""):
    """Return drift with one column and tested scores."""
    fit = ColumnFit(statistic=1.0, df=3, p_value=p, effect=effect)
    column = ColumnDrift(COLUMN, fit, fault, {}, p_adjusted=p)
    score = MixtureFit(0.5, 1.0, 3, 1.0, 0.0)
    return GroupDrift(score, (column,), spread)


share = st.floats(0, 1)
p_value = st.floats(0, 1)
spread = st.floats(0, 3)


@st.composite
def plain_estimates(draw):
    low, estimate, high = sorted([draw(share), draw(share), draw(share)])
    return Estimate(estimate, low, high)


def held(plain, drift, mean=0.4, training=0.5, level=0.95):
    return hold_back(
        plain, drift, mean_score=mean, training_prevalence=training, level=level
    )


@given(plain=plain_estimates(), p=st.floats(0.2, 1), spread=spread, effect=share)
def test_without_drift_it_is_the_answer_of_the_quantifier_to_the_bit(
    plain, p, spread, effect
):
    back = held(plain, found(p, spread, effect))
    assert back.estimate == plain
    assert back.held_back == 0
    assert back.verdict in ("consistent", "cannot_tell")


@given(plain=plain_estimates(), p=p_value, spread=spread, effect=share, mean=share)
def test_it_stays_between_0_and_1_and_between_the_answer_and_the_anchors(
    plain, p, spread, effect, mean
):
    back = held(plain, found(p, spread, effect), mean=mean, training=0.3)
    assert 0 <= back.estimate.low <= back.estimate.high <= 1
    ends = (plain.value, mean, 0.3)
    assert min(ends) - 1e-12 <= back.estimate.value <= max(ends) + 1e-12
    assert 0 <= back.held_back <= 1


@given(plain=plain_estimates(), p=p_value, spread=spread, effect=share, mean=share)
def test_an_interval_is_never_shorter_than_the_plain_one(
    plain, p, spread, effect, mean
):
    back = held(plain, found(p, spread, effect), mean=mean)
    assert back.estimate.width >= plain.width - 1e-12


@given(plain=plain_estimates(), p=p_value, spreads=st.tuples(spread, spread))
def test_more_spread_holds_back_more(plain, p, spreads):
    small, large = sorted(spreads)
    less = held(plain, found(p, small))
    more = held(plain, found(p, large))
    assert less.held_back <= more.held_back
    assert abs(less.estimate.value - 0.4) >= abs(more.estimate.value - 0.4) - 1e-12


@given(plain=plain_estimates(), p=p_value, spread=spread)
def test_stronger_evidence_holds_back_more(plain, p, spread):
    assert (
        held(plain, found(p, spread)).held_back
        <= held(plain, found(p / 2, spread)).held_back
    )


@given(p=p_value, spread=spread, fault=st.sampled_from(["", "missing"]))
def test_without_a_level_there_is_no_interval_and_the_same_estimate(p, spread, fault):
    drift = found(p, spread, fault=fault)
    plain = Estimate(0.7)
    back = held(plain, drift, level=None)
    assert np.isnan(back.estimate[1:]).all()
    with_interval = held(Estimate(0.7, 0.6, 0.8), drift)
    assert back.estimate.value == with_interval.estimate.value
    assert back.held_back == with_interval.held_back


def test_a_fault_overrides_the_statistics():
    back = held(Estimate(0.9, 0.85, 0.95), found(fault="units"))
    assert back.estimate == (0.5, 0, 1)
    assert (back.held_back, back.verdict) == (1, "cannot_tell")


def test_a_large_effect_goes_back_to_the_training_prevalence():
    plain = Estimate(0.9, 0.85, 0.95)
    near = held(plain, found(0.0, 0.3, effect=0.05), mean=0.8, training=0.2)
    far = held(plain, found(0.0, 0.3, effect=0.5), mean=0.8, training=0.2)
    assert 0.8 < near.estimate.value < 0.9
    assert 0.2 < far.estimate.value < 0.5


@pytest.mark.parametrize(
    ("drift", "verdict"),
    [
        (found(), "consistent"),
        (found(0.05, 0.02), "consistent"),
        (found(0.001, 0.02), "some_drift"),
        (found(0.001, 0.2), "drifted"),
        (found(0.001, 0.8), "cannot_tell"),
        (GroupDrift(None, (), 0.0), "not_tested"),
    ],
)
def test_verdicts(drift, verdict):
    plain = Estimate(0.6, 0.55, 0.65)
    # An interval that is cut at an end is narrower, so that "drifted" can be seen.
    anchored = held(plain, drift, mean=0.05, training=0.05)
    assert anchored.verdict == verdict


def test_a_wide_interval_cannot_tell():
    wide = Estimate(0.5, 0.1, 0.9)
    assert held(wide, found()).verdict == "cannot_tell"
    assert ignore_drift(wide, found()).verdict == "cannot_tell"


def test_ignoring_keeps_the_answer_and_the_verdict():
    plain = Estimate(0.6, 0.55, 0.65)
    back = ignore_drift(plain, found(0.001, 0.4))
    assert back.estimate == (0.6, 0.55, 0.65)
    assert back.verdict == "some_drift"
    nobody_looked = ignore_drift(plain, None)
    assert nobody_looked.verdict == "not_tested"
    assert np.isnan(nobody_looked.drift)


# The variance between studies


@given(
    values=st.lists(st.floats(0, 1), min_size=2, max_size=9),
    error=st.floats(0.01, 1),
)
def test_with_equal_errors_it_is_the_variance_beyond_them(values, error):
    errors = np.full(len(values), error)
    between = variance_between(np.array(values), errors)
    assert between == pytest.approx(max(np.var(values, ddof=1) - error**2, 0), abs=1e-9)


# The whole of it


def people(n, prevalences=(0.5, 0.5), seed=0):
    random = np.random.default_rng(seed)
    z = np.arange(n) % 2
    y = (random.random(n) < np.array(prevalences)[z]).astype(int)
    X = random.normal(size=(n, 4)) + y[:, None] * [1.5, 1.0, 0.5, 0.0]
    return X + 20, y, z


@pytest.fixture(scope="module")
def clf():
    X, y, z = people(2000)
    settings = {"pool": "threshold", "cv": 3, "random_state": 0}
    learner = LogisticRegression()
    return CapeClassifier(learner, **settings).fit(X, y, sensitive_features=z)


def drift_of(clf, X, z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        return clf.adapt(X, sensitive_features=z).drifts


def test_a_pure_prior_shift_is_consistent(clf):
    X, _, z = people(1500, (0.2, 0.9), seed=1)
    for drift in drift_of(clf, X, z).values():
        assert drift.tested
        assert drift.p_adjusted > 0.2
        assert drift.weight_of_evidence == 0
        assert drift.moved_columns == drift.faults == []


def test_the_column_that_moved_is_found_in_its_group_alone(clf):
    X, _, z = people(1500, (0.3, 0.6), seed=1)
    X[z == 1, 3] += 0.5
    drifts = drift_of(clf, X, z)
    assert [column.name for column in drifts[1].moved_columns] == ["x3"]
    assert drifts[0].moved_columns == []
    assert drifts[1].largest_effect == drifts[1].moved_columns[0].fit.effect


def test_a_column_at_fault_names_no_sound_column(clf):
    """Its scores find a wrong prevalence, at which sound columns would not fit."""
    X, _, z = people(1500, (0.2, 0.9), seed=1)
    X[:, 0] *= 100
    for drift in drift_of(clf, X, z).values():
        assert [column.name for column in drift.faults] == ["x0"]
        assert [column.name for column in drift.moved_columns] == ["x0"]


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_ignored_drift_gives_the_decisions_of_a_model_without_columns(clf):
    X, y, z = people(2000)
    settings = {"pool": "threshold", "cv": 3, "random_state": 0, "drift": "ignore"}
    without = CapeClassifier(LogisticRegression(), **settings)
    without.fit(X, y, sensitive_features=z)
    assert without.models_[0].columns is None
    new, _, new_z = people(300, (0.3, 0.7), seed=2)
    new[:, 2] += 3
    adaptation = clf.adapt(new, sensitive_features=new_z, drift="ignore")
    plain = without.adapt(new, sensitive_features=new_z)
    for group, adapted in adaptation.groups.items():
        assert adapted == plain.groups[group]
        assert adapted.estimate.value == adapted.quantifier_estimate.value
    np.testing.assert_array_equal(
        clf.predict(new, sensitive_features=new_z, adaptation=adaptation),
        without.predict(new, sensitive_features=new_z),
    )


def test_drift_must_be_known(clf):
    X, y, z = people(100)
    for act in (
        lambda: clf.adapt(X, sensitive_features=z, drift="careful"),
        lambda: CapeClassifier(drift="careful").fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"drift.*cautious"):
            act()


def test_sparse_tables_are_tested_by_their_scores_alone():
    X, y, z = people(1000)
    sparse = CapeClassifier(LogisticRegression(), cv=3, random_state=0)
    sparse.fit(csr_array(X - 20), y, sensitive_features=z)
    assert sparse.models_[0].columns is None
    new, _, new_z = people(600, (0.3, 0.6), seed=1)
    drifts = drift_of(sparse, csr_array(new - 20), new_z)
    for drift in drifts.values():
        assert drift.columns == ()
        assert drift.tested
        assert drift.score_p_adjusted > 0.01
    for drift in drift_of(sparse, csr_array(4 * (new - 20.5)), new_z).values():
        assert drift.p_adjusted < 0.01
        assert drift.spread > 0


def test_a_column_that_one_group_never_has():
    """Its cells are chosen on all rows, and hold nothing in that group."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y, z = people(600)
    table = pd.DataFrame(X, columns=list("abcd"))
    table.loc[z == 1, "d"] = np.nan
    learner = HistGradientBoostingClassifier(max_iter=5)
    clf = CapeClassifier(learner, cv=2, scores="folds", random_state=0)
    clf.fit(table, y, sensitive_features=z)
    shift = examine(clf, table, sensitive_features=z).columns
    assert shift.moved(0) == shift.moved(1) == []
    (finding,) = [one for one in shift.groups[1] if one.column == "d"]
    assert finding.what_happened == "100% are missing, 100% expected"


@pytest.mark.slow
def test_caution_costs_little_where_the_prevalences_alone_have_moved(clf):
    """Width and PD are at most 1.05 times those of a model that ignores drift."""
    random = np.random.default_rng(0)
    widths = {"cautious": [], "ignore": []}
    differences = {"cautious": [], "ignore": []}
    for seed in range(60):
        X, y, z = people(800, random.uniform(0.1, 0.9, size=2), seed=100 + seed)
        evidence = clf.evidence(X, sensitive_features=z)
        for drift in widths:
            adaptation = clf.adapt(evidence=evidence, drift=drift)
            for group, adapted in adaptation.groups.items():
                truth = y[z == group].mean()
                widths[drift].append(adapted.estimate.high - adapted.estimate.low)
                differences[drift].append(abs(adapted.predicted_prevalence - truth))
    for measured in (widths, differences):
        ratio = np.mean(measured["cautious"]) / np.mean(measured["ignore"])
        assert ratio <= 1.05
