"""Everything there is to say about a batch, computed once and kept together.

The report, the monitor and the command line all start from an `Examination`, so that a
number is computed in one place and shows the same value wherever it appears.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cape import plot
from cape._estimate import Estimate
from cape._groups import Group, name_index, unique_names
from cape._notebook import InNotebook, Shown
from cape._prediction import find_evidence
from cape._wording._numbers import level_text
from cape.adaptation import Adaptation
from cape.adaptation._adaptation import frame_of_shares
from cape.adaptation._group import describe_label_free
from cape.classifier import CapeClassifier
from cape.diagnostics._chosen_draws import BatchDraws
from cape.diagnostics._column_shift import ColumnShift, column_shift
from cape.diagnostics._criteria import N_DRAWS, ExpectedCriteria, criteria_of_draws
from cape.diagnostics._expected import (
    ExpectedPerformance,
    compare_counts,
    expected_of_draws,
)
from cape.diagnostics._frontier import Frontier, frontiers_of_draws
from cape.diagnostics._label_checks import LabelChecks, check_labels
from cape.diagnostics._moved import PrevalenceMoved, moves_from_adaptation
from cape.diagnostics._prior_shift import PriorShiftTest, prior_shift_test
from cape.diagnostics._result import group_index, json_ready
from cape.diagnostics._verdicts import GroupVerdict, judge_group
from cape.evidence import Evidence
from cape.metrics import Confusion
from cape.rules import CRITERIA

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Examination", "Observed", "examine"]

_MOST_NOTES = 10
_MOST_COLUMNS = 3
"""Columns that moved, shown for each group."""


@dataclass(frozen=True)
class Observed:
    """Confusion counts of the rows of a batch whose labels are known.

    Parameters
    ----------
    cape : mapping from group to Confusion
        Counts of CAPE's predictions.
    unadapted : mapping from group to Confusion
        Counts of the model as it was trained, cut at 1/2.
    """

    cape: Mapping[Group, Confusion]
    unadapted: Mapping[Group, Confusion]

    def to_dict(self, names: Mapping[Group, str] | None = None) -> dict[str, Any]:
        """Return the counts as a dict that JSON can hold.

        Parameters
        ----------
        names : mapping from group to str, default=None
            What the groups are called where they stand beside groups without labels.

        Returns
        -------
        dict
            ``cape`` and ``unadapted``, each a list with one entry for each group.
        """
        if names is None:
            names = unique_names(self.cape)
        return {
            "cape": _counts_as_list(self.cape, names),
            "unadapted": _counts_as_list(self.unadapted, names),
        }


@dataclass(frozen=True, repr=False)
class Examination(InNotebook):
    """Result of `examine`: what was estimated, tested and expected of one batch.

    To add what was learnt later, use ``dataclasses.replace(examination,
    observed=...)``.

    Parameters
    ----------
    clf : CapeClassifier
        The model.
    evidence : Evidence
        What the model needs to know about the rows of the batch.
    adaptation : Adaptation
        Estimated prevalences and chosen members; `CapeClassifier.predict` takes it.
    shift_test : PriorShiftTest
        Whether the scores speak against a prior shift.
    columns : ColumnShift
        Which columns moved, and how.
    moved : PrevalenceMoved
        Whether the prevalences have moved.
    expected : ExpectedPerformance
        The rates to expect before labels arrive.
    criteria : ExpectedCriteria
        What to expect of every fairness criterion, and with which probability the
        bounds of the rule are met.
    draws : BatchDraws
        The simulated batches behind it.
    labels : LabelChecks, default=None
        What labels say of the estimates that were made without them; None if no row has
        a label.
    observed : Observed, default=None
        Counts of the rows whose labels are known.
    provenance : mapping, default=None
        Where the batch and the model come from, for the last section of a report.
    """

    clf: CapeClassifier
    evidence: Evidence
    adaptation: Adaptation
    shift_test: PriorShiftTest
    columns: ColumnShift
    moved: PrevalenceMoved
    expected: ExpectedPerformance
    criteria: ExpectedCriteria
    draws: BatchDraws = field(compare=False)
    labels: LabelChecks | None = None
    observed: Observed | None = None
    provenance: Mapping[str, Any] | None = None

    @property
    def rows(self) -> int:
        """Number of rows of the batch."""
        return sum(self.evidence.rows.values())

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return self.adaptation.level

    @property
    def names(self) -> dict[Group, str]:
        """What the groups of the batch are called, each by a name of its own."""
        return unique_names(self.adaptation.groups)

    def verdict(self, group: Group) -> GroupVerdict:
        """Say what scores and columns of a group say of a prior shift, and why.

        Parameters
        ----------
        group : value, or tuple of values

        Returns
        -------
        GroupVerdict
            With ``word``, ``text`` and whether it is ``clear``.
        """
        return judge_group(
            self.adaptation.groups[group],
            self.columns.groups[group],
            scores_tested=self.shift_test.groups[group].sound,
            auc=self.clf.model_of(group).auc(),
            cautious=self.adaptation.drift == "cautious",
        )

    def table(self) -> pd.DataFrame:
        """Return the most important numbers as a data frame.

        Returns
        -------
        DataFrame
            One row for each group: rows, training_prevalence, estimate, low, high,
            moved, verdict, held_back, theta, predicted_prevalence, pd_bound, and the
            expected fpr, fnr and accuracy. With labels: labelled, label_free_estimate,
            label_estimate and label_verdict as well.
        """
        import pandas as pd

        rows = [self._row(group) for group in self.adaptation.groups]
        return pd.DataFrame(rows, index=group_index(self.adaptation.groups))

    def plot(self) -> Any:
        """Draw the prevalences in training and now; needs altair.

        Where labels were compared with the estimates, what they say is drawn as well.

        Returns
        -------
        altair chart
        """
        frame = frame_of_shares(self.adaptation)
        compared = "estimated without labels"
        if self.labels is not None and not self.labels.decide:
            compared = "according to the labels"
            said = self.labels.shares()
            frame = frame.merge(said.drop(columns=["rows", "now", "low", "high"]))
        level = level_text(self.level)
        title = f"Share of positives in training and now, with {level} intervals"
        return plot.moved(frame, title=title, compared=compared, width=300)

    def _shown(self) -> Shown:
        import pandas as pd

        rows = []
        for group, chosen in self.adaptation.groups.items():
            expected = self.expected.groups[group]
            row = {
                "rows": chosen.rows,
                "in training": chosen.training_prevalence,
                "now": Estimate(chosen.estimate, chosen.low, chosen.high),
                "called positive": chosen.predicted_prevalence,
                "FPR": expected.fpr,
                "FNR": expected.fnr,
                "accuracy": expected.accuracy,
                "verdict": self.verdict(group).text,
            }
            rows.append(row)
        table = pd.DataFrame(rows, index=name_index(self.adaptation.groups))
        title = (
            f"Examination of {self.rows:,} rows, with {level_text(self.level)} "
            "intervals; FPR, FNR and accuracy are those to expect"
        )
        notes = []
        if self.labels is not None:
            for group, check in self.labels.groups.items():
                notes.append(f"{self.names[group]}: {check.text}.")
        return Shown(title, table, notes[:_MOST_NOTES])

    def to_dict(self) -> dict[str, Any]:
        """Return all parts as a dict that JSON can hold.

        Returns
        -------
        dict
            ``fingerprint``, ``rows``, ``level``, ``drift``, ``rule``, ``adaptation``,
            ``shift_test``, ``columns``, ``moved``, ``expected``, ``criteria``,
            ``labels`` and ``observed``. What is unknown is None.
        """
        # `Adaptation.to_json` keeps the types of groups; here they are names for
        # people.
        adaptation = []
        names = self.names
        for group, chosen in self.adaptation.groups.items():
            entry = {
                "group": names[group],
                **json_ready(asdict(chosen)),
            }
            adaptation.append(entry)
        labels = None
        if self.labels is not None:
            labels = self.labels.to_dict()
        observed = None
        if self.observed is not None:
            observed = self.observed.to_dict(names)
        return {
            "fingerprint": self.adaptation.fingerprint,
            "rows": self.rows,
            "level": self.level,
            "drift": self.adaptation.drift,
            "rule": dict(self.adaptation.rule),
            "adaptation": adaptation,
            "shift_test": self.shift_test.to_dict(),
            "columns": self.columns.to_dict(),
            "moved": self.moved.to_dict(),
            "expected": self.expected.to_dict(),
            "criteria": self.criteria.to_dict()["criteria"],
            "labels": labels,
            "observed": observed,
        }

    def expected_and_observed(self) -> pd.DataFrame | None:
        """Put expected and observed rates side by side, where all labels are known.

        The intervals of ``expected`` are for rates over all rows of a group: groups
        with labels of some of their rows are left out.

        Returns
        -------
        DataFrame or None
            As from `compare_expected`; None if there is no group to compare.
        """
        if self.observed is None:
            return None
        complete = {}
        for group, counts in self.observed.cape.items():
            if counts.rows == self.adaptation.groups[group].rows:
                complete[group] = counts
        if not complete:
            return None
        return compare_counts(self.expected, complete)

    def frontiers(
        self, criteria: Sequence[str] = tuple(CRITERIA), *, n_points: int = 30
    ) -> dict[str, Frontier]:
        """Compute what meeting each criterion costs in accuracy.

        Parameters
        ----------
        criteria : sequence of str, default=all
            Names in `cape.rules.CRITERIA`.
        n_points : int, default=30
            Most points of a curve.

        Returns
        -------
        dict from str to Frontier
            As from `cape.diagnostics.frontiers`.
        """
        return frontiers_of_draws(
            self.draws,
            self.adaptation,
            criteria,
            cost_fp=1.0,
            cost_fn=1.0,
            n_points=n_points,
        )

    def __repr__(self) -> str:
        if not self.adaptation.groups:
            return "Examination(no rows)"
        # Lines of at most 88 characters, because a terminal would break longer ones.
        lines = [f"Examination of {self.rows} rows, intervals at {self.level:.0%}"]
        names = self.names
        for group, name in names.items():
            lines += self._describe(group, name)
        worst = self.expected.worst_pair()
        if worst is not None:
            pair = f"{names[worst.group]} to {names[worst.other]}"
            lines.append(f"worst expected PE: {worst.pe:.3f} ({pair})")
        if self.shift_test.advice:
            lines.append(self.shift_test.advice)
        return "\n".join(lines)

    def _row(self, group: Group) -> dict[str, Any]:
        """Return the row of one group in `table`."""
        chosen = self.adaptation.groups[group]
        expected = self.expected.groups[group]
        row = {
            "rows": chosen.rows,
            "training_prevalence": chosen.training_prevalence,
            "estimate": chosen.estimate,
            "low": chosen.low,
            "high": chosen.high,
            "moved": self.moved.groups[group].moved,
            "verdict": chosen.verdict,
            "held_back": chosen.held_back,
            "theta": chosen.theta,
            "predicted_prevalence": chosen.predicted_prevalence,
            "pd_bound": chosen.pd_bound,
            "fpr": expected.fpr,
            "fnr": expected.fnr,
            "accuracy": expected.accuracy,
        }
        if self.labels is not None:
            check = self.labels.groups[group]
            row["labelled"] = check.labelled
            row["label_free_estimate"] = check.label_free_estimate
            row["label_estimate"] = check.label_estimate
            row["label_verdict"] = check.label_verdict
        return row

    def _describe(self, group: Group, name: str) -> list[str]:
        """Return the lines about one group in the repr."""
        chosen = self.adaptation.groups[group]
        expected = self.expected.groups[group]
        moved = "moved" if self.moved.groups[group].moved else "no sign of a move"
        worst = self.columns.moved(group)[:_MOST_COLUMNS]
        return [
            f"{name}: {chosen.rows} rows",
            f"  prevalence {chosen.training_prevalence:.3f} -> {chosen.estimate:.3f} "
            f"({chosen.low:.3f} to {chosen.high:.3f}), {moved}",
            *self._describe_labels(group),
            f"  {self.verdict(group).text}",
            *[f"    {finding.what_happened}" for finding in worst],
            f"  member for {chosen.theta:.3f} predicts "
            f"{chosen.predicted_prevalence:.3f}, PD at most {chosen.pd_bound:.3f}",
            f"  expected FPR {expected.fpr:.3f}, FNR {expected.fnr:.3f}, "
            f"accuracy {expected.accuracy:.3f}",
        ]

    def _describe_labels(self, group: Group) -> list[str]:
        """Return the lines about the labels of one group in the repr."""
        if self.labels is None:
            return []
        check = self.labels.groups[group]
        lines = [f"  {check.text}"]
        if check.label_verdict is None:
            return lines
        if self.labels.decide:
            return [f"  {describe_label_free(check)}", *lines]
        interval = f"({check.low:.3f} to {check.high:.3f})"
        return [*lines, f"  according to labels {check.label_estimate:.3f} {interval}"]


def examine(
    clf: CapeClassifier,
    X: Any = None,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    inclusion_probability: Any = None,
    evidence: Evidence | None = None,
    level: float = 0.95,
    rule: Any = None,
    drift: str | None = None,
    labels_decide: bool = True,
) -> Examination:
    """Compute everything there is to say about a batch.

    The batch is adapted to, the assumption of a prior shift is tested on scores and
    columns, each group is tested for a move of its prevalence, and the rates to expect
    are computed. Each part is computed once, and the parts share the estimates of the
    adaptation. Labels of some rows check the estimates and correct them.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features), default=None
        The batch. Exactly one of ``X`` and ``evidence`` must be given.
    y : array-like of shape (n_samples,), default=None
        Labels of some rows, as in `CapeClassifier.adapt`.
    sensitive_features : array-like or table of n_samples rows, default=None
        Groups of the rows of ``X``.
    inclusion_probability : array-like of shape (n_samples,), default=None
        How the labelled rows were drawn, as in `CapeClassifier.adapt`.
    evidence : Evidence, default=None
        Evidence of the batch, from `CapeClassifier.evidence`, with or without labels.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the
        classifier.
    drift : {"cautious", "ignore"}, default=None
        What to do where more than the prevalence has moved; None is the choice of the
        classifier.
    labels_decide : bool, default=True
        Whether labels correct the estimates. False compares them with the estimates and
        does nothing else: so the batch is predicted as if nobody knew its labels, and
        it is seen how far that is right.

    Returns
    -------
    Examination

    Warns
    -----
    AdaptationWarning
        As `CapeClassifier.adapt` does.

    See Also
    --------
    cape.report.write_report : Write an examination as a page.

    Examples
    --------
    >>> from cape.diagnostics import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> seen.table()["moved"].to_dict()
    {0: True, 1: True}
    >>> seen.shift_test.rejected
    False
    """
    with_labels = find_evidence(
        clf,
        X,
        sensitive_features,
        evidence,
        y=y,
        inclusion_probability=inclusion_probability,
    )
    evidence = with_labels if labels_decide else with_labels.without_labels()
    # Warnings come through: whoever calls this for a file turns them into notes.
    adaptation = clf.adapt(evidence=evidence, level=level, rule=rule, drift=drift)
    draws = BatchDraws(clf, evidence, adaptation, n_draws=N_DRAWS, random_state=0)
    return Examination(
        clf=clf,
        evidence=evidence,
        adaptation=adaptation,
        shift_test=prior_shift_test(clf, evidence=evidence),
        columns=column_shift(clf, evidence=evidence),
        moved=moves_from_adaptation(clf, evidence, adaptation),
        expected=expected_of_draws(draws, clf, evidence, adaptation),
        criteria=criteria_of_draws(draws, adaptation),
        draws=draws,
        labels=check_labels(clf, with_labels, adaptation, decide=labels_decide),
    )


def _counts_as_list(
    counts: Mapping[Group, Confusion], names: Mapping[Group, str]
) -> list[dict[str, Any]]:
    """Return confusion counts as a list with one entry for each group."""
    entries = []
    for group, confusion in counts.items():
        entries.append(
            {
                "group": names[group],
                **asdict(confusion),
            }
        )
    return entries
