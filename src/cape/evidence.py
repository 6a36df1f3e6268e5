"""Evidence: what a batch tells, per group, in a size that does not depend on its rows. It adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cape._validation import Group, group_name
from cape.histogram import ScoreHistogram

__all__ = ["Evidence", "GroupEvidence"]


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
    """

    scores: ScoreHistogram
    tally: Any = None

    def __add__(self, other: GroupEvidence) -> GroupEvidence:
        return GroupEvidence(self.scores + other.scores, None if self.tally is None else self.tally + other.tally)

    def __sub__(self, other: GroupEvidence) -> GroupEvidence:
        return GroupEvidence(self.scores - other.scores, None if self.tally is None else self.tally - other.tally)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupEvidence):
            return NotImplemented
        return self.scores == other.scores and np.array_equal(_plain(self.tally), _plain(other.tally))

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
    """

    fingerprint: str
    groups: Mapping[Group, GroupEvidence] = field(default_factory=dict)

    @property
    def rows(self) -> dict[Group, int]:
        """Rows of each group."""
        return {group: int(evidence.scores.size) for group, evidence in self.groups.items()}

    def __add__(self, other: Evidence) -> Evidence:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        self._check_fits(other)
        groups = dict(self.groups)
        for group, evidence in other.groups.items():
            groups[group] = groups[group] + evidence if group in groups else evidence
        return Evidence(self.fingerprint, groups)

    __radd__ = __add__

    def __sub__(self, other: Evidence) -> Evidence:
        self._check_fits(other)
        groups = dict(self.groups)
        for group, evidence in other.groups.items():
            if group not in groups:
                raise ValueError(f"cannot take away rows of group {group_name(group)!r}: there are none.")
            groups[group] = groups[group] - evidence
        return Evidence(self.fingerprint, {g: e for g, e in groups.items() if e.scores.counts.any()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evidence):
            return NotImplemented
        return self.fingerprint == other.fingerprint and dict(self.groups) == dict(other.groups)

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
    return np.concatenate([tally.counts, tally.sums]) if isinstance(tally, ScoreHistogram) else tally
