"""Between groups: proportional equality of pairs, and the difference of a rate over all groups."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._groups import Group, group_name
from cape.metrics._rates import Confusion, confusion_by_group

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "pe_of_pairs",
    "proportional_equality",
    "proportional_equality_matrix",
    "worst_pe",
]


def proportional_equality_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> pd.DataFrame:
    """PE of all ordered pairs of groups: |rho_z / rho_z' - rho-hat_z / rho-hat_z'|, row z and column z'. 0 is best.

    PE is not symmetric. A pair whose denominator is 0 is undefined: NaN, with a warning.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    sensitive_features : array-like or table of n_samples rows
    sample_weight : array-like of shape (n_samples,), default=None
    pos_label : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    DataFrame with a row and a column for each group

    Examples
    --------
    >>> proportional_equality_matrix([1, 0, 1, 1], [1, 1, 1, 0], sensitive_features=["a", "a", "b", "b"]).loc["a", "b"]
    np.float64(1.5)
    """
    import pandas as pd

    groups = confusion_by_group(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        pos_label=pos_label,
    )
    names = [group_name(g) if isinstance(g, tuple) else g for g in groups]
    return pd.DataFrame(pe_of_pairs(groups), index=names, columns=names)


def proportional_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """PE of the worst ordered pair of groups. 0 is best; there is no upper limit.

    Pairs that are undefined (a group without positives, or without predicted positives, in the denominator) are left
    out with a warning; NaN when no pair is defined.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    sensitive_features : array-like or table of n_samples rows
    sample_weight : array-like of shape (n_samples,), default=None
    pos_label : label, default=None
        None is the greater of the two labels.

    Returns
    -------
    float

    Examples
    --------
    >>> proportional_equality([1, 0, 1, 1], [1, 1, 1, 0], sensitive_features=["a", "a", "b", "b"])
    1.5
    """
    return worst_pe(
        confusion_by_group(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
    )


def pe_of_pairs(groups: Mapping[Group, Confusion]) -> np.ndarray:
    """PE of all ordered pairs, from the groups' confusion counts."""
    rho = np.array([c.prevalence for c in groups.values()])
    rho_hat = np.array([c.predicted_prevalence for c in groups.values()])
    undefined = [
        group_name(g)
        for g, low in zip(groups, np.minimum(rho, rho_hat), strict=True)
        if low == 0
    ]
    if undefined and len(groups) > 1:
        warnings.warn(
            f"proportional equality is undefined relative to groups without positives or without predicted positives: "
            f"{', '.join(map(repr, undefined))}; NaN there.",
            stacklevel=4,
        )
    return np.abs(_ratios(rho) - _ratios(rho_hat))


def worst_pe(groups: Mapping[Group, Confusion]) -> float:
    """The greatest PE of any ordered pair; NaN if none is defined, 0 for one group."""
    pairs = pe_of_pairs(groups)
    off_diagonal = pairs[~np.eye(len(pairs), dtype=bool)]
    if len(pairs) == 1:
        return 0.0
    return (
        float(np.nanmax(off_diagonal))
        if not np.isnan(off_diagonal).all()
        else float("nan")
    )


def _ratios(values: np.ndarray) -> np.ndarray:
    return np.divide(
        values[:, None],
        values,
        out=np.full((len(values),) * 2, np.nan),
        where=values != 0,
    )
