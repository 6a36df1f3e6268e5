"""Selection rates and impact ratios: by hand, and as others compute them."""

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest

from cape.files._audit import impact_ratios


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


def tables_of(frame):
    """Cut a table as the command does."""
    both = frame[["sex", "race"]]
    return {"sex": both[["sex"]], "race": both[["race"]], "sex x race": both}


def test_the_table_is_that_by_hand():
    found = impact_ratios(TABLE["chosen"].to_numpy(bool), tables_of(TABLE), 0.02)
    assert [*zip(found["table"], found["category"], strict=True)] == list(BY_HAND)
    for row, expected in zip(found.itertuples(), BY_HAND.values(), strict=True):
        numbers = [row.applicants, row.selected, row.rate, row.impact_ratio]
        np.testing.assert_allclose(numbers, np.array(expected, float))
        assert row.status == STATUS.get(row.category, "compared")


def test_rates_are_fairlearn_s():
    known = TABLE.dropna()
    chosen = known["chosen"].to_numpy(bool)
    found = impact_ratios(chosen, tables_of(known), 0)
    for name, columns in tables_of(known).items():
        frame = fairlearn.MetricFrame(
            metrics=fairlearn.selection_rate,
            y_true=chosen,
            y_pred=chosen,
            sensitive_features=columns,
        )
        ours = found[found["table"] == name]
        np.testing.assert_allclose(ours["rate"], frame.by_group)
        ratios = frame.by_group / frame.group_max()
        np.testing.assert_allclose(ours["impact_ratio"], ratios)
        assert ours["impact_ratio"].min() == pytest.approx(frame.ratio())


def test_the_worse_ratio_of_two_is_aif360_s():
    from aif360.sklearn.metrics import disparate_impact_ratio

    known = TABLE.dropna().set_index("sex")
    theirs = disparate_impact_ratio(known["chosen"], prot_attr="sex", priv_group="m")
    sexes = known.index.to_frame()
    found = impact_ratios(known["chosen"].to_numpy(bool), {"sex": sexes}, 0)
    assert found["impact_ratio"].tolist() == pytest.approx([theirs, 1])


def test_where_nobody_is_selected_there_is_no_ratio():
    found = impact_ratios(np.zeros(2, bool), {"z": pd.DataFrame({"z": ["a", "b"]})}, 0)
    assert found["rate"].tolist() == [0, 0]
    assert found["impact_ratio"].isna().all()
