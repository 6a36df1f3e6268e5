"""Names of batches on an axis: dates where they are dates, with gaps."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.report._monitor import batch_labels, with_gaps


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["2024-01.csv", "2024-02.csv"], ["2024-01", "2024-02"]),
        (["a_20240131.csv", "a_20240229.csv"], ["2024-01-31", "2024-02-29"]),
        # Out of order, mixed, twice, or in a longer number: no dates.
        (["2024-02.csv", "2024-01.csv"], ["2024-02", "2024-01"]),
        (["x2024-01.csv", "x2024-02-01.csv"], ["x2024-01", "x2024-02-01"]),
        (["v1_2024-01.csv", "v2_2024-01.csv"], ["v1_2024-01", "v2_2024-01"]),
        (["120240101.csv", "120240102.csv"], ["120240101", "120240102"]),
        (["2024-13.csv", "2024-14.csv"], ["2024-13", "2024-14"]),
        # Without their endings two names would be one.
        (["a.csv", "a.parquet"], ["a.csv", "a.parquet"]),
        (["north.csv", "south.csv"], ["north", "south"]),
    ],
)
def test_labels(names, labels):
    assert batch_labels(names) == labels


@pytest.mark.parametrize(
    ("labels", "steps"),
    [
        (["2023-11", "2024-02"], ["2023-11", "2023-12", "2024-01", "2024-02"]),
        (["2024-02-28", "2024-02-29", "2024-03-02"], 4),
        # No regular steps, no such day, one label, a span of many years: as they are.
        (["2024-01-01", "2024-01-03", "2024-01-08"], 3),
        (["2024-02-30", "2024-02-31"], 2),
        (["2024-01"], 1),
        (["1970-01", "2024-01"], 2),
    ],
)
def test_gaps(labels, steps):
    found = with_gaps(labels)
    assert set(labels) <= set(found)
    assert found == steps if isinstance(steps, list) else len(found) == steps


@given(st.sets(st.integers(0, 60), min_size=2))
def test_no_month_is_lost_and_months_have_no_gap(months):
    first = pd.Period("2019-07", freq="M")
    labels = [str(first + month) for month in sorted(months)]
    found = with_gaps(batch_labels([f"sales {label}.csv" for label in labels]))
    assert len(found) == max(months) - min(months) + 1
    assert [label for label in found if label in labels] == labels
