"""The one road, step by step: pieces, threads and layouts do not show in answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cape import Adaptation, CapeClassifier, Evidence
from cape import _prediction as prediction
from cape._histogram import HALF
from cape._learners import _threads
from cape._learners._scoring import Rows, score_rows
from cape._prediction import _deciding

FEATURES = list("abcd")
SETTINGS = [
    ("threshold", "refit"),
    ("threshold", "folds"),
    ("resampled", "refit"),
    ("resampled", "folds"),
]


# A flexible learner that is refitted is said to be untested.
pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


def table(n, groups, seed):
    random = np.random.default_rng(seed)
    z = random.integers(0, groups, n)
    y = (random.random(n) < 0.3 + 0.4 * z / groups).astype(int)
    return random.normal(size=(n, 4)) + y[:, None], y, z


def fit(learner, pool, groups, scores="refit", kind=np.asarray):
    X, y, z = table(300 * groups, groups, 0)
    # The quantifier is no matter here, and SPA is the quickest row by row.
    clf = CapeClassifier(
        learner, quantifier="spa", pool=pool, cv=3, scores=scores, random_state=0
    )
    return clf.fit(kind(X), y, sensitive_features=z)


def tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture
def in_pieces(monkeypatch):
    """Cut batches into pieces of so many rows, for several threads."""

    def use(rows, threads=3):
        monkeypatch.setattr(_threads, "_MOST_ROWS", rows)
        monkeypatch.setattr(_threads, "_MOST_ROWS_LINEAR", rows)
        monkeypatch.setattr(_threads, "_FEWEST_ROWS", rows)
        monkeypatch.setattr(_threads, "available_threads", lambda: threads)

    return use


# Pieces, threads and layouts


def answers(clf, X, z):
    adaptation = clf.adapt(X, sensitive_features=z)
    return [
        clf.evidence(X, sensitive_features=z),
        adaptation,
        clf.predict(X, sensitive_features=z),
        clf.predict_proba(X, sensitive_features=z),
        clf.predict(X, sensitive_features=z, adaptation=adaptation),
        clf.predict_proba(X, sensitive_features=z, adaptation=adaptation),
        clf.predict_individually(X, sensitive_features=z),
    ]


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
@pytest.mark.parametrize("groups", [1, 2, 3, 7])
@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), DecisionTreeClassifier(max_depth=3)],
    ids=["linear", "tree"],
)
@pytest.mark.slow
def test_pieces_and_threads_do_not_show(learner, pool, groups, in_pieces):
    clf = fit(learner, pool, groups)
    X, _, z = table(1501, groups, 1)
    whole = answers(clf, X, z)
    for rows in (90, 800):
        in_pieces(rows)
        for expected, answer in zip(whole, answers(clf, X, z), strict=True):
            if isinstance(expected, np.ndarray):
                np.testing.assert_array_equal(answer, expected)
            else:
                assert answer == expected


@pytest.mark.parametrize("groups", [2, 7])
@pytest.mark.parametrize("scores", ["refit", "folds"])
@pytest.mark.parametrize(
    "kind",
    [
        np.asfortranarray,
        lambda X: pd.DataFrame(X, columns=FEATURES),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.column_stack([X, X])[:, : X.shape[1]],
        lambda X: X.astype(np.float32),
    ],
    ids=[
        "columns first",
        "pandas",
        "every second column",
        "every second row",
        "part of wider",
        "single precision",
    ],
)
def test_tables_of_any_layout_give_the_same(kind, scores, groups, in_pieces):
    X, _, z = table(2000, groups, 1)
    clf = fit(LogisticRegression(), "threshold", groups, scores, kind)
    expected = clf.predict_proba(kind(X), sensitive_features=z)
    in_pieces(300)
    np.testing.assert_array_equal(
        clf.predict_proba(kind(X), sensitive_features=z), expected
    )


def test_a_wrong_number_is_found_in_every_piece(in_pieces):
    clf = fit(LogisticRegression(), "threshold", 2)
    X, _, z = table(2000, 2, 1)
    in_pieces(100)
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[1234, 2] = bad
        with pytest.raises(ValueError, match="NaN|infinity"):
            clf.predict(spoilt, sensitive_features=z)


def test_a_group_may_be_missing_from_a_piece(in_pieces):
    clf = fit(LogisticRegression(), "resampled", 2)
    X, _, z = table(1000, 2, 1)
    z = np.sort(z)
    expected = clf.predict(X, sensitive_features=z)
    in_pieces(50)
    np.testing.assert_array_equal(clf.predict(X, sensitive_features=z), expected)
    assert list(clf.evidence(X[:0], sensitive_features=z[:0]).groups) == []


def test_predictions_of_a_learner_that_returns_its_input_survive_the_next_piece(
    in_pieces,
):
    class Echo(DecisionTreeClassifier):
        def predict_proba(self, X):
            return X[:, :2]

    random = np.random.default_rng(0)
    p = random.random(500)
    X = np.column_stack([1 - p, p])
    z = np.arange(500) % 2
    clf = CapeClassifier(Echo(), pool="threshold", cv=3, random_state=0)
    clf.fit(X, (random.random(500) < p).astype(int), sensitive_features=z)
    alone = clf.evidence(X[z == 0], sensitive_features=z[z == 0])
    assert clf.evidence(X, sensitive_features=z).groups[0] == alone.groups[0]
    in_pieces(60)
    assert clf.evidence(X, sensitive_features=z).groups[0] == alone.groups[0]


# A batch


def test_a_batch_knows_its_rows_groups_and_models():
    clf = fit(LogisticRegression(), "threshold", 3)
    X, _, z = table(90, 3, 1)
    batch = prediction.batch_of(clf, X, z)
    assert len(batch) == 90
    assert batch.features is X
    assert batch.array is X
    assert list(batch.models) == batch.groups.keys == [0, 1, 2]
    for group in range(3):
        assert batch.models[group] is clf.models_[group]


@pytest.mark.parametrize("groups", [1, 2, 7])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_the_parts_of_a_batch_hold_every_row_of_their_group_once(groups, size):
    clf = fit(LogisticRegression(), "threshold", groups)
    X, _, z = table(200, groups, 1)
    batch = prediction.batch_of(clf, X, z)
    copied = {group: [] for group in range(groups)}
    for start in range(0, 200, size):
        piece = slice(start, min(start + size, 200))
        for group, rows in batch.parts(piece):
            assert len(rows) > 0
            copied[group].append(rows.table())
    for group, tables in copied.items():
        np.testing.assert_array_equal(np.vstack(tables), X[z == group])


def test_one_group_is_read_without_a_copy():
    clf = fit(LogisticRegression(), "threshold", 1)
    X, _, z = table(50, 1, 1)
    ((_, whole),) = prediction.batch_of(clf, X, z).parts(slice(0, 50))
    assert whole.table() is X
    ((_, half),) = prediction.batch_of(clf, X, z).parts(slice(10, 40))
    assert np.shares_memory(half.table(), X)


def test_an_unfitted_model_has_no_batch():
    X, _, z = table(10, 2, 1)
    with pytest.raises(ValueError, match="not fitted"):
        prediction.batch_of(CapeClassifier(), X, z)


# Readings


@pytest.fixture(scope="module", params=SETTINGS, ids="-".join)
def clf(request):
    return fit(tree(), request.param[0], 2, request.param[1])


@pytest.fixture(scope="module")
def new():
    return table(150, 2, 1)


def test_readings_hold_every_row_once(clf, new, in_pieces):
    X, _, z = new
    batch = prediction.batch_of(clf, X, z)
    in_pieces(40)
    readings, evidence = prediction.read_batch(batch)
    assert sorted(np.concatenate([r.index for r in readings])) == list(range(150))
    for reading in readings:
        assert set(z[reading.index]) == {reading.group}
        assert reading.model is clf.models_[reading.group]
    assert Evidence(clf.fingerprint_, evidence) == clf.evidence(X, sensitive_features=z)


def test_readings_without_evidence_are_the_same_readings(clf, new):
    X, _, z = new
    batch = prediction.batch_of(clf, X, z)
    with_evidence, _ = prediction.read_batch(batch)
    for one, other in zip(with_evidence, prediction.readings_of(batch), strict=True):
        assert one.group == other.group
        np.testing.assert_array_equal(one.index, other.index)
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.deciding, other.deciding)


def test_whether_probabilities_are_wanted_changes_no_decision(clf, new):
    model = clf.models_[0]
    plain = prediction.read_rows(0, model, Rows(new[0]))
    with_scores = prediction.read_rows(0, model, Rows(new[0]), probabilities=True)
    assert with_scores.deciding.dtype == np.int64
    assert (plain.deciding.dtype == bool) == (clf.pool == "resampled")
    np.testing.assert_array_equal(plain.scores, with_scores.scores)
    assert plain.evidence() == with_scores.evidence()
    np.testing.assert_array_equal(plain.unadapted(), with_scores.unadapted())
    for member in range(0, len(model.pool.thetas), 3):
        calls = with_scores.calls(member)
        np.testing.assert_array_equal(plain.calls(member), calls)
        np.testing.assert_array_equal(with_scores.probability(member) > 0.5, calls)


def test_one_member_is_read_as_among_all(clf, new):
    model = clf.models_[1]
    rows = Rows(new[0], np.arange(0, 150, 4))
    everything = prediction.read_rows(1, model, rows, probabilities=True)
    for member in range(0, len(model.pool.thetas), 7):
        alone = prediction.read_member(1, model, rows, member)
        assert alone.only_member == member
        assert alone.deciding.shape == (1, 38)
        np.testing.assert_array_equal(alone.calls(member), everything.calls(member))
        np.testing.assert_array_equal(
            alone.probability(member), everything.probability(member)
        )


def test_the_model_as_trained_is_cut_at_one_half(clf, new):
    """Without CAPE, a threshold pool's model decides, or else the scoring models."""
    model = clf.models_[0]
    as_trained = model.scoring_models
    if clf.pool == "threshold":
        as_trained = model.pool.models
    prepared = model.prepare(Rows(new[0]))
    scores = np.array([score_rows(one, prepared, 1) for one in as_trained])
    reading = prediction.read_rows(0, model, Rows(new[0]))
    np.testing.assert_array_equal(reading.unadapted(), scores.mean(axis=0) > HALF)


