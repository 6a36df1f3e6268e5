"""A model that exists already: its scores and decisions are columns of the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence, Scores, examine, persist
from cape.metrics import PARITY, confusion_by_group
from cape.watch._stream import RollingCape
from cape_app.files import train_file

CUT = 0.4


def draw(rows, prevalences, seed):
    """Rows of two groups whose columns depend on the label alone."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b"], rows)
    y = (random.random(rows) < np.where(group == "a", *prevalences)).astype(int)
    x = random.normal(1.2 * y, 1)
    frame = pd.DataFrame({"x": x, "w": random.normal(0.8 * y, 1)})
    return frame, y, group


@pytest.fixture(scope="module")
def model():
    X, y, _ = draw(3000, (0.3, 0.5), 0)
    return LogisticRegression().fit(X, y)


def logged(model, X, *, score="p", decisions=("no", "yes")):
    """The table of a warehouse: columns, the score and the decision."""
    p = model.predict_proba(X)[:, 1]
    scores = {"p": p, "log-odds": model.decision_function(X), "points": 600 + 50 * p}
    decided = np.array(decisions, dtype=object)[(p > CUT).astype(int)]
    return X.assign(p=scores[score], approved=decided)


@pytest.fixture(scope="module")
def reference(model):
    X, y, group = draw(4000, (0.3, 0.5), 1)
    return logged(model, X), y, group


@pytest.fixture(scope="module")
def batch(model):
    X, y, group = draw(4000, (0.6, 0.5), 2)
    return logged(model, X), y, group


@pytest.fixture(scope="module")
def clf(reference):
    X, y, group = reference
    watched = CapeClassifier(Scores("p", "approved"))
    return watched.fit(X, y, sensitive_features=group)


def test_decisions_stay_as_they_were_made(clf, batch):
    X, _, group = batch
    expected = (X["approved"] == "yes").astype(int)
    for decided in (
        clf.predict(X, sensitive_features=group),
        clf.predict_proba(X, sensitive_features=group)[:, 1],
        clf.predict(
            X,
            sensitive_features=group,
            adaptation=clf.adapt(X, sensitive_features=group),
        ),
    ):
        np.testing.assert_array_equal(decided, expected)


def test_what_is_expected_of_the_decisions_is_what_labels_show(clf, batch):
    X, y, group = batch
    seen = examine(clf, X, sensitive_features=group)
    decided = clf.predict(X, sensitive_features=group)
    compared = seen.compare(y, decided, sensitive_features=group)
    assert compared["inside"].all()
    assert (compared["expected"] - compared["observed"]).abs().max() < 0.06
    # Parity of decisions is observed, and needs no labels.
    parity = seen.criteria.values["demographic_parity_difference"]
    observed = PARITY["demographic_parity_difference"](
        y, decided, sensitive_features=group
    )
    assert parity.value == parity.low == parity.high == pytest.approx(observed)
    assert seen.moved.groups["a"].moved


def test_labels_correct_what_is_expected(clf, batch):
    X, y, group = batch
    drawn = np.random.default_rng(0).permutation(len(y))[:400]
    known = pd.Series(np.nan, index=range(len(y)))
    known[drawn] = y[drawn]
    seen = examine(clf, X, known, sensitive_features=group)
    compared = seen.compare(
        y, clf.predict(X, sensitive_features=group), sensitive_features=group
    )
    # Eight intervals at 95 %.
    assert compared["inside"].sum() >= 7
    assert seen.labels is not None


def test_beside_it_stands_what_cape_would_decide(clf, batch):
    X, y, group = batch
    seen = examine(clf, X, sensitive_features=group)
    moved = seen.under("prevalence")
    table = moved.adaptation.table()
    assert (table["estimate"] == seen.adaptation.table()["estimate"]).all()
    np.testing.assert_allclose(table["predicted_prevalence"], table["estimate"], 0.02)
    decided = clf.predict(X, sensitive_features=group, adaptation=moved.adaptation)
    shares = confusion_by_group(y, decided, sensitive_features=group)
    for name, counts in shares.items():
        assert counts.predicted_prevalence == table["predicted_prevalence"][name]


