"""The audit: values, intervals whose cover is known, and how results are shown."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import Estimate
from cape.metrics import Audit, audit, fairness_table, proportional_equality_matrix
from cape.metrics._audit import Finding, audit_counts
from cape.metrics._rates import Confusion

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
    assert {metric for _, metric in table.index} == AUDITED
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


COUNTS = {
    "a": Confusion(tp=30, fp=10, fn=10, tn=50, rows=100),
    "b": Confusion(tp=20, fp=30, fn=20, tn=130, rows=200),
    "c": Confusion(tp=40, fp=20, fn=20, tn=70, rows=150),
}


@pytest.fixture(scope="module")
def three_groups():
    return audit_counts(COUNTS, n_resamples=100)


def test_pairs_are_ordered_and_complete(three_groups):
    pairs = three_groups.pairs()
    assert pairs.index.names == ["group", "other", "metric"]
    ordered = {(group, other) for group, other, _ in pairs.index}
    assert len(ordered) == 6
    assert all(group != other for group, other in ordered)
    value = pairs.loc[("a", "b", "accuracy_difference"), "value"]
    assert value == pytest.approx(0.8 - 0.75)
    opposite = pairs.loc[("b", "a", "accuracy_difference"), "value"]
    assert opposite == pytest.approx(-value)


def test_one_group_has_a_table_and_no_pairs():
    result = audit_counts({"a": COUNTS["a"]}, n_resamples=10)
    assert len(result.table()) == 7
    pairs = result.pairs()
    assert len(pairs) == 0
    assert pairs.index.names == ["group", "other", "metric"]
    assert result.to_dict()["pairs"] == []


@pytest.mark.parametrize(("n_groups", "compared"), [(30, True), (31, False)])
def test_many_groups_are_compared_only_on_request(n_groups, compared):
    groups = dict.fromkeys(range(n_groups), COUNTS["a"])
    result = audit_counts(groups, n_resamples=2)
    assert bool(result.between) == compared
    opposite = audit_counts(groups, n_resamples=2, pairs=not compared)
    assert bool(opposite.between) != compared


def test_the_dict_says_the_same_as_the_tables(three_groups):
    content = json.loads(json.dumps(three_groups.to_dict(), allow_nan=False))
    assert content["level"] == 0.95
    table = three_groups.table()
    for entry in content["groups"]:
        assert "other" not in entry
        row = table.loc[(entry["group"], entry["metric"])]
        assert entry["value"] == row["value"]
        assert entry["low"] == row["low"]
        assert entry["high"] == row["high"]
        assert entry["rows"] == row["rows"]
        assert entry["enough"] == row["enough"]
    pairs = three_groups.pairs()
    for entry in content["pairs"]:
        key = (entry["group"], entry["other"], entry["metric"])
        assert entry["value"] == pairs.loc[key, "value"]


def test_combinations_of_columns_are_named_in_words_everywhere():
    groups = pd.DataFrame({"sex": ["f", "m"] * 20, "old": [0, 0, 1, 1] * 10})
    result = audit([0, 1] * 20, [1, 0] * 20, sensitive_features=groups, n_resamples=5)
    labels = set(result.table().index.get_level_values("group"))
    assert labels == {"f, 0", "f, 1", "m, 0", "m, 1"}
    assert {entry["group"] for entry in result.to_dict()["groups"]} == labels
    assert "\n  f, 0 " in repr(result)
    assert "worst pair: m, 0 / m, 1: fnr_difference" in repr(result)
    # The findings keep the combination itself.
    assert result.findings[0].group == ("f", 0)


def test_text_shows_value_interval_rows_and_doubt():
    certain = Finding("fpr", "a", None, Estimate(0.25, 0.125, 0.5), 90, enough=True)
    doubtful = Finding("pe", "a", "b", Estimate(2.0, 0.5, 9.0), 4, enough=False)
    lines = repr(Audit((certain,), (doubtful,), level=0.9)).splitlines()
    assert lines == [
        "Audit(level=0.9",
        "  a: fpr 0.250 (0.125 to 0.500), 90 rows",
        "  a / b: pe too few rows (0.500 to 9.000), 4 rows",
        ")",
    ]


def test_text_of_many_groups_is_a_screen():
    counts = {}
    for number in range(30):
        positives = 10 + number
        counts[f"g{number}"] = replace(COUNTS["a"], tp=positives, rows=positives + 70)
    audited = audit_counts(counts, n_resamples=20)
    lines = repr(audited).splitlines()
    assert len(lines) <= 24
    assert "  and 18 more groups" in lines
    assert f"  pairs() has all {len(audited.between)} findings between pairs" in lines
    pairs = audited.pairs()
    for metric, finding in audited.worst_pairs().items():
        values = pairs.xs(metric, level="metric")["value"]
        is_ratio = metric.endswith("_ratio")
        assert finding.estimate.value == (values.min() if is_ratio else values.max())
        [line] = [line for line in lines if f": {metric} " in line]
        assert f"{finding.group} / {finding.other}" in line
        _, low, high = finding.estimate
        assert f"({low:.3f} to {high:.3f})" in line


def test_two_groups_are_told_whole():
    two = audit_counts({"a": COUNTS["a"], "b": COUNTS["b"]}, n_resamples=20)
    lines = repr(two).splitlines()
    assert len(lines) == 2 + len(two.findings) + len(two.between)


def test_pairs_of_few_rows_are_never_the_worst():
    few = Finding("pe", "a", "b", Estimate(9.0, 0.5, 9.0), 4, enough=False)
    many = Finding("pe", "b", "a", Estimate(0.1, 0.0, 0.3), 40, enough=True)
    undefined = Finding("pe", "c", "a", Estimate(np.nan, 0.0, 0.3), 40, enough=False)
    audited = Audit((), (few, many, undefined), level=0.9)
    assert audited.worst_pairs() == {"pe": many}
    assert Audit((), (few,), level=0.9).worst_pairs() == {}


@pytest.mark.parametrize(
    ("rows", "enough"), [(8, False), (9, False), (10, True), (400, True)]
)
def test_enough_needs_ten_rows(rows, enough):
    counts = Confusion(tp=0, fp=0, fn=0, tn=rows, rows=rows)
    table = audit_counts({"a": counts}, n_resamples=50).table()
    assert table.loc[("a", "accuracy"), "enough"] == enough


def test_rows_of_which_few_have_all_the_weight_are_few():
    group = Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)
    for worth, enough in ((9.9, False), (10.0, True)):
        table = audit_counts({"a": group}, worth=[worth], n_resamples=50).table()
        assert table.loc[("a", "accuracy"), "enough"] == enough
        assert table.loc[("a", "accuracy"), "rows"] == 100


def test_a_pair_has_as_few_rows_as_either_group_is_worth():
    group = Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)
    more = Confusion(tp=60, fp=20, fn=20, tn=100, rows=200)
    # The group with more rows is the one that is worth fewer.
    result = audit_counts({"a": group, "b": more}, worth=[100.0, 3.0], n_resamples=50)
    assert result.table().loc["a", "enough"].all()
    assert not result.pairs()["enough"].any()
    assert (result.pairs().xs("pe", level="metric")["rows"] == 100).all()


@pytest.mark.parametrize(
    ("value", "rows", "enough", "why"),
    [
        (0.5, 10, True, None),
        (0.5, 9, False, "too few rows"),
        (np.nan, 1, False, "too few rows"),
        (np.nan, 0, False, "undefined"),
        (np.nan, 500, False, "undefined"),
    ],
)
def test_a_finding_says_why_it_says_nothing(value, rows, enough, why):
    finding = Finding("pe", "a", "b", Estimate(value, 0.0, 1.0), rows, enough=enough)
    assert finding.why == why
    (entry,) = Audit((), (finding,), level=0.95).to_dict()["pairs"]
    assert entry["why"] == why
    assert (entry["value"] is None) == (why is not None)
    assert (entry["low"], entry["high"]) == (0, 1)


small_counts = st.lists(st.integers(0, 4), min_size=4, max_size=4).map(
    lambda cells: Confusion(*map(float, cells), rows=sum(cells))
)


@settings(max_examples=25)
@given(small_counts, small_counts)
def test_intervals_of_small_groups_hold_their_values_and_are_never_points(one, other):
    result = audit_counts({"a": one, "b": other}, n_resamples=200)
    for finding in (*result.findings, *result.between):
        assert finding.estimate.width > 0.05
        value, low, high = finding.estimate
        assert np.isnan(value) or low <= value <= high


@settings(max_examples=20)
@given(st.lists(st.integers(0, 30), min_size=4, max_size=4), st.integers(2, 9))
def test_effective_rows_below_the_number_of_rows_widen_intervals(counts, factor):
    tp, fp, fn, tn = counts
    total = tp + fp + fn + tn + 1
    group = Confusion(tp=tp, fp=fp, fn=fn, tn=tn + 1, rows=total)
    plain = audit_counts({"a": group}, n_resamples=10).table()
    fewer = audit_counts({"a": group}, worth=[total / factor], n_resamples=10).table()
    rates = plain.drop(("a", "pd")).index
    np.testing.assert_array_equal(plain["value"], fewer["value"])
    width = plain.loc[rates, "high"] - plain.loc[rates, "low"]
    wider = fewer.loc[rates, "high"] - fewer.loc[rates, "low"]
    assert (wider >= width - 1e-12).all()


def test_a_generator_or_none_may_seed_the_draws():
    seeded = audit_counts(COUNTS, n_resamples=20, random_state=3)
    generator = np.random.default_rng(3)
    assert audit_counts(COUNTS, n_resamples=20, random_state=generator) == seeded
    unseeded = audit_counts(COUNTS, n_resamples=20, random_state=None)
    values = unseeded.table()["value"]
    pd.testing.assert_series_equal(values, seeded.table()["value"])
