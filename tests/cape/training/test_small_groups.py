"""Small groups borrow from the others what their own rows do not tell."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape.examination import rows_to_label

pytestmark = pytest.mark.filterwarnings(
    "ignore::cape.AdaptationWarning",
    "ignore:fewer than",
    "ignore:the scores (do not|cannot) tell",
)


def people(n, prevalence, group, seed):
    """Rows of one group: its classes lie where those of other groups nearly lie."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < prevalence).astype(int)
    x = random.normal(1.6 * y + 0.1 * group, 1)
    return pd.DataFrame({"x": x, "noise": random.normal(size=n)}), y


def table(sizes, prevalences, seed=0):
    """Rows of many groups, named by numbers."""
    parts = []
    for group, (size, prevalence) in enumerate(zip(sizes, prevalences, strict=True)):
        X, y = people(size, prevalence, group % 3, 1000 * seed + group)
        parts.append(X.assign(y=y, group=group))
    return pd.concat(parts, ignore_index=True)


def fit(rows, **settings):
    clf = CapeClassifier(LogisticRegression(), random_state=0, **settings)
    return clf.fit(rows[["x", "noise"]], rows.y, sensitive_features=rows.group)


def adapt(clf, rows, **settings):
    return clf.adapt(rows[["x", "noise"]], sensitive_features=rows.group, **settings)


SIZES = [400, 300, 60, 12, 9, 1]
BEFORE = [0.3, 0.4, 0.3, 0.5, 0.0, 1.0]


@pytest.fixture(scope="module")
def trained():
    return fit(table(SIZES, BEFORE))


@pytest.fixture(scope="module")
def later():
    return table([200] * 6, [0.6] * 6, seed=1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"drift": "ignore"},
        {"share_estimator": False},
        {"pool": "resampled", "prevalences": 3},
        {"quantifier": "spa"},
        {"scores": "folds", "cv": 3},
    ],
    ids=str,
)
def test_one_row_of_training_is_enough(settings, later):
    clf = fit(table(SIZES, BEFORE), **settings)
    assert [clf.models_[group].size for group in range(6)] == SIZES
    adaptation = adapt(clf, later)
    for adapted in adaptation.groups.values():
        estimate = adapted.estimate
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    features = later[["x", "noise"]]
    y_pred = clf.predict(features, sensitive_features=later.group)
    again = clf.predict(features, sensitive_features=later.group, adaptation=adaptation)
    np.testing.assert_array_equal(y_pred, again)


def test_prefit_models_serve_any_group():
    rows = table(SIZES, BEFORE)
    learner = LogisticRegression().fit(rows[["x", "noise"]], rows.y)
    clf = CapeClassifier(learner, cv="prefit").fit(
        rows[["x", "noise"]], rows.y, sensitive_features=rows.group
    )
    assert clf.models_[5].own is not None
    assert clf.models_[0].own is None or clf.models_[0].own.positives > 100


def test_facts_of_a_group_are_its_own_or_unknown(trained):
    rows = table(SIZES, BEFORE)
    shares = rows.groupby("group").y.mean()
    for group, model in trained.models_.items():
        if model.size >= 10:
            assert model.shown_prevalence == pytest.approx(shares[group])
        else:
            assert np.isnan(model.shown_prevalence)
            assert np.isnan(model.auc())
    assert trained.models_[0].auc() > 0.7


def test_a_model_tells_no_label_of_fewer_than_ten_people():
    rows = table(SIZES, BEFORE)
    other = rows.copy()
    tiny = rows.group >= 4
    other.loc[tiny, "y"] = 1 - other.loc[tiny, "y"]
    # The learner is the same, so that only the counts could differ.
    learner = LogisticRegression().fit(rows[["x", "noise"]], rows.y)
    means = []
    for labels in (rows, other):
        clf = CapeClassifier(learner, cv="prefit").fit(
            labels[["x", "noise"]], labels.y, sensitive_features=labels.group
        )
        model = clf.models_[5]
        assert (model.own.positives, model.own.negatives) == (0, 0)
        assert not model.columns.are_own
        means.append([model.positives.mean, model.negatives.mean, model.prevalence])
    np.testing.assert_allclose(means[0], means[1], atol=0.02)


def test_a_model_that_borrows_is_saved_and_read(trained, later, tmp_path):
    pytest.importorskip("skops")
    persist.save(trained, tmp_path / "model.cape")
    again = persist.load(tmp_path / "model.cape")
    assert adapt(again, later) == adapt(trained, later)
    assert again.models_[5].own == trained.models_[5].own or np.isnan(
        again.models_[5].own.auc
    )


