"""Everything there is to say about a batch, each part computed once.

Reports, notebooks and the command line only show an `Examination`, so
that a number is computed in one place and has the same value wherever it appears.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cape.base._groups import (
    Group,
    Groups,
    check_groups,
    combined_columns,
    group_labels,
    group_table,
    split_groups,
)
from cape.base._json_fields import strict_json
from cape.base._limits import TOLERANCE, WIDEST
from cape.base._validation import (
    all_if_none,
    check_drift,
    check_number,
    check_prevalence,
    check_same_length,
    check_weights,
    pickable,
)
from cape.base._validation import check_labels as check_all_labels
from cape.classifier import CapeClassifier
from cape.drift._find import find_drift, with_usual_values
from cape.evidence._evidence import Evidence
from cape.examination._action import Action, check_predictions, choose_action
from cape.examination._draws import GroupDraws, draw_batches
from cape.examination._expected import (
    ExpectedCriteria,
    ExpectedPerformance,
    expect_criteria,
    expect_rates,
)
from cape.examination._needed import (
    LabelChecks,
    check_labels,
    labels_asked,
    plan_labels,
    rows_at,
)
from cape.examination._score import (
    ScoredExamination,
    score_group,
    share_at_half,
)
from cape.examination._shift import (
    ColumnShift,
    GroupVerdict,
    PrevalenceMoved,
    PriorShiftTest,
    check_scores,
    find_moves,
    judge_group,
)
from cape.metrics import confusion_by_group
from cape.metrics._rates import Confusion
from cape.rules._adaptation import Adaptation, warn_if_doubtful
from cape.rules._deciding import adapt, estimate_groups, find_evidence
from cape.rules._rules import Prevalence, rule_of
from cape.shown import _examination as words
from cape.shown import _plot
from cape.shown._notebook import InNotebook
from cape.training._group_model import own_auc

_RATES = ("fpr", "fnr", "accuracy")

_IN_TABLE = """
rows training_prevalence estimate low high moved verdict held_back borrowed made_for
predicted_prevalence pd_bound fpr fnr accuracy
"""
_OF_LABELS = " labelled without_labels label_estimate label_verdict"
"""Columns of `Examination.table`."""

_MOST_COLUMNS = 3
"""Columns that moved, told of each group."""

_NO_MOVE = ("uncertain", "weighted", "fault")
"""Verdicts under which nobody can say how far a share has moved."""

OF_A_COLUMN = ("column", "fault", "effect", "p_adjusted", "what_happened")
"""What is told of a column that moved."""


class Observed(NamedTuple):
    """Confusion counts of the rows of a batch whose labels are known.

    Parameters
    ----------
    cape : mapping from group to Confusion
        Counts of CAPE's predictions.
    unadapted : mapping from group to Confusion
        Counts of the model as it was trained, cut where it calls as many positive as
        training had.
    """

    cape: Mapping[Group, Confusion]
    unadapted: Mapping[Group, Confusion]


class Examination(InNotebook):
    """Result of `examine`: all estimates, tests and expected rates of one batch.

    Each part is computed once, when you first ask for it. All simulated numbers come
    from one set of draws.

    Parameters
    ----------
    clf : CapeClassifier
        The model.
    evidence : Evidence
        What the model needs to know about the rows of the batch.
    adaptation : Adaptation
        Estimated prevalences and chosen members; `CapeClassifier.predict` takes it.
    labelled : Evidence, default=None
        The evidence with labels that did not decide; None if labels decide.
    n_draws : int, default=2000
        Simulated batches behind the intervals of what is expected.
    random_state : int, Generator or None, default=0
        Seed of the simulation.
    tolerance : float in (0, 1), default=0.05
        How far off an estimate may be to be used.

    Attributes
    ----------
    action : Action
        What to do with the predictions, for each group and for all: use them, label
        some rows first, hold off, or do not use them.
    moved : PrevalenceMoved
        Whether the prevalences moved.
    prior_shift : PriorShiftTest
        Whether the scores contradict a prior shift.
    columns : ColumnShift
        Which columns moved, and how.
    expected : ExpectedPerformance
        The rates to expect before labels arrive.
    criteria : ExpectedCriteria
        What to expect of every fairness criterion, and how likely the bounds of the
        rule are to be met.
    labels : LabelChecks or None
        What labels say about the label-free estimates; None if no row has
        a label.
    draws : dict from group to GroupDraws
        The simulated batches behind what is expected.
    observed : Observed or None
        Counts of the rows whose labels are known. Set it when labels arrive.
    provenance : mapping or None
        Origin of the batch and the model, for the last section of a report.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> seen.moved.moved, seen.prior_shift.rejected, seen.verdict(0).word
    (True, False, 'consistent')
    >>> bool((seen.labels_needed(0.1)["labels"] < 200).all())
    True
    """

    def __init__(
        self,
        clf: CapeClassifier,
        evidence: Evidence,
        adaptation: Adaptation,
        *,
        labelled: Evidence | None = None,
        n_draws: int = 2000,
        random_state: Any = 0,
        tolerance: float = TOLERANCE,
    ):
        self.clf = clf
        self.evidence = evidence
        self.adaptation = adaptation
        self.observed: Observed | None = None
        self.provenance: Mapping[str, Any] | None = None
        # The group of each row, where rows were examined: `score` counts labels by it.
        self.groups_of_rows: Groups | None = None
        # All parts start from the rows of equal weight that the rows are worth.
        self._worth = evidence.effective()
        self._labelled = None if labelled is None else labelled.effective()
        self.weights_of_rows: np.ndarray | None = None
        self.tolerance = tolerance
        self._simulation = {"n_draws": n_draws, "random_state": random_state}
        self._models = {group: clf.model_of(group) for group in evidence.groups}

    @property
    def rows(self) -> int:
        """Number of rows of the batch."""
        return sum(self.evidence.rows.values())

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return self.adaptation.level

    @cached_property
    def names(self) -> dict[Group, str]:
        """The name of each group of the batch; no two are alike."""
        return self.adaptation.names

    @cached_property
    def action(self) -> Action:
        """What to do with the predictions, of each group and of all."""
        asked = labels_asked(self._models, self._worth, self.adaptation, self.tolerance)
        proposed = {}
        if self.adaptation.rule["name"] == "unchanged":
            proposed = Prevalence().choose(self.adaptation.situations)
        actions = {}
        for group, adapted in self.adaptation.groups.items():
            action = choose_action(
                adapted,
                self.verdict(group).word,
                [column for column in self.columns.groups[group] if column.fault],
                self.labels,
                group,
                asked[group].at_most,
                self.adaptation.chance(group, self.tolerance),
            )
            if action.labels:
                action = replace(action, expected_labels=asked[group].labels)
            proposal = None
            if group in proposed:
                shares = self.adaptation.situations[group].predicted_prevalences
                proposal = float(shares[proposed[group]])
            expected = self.expected.groups[group]
            actions[group] = check_predictions(
                action, adapted, expected, proposal, self.tolerance
            )
        return self._named(Action(actions, self.tolerance))

    @cached_property
    def moved(self) -> PrevalenceMoved:
        """Whether the prevalences moved."""
        return self._named(find_moves(self._models, self._worth, self.adaptation))

    @cached_property
    def prior_shift(self) -> PriorShiftTest:
        """Whether the scores contradict a prior shift."""
        drifts = self.adaptation.drifts
        return self._named(check_scores(self._models, self._worth, drifts))

    @cached_property
    def columns(self) -> ColumnShift:
        """Which columns moved, and how."""
        found = self.adaptation.drifts
        if self.adaptation.drift == "ignore":
            # The adaptation did not look at columns, which somebody now asks for.
            answers = estimate_groups(self._models, self._worth.groups)
            found = find_drift(self._models, self._worth.groups, answers)
        return self._named(ColumnShift.of(found))

    @cached_property
    def draws(self) -> dict[Group, GroupDraws]:
        """The simulated batches behind what is expected, by group."""
        return draw_batches(
            self._models, self._worth, self.adaptation, **self._simulation
        )

    @cached_property
    def expected(self) -> ExpectedPerformance:
        """The rates to expect before labels arrive."""
        return self._named(expect_rates(self.draws, self.adaptation))

    @cached_property
    def criteria(self) -> ExpectedCriteria:
        """What to expect of every fairness criterion."""
        return expect_criteria(self.draws, self.adaptation, self.expected)

    @cached_property
    def labels(self) -> LabelChecks | None:
        """What labels say of the estimates that were made without them."""
        evidence = self._worth if self._labelled is None else self._labelled
        decide = self._labelled is None
        if not any(part.labelled_rows for part in evidence.groups.values()):
            return None
        checks = check_labels(self._models, evidence, self.adaptation, decide=decide)
        return self._named(checks)

    def _named(self, result: Any) -> Any:
        """Let a result call its groups what the examination calls them."""
        return replace(result, group_columns=self.adaptation.group_columns)

    def verdict(self, group: Group) -> GroupVerdict:
        """Return the verdict on a prior shift in a group, and why.

        Parameters
        ----------
        group : value, or tuple of values
            As in ``adaptation.groups``, or as in the index of ``adaptation.table()``.

        Returns
        -------
        GroupVerdict
            With ``word``, ``text`` and whether it is ``clear``.
        """
        if group not in self.adaptation.groups:
            for known, label in group_labels(self.adaptation.groups).items():
                if label == group:
                    group = known
        model = self._models[group]
        adapted = self.adaptation.groups[group]
        rows_needed = math.nan
        if adapted.verdict == "uncertain":
            share = adapted.quantifier_estimate.value
            rows_needed, _ = rows_at(model, share, WIDEST, self.level)
            rows_needed *= adapted.rows / adapted.effective_rows
        return judge_group(
            adapted,
            self.columns.groups[group],
            scores_tested=model.test_is_sound,
            auc=own_auc(model, self.clf.pooled_),
            rows_needed=rows_needed,
            # What differs from weighted rows is no drift that one could ignore.
            cautious=self.adaptation.drift == "cautious" or model.weighted,
        )

    def under(self, rule: Any) -> Examination:
        """Examine the same batch under another rule.

        The estimates are the same. Compare ``expected`` and ``criteria`` to see the
        price of a rule, or of each of several tolerances.

        Parameters
        ----------
        rule : str or Rule
            As in `CapeClassifier.adapt`.

        Returns
        -------
        Examination
        """
        adaptation = adapt(
            self._models,
            self.evidence,
            level=self.level,
            rule=rule_of(self.clf, rule),
            drift=self.adaptation.drift,
            drifts=self.adaptation.drifts,
            past=self.clf.past,
            group_columns=self.adaptation.group_columns,
            labels=self.adaptation.labels,
        )
        return Examination(
            self.clf,
            self.evidence,
            adaptation,
            labelled=self._labelled,
            **self._simulation,
            tolerance=self.tolerance,
        )

    def labels_needed(self, width: float) -> pd.DataFrame:
        """Compute how many labels of each group give an interval of a given width.

        Labelling is simulated from what is known of the shares, with the labels that
        there are. Draw the rows with `rows_to_label`, and stop as soon as the interval
        is narrow enough.

        Parameters
        ----------
        width : float in (0, 1)
            Width of the interval of the prevalence, from its low end to its high end.

        Returns
        -------
        DataFrame
            For each group its ``rows``; ``labels``, how many of them are expected to
            be labelled when the interval is narrow enough, and ``at_most``, how many
            will do in nine of ten cases.
        """
        return plan_labels(self._models, self._worth, self.adaptation, width)

    def compare(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> pd.DataFrame:
        """Put expected and observed rates side by side, once labels have arrived.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the same batch.
        y_pred : array-like of shape (n_samples,)
            Predictions of the same batch.
        sensitive_features : array-like or table of n_samples rows, default=None
            Groups of the rows. They must include every group of the batch.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None are those of the rows that were examined.
        pos_label : label, default=None
            The positive label. None is the greater of the two labels.

        Returns
        -------
        DataFrame
            Indexed by ``group`` and ``metric``, with the columns expected, low, high,
            observed and inside. An observed rate is NaN, and not outside, if the batch
            has no row of the class that it is about.
        """
        observed = confusion_by_group(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sample_weight=self._weights(sample_weight),
            pos_label=pos_label,
        )
        for group in self.adaptation.groups:
            if group not in observed:
                raise ValueError(
                    "sensitive_features must include every group of the batch, "
                    f"got {list(observed)} without {group!r}."
                )
        return self.expected.compare(observed)

    def _weights(self, sample_weight: Any) -> Any:
        return self.weights_of_rows if sample_weight is None else sample_weight

    def score(
        self,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        tolerance: float | None = None,
    ) -> ScoredExamination:
        """Compare the examination with the truth, once all labels have come.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The label of every row of the batch.
        sensitive_features : array-like or table of n_samples rows, default=None
            Groups of the rows; None if the rows were examined, and not their evidence.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None are those of the rows that were examined.
        tolerance : float in [0, 1], default=None
            Distance from the truth within which "use" was right; None is that of the
            examination.

        Returns
        -------
        ScoredExamination
            For each group truth, estimate, whether the interval held, the error beside
            those of the last share and the mean score, the action and whether the
            estimate was within the tolerance; PD, and PE of pairs, beside what was
            expected and those of the learner cut at 1/2.

        Examples
        --------
        >>> from cape import examine
        >>> z = new.sensitive_features
        >>> scored = examine(clf, new.data, sensitive_features=z).score(new.target)
        >>> scored.totals["off"] < scored.totals["last_off"]
        True
        """
        if tolerance is not None:
            check_number("tolerance", tolerance, low=0, high=1)
        labels, _ = check_all_labels(y)
        unknown = np.setdiff1d(labels, self.clf.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the labels {self.clf.classes_.tolist()} of the model, "
                f"got {unknown[0]!s:.40}."
            )
        groups = self.groups_of_rows
        if sensitive_features is not None:
            check_same_length(y=y, sensitive_features=sensitive_features)
            groups = check_groups(sensitive_features)
        if groups is None:
            raise ValueError(
                "sensitive_features must be given: evidence does not keep the groups "
                "of its rows."
            )
        check_same_length(y=labels, sensitive_features=groups.codes)
        positive = labels == self.clf.classes_[1]
        weights = check_weights(self._weights(sample_weight), labels)
        truths = {}
        for group, rows in groups.rows():
            of_group = positive[all_if_none(rows)]
            adapted = self.adaptation.groups.get(group)
            # Rows without a group may be part of no estimate.
            if adapted is not None and adapted.rows == len(of_group):
                worth = None if weights is None else weights[all_if_none(rows)]
                truths[group] = float(np.average(of_group, weights=worth))
        for group, adapted in self.adaptation.groups.items():
            if group not in truths:
                raise ValueError(
                    "y must hold the label of every row of the batch: group "
                    f"{self.names[group]!r} has {adapted.rows} rows, got other rows."
                )
        return self.score_shares(truths, tolerance=tolerance)

    def score_shares(
        self, truths: Mapping[Group, float], *, tolerance: float | None = None
    ) -> ScoredExamination:
        """Compare the examination with the true share of positives of each group.

        Parameters
        ----------
        truths : mapping from group to float
        tolerance : float in [0, 1], default=None
            As in `score`.

        Returns
        -------
        ScoredExamination
        """
        scores = {}
        if tolerance is None:
            tolerance = self.tolerance
        for group, adapted in self.adaptation.groups.items():
            model = self._models[group]
            scores[group] = score_group(
                adapted,
                truths[group],
                # The model keeps no share of fewer than ten rows: this is borrowed.
                last=model.prevalence,
                learner=share_at_half(self.adaptation, group, model),
                expected_pd=self.expected.groups[group].pd,
                action=self.action.groups[group].code,
                tolerance=tolerance,
            )
        scored = ScoredExamination(scores, self.expected.between, tolerance)
        return self._named(scored)

    def expected_and_observed(self) -> pd.DataFrame | None:
        """Put expected and observed rates side by side, where all labels are known.

        The intervals of ``expected`` are for rates over all rows of a group: groups
        with labels of some of their rows are left out.

        Returns
        -------
        DataFrame or None
            As from `compare`; None if there is no group to compare.
        """
        complete = {}
        if self.observed is not None:
            for group, counts in self.observed.cape.items():
                if counts.rows == self.adaptation.groups[group].rows:
                    complete[group] = counts
        return self.expected.compare(complete) if complete else None

    def table(self) -> pd.DataFrame:
        """Return the most important numbers as a data frame.

        Returns
        -------
        DataFrame
            One row for each group: rows, training_prevalence, estimate, low, high,
            moved, verdict, held_back, borrowed, made_for, predicted_prevalence,
            pd_bound, and the expected fpr, fnr and accuracy. With labels: labelled,
            without_labels, label_estimate and label_verdict as well.
        """
        columns = _IN_TABLE
        if self.labels is not None:
            columns += _OF_LABELS
        facts = self._known(rates=True)
        return group_table(self.adaptation.groups, facts, columns.split())

    def facts(self, *, rates: bool = True) -> list[dict[str, Any]]:
        """Return what is known of each group: all that shows a batch reads this.

        Parameters
        ----------
        rates : bool, default=True
            Whether to tell the rates to expect, too, which takes a simulation.

        Returns
        -------
        list of dict
            One for each group, as JSON can hold it: its name, the columns of
            `Adaptation.table`, with what the labels say even where they do not decide;
            the verdict with its sentence and its reason; ``moved`` and ``change``, how
            far the share has moved, None if nobody can say; whether the estimate can be
            ``told``; up to three columns that moved; the ``action``; and the expected
            fpr, fnr and accuracy.
        """
        return strict_json(self._known(rates))

    def _known(self, rates: bool) -> list[dict[str, Any]]:
        actions = self.action.to_dict()["groups"]
        labels = self.labels
        entries = []
        for (group, adapted), action in zip(
            self.adaptation.groups.items(), actions, strict=True
        ):
            check = adapted if labels is None else labels.groups[group]
            decided = labels is not None and labels.decide
            verdict = self.verdict(group)
            moved = self.moved.groups[group]
            columns = self.columns.moved(group)
            told = [column.flat() for column in columns[:_MOST_COLUMNS]]
            is_known = decided and check.labels.verdict is not None
            change = adapted.estimate.value - adapted.training_prevalence
            reason = ""
            if verdict.word == "uncertain":
                # A column that moved is not why scores say too little.
                reason = verdict.text
            elif columns:
                reason = words.worst_column(columns)
            entry = {
                "group": self.names[group],
                **adapted.flat(),
                **{n: v for n, v in check.flat().items() if n.startswith("label")},
                # With the reason, which the adaptation alone does not know.
                "verdict": verdict.word,
                "verdict_text": verdict.text,
                "reason": reason,
                "clear": verdict.clear,
                "told": is_known or verdict.word != "fault",
                "moved": moved.moved,
                "change": None if verdict.word in _NO_MOVE else change,
                # The interval beside it is that of the group by itself, too.
                "p_moved": moved.p_value,
                "p_moved_adjusted": moved.p_adjusted,
                "columns": [
                    {name: column[name] for name in OF_A_COLUMN} for column in told
                ],
                "columns_moved": len(columns),
                "unexplained": self.prior_shift.groups[group].effect,
                "action": action,
            }
            if rates:
                for name in _RATES:
                    entry[name] = getattr(self.expected.groups[group], name).value
            entries.append(entry)
        return entries

    def to_dict(self) -> dict[str, Any]:
        """Return all parts as a dict that JSON can hold.

        Returns
        -------
        dict
            ``fingerprint``, ``rows``, ``level``, ``drift``, ``rule``, ``action``,
            ``groups`` (see `facts`), ``shift_test``, ``columns``, ``moved``,
            ``expected``, ``criteria``, ``labels`` and ``observed``. What is unknown is
            None.
        """
        observed = None
        if self.observed is not None:
            observed = {}
            for who, counts in self.observed._asdict().items():
                observed[who] = [
                    {"group": self.names[group], **asdict(confusion)}
                    for group, confusion in counts.items()
                ]
        return {
            "fingerprint": self.adaptation.fingerprint,
            "rows": self.rows,
            "level": self.level,
            "drift": self.adaptation.drift,
            "rule": dict(self.adaptation.rule),
            "action": self.action.to_dict(),
            # `Adaptation.to_json` keeps the types of groups; here they are names for
            # people.
            "groups": self.facts(),
            "shift_test": self.prior_shift.to_dict(),
            "columns": self.columns.to_dict(),
            "moved": self.moved.to_dict(),
            "expected": self.expected.to_dict(),
            "criteria": self.criteria.to_dict()["criteria"],
            "labels": None if self.labels is None else self.labels.to_dict(),
            "observed": observed,
        }

    def plot(self) -> Any:
        """Draw the prevalences in training and now; needs altair.

        Labels, if there are any, are drawn as well.

        Returns
        -------
        altair chart
        """
        frame = self.adaptation.shares()
        compared = words.WITHOUT_LABELS
        if self.labels is not None and not self.labels.decide:
            compared = words.BY_LABELS
            said = self.labels.shares()
            frame = frame.merge(said.drop(columns=["rows", "now", "low", "high"]))
        title = words.examination_title(self)
        return _plot.moved(frame, title=title, compared=compared)

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        return words.examination_shown(self)


def examine(
    clf: CapeClassifier,
    X: Any = None,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    inclusion_probability: Any = None,
    sample_weight: Any = None,
    evidence: Evidence | None = None,
    level: float = 0.95,
    rule: Any = None,
    drift: str | None = None,
    labels: str = "with_scores",
    labels_decide: bool = True,
    n_draws: int = 2000,
    random_state: Any = 0,
    tolerance: float = TOLERANCE,
) -> Examination:
    """Examine a batch: adapt to it, test it, and say what to expect.

    The examination tests scores and columns for changes other than a prior shift, tests
    whether the prevalence of each group has moved, and computes the rates to expect.
    All parts share the estimates of the adaptation. Labels of some rows check the
    estimates and correct them.

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
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, as in `CapeClassifier.adapt`.
    evidence : Evidence, default=None
        Evidence of the batch, from `CapeClassifier.evidence`, with or without labels.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals.
    rule : str or Rule, default=None
        What to aim at, as in `CapeClassifier.adapt`; None is the choice of the
        classifier.
    drift : {"cautious", "ignore"}, default=None
        What to do where more than the prevalence changed; None is the choice of the
        classifier.
    labels : {"with_scores", "alone"}, default="with_scores"
        What the share of a group with labels is judged by, as in
        `CapeClassifier.adapt`.
    labels_decide : bool, default=True
        Whether labels correct the estimates. False only compares them: the batch is
        predicted as if its labels were unknown, so you see how well that works.
    n_draws : int, default=2000
        Simulated batches behind the intervals of what is expected.
    random_state : int, Generator or None, default=0
        Seed of the simulation.
    tolerance : float in (0, 1), default=0.05
        How far off an estimate may be to be used: ``action`` says "use" where the share
        is that near with a chance of 0.8.

    Returns
    -------
    Examination

    Warns
    -----
    AdaptationWarning
        As `CapeClassifier.adapt` does.

    Examples
    --------
    >>> from cape import examine
    >>> seen = examine(clf, new.data, sensitive_features=new.sensitive_features)
    >>> seen.table()["moved"].to_dict()
    {0: True, 1: True}
    >>> import warnings
    >>> shifted = new.data * [1, 60]
    >>> with warnings.catch_warnings(action="ignore"):
    ...     seen = examine(clf, shifted, sensitive_features=new.sensitive_features)
    >>> seen.columns.moved(0)[0].column, seen.columns.moved(0)[0].fault
    ('V', 'units')
    """
    labelled = find_evidence(
        clf,
        X,
        sensitive_features,
        evidence,
        y=y,
        inclusion_probability=inclusion_probability,
        sample_weight=sample_weight,
    )
    check_prevalence("level", level, closed=False)
    check_prevalence("tolerance", tolerance, closed=False)
    used = labelled if labels_decide else labelled.without_labels()
    adaptation = adapt(
        {group: clf.model_of(group) for group in used.groups},
        used,
        level=level,
        rule=rule_of(clf, rule),
        drift=check_drift(clf.drift if drift is None else drift),
        past=clf.past,
        group_columns=combined_columns(clf.group_columns),
        labels=labels,
    )
    if X is not None:
        drifts = with_usual_values(adaptation.drifts, pickable(X))
        adaptation = replace(adaptation, drifts=drifts)
    # Warnings come through: whoever calls this for a file turns them into notes.
    warn_if_doubtful(adaptation)
    examination = Examination(
        clf,
        used,
        adaptation,
        labelled=None if labels_decide else labelled,
        n_draws=n_draws,
        random_state=random_state,
        tolerance=tolerance,
    )
    examination.weights_of_rows = check_weights(sample_weight, X)
    if X is not None:
        _, examination.groups_of_rows = split_groups(
            pickable(X),
            sensitive_features,
            clf.group_columns,
            clf.missing_groups,
            clf.sensitive_names_,
        )
    return examination
