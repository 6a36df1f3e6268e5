"""Is it a prior shift? The test of CAPE's assumption on a batch without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cape import plot
from cape._drift import LEVEL
from cape._groups import Group, name_index, unique_names
from cape._notebook import InNotebook, Shown
from cape._prediction import find_evidence
from cape._shift_test import check_prior_shift
from cape._validation import check_prevalence
from cape._wording._numbers import level_text, p_value_text
from cape.classifier import CapeClassifier
from cape.diagnostics._result import GroupResult
from cape.evidence import Evidence

__all__ = ["GroupShiftTest", "PriorShiftTest", "prior_shift_test"]


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


@dataclass(frozen=True)
class PriorShiftTest(InNotebook, GroupResult):
    """Result of `prior_shift_test`.

    Parameters
    ----------
    groups : mapping from group to GroupShiftTest
        The test of each group of the batch.
    alpha : float
        Level of the test over all groups together.
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
        if self.sound:
            return ""
        return (
            "The scores of a flexible learner that was refitted on all rows do not "
            "follow its out-of-fold scores, so this test rejects too often. "
            "Fit with scores='folds' for a test that keeps its level."
        )

    @property
    def rejected(self) -> bool:
        """Whether the assumption is rejected in any group."""
        return any(test.rejected for test in self.groups.values())

    def plot(self) -> Any:
        """Draw the share of rows that no mixture explains; needs altair.

        Returns
        -------
        altair chart
        """
        frame = self.table()
        effect = frame["effect"].where(frame["tested"])
        frame = frame.assign(effect=effect, clear=frame["rejected"])
        frame["group"] = name_index(self.groups)
        title = "Share of the scores that no mixture of the classes explains"
        key = "red diamond: not a prior shift"
        return plot.unexplained(frame, title=title, key=key, width=300)

    def _shown(self) -> Shown:
        import pandas as pd

        rows = []
        for test in self.groups.values():
            row = {
                "rows": test.rows,
                "unexplained": test.effect,
                "p": p_value_text(test.p_value),
                "p, adjusted": p_value_text(test.p_adjusted),
                "scores": _verdict(test),
            }
            rows.append(row)
        table = pd.DataFrame(rows, index=name_index(self.groups))
        title = (
            "Are the scores a mixture of the training classes? "
            f"Tested at {level_text(self.alpha)} over all groups together."
        )
        return Shown(title, table, [self.advice] if self.advice else [])

    def _facts(self) -> dict[str, Any]:
        return {
            "sound": self.sound,
            "rejected": self.rejected,
            "alpha": self.alpha,
            "advice": self.advice,
        }

    def __repr__(self) -> str:
        lines = ["PriorShiftTest("]
        names = unique_names(self.groups)
        for group, test in self.groups.items():
            lines.append(f"  {names[group]}: {describe_shift_test(test)}")
        if self.advice:
            lines.append(f"  {self.advice}")
        lines.append(")")
        return "\n".join(lines)


def describe_shift_test(test: GroupShiftTest) -> str:
    """Say in a few words what the test of one group showed."""
    if not test.tested:
        return f"{test.rows} rows are too few to test"
    return (
        f"{_verdict(test)} (p = {test.p_adjusted:.3g}, "
        f"{test.effect:.1%} of {test.rows} rows unexplained)"
    )


def _verdict(test: GroupShiftTest) -> str:
    if not test.tested:
        return "too few rows to test"
    if test.rejected:
        return "not a prior shift"
    # A test that does not reject has not shown that the assumption holds.
    return "no sign against a prior shift"


def prior_shift_test(
    clf: CapeClassifier,
    X: Any = None,
    *,
    sensitive_features: Any = None,
    evidence: Evidence | None = None,
    alpha: float = LEVEL,
) -> PriorShiftTest:
    """Test whether the scores of each group are a mixture of the training classes.

    Under prior shift they are, whatever the prevalence. A small p-value says that
    something else has moved as well. Neither the estimated prevalences nor the expected
    rates can be relied on then.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features), default=None
        The batch. Exactly one of ``X`` and ``evidence`` must be given.
    sensitive_features : array-like or table of n_samples rows, default=None
        Groups of the rows of ``X``.
    evidence : Evidence, default=None
        Evidence of the batch, from `CapeClassifier.evidence`.
    alpha : float in (0, 1), default=0.01
        Level of the test over all groups together.

    Returns
    -------
    PriorShiftTest

    See Also
    --------
    examine : This test, and everything else there is to say about a batch.

    Examples
    --------
    >>> from cape.diagnostics import prior_shift_test
    >>> groups = new.sensitive_features
    >>> prior_shift_test(clf, new.data, sensitive_features=groups).rejected
    False
    >>> prior_shift_test(clf, new.data + [8, 0], sensitive_features=groups).rejected
    True
    """
    check_prevalence("alpha", alpha, closed=False)
    evidence = find_evidence(clf, X, sensitive_features, evidence)
    models = {group: clf.model_of(group) for group in evidence.groups}
    # All groups are tested, sound or not; `adapt` warns of the sound ones only.
    groups = {}
    for group, (fit, p_adjusted) in check_prior_shift(models, evidence.groups).items():
        groups[group] = GroupShiftTest(
            rows=int(evidence.groups[group].scores.size),
            p_value=fit.p_value,
            p_adjusted=p_adjusted,
            effect=fit.effect,
            rejected=p_adjusted < alpha,
            # Without degrees of freedom there is nothing left that could disagree.
            tested=fit.df > 0,
            sound=models[group].test_is_sound,
        )
    return PriorShiftTest(groups, alpha)
