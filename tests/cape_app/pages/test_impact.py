"""Selection rates and impact ratios: by hand, and as others compute them."""

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest

from cape_app.pages._audit import impact_tables

PEOPLE = pd.DataFrame(
    [
        ("f", "a", 60, 24),
        ("f", "b", 30, 9),
        ("f", "c", 1, 1),
        ("f", "(missing)", 5, 5),
        ("m", "a", 78, 39),
        ("m", "b", 20, 2),
        ("m", "c", 2, 2),
        ("(missing)", "a", 4, 0),
    ],
    columns=["sex", "race", "n", "selected"],
)
"""200 rows; 196 have a sex, 195 a race and 191 both. "c" is 3 of 195: below 2 %."""

BY_HAND = {
    ("sex", "f"): (96, 39, 39 / 96, (39 / 96) / (43 / 100)),
    ("sex", "m"): (100, 43, 43 / 100, 1),
    ("race", "a"): (142, 63, 63 / 142, 1),
    ("race", "b"): (50, 11, 11 / 50, (11 / 50) / (63 / 142)),
    # All three are selected, and they are not the highest rate.
    ("race", "c"): (3, 3, 1, None),
    ("sex x race", "f, a"): (60, 24, 0.4, 0.8),
    ("sex x race", "f, b"): (30, 9, 0.3, 0.6),
    ("sex x race", "f, c"): (1, 1, 1, None),
    ("sex x race", "m, a"): (78, 39, 0.5, 1),
    ("sex x race", "m, b"): (20, 2, 0.1, 0.2),
    ("sex x race", "m, c"): (2, 2, 1, None),
}


def tables_of(people, confusion, columns=("sex", "race")):
    """Count people as the command does; a prediction is right by itself."""
    counts = {}
    for _, row in people.iterrows():
        group = tuple(row[list(columns)])
        cells = confusion(row["selected"], 0, 0, row["n"] - row["selected"])
        counts[group if len(columns) > 1 else group[0]] = cells
    return impact_tables(counts, list(columns))


def test_the_table_is_that_by_hand(confusion):
    tables = tables_of(PEOPLE, confusion)
    found = {}
    for name, table in tables.items():
        for row in table["categories"]:
            category, *numbers = row.values()
            found[name, category] = numbers
    assert list(found) == list(BY_HAND)
    for place, expected in BY_HAND.items():
        np.testing.assert_allclose(
            np.array(found[place], float), np.array(expected, float)
        )
    unknown = {name: table["unknown"] for name, table in tables.items()}
    assert unknown == {"sex": 4, "race": 5, "sex x race": 9}


@pytest.mark.parametrize("columns", [["sex"], ["race"], ["sex", "race"]])
def test_rates_are_fairlearn_s(confusion, columns):
    known = PEOPLE[PEOPLE["sex"].isin(["f", "m"]) & PEOPLE["race"].isin(["a", "b"])]
    rows = known.loc[known.index.repeat(known["n"])]
    place = rows.groupby(["sex", "race"]).cumcount()
    chosen = (place < rows["selected"]).to_numpy()
    frame = fairlearn.MetricFrame(
        metrics=fairlearn.selection_rate,
        y_true=chosen,
        y_pred=chosen,
        sensitive_features=rows[columns],
    )
    tables = tables_of(known, confusion)
    ours = pd.DataFrame(tables[" x ".join(columns)]["categories"])
    np.testing.assert_allclose(ours["rate"], frame.by_group)
    ratios = frame.by_group / frame.group_max()
    np.testing.assert_allclose(ours["impact_ratio"], ratios)


def test_where_nobody_is_selected_there_is_no_ratio(confusion):
    nobody = PEOPLE[PEOPLE["race"] == "a"].assign(selected=0)
    for row in tables_of(nobody, confusion)["sex"]["categories"]:
        assert (row["rate"], row["impact_ratio"]) == (0, None)