def test_evidence_of_no_rows_is_the_zero(clf, new):
    for group, model in clf.models_.items():
        zero = prediction.zero_evidence(model)
        rows, no_rows = Rows(new[0]), Rows(new[0][:0])
        reading = prediction.read_rows(group, model, rows, columns=True)
        of_no_rows = prediction.read_rows(group, model, no_rows, columns=True)
        evidence = reading.evidence()
        assert zero == of_no_rows.evidence()
        assert zero.scores.size == 0
        assert evidence + zero == zero + evidence == evidence
        assert evidence - evidence == zero


def test_zeros_do_not_share_memory(clf):
    """A stream counts in place."""
    first = prediction.zero_evidence(clf.models_[0])
    second = prediction.zero_evidence(clf.models_[0])
    first.scores.counts[0] += 1
    assert second.scores.size == 0


# Adapting and deciding


def test_an_adaptation_of_groups_is_that_of_the_classifier(clf, new):
    X, _, z = new
    evidence = clf.evidence(X, sensitive_features=z)
    adaptation = prediction.adapt(clf.models_, evidence, level=0.8)
    assert adaptation == clf.adapt(evidence=evidence, level=0.8)
    assert list(adaptation.drifts) == list(adaptation.groups)


def test_without_a_level_there_are_no_intervals(clf, new):
    X, _, z = new
    evidence = clf.evidence(X, sensitive_features=z)
    plain = prediction.adapt(clf.models_, evidence)
    with_intervals = prediction.adapt(clf.models_, evidence, level=0.95)
    assert np.isnan(plain.level)
    for group, adapted in plain.groups.items():
        assert np.isnan([adapted.estimate.low, adapted.estimate.high]).all()
        same = with_intervals.groups[group]
        assert adapted.classifier == same.classifier
        assert adapted.estimate.value == same.estimate.value
        assert same.estimate.low <= same.estimate.value <= same.estimate.high


