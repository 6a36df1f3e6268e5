"""A watch: questions to a model in use that may be asked at every look."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate
from cape.base._groups import (
    Group,
    combined_columns,
    group_from_json,
    group_table,
    group_to_json,
    unique_names,
)
from cape.base._json_fields import seal, strict_json, unseal
from cape.base._validation import (
    check_fitted_cape,
    check_prevalence,
    check_same_model,
    refuse_row_keepers,
)
from cape.classifier import CapeClassifier
from cape.evidence._evidence import PLAIN, Evidence, GroupEvidence
from cape.rules._adaptation import Adaptation
from cape.shown import _plot
from cape.shown import _watch as words
from cape.shown._notebook import InNotebook
from cape.training._scores import Scores
from cape.watch._tracks import ASKED_ANEW, OF_LABELS, OF_SHARES, Bets, Question, Track

DEFAULT_QUESTIONS = ("moved>0.05", "broken", "parity>0.1")
_FORMAT = 2

_Answer = tuple[list[Group], float, int]
"""Groups, the anytime p-value of their question, and the look since when it counts."""

_ROWS_OF_A_BLOCK = 20
"""Rows a group that are collected before rates of groups are compared."""


class Watch(InNotebook):
    """Watch a model in use: ask the same questions about every new batch.

    Look as often as you like. The chance that it ever raises a false alarm, over all
    looks, groups and questions, is at most about ``alpha``. The bound is exact for
    decisions and labels, and asymptotic for shares and fit.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. The guarantee needs one score per row, and a labelled table that the
        model was not trained on: `Scores`, ``cv="prefit"``, or one split. With folds, a
        warning says that nothing is guaranteed.
    questions : sequence of str, default=("moved>0.05", "broken", "parity>0.1")
        "moved>0.05": is the share of positives of a group more than 0.05 from that of
        training? "changed": did it change, since training or between looks? "broken":
        do the scores no longer fit any share? "parity>0.1": do the shares of positive
        decisions of two groups differ by more than 0.1? With labels, "fpr_gap>0.1" and
        "fnr_gap>0.1" ask the same about error rates, and "pd>0.05" asks whether the
        predicted and true shares of a group differ by more than 0.05.
    alpha : float, default=0.05
        Chance of any false alarm.
    adaptation : Adaptation, default=None
        The adaptation, made before the first look, whose decisions "parity" and the
        questions with labels are about. None means decisions as they were made
        (`Scores`), or those of the model as trained.

    Attributes
    ----------
    looks : list of dict
        What was found at every look.
    promises : bool
        Whether the chance of a false alarm is bounded.

    See Also
    --------
    cape.examine : Everything there is to say of one batch.

    Notes
    -----
    Shares are compared with a finite training table, which limits how far the statistic
    can wander. Half of alpha is for all rows since the first look, half for later
    changes. Every group and question has its own part of alpha. Rows must be
    independent: if days vary by more than chance, they raise alarms unless there is a
    tolerance. Other changes can move scores just as a new share would; labels of a
    hundred rows tell them apart.

    Examples
    --------
    >>> from cape import CapeClassifier, Scores, Watch
    >>> known = LogisticRegression().fit(train.data, train.target)
    >>> def logged(data):
    ...     return pd.DataFrame({"p": known.predict_proba(data)[:, 1]})
    >>> model = CapeClassifier(Scores("p")).fit(logged(train.data), train.target)
    >>> watch = Watch(model, ["moved>0.05"])
    >>> _ = watch.look(model.evidence(logged(new.data)), name="2026-05-03")
    >>> watch.table().columns.tolist()
    ['since', 'rows', 'share', 'low', 'high', 'decided', 'moved>0.05']
    """

    def __init__(
        self,
        clf: CapeClassifier,
        questions: Sequence[str] = DEFAULT_QUESTIONS,
        *,
        alpha: float = 0.05,
        adaptation: Adaptation | None = None,
    ):
        check_fitted_cape(clf)
        refuse_row_keepers(clf, "Watch")
        check_prevalence("alpha", alpha, closed=False)
        if isinstance(questions, str):
            questions = [questions]
        self.questions = [Question.parse(text) for text in questions]
        if not self.questions or len(set(self.questions)) < len(self.questions):
            raise ValueError(
                "questions must be at least one, each only once, got "
                f"{list(questions)!r}."
            )
        if adaptation is not None:
            check_same_model(clf, "adaptation", adaptation, Adaptation)
        self.clf = clf
        self.alpha = float(alpha)
        self.looks: list[dict[str, Any]] = []
        self._raised: list[dict[str, Any]] = []
        self.promises = _keeps_promises(clf)
        if not self.promises:
            warnings.warn(words.NO_PROMISE, stacklevel=2)
        self._groups: list[Group] = list(clf.groups_)
        self._members = {}
        for group in self._groups:
            model = clf.model_of(group)
            self._members[group] = model.unchanged
            if adaptation is not None and group in adaptation.groups:
                self._members[group] = adaptation.groups[group].classifier
        tracks = {group: Track.of(clf.model_of(group)) for group in self._groups}
        self._tracks = {group: track for group, track in tracks.items() if track}
        self._bets: dict[str, Bets] = {}
        for question in self.questions:
            if question.name not in OF_SHARES:
                n_bets = len(self._subjects(question))
                bets = Bets.of(question, n_bets, len(self._groups))
                self._bets[str(question)] = bets

    @property
    def names(self) -> dict[Group, str]:
        """Names of the groups, for people."""
        return unique_names(self._groups, combined_columns(self.clf.group_columns))

    def look(self, evidence: Evidence, name: str | None = None) -> list[dict[str, Any]]:
        """Look at new rows.

        Parameters
        ----------
        evidence : Evidence
            Of rows that no look has seen: from `CapeClassifier.evidence`,
            `cape.elsewhere.dask.evidence`, `cape.elsewhere.sql.evidence`, or a window
            of `RollingCape` that has turned over since the last look. Add up the parts
            of one look.
        name : str, default=None
            Name of the look, such as its date; None is its number.

        Returns
        -------
        list of dict
            Alarms that were raised by this look.

        Raises
        ------
        ValueError
            If a look of this name, or of these rows, was taken before, or if the
            evidence is of another model. Nothing is counted then.
        """
        check_same_model(self.clf, "evidence", evidence, Evidence)
        name = str(len(self.looks) + 1) if name is None else str(name)
        digest = hashlib.sha256(evidence.to_json().encode()).hexdigest()[:16]
        total = sum(evidence.rows.values())
        for look in self.looks:
            # All looks without rows are alike, and none counts a row twice.
            if look["name"] == name or (look["sha256"] == digest and total):
                what = "name" if look["name"] == name else "evidence"
                raise ParameterError(
                    what,
                    f"must be new, got that of the look {look['name']!r}: "
                    "each row may count only once.",
                )
        labelled = self._labelled(evidence)
        number = len(self.looks)
        for group, track in self._tracks.items():
            if group in evidence.groups:
                scores = evidence.groups[group].scores
                cells = scores.merged(track.cuts)
                track.add(cells if scores.unit == 1 else cells / scores.unit, number)
        self.looks.append({"name": name, "sha256": digest, "rows": total})
        raised: list[dict[str, Any]] = []
        for question in self.questions:
            if question.name in OF_SHARES:
                answers = self._ask_shares(question)
            else:
                answers = self._ask_rates(question, evidence, labelled)
            # The part of alpha of one group and question, or of one pair.
            parts = len(self.questions) * len(self._subjects(question))
            level = self.alpha / max(parts, 1)
            for groups, chance, since in answers:
                if chance <= level and not self._stands(question, groups):
                    alarm: dict[str, Any] = {"question": str(question)}
                    alarm |= {"groups": groups, "look": name}
                    alarm["since"] = self.looks[since]["name"]
                    # Over all groups, questions and looks.
                    alarm["p_value"] = min(chance / level * self.alpha, 1.0)
                    raised.append({**alarm, "acknowledged": None})
        self._raised += raised
        self.looks[-1]["groups"] = self._found(evidence)
        return raised

    def _labelled(self, evidence: Evidence) -> dict[Group, Any]:
        """Return the rows whose label is known, if a question is about labels."""
        labelled = {}
        asked = any(question.name in OF_LABELS for question in self.questions)
        for group, part in evidence.groups.items():
            if set(part.labelled) == {PLAIN}:
                labelled[group] = part.labelled[PLAIN]
            elif part.labelled and asked:
                raise ValueError(
                    "evidence must have labels of rows drawn with equal probability, "
                    "got rows with an inclusion_probability."
                )
        return labelled

    def _subjects(self, question: Question) -> list[list[Group]]:
        """List whom a question is about: groups that are tested, or pairs of groups."""
        if question.name in OF_SHARES:
            return [[group] for group in self._tracks]
        if question.name == "pd":
            return [[group] for group in self._groups]
        return [list(pair) for pair in combinations(self._groups, 2)]

    def _ask_shares(self, question: Question) -> list[_Answer]:
        """Ask a question of the scores of each group."""
        answers: list[_Answer] = []
        for group, track in self._tracks.items():
            chances = track.chances(question)
            if chances:
                place = min(chances, key=lambda place: chances[place])
                answers.append(([group], chances[place], track.starts[place].look))
        return answers

    def _ask_rates(
        self, question: Question, evidence: Evidence, labelled: Mapping[Group, Any]
    ) -> list[_Answer]:
        """Ask a question of decisions, and of labels."""
        bets = self._bets[str(question)]
        for place, group in enumerate(self._groups):
            part = evidence.groups.get(group)
            if question.name != "parity":
                part = labelled.get(group)
            if part is not None:
                bets.pending[place] += self._counts(question.name, group, part)
        if bets.pending.sum() < _ROWS_OF_A_BLOCK * len(self._groups):
            return []
        chances = bets.settle(question)
        # Bets run since the first look.
        first_look = [0] * len(chances)
        return list(zip(self._subjects(question), chances, first_look, strict=True))

    def _counts(self, name: str, group: Group, part: Any) -> list[int]:
        """Count decisions, or errors, of the rows of a group."""

        def decided(rows: GroupEvidence) -> tuple[int, int]:
            """Count the rows decided as positive, and the others."""
            pool = self.clf.model_of(group).pool
            called = int(pool.called(rows)[self._members[group]])
            return called, int(rows.scores.size) - called

        if name == "parity":
            return list(decided(part))
        if name == "fpr_gap":
            return list(decided(part.negatives))
        if name == "fnr_gap":
            right, wrong = decided(part.positives)
            return [wrong, right]
        true_positives, missed = decided(part.positives)
        false_alarms, true_negatives = decided(part.negatives)
        return [missed, true_positives + true_negatives, false_alarms]

    def _stands(self, question: Question, groups: Sequence[Group]) -> bool:
        """Tell whether an alarm stands, or its question is closed."""
        for alarm in self._raised:
            same = alarm["question"] == str(question) and alarm["groups"] == [*groups]
            if same and not (alarm["acknowledged"] and _is_asked_anew(alarm)):
                return True
        return False

    def _found(self, evidence: Evidence) -> list[dict[str, Any]]:
        """Describe every group at the last look."""
        found = []
        for group in self._groups:
            entry: dict[str, Any] = {"group": group_to_json(group)}
            entry |= {"since": None, "rows": 0, "decided": None}
            entry["share"] = Estimate(float("nan"))
            part = evidence.groups.get(group)
            if part is not None:
                called, others = self._counts("parity", group, part)
                entry["decided"] = called / (called + others)
            track = self._tracks.get(group)
            if track is not None and track.starts:
                place = self._shown_start(group, track)
                start = track.starts[place]
                entry["since"] = self.looks[start.look]["name"]
                entry["rows"] = int(start.cells.sum())
                share = track.estimate(place, self.alpha)
                entry["share"] = Estimate(*(round(end, 4) for end in share))
            found.append(entry)
        return strict_json(found)

    def _shown_start(self, group: Group, track: Track) -> int:
        """Return since when rows are shown: since a change, or since the first look."""
        for alarm in self.alarms:
            if alarm["groups"] == [group] and _is_asked_anew(alarm):
                chances = track.chances(Question.parse(alarm["question"]))
                if chances:
                    return min(chances, key=lambda place: chances[place])
        return 0

    def acknowledge(
        self, question: str, group: Any = None, *, reference: float | None = None
    ) -> None:
        """Acknowledge an alarm: it is no longer active.

        "moved" and "changed" start again with the next rows; acknowledging one
        acknowledges both. "broken" and the questions about rates are closed for these
        groups until the model is fitted again, since their answer is known.

        Parameters
        ----------
        question : str
            As in ``questions``, or its name ("moved").
        group : value, tuple of values, or list of two groups, default=None
            Whose alarm it is. None is the only alarm of this question.
        reference : float, default=None
            The share of positives that "moved" compares with from now on; None is the
            estimate of the last look.
        """
        found = []
        for alarm in self.alarms:
            named = question in (alarm["question"], alarm["question"].split(">")[0])
            if named and (group is None or alarm["groups"] in ([group], group)):
                found.append(alarm)
        if len(found) != 1:
            standing = [(alarm["question"], alarm["groups"]) for alarm in self.alarms]
            raise ValueError(
                "question and group must name one active alarm, got "
                f"{question!r} and {group!r}; active: {standing or 'none'}."
            )
        alarm = found[0]
        if _is_asked_anew(alarm):
            track = self._tracks[alarm["groups"][0]]
            if reference is None:
                place = self._shown_start(alarm["groups"][0], track)
                reference = track.estimate(place, self.alpha).value
            check_prevalence("reference", reference, closed=False)
            track.share = float(reference)
            track.is_estimated = False
            track.starts = []
            # Both questions are about the same rows, and both are asked anew.
            for other in self.alarms:
                if other["groups"] == alarm["groups"] and _is_asked_anew(other):
                    other["acknowledged"] = self.looks[-1]["name"]
        elif reference is not None:
            raise ParameterError(
                "reference",
                f"must be None except for 'moved' and 'changed', got {reference!r}.",
            )
        alarm["acknowledged"] = self.looks[-1]["name"]

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """Active alarms: question, groups, look, since and p_value."""
        return [alarm for alarm in self._raised if alarm["acknowledged"] is None]

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each group, as of the last look.

        Returns
        -------
        DataFrame
            Start and number of the rows counted, the share of positives with an
            interval that holds at all looks together, the share of positive decisions
            at the last look, and for each question whether it raised an alarm: None if
            the group is not tested.
        """
        if not self.looks:
            return group_table(self._groups, [])
        rows = []
        last = self.looks[-1]["groups"]
        for group, entry in zip(self._groups, last, strict=True):
            row = {"since": entry["since"], "rows": entry["rows"], **_shares(entry)}
            for question in self.questions:
                row[str(question)] = self._answer(question, group)
            rows.append(row)
        return group_table(self._groups, rows)

    def _answer(self, question: Question, group: Group) -> bool | None:
        """Tell whether a question was answered with yes for a group."""
        if question.name in OF_SHARES and group not in self._tracks:
            return None
        text = str(question)
        return any(
            alarm["question"] == text and group in alarm["groups"]
            for alarm in self.alarms
        )

    def history(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each look and group.

        Returns
        -------
        DataFrame
            Look, group, share, low, high, decided, and the alarms that were raised.
        """
        rows = []
        for look in self.looks:
            for group, entry in zip(self._groups, look["groups"], strict=True):
                raised = []
                for alarm in self._raised:
                    if alarm["look"] == look["name"] and group in alarm["groups"]:
                        raised.append(alarm["question"])
                row = {"look": look["name"], "group": self.names[group]}
                rows.append({**row, **_shares(entry), "alarm": ", ".join(raised)})
        return pd.DataFrame(rows)

    def plot(self) -> Any:
        """Draw the share of positives of each group over all looks; needs altair.

        Returns
        -------
        altair chart
        """
        return _plot.watched(self.history())

    def _shown(self) -> tuple[str, Any, Sequence[str]]:
        summary = self.to_dict()
        columns, rows = words.answers(summary)
        notes = [words.NOT_TESTED] if words.is_untested(rows) else []
        notes += [f"ALARM: {text}." for text in words.alarm_texts(summary["alarms"])]
        table = pd.DataFrame(rows, columns=columns).set_index("group")
        return words.head(summary), table, notes

    def to_dict(self) -> dict[str, Any]:
        """Return the result of the last look as a dict that JSON can hold.

        Returns
        -------
        dict
            ``look``, ``number``, ``rows``, ``alpha``, ``promises``, ``questions``,
            ``groups`` and ``alarms``.
        """
        last = self.looks[-1] if self.looks else {"name": None, "rows": 0, "groups": []}
        groups = []
        for group, entry in zip(self._groups, last["groups"], strict=False):
            answers = {str(q): self._answer(q, group) for q in self.questions}
            groups.append({**entry, "group": self.names[group], "answers": answers})
        alarms = []
        for alarm in self.alarms:
            names = [self.names[group] for group in alarm["groups"]]
            alarms.append({**alarm, "groups": names})
        return {
            "look": last["name"],
            "number": len(self.looks),
            "rows": last["rows"],
            "alpha": self.alpha,
            "promises": self.promises,
            "questions": [str(question) for question in self.questions],
            "groups": groups,
            "alarms": alarms,
        }

    def to_json(self) -> str:
        """Write the state as JSON text: only counts, no rows."""
        alarms = []
        for alarm in self._raised:
            groups = [group_to_json(group) for group in alarm["groups"]]
            alarms.append({**alarm, "groups": groups})
        tracks = []
        for group, track in self._tracks.items():
            tracks.append({"group": group_to_json(group), **track.to_json()})
        state = {
            "fingerprint": self.clf.fingerprint_,
            "questions": [str(question) for question in self.questions],
            "alpha": self.alpha,
            "members": list(self._members.values()),
            "looks": self.looks,
            "alarms": alarms,
            "tracks": tracks,
            "bets": {name: bet.to_json() for name, bet in self._bets.items()},
        }
        return seal(state, _FORMAT)

    @classmethod
    def from_json(cls, clf: CapeClassifier, text: str) -> Watch:
        """Resume a watch where it stopped.

        Parameters
        ----------
        clf : CapeClassifier
            The model of that watch.
        text : str
            Written by its `to_json`.

        Returns
        -------
        Watch

        Raises
        ------
        ValueError
            If the text is of another model, or was changed since it was written.
        """
        check_fitted_cape(clf)
        state = unseal(text, "Watch.to_json", _FORMAT, clf.fingerprint_)
        watch = cls(clf, state["questions"], alpha=state["alpha"])
        watch._members = dict(zip(watch._groups, state["members"], strict=True))
        watch.looks = state["looks"]
        for alarm in state["alarms"]:
            groups = [group_from_json(group) for group in alarm["groups"]]
            watch._raised.append({**alarm, "groups": groups})
        for entry in state["tracks"]:
            watch._tracks[group_from_json(entry["group"])].restore(entry)
        for name, entry in state["bets"].items():
            watch._bets[name].restore(entry)
        return watch


def _is_asked_anew(alarm: Mapping[str, Any]) -> bool:
    return Question.parse(alarm["question"]).name in ASKED_ANEW


def _shares(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a look found of a group, as columns of a table."""
    value, low, high = entry["share"].values()
    return {"share": value, "low": low, "high": high, "decided": entry["decided"]}


def _keeps_promises(clf: CapeClassifier) -> bool:
    """Tell whether scores of new rows follow those of the labelled table exactly."""
    if isinstance(clf.estimator, Scores) or str(clf.cv) == "prefit":
        return True
    for model in clf.models_.values():
        held_out = model.positives.size + model.negatives.size
        if len(model.scoring_models) > 1 or held_out >= model.size:
            return False
    return True
