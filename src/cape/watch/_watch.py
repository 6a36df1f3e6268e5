"""A watch: questions to a model in use that may be asked at every look."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._estimate import Estimate
from cape.base._groups import Group, combined_columns, group_table, unique_names
from cape.base._json_fields import seal, strict_json, unseal
from cape.base._limits import FEWEST_LABELS
from cape.base._validation import (
    check_fitted_cape,
    check_prevalence,
    check_same_model,
)
from cape.classifier import CapeClassifier
from cape.evidence._evidence import PLAIN, Evidence
from cape.labels._sample import drawn_p_value, labelled_sample
from cape.shown import _plot
from cape.shown import _watch as words
from cape.shown._notebook import InNotebook
from cape.training._scores import Scores
from cape.watch._sequential import (
    LEAST_ROWS,
    TYPICAL,
    answer,
    evidence_of_change,
    is_kept,
    looks_until_seen,
    start_weight,
)
from cape.watch._tracks import OF_PAIRS, Mean, Question, Track, compared

DEFAULT_QUESTIONS = ("moved>0.05", "broken", "parity>0.1")
_FORMAT = 3

_PARTS = {"moved": 3, "changed": 3}
"""How much of alpha a question has, if another has 1: scores tell shares with noise,
so that moves are hardest to see."""

_FOR_THE_BLIND = 0.1
"""Part of alpha for groups that are too small to see the largest of the changes."""

_ROWS_OF_A_START = 50
_MOST_PAIRS = 50
# So rare among random draws that no look of a long watch is refused by chance.
_NO_SAMPLE = 1e-6
"""Pairs of groups of which it is said how soon a change would be seen."""


_Places = tuple[int, ...]
"""Which group, or which two, a question is about."""


class Start(NamedTuple):
    """What was counted before a look, from which on changes are looked for."""

    number: int
    look: int
    counts: np.ndarray


class Known(NamedTuple):
    """What a question compares with.

    ``start`` is the number of the first start that counts, ``counts`` are rows that are
    no news, of training or of an acknowledged alarm, and ``passed`` were counted before
    that start.
    """

    start: int
    counts: np.ndarray
    passed: np.ndarray


class Watch(InNotebook):
    """Watch a model in use: ask the same questions about every new batch.

    Look as often as you like. The chance that it ever raises a false alarm, over all
    looks, groups and questions, is at most about ``alpha``. An alarm is false if
    nothing has changed. The bound is asymptotic.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. The guarantee needs one score per row, and a labelled table that the
        model was not trained on: `Scores`, ``cv="prefit"``, or one split. With folds, a
        warning says that nothing is guaranteed.
    questions : sequence of str, default=("moved>0.05", "broken", "parity>0.1")
        "moved>0.05": has the share of positives of a group changed, by more than 0.05
        as far as one can tell? "changed": has it changed at all? "broken": do the
        scores no longer fit any share? "parity>0.1": has the gap between the shares of
        positive decisions of two groups changed by more than 0.1 since training? With
        labels, "fpr_gap>0.1" and "fnr_gap>0.1" ask the same about error rates, and
        "pd>0.05" about the predicted less the true share of a group. "absolute
        parity>0.1" asks whether the gap itself is larger, whatever it was in training.
    alpha : float, default=0.05
        Chance of any false alarm.

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
    Rows since every look are compared with training and the rows before, and the
    evidence of all looks adds up. Every group and question has its own part of alpha,
    set at the first look: groups too small to see anything have little. With a model
    that knows its past (``CapeClassifier(past=...)``, three transitions or more), a
    share must have moved by more than it did in 19 of 20 of its periods. Rows must be
    independent: days that vary by more than chance raise alarms. Other changes can move
    scores just as a new share would; labels of a hundred rows tell them apart.
    Labels in the evidence count for shares, too: they must be of all rows or of a plain
    random sample.

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
    ):
        check_fitted_cape(clf)
        check_prevalence("alpha", alpha, closed=False)
        if isinstance(questions, str):
            questions = [questions]
        self.questions = [Question.parse(text) for text in questions]
        if not self.questions or len(set(self.questions)) < len(self.questions):
            raise ValueError(
                "questions must be at least one, each only once, got "
                f"{list(questions)!r}."
            )
        self.clf = clf
        self.alpha = float(alpha)
        self.looks: list[dict[str, Any]] = []
        self._raised: list[dict[str, Any]] = []
        self.promises = _keeps_promises(clf)
        if not self.promises:
            warnings.warn(words.NO_PROMISE, stacklevel=2)
        self._groups: list[Group] = list(clf.groups_)
        self._tracks: list[Track] = []
        first = 0
        for group in self._groups:
            track = Track.of(clf.model_of(group), first)
            self._tracks.append(track)
            first = track.place.stop
        self._total = np.zeros(first, dtype=np.int64)
        training = np.concatenate([track.training for track in self._tracks])
        self._training = Known(0, training, self._total)
        self._known: dict[tuple[str, _Places], Known] = {}
        self._starts: list[Start] = []
        self._levels: dict[tuple[Question, _Places], float] = {}

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
            of one look. Rows with weights count as the rows that they are worth.
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
            if look["name"] == name and look["sha256"] == digest:
                return []
            # All looks without rows are alike, and none counts a row twice.
            if look["name"] == name or (look["sha256"] == digest and total):
                what = "name" if look["name"] == name else "evidence"
                raise ParameterError(
                    what,
                    f"must be new, got that of the look {look['name']!r}: "
                    "each row may count only once.",
                )
        counts = self._counts(evidence)
        self.looks.append({"name": name, "sha256": digest, "rows": total})
        self._begin()
        self._total = self._total + counts
        if not self._levels and total:
            self._share_alpha_out()
        for (question, places), level in self._levels.items():
            if self._stands(question, places):
                continue
            chance, start, before, now = self._ask(question, places)
            if chance <= level:
                alarm: dict[str, Any] = {"question": str(question), "groups": places}
                alarm |= {"look": name, "since": self.looks[start.look]["name"]}
                # Over all groups, questions and looks.
                alarm["p_value"] = min(chance / level * self.alpha, 1.0)
                alarm |= {"before": before, "now": now, "acknowledged": None}
                self._raised.append(alarm)
        self.looks[-1]["groups"] = self._found(counts)
        return [alarm for alarm in self.alarms if alarm["look"] == name]

    def _counts(self, evidence: Evidence) -> np.ndarray:
        """Count the rows of a look."""
        kinds = [set(part.labelled) for part in evidence.groups.values()]
        if set().union(*kinds) - {PLAIN}:
            raise ValueError(
                "evidence must have labels of rows drawn with equal probability, "
                "got rows with an inclusion_probability."
            )
        for group, part in evidence.groups.items():
            if part.labelled_rows < FEWEST_LABELS:
                continue
            model = self.clf.model_of(group)
            if drawn_p_value(model, part, labelled_sample(part)) < _NO_SAMPLE:
                raise ValueError(
                    "evidence must have labels of rows drawn at random, got labels in "
                    f"{self.names[group]!r} whose rows are unlike the others: draw "
                    "them with cape.rows_to_label, or look at "
                    "evidence.without_labels()."
                )
        counts = []
        parts = evidence.effective().groups
        for group, track in zip(self._groups, self._tracks, strict=True):
            counts.append(track.count(parts.get(group)))
        return np.concatenate(counts)

    def _begin(self) -> None:
        """Begin a new start, once the last has some rows, and end old ones."""
        number = 0
        first = {known.start for known in self._known.values()}
        if self._starts:
            newest = self._starts[-1]
            number = newest.number + 1
            rows = sum(look["rows"] for look in self.looks[newest.look : -1])
            if rows < _ROWS_OF_A_START and number not in first:
                return
        kept = [
            s for s in self._starts if s.number in first or is_kept(s.number, number)
        ]
        self._starts = [*kept, Start(number, len(self.looks) - 1, self._total)]

    def _subjects(self, question: Question) -> list[_Places]:
        """List whom a question is about: groups that are tested, or pairs."""
        places = []
        for place, track in enumerate(self._tracks):
            if track.reference is not None or question.quantity != "share":
                places.append(place)
        return list(combinations(places, 2 if question.name in OF_PAIRS else 1))

    def _share_alpha_out(self) -> None:
        """Share alpha out, most of it among groups that can see something."""
        whole = sum(_PARTS.get(question.name, 1) for question in self.questions)
        for question in self.questions:
            subjects = self._subjects(question)
            level = self.alpha * _PARTS.get(question.name, 1) / whole
            seen = []
            for places in subjects:
                looks = self._looks_until(question, places, level / len(subjects))
                seen.append(looks[-1] is not None)
            for places, can_see in zip(subjects, seen, strict=True):
                part = 1.0
                if len(set(seen)) == 2:
                    part = 1 - _FOR_THE_BLIND if can_see else _FOR_THE_BLIND
                self._levels[question, places] = level * part / seen.count(can_see)

    def _looks_until(
        self, question: Question, places: _Places, level: float
    ) -> list[int | None]:
        """Say after how many looks each change would be seen."""
        if question.name == "broken":
            return [1] * len(words.CHANGES)
        known = self._known.get((question.quantity, places), self._training)
        tolerance = self._tolerance(question, places)
        noise, of_known, fewest = 0.0, 0.0, np.inf
        for place in places:
            track = self._tracks[place]
            sofar = track.mean(question.quantity, self._total)
            before = self._before(track, known, sofar)
            mean = track.mean(question.quantity, before)
            if not sofar.rows or not mean.rows:
                return [None] * len(words.CHANGES)
            row = float(mean.square - mean.mean**2) + 1e-9
            noise += row / float(sofar.worth) * len(self.looks)
            of_known += row / float(mean.worth) * (not question.is_absolute)
            fewest = min(fewest, float(sofar.rows) / len(self.looks))
        return [
            looks_until_seen(
                # Alike volumes share a simulation: a watch may have thousands of pairs.
                float(f"{1 / noise:.2g}"),
                float(f"{1 / max(of_known, 1e-9):.2g}"),
                change,
                float(f"{level:.2g}"),
                tolerance=0.0 if question.is_absolute else tolerance,
                number=self._starts[-1].number - known.start + 1,
                least=int(np.ceil(LEAST_ROWS / fewest)),
            )
            for change in words.CHANGES
        ]

    def _ask(
        self, question: Question, places: _Places
    ) -> tuple[float, Start, list[float], list[float]]:
        """Ask a question of all rows so far.

        Returns
        -------
        chance : float
            The anytime p-value; 1 if the estimated change is within the tolerance.
        start : Start
            Since when rows tell most of a change.
        before, now : list of float
            What was known of each group, and its mean since the start.
        """
        known = self._known.get((question.quantity, places), self._training)
        starts = [start for start in self._starts if start.number >= known.start]
        if not starts:
            return 1.0, self._starts[-1], [], []
        numbers = np.array([start.number for start in starts]) - known.start
        passed = np.array([start.counts for start in starts])
        since = self._total - passed
        if question.name == "broken":
            evidence = self._tracks[places[0]].misfit(since)
            chance, best = answer(evidence, np.inf, 0.0, numbers)
            return float(chance), starts[int(best)], [], []
        tolerance = self._tolerance(question, places)
        before, now, changes, noises = [], [], [], []
        fewest: Any = np.inf
        for place in places:
            track = self._tracks[place]
            after = track.mean(question.quantity, since)
            earlier = self._before(track, known, after) + passed - known.passed
            change, of_group = compared(after, track.mean(question.quantity, earlier))
            if question.is_absolute:
                of_group = compared(after, after)[1] / 2
            changes.append(change)
            noises.append(of_group)
            fewest = np.minimum(fewest, after.rows)
            before.append(track.mean(question.quantity, known.counts).shown)
            now.append(after.shown)
        change = _gap(changes)
        moved = _gap(now) - _gap(before)
        if question.is_absolute:
            moved = _gap(now)
            change = np.sign(moved) * np.maximum(np.abs(moved) - tolerance, 0.0)
        information = np.where(fewest < LEAST_ROWS, 0.0, 1 / sum(noises))
        evidence = evidence_of_change(change**2 * information, information * TYPICAL**2)
        chance, best = answer(evidence, moved, tolerance, numbers)
        rates = np.array([before, [mean[best] for mean in now]])
        if question.quantity == "share":
            rates = np.clip(rates, 0.0, 1.0)
        return float(chance), starts[int(best)], *rates.round(4).tolist()

    def _before(self, track: Track, known: Known, after: Mean) -> np.ndarray:
        """Return the counts to compare with, as much as they tell of rows since."""
        if known is not self._training:
            return known.counts
        return track.weight_of_training(after)[..., None] * known.counts

    def _tolerance(self, question: Question, places: _Places) -> float:
        """Return what a change must exceed: what is asked, or what is usual."""
        asked = question.tolerance or 0.0
        if question.name != "moved" or self.clf.past is None:
            return asked
        return max(
            asked, self.clf.past.usual_move(*self._tracks[places[0]].of_training)
        )

    def _stands(self, question: Question, places: _Places) -> bool:
        """Tell whether an alarm stands, or its question is closed."""
        return any(
            (alarm["question"], alarm["groups"]) == (str(question), places)
            and not (alarm["acknowledged"] and question.is_asked_anew)
            for alarm in self._raised
        )

    def _found(self, counts: np.ndarray) -> list[dict[str, Any]]:
        """Describe every group at the last look."""
        found = []
        for place, track in enumerate(self._tracks):
            decided = track.mean("parity", counts)
            entry: dict[str, Any] = {"since": None, "rows": 0, "decided": None}
            if decided.rows:
                entry["decided"] = float(decided.mean)
            share = Estimate(float("nan"))
            if track.reference is not None:
                start = self._shown_start(place)
                since = self._total - start.counts
                entry["since"] = self.looks[start.look]["name"]
                entry["rows"] = int(track.mean("share", since).rows)
                chance = self.alpha * float(start_weight(start.number))
                share = track.estimate(since, chance)
            entry["share"] = Estimate(*(round(end, 4) for end in share))
            found.append(entry)
        return strict_json(found)

    def _shown_start(self, place: int) -> Start:
        """Return since when rows are shown: since a change, or since the first look."""
        for alarm in self._active():
            question = Question.parse(alarm["question"])
            if alarm["groups"] == (place,) and question.quantity == "share":
                return self._ask(question, (place,))[1]
        first = self._known.get(("share", (place,)), self._training).start
        later = [start for start in self._starts if start.number >= first]
        return (later or self._starts[-1:])[0]

    def acknowledge(self, question: str, group: Any = None) -> None:
        """Acknowledge an alarm: it is no longer active.

        A question starts again with the next rows, and compares with those since the
        change; acknowledging "moved" acknowledges "changed", too. "broken" and
        questions about an absolute bound are closed for these groups until the model is
        fitted again, since their answer is known.

        Parameters
        ----------
        question : str
            As in ``questions``, or its name ("moved").
        group : value, tuple of values, or list of two groups, default=None
            Whose alarm it is. None is the only alarm of this question.
        """
        found = []
        for alarm, shown in zip(self._active(), self.alarms, strict=True):
            named = question in (alarm["question"], alarm["question"].split(">")[0])
            if named and (group is None or shown["groups"] in ([group], group)):
                found.append(alarm)
        if len(found) != 1:
            standing = [(alarm["question"], alarm["groups"]) for alarm in self.alarms]
            raise ValueError(
                "question and group must name one active alarm, got "
                f"{question!r} and {group!r}; active: {standing or 'none'}."
            )
        asked = Question.parse(found[0]["question"])
        places = found[0]["groups"]
        if asked.is_asked_anew:
            known = self._total - self._ask(asked, places)[1].counts
            first = self._starts[-1].number + 1
            self._known[asked.quantity, places] = Known(first, known, self._total)
        for alarm in self._active():
            # Two questions may be about the same rows: both are asked anew.
            about = Question.parse(alarm["question"])
            alike = (about.quantity, alarm["groups"]) == (asked.quantity, places)
            alike = alike and about.is_asked_anew and asked.is_asked_anew
            if alarm is found[0] or alike:
                alarm["acknowledged"] = self.looks[-1]["name"]

    def _active(self) -> list[dict[str, Any]]:
        return [alarm for alarm in self._raised if alarm["acknowledged"] is None]

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """Active alarms: question, groups, look, since, p_value, before and now."""
        return self._alarms(self._groups)

    def _alarms(self, names: Sequence[Any]) -> list[dict[str, Any]]:
        alarms = []
        for alarm in self._active():
            groups = [names[place] for place in alarm["groups"]]
            alarms.append({**alarm, "groups": groups})
        return alarms

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
        last = self.looks[-1]["groups"] if self.looks else []
        rows = []
        for place, entry in enumerate(last):
            row = {"since": entry["since"], "rows": entry["rows"], **_shares(entry)}
            rows.append(row | self._answers(place))
        return group_table(self._groups, rows)

    def _answers(self, place: int) -> dict[str, bool | None]:
        """Tell whether each question was answered with yes for a group."""
        active = [alarm for alarm in self._active() if place in alarm["groups"]]
        raised = {alarm["question"] for alarm in active}
        answers: dict[str, bool | None] = {}
        for question in self.questions:
            answers[str(question)] = str(question) in raised
            if question.quantity == "share" and self._tracks[place].reference is None:
                answers[str(question)] = None
        return answers

    def history(self) -> pd.DataFrame:
        """Return a DataFrame with one row for each look and group.

        Returns
        -------
        DataFrame
            Look, group, share, low, high, decided, and the alarms that were raised.
        """
        rows = []
        for look in self.looks:
            for place, entry in enumerate(look["groups"]):
                raised = []
                for alarm in self._raised:
                    if alarm["look"] == look["name"] and place in alarm["groups"]:
                        raised.append(alarm["question"])
                group = self.names[self._groups[place]]
                row = {"look": look["name"], "group": group}
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
        if len(self.looks) == 1:
            notes.append(words.sight_text(summary))
        table = pd.DataFrame(rows, columns=columns).set_index("group")
        return words.head(summary), table, notes

    def to_dict(self) -> dict[str, Any]:
        """Return the result of the last look as a dict that JSON can hold.

        Returns
        -------
        dict
            ``look``, ``number``, ``rows``, ``alpha``, ``promises``, ``questions``,
            ``groups``, ``alarms``, and ``sees``: the number of looks after which a
            change of .05, .1 and .17 from now on will be seen; None if more than 100.
        """
        last = self.looks[-1] if self.looks else {"name": None, "rows": 0, "groups": []}
        names = list(self.names.values())
        groups = []
        for place, entry in enumerate(last["groups"]):
            answers = self._answers(place)
            groups.append({**entry, "group": names[place], "answers": answers})
        return {
            "look": last["name"],
            "number": len(self.looks),
            "rows": last["rows"],
            "alpha": self.alpha,
            "promises": self.promises,
            "questions": [str(question) for question in self.questions],
            "groups": groups,
            "alarms": self._alarms(names),
            "sees": self._sees(),
        }

    def _sees(self) -> list[dict[str, Any]]:
        """Say how soon changes from now on are expected to be seen."""
        sees = []
        of_pairs = sum(len(places) == 2 for _, places in self._levels)
        names = list(self.names.values())
        for (question, places), level in self._levels.items():
            many = len(places) == 2 and of_pairs > _MOST_PAIRS
            if question.name != "broken" and not many:
                looks = self._looks_until(question, places, level)
                entry: dict[str, Any] = {"question": str(question), "looks": looks}
                entry["tolerance"] = round(self._tolerance(question, places), 4)
                sees.append({**entry, "groups": [names[place] for place in places]})
        return sees

    def to_json(self) -> str:
        """Write the state as JSON text: only counts, no rows."""
        starts = [[*start[:2], start.counts.tolist()] for start in self._starts]
        known = []
        for about, (first, counts, passed) in self._known.items():
            known.append([*about, first, counts.tolist(), passed.tolist()])
        levels = []
        for (question, places), level in self._levels.items():
            levels.append([str(question), places, level])
        state = {
            "fingerprint": self.clf.fingerprint_,
            "questions": [str(question) for question in self.questions],
            "alpha": self.alpha,
            "looks": self.looks,
            "alarms": self._raised,
            "total": self._total.tolist(),
            "starts": starts,
            "known": known,
            "levels": levels,
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
        watch.looks = state["looks"]
        for alarm in state["alarms"]:
            watch._raised.append({**alarm, "groups": tuple(alarm["groups"])})
        watch._total = np.array(state["total"])
        for number, look, counts in state["starts"]:
            watch._starts.append(Start(number, look, np.array(counts)))
        for quantity, places, first, counts, passed in state["known"]:
            known = Known(first, np.array(counts), np.array(passed))
            watch._known[quantity, tuple(places)] = known
        for question, places, level in state["levels"]:
            watch._levels[Question.parse(question), tuple(places)] = level
        return watch


def _gap(means: Sequence[Any]) -> Any:
    """Return the mean of a group, or the gap between those of two."""
    return means[0] if len(means) == 1 else means[0] - means[1]


def _shares(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a look found of a group, as columns of a table."""
    share = entry["share"]
    ends = {"low": share["low"], "high": share["high"]}
    return {"share": share["value"], **ends, "decided": entry["decided"]}


def _keeps_promises(clf: CapeClassifier) -> bool:
    """Tell whether scores of new rows follow those of the labelled table exactly."""
    if isinstance(clf.estimator, Scores) or str(clf.cv) == "prefit":
        return True
    for model in clf.models_.values():
        held_out = model.positives.size + model.negatives.size
        if len(model.scoring_models) > 1 or held_out >= model.size:
            return False
    return True
