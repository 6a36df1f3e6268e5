"""The results of an audit as tables, dict and text."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import Estimate
from cape.metrics import Audit, Confusion, Finding, audit, audit_counts

COUNTS = {
    "a": Confusion(tp=30, fp=10, fn=10, tn=50, rows=100),
    "b": Confusion(tp=20, fp=30, fn=20, tn=130, rows=200),
    "c": Confusion(tp=40, fp=20, fn=20, tn=70, rows=150),
}


@pytest.fixture(scope="module")
def three_groups():
    return audit_counts(COUNTS, n_resamples=100)


def test_the_table_has_a_row_for_each_group_and_metric(three_groups):
    table = three_groups.table()
    assert table.index.names == ["group", "metric"]
    assert list(table.columns) == ["value", "low", "high", "rows", "enough"]
    assert len(table) == 3 * 7
    assert table.loc[("b", "prevalence"), "value"] == 0.2
    assert table.loc[("b", "predicted_prevalence"), "value"] == 0.25
    assert table.loc[("b", "pd"), "value"] == pytest.approx(0.05)
    assert table.loc[("b", "fpr"), "rows"] == 160


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


def test_numbers_that_are_not_finite_are_none_in_the_dict():
    counts = {
        "a": Confusion(tp=5, fp=0, fn=5, tn=0, rows=10),
        "b": Confusion(tp=0, fp=0, fn=0, tn=10, rows=10),
    }
    content = audit_counts(counts, n_resamples=10).to_dict()
    fpr = next(entry for entry in content["groups"] if entry["metric"] == "fpr")
    assert fpr["value"] is None
    assert (fpr["low"], fpr["high"]) == (0, 1)
    pe = next(entry for entry in content["pairs"] if entry["metric"] == "pe")
    assert (pe["group"], pe["other"]) == ("a", "b")
    assert pe["value"] is None
    assert pe["low"] == 0
    assert pe["high"] is None


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


def test_a_wide_interval_of_enough_rows_speaks_for_itself():
    half_right = {"a": Confusion(tp=3, fp=3, fn=3, tn=3, rows=12)}
    table = audit_counts(half_right, level=0.99, n_resamples=50).table()
    accuracy = table.loc[("a", "accuracy")]
    assert accuracy["high"] - accuracy["low"] > 0.5
    assert accuracy["enough"]


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


def test_one_person_against_one_person_may_be_anything():
    right = Confusion(tp=1, fp=0, fn=0, tn=0, rows=1)
    wrong = Confusion(tp=0, fp=1, fn=0, tn=0, rows=1)
    result = audit_counts({"a": right, "b": wrong})
    for finding in (*result.findings, *result.between):
        assert not finding.enough
        assert finding.estimate.width > 0.5
        # All ends are possible: no interval reaches beyond its scale.
        bounded = finding.metric not in ("pe", "predicted_prevalence_ratio")
        assert not bounded or max(map(abs, finding.estimate[1:])) <= 1
    for entry in result.to_dict()["pairs"]:
        assert entry["value"] is None


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


def test_pe_may_have_a_wide_interval():
    rare = Confusion(tp=5, fp=5, fn=5, tn=185, rows=200)
    common = Confusion(tp=100, fp=20, fn=20, tn=60, rows=200)
    pairs = audit_counts({"a": common, "b": rare}, n_resamples=200).pairs()
    pe = pairs.loc[("a", "b", "pe")]
    assert pe["high"] - pe["low"] > 0.5
    assert pe["enough"]


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


def test_every_group_needs_its_effective_rows():
    with pytest.raises(ValueError, match="zip"):
        audit_counts(COUNTS, worth=[10.0], n_resamples=2)


def test_a_generator_or_none_may_seed_the_draws():
    seeded = audit_counts(COUNTS, n_resamples=20, random_state=3)
    generator = np.random.default_rng(3)
    assert audit_counts(COUNTS, n_resamples=20, random_state=generator) == seeded
    unseeded = audit_counts(COUNTS, n_resamples=20, random_state=None)
    values = unseeded.table()["value"]
    pd.testing.assert_series_equal(values, seeded.table()["value"])
