"""What speaks against a prior shift in each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite, log, nan, sqrt

import numpy as np

from cape._drift._columns import (
    ColumnFit,
    ColumnInBatch,
    find_fault,
    fit_column,
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
        What is plainly wrong with it; empty if nothing is. See `find_fault`.
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
    found = {}
    for group, part in evidence.items():
        model = models[group]
        estimate = float(estimates[group])
        drifts = _test_columns(model, part, estimate) if columns else ()
        score = None
        if model.test_is_sound:
            score = fit_mixture(
                model.positives, model.negatives, part.scores, part.agreements
            )
        spread = spread_of(
            model, part, estimate, score, [drift.fit for drift in drifts]
        )
        found[group] = GroupDrift(score, drifts, spread)
    return _adjusted(found)


def _test_columns(
    model: GroupModel, evidence: GroupEvidence, estimate: float
) -> tuple[ColumnDrift, ...]:
    """Test every column at the prevalence that the scores found."""
    trained = model.columns
    if trained is None or evidence.columns is None:
        return ()
    rho = _inside(estimate)
    counts = []
    drifts = []
    for place, cells in enumerate(trained.cells.columns):
        positives = trained.cells.of_column(trained.positives, place)
        negatives = trained.cells.of_column(trained.negatives, place)
        batch = trained.cells.of_column(evidence.columns.counts, place)
        in_batch = ColumnInBatch(
            cells=cells,
            positives=positives / positives.sum(),
            negatives=negatives / negatives.sum(),
            batch=batch / batch.sum(),
            rows=int(batch.sum()),
            prevalence=rho,
        )
        fit = ColumnFit()
        fault = find_fault(in_batch)
        if trained.are_own:
            fit = fit_column(cells, positives, negatives, batch, rho)
        elif fault in _USUAL_IN_SOME_GROUPS:
            fault = ""
        drift = ColumnDrift(
            column=in_batch,
            fit=fit,
            fault=fault,
            unseen=evidence.columns.unseen.get(place, {}),
        )
        counts.append((positives, negatives, batch))
        drifts.append(drift)
    if any(drift.fault for drift in drifts):
        # Scores that read a column at fault find a wrong prevalence, at which sound
        # columns would fail the test.
        for place, drift in enumerate(drifts):
            own = _fit_by_itself(drift, *counts[place])
            drifts[place] = replace(drift, fit=own)
    return tuple(drifts)


def _fit_by_itself(
    drift: ColumnDrift, positives: np.ndarray, negatives: np.ndarray, batch: np.ndarray
) -> ColumnFit:
    """Test a column at the prevalence that it speaks for itself."""
    fit = drift.fit
    for _ in range(_OWN_STEPS):
        if isfinite(fit.error):
            rho = _inside(fit.prevalence)
            fit = fit_column(drift.column.cells, positives, negatives, batch, rho)
    # It says nothing of how far columns disagree at the prevalence of the scores.
    return replace(fit, prevalence=nan, error=inf)


def _inside(prevalence: float) -> float:
    return min(max(prevalence, _NEAREST_TO_PURE), 1 - _NEAREST_TO_PURE)


def _adjusted(found: dict[Group, GroupDrift]) -> dict[Group, GroupDrift]:
    """Adjust the p-values for the number of columns and groups."""
    p_values = []
    for drift in found.values():
        if drift.score is not None:
            p_values.append(drift.score.p_value)
        p_values += [column.fit.p_value for column in drift.columns]
    adjusted = iter(holm(p_values))
    completed = {}
    for group, drift in found.items():
        p_score = 1.0 if drift.score is None else next(adjusted)
        columns = tuple(
            replace(column, p_adjusted=next(adjusted)) for column in drift.columns
        )
        completed[group] = replace(drift, columns=columns, score_p_adjusted=p_score)
    return completed


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
