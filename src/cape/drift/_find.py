"""What speaks against a prior shift in each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import betainc

from cape.base._groups import Group
from cape.base._limits import LEVEL, WIDEST
from cape.drift._mixture import ColumnFit, MixtureFit, fit_columns, fit_mixtures, holm
from cape.evidence._columns import (
    FIRST,
    FOREIGN,
    MISSING,
    Column,
    ColumnCells,
    column_names,
    take_column,
)
from cape.evidence._evidence import GroupEvidence
from cape.quantify._base import Answers, mixture
from cape.shown import _results as words
from cape.training._group_model import GroupModel

_NEAREST_TO_PURE = 0.02
"""Columns are tested inside [0, 1]: at an end one of the classes has no noise."""


_USUAL_IN_SOME_GROUPS = ("constant", "missing")
"""Faults that need the group's own columns: all people above 65 may have the same kind
of insurance, which all groups together have not."""

_GROUPS_AT_ONCE = 64
"""More groups at once need more memory, fewer more time."""

_OWN_STEPS = 3
"""Steps to the prevalence that a column speaks for."""


_WORTH_NAMING = 0.02
"""Share of the rows from which on missing, unseen and far values are spoken of."""

_ROWS_OF_A_NUMBER = 10
_ROWS_OF_A_NAME = 30
"""Rows of a value never seen in training before it is named: single people are not."""


TOLD_OF_COLUMNS = {
    "column": "column",
    "moved": "moved",
    "fault": "fault",
    "effect": "fit.effect",
    "p_value": "fit.p_value",
    "p_adjusted": "p_adjusted",
    "prevalence": "fit.prevalence",
    "prevalence_error": "fit.error",
    "what_happened": "what_happened",
}
"""What tables and JSON tell of a column, and where `ColumnDrift` has it."""


@dataclass(frozen=True)
class ColumnDrift:
    """One column of one group, against training.

    Parameters
    ----------
    cells : ColumnCells
    batch, expected : ndarray of shape (n_cells,)
        Shares of the cells in the batch, and those to expect at the prevalence that the
        scores say.
    rows : int
        Rows of the batch.
    fit : ColumnFit
        Its test.
    fault : str, default=""
        What is plainly wrong with it; empty if nothing is. See `find_faults`.
    unit_factor : float, default=0.0
        The factor between units by which the median has moved; 0 if by none.
    unseen : mapping from str to int, default={}
        Values never seen in training, and their rows.
    usual_value : float, default=nan
        Of a number out of range, the value of most of the rows that are; NaN if there
        is none, or if nobody has looked: counts do not tell it.
    p_adjusted : float
        The p-value after Holm's correction for all columns and groups.
    """

    cells: ColumnCells = field(compare=False)
    batch: np.ndarray = field(compare=False)
    expected: np.ndarray = field(compare=False)
    rows: int
    fit: ColumnFit
    fault: str = ""
    unit_factor: float = 0.0
    unseen: Mapping[str, int] = field(default_factory=dict)
    usual_value: float = float("nan")
    p_adjusted: float = 1.0

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.cells.name

    @property
    def moved(self) -> bool:
        """Whether the column is at fault or differs significantly."""
        return bool(self.fault) or self.p_adjusted < LEVEL

    @property
    def outgrown(self) -> bool:
        """Whether all values lie above those of training, as those of a year do."""
        code, numbers = self._find_cause()
        return code == "above" and words.are_all_values(numbers)

    @cached_property
    def what_happened(self) -> str:
        """What has happened to it, in words."""
        code, numbers = self._find_cause()
        form = "date" if self.cells.kind == "date" else "number"
        return words.what_happened(code, form, numbers)

    def flat(self) -> dict[str, Any]:
        """Return what tables and JSON tell of the column."""
        return {name: attrgetter(of)(self) for name, of in TOLD_OF_COLUMNS.items()}

    def _find_cause(self) -> tuple[str, dict[str, Any]]:
        """Find what has happened to the column that a person can act on.

        The words for the code and the numbers are in `cape.shown._results`.
        """
        cells = self.cells
        batch = self.batch
        other_units = self.fault == "units"
        strange = self.fault in ("range", "unseen")
        foreign = batch[FOREIGN]
        if self.fault == "type" or (not other_units and foreign > _WORTH_NAMING):
            return "type", {"share": foreign, "kind": cells.kind}
        missing = self._both_shares(MISSING)
        more_missing = abs(missing["share"] - missing["expected"])
        least = max(_WORTH_NAMING, self.fit.effect / 2)
        if not other_units and not strange and more_missing > least:
            return "missing", missing
        if not cells.is_number:
            return self._find_level()
        values = batch[FIRST:]
        expected_values = self.expected[FIRST:]
        if 0 in (values.sum(), expected_values.sum()):
            return "missing", missing
        if other_units:
            return "units", {"factor": self.unit_factor, "median": cells.median}
        # The nine largest values of training lie above its range as well.
        above = self._both_shares(cells.above)
        below = self._both_shares(cells.below)
        more_above = above["share"] - above["expected"]
        more_below = below["share"] - below["expected"]
        present = {
            "present": 1 - batch[MISSING],
            "rows": self.rows,
            "usual": self.usual_value,
        }
        least = 0.0 if strange else _WORTH_NAMING
        if more_above > least and more_above > more_below:
            return "above", {**above, "end": cells.highest, **present}
        if more_below > least:
            return "below", {**below, "end": cells.lowest, **present}
        edges = cells.edges
        if self.fault == "constant":
            # Not an outer cell: that would be above or below the range of training.
            cell = int(np.argmax(values))
            shares = self._both_shares(FIRST + cell)
            ends = {"low": edges[cell - 1], "high": edges[cell]}
            return "constant", {**shares, **ends, **present}
        # The edge at which batch and training differ most.
        difference = np.cumsum(values - expected_values)[:-1]
        place = int(np.argmax(np.abs(difference)))
        shares = self._both_shares(slice(FIRST, FIRST + place + 1))
        return "edge", {**shares, "end": edges[place]}

    def _find_level(self) -> tuple[str, dict[str, Any]]:
        """Find which levels are new, or which one has become more or less frequent."""
        share = self.batch[self.cells.n_cells - 1]
        if self.fault == "unseen" or share - self.cells.unseen_rate > _WORTH_NAMING:
            names = []
            for name, rows in sorted(self.unseen.items(), key=lambda item: -item[1]):
                if rows >= _ROWS_OF_A_NAME:
                    names.append(name)
            return "unseen", {"share": share, "names": names}
        levels = self.cells.levels
        if len(levels) == 0:
            return "moved", {"share": self.fit.effect}
        difference = self.batch - self.expected
        level = int(np.argmax(np.abs(difference[FIRST : FIRST + len(levels)])))
        return "level", {**self._both_shares(FIRST + level), "level": levels[level]}

    def _both_shares(self, cells: Any) -> dict[str, Any]:
        """Return the share of some cells in the batch, which is exact, and expected."""
        return {
            "share": self.batch[cells].sum(),
            "expected": self.expected[cells].sum(),
        }


@dataclass(frozen=True)
class ColumnTests(Sequence):
    """The columns of one group. Records are made when somebody looks at them.

    Parameters
    ----------
    p_values : list of float
        Of the columns that could be tested.
    p_adjusted : float
        The smallest adjusted p-value; 1 if there is none.
    at_fault : bool
        Whether a column is plainly not what it was.
    make : callable
        Makes the records.
    """

    p_values: list[float]
    p_adjusted: float
    at_fault: bool
    make: Callable[[], Sequence[ColumnDrift]] = field(compare=False)

    @classmethod
    def of(cls, columns: Sequence[ColumnDrift]) -> ColumnTests:
        """Collect records that are there."""
        p_values = [one.fit.p_value for one in columns if one.fit.df > 0]
        smallest = min((one.p_adjusted for one in columns), default=1.0)
        at_fault = any(one.fault for one in columns)
        return cls(p_values, smallest, at_fault, partial(tuple, columns))

    @cached_property
    def _records(self) -> Sequence[ColumnDrift]:
        return self.make()

    def __getitem__(self, place: Any) -> Any:
        return self._records[place]

    def __len__(self) -> int:
        return len(self._records)


@dataclass(frozen=True)
class GroupDrift:
    """What speaks against a prior shift in one group.

    Parameters
    ----------
    score : MixtureFit or None
        The test of the scores; None if it would not keep its level.
    columns : sequence of ColumnDrift
        Empty if columns were not counted.
    score_p_adjusted : float
        The p-value of the scores after Holm's correction for all columns and groups.
    weighted : bool, default=False
        Whether rows of training had unequal weights and those of the batch not, or the
        other way round, which may be all that moved.
    """

    score: MixtureFit | None
    columns: Sequence[ColumnDrift]
    score_p_adjusted: float = 1.0
    weighted: bool = False

    @cached_property
    def _tested(self) -> ColumnTests:
        if isinstance(self.columns, ColumnTests):
            return self.columns
        return ColumnTests.of(self.columns)

    @property
    def p_values(self) -> list[float]:
        """P-values of the scores and of the columns that could be tested."""
        values = self._tested.p_values
        if self.score is not None and self.score.df > 0:
            values = [*values, self.score.p_value]
        return values

    @property
    def is_clear(self) -> bool:
        """Whether more than the prevalence has moved, and weights do not explain it."""
        return self.p_adjusted < LEVEL and not self.weighted

    @property
    def p_adjusted(self) -> float:
        """The smallest adjusted p-value."""
        return min(self.score_p_adjusted, self._tested.p_adjusted)

    @property
    def faults(self) -> list[ColumnDrift]:
        """Columns that are plainly not what they were."""
        if not self._tested.at_fault:
            return []
        return [column for column in self.columns if column.fault]

    @property
    def worst_first(self) -> tuple[ColumnDrift, ...]:
        """The columns at fault, then all others, by the share of rows that differ."""

        def rank(column: ColumnDrift) -> tuple[bool, float]:
            return not column.fault, -column.fit.effect

        return tuple(sorted(self.columns, key=rank))

    @property
    def moved_columns(self) -> list[ColumnDrift]:
        """Columns that are at fault or differ significantly, the worst first."""
        return [column for column in self.worst_first if column.moved]


def find_drift(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    answers: Answers,
    *,
    columns: bool = True,
) -> dict[Group, GroupDrift]:
    """Test the scores and columns of all groups against a prior shift.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : mapping from group to GroupEvidence
    answers : Answers
        What the quantifiers say.
    columns : bool, default=True
        Whether to look at columns, where they were counted.

    Returns
    -------
    dict from group to GroupDrift
    """
    scores = _test_scores(models, evidence)
    counted = []
    for group, part in evidence.items():
        if columns and part.columns is not None and models[group].columns is not None:
            counted.append(group)
    tests = _test_columns(models, evidence, answers, counted) if counted else {}
    p_scores = [score.p_value for score in scores.values()]
    p_columns = tests["p_value"].ravel() if tests else np.empty(0)
    adjusted = np.array(holm(np.concatenate([p_scores, p_columns])))
    p_adjusted = dict(zip(scores, adjusted[: len(scores)].tolist(), strict=True))
    if tests:
        tests["p_adjusted"] = adjusted[len(scores) :].reshape(tests["p_value"].shape)
    rows = {group: place for place, group in enumerate(counted)}
    found = {}
    for group, part in evidence.items():
        tested: Sequence[ColumnDrift] = ()
        if group in rows:
            of_group = {name: values[rows[group]] for name, values in tests.items()}
            tested = ColumnTests(
                p_values=of_group["p_value"][of_group["df"] > 0].tolist(),
                p_adjusted=float(of_group["p_adjusted"].min(initial=1.0)),
                at_fault=bool((of_group["fault"] != "").any()),
                make=partial(_column_records, models[group], part, of_group),
            )
        found[group] = GroupDrift(
            scores.get(group),
            tested,
            p_adjusted.get(group, 1.0),
            models[group].weighted != part.scores.is_weighted,
        )
    return found


def _test_scores(
    models: Mapping[Group, GroupModel], evidence: Mapping[Group, GroupEvidence]
) -> dict[Group, MixtureFit]:
    """Test the scores of the groups where the test is sound."""
    cases = {}
    for group, part in evidence.items():
        model = models[group]
        if model.test_is_sound:
            classes = model.positives, model.negatives
            cases[group] = (*classes, part.scores, part.agreements)
    groups = list(cases)
    fits = {}
    for first in range(0, len(groups), _GROUPS_AT_ONCE):
        block = groups[first : first + _GROUPS_AT_ONCE]
        fields = fit_mixtures([cases[group] for group in block])
        rows = zip(*(values.tolist() for values in fields.values()), strict=True)
        for group, row in zip(block, rows, strict=True):
            fits[group] = MixtureFit(*row)
    return fits


def _test_columns(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    answers: Answers,
    groups: Sequence[Group],
) -> dict[str, np.ndarray]:
    """Test every column of some groups at the prevalence that the scores found.

    Returns
    -------
    dict from str to ndarray of shape (n_groups, n_columns)
        The fields of `ColumnFit`, "fault" and "unit_factor"; and "rho", the prevalence,
        of shape (n_groups, 1).
    """
    cells = models[groups[0]].columns.cells.columns  # type: ignore[union-attr]
    rho = np.array([[answers.estimates[group].value] for group in groups])
    rho = np.clip(rho, _NEAREST_TO_PURE, 1 - _NEAREST_TO_PURE)
    places = {group: place for place, group in enumerate(evidence)}
    errors = answers.likelihood.answer()[1][[places[group] for group in groups], None]
    counted = partial(_counts, models, evidence)
    blocks = []
    for first in range(0, len(groups), _GROUPS_AT_ONCE):
        block = slice(first, first + _GROUPS_AT_ONCE)
        counts = counted(groups[block])
        totals = counts.sum(axis=-1)
        shares = counts / totals[..., None]
        expected = mixture(rho[block, :, None], shares[0], shares[1])
        faults, factors = find_faults(cells, shares, totals[-1], expected)
        prevalences = np.tile(rho[block], len(cells))
        tests = fit_columns(cells, counts, prevalences, errors[block])
        sums = strange_values(cells, counts)
        blocks.append({**tests, "fault": faults, "unit_factor": factors, **sums})
    tests = {}
    for name in blocks[0]:
        tests[name] = np.concatenate([block[name] for block in blocks])
    are_own = np.array([[models[g].columns.are_own] for g in groups])  # type: ignore
    faults = tests["fault"]
    faults[~are_own & np.isin(faults, _USUAL_IN_SOME_GROUPS)] = ""
    are_tested = are_own & (tests["rows"][..., -1] >= _FEWEST_ROWS)
    strange = are_tested & find_strange_values(cells, tests, rho)
    are_numbers = [column.is_number for column in cells]
    of_values = np.where(are_numbers, "range", "unseen")
    tests["fault"] = np.where(strange & (faults == ""), of_values, faults)
    at_fault = np.flatnonzero((tests["fault"] != "").any(axis=-1))
    for place in at_fault.tolist():
        # Scores that read a column at fault find a wrong prevalence, at which sound
        # columns would fail the test: each is tested at its own.
        counts = counted([groups[place]])
        prevalences = np.tile(rho[place], (1, len(cells)))
        fits = {name: tests[name][[place]] for name in vars(ColumnFit())}
        for _ in range(_OWN_STEPS):
            own = np.clip(fits["prevalence"], _NEAREST_TO_PURE, 1 - _NEAREST_TO_PURE)
            speaks = np.isfinite(fits["error"])
            prevalences = np.where(speaks, own, prevalences)
            fits = fit_columns(cells, counts, prevalences, errors[[place]])
        for name, values in fits.items():
            tests[name][place] = values[0]
    for name, default in vars(ColumnFit()).items():
        tests[name] = np.where(are_own, tests[name], default)
    return {**tests, "rho": rho}


def _counts(
    models: Mapping[Group, GroupModel],
    evidence: Mapping[Group, GroupEvidence],
    groups: Sequence[Group],
) -> np.ndarray:
    """Return the counts of the columns of some groups, as `fit_columns` takes them."""
    trained: list[Any] = [models[group].columns for group in groups]
    batches: list[Any] = [evidence[group].columns for group in groups]
    positives = [columns.positives for columns in trained]
    negatives = [columns.negatives for columns in trained]
    counts = [positives, negatives, [columns.counts for columns in batches]]
    # All groups of a model have the same cells.
    return trained[0].cells.by_column(np.array(counts))


def _column_records(
    model: GroupModel, evidence: GroupEvidence, tests: Mapping[str, np.ndarray]
) -> tuple[ColumnDrift, ...]:
    """Make the records of the columns of one group."""
    group = None
    counts = _counts({group: model}, {group: evidence}, [group])[:, 0]
    rows = counts.sum(axis=-1)
    positives, negatives, batch = counts / rows[..., None]
    expected = mixture(tests["rho"], positives, negatives)
    names = list(vars(ColumnFit()))
    fits = zip(*(tests[name].tolist() for name in names), strict=True)
    records = []
    for place, fit in enumerate(fits):
        cells = model.columns.cells.columns[place]  # type: ignore[union-attr]
        record = ColumnDrift(
            cells=cells,
            batch=batch[place, : cells.n_cells],
            expected=expected[place, : cells.n_cells],
            rows=evidence.rows,
            fit=ColumnFit(*fit),
            fault=str(tests["fault"][place]),
            unit_factor=float(tests["unit_factor"][place]),
            unseen=evidence.columns.unseen.get(place, {}),  # type: ignore[union-attr]
            p_adjusted=float(tests["p_adjusted"][place]),
        )
        records.append(record)
    return tuple(records)


def with_usual_values(drifts: Mapping[Group, GroupDrift], X: Any) -> dict:
    """Look into a table which values those are that are out of range.

    Parameters
    ----------
    drifts : mapping from group to GroupDrift
    X : table
        The batch.

    Returns
    -------
    dict from group to GroupDrift
        With ``usual_value`` of numbers at fault that have one.
    """
    names = column_names(X)
    usual: dict[str, float] = {}
    found = {}
    for group, drift in drifts.items():
        columns = list(drift.columns)
        for place, column in enumerate(columns):
            cells = column.cells
            if column.fault != "range" or cells.name not in names:
                continue
            if cells.name not in usual:
                values = take_column(X, names.index(cells.name))
                usual[cells.name] = _usual_value(cells, values)
            columns[place] = replace(column, usual_value=usual[cells.name])
        found[group] = replace(drift, columns=tuple(columns))
    return found


def _usual_value(cells: ColumnCells, values: Column) -> float:
    if values.kind != cells.kind:
        return float("nan")
    numbers = values.numbers
    is_outside = (numbers < cells.lowest) | (numbers > cells.highest)
    outside, rows = np.unique(numbers[is_outside], return_counts=True)
    # As with edges: what fewer than ten rows share is not told.
    most = rows.max(initial=0)
    if most < _ROWS_OF_A_NUMBER or most < _MOST * rows.sum():
        return float("nan")
    return float(outside[rows.argmax()])


_FEWEST_ROWS = 20
_MOST = 0.5
"""Share of the rows from which on a column as a whole is at fault."""

_NATURAL = 0.1
"""Share of training rows up to which most rows of a batch having it is a fault."""


def find_faults(
    cells: Sequence[ColumnCells],
    shares: np.ndarray,
    rows: np.ndarray,
    expected: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Find what is plainly wrong with columns.

    Parameters
    ----------
    cells : sequence of ColumnCells
    shares : ndarray of shape (3, n_groups, n_columns, n_cells)
        Of the cells, as counts in `fit_columns`.
    rows : ndarray of shape (n_groups, n_columns)
        Rows of the batch.
    expected : ndarray of shape (n_groups, n_columns, n_cells)
        Shares to expect at the prevalence that the scores say.

    Returns
    -------
    faults : ndarray of shape (n_groups, n_columns)
        "type", "missing", "units", "range", "unseen" or "constant"; empty if nothing is
        wrong, or if there are fewer than 20 rows.
    unit_factors : ndarray of shape (n_groups, n_columns)
        The factor between units by which the median has moved; 0 if by none.
    """
    positives, negatives, batch = shares
    usual = np.maximum(positives, negatives)
    all_missing = (batch[..., MISSING] == 1) & (usual[..., MISSING] < _MOST)
    factors = _unit_factors(cells, batch, expected)
    is_outside = np.zeros(usual.shape[1:], dtype=bool)
    unseen = np.zeros(rows.shape)
    for place, column in enumerate(cells):
        if column.is_number:
            is_outside[place, column.below] = True
            is_outside[place, column.above] = True
        elif column.kind != "empty":
            in_batch = batch[:, place, column.n_cells - 1]
            unseen[:, place] = in_batch - column.unseen_rate
    *trained, outside = (shares * is_outside).sum(axis=-1)
    natural = np.maximum(*trained)
    conditions = {
        "type": batch[..., FOREIGN] > _MOST,
        "missing": all_missing,
        "units": factors > 0,
        "range": (outside > _MOST) & (natural < _NATURAL),
        "unseen": unseen > _MOST,
        "constant": _are_constant(shares[..., FIRST:], rows),
    }
    faults = np.select(list(conditions.values()), list(conditions), "")
    return np.where(rows < _FEWEST_ROWS, "", faults), factors


