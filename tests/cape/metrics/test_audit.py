"""The audit: values, intervals whose cover is known, and how results are shown."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.metrics import audit, fairness_table, proportional_equality_matrix
from cape.metrics._audit import audit_counts
from cape.metrics._rates import Confusion

sys.path.append(str(Path(__file__).parent))
from metric_rows import rows_of

AUDITED = {
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
# TP, FP, FN, TN
COUNTS = {"a": (30, 10, 10, 50), "b": (20, 30, 20, 130), "c": (1, 0, 1, 1)}


def audited(counts, **settings):
    y, y_hat, z = rows_of(**counts)
    return audit(y, y_hat, sensitive_features=z, **{"n_resamples": 100, **settings})


@pytest.fixture(scope="module")
def of_three():
    """Two groups of a hundred rows and more, and one of three rows."""
    return audited(COUNTS)


def test_values_are_those_of_the_fairness_table(of_three):
    y, y_hat, z = rows_of(**COUNTS)
    row = fairness_table(y, y_hat, sensitive_features=z)
    table = of_three.table()
    assert {metric for _, metric in table.index} == AUDITED
    for (group, metric), value in table["value"].items():
        if metric != "precision":
            assert value == pytest.approx(row[metric, group])
    assert table.loc[("a", "precision"), "value"] == pytest.approx(30 / 40)
    pairs = of_three.pairs()
    assert {metric for _, _, metric in pairs.index} == PAIRS
    matrix = proportional_equality_matrix(y, y_hat, sensitive_features=z)
    value = pairs["value"]
    assert len(value) == 6 * len(PAIRS)
    assert value["a", "b", "pe"] == pytest.approx(matrix.loc["a", "b"])
    assert value["b", "a", "pe"] == pytest.approx(matrix.loc["b", "a"])
    difference = row["fpr", "a"] - row["fpr", "b"]
    assert value["a", "b", "fpr_difference"] == pytest.approx(difference)
    predicted = row["predicted_prevalence"]
    ratio = predicted["a"] / predicted["b"]
    assert value["a", "b", "predicted_prevalence_ratio"] == pytest.approx(ratio)


def test_every_interval_holds_its_value_and_all_rows_are_counted(of_three):
    for table in (of_three.table(), of_three.pairs()):
        assert (table["low"] <= table["value"] + 1e-12).all()
        assert (table["value"] <= table["high"] + 1e-12).all()
    rows = of_three.table()["rows"]
    counted = {"accuracy": 100, "fpr": 60, "fnr": 40, "precision": 40}
    assert {metric: rows["a", metric] for metric in counted} == counted
    assert of_three.pairs().loc[("a", "b", "pe"), "rows"] == 100


def test_a_pair_turns_its_differences_with_the_pair(of_three):
    pairs = of_three.pairs()
    for (a, b, metric), one in pairs.iterrows():
        other = pairs.loc[(b, a, metric)]
        assert other["rows"] == one["rows"]
        if metric.endswith("_difference"):
            assert other["value"] == pytest.approx(-one["value"])
            assert other["low"] == pytest.approx(-one["high"])


def test_a_group_too_small_has_no_values_and_is_never_the_worst(of_three):
    enough = of_three.table()["enough"]
    assert not enough["c"].any() and enough["a"].all()
    content = json.loads(json.dumps(of_three.to_dict(), allow_nan=False))
    assert content["level"] == 0.95
    tables = {"groups": of_three.table(), "pairs": of_three.pairs()}
    for part, table in tables.items():
        assert len(content[part]) == len(table)
        for entry in content[part]:
            whose = [entry["group"]] + ([entry["other"]] if part == "pairs" else [])
            row = table.loc[(*whose, entry["metric"])]
            too_few = "c" in whose
            assert entry["enough"] == row["enough"] == (not too_few)
            assert entry["value"] == (None if too_few else row["value"])
            assert (entry["why"] == "too few rows") == too_few
            assert (entry["low"], entry["rows"]) == (row["low"], row["rows"])
    worst = of_three.worst_pairs()
    assert worst.keys() == PAIRS
    between = of_three.pairs()["value"].drop("c").drop("c", level="other")
    for metric, finding in worst.items():
        values = between.xs(metric, level="metric")
        expected = values.min() if metric.endswith("_ratio") else values.max()
        assert finding.estimate.value == expected


def test_the_same_seed_gives_the_same_audit_in_any_order_of_rows(of_three):
    y, y_hat, z = rows_of(**COUNTS)
    order = np.random.default_rng(1).permutation(len(y))
    settings = {"sensitive_features": z[order], "n_resamples": 100}
    assert audit(y[order], y_hat[order], **settings) == of_three
    assert audited(COUNTS, random_state=1) != of_three
    seeded = audited(COUNTS, random_state=np.random.default_rng(0))
    assert seeded == of_three
    values = audited(COUNTS, random_state=None).table()["value"]
    pd.testing.assert_series_equal(values, of_three.table()["value"])


@pytest.mark.parametrize(
    ("rows_of_a", "rows_of_b", "why"),
    [(1, 1, "too few rows"), (9, 500, "too few rows"), (500, 500, "undefined")],
)
def test_what_is_undefined_is_nan_with_the_widest_interval(rows_of_a, rows_of_b, why):
    result = audited({"a": (rows_of_a, 0, 0, 0), "b": (0, 0, 0, rows_of_b)})
    fpr = result.table().loc[("a", "fpr")]
    assert np.isnan(fpr["value"])
    assert (fpr["low"], fpr["high"], fpr["rows"]) == (0, 1, 0)
    pe = result.pairs().loc[("a", "b", "pe")]
    assert np.isnan(pe["value"])
    assert (pe["low"], pe["high"]) == (0, np.inf)
    assert not pe["enough"]
    [entry] = [
        entry
        for entry in result.to_dict()["pairs"]
        if (entry["group"], entry["metric"]) == ("a", "pe")
    ]
    assert entry["why"] == why
    assert entry["high"] is None


@pytest.mark.parametrize("rows", [9, 10])
def test_enough_needs_ten_rows(rows):
    table = audited({"a": (0, 0, 0, rows), "b": (1, 0, 0, 0)}).table()
    assert table.loc[("a", "accuracy"), "enough"] == (rows == 10)


def test_weights_count_as_the_rows_they_are_worth():
    two = {"a": COUNTS["a"], "b": COUNTS["b"]}
    n_rows = 300
    plain = audited(two)
    same = audited(two, sample_weight=np.full(n_rows, 7.0))
    pd.testing.assert_frame_equal(plain.table(), same.table())
    weights = np.where(np.arange(n_rows) % 10, 0.1, 9)
    uneven = audited(two, sample_weight=weights).table()
    width = plain.table()["high"] - plain.table()["low"]
    wider = uneven["high"] - uneven["low"]
    assert (wider > 1.2 * width).all()
    # A hundred rows of which three have all the weight are worth three.
    weights = np.ones(n_rows)
    weights[:100] = 1e-9
    weights[[0, 45, 99]] = 1
    heavy = audited(two, sample_weight=weights)
    assert heavy.table().loc[("a", "accuracy"), "rows"] == 100
    assert not heavy.table().loc["a", "enough"].any()
    assert heavy.table().loc["b", "enough"].all()
    assert not heavy.pairs()["enough"].any()


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0}, {"n_resamples": 0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        audited(COUNTS, **wrong)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [4, 12, 60, 400])
def test_intervals_hold_their_level(rows):
    """Of all kinds of metric, over draws from a population whose values are known."""
    random = np.random.default_rng(rows + 1)
    a, b = (0.4, 0.8, 0.2), (0.6, 0.7, 0.3)

    def predicted(rho, tpr, fpr):
        return rho * tpr + (1 - rho) * fpr

    def counts(rho, tpr, fpr):
        cells = [rho * tpr, (1 - rho) * fpr, rho * (1 - tpr), (1 - rho) * (1 - fpr)]
        return random.multinomial(rows, cells).tolist()

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
        drawn = {"a": counts(*a), "b": counts(*b)}
        result = audited(drawn, n_resamples=500, pos_label=1)
        for finding in (*result.findings, *result.between):
            key = (finding.group, finding.other, finding.metric)
            if key in truth:
                _, low, high = finding.estimate
                held[key].append(low <= truth[key] <= high)
    for key, values in held.items():
        assert len(values) == 200
        # Wilson's interval of one or two positives holds a rate of 0.2 in 85 %.
        assert np.mean(values) >= (0.9 if rows > 4 else 0.85), key
    # Few rows can have few values, and intervals that hold them more often than asked.
    assert 0.93 < np.mean(list(held.values())) < 0.985 + 0.05 / rows


def test_one_group_has_a_table_and_no_pairs():
    result = audited({"a": COUNTS["a"]})
    assert len(result.table()) == len(AUDITED)
    assert len(result.pairs()) == 0
    assert result.pairs().index.names == ["group", "other", "metric"]
    assert result.to_dict()["pairs"] == []


def test_many_groups_are_compared_only_on_request():
    groups = {f"g{number}": (1, 0, 0, 0) for number in range(31)}
    assert not audited(groups, pos_label=1).between
    assert audited(groups, pos_label=1, pairs=True, n_resamples=2).between
    groups.popitem()
    compared = audited(groups, pos_label=1, n_resamples=2)
    assert len(compared.between) == 6 * 30 * 29


def test_combinations_of_columns_are_named_in_words_everywhere():
    groups = pd.DataFrame({"sex": ["f", "m"] * 20, "old": [0, 0, 1, 1] * 10})
    result = audit([0, 1] * 20, [1, 0] * 20, sensitive_features=groups, n_resamples=5)
    labels = set(result.table().index.get_level_values("group"))
    assert labels == {"f, 0", "f, 1", "m, 0", "m, 1"}
    assert {entry["group"] for entry in result.to_dict()["groups"]} == labels
    assert "\nf, 0 " in repr(result)
    # The findings keep the combination itself.
    assert result.findings[0].group == ("f", 0)


small_counts = st.tuples(*[st.integers(0, 4)] * 4).filter(any)


@settings(max_examples=15)
@given(small_counts, small_counts)
def test_intervals_of_small_groups_hold_their_values_and_are_never_points(one, other):
    result = audited({"a": one, "b": other}, pos_label=1, n_resamples=200)
    for finding in (*result.findings, *result.between):
        assert finding.estimate.width > 0.05
        value, low, high = finding.estimate
        assert np.isnan(value) or low <= value <= high


SHARES = {"common": (0.3, 0.1, 0.1, 0.5), "rare": (0.02, 0.02, 0.02, 0.94)}


@pytest.mark.slow
@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("sizes", [[1000, 1000], [2000, 1000, 300, 80, 30, 12]])
def test_of_alike_groups_nineteen_audits_in_twenty_find_nothing(shares, sizes):
    random = np.random.default_rng(0)
    n = 300
    found = 0
    for seed in range(n):
        counts = {}
        for group, size in enumerate(sizes):
            cells = random.multinomial(size, SHARES[shares])
            counts[group] = Confusion(*map(float, cells), rows=size)
        found += bool(audit_counts(counts, random_state=seed).differences())
    # Two standard errors of a rate of 5 %.
    assert found / n <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)


def test_what_is_sure_leads_and_what_labels_explain_is_no_difference():
    counts = {
        "tiny": Confusion(2.0, 0.0, 5.0, 5.0, rows=12),
        "large": Confusion(300.0, 10.0, 150.0, 540.0, rows=1000),
        "fair": Confusion(80.0, 20.0, 20.0, 80.0, rows=200),
    }
    first, *rest = audit_counts(counts).differences()
    assert (first.metric, first.group, first.other) == ("pd", "large", None)
    assert first.estimate.value == pytest.approx(0.14)
    own = audit_counts(counts).table().loc[("large", "pd")]
    assert 0 < first.estimate.low < own["low"] < own["high"] < first.estimate.high
    # Shares of 45 and 50 % are predicted, as they are.
    assert not any(one.group == "fair" and one.metric == "pd" for one in rest)
    sure = [one.estimate.low for one in rest if one.metric != "pd"]
    assert sure == sorted(sure, reverse=True)
