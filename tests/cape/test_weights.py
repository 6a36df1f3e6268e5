"""A batch whose rows stand for different numbers of people."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import (
    AdaptationWarning,
    CapeClassifier,
    Evidence,
    RollingCape,
    Watch,
    backtest,
    check,
    examine,
)
from cape.metrics import confusion_by_group

N = 600
KINDS = {
    "threshold": {},
    "resampled": {"pool": "resampled"},
    "folds": {"scores": "folds"},
    "ignore": {"drift": "ignore"},
}


def people(n, shares, seed):
    random = np.random.default_rng(seed)
    z = random.integers(0, 2, n)
    y = (random.random(n) < np.array(shares)[z]).astype(int)
    return random.normal(size=(n, 2)) + y[:, None], y, z


NEW, TRUTH, GROUPS = people(N, [0.5, 0.3], 1)
WEIGHTS = np.random.default_rng(2).integers(0, 5, N).astype(float)
REPEATED = np.repeat(np.arange(N), WEIGHTS.astype(int))
SOME = np.where(np.arange(N) % 4, np.nan, TRUTH)


@pytest.fixture(scope="module", params=KINDS)
def clf(request):
    X, y, z = people(2000, [0.3, 0.5], 0)
    clf = CapeClassifier(LogisticRegression(), random_state=0, **KINDS[request.param])
    return clf.fit(X, y, sensitive_features=z)


@pytest.fixture(scope="module")
def plain():
    X, y, z = people(2000, [0.3, 0.5], 0)
    return CapeClassifier(LogisticRegression(), random_state=0).fit(
        X, y, sensitive_features=z
    )


def evidence_of(clf, rows=slice(None), y=SOME, weights=WEIGHTS):
    given = {"sensitive_features": GROUPS[rows], "sample_weight": weights[rows]}
    return clf.evidence(NEW[rows], y[rows], **given)


def quiet(clf, *batch, **given):
    with warnings.catch_warnings(action="ignore", category=AdaptationWarning):
        return clf.adapt(*batch, **given)


def test_equal_weights_are_none_to_the_bit(clf):
    without = quiet(clf, NEW, SOME, sensitive_features=GROUPS)
    alike = np.full(N, 2.7)
    given = {"sensitive_features": GROUPS, "sample_weight": alike}
    assert quiet(clf, NEW, SOME, **given) == without
    # Of parts nobody knows yet whether other rows weigh as much.
    counted = quiet(clf, evidence=evidence_of(clf, weights=alike))
    for group, adapted in counted.groups.items():
        assert adapted.worth == adapted.rows
        same = {**adapted.to_json(), "worth": None}
        as_rows = {**without.groups[group].to_json(), "worth": None}
        assert str(same) == str(as_rows)
    # numpy's weighted mean is off by a last digit at some weights.
    for weight in (0.1, 1e-3, 3.3e5):
        weighed = given | {"sample_weight": np.full(N, weight)}
        accuracy = clf.score(NEW, TRUTH, sensitive_features=GROUPS)
        assert clf.score(NEW, TRUTH, **weighed) == accuracy
    decided = clf.predict(NEW, **given)
    assert decided.tolist() == clf.predict(NEW, sensitive_features=GROUPS).tolist()


def test_whole_weights_are_repeated_rows_that_are_worth_less(clf):
    given = {"sensitive_features": GROUPS, "sample_weight": WEIGHTS}
    weighted = quiet(clf, NEW, **given)
    repeated = quiet(clf, NEW[REPEATED], sensitive_features=GROUPS[REPEATED])
    evidence = clf.evidence(NEW, **given).effective()
    rows = clf.evidence(NEW[REPEATED], sensitive_features=GROUPS[REPEATED])
    for group, adapted in weighted.groups.items():
        own = WEIGHTS[group == GROUPS]
        assert adapted.rows == (group == GROUPS).sum()
        assert 150 < adapted.worth <= own.sum() ** 2 / (own**2).sum() * (1 + 1e-9)
        other = repeated.groups[group]
        assert adapted.mean_score == pytest.approx(other.mean_score)
        # A quantifier weighs the noise of the batch against that of training.
        share = other.quantifier_estimate.value
        assert adapted.quantifier_estimate.value == pytest.approx(share, abs=0.02)
        assert adapted.quantifier_estimate.width > other.quantifier_estimate.width
        part, same = evidence.groups[group], rows.groups[group]
        assert part.scores.shares == pytest.approx(same.scores.shares)
        assert part.scores.mean == pytest.approx(same.scores.mean, abs=1e-6)
        of_pool = clf.models_[group].pool
        called = of_pool.called(part) / part.scores.size
        assert called == pytest.approx(of_pool.called(same) / same.scores.size)
        if part.columns is not None:
            factor = part.scores.size / same.scores.size
            assert part.columns.counts == pytest.approx(factor * same.columns.counts)
        if part.agreements is not None:
            factor = part.scores.size / same.scores.size
            assert part.agreements == pytest.approx(factor * same.agreements)


def test_neither_order_nor_splitting_matters(clf):
    weights = WEIGHTS / 3 + 0.1
    whole = evidence_of(clf, weights=weights)
    rows = np.random.default_rng(3).permutation(N)
    parts = [evidence_of(clf, part, weights=weights) for part in np.split(rows, 6)]
    assert sum(parts) == whole
    assert whole - parts[0] == sum(parts[1:])
    assert Evidence.from_json(whole.to_json()) == whole


def test_labels_count_the_weights_of_their_rows(clf):
    given = {"sensitive_features": GROUPS, "sample_weight": WEIGHTS}
    for group, adapted in quiet(clf, NEW, TRUTH, **given).groups.items():
        rows = group == GROUPS
        share = np.average(TRUTH[rows], weights=WEIGHTS[rows])
        assert tuple(adapted.estimate) == pytest.approx((share,) * 3)
        assert adapted.labels.rows == adapted.rows == rows.sum()
    # As many labels tell less of rows that weigh unequally.
    some = quiet(clf, NEW, SOME, **given)
    plain = quiet(clf, NEW, SOME, sensitive_features=GROUPS)
    for group, adapted in some.groups.items():
        assert adapted.labels.rows == plain.groups[group].labels.rows
        assert adapted.estimate.width > plain.groups[group].estimate.width


def test_a_batch_stands_for_a_population():
    """Where weights undo an unequal draw, shares are those of the population."""
    X, y, z = people(4000, [0.3, 0.5], 0)
    clf = CapeClassifier(LogisticRegression(), random_state=0).fit(
        X, y, sensitive_features=z
    )
    people_now, truth, groups = people(40_000, [0.15, 0.35], 5)
    # People with a high score are four times as likely to be asked.
    chance = np.where(people_now.sum(axis=1) > 1, 0.2, 0.05)
    asked = np.random.default_rng(6).random(len(chance)) < chance
    given = {"sensitive_features": groups[asked], "sample_weight": 1 / chance[asked]}
    adapted = quiet(clf, people_now[asked], **given)
    plain = quiet(clf, people_now[asked], sensitive_features=groups[asked])
    for group, of_group in adapted.groups.items():
        share = truth[groups == group].mean()
        of_rows = truth[asked & (groups == group)].mean()
        assert abs(of_group.estimate.value - share) < 0.04
        assert abs(of_group.estimate.value - of_rows) > 0.05
        # An unequal draw is no prior shift, and estimates of rows are far off.
        assert abs(plain.groups[group].estimate.value - share) > 0.2
    situations = adapted.situations
    assert sum(one.share for one in situations.values()) == pytest.approx(1)
    of_first = (given["sample_weight"] * (groups[asked] == 0)).sum()
    of_first /= given["sample_weight"].sum()
    assert situations[0].share == pytest.approx(of_first)


def test_weights_on_one_side_alone_are_asked_about():
    X, y, z = people(2000, [0.3, 0.5], 0)
    unequal = np.where(X[:, 0] > 1, 5.0, 1.0)
    weights = np.where(NEW[:, 0] > 1, 5.0, 1.0)
    given = {"sensitive_features": GROUPS}
    for trained in (None, unequal):
        clf = CapeClassifier(LogisticRegression(), random_state=0)
        clf.fit(X, y, sensitive_features=z, sample_weight=trained)
        for here in (None, weights):
            adaptation = quiet(clf, NEW, **given, sample_weight=here)
            verdicts = {one.verdict for one in adaptation.groups.values()}
            if (trained is None) == (here is None):
                assert verdicts <= {"consistent", "uncertain"}
                assert adaptation.notes == ()
                continue
            assert "weighted" in verdicts
            assert "drifted" not in verdicts
            assert "give both their weights" in adaptation.notes[0]
            assert len(adaptation.notes) == 1


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.full(N, -1.0), "at least 0 in every row, got -1"),
        (np.zeros(N), "positive in some row"),
        (np.where(np.arange(N) == 7, np.nan, 1.0), "in every row, got nan: 0 leaves"),
        (np.full(N, "heavy"), "sample_weight must be numbers, got"),
        (np.ones(N - 1), f"a number for each of {N} rows"),
        (np.where(np.arange(N) == 7, 1e-6, 1e-5), "got 1e-05: multiply all weights"),
        (
            np.where(np.arange(N) == 7, 1e11, 1.0),
            "to 2,147,483,648 in every row, got 1e.11",
        ),
        (np.where(GROUPS == 0, 0.0, 1.0), "for group '0': leave its rows out"),
    ],
)
def test_bad_weights_are_refused_with_the_remedy(plain, weights, said):
    with pytest.raises(ValueError, match=said):
        plain.predict(NEW, sensitive_features=GROUPS, sample_weight=weights)


def test_one_row_that_holds_half_is_said(plain):
    weights = np.ones(N)
    weights[np.flatnonzero(GROUPS == 1)[0]] = N / 2
    given = {"sensitive_features": GROUPS, "sample_weight": weights}
    (note,) = quiet(plain, NEW, **given).notes[1:]
    assert "rows of '1' have weights so unequal that a few decide" in note


def test_evidence_with_and_without_weights_is_not_mixed(plain):
    with pytest.raises(ValueError, match="pass sample_weight for all parts"):
        _ = evidence_of(plain) + plain.evidence(NEW, sensitive_features=GROUPS)
    with pytest.raises(ValueError, match="must be None when evidence is given"):
        plain.adapt(evidence=evidence_of(plain), sample_weight=WEIGHTS)
    nothing = plain.evidence(NEW[:0], sensitive_features=[], sample_weight=[])
    assert evidence_of(plain) + nothing == evidence_of(plain)


def test_heavy_rows_with_unusual_scores_are_worth_less():
    """A weighted mean has the variance sum w^2 (s - mean)^2 / (sum w)^2."""
    X, y, z = people(4000, [0.3, 0.5], 0)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(X, y, sensitive_features=z)
    scores = NEW.sum(axis=1)
    worth = {}
    for name, is_heavy in {
        "extreme": np.abs(scores - scores.mean()) > 2,
        "usual": np.abs(scores - scores.mean()) < 0.2,
    }.items():
        weights = np.where(is_heavy, 4.0, 1.0)
        given = {"sensitive_features": GROUPS, "sample_weight": weights}
        adapted = quiet(clf, NEW, **given).groups[0]
        own = weights[GROUPS == 0]
        worth[name] = adapted.worth / (own.sum() ** 2 / (own**2).sum())
    assert worth["extreme"] < 0.9
    # Never more than by the weights alone: of few heavy rows scores tell little.
    assert worth["usual"] == pytest.approx(1)


def test_examination_and_truth_are_weighted(plain):
    given = {"sensitive_features": GROUPS, "sample_weight": WEIGHTS}
    with warnings.catch_warnings(action="ignore", category=AdaptationWarning):
        seen = examine(plain, NEW, **given)
        alike = examine(plain, NEW, sensitive_features=GROUPS)
    decided = plain.predict(NEW, adaptation=seen.adaptation, **given)
    scored = seen.score(TRUTH)
    for group, score in scored.groups.items():
        rows = group == GROUPS
        assert score["truth"] == np.average(TRUTH[rows], weights=WEIGHTS[rows])
        called = np.average(decided[rows], weights=WEIGHTS[rows])
        assert score["predicted"] == pytest.approx(called)
        expected = seen.expected.groups[group].fnr
        assert expected.width > alike.expected.groups[group].fnr.width
    compared = seen.compare(TRUTH, decided, sensitive_features=GROUPS)
    observed = confusion_by_group(TRUTH, decided, **given)
    assert compared.loc[(0, "fpr"), "observed"] == observed[0].fpr
    with warnings.catch_warnings(action="ignore", category=AdaptationWarning):
        again = examine(plain, evidence=plain.evidence(NEW, **given))
    assert again.to_dict() == seen.to_dict()
    assert again.score(TRUTH, **given).totals == scored.totals
    assert seen.rows == N
    labels = seen.labels_needed(0.1)["labels"]
    assert (labels > alike.labels_needed(0.1)["labels"]).all()


def test_backtests_weigh_rows():
    X, y, z = people(3000, [0.3, 0.5], 4)
    weights = np.random.default_rng(8).uniform(0.2, 3, 3000)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    period = np.repeat([1, 2, 3], 1000)
    given = {"period": period, "sensitive_features": z}
    found = backtest(clf, X, y, **given, sample_weight=weights).table()
    rows = (period == 2) & (z == 0)
    share = np.average(y[rows], weights=weights[rows])
    assert found.loc[(2, "0"), "truth"] == pytest.approx(share)
    alike = backtest(clf, X, y, **given, sample_weight=np.full(3000, 2.0)).table()
    assert alike.equals(backtest(clf, X, y, **given).table())


def test_streams_weigh_rows_as_batches_do(clf):
    rolling = RollingCape(clf, window=N)
    weights = WEIGHTS + 1
    for part in np.array_split(np.arange(N), 7):
        given = {"sensitive_features": GROUPS[part], "sample_weight": weights[part]}
        rolling.predict(NEW[part], **given, ids=part)
    rolling.label(np.arange(0, N, 4), TRUTH[::4])
    columns = clf.drift == "cautious"
    expected = evidence_of(clf, weights=weights)
    assert rolling.evidence() == expected
    assert all(
        (part.columns is not None) == columns for part in expected.groups.values()
    )
    half = RollingCape(clf, window=100)
    half.predict(NEW, sensitive_features=GROUPS, sample_weight=weights)
    last = np.sort(np.hstack([np.flatnonzero(z == GROUPS)[-100:] for z in (0, 1)]))
    given = {"sensitive_features": GROUPS[last], "sample_weight": weights[last]}
    assert half.evidence() == clf.evidence(NEW[last], **given)
    with pytest.raises(ValueError, match="in all calls of a stream, or in none given"):
        rolling.predict(NEW, sensitive_features=GROUPS)
    with pytest.raises(ValueError, match="must be above 0 in all calls"):
        rolling.predict(NEW, sensitive_features=GROUPS, sample_weight=WEIGHTS)


def test_partitions_of_dask_weigh_rows_as_batches_do(plain):
    scale = pytest.importorskip("cape.elsewhere.dask")
    rows = pd.DataFrame(NEW, columns=["a", "b"]).assign(z=GROUPS, w=WEIGHTS)
    X, y, z = people(2000, [0.3, 0.5], 0)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(pd.DataFrame(X, columns=["a", "b"]), y, sensitive_features=z)
    ddf = scale.dd.from_pandas(rows, npartitions=5)
    columns = {"sensitive_features": "z", "sample_weight": "w"}
    given = {"sensitive_features": GROUPS, "sample_weight": WEIGHTS}
    in_memory = clf.evidence(rows[["a", "b"]], **given)
    assert scale.evidence(clf, ddf, **columns) == in_memory
    with warnings.catch_warnings(action="ignore", category=AdaptationWarning):
        decided = scale.predict(clf, ddf, **columns).compute()
    assert decided.tolist() == clf.predict(rows[["a", "b"]], **given).tolist()


def test_looks_of_a_watch_count_what_rows_are_worth(plain):
    weights = np.where(np.arange(N) % 2, 1.0, 9.0)
    looked = []
    for given in (None, np.full(N, 3.0), weights):
        with warnings.catch_warnings(action="ignore"):
            watch = Watch(plain, ["moved>0.05"])
        evidence = evidence_of(plain, y=np.full(N, np.nan), weights=weights)
        if given is None:
            evidence = plain.evidence(NEW, sensitive_features=GROUPS)
        elif given is not weights:
            evidence = evidence_of(plain, y=np.full(N, np.nan), weights=given)
        watch.look(evidence, "first")
        with warnings.catch_warnings(action="ignore"):
            assert Watch.from_json(plain, watch.to_json()).looks == watch.looks
        looked.append(watch)
    without, alike, weighted = looked
    assert alike.alarms == without.alarms
    assert [look["rows"] for look in weighted.looks] == [N]
    assert weighted.table().equals(without.table()) is False


@pytest.mark.slow
@pytest.mark.parametrize("effect", [1, 2, 4])
@pytest.mark.parametrize("kind", ["any", "follows_scores", "clusters"])
def test_the_share_of_the_population_is_held(kind, effect):
    """Coverage in samples whose weights have some design effect."""
    random = np.random.default_rng(effect)
    spread = np.sqrt(np.log(effect))
    held = []
    for fit in range(10):
        X, y, z = people(3000, [0.3, 0.5], 100 + fit)
        clf = CapeClassifier(LogisticRegression(), random_state=0)
        clf.fit(X, y, sensitive_features=z)
        for _ in range(10):
            shares = np.array([0.3, 0.5]) + random.normal(0, 0.07, 2)
            now, _, groups = people(40_000, shares, random.integers(2**31))
            noise = random.normal(size=40_000)
            if kind == "follows_scores":
                noise = (now.sum(axis=1) - now.sum(axis=1).mean()) / now.sum(1).std()
            if kind == "clusters":
                noise = np.repeat(random.normal(size=2000), 20)
            chance = np.exp(-spread * noise)
            chance = np.minimum(chance / chance.sum() * 1600, 1)
            asked = random.random(40_000) < chance
            if kind == "clusters":
                asked = np.repeat(random.random(2000) < chance[::20], 20)
            weights = 1 / chance[asked]
            given = {"sensitive_features": groups[asked], "sample_weight": weights}
            for group, adapted in quiet(clf, now[asked], **given).groups.items():
                held.append(adapted.estimate.low <= shares[group])
                held[-1] &= shares[group] <= adapted.estimate.high
    assert 0.91 <= np.mean(held) <= 1


def test_a_check_before_training_weighs_rows():
    X, y, z = people(1500, [0.3, 0.5], 4)
    weights = np.where(y == 1, 3.0, 1.0)
    given = {"sensitive_features": z, "expect": False}
    found = check(X, y, **given, sample_weight=weights)
    assert found.groups["0"]["rows"] == (z == 0).sum()
    share = np.average(y[z == 0], weights=weights[z == 0])
    assert found.groups["0"]["prevalence"] == pytest.approx(share)
    weighed = check(X, y, sensitive_features=z, sample_weight=np.arange(1500) % 9)
    plain = check(X, y, sensitive_features=z)
    for group, expected in weighed.expected["groups"].items():
        assert expected["width"] > plain.expected["groups"][group]["width"]


def test_the_default_learner_takes_weights():
    X, y, _ = people(600, [0.3, 0.5], 0)
    weights = np.random.default_rng(1).uniform(0.2, 3, 600)
    clf = CapeClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert clf.candidates_.index.tolist() == ["boosting"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_weigh_nothing_are_not_there(kind):
    def fitted(X, y, z, weights=None):
        clf = CapeClassifier(LogisticRegression(), random_state=0, **KINDS[kind])
        return clf.fit(X, y, sensitive_features=z, sample_weight=weights)

    # All positives of a group weigh nothing in one of the three.
    one_class = WEIGHTS * ((GROUPS == 0) | (TRUTH == 0))
    for weights in (WEIGHTS, WEIGHTS > 2, one_class):
        some = np.flatnonzero(weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            given = fitted(NEW, TRUTH, GROUPS, weights)
            left_out = fitted(NEW[some], TRUTH[some], GROUPS[some], weights[some])
        assert given.fingerprint_ == left_out.fingerprint_


def test_a_group_that_weighs_nothing_is_refused_in_training():
    with pytest.raises(ValueError, match="for group '1': leave its rows out"):
        CapeClassifier(LogisticRegression()).fit(
            NEW, TRUTH, sensitive_features=GROUPS, sample_weight=GROUPS == 0
        )


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_labels_of_rows_that_weigh_nothing_are_none(plain):
    some = np.where(np.arange(N) % 5 == 0, TRUTH, np.nan)
    weights = np.where(np.isnan(some), 1 + WEIGHTS, 0)
    given = {"sensitive_features": GROUPS, "sample_weight": weights}
    assert plain.adapt(NEW, some, **given) == plain.adapt(NEW, **given)


def test_backtests_leave_rows_out_that_weigh_nothing():
    X, y, z = people(1200, [0.5, 0.3], 3)
    year = np.repeat([1, 2, 3, 4], 300)
    clf = CapeClassifier(LogisticRegression(), random_state=0)

    def past(rows, **given):
        given |= {"period": year[rows], "sensitive_features": z[rows]}
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return backtest(clf, X[rows], y[rows], **given)

    for gone in ((year == 2) & (z == 0), year == 2):
        weighed = past(slice(None), sample_weight=~gone)
        assert weighed.table().equals(past(~gone).table())
    assert "Left out: 2: too few labelled rows (0)." in str(weighed)


def test_weights_that_a_penalty_would_outweigh_are_refused():
    weights = np.where(np.arange(N) % 2, 1.0, 2.0)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    given = {"sensitive_features": GROUPS, "sample_weight": weights / 10_000}
    with pytest.raises(ValueError, match="at least 0.001 on average, got .* mean 1"):
        clf.fit(NEW, np.arange(N) % 3 == 0, **given)
