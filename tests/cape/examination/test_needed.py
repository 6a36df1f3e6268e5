"""How many rows and labels are needed, and which rows to label."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.examination import rows_needed, rows_to_label
from cape.quantify import ScoreHistogram

# Rows


@pytest.mark.parametrize("quantifier", ["spa", "onestep"])
def test_so_many_rows_give_that_width(fitted, quantifier):
    clf = fitted(pool="threshold", quantifier=quantifier)
    random = np.random.default_rng(0)
    width, rho = 0.3, 0.4
    needed = rows_needed(clf, width, prevalence=rho)
    for group, model in clf.models_.items():
        n = int(needed.loc[group, "rows"])
        k = round(rho * n)
        centres = (model.positives + model.negatives).centres
        widths = []
        for _ in range(20):
            counts = random.multinomial(k, model.positives.shares)
            counts = counts + random.multinomial(n - k, model.negatives.shares)
            sums = np.rint(counts * centres * 2**32).astype(np.int64)
            batch = ScoreHistogram(model.edges, counts, sums)
            low, high = model.quantifier.interval(batch)
            widths.append(high - low)
        assert np.mean(widths) == pytest.approx(width, rel=0.25)


def test_narrower_needs_more_and_training_sets_a_limit(clf):
    rows = [rows_needed(clf, width)["rows"].max() for width in (0.5, 0.3, 0.2, 0.01)]
    assert rows == sorted(rows) and rows[0] < rows[2] and np.isinf(rows[3])
    table = rows_needed(clf, 0.3)
    assert table["narrowest"].between(0.01, 0.3).all()
    assert (rows_needed(clf, 0.3, level=0.99)["rows"] > table["rows"]).all()
    # The plan is made for the prevalence that needs the most rows.
    grid = [rows_needed(clf, 0.3, prevalence=p) for p in np.linspace(0.05, 0.95, 19)]
    for column in ("rows", "narrowest"):
        worst = np.max([plan[column] for plan in grid], axis=0)
        np.testing.assert_allclose(table[column], worst)


@pytest.mark.parametrize(
    ("name", "value"), [("width", 0), ("width", 1.5), ("level", 1), ("prevalence", -1)]
)
def test_wrong_numbers_are_named(clf, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        rows_needed(clf, **{"width": 0.1, name: value})


# Labels

MODELS = {
    "threshold": {"pool": "threshold"},
    "folds": {"pool": "threshold", "scores": "folds"},
    "resampled": {"pool": "resampled", "prevalences": 3},
}


@pytest.fixture(scope="module")
def big():
    """2,000 rows in three quarters of which the group is 0."""
    d = make_synthetic(4000, prevalences=(0.2, 0.7), random_state=5)
    z = d.sensitive_features.to_numpy()
    rows = [np.flatnonzero(z == group)[:n] for group, n in ((0, 1500), (1, 500))]
    rows = np.concatenate(rows)
    return d.data.to_numpy()[rows], d.target.to_numpy()[rows], z[rows]


def sizes(drawn):
    return pd.Series(drawn.groups).value_counts().to_dict()


def adapt_with_labels(clf, big, drawn):
    """Adapt to a batch with the labels of the rows that were drawn."""
    X, y, z = big
    labels = np.full(len(X), None, dtype=object)
    labels[drawn.rows] = y[drawn.rows]
    probability = {"inclusion_probability": drawn.inclusion_probability}
    return clf.adapt(X, labels, sensitive_features=z, **probability)


@settings(max_examples=6)
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


def test_spreads(clf, big):
    X, _, z = big

    def drawn(**settings):
        return sizes(rows_to_label(clf, X, sensitive_features=z, **settings))

    assert drawn(n=200) == {0: 100, 1: 100}
    assert drawn(n=200, spread="proportional") == {0: 150, 1: 50}
    assert drawn(n=1200) == {0: 700, 1: 500}
    needed = examine(clf, X, sensitive_features=z).labels_needed(0.05)
    assert drawn(width=0.05) == needed["at_most"].to_dict()


def test_a_group_that_is_labelled_completely_has_probability_1(clf, big):
    X, y, z = big
    drawn = rows_to_label(clf, X, sensitive_features=z, n=1200)
    assert (drawn.inclusion_probability[z == 1] == 1).all()
    adapted = adapt_with_labels(clf, big, drawn).groups[1]
    assert adapted.estimate == (y[z == 1].mean(),) * 3


# At 5 %, labels may refute an estimate that is right.
@pytest.mark.filterwarnings("ignore::cape.rules._adaptation.AdaptationWarning")
@pytest.mark.parametrize("name", ["threshold", "resampled"])
def test_labels_of_the_rows_can_be_used_as_they_come(fitted, big, name):
    X, y, z = big
    clf = fitted(**MODELS[name])
    held = 0
    for seed in range(8):
        drawn = rows_to_label(clf, X, sensitive_features=z, n=240, random_state=seed)
        for group, adapted in adapt_with_labels(clf, big, drawn).groups.items():
            assert adapted.labels.rows == 120
            assert adapted.labels.sample_p_value > 1e-4
            _, low, high = adapted.estimate
            held += low <= y[z == group].mean() <= high
    # Of 16 intervals at 95 %, 13 or fewer hold with probability .01.
    assert held >= 13


def test_few_rows_of_a_group_are_drawn_plainly(clf, big):
    X, _, z = big
    drawn = rows_to_label(clf, X, sensitive_features=z, n=98)
    assert set(drawn.inclusion_probability[z == 0]) == {49 / 1500}
    drawn = rows_to_label(clf, X, sensitive_features=z, n=100)
    assert len(set(drawn.inclusion_probability[z == 0])) > 1


@pytest.mark.parametrize("positives", [20, 150, 280])
def test_rows_of_the_highest_and_the_lowest_score_may_be_many(positives):
    noise = np.random.default_rng(0).random((300, 1))
    y = np.arange(300) % 2
    clf = CapeClassifier(DecisionTreeClassifier(), random_state=0)
    clf.fit(2 * y[:, None] + noise, y)
    batch = np.arange(300)[:, None] < positives
    drawn = rows_to_label(clf, 2 * batch + noise, n=60, random_state=0)
    assert len(drawn.rows) == 60
    assert drawn.inclusion_probability.sum() == pytest.approx(60)
    # Both ends of the score are looked at.
    assert set(batch[drawn.rows, 0]) == {False, True}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"n": 5, "width": 0.1}, "at most one of n and width must be given, got both"),
        ({"n": 0}, "n must be a whole number of at least 1, got 0"),
        ({"n": 2.5}, "n must be a whole number of at least 1, got 2.5"),
        ({"n": 5, "spread": "all"}, "spread must be one of 'equal', 'proportional'"),
    ],
)
def test_bad_plans_are_refused(clf, settings, says):
    with pytest.raises(ValueError, match=says):
        rows_to_label(clf, None, **settings)


def test_labels_needed(clf, big):
    X, y, z = big
    seen = examine(clf, X, sensitive_features=z)
    wide, narrow = seen.labels_needed(0.06), seen.labels_needed(0.04)
    surer = examine(clf, evidence=seen.evidence, level=0.99).labels_needed(0.04)
    assert narrow.index.tolist() == [0, 1]
    assert narrow["rows"].tolist() == [1500, 500]
    assert (wide["labels"] < narrow["labels"]).all()
    assert (narrow["labels"] < surer["labels"]).all()
    assert (narrow["labels"] <= narrow["at_most"]).all()
    # Labels that are there count, and nobody is asked for more than enough.
    labelled = examine(clf, X, y, sensitive_features=z)
    assert (labelled.labels_needed(0.1)["labels"] == 0).all()
    assert (seen.labels_needed(0.99)["at_most"] == 0).all()
    for width in (0, 1, -0.1, float("nan")):
        with pytest.raises(ValueError, match="width"):
            seen.labels_needed(width)
