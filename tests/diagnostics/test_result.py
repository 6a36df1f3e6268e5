"""What all results of the diagnostics share: one table, one dict."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._groups import group_labels, unique_names
from cape.diagnostics import (
    ExpectedPerformance,
    PrevalenceMoved,
    PriorShiftTest,
)
from cape.diagnostics._result import GroupResult, group_index, json_ready

groups = st.one_of(
    st.integers(),
    st.text(max_size=5),
    st.tuples(st.text(max_size=3), st.integers()),
)


@dataclass(frozen=True)
class Entry:
    rows: int
    rate: float


@dataclass(frozen=True)
class Result(GroupResult):
    groups: Mapping
    alpha: float = 0.05

    def _facts(self):
        return {"alpha": self.alpha}


@pytest.mark.parametrize("kind", [ExpectedPerformance, PrevalenceMoved, PriorShiftTest])
def test_every_result_has_the_shared_table_and_dict(kind):
    assert issubclass(kind, GroupResult)
    assert kind.table is GroupResult.table
    assert kind.to_dict is GroupResult.to_dict


@given(st.dictionaries(groups, st.floats(), max_size=5))
def test_table_and_dict_have_an_entry_a_group_in_the_order_given(rates):
    result = Result({group: Entry(1, rate) for group, rate in rates.items()})
    table = result.table()
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert len(table) == len(content["groups"]) == len(rates)
    assert content["alpha"] == 0.05
    labels = group_labels(rates)
    names = unique_names(rates)
    for row, entry, (group, rate) in zip(
        table.itertuples(), content["groups"], rates.items(), strict=True
    ):
        assert row.Index == labels[group]
        assert entry["group"] == names[group]
        if math.isfinite(rate):
            assert entry["rate"] == row.rate == rate
        else:
            assert entry["rate"] is None


def test_a_result_without_facts_has_its_groups_only():
    class Plain(GroupResult):
        groups = {"a": Entry(3, 0.5)}

    content = {"groups": [{"group": "a", "rows": 3, "rate": 0.5}]}
    assert Plain().to_dict() == content


def test_groups_of_several_columns_are_named_by_text():
    index = group_index([("x", 1), ("y", 2)])
    assert index.tolist() == ["x, 1", "y, 2"] and index.name == "group"
    assert group_index([3, 1]).tolist() == [3, 1]


def test_only_numbers_that_json_cannot_hold_become_none():
    values = {"a": math.inf, "b": -math.inf, "c": math.nan, "d": 0.0, "e": "nan"}
    expected = {"a": None, "b": None, "c": None, "d": 0.0, "e": "nan"}
    assert json_ready(values) == expected
    assert json_ready({"yes": True, "none": None, "n": 3}) == {
        "yes": True,
        "none": None,
        "n": 3,
    }