def test_the_evidence_of_no_rows_adapts_nothing(clf):
    adaptation = prediction.adapt(clf.models_, Evidence(clf.fingerprint_), level=0.9)
    assert adaptation == Adaptation(clf.fingerprint_, {}, 0.9)


def test_a_group_is_adapted_the_same_alone_or_among_others(clf, new):
    X, _, z = new
    evidence = clf.evidence(X, sensitive_features=z)
    together = prediction.adapt(clf.models_, evidence, level=0.9, drift="ignore")
    for group in (0, 1):
        own = Evidence(clf.fingerprint_, {group: evidence.groups[group]})
        alone = prediction.adapt(clf.models_, own, level=0.9, drift="ignore")
        assert alone.groups[group] == together.groups[group]


def test_decisions_fall_into_the_place_of_their_rows(clf, new, in_pieces):
    X, _, z = new
    batch = prediction.batch_of(clf, X, z)
    adaptation = clf.adapt(X, sensitive_features=z)
    in_pieces(30)
    readings, _ = prediction.read_batch(batch, probabilities=True)
    backwards = list(reversed(readings))
    decisions = prediction.decide(backwards, adaptation, n_rows=150)
    assert decisions.dtype == bool
    np.testing.assert_array_equal(decisions, clf.predict(X, sensitive_features=z) == 1)
    probabilities = prediction.decide(
        backwards, adaptation, n_rows=150, probabilities=True
    )
    np.testing.assert_array_equal(
        probabilities, clf.predict_proba(X, sensitive_features=z)[:, 1]
    )


