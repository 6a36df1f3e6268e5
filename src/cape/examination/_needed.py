"""What labels say of estimates; how many labels or rows are needed; which to label."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate
from cape.base._groups import Group, GroupResult, group_table, unique_names
from cape.base._limits import CHANCE, FEWEST_LABELS, TOLERANCE
from cape.base._validation import (
    check_choice,
    check_fitted_cape,
    check_prevalence,
)
from cape.classifier import CapeClassifier
from cape.drift._past import PRIOR_SHIFT
from cape.drift._posterior import GroupPosterior, find_posterior, mean_score
from cape.evidence._evidence import Evidence
from cape.labels._draw import (
    NOTHING_DRAWN,
    RowDraw,
    Strata,
    cells_of_rows,
    enough_labels,
    share_out,
    stratify,
)
from cape.labels._planned import LabelsNeeded, labels_until
from cape.labels._sample import labelled_sample, score_cells
from cape.labels._use import read_labels
from cape.quantify._base import Moments, moment_interval
from cape.rules._adaptation import Adaptation, GroupAdaptation, refuted_groups
from cape.rules._deciding import adapt, estimate_groups
from cape.shown import _examination as words
from cape.shown._notebook import InNotebook
from cape.shown._results import describe_labels, few_labels, said_by_labels
from cape.training._group_model import GroupModel
from cape.training._reading import batch_of, read_batch

_PREVALENCES = np.linspace(0.05, 0.95, 19)
# More rows than any batch has.
_MOST_ROWS = 10**9

_SPREADS = ("equal", "proportional")
_SIMULATIONS = 100
_DEFAULT_LABELS = 100
"""Rows that are drawn if nobody says how many, and no group asks for labels."""


def rows_needed(
    clf: CapeClassifier,
    width: float,
    *,
    level: float = 0.95,
    prevalence: float | None = None,
) -> pd.DataFrame:
    """Compute how many rows of each group give an interval no wider than ``width``.

    The noise of training does not shrink with the batch, so some widths are out of
    reach. This needs no batch and assumes no drift.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    width : float in (0, 1)
        Width of the interval of the prevalence, from its low end to its high end.
    level : float in (0, 1), default=0.95
        Confidence level of the interval.
    prevalence : float in [0, 1], default=None
        Prevalence of the batch. None takes the prevalence that needs the most rows.

    Returns
    -------
    DataFrame
        For each group ``rows``, infinite if no batch is large enough, and
        ``narrowest``, the width that the noise of training leaves.

    Examples
    --------
    >>> from cape.examination import rows_needed
    >>> rows_needed(clf, 0.2)["rows"].between(40, 80).all()
    np.True_
    >>> rows_needed(clf, 0.01)["rows"].tolist()
    [inf, inf]
    """
    check_fitted_cape(clf)
    check_prevalence("width", width, closed=False)
    check_prevalence("level", level, closed=False)
    # No prevalence is known before the batch is, so that the worst of a grid is taken.
    prevalences = _PREVALENCES
    if prevalence is not None:
        prevalences = np.array([check_prevalence("prevalence", prevalence)])
    lines = []
    for group in clf.groups_:
        model = clf.model_of(group)
        needs = [rows_at(model, rho, width, level) for rho in prevalences]
        rows, narrowest = zip(*needs, strict=True)
        lines.append({"rows": max(rows), "narrowest": max(narrowest)})
    return group_table(clf.groups_, lines)


def rows_at(
    model: GroupModel,
    rho: float,
    width: float,
    level: float,
) -> tuple[float, float]:
    """Compute the rows needed at the prevalence ``rho``, by bisection.

    Returns
    -------
    rows, narrowest : float
        Rows needed, and the width that no batch can fall below.
    """
    if not model.quantifier.informative_:
        return float("inf"), 1.0
    positives = model.quantifier.statistic_moments(model.positives, rho)
    negatives = model.quantifier.statistic_moments(model.negatives, rho)
    mean = negatives.mean + rho * (positives.mean - negatives.mean)

    def width_of(rows: float) -> float:
        # `moment_interval` takes the variance from the classes, not from the batch.
        batch = Moments(mean, 0.0, rows)
        low, high = moment_interval(positives, negatives, batch, level)
        return high - low

    narrowest = width_of(float("inf"))
    if width_of(_MOST_ROWS) > width:
        return float("inf"), narrowest
    rows = bisect_left(
        range(_MOST_ROWS), True, lo=1, key=lambda rows: width_of(rows) <= width
    )
    return float(rows), narrowest


def plan_labels(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
    width: float,
) -> pd.DataFrame:
    """Compute how many labels of each group give an interval of a given width.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        To the same batch.
    width : float in (0, 1)

    Returns
    -------
    DataFrame
        As from `Examination.labels_needed`.
    """
    check_prevalence("width", width, closed=False)

    def is_narrow(known: GroupPosterior) -> bool:
        return known.estimate(adaptation.level).width <= width

    groups = list(evidence.groups)
    needed = _labels_until(is_narrow, groups, models, evidence, adaptation)
    lines = []
    for group in groups:
        rows = adaptation.groups[group].rows
        lines.append({"rows": rows, **needed[group]._asdict()})
    return group_table(groups, lines)


def _labels_until(
    enough: Callable[[GroupPosterior], bool],
    groups: Sequence[Group],
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
) -> dict[Group, LabelsNeeded]:
    """Simulate how many labels of each group are enough."""
    known = adaptation.posterior
    if known is None or any(group not in known.groups for group in groups):
        # Where drift is ignored, nothing was computed but the quantifier's answer.
        answers = estimate_groups(models, evidence.groups)
        drifts = adaptation.drifts
        known = find_posterior(models, evidence.groups, answers, drifts, PRIOR_SHIFT)
    needed = {}
    for group in groups:
        part = evidence.groups[group]
        labelled = None
        if known.groups[group].heard is not None:
            labelled = labelled_sample(part).counts.sum(axis=0)
        needed[group] = labels_until(
            enough,
            known.groups[group],
            models[group].log_odds,
            score_cells(part),
            labelled,
            # Of many groups, fewer simulations each tell how many labels in all.
            simulations=int(np.clip(_SIMULATIONS // len(groups), 4, 16)),
        )
        if part.counted is not None:
            each = part.rows / part.scores.size
            needed[group] = LabelsNeeded(*[math.ceil(n * each) for n in needed[group]])
    return needed


def labels_asked(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
    tolerance: float = TOLERANCE,
) -> dict[Group, LabelsNeeded]:
    """Compute how many labels to ask for, where too little is known to decide.

    They are those with which the estimate is off by at most 0.05 with a probability of
    0.8, those included that there are.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        To the same batch.
    tolerance : float in (0, 1), default=0.05
        How far off an estimate may be to be used.

    Returns
    -------
    dict from group to LabelsNeeded
        0 where the estimate is likely near enough, where a column is at fault, and
        where there are fewer rows than labels are used of.
    """
    asking = []
    for group, adapted in adaptation.groups.items():
        drift = adaptation.drifts.get(group)
        at_fault = drift is not None and drift.faults
        # Where nobody looked for drift, no chance tells whether labels are needed.
        is_open = drift is None or adapted.verdict == "weighted"
        is_open = is_open or adaptation.chance(group, tolerance) < CHANCE
        # Fewer labels would not be used.
        if is_open and adapted.rows >= FEWEST_LABELS and not at_fault:
            asking.append(group)

    def is_near(known: GroupPosterior) -> bool:
        return known.near(tolerance) >= CHANCE

    asked = dict.fromkeys(adaptation.groups, LabelsNeeded(0, 0))
    if asking:
        needed = _labels_until(is_near, asking, models, evidence, adaptation)
        for group, numbers in needed.items():
            # Where scores disagree with columns, a few labels settle it.
            asked[group] = LabelsNeeded(*np.maximum(numbers, FEWEST_LABELS).tolist())
    return asked


@dataclass(frozen=True)
class LabelPlan:
    """How many rows to label, and how they are spread over the groups.

    With neither ``n`` nor ``width``, it is as many as `Examination.action` asks for, or
    100 if it asks for none.

    Parameters
    ----------
    n : int or None, default=None
        Rows in all.
    spread : {"equal", "proportional"}, default="equal"
        How ``n`` rows are shared out to the groups.
    width : float or None, default=None
        In place of ``n``: as many rows of each group as `Examination.labels_needed`
        says for a 95 % interval of this width.
    """

    n: int | None = None
    spread: str = "equal"
    width: float | None = None

    def __post_init__(self) -> None:
        check_choice("spread", self.spread, _SPREADS)
        if self.n is not None and self.width is not None:
            raise ValueError("at most one of n and width must be given, got both.")
        if self.n is not None and (not isinstance(self.n, Integral) or self.n < 1):
            problem = f"must be a whole number of at least 1, got {self.n!r}."
            raise ParameterError("n", problem)

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
        evidence = evidence.effective()
        models = {group: clf.model_of(group) for group in cells}
        rows = np.array([in_cells.sum() for in_cells in cells.values()])
        if self.n is not None:
            sizes = share_out(rows, int(self.n), self.spread)
        else:
            # Without the warnings of `clf.adapt`: nobody has asked for an estimate.
            evidence = evidence.without_labels()
            adaptation = adapt(
                models, evidence, level=0.95, drift=clf.drift, past=clf.past
            )
            if self.width is None:
                asked = labels_asked(models, evidence, adaptation)
                sizes = np.array([asked[group].at_most for group in cells])
            else:
                needed = plan_labels(models, evidence, adaptation, self.width)
                of_group = dict(zip(evidence.groups, needed["at_most"], strict=True))
                sizes = np.array([of_group[group] for group in cells])
            if not sizes.any():
                sizes = share_out(rows, _DEFAULT_LABELS, self.spread)
        estimates = estimate_groups(models, evidence.groups).estimates
        strata = {}
        for (group, in_cells), n_drawn in zip(cells.items(), sizes, strict=True):
            strata[group] = stratify(
                models[group],
                in_cells,
                int(n_drawn),
                estimates[group].value,
                mean_score(models[group], evidence.groups[group])[0],
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

    @property
    def enough(self) -> int:
        """Rows that would tell the share of every group to about 0.15.

        As many as were drawn if these do.
        """
        worth = 1 / self.inclusion_probability[self.rows]
        enough = 0
        for group in dict.fromkeys(self.groups):
            drawn = [place for place, one in enumerate(self.groups) if one == group]
            rows = round(float(worth[drawn].sum()))
            enough += max(enough_labels(rows), len(drawn))
        return enough

    def __repr__(self) -> str:
        counts = Counter(unique_names(self.groups)[group] for group in self.groups)
        groups = ", ".join(f"{name}: {n}" for name, n in sorted(counts.items()))
        few = ""
        if self.enough > len(self):
            few = f"; {few_labels(len(self), len(counts), self.enough)}"
        n_rows = len(self.inclusion_probability)
        return f"RowsToLabel({len(self)} of {n_rows} rows; {groups}{few})"


def rows_to_label(
    clf: CapeClassifier,
    X: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    n: int | None = None,
    spread: str = "equal",
    width: float | None = None,
    random_state: Any = 0,
) -> RowsToLabel:
    """Draw rows of a batch whose labels say the most about the prevalences.

    The draw is random, without replacement, and more rows are drawn where the score
    says less about the label. Within a group, rows are cut into six equal strata of
    their score, and a stratum gets labels in proportion to the expected standard
    deviation of its labels (Neyman's allocation). Groups with fewer than 50 labels are
    drawn without strata, which would gain nothing there.

    The draw needs the score of every row, which an examination does not keep.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_rows, n_columns)
        The batch.
    sensitive_features : array-like or table, default=None
        Groups, as in ``clf.predict``.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows, which tell how many labels are needed.
    n : int, default=None
        Rows to draw, in all groups together. Fewer than ten labels of a group are not
        used. With neither ``n`` nor ``width``, the rows that `Examination.action` asks
        for are drawn, or 100 if it asks for none.
    spread : {"equal", "proportional"}, default="equal"
        Whether every group gets the same number of the ``n`` labels, or a number in
        proportion to its rows. A group smaller than its share is labelled completely,
        and the rest goes to the other groups.
    width : float in (0, 1), default=None
        Instead of ``n``: draw as many rows of each group as
        `Examination.labels_needed` says are at most needed for a 95% interval of this
        width.
    random_state : int, Generator or None, default=0
        Seed of the draw.

    Returns
    -------
    RowsToLabel
        With ``rows`` and, for `CapeClassifier.adapt`, ``inclusion_probability``.

    See Also
    --------
    Examination.labels_needed : How many labels an interval of a given width needs.

    References
    ----------
    J. Neyman (1934). On the two different aspects of the representative method: the
    method of stratified sampling and the method of purposive selection. Journal of the
    Royal Statistical Society 97, 558-625.

    Examples
    --------
    >>> from cape.examination import rows_to_label
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
    >>> adaptation.groups[0].labels.rows
    50
    """
    plan = LabelPlan(n, spread, width)
    batch = batch_of(clf, X, sensitive_features, sample_weight)
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
        if group not in counted:
            continue
        n_cells = len(batch.models[group].edges) + 1
        in_cells[group] = np.bincount(cells[codes == code], minlength=n_cells)
    strata = plan.strata(clf, evidence, in_cells)
    of_groups = [strata.get(group, NOTHING_DRAWN) for group in groups]
    draw = RowDraw(of_groups, random_state)
    probabilities = draw.add(codes, cells)
    drawn = draw.result()
    groups_of_rows = [groups[code] for code in drawn.groups]
    return RowsToLabel(drawn.rows, groups_of_rows, probabilities)


@dataclass(frozen=True, repr=False)
class LabelChecks(InNotebook, GroupResult):
    """What labels say about the label-free estimates of all groups.

    Parameters
    ----------
    groups : mapping from group to GroupAdaptation
        Their ``estimate`` is the one with labels, even where these did not decide.
    decide : bool
        Whether the labels corrected the estimates that members were chosen for. If not,
        they were only compared with the estimates.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> groups = new.sensitive_features
    >>> labels = new.target.where(groups == 0)
    >>> seen = examine(clf, new.data, labels, sensitive_features=groups)
    >>> seen.labels.groups[0].labels.verdict, seen.labels.refuted
    ('confirmed', [])
    """

    groups: Mapping[Group, GroupAdaptation]
    decide: bool

    @property
    def refuted(self) -> list[Group]:
        """Groups whose estimate labels refute, at 5 % over all groups together."""
        return refuted_groups(self.groups)

    def by_labels(self, group: Group) -> Estimate:
        """Return what labels say about a group; unknown where they cannot be used."""
        check = self.groups[group]
        if check.labels.verdict is None:
            return Estimate(math.nan)
        share = said_by_labels(check, decide=self.decide)
        return check.estimate._replace(value=share)

    def shares(self) -> pd.DataFrame:
        """Return the numbers of the picture, one row for each group.

        Returns
        -------
        DataFrame
            Group, rows, now (estimated without labels), low and high; and what labels
            say: compared, compared_low and compared_high, missing where they cannot be
            used.
        """
        rows = []
        for group, check in self.groups.items():
            row: dict[str, Any] = {"group": self.names[group], "rows": check.rows}
            row |= zip(("now", "low", "high"), check.without_labels, strict=True)
            compared = ("compared", "compared_low", "compared_high")
            row |= zip(compared, self.by_labels(group), strict=True)
            rows.append(row)
        return pd.DataFrame(rows)

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.labels_shown(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as a dict that JSON can hold, with their sentences."""
        content = super().to_dict()
        checks = self.groups.values()
        for entry, check in zip(content["groups"], checks, strict=True):
            entry["text"] = describe_labels(check, decide=self.decide)
        return content

    def _facts(self) -> dict[str, Any]:
        refuted = [self.names[group] for group in self.refuted]
        return {"decide": self.decide, "refuted": refuted}


def check_labels(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    adaptation: Adaptation,
    *,
    decide: bool,
) -> LabelChecks:
    """Compare the label-free estimate of every group with the labels of its rows.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
        Evidence of the batch, with its labels.
    adaptation : Adaptation
        Adaptation to the batch, with intervals.
    decide : bool
        Whether the adaptation was made with these labels.

    Returns
    -------
    LabelChecks
    """
    if decide:
        return LabelChecks(adaptation.groups, decide)
    checks = {}
    label_free = {}
    for group, adapted in adaptation.groups.items():
        label_free[group] = adapted.estimate
    findings, factors = read_labels(
        models, evidence.groups, label_free, adaptation.level, adaptation.drifts
    )
    for group, adapted in adaptation.groups.items():
        estimate = adapted.estimate
        if group in factors:
            estimate = factors[group].alone(adaptation.level)
        checks[group] = replace(adapted, labels=findings[group], estimate=estimate)
    return LabelChecks(checks, decide)
