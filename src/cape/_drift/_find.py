"""What speaks against a prior shift in each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from cape._drift._columns import (
    ColumnFit,
    ColumnInBatch,
    find_faults,
    fit_columns,
    what_happened,
)
from cape._drift._mixture import MixtureFit, fit_mixture, holm
from cape._estimate import Estimate
from cape._evidence import GroupEvidence
from cape._group_model import GroupModel
from cape._groups import Group
from cape._limits import LEVEL, WIDEST
from cape._wording._results import what_happened as words_of_column

_FADES_IN = 0.05
"""Adjusted p-value below which drift begins to count; at `LEVEL` it counts wholly. An
estimate that jumped at one p-value would depend on single rows."""

_NEAREST_TO_PURE = 0.02
"""Columns are tested inside [0, 1]: at an end one of the classes has no noise."""


_USUAL_IN_SOME_GROUPS = ("constant", "missing")
"""Faults that need the group's own columns: all people above 65 may have the same kind
of insurance, which all groups together have not."""

_OWN_STEPS = 3
"""Steps to the prevalence that a column speaks for."""


@dataclass(frozen=True)
class ColumnDrift:
    """One column of one group, against training.

    Parameters
    ----------
    column : ColumnInBatch
        Its shares.
    fit : ColumnFit
        Its test.
    fault : str
        What is plainly wrong with it; empty if nothing is. See `find_faults`.
    unseen : mapping from str to int
        Values never seen in training, and their rows.
    p_adjusted : float
        The p-value after Holm's correction for all columns and groups.
    """

    column: ColumnInBatch
    fit: ColumnFit
    fault: str
    unseen: Mapping[str, int]
    p_adjusted: float = 1.0

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.cells.name

    @property
    def moved(self) -> bool:
        """Whether the column is at fault or differs significantly."""
        return bool(self.fault) or self.p_adjusted < LEVEL

    @property
    def what_happened(self) -> str:
        """What has happened to it, in words."""
        cells = self.column.cells
        code, numbers = what_happened(
            self.column, self.fault, self.fit.effect, self.unseen
        )
        form = "date" if cells.kind == "date" else "number"
        return words_of_column(code, form, numbers)


@dataclass(frozen=True)
class GroupDrift:
    """What speaks against a prior shift in one group.

    Parameters
    ----------
    score : MixtureFit or None
        The test of the scores; None if it would not keep its level.
    columns : tuple of ColumnDrift
        Empty if columns were not counted.
    spread : float
        Standard deviation between the prevalences that columns and scores speak for,
        beyond their noise.
    score_p_adjusted : float
        The p-value of the scores after Holm's correction for all columns and groups.
    """

    score: MixtureFit | None
    columns: tuple[ColumnDrift, ...]
    spread: float
    score_p_adjusted: float = 1.0

    @property
    def tested(self) -> bool:
        """Whether scores or any column could be tested."""
        scores_tested = self.score is not None and self.score.df > 0
        return scores_tested or any(column.fit.df > 0 for column in self.columns)

    @property
    def p_adjusted(self) -> float:
        """The smallest adjusted p-value."""
        of_columns = [column.p_adjusted for column in self.columns]
        return min([self.score_p_adjusted, *of_columns])

    @property
    def faults(self) -> list[ColumnDrift]:
        """Columns that are plainly not what they were."""
        return [column for column in self.columns if column.fault]

    @property
    def moved_columns(self) -> list[ColumnDrift]:
        """Columns that are at fault or differ significantly, the worst first."""
        moved = [column for column in self.columns if column.moved]
        return sorted(moved, key=lambda column: (not column.fault, -column.fit.effect))

    @property
    def largest_effect(self) -> float:
        """The largest share of rows that any column would have to change."""
        return max([0.0, *(column.fit.effect for column in self.columns)])

    @property
    def weight_of_evidence(self) -> float:
        """How far drift counts: 0 if nothing speaks against a prior shift, up to 1."""
        p = max(self.p_adjusted, 1e-300)
        position = log(_FADES_IN / p) / log(_FADES_IN / LEVEL)
        return min(max(position, 0.0), 1.0)

    @property
    def significant_spread(self) -> float:
        """The spread, as far as there is evidence of drift."""
        return self.spread * sqrt(self.weight_of_evidence)


def find_drift(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    estimates: Mapping[Group, float],
    *,
    columns: bool = True,
) -> dict[Group, GroupDrift]:
    """Test the scores and columns of all groups against a prior shift.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
    estimates : mapping from group to float
        What the quantifiers say.
    columns : bool, default=True
        Whether to look at columns, where they were counted.

    Returns
    -------
    dict from group to GroupDrift
    """
    scores = {}
    for group, part in evidence.items():
        model = models[group]
        if model.test_is_sound:
            scores[group] = fit_mixture(
                model.positives, model.negatives, part.scores, part.agreements
            )
    counted = []
    if columns:
        counted = [
            group
            for group, part in evidence.items()
            if part.columns is not None and models[group].columns is not None
        ]
    of_columns = _test_columns(models, evidence, estimates, counted) if counted else {}
    p_values = [score.p_value for score in scores.values()]
    for drifts in of_columns.values():
        p_values += [drift.fit.p_value for drift in drifts]
    adjusted = iter(holm(p_values))
    p_scores = {group: next(adjusted) for group in scores}
    found = {}
    for group, part in evidence.items():
        drifts = of_columns.get(group, [])
        fits = [drift.fit for drift in drifts]
        score = scores.get(group)
        spread = spread_of(models[group], part, float(estimates[group]), score, fits)
        drifts = [replace(drift, p_adjusted=next(adjusted)) for drift in drifts]
        p_score = p_scores.get(group, 1.0)
        found[group] = GroupDrift(score, tuple(drifts), spread, p_score)
    return found


def _test_columns(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    estimates: Mapping[Group, float],
    groups: Sequence[Group],
) -> dict[Group, list[ColumnDrift]]:
    """Test every column of some groups at the prevalence that the scores found."""
    trained: list[Any] = [models[group].columns for group in groups]
    batches: list[Any] = [evidence[group].columns for group in groups]
    # All groups of a model have the same cells.
    table = trained[0].cells
    positives = [columns.positives for columns in trained]
    negatives = [columns.negatives for columns in trained]
    counts = np.array([positives, negatives, [columns.counts for columns in batches]])
    counts = table.by_column(counts)
    totals = counts.sum(axis=-1)
    shares = counts / totals[..., None]
    rows = totals[-1]
    rho = _inside([estimates[group] for group in groups])
    prevalences = np.tile(rho[:, None], len(table.columns))
    faults, unit_factors = find_faults(table.columns, shares, rows, prevalences)
    are_own = np.array([columns.are_own for columns in trained])
    faults[~are_own[:, None] & np.isin(faults, _USUAL_IN_SOME_GROUPS)] = ""
    fits = fit_columns(table.columns, counts, prevalences)
    at_fault = (faults != "").any(axis=-1, keepdims=True)
    if at_fault.any():
        # Scores that read a column at fault find a wrong prevalence, at which sound
        # columns would fail the test: each is tested at its own.
        for _ in range(_OWN_STEPS):
            speaks = at_fault & np.isfinite(fits["error"])
            own = _inside(fits["prevalence"])
            prevalences = np.where(speaks, own, prevalences)
            fits = fit_columns(table.columns, counts, prevalences)
        # It says nothing of how far columns disagree at the prevalence of the scores.
        fits["prevalence"] = np.where(at_fault, np.nan, fits["prevalence"])
        fits["error"] = np.where(at_fault, np.inf, fits["error"])
    found = {}
    for place, group in enumerate(groups):
        numbers = zip(*(field[place].tolist() for field in fits.values()), strict=True)
        drifts = []
        for column, fit in enumerate(numbers):
            cells = table.columns[column]
            p, n, b = shares[:, place, column, : cells.n_cells]
            n_rows = int(rows[place, column])
            factor = float(unit_factors[place, column])
            in_batch = ColumnInBatch(cells, p, n, b, n_rows, float(rho[place]), factor)
            drift = ColumnDrift(
                in_batch,
                ColumnFit(*fit) if are_own[place] else ColumnFit(),
                str(faults[place, column]),
                batches[place].unseen.get(column, {}),
            )
            drifts.append(drift)
        found[group] = drifts
    return found


def _inside(prevalence: Any) -> np.ndarray:
    return np.clip(prevalence, _NEAREST_TO_PURE, 1 - _NEAREST_TO_PURE)


_SCORE_INFLATION = 4.0
"""Where scores alone are known, variance of the spread in units of what the misfit of
the scores suggests. Drift tends to lie in the direction that the scores look at, where
it cannot be seen."""


def spread_of(
    model: GroupModel,
    evidence: GroupEvidence,
    estimate: float,
    score: MixtureFit | None,
    columns: Iterable[ColumnFit],
) -> float:
    """Measure how far columns and scores disagree on the prevalence."""
    if not model.quantifier.informative_:
        # Scores that do not tell the classes apart speak for no prevalence.
        return 0.0
    prevalences = []
    errors = []
    for fit in columns:
        if isfinite(fit.error):
            prevalences.append(fit.prevalence)
            errors.append(fit.error)
    variance, noise = _score_noise(model, evidence, estimate)
    if prevalences:
        if score is not None:
            prevalences.append(estimate)
            errors.append(sqrt(noise))
        return sqrt(variance_between(np.array(prevalences), np.array(errors)))
    if score is None or score.df == 0:
        return 0.0
    # The statistic has the mean df (1 + tau / noise of a row) if shares scatter by tau
    # beyond sampling; the estimate then scatters by tau times the variance of one row.
    tau = (score.statistic / score.df - 1) * noise / variance
    return sqrt(max(_SCORE_INFLATION * tau * variance, 0.0))


def _score_noise(
    model: GroupModel, evidence: GroupEvidence, estimate: float
) -> tuple[float, float]:
    """Return the variance of the estimate from one row, and from all rows.

    The second counts the noise of training, as `moment_interval` does.
    """
    rho = estimate
    quantifier = model.quantifier
    of_positives = quantifier.statistic_moments(model.positives, rho)
    of_negatives = quantifier.statistic_moments(model.negatives, rho)
    gap = max(abs(of_positives.mean - of_negatives.mean), 1e-6)
    one_row = rho * of_positives.variance + (1 - rho) * of_negatives.variance
    noise = one_row / evidence.scores.size
    noise += rho**2 * of_positives.variance / of_positives.size
    noise += (1 - rho) ** 2 * of_negatives.variance / of_negatives.size
    # Perfect scores have no noise, and one cannot divide by it.
    return max(one_row, 1e-12) / gap**2, max(noise, 1e-12) / gap**2


def variance_between(values: np.ndarray, errors: np.ndarray) -> float:
    """Estimate the variance between values beyond their errors.

    This is the estimator of DerSimonian and Laird (1986) for studies that measure the
    same quantity: here every column, and the scores, are a study of the prevalence.

    Parameters
    ----------
    values : ndarray of shape (n_studies,)
    errors : ndarray of shape (n_studies,)
        Standard errors.

    Returns
    -------
    float
        0 if the values differ by no more than their errors.

    Examples
    --------
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.1, 0.1])).round(3)
    np.float64(0.01)
    >>> variance_between(np.array([0.2, 0.4]), np.array([0.2, 0.2]))
    0.0
    """
    weights = errors**-2.0
    centre = (weights @ values) / weights.sum()
    heterogeneity = weights @ (values - centre) ** 2
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    if scale <= 0:
        return 0.0
    return max((heterogeneity - (len(values) - 1)) / scale, 0.0)


_HALF_HELD = 0.5
"""Part of the variance of the answer that the prior takes away, from which on the
estimate counts as decided by what was known before."""


def judge(drift: GroupDrift | None, estimate: Estimate, held_back: float) -> str:
    """Grade what is known of a group, by the evidence and by its effect.

    Parameters
    ----------
    drift : GroupDrift or None
        None if nobody looked.
    estimate : Estimate
        Made without labels.
    held_back : float

    Returns
    -------
    str
        A verdict of `GroupAdaptation`.
    """
    if drift is None:
        return "not_tested"
    if drift.faults or estimate.width > WIDEST:
        return "cannot_tell"
    is_held = held_back > _HALF_HELD
    if drift.p_adjusted < LEVEL:
        return "drifted" if is_held else "some_drift"
    if is_held:
        return "too_little_known"
    return "consistent" if drift.tested else "not_tested"
