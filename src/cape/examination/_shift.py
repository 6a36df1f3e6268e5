"""What has moved: the prevalences, and what else. Tests, and the verdict on a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from cape.base._groups import Group, GroupResult, group_labels
from cape.base._json_fields import strict_json
from cape.base._limits import LEVEL
from cape.base._numbers import p_value_text
from cape.drift._find import TOLD_OF_COLUMNS, ColumnDrift, GroupDrift
from cape.drift._mixture import fit_mixture, holm
from cape.evidence._evidence import Evidence, GroupEvidence
from cape.evidence._histogram import ScoreHistogram
from cape.labels._factor import LabelFactor
from cape.labels._sample import labelled_sample
from cape.rules._adaptation import Adaptation, GroupAdaptation
from cape.shown import _examination as words
from cape.shown._notebook import InNotebook
from cape.shown._results import verdict_text
from cape.training._group_model import GroupModel

_ALPHA = 0.05
"""Level, over all groups together, at which a prevalence has moved."""


@dataclass(frozen=True)
class GroupMoved:
    """Whether the prevalence of one group has moved.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    training_prevalence : float
        Share of positives in training.
    estimate : float
        Estimated share of positives in the batch.
    p_value : float
        p-value of "nothing has moved" for the group by itself. This is the one to show
        beside the interval of the prevalence, which is for the group by itself, too.
    p_adjusted : float
        p-value after Holm's correction for the number of groups. The verdict rests on
        it.
    moved : bool
        Whether ``p_adjusted`` is below the level of the test, and drift does not
        explain it: an interval that drift has widened must not hold the training
        prevalence.
    """

    rows: int
    training_prevalence: float
    estimate: float
    p_value: float
    p_adjusted: float
    moved: bool


@dataclass(frozen=True, repr=False)
class PrevalenceMoved(InNotebook, GroupResult):
    """Whether each group's share of positives differs from training.

    The test uses the statistic of the quantifier (for SPA, the mean score). If nothing
    changed, its means over the batch and over the training rows differ only by noise.
    Usable labels replace the scores.

    Parameters
    ----------
    groups : mapping from group to GroupMoved
        The test of each group of the batch.
    alpha : float
        Level of the test over all groups together.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> one = make_synthetic(1000, prevalences=(0.5, 0.8), random_state=2)
    >>> seen = examine(clf, one.data, sensitive_features=one.sensitive_features)
    >>> seen.moved.table()["moved"].to_dict()
    {0: False, 1: True}
    """

    groups: Mapping[Group, GroupMoved]
    alpha: float

    @property
    def moved(self) -> bool:
        """Whether any group moved."""
        return any(test.moved for test in self.groups.values())

    def _facts(self) -> dict[str, Any]:
        return {"moved": self.moved, "alpha": self.alpha}

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.moved_shown(self)


def find_moves(
    models: Mapping[Group, GroupModel], evidence: Evidence, adaptation: Adaptation
) -> PrevalenceMoved:
    """Test whether the prevalence of each group has moved.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    adaptation : Adaptation
        To the same batch, with intervals.

    Returns
    -------
    PrevalenceMoved
    """
    p_values = {}
    for group, part in evidence.groups.items():
        adapted = adaptation.groups[group]
        if adapted.labels.verdict is None:
            p_values[group] = p_value_of_scores(models[group], part.scores)
        else:
            p_values[group] = _p_value_of_labels(models[group], part, adapted)
    # Holm (1979): the chance of any false alarm among the groups stays below alpha.
    adjusted = holm(list(p_values.values()))
    groups = {}
    for group, p_adjusted in zip(p_values, adjusted, strict=True):
        adapted = adaptation.groups[group]
        groups[group] = GroupMoved(
            rows=adapted.rows,
            training_prevalence=adapted.training_prevalence,
            estimate=adapted.estimate.value,
            p_value=p_values[group],
            p_adjusted=p_adjusted,
            moved=p_adjusted < _ALPHA and not _drift_explains(adapted),
        )
    return PrevalenceMoved(groups, _ALPHA)


def _drift_explains(adapted: GroupAdaptation) -> bool:
    """Tell whether drift widened the interval so far that it holds the old prevalence.

    So it is where nothing can be told. The test asks whether the scores moved. Drift
    moves them without any change of the prevalence. Labels see the prevalence itself.
    """
    if adapted.labels.verdict is not None:
        return False
    now = adapted.estimate
    within = now.low <= adapted.training_prevalence <= now.high
    return adapted.move_cannot_be_told or (adapted.held_back > 0 and within)


def _p_value_of_labels(
    model: GroupModel, evidence: GroupEvidence, adapted: GroupAdaptation
) -> float:
    """Return the p-value of "the prevalence is still that of training", from labels.

    As in the test of the scores, training and batch are samples of one population under
    the null hypothesis; the batch may be known by few labels.
    """
    factor = LabelFactor.of(model.log_odds, labelled_sample(evidence))
    pi = model.prevalence
    noise = np.sqrt(pi * (1 - pi) * (1 / model.size + 1 / adapted.effective_rows))
    return factor.p_value(pi, float(noise))


def p_value_of_scores(model: GroupModel, batch: ScoreHistogram) -> float:
    """Return the two-sided p-value of "the prevalence is still that of training".

    With t, f and m the means of the quantifier's statistic over the training positives,
    the training negatives and the batch, the null hypothesis says that m and
    pi t + (1 - pi) f are means of two samples of the same mixture.
    """
    pi = model.prevalence
    moments_of = model.quantifier.statistic_moments
    positives = moments_of(model.positives, pi)
    negatives = moments_of(model.negatives, pi)
    observed = moments_of(batch, pi)
    # Variance of a mixture: within the classes, plus between their means.
    within = pi * positives.variance + (1 - pi) * negatives.variance
    between = pi * (1 - pi) * (positives.mean - negatives.mean) ** 2
    training_rows = positives.size + negatives.size
    # Two independent samples of the mixture: their variances add up.
    inverse_rows = 1 / observed.size + 1 / training_rows
    noise = np.sqrt((within + between) * inverse_rows)
    of_positives = pi * positives.mean
    of_negatives = (1 - pi) * negatives.mean
    difference = abs(observed.mean - of_positives - of_negatives)
    if noise == 0:
        # A constant statistic is either that of training or it is not.
        return float(difference == 0)
    return float(2 * ndtr(-difference / noise))


@dataclass(frozen=True)
class GroupShiftTest:
    """The test of one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    p_value : float
        p-value of the group by itself.
    p_adjusted : float
        p-value after Holm's correction for the number of groups.
    effect : float
        Share of the batch that no mixture of the two classes explains, beyond noise.
    rejected : bool
        Whether ``p_adjusted`` is below the level of the test.
    tested : bool
        False if there were too few rows to test.
    sound : bool
        Whether the test keeps its level for this model. If not, a rejection means
        little.
    """

    rows: int
    p_value: float
    p_adjusted: float
    effect: float
    rejected: bool
    tested: bool
    sound: bool


@dataclass(frozen=True, repr=False)
class PriorShiftTest(InNotebook, GroupResult):
    """Whether the scores of each group are a mixture of the training classes.

    Under prior shift they are, whatever the prevalence. A small p-value says that
    something else changed as well. Then neither the estimated prevalences nor the
    expected rates are reliable.

    Parameters
    ----------
    groups : mapping from group to GroupShiftTest
        The test of each group of the batch.
    alpha : float
        Level of the test over all groups together.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> seen.prior_shift.rejected
    False
    """

    groups: Mapping[Group, GroupShiftTest]
    alpha: float

    @property
    def sound(self) -> bool:
        """Whether the test keeps its level in every group."""
        return all(test.sound for test in self.groups.values())

    @property
    def advice(self) -> str:
        """What to do if the test is not sound; empty if it is."""
        # Only a model that was refitted on all rows can be unsound.
        return "" if self.sound else words.NOT_SOUND

    @property
    def rejected(self) -> bool:
        """Whether the assumption is rejected in any group."""
        return any(test.rejected for test in self.groups.values())

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.prior_shift_shown(self)

    def _facts(self) -> dict[str, Any]:
        return {
            "sound": self.sound,
            "rejected": self.rejected,
            "alpha": self.alpha,
            "advice": self.advice,
        }


def check_scores(
    models: Mapping[Group, GroupModel],
    evidence: Evidence,
    found: Mapping[Group, GroupDrift],
) -> PriorShiftTest:
    """Say of the scores of all groups whether they are a mixture, sound or not.

    Parameters
    ----------
    models : mapping from group to GroupModel
    evidence : Evidence
    found : mapping from group to GroupDrift
        What the adaptation found. It has tested the scores where the test is sound.

    Returns
    -------
    PriorShiftTest
    """
    fits = {}
    for group, part in evidence.groups.items():
        model = models[group]
        fits[group] = found[group].score or fit_mixture(
            model.positives, model.negatives, part.scores, part.agreements
        )
    groups = {}
    adjusted = holm([fit.p_value for fit in fits.values()])
    for (group, fit), p_adjusted in zip(fits.items(), adjusted, strict=True):
        groups[group] = GroupShiftTest(
            rows=evidence.groups[group].rows,
            p_value=fit.p_value,
            p_adjusted=p_adjusted,
            effect=fit.effect,
            rejected=p_adjusted < LEVEL,
            # Without degrees of freedom there is nothing left that could disagree.
            tested=fit.df > 0,
            sound=models[group].test_is_sound,
        )
    return PriorShiftTest(groups, LEVEL)


@dataclass(frozen=True, repr=False)
class ColumnShift(InNotebook, GroupResult):
    """The columns of a batch that no mixture of the training classes explains.

    Under prior shift every column of a group is distributed as in training, positives
    and negatives mixed at the prevalence of the batch. Other columns show what else
    changed. A shift in the column that the scores depend on most looks like a prior
    shift; only labels can tell the two apart.

    Parameters
    ----------
    groups : mapping from group to tuple of ColumnDrift
        Columns at fault first, then by effect. Empty if columns were not counted, as
        with a model that was fitted with ``drift="ignore"``.
    group_columns : sequence of str, default=None
        Columns whose values the groups combine; used in their names.

    Examples
    --------
    >>> from cape import examine
    >>> groups = new.sensitive_features
    >>> examine(clf, new.data, sensitive_features=groups).columns
    Columns by group, largest change first: none clearly changed
                 unexplained p, adjusted
    group column
    0     U            0.000       1.000
          V            0.000       1.000
    1     U            0.000       1.000
          V            0.000       1.000
      0, U: 64% are below 8.25021 (65% expected)
      0, V: 45% are below 35.069805 (43% expected)
      1, U: 47% are below 10.847686 (50% expected)
      1, V: 21% are below 13.88934 (19% expected)
    """

    groups: Mapping[Group, tuple[ColumnDrift, ...]]

    @classmethod
    def of(cls, found: Mapping[Group, GroupDrift]) -> ColumnShift:
        """Return the columns among the findings against a prior shift."""
        return cls({group: drift.worst_first for group, drift in found.items()})

    @property
    def counted(self) -> bool:
        """Whether the columns were counted in any group."""
        return any(self.groups.values())

    def moved(self, group: Group) -> list[ColumnDrift]:
        """Return the columns of a group that moved, worst first."""
        return [column for column in self.groups[group] if column.moved]

    def table(self) -> pd.DataFrame:
        """Return one row for each group and column, worst first."""
        return self._table(group_labels(self.groups))

    def _table(self, labels: Mapping[Group, Any]) -> pd.DataFrame:
        rows = []
        for group, columns in self.groups.items():
            for column in columns:
                rows.append({"group": labels[group], **column.flat()})
        rows.sort(key=lambda row: (not row["fault"], -row["effect"]))
        return pd.DataFrame(rows, columns=["group", *TOLD_OF_COLUMNS])

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        frame = self._table(self.names)
        if not self.counted:
            return words.COLUMNS_NOT_COUNTED, frame, ()
        names = words.COLUMN_HEADINGS
        frame["p_adjusted"] = frame["p_adjusted"].map(p_value_text)
        frame = frame.set_index(["group", "column"])
        table = frame[list(names)].rename(columns=names)
        title = words.columns_title(len(frame), int(frame["moved"].sum()))
        return title, table, ()

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dict that JSON can hold."""
        groups = []
        for group, name in self.names.items():
            columns = [column.flat() for column in self.groups[group]]
            groups.append({"group": name, "columns": columns})
        return strict_json({"alpha": LEVEL, "counted": self.counted, "groups": groups})