@pytest.mark.parametrize("score", ["log-odds", "points"])
def test_ranks_suffice(model, clf, batch, score):
    X, y, group = draw(4000, (0.3, 0.5), 1)
    ranked = CapeClassifier(Scores("p", "approved"))
    ranked.fit(logged(model, X, score=score), y, sensitive_features=group)
    new, _, new_group = draw(4000, (0.6, 0.5), 2)
    estimates = {}
    for name, one, table in (
        ("p", clf, batch[0]),
        (score, ranked, logged(model, new, score=score)),
    ):
        adapted = one.adapt(table, sensitive_features=new_group)
        estimates[name] = adapted.table()["estimate"]
    assert (estimates["p"] - estimates[score]).abs().max() < 0.03


def test_decisions_are_made_for_no_prevalence(clf, batch):
    X, _, group = batch
    adaptation = clf.adapt(X, sensitive_features=group)
    assert adaptation.table()["made_for"].isna().all()
    again = type(adaptation).from_json(adaptation.to_json())
    assert again.to_json() == adaptation.to_json()


def test_scores_and_decisions_are_no_columns(clf):
    counted = clf.models_["a"].columns.cells.columns
    assert [column.name for column in counted] == ["x", "w"]


def test_a_table_of_scores_alone_is_enough(reference, batch):
    X, y, group = reference
    bare = CapeClassifier(Scores(0, 1)).fit(
        np.column_stack([X["p"], X["approved"] == "yes"]), y, sensitive_features=group
    )
    new, _, new_group = batch
    numbers = np.column_stack([new["p"], new["approved"] == "yes"])
    decided = bare.predict(numbers, sensitive_features=new_group)
    np.testing.assert_array_equal(decided, new["approved"] == "yes")


def test_without_decisions_as_many_are_called_as_training_had(reference, batch):
    X, y, group = reference
    clf = CapeClassifier(Scores("p")).fit(
        X.drop(columns="approved"), y, sensitive_features=group
    )
    for table, labels, groups in (reference, batch):
        decided = clf.predict(table.drop(columns="approved"), sensitive_features=groups)
        counts = confusion_by_group(labels, decided, sensitive_features=groups)
        adapted = clf.adapt(table.drop(columns="approved"), sensitive_features=groups)
        for name, adapted_group in adapted.groups.items():
            share = counts[name].predicted_prevalence
            assert share == pytest.approx(adapted_group.predicted_prevalence)
    trained = clf.adapt(X.drop(columns="approved"), sensitive_features=group).table()
    np.testing.assert_allclose(
        trained["predicted_prevalence"], trained["training_prevalence"], atol=0.01
    )


def test_evidence_adds_up_and_survives_json_and_files(clf, batch, tmp_path):
    X, y, group = batch
    whole = clf.evidence(X, y, sensitive_features=group)
    halves = [
        clf.evidence(X[part], y[part], sensitive_features=group[part])
        for part in (slice(0, 1500), slice(1500, None))
    ]
    assert sum(halves) == whole
    assert Evidence.from_json(whole.to_json()) == whole
    persist.save(clf, tmp_path / "watch.cape")
    loaded = persist.load(tmp_path / "watch.cape")
    assert loaded.evidence(X, y, sensitive_features=group) == whole
    expected = clf.predict(X, sensitive_features=group)
    np.testing.assert_array_equal(loaded.predict(X, sensitive_features=group), expected)


def test_a_stream_counts_what_a_batch_counts(clf, batch):
    X, _, group = batch
    few = slice(0, 60)
    rolling = RollingCape(clf, window=60)
    decided = rolling.predict(X[few], sensitive_features=group[few])
    assert rolling.evidence() == clf.evidence(X[few], sensitive_features=group[few])
    np.testing.assert_array_equal(decided, (X[few]["approved"] == "yes").astype(int))


@pytest.mark.parametrize(
    ("decisions", "positive"),
    [
        ((0, 1), None),
        ((False, True), None),
        (("n", "y"), None),
        (("pass", "fail"), "fail"),
        ((2.0, 1.0), 1.0),
    ],
)
def test_decisions_are_any_two_values(model, decisions, positive):
    X, y, group = draw(2000, (0.3, 0.5), 1)
    table = logged(model, X, decisions=decisions)
    clf = CapeClassifier(Scores("p", "approved", positive=positive))
    clf.fit(table, y, sensitive_features=group)
    decided = clf.predict(table, sensitive_features=group)
    np.testing.assert_array_equal(decided, table["approved"] == decisions[1])


