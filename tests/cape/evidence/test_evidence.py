"""Evidence of parts adds up, however the rows are cut."""

import pickle
from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cape import CapeClassifier, Evidence
from cape.datasets import make_synthetic
from cape.quantify import QUANTIFIERS

POOLS = ("resampled", "threshold")
SCORES = ("refit", "folds")
WAYS = list(product(POOLS, SCORES))
N = 200


@st.composite
def cuts(draw):
    """Parts of the rows 0 ... 199: any sizes, empty ones too, rows in any order."""
    order = np.random.default_rng(draw(st.integers(0, 100))).permutation(N)
    places = sorted(draw(st.lists(st.integers(0, N), max_size=6)))
    return np.split(order, places)


@pytest.fixture(scope="module")
def evidence_of(batch):
    """Evidence of chosen rows of the batch."""
    return lambda clf, rows: clf.evidence(
        batch.X[rows], sensitive_features=batch.z[rows]
    )


@pytest.mark.parametrize(
    ("quantifier", "pool", "scores"),
    [(name, *way) for name, way in zip(QUANTIFIERS, cycle(WAYS), strict=False)],
)
def test_parts_lead_to_the_adaptation_and_predictions_of_the_whole(
    fitted, batch, evidence_of, quantifier, pool, scores
):
    clf = fitted(quantifier=quantifier, pool=pool, scores=scores, cv=3, prevalences=5)
    whole = clf.adapt(batch.X, sensitive_features=batch.z)
    y_pred = clf.predict(batch.X, sensitive_features=batch.z)
    order = np.random.default_rng(0).permutation(N)
    parts = np.split(order, [0, 1, 90])
    found = clf.adapt(evidence=sum(evidence_of(clf, rows) for rows in parts))
    assert found == whole
    for rows in parts:
        part = clf.predict(
            batch.X[rows], sensitive_features=batch.z[rows], adaptation=found
        )
        np.testing.assert_array_equal(part, y_pred[rows])


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=15)
@given(parts=cuts())
def test_evidence_adds_up_exactly(fitted, evidence_of, pool, scores, parts):
    clf = fitted(pool=pool, scores=scores, cv=3, prevalences=5)
    whole, zero = evidence_of(clf, range(N)), evidence_of(clf, [])
    pieces = [evidence_of(clf, rows) for rows in parts]
    assert sum(pieces) == sum(reversed(pieces)) == whole
    assert whole + zero == zero + whole == whole
    assert whole - pieces[0] == sum(pieces[1:], zero)
    assert whole - whole == zero
    assert sum(piece.rows.get(0, 0) for piece in pieces) == whole.rows[0] == 100


@pytest.mark.parametrize("pool", POOLS)
def test_size_does_not_depend_on_rows(fitted, evidence_of, pool):
    clf = fitted(pool=pool, scores="folds", cv=3)
    few = evidence_of(clf, range(20))
    big = make_synthetic(5000, random_state=5)
    many = clf.evidence(big.data.to_numpy(), sensitive_features=big.sensitive_features)
    assert few.rows == {0: few.rows[0], 1: few.rows[1]}
    # The numbers are larger, not more.
    assert len(pickle.dumps(many)) <= len(pickle.dumps(few)) + 200


def test_the_evidence_of_no_rows(fitted, evidence_of):
    clf = fitted()
    zero = evidence_of(clf, [])
    assert zero == Evidence(clf.fingerprint_)
    assert zero.rows == {}
    assert repr(zero) == "Evidence(no rows)"
    assert clf.adapt(evidence=zero).table().empty
    assert evidence_of(clf, range(10)) != zero
    assert zero != 0


def test_groups_of_parts_may_differ(fitted, batch, evidence_of):
    clf, z = fitted(), batch.z
    first, second = (evidence_of(clf, np.flatnonzero(z == group)) for group in (0, 1))
    assert list(first.groups) == [0]
    assert repr(first + second) == "Evidence(0: 100 rows, 1: 100 rows)"
    assert first + second == evidence_of(clf, range(N))
    # In the order in which groups are always shown.
    assert list((second + first).groups) == [0, 1]
    with pytest.raises(ValueError, match="rows of group '1': there are none"):
        _ = first - second


@pytest.mark.parametrize("pool", POOLS)
def test_rows_that_were_never_added_cannot_be_taken_away(fitted, evidence_of, pool):
    clf = fitted(pool=pool)
    with pytest.raises(ValueError, match="never added"):
        _ = evidence_of(clf, range(10)) - evidence_of(clf, range(N))


OTHERS = {
    "another seed": {"random_state": 1},
    "another quantifier": {"quantifier": "emq"},
    "another pool": {"pool": "threshold"},
    "other scores": {"scores": "folds"},
    "another grid": {"prevalences": 9},
    "other folds": {"cv": 4},
}