@pytest.mark.parametrize("rows_at_once", [1, 7, 150])
def test_single_rows_are_decided_in_blocks_of_any_size(
    clf, new, rows_at_once, monkeypatch
):
    X, _, z = new
    batch = prediction.batch_of(clf, X, z)
    expected = prediction.decide_individually(batch)
    monkeypatch.setattr(_deciding, "_ROWS_AT_ONCE", rows_at_once)
    np.testing.assert_array_equal(prediction.decide_individually(batch), expected)


# Evidence or a batch


def test_evidence_given_is_returned_and_that_of_a_batch_is_counted(clf, new):
    X, _, z = new
    evidence = clf.evidence(X, sensitive_features=z)
    assert prediction.find_evidence(clf, None, None, evidence) is evidence
    assert prediction.find_evidence(clf, X, z, None) == evidence


@pytest.mark.parametrize("kind", [Evidence, Adaptation])
def test_what_another_model_made_is_refused_by_name(clf, kind):
    of_this_model = kind(clf.fingerprint_, {})
    prediction.check_same_model(clf, "thing", of_this_model, kind)
    with pytest.raises(
        ValueError, match=r"thing must come from this model .*\(other\)"
    ):
        prediction.check_same_model(clf, "thing", kind("other", {}), kind)
    with pytest.raises(TypeError, match=f"must be of type {kind.__name__}, got str"):
        prediction.check_same_model(clf, "thing", "text", kind)


def test_a_quantifier_that_keeps_rows_is_refused_where_rows_are_not_kept(clf):
    from quapy.method.aggregative import SMM

    prediction.refuse_row_keepers(clf, "a stream")
    X, y, z = table(400, 2, 0)
    keeper = CapeClassifier(LogisticRegression(), quantifier=SMM(), cv=2)
    keeper.fit(X, y, sensitive_features=z)
    with pytest.raises(
        TypeError, match="quantifier must be one that counts for a stream, got QuaPy"
    ):
        prediction.refuse_row_keepers(keeper, "a stream")
