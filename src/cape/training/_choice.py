"""Which learners there are: by name, for a user who names none, and for any table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from cape.base._numbers import quoted
from cape.base._validation import check_choice

LEARNERS = ("boosting", "logistic")
"""Names that `make_learner` accepts."""


def make_learner(name: str) -> Any:
    """Make an unfitted learner that takes text, categories, dates and missing values.

    Parameters
    ----------
    name : {"boosting", "logistic"}
        Histogram gradient boosting or logistic regression.

    Returns
    -------
    estimator
        The last step of skrub's tabular pipeline.

    Raises
    ------
    ValueError
        If ``name`` is not one of `LEARNERS`.

    Examples
    --------
    >>> make_learner("logistic").steps[-1][0]
    'logisticregression'
    """
    check_choice("learner", name, LEARNERS)
    from skrub import tabular_pipeline

    if name == "boosting":
        return tabular_pipeline(HistGradientBoostingClassifier())
    # Encoded text gives many correlated columns: the default of 100 iterations is often
    # too few.
    return tabular_pipeline(LogisticRegression(max_iter=1000))


_MANY_ROWS = 20_000
"""From here on a single boosting is worth a try. With 6,000 training rows of six public
sets, the mean of three had the lower log loss in five, and a loss higher by .0016 in
the sixth."""

_MANY_COLUMNS = 1000
_STRONGEST = 300
"""Of more columns, boosting reads only the strongest: all of them would take minutes a
training."""

_SMALL = {
    "max_leaf_nodes": 8,
    "learning_rate": 0.05,
    "max_iter": 500,
    "early_stopping": True,
}
"""Settings of a boosting for tables of a few thousand rows."""


def default_candidates(
    n_rows: int, n_columns: int = 1, *, weighted: bool = False
) -> dict[str, Any]:
    """List the learners that may serve a table of such a size, the safest first.

    The mean probability of a logistic regression and two small boostings has, on small
    tables, a log loss as low as that of the best of the three, which nobody knows
    beforehand. On large tables a single boosting may be better. With many columns,
    boosting is best if few of them matter (log loss of .18 against .58 on 1,500 rows
    where 30 of 10,000 columns do), and the logistic regression if many do (.31 against
    .60 where 3,000 do).

    Parameters
    ----------
    n_rows : int
    n_columns : int, default=1
    weighted : bool, default=False
        Whether rows have weights, which a mean of several learners does not take.

    Returns
    -------
    dict from name to estimator
    """
    is_wide = n_columns > _MANY_COLUMNS
    of_boosting = f" (boosting: {_STRONGEST} columns)" if is_wide else ""
    small = _boosting(is_wide, **_SMALL)
    if weighted:
        return {f"boosting{of_boosting}": small}
    stumps = _boosting(is_wide, max_depth=2, max_iter=150, early_stopping=False)
    members = [("logistic", _logistic()), ("shallow", stumps), ("boosting", small)]
    vote = VotingClassifier(members, voting="soft")
    candidates: dict[str, Any] = {f"mean of three{of_boosting}": vote}
    if is_wide:
        candidates["logistic regression"] = _logistic()
    if n_rows >= _MANY_ROWS:
        candidates[f"boosting, default{of_boosting}"] = _boosting(is_wide)
    return candidates


def _logistic() -> Pipeline:
    # keep_empty_features: a column that is missing in one fold must not vanish.
    return make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(max_iter=1000),
    )


def _boosting(is_wide: bool, **settings: Any) -> Any:
    learner = HistGradientBoostingClassifier(**settings)
    if not is_wide:
        return learner
    # With so strong a penalty, coefficients are correlations of columns and labels.
    # They are computed in each fold anew: labels that are tested are never seen.
    strength = LogisticRegression(C=1e-4, max_iter=1000)
    selected = SelectFromModel(strength, max_features=_STRONGEST)
    imputed = SimpleImputer(keep_empty_features=True)
    return make_pipeline(imputed, StandardScaler(), selected, learner)


_MOST_NAMES = 5


def columns_to_encode(X: Any) -> list[str]:
    """List the columns of a data frame that a plain learner cannot read.

    These are columns of text, categories, dates or times, and columns with missing
    values. Arrays and sparse matrices have none: they go to the learner as they came.

    Examples
    --------
    >>> columns_to_encode(pd.DataFrame({"age": [1.0, 2.0], "race": ["a", "b"]}))
    ['race']
    """
    if not hasattr(X, "columns") or not hasattr(X, "shape"):
        return []
    names = []
    for name in X.columns:
        column = X[name]
        dtype = column.dtype
        is_number = isinstance(dtype, np.dtype) and dtype.kind in "biuf"
        if not is_number or column.isna().any():
            names.append(str(name))
    return names


def tabular(learner: Any, columns: list[str]) -> Any:
    """Put skrub's encoders in front of a learner.

    Parameters
    ----------
    learner : estimator
    columns : list of str
        The columns that need it, for the error without skrub.

    Returns
    -------
    Pipeline
    """
    try:
        from skrub import tabular_pipeline
    except ImportError as error:
        listed = ", ".join(map(repr, columns[:_MOST_NAMES]))
        raise ImportError(
            f"X has columns that need encoding ({listed}), which needs skrub: install "
            "cape-fair[app], or pass an estimator that takes X unchanged."
        ) from error
    return tabular_pipeline(learner)


_NOT_A_NUMBER = (
    "could not convert string",
    "must be a string or a real number",
    "could not be promoted",
    "setting an array element",
)
"""What numpy says of text, of dates and of lists in cells."""


def note_on_value(error: ValueError, X: Any) -> None:
    """Add to the error of a learner which columns of a batch hold the text it names.

    Parameters
    ----------
    error : ValueError
        What the learner raised. numpy names a value, and not its column.
    X : table
    """
    found = re.search("could not convert string to float: '(.*)'", str(error))
    if found and hasattr(X, "items"):
        names = [name for name, one in X.items() if (one.astype(str) == found[1]).any()]
        error.add_note(f"X has the text {found[1]!r} in {quoted(names, _MOST_NAMES)}.")


def note_on_text(error: TypeError | ValueError, X: Any) -> None:
    """Add to the error of a learner which columns it could not read.

    Parameters
    ----------
    error : TypeError or ValueError
        What the learner raised. numpy names a value, and not its column.
    X : table
    """
    columns = columns_to_encode(X)
    if not columns or not any(words in str(error) for words in _NOT_A_NUMBER):
        return
    listed = ", ".join(map(repr, columns[:_MOST_NAMES]))
    error.add_note(
        f"X has columns that need encoding ({listed}), and estimator gets X as it "
        "came: give a pipeline that encodes them, or None, which encodes by itself."
    )
