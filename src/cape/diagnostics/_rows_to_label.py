"""Which rows of a batch to label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from cape._drift import mean_score
from cape._groups import Group, group_name
from cape._labelled import RowDraw, Strata, cells_of_rows, share_out, stratify
from cape._prediction import batch_of, estimate_groups, read_batch
from cape._validation import check_choice
from cape.classifier import CapeClassifier
from cape.diagnostics._labels_needed import labels_needed
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelPlan", "RowsToLabel", "rows_to_label"]

_SPREADS = ("equal", "proportional")


@dataclass(frozen=True)
class LabelPlan:
    """How many rows to label, and how they are spread over the groups.

    Parameters
    ----------
    n : int or None, default=None
        Rows in all.
    spread : {"equal", "proportional"}, default="equal"
        How ``n`` rows are shared out to the groups.
    width : float or None, default=None
        In place of ``n``: as many rows of each group as `labels_needed` says for an
        interval of this width.
    """

    n: int | None = None
    spread: str = "equal"
    width: float | None = None

    def __post_init__(self) -> None:
        check_choice("spread", self.spread, _SPREADS)
        if (self.n is None) == (self.width is None):
            given = "neither" if self.n is None else "both"
            raise ValueError(f"exactly one of n and width must be given, got {given}.")
        if self.n is not None and (not isinstance(self.n, Integral) or self.n < 1):
            raise ValueError(f"n must be a whole number from 1 on, got {self.n!r}.")

    def strata(
        self,
        clf: CapeClassifier,
        evidence: Evidence,
        cells: dict[Group, np.ndarray],
    ) -> dict[Group, Strata]:
        """Plan how many rows to draw from which scores of each group.

        Parameters
        ----------
        clf : CapeClassifier
        evidence : Evidence
            Of the batch.
        cells : dict from group to ndarray of int of shape (n_cells,)
            Rows of the batch in each cell of the score of its group.

        Returns
        -------
        dict from group to Strata
        """
        groups = list(cells)
        rows = np.array([cells[group].sum() for group in groups])
        if self.width is None:
            sizes = share_out(rows, int(self.n or 0), self.spread)
        else:
            needed = labels_needed(clf, evidence, self.width)["labels"].to_numpy()
            of_group = dict(zip(evidence.groups, needed, strict=True))
            sizes = np.array([of_group[group] for group in groups])
        models = {group: clf.model_of(group) for group in groups}
        estimates = estimate_groups(models, evidence.groups)
        strata = {}
        for group, n_drawn in zip(groups, sizes, strict=True):
            strata[group] = stratify(
                models[group],
                cells[group],
                int(n_drawn),
                estimates[group].estimate,
                mean_score(models[group], evidence.groups[group]),
            )
        return strata


@dataclass(frozen=True, repr=False)
class RowsToLabel:
    """Result of `rows_to_label`: rows, and the probability with which each was drawn.

    Parameters
    ----------
    rows : ndarray of int of shape (n_drawn,)
        Positions in the batch, each once, in an order in which the first rows are a
        sample as well: whoever labels them can stop early.
    groups : list of shape (n_drawn,)
        Groups of these rows.
    inclusion_probability : ndarray of float of shape (n_rows,)
        Of every row of the batch, drawn or not; `CapeClassifier.adapt` takes it.
    """

    rows: np.ndarray
    groups: Sequence[Group]
    inclusion_probability: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def table(self) -> pd.DataFrame:
        """Return the rows as a data frame.

        Returns
        -------
        DataFrame
            With the columns ``row``, ``group`` and ``inclusion_probability``.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "row": self.rows,
                "group": pd.Series(list(self.groups), dtype=object),
                "inclusion_probability": self.inclusion_probability[self.rows],
            }
        )

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for group in self.groups:
            name = group_name(group)
            counts[name] = counts.get(name, 0) + 1
        listed = [f"{name}: {count}" for name, count in sorted(counts.items())]
        n_rows = len(self.inclusion_probability)
        return f"RowsToLabel({len(self)} of {n_rows} rows; {', '.join(listed)})"


def rows_to_label(
    clf: CapeClassifier,
    X: Any,
    *,
    sensitive_features: Any = None,
    n: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    random_state: Any = 0,
) -> RowsToLabel:
    """Draw rows of a batch, so that their labels say most of the prevalences.

    The draw is random, without replacement, and more rows are drawn where the score
    tells less of the label. Within a group, rows are cut into six strata of their score
    with as many rows each, and a stratum gets labels in proportion to the standard
    deviation of its labels that is to be expected (Neyman's allocation). Groups with
    fewer than 50 labels are drawn plainly, since strata gain nothing there.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_rows, n_columns)
        The batch.
    sensitive_features : array-like or table, default=None
        Groups, as in ``clf.predict``.
    n : int, default=None
        Rows to draw, in all groups together. Fewer than ten labels of a group are not
        used, unless these are all its rows.
    spread : {"equal", "proportional"}, default="equal"
        Whether every group gets as many of the ``n`` labels, or as many as fit its
        share of the rows. A group smaller than its share is labelled completely, and
        the rest goes to the other groups.
    width : float in (0, 1), default=None
        In place of ``n``: draw as many rows of each group as `labels_needed` says for a
        95 % interval of this width.
    random_state : int, Generator or None, default=0
        The seed of the draw.

    Returns
    -------
    RowsToLabel
        With ``rows`` and, for `CapeClassifier.adapt`, ``inclusion_probability``.

    See Also
    --------
    labels_needed : How many labels an interval of a given width needs.

    References
    ----------
    J. Neyman (1934). On the two different aspects of the representative method: the
    method of stratified sampling and the method of purposive selection. Journal of the
    Royal Statistical Society 97, 558-625.

    Examples
    --------
    >>> from cape.diagnostics import rows_to_label
    >>> z = new.sensitive_features
    >>> drawn = rows_to_label(clf, new.data, sensitive_features=z, n=100)
    >>> drawn
    RowsToLabel(100 of 1000 rows; 0: 50, 1: 50)
    >>> y = np.full(len(new.data), None, dtype=object)
    >>> y[drawn.rows] = new.target.iloc[drawn.rows]
    >>> adaptation = clf.adapt(
    ...     new.data,
    ...     y,
    ...     sensitive_features=z,
    ...     inclusion_probability=drawn.inclusion_probability,
    ... )
    >>> adaptation.groups[0].labelled
    50
    """
    plan = LabelPlan(n, spread, width)
    batch = batch_of(clf, X, sensitive_features)
    readings, counted = read_batch(batch, probabilities=True)
    evidence = Evidence(clf.fingerprint_, counted)
    codes = np.asarray(batch.groups.codes)
    cells = np.zeros(len(batch), dtype=np.int64)
    for reading in readings:
        index = slice(None) if reading.index is None else reading.index
        cells[index] = cells_of_rows(reading.model.edges, reading.deciding)
    groups = list(batch.groups.keys)
    in_cells = {}
    for code, group in enumerate(groups):
        n_cells = len(batch.models[group].edges) + 1
        in_cells[group] = np.bincount(cells[codes == code], minlength=n_cells)
    strata = plan.strata(clf, evidence, in_cells)
    draw = RowDraw([strata[group] for group in groups], random_state)
    probabilities = draw.add(codes, cells)
    drawn = draw.result()
    groups_of_rows = [groups[code] for code in drawn.groups]
    return RowsToLabel(drawn.rows, groups_of_rows, probabilities)
