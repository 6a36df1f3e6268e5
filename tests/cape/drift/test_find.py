"""What speaks against a prior shift, and the verdicts on it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, examine
from cape.base._estimate import variance_between
from cape.drift._find import ColumnDrift, GroupDrift, judge
from cape.drift._mixture import ColumnFit, MixtureFit
from cape.evidence._columns import ColumnCells

NO_SHARES = np.zeros(2)


def found(p=1.0, effect=0.0, fault=""):
    """Return drift with one column and tested scores."""
    fit = ColumnFit(statistic=1.0, df=3, p_value=p, effect=effect)
    cells = ColumnCells("x", "empty")
    column = ColumnDrift(cells, NO_SHARES, NO_SHARES, 100, fit, fault, p_adjusted=p)
    score = MixtureFit(0.5, 1.0, 3, 1.0, 0.0)
    return GroupDrift(score, (column,))


@pytest.mark.parametrize(
    ("drift", "chance", "verdict"),
    [
        (found(), 0.8, "consistent"),
        (found(), 0.4, "uncertain"),
        (found(0.05, 0.02), 0.8, "consistent"),
        (found(0.001, 0.02), 0.8, "some_drift"),
        (found(0.001, 0.2), 0.4, "drifted"),
        (found(fault="units"), 0.0, "uncertain"),
        (GroupDrift(None, ()), 0.8, "not_tested"),
        (GroupDrift(None, ()), 0.4, "uncertain"),
        (None, 1.0, "not_tested"),
    ],
)
def test_verdicts(drift, chance, verdict):
    assert judge(drift, 0.25, chance) == verdict


def test_a_wide_interval_uncertain():
    for chance in (0.1, 0.9):
        wide = judge(found(), 0.8, chance)
        assert wide == "uncertain"


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
        assert len(drift.p_values) == 5
        assert drift.p_adjusted > 0.2
        assert drift.moved_columns == drift.faults == []


def test_the_column_that_moved_is_found_in_its_group_alone(clf):
    X, _, z = people(1500, (0.3, 0.6), seed=1)
    X[z == 1, 3] += 0.5
    drifts = drift_of(clf, X, z)
    assert [column.column for column in drifts[1].moved_columns] == ["x3"]
    assert drifts[0].moved_columns == []


def test_a_column_at_fault_names_no_sound_column(clf):
    """Its scores find a wrong prevalence, at which sound columns would not fit."""
    X, _, z = people(1500, (0.2, 0.9), seed=1)
    X[:, 0] *= 100
    for drift in drift_of(clf, X, z).values():
        assert [column.column for column in drift.faults] == ["x0"]
        assert [column.column for column in drift.moved_columns] == ["x0"]


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
        assert len(drift.p_values) == 1
        assert drift.score_p_adjusted > 0.01
    for drift in drift_of(sparse, csr_array(4 * (new - 20.5)), new_z).values():
        assert drift.p_adjusted < 0.01


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
    assert finding.what_happened == "100% are missing (100% expected)"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_caution_costs_little_where_the_prevalences_alone_have_moved(clf):
    """Width and PD are at most 1.2 times those of a model that ignores drift."""
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
        assert ratio <= 1.2
