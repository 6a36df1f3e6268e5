"""Has the prevalence moved? Level, power and words."""

import json

import numpy as np
import pytest

from cape._group_model import GroupModel
from cape.diagnostics import prevalence_moved
from cape.diagnostics._moved import _p_value
from cape.histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify import QUANTIFIERS, make_quantifier


def group_model(prevalence, positives, negatives, quantifier):
    return GroupModel(
        size=int(positives.size + negatives.size),
        prevalence=prevalence,
        positives=positives,
        negatives=negatives,
        positive=1,
        scoring_models=[],
        quantifier=quantifier,
        pool=None,
    )


def model(random, quantifier, prevalence, n):
    y = random.random(n) < prevalence
    s = scores(random, y)
    edges = edges_for(s[y], s[~y])
    positives, negatives = (
        ScoreHistogram.of(s[y], edges),
        ScoreHistogram.of(s[~y], edges),
    )
    fitted = make_quantifier(quantifier).fit(positives, negatives)
    return group_model(float(y.mean()), positives, negatives, fitted)


def scores(random, y):
    return round_scores(
        np.where(y, random.beta(4, 2, len(y)), random.beta(2, 4, len(y)))
    )


@pytest.mark.parametrize("quantifier", sorted(QUANTIFIERS))
def test_level_and_power(quantifier):
    random = np.random.default_rng(0)
    still, moved = [], []
    for _ in range(60):
        found = model(random, quantifier, 0.4, 600)
        for p_values, rho in ((still, 0.4), (moved, 0.6)):
            for n in (40, 400):
                batch = ScoreHistogram.of(
                    scores(random, random.random(n) < rho), found.edges
                )
                p_values.append(_p_value(found, batch))
    assert np.mean(np.array(still) < 0.05) < 0.125  # 120 tests
    assert np.mean(np.array(moved[1::2]) < 0.05) > 0.8


def test_table_dict_and_words(fitted, train, batch):
    clf = fitted(pool="threshold")
    found = prevalence_moved(clf, batch.X, sensitive_features=batch.z)
    table = found.table()
    assert list(table.columns) == [
        "rows",
        "training_prevalence",
        "estimate",
        "p_value",
        "p_adjusted",
        "moved",
    ]
    assert found.moved and table["moved"].all()
    assert table["training_prevalence"].tolist() == [0.5, 0.5]
    adapted = clf.adapt(batch.X, sensitive_features=batch.z).table()
    assert table["estimate"].tolist() == adapted["estimate"].tolist()
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["moved"] and [entry["group"] for entry in content["groups"]] == [
        "0",
        "1",
    ]
    assert "0: moved, 0.500 -> 0." in repr(found)
    calm = prevalence_moved(
        clf, evidence=clf.evidence(train.X[:100], sensitive_features=train.z[:100])
    )
    assert repr(calm) == "PrevalenceMoved(no group moved)" and not calm.moved


def test_constant_scores_never_move():
    half = np.full(50, 2**31)
    edges = edges_for(half, half)
    histogram = ScoreHistogram.of(half, edges)
    with pytest.warns(UserWarning, match="cannot tell the classes apart"):
        quantifier = make_quantifier("spa").fit(histogram, histogram)
    constant = group_model(0.5, histogram, histogram, quantifier)
    assert _p_value(constant, histogram) == 1.0
