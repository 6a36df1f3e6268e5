"""The audit against scipy and statistics whose truth is known."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from cape.metrics import (
    Confusion,
    audit,
    audit_counts,
    fairness_table,
    proportional_equality_matrix,
)

RATES = {
    "fpr",
    "fnr",
    "accuracy",
    "precision",
    "prevalence",
    "predicted_prevalence",
    "pd",
}
PAIRS = {
    "pe",
    "fpr_difference",
    "fnr_difference",
    "accuracy_difference",
    "predicted_prevalence_difference",
    "predicted_prevalence_ratio",
}


def labels(random, rows, prevalence, tpr, fpr):
    y = random.random(rows) < prevalence
    return y.astype(int), (random.random(rows) < np.where(y, tpr, fpr)).astype(int)


@pytest.fixture
def two_groups():
    random = np.random.default_rng(0)
    y_of_a, predicted_of_a = labels(random, 300, 0.4, 0.8, 0.2)
    y_of_b, predicted_of_b = labels(random, 500, 0.6, 0.7, 0.3)
    y = np.r_[y_of_a, y_of_b]
    y_hat = np.r_[predicted_of_a, predicted_of_b]
    return y, y_hat, np.repeat(["a", "b"], [300, 500])


def test_values_are_those_of_the_fairness_table(two_groups):
    y, y_hat, z = two_groups
    result = audit(y, y_hat, sensitive_features=z)
    row = fairness_table(y, y_hat, sensitive_features=z)
    table = result.table()
    assert {metric for _, metric in table.index} == RATES
    for (group, metric), value in table["value"].items():
        if metric != "precision":
            assert value == pytest.approx(row[metric, group])
    of_a = (z == "a") & (y_hat == 1)
    assert table.loc[("a", "precision"), "value"] == pytest.approx(y[of_a].mean())
    assert table.loc[("a", "precision"), "rows"] == of_a.sum()
    pairs = result.pairs()
    assert {metric for _, _, metric in pairs.index} == PAIRS
    matrix = proportional_equality_matrix(y, y_hat, sensitive_features=z)
    assert pairs.loc[("a", "b", "pe"), "value"] == pytest.approx(matrix.loc["a", "b"])
    assert pairs.loc[("b", "a", "pe"), "value"] == pytest.approx(matrix.loc["b", "a"])
    difference = pairs.loc[("a", "b", "fpr_difference"), "value"]
    assert difference == pytest.approx(row["fpr", "a"] - row["fpr", "b"])
    ratios = pairs.xs("predicted_prevalence_ratio", level="metric")["value"]
    predicted = row["predicted_prevalence"]
    assert ratios["a", "b"] == pytest.approx(predicted["a"] / predicted["b"])
    assert ratios["a", "b"] * ratios["b", "a"] == pytest.approx(1)


def test_every_interval_holds_its_value_and_all_rows_are_counted(two_groups):
    y, y_hat, z = two_groups
    result = audit(y, y_hat, sensitive_features=z)
    for table in (result.table(), result.pairs()):
        assert (table["low"] <= table["value"] + 1e-12).all()
        assert (table["value"] <= table["high"] + 1e-12).all()
        assert table["enough"].all()
    rows = result.table()["rows"]
    assert rows["a", "accuracy"] == 300 and rows["b", "accuracy"] == 500
    assert rows["a", "fpr"] == ((y == 0) & (z == "a")).sum()
    assert rows["a", "fnr"] == ((y == 1) & (z == "a")).sum()
    assert result.pairs().loc[("a", "b", "pe"), "rows"] == 300


def test_the_same_seed_gives_the_same_audit_in_any_order_of_rows(two_groups):
    y, y_hat, z = two_groups
    order = np.random.default_rng(1).permutation(len(y))
    first = audit(y, y_hat, sensitive_features=z)
    again = audit(y[order], y_hat[order], sensitive_features=z[order])
    assert first == again
    assert first != audit(y, y_hat, sensitive_features=z, random_state=1)


def test_a_group_too_small_is_flagged(two_groups):
    y, y_hat, z = two_groups
    y = np.r_[y, [1, 0, 1]]
    y_hat = np.r_[y_hat, [1, 0, 0]]
    z = np.r_[z, ["c"] * 3]
    result = audit(y, y_hat, sensitive_features=z)
    enough = result.table()["enough"]
    assert not enough["c"].any() and enough["a"].all()
    assert not result.pairs().loc[("a", "c")]["enough"].any()
    row_of_c = re.search(r"^ *c +(.*)$", repr(result), re.MULTILINE)
    assert set(re.split(r"  +", row_of_c[1])) == {"too few rows"}
    for entry in result.to_dict()["pairs"]:
        too_few = "c" in (entry["group"], entry["other"])
        assert (entry["value"] is None) == too_few
        assert (entry["why"] == "too few rows") == too_few


def test_what_is_undefined_is_nan_with_the_widest_interval():
    result = audit([1, 1, 0, 0], [1, 1, 0, 0], sensitive_features=["a", "a", "b", "b"])
    fpr = result.table().loc[("a", "fpr")]
    assert np.isnan(fpr["value"])
    assert (fpr["low"], fpr["high"]) == (0, 1)
    assert fpr["rows"] == 0
    pe = result.pairs().loc[("a", "b", "pe")]
    assert np.isnan(pe["value"])
    assert pe["low"] == 0
    assert np.isinf(pe["high"])
    assert not pe["enough"]


def test_the_dict_is_json_and_complete(two_groups):
    y, y_hat, z = two_groups
    frame = pd.DataFrame({"one": z, "two": np.arange(len(z)) % 2})
    result = audit(y, y_hat, sensitive_features=frame)
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert {entry["group"] for entry in content["groups"]} == {
        "a, 0",
        "a, 1",
        "b, 0",
        "b, 1",
    }
    assert len(content["groups"]) == 4 * len(RATES)
    assert len(content["pairs"]) == 12 * len(PAIRS)
    undefined = audit([1, 0], [1, 0], sensitive_features=["a", "b"]).to_dict()
    assert json.dumps(undefined, allow_nan=False)


def test_weights_count_as_the_rows_they_are_worth(two_groups):
    y, y_hat, z = two_groups
    plain = audit(y, y_hat, sensitive_features=z).table()
    same = audit(
        y, y_hat, sensitive_features=z, sample_weight=np.full(len(y), 7.0)
    ).table()
    pd.testing.assert_frame_equal(plain, same)
    uneven = audit(
        y,
        y_hat,
        sensitive_features=z,
        sample_weight=np.where(np.arange(len(y)) % 10, 0.1, 9),
    ).table()
    width = plain["high"] - plain["low"]
    wider = uneven["high"] - uneven["low"]
    assert (wider > 1.2 * width).all()


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0}, {"n_resamples": 0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        audit([1, 0], [1, 0], sensitive_features=["a", "b"], **wrong)


@pytest.mark.parametrize("rows", [4, 12, 60, 400])
def test_intervals_hold_their_level(rows):
    """Of all kinds of metric, over draws from a population whose values are known."""
    random = np.random.default_rng(rows + 1)
    a, b = (0.4, 0.8, 0.2), (0.6, 0.7, 0.3)

    def predicted(rho, tpr, fpr):
        return rho * tpr + (1 - rho) * fpr

    def counts(rho, tpr, fpr):
        cells = [rho * tpr, (1 - rho) * fpr, rho * (1 - tpr), (1 - rho) * (1 - fpr)]
        return Confusion(*random.multinomial(rows, cells).tolist(), rows=rows)

    truth = {
        ("a", None, "fpr"): 0.2,
        ("a", None, "fnr"): 0.2,
        ("a", None, "pd"): abs(predicted(*a) - 0.4),
        ("b", None, "pd"): abs(predicted(*b) - 0.6),
        ("a", "b", "pe"): abs(0.4 / 0.6 - predicted(*a) / predicted(*b)),
        ("a", "b", "fpr_difference"): -0.1,
        ("a", "b", "predicted_prevalence_difference"): predicted(*a) - predicted(*b),
        ("a", "b", "predicted_prevalence_ratio"): predicted(*a) / predicted(*b),
    }
    held = {key: [] for key in truth}
    for _ in range(200):
        result = audit_counts({"a": counts(*a), "b": counts(*b)}, n_resamples=500)
        for finding in (*result.findings, *result.between):
            key = (finding.group, finding.other, finding.metric)
            if key in truth:
                held[key].append(
                    finding.estimate.low <= truth[key] <= finding.estimate.high
                )
    for key, values in held.items():
        assert len(values) == 200
        # Wilson's interval of one or two positives holds a rate of 0.2 in 85 %.
        assert np.mean(values) >= (0.9 if rows > 4 else 0.85), key
    # Few rows can have few values, and intervals that hold them more often than asked.
    assert 0.93 < np.mean(list(held.values())) < 0.985 + 0.05 / rows
