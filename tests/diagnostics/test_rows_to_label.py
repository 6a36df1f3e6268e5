"""Which rows to label: the numbers asked for, at random, and usable as they come."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.datasets import make_synthetic
from cape.diagnostics import LabelPlan, labels_needed, rows_to_label

MODELS = {
    "threshold": {"pool": "threshold"},
    "folds": {"pool": "threshold", "scores": "folds"},
    "resampled": {"pool": "resampled", "prevalences": 3},
}


@pytest.fixture(scope="module")
def big():
    """2,000 rows in three quarters of which the group is 0."""
    d = make_synthetic(4000, prevalences=(0.2, 0.7), random_state=5)
    rows = np.concatenate(
        [
            np.flatnonzero(d.sensitive_features == 0)[:1500],
            np.flatnonzero(d.sensitive_features == 1)[:500],
        ]
    )
    z = d.sensitive_features.to_numpy()[rows]
    return d.data.to_numpy()[rows], d.target.to_numpy()[rows], z


def sizes(drawn):
    return pd.Series(drawn.groups).value_counts().to_dict()


@settings(max_examples=15)
@given(
    n=st.integers(1, 2500),
    spread=st.sampled_from(["equal", "proportional"]),
    name=st.sampled_from(list(MODELS)),
    seed=st.integers(0, 99),
)
def test_rows_are_distinct_seeded_and_their_probabilities_add_up(
    fitted, big, n, spread, name, seed
):
    X, _, z = big
    clf = fitted(**MODELS[name])
    call = {"sensitive_features": z, "n": n, "spread": spread, "random_state": seed}
    drawn = rows_to_label(clf, X, **call)
    assert len(drawn) == len(set(drawn.rows.tolist())) == min(n, 2000)
    assert list(drawn.groups) == z[drawn.rows].tolist()
    # In each group, probabilities add up to the rows drawn of it.
    for group in (0, 1):
        total = drawn.inclusion_probability[z == group].sum()
        assert total == pytest.approx(sizes(drawn).get(group, 0))
    again = rows_to_label(clf, X, **call)
    assert again.rows.tolist() == drawn.rows.tolist()


def test_spreads(fitted, big):
    X, _, z = big
    clf = fitted(pool="threshold")

    def drawn(**settings):
        return sizes(rows_to_label(clf, X, sensitive_features=z, **settings))

    assert drawn(n=200) == {0: 100, 1: 100}
    assert drawn(n=200, spread="proportional") == {0: 150, 1: 50}
    assert drawn(n=1200) == {0: 700, 1: 500}
    evidence = clf.evidence(X, sensitive_features=z)
    needed = labels_needed(clf, evidence, 0.1)["labels"].to_dict()
    assert drawn(width=0.1) == needed


def test_a_group_that_is_labelled_completely_has_probability_1(fitted, big):
    X, y, z = big
    clf = fitted(pool="threshold")
    drawn = rows_to_label(clf, X, sensitive_features=z, n=1200)
    assert (drawn.inclusion_probability[z == 1] == 1).all()
    labels = np.full(len(X), None, dtype=object)
    labels[drawn.rows] = y[drawn.rows]
    adapted = clf.adapt(
        X,
        labels,
        sensitive_features=z,
        inclusion_probability=drawn.inclusion_probability,
    ).groups[1]
    assert adapted.low == adapted.high == adapted.estimate == y[z == 1].mean()


# At 5 %, labels may refute an estimate that is right.
@pytest.mark.filterwarnings("ignore::cape.adaptation.AdaptationWarning")
@pytest.mark.parametrize("name", MODELS)
def test_labels_of_the_rows_can_be_used_as_they_come(fitted, big, name):
    X, y, z = big
    clf = fitted(**MODELS[name])
    held = 0
    for seed in range(8):
        drawn = rows_to_label(clf, X, sensitive_features=z, n=240, random_state=seed)
        labels = np.full(len(X), None, dtype=object)
        labels[drawn.rows] = y[drawn.rows]
        adaptation = clf.adapt(
            X,
            labels,
            sensitive_features=z,
            inclusion_probability=drawn.inclusion_probability,
        )
        for group, adapted in adaptation.groups.items():
            assert adapted.labelled == 120
            assert adapted.sample_p_value > 1e-4
            held += adapted.low <= y[z == group].mean() <= adapted.high
    # Of 16 intervals at 95 %, 13 or fewer hold with probability .01.
    assert held >= 13


def test_few_rows_of_a_group_are_drawn_plainly(fitted, big):
    X, _, z = big
    clf = fitted(pool="threshold")
    drawn = rows_to_label(clf, X, sensitive_features=z, n=98)
    assert set(drawn.inclusion_probability[z == 0]) == {49 / 1500}
    drawn = rows_to_label(clf, X, sensitive_features=z, n=100)
    assert len(set(drawn.inclusion_probability[z == 0])) > 1


def test_the_table_has_a_line_for_each_row(fitted, big):
    X, _, z = big
    drawn = rows_to_label(fitted(pool="threshold"), X, sensitive_features=z, n=30)
    table = drawn.table()
    assert table["row"].tolist() == drawn.rows.tolist()
    assert table["group"].tolist() == z[drawn.rows].tolist()
    expected = drawn.inclusion_probability[drawn.rows].tolist()
    assert table["inclusion_probability"].tolist() == expected
    assert repr(drawn) == "RowsToLabel(30 of 2000 rows; 0: 15, 1: 15)"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "exactly one of n and width must be given, got neither"),
        ({"n": 5, "width": 0.1}, "exactly one of n and width must be given, got both"),
        ({"n": 0}, "n must be a whole number from 1 on, got 0"),
        ({"n": 2.5}, "n must be a whole number from 1 on, got 2.5"),
        ({"n": 5, "spread": "all"}, "spread must be one of 'equal', 'proportional'"),
    ],
)
def test_bad_plans_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        LabelPlan(**settings)


def test_labels_needed(fitted, big):
    X, y, z = big
    clf = fitted(pool="threshold")
    evidence = clf.evidence(X, sensitive_features=z)
    wide = labels_needed(clf, evidence, 0.2)
    narrow = labels_needed(clf, evidence, 0.1)
    surer = labels_needed(clf, evidence, 0.1, level=0.99)
    assert narrow.index.tolist() == [0, 1]
    assert narrow["rows"].tolist() == [1500, 500]
    assert (wide["labels"] < narrow["labels"]).all()
    assert (narrow["labels"] < surer["labels"]).all()
    assert (narrow["labels"] < narrow["plain"]).all()
    # Labels that are there already do not change the plan.
    labelled = clf.evidence(X, y, sensitive_features=z)
    pd.testing.assert_frame_equal(labels_needed(clf, labelled, 0.1), narrow)


@pytest.mark.parametrize("width", [0, 1, -0.1, float("nan")])
def test_labels_needed_refuses_bad_widths(fitted, big, width):
    clf = fitted(pool="threshold")
    with pytest.raises(ValueError, match="width"):
        labels_needed(
            clf, clf.evidence(big[0][:9], sensitive_features=big[2][:9]), width
        )


def test_labels_needed_refuses_evidence_of_another_model(fitted, big):
    evidence = fitted(pool="threshold").evidence(
        big[0][:9], sensitive_features=big[2][:9]
    )
    other = fitted(**MODELS["resampled"])
    with pytest.raises(ValueError, match="evidence must come from this model"):
        labels_needed(other, evidence, 0.1)
