"""The number of rows asked for gives intervals of the width asked for."""

from dataclasses import replace

import numpy as np
import pytest

from cape.diagnostics import rows_needed
from cape.histogram import ScoreHistogram


@pytest.mark.parametrize("quantifier", ["spa", "acc", "histogram", "emq"])
def test_so_many_rows_give_that_width(fitted, quantifier):
    clf = fitted(pool="threshold", quantifier=quantifier)
    random = np.random.default_rng(0)
    width, rho = 0.3, 0.4
    needed = rows_needed(clf, width, prevalence=rho)
    for group, model in clf.models_.items():
        n = int(needed.loc[group, "rows"])
        widths = []
        for _ in range(20):
            k = round(rho * n)
            counts = random.multinomial(k, model.positives.shares) + random.multinomial(
                n - k, model.negatives.shares
            )
            centres = (model.positives + model.negatives).centres
            batch = ScoreHistogram(
                model.edges, counts, np.rint(counts * centres * 2**32).astype(np.int64)
            )
            low, high = model.quantifier.interval(batch)
            widths.append(high - low)
        assert np.mean(widths) == pytest.approx(width, rel=0.25)


def test_narrower_needs_more_and_training_sets_a_limit(fitted):
    clf = fitted(pool="threshold")
    rows = [rows_needed(clf, width)["rows"].max() for width in (0.5, 0.3, 0.2, 0.01)]
    assert rows == sorted(rows) and rows[0] < rows[2] and np.isinf(rows[3])
    table = rows_needed(clf, 0.3)
    assert (table["narrowest"] > 0.01).all() and (table["narrowest"] < 0.3).all()
    assert (rows_needed(clf, 0.3, level=0.99)["rows"] > table["rows"]).all()
    assert (rows_needed(clf, 0.3, prevalence=0.5)["rows"] <= table["rows"]).all()


@pytest.mark.parametrize(
    ("name", "value"), [("width", 0), ("width", 1.5), ("level", 1), ("prevalence", -1)]
)
def test_wrong_numbers_are_named(fitted, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        rows_needed(fitted(pool="threshold"), **{"width": 0.1, name: value})


def drifted(clf, batch, **changes):
    """Adapt to a batch, and pretend that drift was found in group 0."""
    adaptation = clf.adapt(batch.X, sensitive_features=batch.z)
    without_labels = {}
    for name in ("estimate", "low", "high"):
        if name in changes:
            without_labels[f"label_free_{name}"] = changes[name]
    found = replace(adaptation.groups[0], **changes, **without_labels)
    return replace(adaptation, groups={**adaptation.groups, 0: found})


def test_drift_asks_for_more_rows_and_sets_a_limit(fitted, batch):
    clf = fitted(pool="threshold")
    plain = rows_needed(clf, 0.4)
    found = {"estimate": 0.3, "prior_shift_estimate": 0.34, "held_back": 0.4}
    adaptation = drifted(clf, batch, drift=0.05, low=0.1, high=0.6, **found)
    more = rows_needed(clf, 0.4, adaptation=adaptation)
    assert more.loc[0, "narrowest"] > plain.loc[0, "narrowest"]
    assert more.loc[0, "rows"] >= plain.loc[0, "rows"]
    assert more.loc[1].tolist() == plain.loc[1].tolist()
    # Below the width of drift itself no number of rows is enough.
    assert rows_needed(clf, 0.05, adaptation=adaptation).loc[0, "rows"] == np.inf


def test_where_nothing_can_be_told_no_rows_help(fitted, batch):
    clf = fitted(pool="threshold")
    lost = drifted(clf, batch, low=0.0, high=1.0, held_back=1.0)
    assert rows_needed(clf, 0.5, adaptation=lost).loc[0].tolist() == [np.inf, 1.0]
    without = drifted(clf, batch, held_back=0.0)
    same = rows_needed(clf, 0.5, adaptation=without)
    assert same.equals(rows_needed(clf, 0.5))


def test_the_adaptation_must_be_of_the_model(fitted, batch):
    clf = fitted(pool="threshold")
    foreign = replace(clf.adapt(batch.X, sensitive_features=batch.z), fingerprint="x")
    with pytest.raises(ValueError, match="adaptation must come from this model"):
        rows_needed(clf, 0.5, adaptation=foreign)
