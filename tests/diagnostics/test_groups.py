"""Diagnostics of groups of any kind, name and number."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence
from cape.diagnostics import (
    expected_performance,
    prevalence_moved,
    prior_shift_test,
    rows_needed,
)

NAMES = {
    "numbers": [0, 1, 2, 3],
    "text": ["d", "c", "b", "a"],
    "tuples": [(1, "x"), (0, "y"), (1, "y"), (0, "x")],
    "one": [0],
}


def features(names, codes):
    """The groups as a user would give them: a column, or a table of two."""
    if isinstance(names[0], tuple):
        return pd.DataFrame([names[code] for code in codes], columns=["one", "two"])
    return np.array(names)[codes]


@pytest.fixture(scope="module", params=NAMES)
def case(request, train, batch):
    """A model fitted to groups under these names, and a batch cut in two."""
    names = NAMES[request.param]
    codes, new = (
        ((np.arange(len(d.y)) // 2) % 2 + 2 * d.z) % len(names) for d in (train, batch)
    )
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=features(names, codes))

    def evidence(rows):
        rows = np.asarray(rows)
        return clf.evidence(
            batch.X[rows], sensitive_features=features(names, new[rows])
        )

    return clf, names, new, evidence


def all_found(clf, evidence, adaptation):
    return (
        prevalence_moved(clf, evidence=evidence),
        prior_shift_test(clf, evidence=evidence),
        expected_performance(clf, evidence, adaptation, n_draws=200),
    )


@pytest.mark.filterwarnings("ignore::cape.adaptation.AdaptationWarning")
def test_order_of_rows_and_cuts_into_parts_do_not_matter(case):
    clf, _, new, evidence = case
    order = np.random.default_rng(0).permutation(len(new))
    whole = evidence(range(len(new)))
    parts = [evidence(part) for part in np.split(order, [1, 70])]
    summed = parts[2] + parts[0] + parts[1]
    adaptations = [clf.adapt(evidence=found) for found in (whole, summed)]
    assert all_found(clf, whole, adaptations[0]) == all_found(
        clf, summed, adaptations[1]
    )


def test_every_group_is_looked_at_by_itself(case):
    """A group by itself gives the same numbers, but for Holm's correction."""
    clf, names, new, evidence = case
    found = evidence(range(len(new)))
    for test in (prevalence_moved, prior_shift_test):
        together = test(clf, evidence=found).groups
        assert set(together) == set(names)
        for code, name in enumerate(names):
            alone = test(
                clf, evidence=Evidence(clf.fingerprint_, {name: found.groups[name]})
            ).groups[name]
            assert (together[name].rows, together[name].p_value) == (
                (new == code).sum(),
                alone.p_value,
            )
            assert alone.p_adjusted == alone.p_value <= together[name].p_adjusted
        smallest = min(together.values(), key=lambda found: found.p_value)
        assert smallest.p_adjusted == pytest.approx(
            min(1, len(names) * smallest.p_value)
        )


def test_the_rows_needed_are_those_of_the_hardest_prevalence(case):
    clf, names, _, _ = case
    hardest = rows_needed(clf, 0.4)
    assert len(hardest) == len(names)
    each = [
        rows_needed(clf, 0.4, prevalence=rho) for rho in np.linspace(0.05, 0.95, 19)
    ]
    for column in ("rows", "narrowest"):
        np.testing.assert_allclose(
            hardest[column], np.max([table[column] for table in each], axis=0)
        )


def test_tables_and_json_name_every_group_in_words(case):
    clf, names, new, evidence = case
    found = evidence(range(len(new)))
    words = sorted(
        ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
        for name in names
    )
    results = all_found(clf, found, clf.adapt(evidence=found))
    for result in results:
        assert sorted(map(str, result.table().index)) == words
        content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert sorted(entry["group"] for entry in content["groups"]) == words
    assert (
        len(results[2].between)
        == len(results[2].pairs())
        == len(names) * (len(names) - 1)
    )


def test_a_group_without_rows_is_not_spoken_of(case):
    clf, names, new, evidence = case
    rows = np.flatnonzero(new == len(names) - 1)
    found = evidence(rows)
    results = all_found(clf, found, clf.adapt(evidence=found))
    for result in results:
        assert list(result.groups) == [names[-1]]
        assert result.groups[names[-1]].rows == len(rows)
    assert results[2].between == ()
    assert (
        results[0].groups[names[-1]].p_adjusted == results[0].groups[names[-1]].p_value
    )


def test_a_stricter_level_rejects_no_more(case):
    clf, _, new, evidence = case
    found = evidence(range(len(new)))
    for test in (prevalence_moved, prior_shift_test):
        results = [
            test(clf, evidence=found, alpha=alpha) for alpha in (1e-9, 0.01, 0.2, 0.999)
        ]
        flags = [
            [
                getattr(g, "moved", getattr(g, "rejected", None))
                for g in r.groups.values()
            ]
            for r in results
        ]
        p_adjusted = [g.p_adjusted for g in results[0].groups.values()]
        for alpha, flagged in zip((1e-9, 0.01, 0.2, 0.999), flags, strict=True):
            assert flagged == [p < alpha for p in p_adjusted]
        assert np.diff(np.sum(flags, axis=1)).min() >= 0


def test_a_higher_level_gives_intervals_that_hold_the_lower_ones(case):
    clf, _, new, evidence = case
    found = evidence(range(len(new)))
    narrow, wide = (
        expected_performance(clf, found, clf.adapt(evidence=found, level=level)).table()
        for level in (0.6, 0.99)
    )
    for metric in ("fpr", "fnr", "accuracy"):
        assert (wide[f"{metric}_low"] <= narrow[f"{metric}_low"]).all()
        assert (narrow[f"{metric}_high"] <= wide[f"{metric}_high"]).all()
        np.testing.assert_allclose(narrow[metric], wide[metric])
    assert (
        (wide["accuracy_high"] - wide["accuracy_low"])
        > (narrow["accuracy_high"] - narrow["accuracy_low"])
    ).all()


def test_json_and_back_is_the_same_evidence(case):
    clf, _, new, evidence = case
    found = evidence(range(len(new)))
    again = Evidence.from_json(found.to_json())
    assert again == found and list(again.groups) == list(found.groups)
    assert prevalence_moved(clf, evidence=again) == prevalence_moved(
        clf, evidence=found
    )