@pytest.mark.parametrize("settings", OTHERS.values(), ids=OTHERS)
def test_another_model_refuses_evidence_and_adaptations(
    fitted, batch, evidence_of, settings
):
    mine = fitted(pool="resampled")
    other = fitted(**{"pool": "resampled", **settings})
    evidence = evidence_of(other, range(N))
    adaptation = other.adapt(evidence=evidence)
    groups = {"sensitive_features": batch.z}
    with pytest.raises(
        ValueError,
        match="evidence must come from this model "
        f".*{mine.fingerprint_[:12]}.* got one",
    ):
        mine.adapt(evidence=evidence)
    for predict in (mine.predict, mine.predict_proba):
        with pytest.raises(
            ValueError,
            match=f"adaptation must come from this model.*{other.fingerprint_[:12]}",
        ):
            predict(batch.X, adaptation=adaptation, **groups)
    with pytest.raises(ValueError, match="adaptation must come from this model"):
        mine.score(batch.X, batch.y, adaptation=adaptation, **groups)
    with pytest.raises(ValueError, match="evidence must come from one model"):
        _ = evidence + evidence_of(mine, range(N))


def test_what_is_no_evidence_is_refused(fitted, batch, evidence_of):
    clf = fitted()
    evidence = evidence_of(clf, range(5))
    with pytest.raises(TypeError, match="evidence must be of type Evidence, got dict"):
        clf.adapt(evidence={})
    with pytest.raises(
        TypeError, match="adaptation must be of type Adaptation, got Evidence"
    ):
        clf.predict(batch.X, sensitive_features=batch.z, adaptation=evidence)
    with pytest.raises(
        TypeError, match="evidence can be added to evidence only, got int"
    ):
        _ = evidence + 1
    for both_or_neither in ({}, {"X": batch.X, "evidence": evidence}):
        with pytest.raises(
            ValueError,
            match="exactly one of X and evidence must be given, got (neither|both)",
        ):
            clf.adapt(**both_or_neither)
    with pytest.raises(
        ValueError, match="sensitive_features must be None when evidence is given"
    ):
        clf.adapt(evidence=evidence, sensitive_features=batch.z)


def test_several_sensitive_columns_keep_their_combinations(train):
    z = pd.DataFrame({"a": train.z, "b": np.arange(600) % 2})
    clf = CapeClassifier(LogisticRegression(), random_state=0, cv=2).fit(
        train.X, train.y, sensitive_features=z
    )
    evidence = clf.evidence(train.X, sensitive_features=z)
    assert list(evidence.groups) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert repr(evidence).startswith("Evidence(0, 0: 1")


@pytest.mark.parametrize(("pool", "scores"), WAYS)
def test_json_gives_the_same_evidence_back(fitted, batch, pool, scores):
    clf = fitted(pool=pool, scores=scores, cv=3)
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    again = Evidence.from_json(evidence.to_json())
    assert again == evidence
    assert again != evidence + evidence == again + evidence
    assert clf.adapt(evidence=again) == clf.adapt(evidence=evidence)
    assert Evidence.from_json(Evidence("f").to_json()) == Evidence("f")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"fingerprint": "f", "groups": [{"group": 1}]}', "nan", "null"],
)
def test_text_that_is_no_evidence_is_refused(text):
    with pytest.raises(ValueError, match="^text must .* Evidence.to_json"):
        Evidence.from_json(text)


def test_evidence_is_compared_and_not_hashed(fitted, evidence_of):
    evidence = evidence_of(fitted(), range(10))
    (part, *_) = evidence.groups.values()
    assert part != "something else"
    assert evidence != "something else"
    for thing in (part, evidence):
        with pytest.raises(TypeError, match="unhashable"):
            hash(thing)


# Columns


def people(n, seed):
    """Draw a table with a text column."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.4).astype(int)
    table = pd.DataFrame(
        {"u": random.normal(size=n) + y, "city": random.choice(["Rome", "Bern"], n)}
    )
    return table, y


@pytest.fixture(scope="module")
def of_tables():
    table, y = people(300, 0)
    numbers = make_column_transformer((FunctionTransformer(), ["u"]))
    learner = make_pipeline(numbers, LogisticRegression())
    return CapeClassifier(learner, cv=2, prevalences=3, random_state=0).fit(table, y)


@given(cuts())
@settings(max_examples=10)
def test_columns_add_up_and_are_taken_away(of_tables, parts):
    table, _ = people(N, 1)
    table["city"] = table["city"].where(np.arange(N) % 10 > 0, "Oslo")
    whole = of_tables.evidence(table)
    pieces = [of_tables.evidence(table.iloc[rows]) for rows in parts]
    assert sum(pieces) == whole
    assert whole.groups["everyone"].columns.unseen == {1: {"Oslo": N // 10}}
    rest = whole - pieces[0] if pieces[0].groups else whole
    assert rest == sum(pieces[1:], Evidence(of_tables.fingerprint_)) or not rest.rows


def test_columns_come_back_from_json(of_tables):
    table, _ = people(N, 1)
    evidence = of_tables.evidence(table.assign(city="Oslo"))
    again = Evidence.from_json(evidence.to_json())
    assert again == evidence
    assert again.groups["everyone"].columns == evidence.groups["everyone"].columns
    assert "Oslo" in evidence.to_json()
    assert "Rome" not in evidence.to_json()


def test_evidence_with_and_without_columns_does_not_add_up(of_tables):
    table, _ = people(N, 1)
    counted = of_tables.evidence(table).groups["everyone"]
    without = replace(counted, columns=None)
    assert counted != without
    for operate in (
        lambda: counted + without,
        lambda: without + counted,
        lambda: counted - without,
    ):
        with pytest.raises(ValueError, match="counts of columns"):
            operate()
    assert (without + without).columns is None
