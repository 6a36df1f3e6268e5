"""Selection rates and impact ratios: by hand, as others compute them, and refused."""

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cape.metrics._impact import impact_ratios

KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


def people(*rows):
    """Make a table: sex, race, how many people, and how many of them are selected."""
    parts = []
    for sex, race, n, selected in rows:
        chosen = [1] * selected + [0] * (n - selected)
        parts.append(pd.DataFrame({"sex": sex, "race": race, "chosen": chosen}))
    return pd.concat(parts, ignore_index=True)


# 200 rows; 196 have a sex, 195 a race and 191 both. "c" is 3 of 195 rows: below 2 %.
TABLE = people(
    ("f", "a", 60, 24),
    ("f", "b", 30, 9),
    ("f", "c", 1, 1),
    ("f", None, 5, 5),
    ("m", "a", 78, 39),
    ("m", "b", 20, 2),
    ("m", "c", 2, 2),
    (None, "a", 4, 0),
)
BY_HAND = {
    ("sex", "f"): (96, 39, 39 / 96, (39 / 96) / (43 / 100)),
    ("sex", "m"): (100, 43, 43 / 100, 1),
    ("sex", "(missing)"): (4, 0, None, None),
    ("race", "a"): (142, 63, 63 / 142, 1),
    ("race", "b"): (50, 11, 11 / 50, (11 / 50) / (63 / 142)),
    # All three are selected, and they are not the highest rate.
    ("race", "c"): (3, 3, 1, None),
    ("race", "(missing)"): (5, 5, None, None),
    ("sex x race", "f, a"): (60, 24, 0.4, 0.8),
    ("sex x race", "f, b"): (30, 9, 0.3, 0.6),
    ("sex x race", "f, c"): (1, 1, 1, None),
    ("sex x race", "m, a"): (78, 39, 0.5, 1),
    ("sex x race", "m, b"): (20, 2, 0.1, 0.2),
    ("sex x race", "m, c"): (2, 2, 1, None),
    ("sex x race", "(missing)"): (9, 5, None, None),
}
STATUS = {"(missing)": "unknown", "c": "small", "f, c": "small", "m, c": "small"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_that_by_hand(kind):
    table = KINDS[kind](TABLE[["sex", "race"]])
    found = impact_ratios(TABLE["chosen"], sensitive_features=table)
    assert [*zip(found["table"], found["category"], strict=True)] == list(BY_HAND)
    for row, expected in zip(found.itertuples(), BY_HAND.values(), strict=True):
        numbers = [row.applicants, row.selected, row.selection_rate, row.impact_ratio]
        np.testing.assert_allclose(numbers, np.array(expected, float))
        assert row.status == STATUS.get(row.category, "compared")


def test_scores_are_compared_with_the_median_of_all_rows():
    scores = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    groups = pd.Series(["a", "a", "b", "b", "a", "b", "b", None, None], name="sex")
    found = impact_ratios(y_score=scores, sensitive_features=groups)
    # 5, and the row that has it is not above it. Of the known rows it would be 4.
    assert found.attrs["median"] == 5
    assert found["above_median"].tolist() == [0, 2, 2]
    np.testing.assert_allclose(found["scoring_rate"], [0, 0.5, np.nan])
    np.testing.assert_allclose(found["impact_ratio"], [0, 1, np.nan])


def test_rates_are_fairlearn_s():
    known = TABLE.dropna()
    found = impact_ratios(
        known["chosen"], sensitive_features=known[["sex", "race"]], min_share=0
    )
    for columns in (["sex"], ["race"], ["sex", "race"]):
        frame = fairlearn.MetricFrame(
            metrics=fairlearn.selection_rate,
            y_true=known["chosen"],
            y_pred=known["chosen"],
            sensitive_features=known[columns],
        )
        ours = found[found["table"] == " x ".join(columns)]
        np.testing.assert_allclose(ours["selection_rate"], frame.by_group)
        ratios = frame.by_group / frame.group_max()
        np.testing.assert_allclose(ours["impact_ratio"], ratios)
        assert ours["impact_ratio"].min() == pytest.approx(frame.ratio())


def test_the_worst_ratio_of_two_is_aif360_s():
    from aif360.sklearn.metrics import disparate_impact_ratio

    known = TABLE.dropna().set_index("sex")
    # The reference, 1 in AIF360's sense, is the sex with the higher rate.
    theirs = disparate_impact_ratio(known["chosen"], prot_attr="sex", priv_group="m")
    found = impact_ratios(known["chosen"], sensitive_features=known.index.to_series())
    assert found["impact_ratio"].tolist() == pytest.approx([theirs, 1])


def test_where_nobody_is_selected_there_is_no_ratio():
    found = impact_ratios([0, 0], sensitive_features=["a", "b"])
    assert found["selection_rate"].tolist() == [0, 0]
    assert found["impact_ratio"].isna().all()
    assert set(found["table"]) == {"column 0"}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "either y_pred or y_score"),
        ({"y_pred": [0, 1], "y_score": [0, 1]}, "either y_pred or y_score"),
        ({"y_pred": [0, 2, 1]}, "must hold two labels"),
        ({"y_pred": [0, None]}, "y_pred must have a label in every row"),
        ({"y_score": [0.5, np.nan]}, "y_score"),
        ({"y_score": [[0.5], [0.6]]}, "y_score must be a number for each row"),
        ({"y_pred": [0, 1, 1]}, "must have the same number of rows"),
        ({"y_pred": [0, 1], "min_share": 2}, r"min_share must be in \[0, 1\]"),
    ],
)
def test_what_cannot_be_counted_is_refused(given, match):
    with pytest.raises(ValueError, match=match):
        impact_ratios(**given, sensitive_features=["a", "b"])
