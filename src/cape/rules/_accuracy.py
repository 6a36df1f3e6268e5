"""Best accuracy or least cost, group by group."""

from __future__ import annotations

from dataclasses import dataclass

from cape.rules._bounded import BoundedRule

__all__ = ["Accuracy"]


@dataclass(frozen=True, kw_only=True)
class Accuracy(BoundedRule):
    """Expected accuracy is best, or expected cost is least, in every group.

    Nothing is asked of the groups together. This is what the correction of Saerens et
    al. (2002) does: the threshold moves with the prevalence.

    Parameters
    ----------
    cost_fp, cost_fn : float, default=1.0
        What a false positive and a false negative cost.

    Examples
    --------
    >>> from cape.rules import Accuracy
    >>> Accuracy(cost_fn=5)
    Accuracy(cost_fp=1.0, cost_fn=5)
    """

    @property
    def bounds(self) -> dict[str, float | None]:
        """Return no bound."""
        return {}