@dataclass(frozen=True)
class GroupVerdict:
    """What the tests of one group say, for people.

    Parameters
    ----------
    word : str
        The ``verdict`` of the adaptation; "fault" where a column is plainly not what it
        was in training, and "ignored" where columns moved but drift is to be ignored.
    text : str
        A sentence without its full stop.
    clear : bool
        Whether the group is consistent with a prior shift without reservation: scores
        and columns were both tested, and not even a weak sign speaks against it.
    """

    word: str
    text: str
    clear: bool = False


def judge_group(
    adapted: GroupAdaptation,
    columns: Sequence[ColumnDrift],
    *,
    scores_tested: bool,
    auc: float,
    cautious: bool,
    rows_needed: float = math.nan,
) -> GroupVerdict:
    """Say what was found in a group, and why nothing could be told if that is so.

    Parameters
    ----------
    adapted : GroupAdaptation
    columns : sequence of ColumnDrift
        All columns of the group; empty if they were not counted.
    scores_tested : bool
        Whether the test of the scores keeps its level for this model.
    auc : float
        How well the scores tell the classes apart in training; NaN if the model is
        not that of the group alone.
    rows_needed : float, default=nan
        Rows with which the scores would tell the prevalence; infinite if none would do.
    cautious : bool
        Whether drift held the estimate back.

    Returns
    -------
    GroupVerdict
    """
    at_fault = [column.column for column in columns if column.fault]
    moved = any(column.moved for column in columns)
    untested = ""
    word = adapted.verdict
    if at_fault:
        word = "fault"
    elif not cautious and (moved or word == "some_drift"):
        word = "ignored"
    elif word == "consistent":
        untested = "" if scores_tested else "scores"
        if not columns:
            untested = "columns"
    text = verdict_text(
        word,
        adapted,
        at_fault=at_fault,
        auc=auc,
        rows_needed=rows_needed,
        cautious=cautious,
        untested=untested,
    )
    return GroupVerdict(word, text, clear=word == "consistent" and not untested)