def test_faults_are_found_in_small_groups(trained, later):
    broken = later.assign(noise=later.noise * 1000)
    adaptation = adapt(trained, broken)
    assert [column.column for column in adaptation.drifts[5].faults] == ["noise"]
    assert adapt(trained, later).drifts[5].faults == []


def test_large_groups_do_not_change():
    rows = table([1500, 1500, 1200, 1100, 1000, 20], [0.3] * 6)
    borrowing = fit(rows)
    separate = fit(rows, min_group_size=2, small_groups="error")
    for group in range(5):
        assert borrowing.models_[group].own is None
        same = separate.models_[group].positives
        np.testing.assert_array_equal(
            borrowing.models_[group].positives.counts, same.counts
        )


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 60])
def test_borrowing_is_better_than_own_rows_and_its_intervals_hold(size):
    errors = {"borrow": [], "error": []}
    held = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        before = random.uniform(0.3, 0.6, 12)
        rows = table([size] * 12, before, seed=seed)
        truths = random.uniform(0.05, 0.95, 12)
        batch = table([150] * 12, truths, seed=50 + seed)
        realised = batch.groupby("group").y.mean()
        for mode, found in errors.items():
            clf = fit(rows, small_groups=mode, min_group_size=2)
            for group, adapted in adapt(clf, batch, drift="ignore").groups.items():
                found.append(abs(adapted.estimate.value - realised[group]))
                if mode == "borrow":
                    estimate = adapted.estimate
                    held.append(estimate.low <= realised[group] <= estimate.high)
    assert np.mean(errors["borrow"]) < 0.95 * np.mean(errors["error"])
    assert np.mean(held) > 0.92


def test_what_is_borrowed_is_a_number_of_the_adaptation(trained, later):
    adaptation = adapt(trained, later)
    borrowed = {group: one.borrowed for group, one in adaptation.groups.items()}
    assert 0 <= borrowed[0] < borrowed[3] <= 1
    assert borrowed[5] > 0.5
    assert "from other groups" in repr(adaptation)
    assert adapt(trained, later[later.group == 0]).groups[0].borrowed < 0.1


def test_columns_that_are_constant_in_a_small_group_are_no_fault():
    sizes = [500, 500, 12]
    rows = table(sizes, [0.4] * 3)
    rows["noise"] = np.where(rows.group == 2, 1.0, rows.noise)
    later = table([100] * 3, [0.4] * 3, seed=4)
    later["noise"] = np.where(later.group == 2, 1.0, later.noise)
    assert adapt(fit(rows), later).drifts[2].faults == []


def test_a_hundred_labels_are_few_for_eight_groups():
    rows = table([300] * 8, [0.4] * 8)
    clf = fit(rows)
    later = table([500] * 8, [0.5] * 8, seed=3)

    def drawn(n):
        return rows_to_label(
            clf, later[["x", "noise"]], sensitive_features=later.group, n=n
        )

    few = drawn(100)
    assert few.enough == 8 * 40
    assert "320" in repr(few)
    assert drawn(few.enough).enough == few.enough


@pytest.mark.slow
def test_groups_that_move_oppositely_are_not_pulled_together():
    held = []
    differences = []
    ratios = []
    for seed in range(8):
        rows = table([60] * 10, [0.4] * 10, seed=seed)
        batch = table([150] * 10, [0.2, 0.7] * 5, seed=60 + seed)
        truth = batch.groupby("group").y.mean().to_numpy()
        adaptation = adapt(fit(rows), batch)
        for one, share in zip(adaptation.groups.values(), truth, strict=True):
            held.append(one.estimate.low <= share <= one.estimate.high)
        estimates = [one.estimate.value for one in adaptation.groups.values()]
        found = np.mean(estimates[1::2]) - np.mean(estimates[::2])
        ratios.append(found / (truth[1::2].mean() - truth[::2].mean()))
        drawn = adaptation.posterior.draw(400, np.random.default_rng(0))
        for group in range(0, 10, 2):
            ends = np.quantile(drawn[group + 1] - drawn[group], [0.025, 0.975])
            difference = truth[group + 1] - truth[group]
            differences.append(ends[0] <= difference <= ends[1])
    assert np.mean(held) > 0.85
    assert np.mean(differences) > 0.82
    assert np.mean(ratios) > 0.7
