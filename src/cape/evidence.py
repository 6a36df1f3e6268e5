"""Evidence: what a batch tells, per group, in a size that does not depend on its rows. It adds up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cape._groups import Group, group_name, sorted_groups
from cape.histogram import ScoreHistogram

__all__ = ["Evidence", "GroupEvidence", "group_from_json", "group_to_json"]


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """What a batch tells of one group.

    Parameters
    ----------
    scores : ScoreHistogram
        For the quantifier.
    tally : ndarray of int64, ScoreHistogram or None
        What tells how many rows each member calls positive: the counts themselves, or the histogram of the scores that
        a threshold decides by; None when that is ``scores``.
    together : ndarray of int64 or None
        With several scores a row, how often two of them fell together (see `cape._shift_test`); None with one.
    """

    scores: ScoreHistogram
    tally: Any = None
    together: np.ndarray | None = None

    def __add__(self, other: GroupEvidence) -> GroupEvidence:
        tally = None if self.tally is None else self.tally + other.tally
        together = None if self.together is None else self.together + other.together
        return GroupEvidence(self.scores + other.scores, tally, together)

    def __sub__(self, other: GroupEvidence) -> GroupEvidence:
        tally = None if self.tally is None else self.tally - other.tally
        if isinstance(tally, np.ndarray) and (tally < 0).any():
            raise ValueError("cannot take away rows that were never added.")
        together = None if self.together is None else self.together - other.together
        return GroupEvidence(self.scores - other.scores, tally, together)

    def _to_json(self) -> dict[str, Any]:
        tally = (
            self.tally.tolist() if isinstance(self.tally, np.ndarray) else self.tally
        )
        return {
            "scores": _histogram_to_json(self.scores),
            "tally": _histogram_to_json(tally)
            if isinstance(tally, ScoreHistogram)
            else tally,
            "together": None if self.together is None else self.together.tolist(),
        }

    @classmethod
    def _from_json(cls, entry: Mapping[str, Any]) -> GroupEvidence:
        tally = entry["tally"]
        if isinstance(tally, Mapping):
            tally = _histogram_from_json(tally)
        elif tally is not None:
            tally = np.array(tally, dtype=np.int64)
        together = entry["together"]
        together = None if together is None else np.array(together, dtype=np.int64)
        return cls(_histogram_from_json(entry["scores"]), tally, together)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupEvidence):
            return NotImplemented
        mine, others = ((_plain(e.tally), e.together) for e in (self, other))
        return self.scores == other.scores and all(map(np.array_equal, mine, others))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a batch tells, per group: all that `CapeClassifier.adapt` needs to know of it.

    Evidence of parts adds up to the evidence of the whole, however the rows are cut, and can be taken away again; the
    evidence of no rows is the zero. ``sum`` works.

    Parameters
    ----------
    fingerprint : str
        Of the model that made it; another model refuses it.
    groups : mapping from group to GroupEvidence
        Groups without rows do not occur.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(400, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> part = clf.evidence(d.data[:100], sensitive_features=d.sensitive_features[:100])
    >>> rest = clf.evidence(d.data[100:], sensitive_features=d.sensitive_features[100:])
    >>> part + rest
    Evidence(0: 200 rows, 1: 200 rows)
    >>> Evidence.from_json((part + rest).to_json()) == part + rest
    True
    """

    fingerprint: str
    groups: Mapping[Group, GroupEvidence] = field(default_factory=dict)

    @property
    def rows(self) -> dict[Group, int]:
        """Rows of each group."""
        return {
            group: int(evidence.scores.size) for group, evidence in self.groups.items()
        }

    def to_json(self) -> str:
        """The evidence as JSON text: counts alone, no row."""
        groups = [
            {"group": group_to_json(group), **found._to_json()}
            for group, found in self.groups.items()
        ]
        return json.dumps({"fingerprint": self.fingerprint, "groups": groups})

    @classmethod
    def from_json(cls, text: str) -> Evidence:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
            groups = {
                group_from_json(entry["group"]): GroupEvidence._from_json(entry)
                for entry in content["groups"]
            }
            return cls(str(content["fingerprint"]), groups)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            OverflowError,
        ) as error:
            raise ValueError(
                f"text must be evidence's JSON, as to_json writes it, got {str(text)[:60]!r}."
            ) from error

    def __add__(self, other: Evidence) -> Evidence:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        self._check_fits(other)
        groups = dict(self.groups)
        for group, evidence in other.groups.items():
            groups[group] = groups[group] + evidence if group in groups else evidence
        return Evidence(
            self.fingerprint, {group: groups[group] for group in sorted_groups(groups)}
        )

    __radd__ = __add__

    def __sub__(self, other: Evidence) -> Evidence:
        self._check_fits(other)
        groups = dict(self.groups)
        for group, evidence in other.groups.items():
            if group not in groups:
                raise ValueError(
                    f"cannot take away rows of group {group_name(group)!r}: there are none."
                )
            groups[group] = groups[group] - evidence
        return Evidence(
            self.fingerprint, {g: e for g, e in groups.items() if e.scores.counts.any()}
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.fingerprint == other.fingerprint and dict(self.groups) == dict(
            other.groups
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Evidence({', '.join(f'{group_name(g)}: {n} rows' for g, n in self.rows.items()) or 'no rows'})"

    def _check_fits(self, other: Any) -> None:
        if not isinstance(other, Evidence):
            raise TypeError(f"evidence adds to evidence, got {type(other).__name__}.")
        if other.fingerprint != self.fingerprint:
            raise ValueError(
                "evidence must come from one model to add up, got fingerprints "
                f"{self.fingerprint[:12]} and {other.fingerprint[:12]}."
            )


def _plain(tally: Any) -> Any:
    return (
        np.concatenate([tally.counts, tally.sums])
        if isinstance(tally, ScoreHistogram)
        else tally
    )


def group_to_json(group: Group) -> Any:
    """A group as JSON can hold it: a combination is a list."""
    parts = group if isinstance(group, tuple) else (group,)
    for part in parts:
        if not isinstance(part, (str, int, float, bool)):
            raise TypeError(
                f"a group must be text or a number to be saved as JSON, got {part!r}."
            )
    return list(parts) if isinstance(group, tuple) else group


def group_from_json(group: Any) -> Group:
    """Read what `group_to_json` made."""
    return tuple(group) if isinstance(group, list) else group


def _histogram_to_json(histogram: ScoreHistogram) -> dict[str, Any]:
    if histogram.rows is not None:
        raise TypeError(
            "evidence for a foreign quantifier holds the scores of rows and is not saved as JSON."
        )
    cells = np.flatnonzero(histogram.counts)
    return {
        "unit": histogram.unit,
        "edges": histogram.edges.tolist(),
        "cells": cells.tolist(),
        "counts": histogram.counts[cells].tolist(),
        "sums": histogram.sums[cells].tolist(),
    }


def _histogram_from_json(entry: Mapping[str, Any]) -> ScoreHistogram:
    edges = np.array(entry["edges"], dtype=np.int64)
    counts, sums = np.zeros((2, len(edges) + 1), dtype=np.int64)
    counts[entry["cells"]] = entry["counts"]
    sums[entry["cells"]] = entry["sums"]
    if (np.diff(edges) <= 0).any() or (counts < 0).any() or (sums < 0).any():
        raise ValueError("edges must ascend, and counts and sums must not be negative.")
    return ScoreHistogram(edges, counts, sums, int(entry["unit"]))
