"""``--fail-if "pd>0.1"``: a metric, a comparison and a number."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Condition", "breaches", "parse_conditions"]

_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True)
class Condition:
    """When to fail.

    Examples
    --------
    >>> Condition("pd", ">", 0.1).met(0.2), Condition("accuracy", "<", 0.6).met(0.7)
    (True, False)
    """

    metric: str
    comparison: str
    limit: float

    def met(self, value: float | None) -> bool:
        """Whether a value is such; what is undefined is not."""
        return (
            value is not None
            and value == value
            and _COMPARE[self.comparison](value, self.limit)
        )

    def __str__(self) -> str:
        return f"{self.metric}{self.comparison}{self.limit:g}"


def parse_conditions(
    texts: Iterable[str] | None, metrics: Iterable[str]
) -> list[Condition]:
    """Read conditions, or say what is accepted."""
    accepted = list(metrics)
    conditions = []
    for text in texts or []:
        found = re.fullmatch(
            r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*(\d*\.?\d+(?:e-?\d+)?)\s*",
            text,
            re.IGNORECASE,
        )
        if not found or found[1].lower() not in accepted:
            raise ValueError(
                f"--fail-if must be a metric, one of > >= < <=, and a number, such as 'pd>0.1', got {text!r}; metrics "
                f"are {', '.join(accepted)}."
            )
        conditions.append(Condition(found[1].lower(), found[2], float(found[3])))
    return conditions


def breaches(
    conditions: list[Condition], findings: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Each finding (``metric``, ``where``, ``value``) that meets a condition, with by how much."""
    listed = list(findings)
    for condition in conditions:
        for finding in listed:
            if finding["metric"] == condition.metric and condition.met(
                finding["value"]
            ):
                by = abs(finding["value"] - condition.limit)
                yield {
                    "condition": str(condition),
                    "where": finding["where"],
                    "value": finding["value"],
                    "by": by,
                }
