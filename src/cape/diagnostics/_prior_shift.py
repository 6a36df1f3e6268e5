"""Is it a prior shift? The test of CAPE's assumption on a batch without labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cape._groups import Group, group_name
from cape._shift_test import check_prior_shift
from cape._validation import check_prevalence
from cape.classifier import CapeClassifier
from cape.diagnostics._common import evidence_of, frame, json_ready
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupShiftTest", "PriorShiftTest", "prior_shift_test"]


@dataclass(frozen=True)
class GroupShiftTest:
    """The test of one group.

    Parameters
    ----------
    rows : int
        Rows of the group in the batch.
    p_value, p_adjusted : float
        Of the group alone, and after Holm's correction for the number of groups.
    effect : float
        Share of the batch that no mixture of the classes explains, beyond noise.
    rejected : bool
        Whether p_adjusted is below the test's level.
    tested : bool
        False where there were too few rows to test.
    sound : bool
        Whether the test keeps its level for this model; if not, a rejection means little.
    """

    rows: int
    p_value: float
    p_adjusted: float
    effect: float
    rejected: bool
    tested: bool
    sound: bool


@dataclass(frozen=True)
class PriorShiftTest:
    """What `prior_shift_test` found.

    Parameters
    ----------
    groups : mapping from group to GroupShiftTest
    alpha : float
        Level of the test over all groups.
    """

    groups: Mapping[Group, GroupShiftTest]
    alpha: float

    @property
    def sound(self) -> bool:
        """Whether the test keeps its level in every group."""
        return all(found.sound for found in self.groups.values())

    @property
    def advice(self) -> str:
        """What to do when the test is not sound; else empty."""
        if self.sound:
            return ""
        return (
            "The scores of a flexible learner refitted on all rows do not follow its out-of-fold scores, so that this "
            "test rejects too often. Fit with scores='folds' for a test that keeps its level."
        )

    @property
    def rejected(self) -> bool:
        """Whether the assumption is rejected in any group."""
        return any(found.rejected for found in self.groups.values())

    def table(self) -> pd.DataFrame:
        """One row a group: rows, p_value, p_adjusted, effect, rejected, tested, sound."""
        return frame(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "sound": self.sound,
            "rejected": self.rejected,
            "alpha": self.alpha,
            "advice": self.advice,
            "groups": json_ready(self.groups),
        }

    def __repr__(self) -> str:
        lines = [
            f"  {group_name(group)}: "
            + (
                f"{'not a prior shift' if found.rejected else 'no sign against a prior shift'} "
                f"(p = {found.p_adjusted:.3g}, {found.effect:.1%} of {found.rows} rows unexplained)"
                if found.tested
                else f"{found.rows} rows are too few to test"
            )
            for group, found in self.groups.items()
        ]
        return "\n".join(
            [
                "PriorShiftTest(",
                *lines,
                *([f"  {self.advice}"] if self.advice else []),
                ")",
            ]
        )


def prior_shift_test(
    clf: CapeClassifier,
    X: Any = None,
    *,
    sensitive_features: Any = None,
    evidence: Evidence | None = None,
    alpha: float = 0.05,
) -> PriorShiftTest:
    """Test, in each group, whether the batch's scores are a mixture of the two classes' training scores.

    Under prior shift they are, whatever the prevalence. A small p-value says that something else has moved as well:
    then neither the estimated prevalences nor the expected rates can be relied on.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    X : table of shape (n_samples, n_features), default=None
        The batch; exactly one of ``X`` and ``evidence`` is given.
    sensitive_features : array-like or table of n_samples rows, default=None
    evidence : Evidence, default=None
    alpha : float in (0, 1), default=0.05
        Level of the test over all groups together.

    Returns
    -------
    PriorShiftTest

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(2000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> new = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=2)
    >>> prior_shift_test(clf, new.data, sensitive_features=new.sensitive_features).rejected
    False
    >>> prior_shift_test(clf, new.data + [8, 0], sensitive_features=new.sensitive_features).rejected
    True
    """
    check_prevalence("alpha", alpha, closed=False)
    found = evidence_of(clf, X, sensitive_features, evidence)
    models = {group: clf.model_of(group) for group in found.groups}
    groups = {
        group: GroupShiftTest(
            rows=int(found.groups[group].scores.size),
            p_value=fit.p_value,
            p_adjusted=p,
            effect=fit.effect,
            rejected=p < alpha,
            tested=fit.df > 0,
            sound=models[group].test_is_sound,
        )
        for group, (fit, p) in check_prior_shift(models, found.groups).items()
    }
    return PriorShiftTest(groups, alpha)
