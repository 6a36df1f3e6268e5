"""Selection rates and impact ratios: how often the groups are selected, and how evenly.

They need decisions or scores, and no labels.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import MISSING_GROUP, check_groups, group_labels
from cape._validation import (
    check_labels,
    check_prevalence,
    check_same_length,
    check_scores,
    in_pandas,
    positive_label,
)

if TYPE_CHECKING:
    import pandas as pd

LEAST_SHARE = 0.02
"""Categories of a smaller share of the rows may be left out: 6 RCNY 5-301 (d)."""


def impact_ratios(
    y_pred: Any = None,
    *,
    y_score: Any = None,
    sensitive_features: Any,
    pos_label: Any = None,
    min_share: float = LEAST_SHARE,
) -> pd.DataFrame:
    """Compute selection rates and impact ratios, for each group column and all crossed.

    The table is that of a bias audit by New York City's Local Law 144 (6 RCNY 5-300 to
    5-304): selection rates of decisions, or *scoring rates*, which are the shares of a
    category with a score above the median of all rows; and the *impact ratio*, the rate
    of a category divided by the highest rate. It needs no labels. That law has no
    threshold, and the table is no legal advice.

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,), default=None
        Decisions of two values.
    y_score : array-like of shape (n_samples,), default=None
        Scores, instead of decisions.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_columns)
        Group columns, such as sex and race. Values may be missing.
    pos_label : label, default=None
        The decision that means "selected"; None takes the greater of the two.
    min_share : float in [0, 1], default=0.02
        Categories of a smaller share of a table's rows have no impact ratio, and are
        not the highest rate. With 0, all categories are compared.

    Returns
    -------
    DataFrame
        A row for each category of each table, with the columns ``table`` (the group
        column, or the names of all), ``category``, ``applicants``, ``selected``,
        ``selection_rate``, ``impact_ratio`` and ``status``: "compared", "small" (below
        ``min_share``) or "unknown", which counts the rows without a value in the
        table's columns. They are in no rate. With scores, the columns are
        ``above_median`` and ``scoring_rate``, and ``attrs["median"]`` is the median of
        all scores, unknown categories included.

    Raises
    ------
    ValueError
        If decisions and scores are both given or both missing, or if a row has none.

    Examples
    --------
    >>> frame = impact_ratios(
    ...     [1, 1, 0, 1, 0, 0, 1],
    ...     sensitive_features={"sex": ["f", "f", "f", "m", "m", "m", None]},
    ... )
    >>> frame[["category", "applicants", "selection_rate", "impact_ratio"]].round(2)
        category  applicants  selection_rate  impact_ratio
    0          f           3            0.67           1.0
    1          m           3            0.33           0.5
    2  (missing)           1             NaN           NaN
    """
    import pandas as pd

    if (y_pred is None) == (y_score is None):
        raise ValueError("impact_ratios must get either y_pred or y_score.")
    check_prevalence("min_share", min_share)
    selected, rate = "selected", "selection_rate"
    attributes: dict[Hashable | None, Any] = {}
    if y_score is None:
        decisions = check_labels(y_pred, "y_pred")
        chosen = decisions == positive_label(decisions, pos_label=pos_label)
    else:
        selected, rate = "above_median", "scoring_rate"
        scores = check_scores(y_score, "y_score")
        # The rules say "the full sample of applicants", unknown categories included.
        attributes["median"] = float(np.median(scores))
        chosen = scores > attributes["median"]
    features = pd.DataFrame(in_pandas(sensitive_features))
    check_same_length(y=chosen, sensitive_features=features)
    tables = {}
    for place, name in enumerate(features.columns):
        title = name if isinstance(name, str) else f"column {name}"
        tables[title] = features.iloc[:, [place]]
    if len(tables) > 1:
        tables[" x ".join(tables)] = features
    parts = []
    for name, columns in tables.items():
        part = _rates(columns, chosen, min_share)
        parts.append(part.assign(table=name))
    order = ["table", "category", "applicants", "selected", "rate", "impact_ratio"]
    frame = pd.concat(parts, ignore_index=True)[[*order, "status"]]
    frame = frame.rename(columns={"selected": selected, "rate": rate})
    frame.attrs = attributes
    return frame


def _rates(columns: Any, chosen: np.ndarray, min_share: float) -> pd.DataFrame:
    """Count the categories of one table, and divide by the highest rate."""
    import pandas as pd

    groups = check_groups(columns, missing="drop")
    n = np.bincount(groups.codes, minlength=len(groups.keys))
    n_chosen = np.bincount(groups.codes, weights=chosen, minlength=len(groups.keys))
    categories = list(group_labels(groups.keys).values())
    frame = pd.DataFrame({"category": categories, "applicants": n})
    frame["selected"] = n_chosen.astype(int)
    frame["status"] = "compared"
    is_unknown = np.array([key == MISSING_GROUP for key in groups.keys])
    known_rows = n[~is_unknown].sum()
    frame.loc[n < min_share * known_rows, "status"] = "small"
    frame.loc[is_unknown, "status"] = "unknown"
    # People of an unknown category are counted, and in no rate.
    rates = (frame["selected"] / n).mask(is_unknown)
    compared = rates.where(frame["status"] == "compared")
    frame["rate"] = rates
    # Where nobody is selected, 0 / 0 is NaN: there is no highest rate to compare with.
    frame["impact_ratio"] = compared / compared.max()
    last = frame["status"] == "unknown"
    return pd.concat([frame[~last], frame[last]])
