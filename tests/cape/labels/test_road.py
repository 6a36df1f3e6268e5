"""Labels of some rows, on the road from a table to an adaptation."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import Adaptation, AdaptationWarning, CapeClassifier, Evidence
from cape.datasets import make_synthetic

NEW = make_synthetic(400, prevalences=(0.2, 0.8), random_state=4)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
N = len(y)
LABELLED = np.sort(np.random.default_rng(0).choice(N, 120, replace=False))
SETTINGS = [
    {"pool": "threshold", "scores": "refit"},
    {"pool": "threshold", "scores": "folds"},
    {"pool": "resampled", "scores": "refit"},
    {"pool": "resampled", "scores": "folds"},
]


def some_labels(rows=LABELLED, missing=None, values=y):
    known = np.full(N, missing, dtype=object)
    for row in rows:
        known[row] = values[row].item() if hasattr(values[row], "item") else values[row]
    return known


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda s: "-".join(s.values()))
def clf(request, fitted):
    return fitted(cv=3, prevalences=5, **request.param)


@pytest.fixture(scope="module")
def one_clf(fitted):
    return fitted(pool="threshold", scores="refit", cv=3, prevalences=5)


def evidence_of(clf, labels=None, rows=slice(None), **settings):
    if labels is not None:
        labels = labels[rows]
    return clf.evidence(X[rows], labels, sensitive_features=z[rows], **settings)


def of_labels(clf, y, **settings):
    return clf.evidence(X, y, sensitive_features=z, **settings)


# Which rows have a label


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA], ids=repr)
def test_missing_values_of_any_kind_are_no_labels(one_clf, missing):
    expected = of_labels(one_clf, some_labels())
    assert of_labels(one_clf, some_labels(missing=missing)) == expected
    assert of_labels(one_clf, list(some_labels(missing=missing))) == expected
    counts = [part.labelled_rows for part in expected.groups.values()]
    assert counts == [(z[LABELLED] == 0).sum(), (z[LABELLED] == 1).sum()]


@pytest.mark.parametrize(
    "series",
    [
        lambda known: pd.Series(known, dtype="Int64"),
        lambda known: pd.Series(known, dtype="float64"),
        lambda known: pd.Series(known, dtype=object, index=range(5, 5 + N)),
        lambda known: pd.Series(known, dtype="Int64").to_frame().to_numpy(),
        lambda known: pl.Series(list(known), dtype=pl.Int64),
        lambda known: pa.array(list(known)),
        lambda known: np.array([np.nan if v is None else v for v in known]),
    ],
    ids=["Int64", "float", "object", "column", "polars", "pyarrow", "numpy"],
)
def test_series_of_any_library_hold_labels(one_clf, series):
    assert of_labels(one_clf, series(some_labels())) == of_labels(
        one_clf, some_labels()
    )


@pytest.mark.parametrize(
    "names", [("no", "yes"), (False, True), (3, 8), (0.0, 1.0)], ids=repr
)
def test_labels_of_any_type(train, one_clf, names):
    def rename(labels):
        return np.array(names)[labels]

    clf = CapeClassifier(
        LogisticRegression(), pool="threshold", cv=3, prevalences=5, random_state=0
    )
    clf.fit(train.X, rename(train.y), sensitive_features=train.z)
    known = some_labels(values=rename(y))
    parts = of_labels(clf, known).groups
    expected = of_labels(one_clf, some_labels()).groups
    for group, part in parts.items():
        for side in ("positives", "negatives"):
            rows = getattr(part.labelled[0], side)
            wanted = getattr(expected[group].labelled[0], side)
            assert rows.scores.size == wanted.scores.size


def test_positives_and_negatives_are_the_rows_with_that_label(clf):
    parts = of_labels(clf, some_labels()).groups
    for group, part in parts.items():
        for label, side in ((1, "positives"), (0, "negatives")):
            rows = LABELLED[(z[LABELLED] == group) & (y[LABELLED] == label)]
            alone = evidence_of(clf, rows=rows).groups[group]
            assert getattr(part.labelled[0], side) == alone


# What is refused


def with_label(value):
    known = some_labels()
    known[LABELLED[3]] = value
    return known


def with_probability(value):
    probabilities = np.full(N, 0.5)
    probabilities[LABELLED[0]] = value
    return probabilities


LENGTHS = (0, 1, N - 1, N + 1)
NO_COLUMNS = (np.zeros((N, 2)), "yes", 5, {"a": 1})
NO_PROBABILITIES = (0.0, -0.1, 1.01, np.nan, np.inf, 1e-12)
REFUSED = [
    (with_label("1"), None, r"y must hold the labels \[0, 1\].*got '1'"),
    (with_label(2), None, r"y must hold the labels .* got 2"),
    *[(np.resize(some_labels(), n), None, rf"\by\b.*{n}") for n in LENGTHS],
    *[
        (
            y,
            None,
            "^y must be (one column of labels|a table or a column), got",
        )
        for y in NO_COLUMNS
    ],
    *[
        (
            some_labels(),
            with_probability(bad),
            r"inclusion_probability must be in \(0, 1",
        )
        for bad in NO_PROBABILITIES
    ],
    (some_labels(), ["a"] * N, "inclusion_probability must be a number"),
    (some_labels(), np.full(N - 1, 0.5), f"inclusion_probability.*{N - 1}"),
    (some_labels(), np.full((N, 2), 0.5), "must be one number .* shape"),
    (None, 0.5, "inclusion_probability needs labels"),
]


@pytest.mark.parametrize(("labels", "probability", "message"), REFUSED)
def test_labels_and_probabilities_that_cannot_be_used_are_refused(
    one_clf, labels, probability, message
):
    with pytest.raises(ValueError, match=message):
        of_labels(one_clf, labels, inclusion_probability=probability)


def test_probabilities_of_other_rows_are_not_read(one_clf):
    probabilities = np.full(N, np.nan)
    probabilities[LABELLED] = 0.25
    found = of_labels(one_clf, some_labels(), inclusion_probability=probabilities)
    same = of_labels(one_clf, some_labels(), inclusion_probability=0.25)
    assert found == same
    assert list(found.groups[0].labelled) == [1 << 30]


def test_evidence_has_its_own_labels(one_clf):
    evidence = of_labels(one_clf, some_labels())
    for given_twice in ({"y": some_labels()}, {"inclusion_probability": 0.5}):
        with pytest.raises(
            ValueError, match="inclusion_probability and sample_weight must"
        ):
            one_clf.adapt(evidence=evidence, **given_twice)


# Evidence with labels adds up


@st.composite
def cuts(draw):
    order = np.random.default_rng(draw(st.integers(0, 100))).permutation(N)
    places = sorted(draw(st.lists(st.integers(0, N), max_size=4)))
    return np.split(order, places)


@settings(max_examples=6)
@given(parts=cuts(), weighted=st.booleans())
def test_parts_add_up_to_the_whole(clf, parts, weighted):
    known = some_labels()
    probabilities = np.where(X[:, 0] > np.median(X[:, 0]), 0.25, 0.4)

    def count(rows):
        drawn = {"inclusion_probability": probabilities[rows]} if weighted else {}
        return evidence_of(clf, known, rows, **drawn)

    whole = count(np.arange(N))
    pieces = [count(rows) for rows in parts]
    assert sum(pieces) == sum(reversed(pieces)) == whole
    assert whole - pieces[0] == sum(pieces[1:], Evidence(clf.fingerprint_))
    assert Evidence.from_json(whole.to_json()) == whole
    if not weighted:
        direct = clf.adapt(X, known, sensitive_features=z)
        assert clf.adapt(evidence=sum(pieces)) == direct


def test_plain_and_weighted_labels_are_not_mixed(one_clf):
    plain = evidence_of(one_clf, some_labels(), slice(0, 200))
    weighted = evidence_of(
        one_clf, some_labels(), slice(200, N), inclusion_probability=0.3
    )
    with pytest.raises(ValueError, match="inclusion_probability cannot be added"):
        plain + weighted
    unlabelled = evidence_of(one_clf, rows=slice(200, N))
    assert (plain + unlabelled).groups[0].labelled == plain.groups[0].labelled


def test_labels_that_were_never_added_are_not_taken_away(one_clf):
    whole = evidence_of(one_clf)
    with pytest.raises(ValueError, match="labels that were never added"):
        whole - evidence_of(one_clf, some_labels(), slice(0, 100))
    few = evidence_of(one_clf, some_labels(), slice(0, 100))
    with pytest.raises(ValueError, match="never added"):
        (few + evidence_of(one_clf, rows=slice(100, N))) - evidence_of(
            one_clf, some_labels(), slice(100, 300)
        )


# What an adaptation makes of labels


def test_labels_of_a_group_tell_of_the_others(clf):
    free = clf.adapt(X, sensitive_features=z)
    of_group_1 = LABELLED[z[LABELLED] == 1]
    found = clf.adapt(X, some_labels(of_group_1), sensitive_features=z)
    assert found.groups[0].labels.rows == 0
    assert found.groups[0].without_labels == free.groups[0].estimate
    # It moves a little: labels tell which scenarios are likely, and no more.
    moved = found.groups[0].estimate.value - free.groups[0].estimate.value
    assert 0 < abs(moved) < 0.02
    assert found.groups[1].labels.rows == len(of_group_1)
    assert found.groups[1].labels.verdict is not None
    assert found.groups[1].without_labels.value == free.groups[1].estimate.value


@pytest.mark.parametrize("settings", [{"drift": "ignore"}, {"labels": "alone"}])
def test_a_group_without_labels_hears_nothing_unless_it_may(one_clf, settings):
    drift = settings.get("drift")
    free = one_clf.adapt(X, sensitive_features=z, drift=drift)
    of_group_1 = some_labels(LABELLED[z[LABELLED] == 1])
    found = one_clf.adapt(X, of_group_1, sensitive_features=z, **settings)
    estimate = tuple(free.groups[0].estimate)
    assert tuple(found.groups[0].estimate) == pytest.approx(estimate, abs=1e-3)
    assert found.groups[1].estimate != free.groups[1].estimate


def test_a_few_labels_are_counted_and_not_used(clf):
    few = np.concatenate([np.flatnonzero(z == group)[:9] for group in (0, 1)])
    with pytest.warns(AdaptationWarning, match=r"too few labels to use \(9\)"):
        found = clf.adapt(X, some_labels(few), sensitive_features=z)
    free = clf.adapt(X, sensitive_features=z)
    for group, adapted in found.groups.items():
        assert adapted.labels.rows == 9
        assert adapted.labels.verdict is None
        assert adapted.estimate.value == free.groups[group].estimate.value
        assert adapted.classifier == free.groups[group].classifier


def test_all_labels_give_the_share_of_positives_exactly(clf):
    adaptation = clf.adapt(X, y, sensitive_features=z)
    for group, adapted in adaptation.groups.items():
        truth = y[z == group].mean()
        assert adapted.estimate.value == pytest.approx(truth, abs=1e-12)
        assert adapted.estimate.low == adapted.estimate.high == adapted.estimate.value
        assert adapted.labels.rows == (z == group).sum()


@pytest.mark.parametrize("n", [1, 9, 10])
def test_few_labels_give_no_verdict_even_if_all_rows_have_one(one_clf, n):
    few = np.concatenate([np.flatnonzero(z == group)[:n] for group in (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        found = one_clf.adapt(X[few], y[few], sensitive_features=z[few])
    for group, adapted in found.groups.items():
        truth = y[few][z[few] == group].mean()
        assert (adapted.labels.verdict is None) == (n < 10)
        if n == 10:
            assert adapted.estimate == (truth, truth, truth)


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_class_that_the_estimate_makes_unlikely_are_not_used(
    one_clf, label
):
    # Half of the rows of one class: the other half and the other class were left empty.
    known = np.random.default_rng(0).random(len(y)) < 0.5
    left_empty = np.where(known & (y == label), float(label), np.nan)
    with pytest.warns(AdaptationWarning, match="left blank"):
        found = one_clf.adapt(X, left_empty, sensitive_features=z)
    free = one_clf.adapt(X, sensitive_features=z)
    for group, adapted in found.groups.items():
        assert adapted.labels.verdict is None
        assert adapted.labels.estimate == label and adapted.labels.p_value < 0.001
        assert adapted.estimate == free.groups[group].estimate
        assert Adaptation.from_json(found.to_json()) == found


def test_members_are_picked_for_the_corrected_estimate(clf, turned):
    flipped = turned(X, y, z)
    with pytest.warns(AdaptationWarning, match="labels contradict"):
        adaptation = clf.adapt(X, flipped, sensitive_features=z)
    free = clf.adapt(X, sensitive_features=z)
    evidence = evidence_of(clf)
    for group, adapted in adaptation.groups.items():
        pool = clf.model_of(group).pool
        share = pool.called(evidence.groups[group]) / (z == group).sum()
        distance = np.abs(share - flipped[z == group].mean())
        assert distance[adapted.classifier] == distance.min()
        assert adapted.classifier != free.groups[group].classifier
        assert adapted.labels.verdict == "refuted"
        assert adapted.without_labels.value == free.groups[group].estimate.value


def test_labels_that_are_no_sample_are_said_to_be_none(one_clf):
    early = []
    for group in (0, 1):
        rows = np.flatnonzero(z == group)
        early += rows[np.argsort(X[rows, 0])[-100:]].tolist()
    with pytest.warns(AdaptationWarning, match="not a random sample"):
        found = one_clf.adapt(X, some_labels(early), sensitive_features=z)
    free = one_clf.adapt(X, sensitive_features=z)
    for group, adapted in found.groups.items():
        assert adapted.labels.sample_p_value < 0.01
        assert adapted.labels.verdict is None
        assert adapted.estimate.value == free.groups[group].estimate.value
        assert (adapted.estimate.low, adapted.estimate.high) == (
            free.groups[group].estimate.low,
            free.groups[group].estimate.high,
        )


# Labels that arrive bit by bit


def test_labels_in_ten_portions_end_alike_in_any_order(one_clf):
    portions = np.array_split(np.random.default_rng(1).permutation(N)[:350], 10)
    truth = {group: y[z == group].mean() for group in (0, 1)}
    inside = []
    widths = []
    ends = []
    for order in (range(10), [3, 9, 0, 6, 1, 8, 2, 7, 5, 4]):
        rows = np.empty(0, dtype=int)
        for portion in order:
            rows = np.append(rows, portions[portion])
            with warnings.catch_warnings():
                # One look in ten may refute what is right.
                warnings.simplefilter("ignore", AdaptationWarning)
                adaptation = one_clf.adapt(X, some_labels(rows), sensitive_features=z)
            found = adaptation.groups
            for group, adapted in found.items():
                low, high = adapted.estimate.low, adapted.estimate.high
                inside.append(low <= truth[group] <= high)
                widths.append(adapted.estimate.width / adapted.without_labels.width)
        ends.append(found)
    assert ends[0] == ends[1]
    assert np.mean(inside) > 0.9
    assert np.mean(np.array(widths) > 1.1) < 0.1
    assert widths[-1] < 0.7


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_class_alone_narrow_an_estimate_that_expects_them(one_clf, label):
    rows = np.flatnonzero(y == label)
    others = np.flatnonzero(y != label)[:4]
    batch = np.concatenate([rows, others])
    labels = np.full(len(batch), np.nan)
    labels[:60] = label
    random = np.random.default_rng(0)
    shuffled = random.permutation(len(rows))
    batch[: len(rows)] = rows[shuffled]
    adapted = one_clf.adapt(X[batch], labels, sensitive_features=np.full(len(batch), 0))
    found = adapted.groups[0]
    share = y[batch].mean()
    assert found.labels.verdict in ("confirmed", "not_contradicted")
    assert found.estimate.low <= share <= found.estimate.high
    assert found.estimate.width < found.without_labels.width