def strange_values(
    cells: Sequence[ColumnCells], counts: np.ndarray
) -> dict[str, np.ndarray]:
    """Count the strange values of columns, as `find_strange_values` takes them.

    Parameters
    ----------
    cells : sequence of ColumnCells
    counts : ndarray of shape (3, n_groups, n_columns, n_cells)
        As in `fit_columns`.

    Returns
    -------
    dict from str to ndarray of shape (n_groups, n_columns, 3)
        The "rows" of the classes and the batch, those with "strange" values, and those
        with "rare" levels of text.
    """
    kinds = np.zeros((2, *counts.shape[2:]), dtype=bool)
    for place, column in enumerate(cells):
        kinds[0, place, column.strange] = True
        if not (column.kind == "empty" or column.is_number):
            kinds[1, place, column.n_cells - 2] = True
    strange, rare = ((counts * of_kind).sum(axis=-1) for of_kind in kinds)
    sums = {"rows": counts.sum(axis=-1), "strange": strange, "rare": rare}
    return {name: np.moveaxis(values, 0, -1) for name, values in sums.items()}


def find_strange_values(
    cells: Sequence[ColumnCells], sums: Mapping[str, np.ndarray], rho: np.ndarray
) -> np.ndarray:
    """Tell which columns hold more strange values than a prior shift can explain.

    Parameters
    ----------
    cells : sequence of ColumnCells
    sums : mapping from str to ndarray
        From `strange_values`.
    rho : ndarray of shape (n_groups, 1)
        The prevalences that the scores say.

    Returns
    -------
    ndarray of bool of shape (n_groups, n_columns)
        At `LEVEL` over all columns and groups, by Holm's method, and in more than two
        rows of a hundred.

    Notes
    -----
    Of strange values training has few rows, or none, and their share is as uncertain
    as that. With k of N training rows of a class it has, to be careful, the gamma
    distribution of k + 1 rows; that of the mixture at rho has nearly one as well, with
    the same mean and variance, and the rows of the batch are then negative binomial.
    """
    rows = sums["rows"]
    trained = sums["strange"][..., :2].astype(float)
    found = sums["strange"][..., 2]
    for place, column in enumerate(cells):
        if column.kind == "empty" or column.is_number:
            continue
        # Training has seen none of these. Where rare levels are more frequent, so are
        # levels that are seen for the first time.
        rare = sums["rare"][:, place, :2]
        overall = rare.sum() / rows[:, place, :2].sum()
        trained[:, place] = column.unseen_rate * (rare / overall if overall else 0)
    weights = np.stack([rho, 1 - rho], axis=-1) / rows[..., :2]
    mean = (weights * (trained + 1)).sum(axis=-1)
    variance = (weights**2 * (trained + 1)).sum(axis=-1)
    shape = mean**2 / variance
    expected = mean * rows[..., 2]
    tail = betainc(np.maximum(found, 1), shape, expected / (shape + expected))
    p_values = np.where(found > 0, tail, 1.0)
    adjusted = np.reshape(holm(p_values.ravel()), p_values.shape)
    excess = found / rows[..., 2] - (weights * trained).sum(axis=-1)
    return (adjusted < LEVEL) & (excess > _WORTH_NAMING)


