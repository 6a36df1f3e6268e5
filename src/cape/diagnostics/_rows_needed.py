"""How many rows a batch needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cape._group_model import GroupModel
from cape._groups import group_name
from cape._validation import check_is_fitted, check_prevalence
from cape.classifier import CapeClassifier
from cape.quantify._base import Moments, moment_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rows_needed"]

_GRID = np.linspace(0.05, 0.95, 19)
_MOST = 10**9


def rows_needed(
    clf: CapeClassifier,
    width: float,
    *,
    level: float = 0.95,
    prevalence: float | None = None,
) -> pd.DataFrame:
    """Rows of each group that a batch needs for an interval of the prevalence no wider than ``width``.

    The noise of training does not shrink with the batch, so that some widths cannot be had at all.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    width : float in (0, 1)
        Of the interval, from its low end to its high one.
    level : float in (0, 1), default=0.95
    prevalence : float in [0, 1], default=None
        Of the batch; None is the one that needs most.

    Returns
    -------
    DataFrame
        Of each group ``rows`` (infinite where no batch is large enough) and ``narrowest``, the width that training
        alone leaves.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> rows_needed(clf, 0.2)["rows"].between(40, 80).all()
    np.True_
    >>> rows_needed(clf, 0.01)["rows"].tolist()
    [inf, inf]
    """
    import pandas as pd

    check_is_fitted(clf)
    check_prevalence("width", width, closed=False)
    check_prevalence("level", level, closed=False)
    grid = (
        _GRID
        if prevalence is None
        else np.array([check_prevalence("prevalence", prevalence)])
    )
    names, lines = [], []
    for group in clf.groups_:
        model = clf.models_[group]
        rows, narrowest = zip(
            *(_needed(model, rho, width, level) for rho in grid), strict=True
        )
        names.append(group_name(group) if isinstance(group, tuple) else group)
        lines.append([max(rows), max(narrowest)])
    return pd.DataFrame(
        lines, columns=["rows", "narrowest"], index=pd.Index(names, name="group")
    )


def _needed(
    model: GroupModel, rho: float, width: float, level: float
) -> tuple[float, float]:
    """Rows at one prevalence, by halving: the width falls as rows are added."""
    if not model.quantifier.informative_:
        return float("inf"), 1.0
    t, f = (
        Moments.of(model.quantifier._statistic(h, rho), h)
        for h in (model.positives, model.negatives)
    )

    def width_of(rows: float) -> float:
        low, high = moment_interval(
            t, f, Moments(f.mean + rho * (t.mean - f.mean), 0.0, rows), level
        )
        return high - low

    narrowest = width_of(float("inf"))
    if width_of(_MOST) > width:
        return float("inf"), narrowest
    low, high = 0, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width_of(middle) <= width else (middle, high)
    return float(high), narrowest