def test_decisions_that_have_the_values_of_labels_mean_the_same(model):
    X, y, group = draw(2000, (0.3, 0.5), 1)
    labels = np.where(y == 1, "bad", "good")
    table = logged(model, X, decisions=("bad", "good"))
    # "good" is the greater label, so that it is the positive one.
    table["p"] = 1 - table["p"]
    table["approved"] = np.where(table["p"] > 0.5, "good", "bad")
    clf = CapeClassifier(Scores("p", "approved"))
    clf.fit(table, labels, sensitive_features=group)
    decided = clf.predict(table, sensitive_features=group)
    np.testing.assert_array_equal(decided, table["approved"])


def without(table, column):
    return table.drop(columns=column)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X: X.assign(p=X["p"].where(X["p"] > 0.2)), "missing"),
        (lambda X: X.assign(p="high"), "must hold numbers, got 'high'"),
        (lambda X: X.assign(p=100 * X["p"]), r"in \[0, 1\], as the reference table"),
        (lambda X: X.assign(approved="maybe"), "must hold 'no', 'yes', got 'maybe'"),
        (lambda X: X.assign(approved=None), "missing"),
    ],
)
def test_wrong_columns_of_a_batch_are_refused(clf, batch, change, said):
    X, _, group = batch
    with pytest.raises(ValueError, match=said):
        clf.predict(change(X), sensitive_features=group)


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (Scores("score"), "must have the column 'score'"),
        (Scores("p", "x"), "must hold two values"),
        (Scores("p", "approved", positive="maybe"), "'no', 'yes'.*got 'maybe'"),
        (Scores("reverse"), "must be higher .* AUC of 0.1"),
    ],
)
def test_a_wrong_model_is_refused_and_leaves_nothing_behind(reference, estimator, said):
    X, y, group = reference
    clf = CapeClassifier(estimator)
    with pytest.raises(ValueError, match=said):
        clf.fit(X.assign(reverse=1 - X["p"]), y, sensitive_features=group)
    assert not hasattr(clf, "models_")


@pytest.mark.parametrize(
    "settings", [{"pool": "resampled"}, {"scores": "folds"}, {"share_estimator": True}]
)
def test_settings_that_train_do_not_go_with_scores(reference, settings):
    X, y, group = reference
    with pytest.raises(ValueError, match="Scores"):
        CapeClassifier(Scores("p"), **settings).fit(X, y, sensitive_features=group)


def test_decisions_that_run_against_labels_are_warned_of(reference):
    X, y, group = reference
    clf = CapeClassifier(Scores("p", "approved", positive="no"))
    with pytest.warns(UserWarning, match="'no'"):
        clf.fit(X, y, sensitive_features=group)


@given(
    st.lists(
        st.floats(-1e9, 1e9, allow_subnormal=False),
        min_size=4,
        max_size=30,
        unique=True,
    ),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=30),
)
def test_any_scores_are_brought_to_the_unit_interval_in_order(known, scores):
    frame = pd.DataFrame({"s": sorted(known)})
    labels = np.arange(len(known)) >= len(known) // 2
    fitted = clone(Scores("s")).fit(frame, labels)
    if fitted.centre_ is None:
        scores = np.clip(scores, 0, 1)
    mapped = fitted.predict_proba(pd.DataFrame({"s": np.sort(scores)}))[:, 1]
    assert ((mapped >= 0) & (mapped <= 1)).all()
    assert (np.diff(mapped) >= -1e-15).all()


def test_a_file_with_scores_is_a_reference_and_nothing_is_trained(reference, tmp_path):
    X, y, group = reference
    X.assign(y=y, g=np.asarray(group)).to_csv(tmp_path / "reference.csv", index=False)
    columns = {"label": "y", "group": ["g"], "score": "p", "decision": "approved"}
    path = tmp_path / "reference.csv"
    model = train_file(path, None, **columns)
    assert model.clf.estimator_.score == "p"
    with pytest.raises(ValueError, match="learner .* got 'boosting'"):
        train_file(path, None, learner="boosting", **columns)