def _are_constant(shares: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Tell where all values lie in one cell that is no majority in training."""
    *of_classes, batch = shares
    if batch.shape[-1] == 0:
        return np.zeros(rows.shape, dtype=bool)
    present = batch.sum(axis=-1)
    are_alike = (batch.max(axis=-1) == present) & (present * rows >= _FEWEST_ROWS)
    cell = batch.argmax(axis=-1)[..., None]
    # Among the values that are not missing: a column of one value and many gaps is as
    # constant in training.
    for trained in of_classes:
        usual = np.take_along_axis(trained, cell, axis=-1)[..., 0]
        present = trained.sum(axis=-1)
        are_alike &= (usual < _MOST * present) | (present == 0)
    return are_alike


def _unit_factors(
    cells: Sequence[ColumnCells], batch: np.ndarray, expected: np.ndarray
) -> np.ndarray:
    """Return the factors between units by which medians have moved; 0 if by none."""
    factors = np.zeros(batch.shape[:-1])
    windows = []
    for place, column in enumerate(cells):
        windows += [(place, *unit) for unit in column.units]
    # Columns that have no unit have no such edges.
    if not windows:
        return factors
    columns, of_windows, lows, highs = np.array(windows).T
    places = columns.astype(int), lows.astype(int), highs.astype(int)
    moved = _medians_within(batch, *places)
    # A prevalence that puts the median there explains it without other units.
    moved &= ~_medians_within(expected, *places)
    groups, found = np.nonzero(moved)
    factors[groups, places[0][found]] = of_windows[found]
    return factors


def _medians_within(
    shares: np.ndarray, columns: np.ndarray, lows: np.ndarray, highs: np.ndarray
) -> np.ndarray:
    """Tell where the medians of some columns lie between two of their edges."""
    below_edge = np.cumsum(shares[..., FIRST:], axis=-1)
    half = below_edge[:, columns, -1] / 2
    below_low = below_edge[:, columns, lows]
    return (below_low < half) & (half <= below_edge[:, columns, highs])


_LIKELY = 0.5
"""Chance of being off by no more than `TOLERANCE` from which on an estimate is likely
right. Of 672 estimates for public series, 15 % of those below it were off by more than
.15, and 1 % of those above."""


def judge(drift: GroupDrift | None, width: float, chance: float) -> str:
    """Grade what is known of a group, by the evidence and by its effect.

    Parameters
    ----------
    drift : GroupDrift or None
        None if nobody looked.
    width : float
        Of the interval made without labels; NaN if there is none.
    chance : float
        That the estimate is off by no more than `TOLERANCE`.

    Returns
    -------
    str
        A verdict of `GroupAdaptation`.
    """
    if drift is None:
        return "not_tested"
    if drift.faults or width > WIDEST:
        return "uncertain"
    if drift.is_clear:
        return "some_drift" if chance >= _LIKELY else "drifted"
    if drift.p_adjusted < LEVEL:
        return "weighted"
    if chance < _LIKELY:
        return "uncertain"
    return "consistent" if drift.p_values else "not_tested"
