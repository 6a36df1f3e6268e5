"""``--fail-if "pd>0.1"``: conditions under which a command exits with code 1."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import typer

from cape.cli._app import give_line

__all__ = [
    "Breach",
    "Condition",
    "Finding",
    "LeftOut",
    "describe_left_out",
    "exit_if_breached",
    "find_breaches",
    "find_left_out",
    "parse_conditions",
]

_COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    # A verdict has the value 1 where it was found.
    "": operator.gt,
}

_MOST_PLACES = 6

# A metric, a comparison and a number without a sign: no metric is negative.
_CONDITION = re.compile(
    r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*(\d*\.?\d+(?:e-?\d+)?)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class Condition:
    """A metric, a comparison and a limit; or a verdict by itself.

    Parameters
    ----------
    metric : str
    comparison : {">", ">=", "<", "<=", ""}
        Empty for a verdict, which is met wherever it was found.
    limit : float, default=0.0

    Examples
    --------
    >>> Condition("pd", ">", 0.1).met(0.2), Condition("accuracy", "<", 0.6).met(0.7)
    (True, False)
    """

    metric: str
    comparison: str
    limit: float = 0.0

    def met(self, value: float | None) -> bool:
        """Tell whether a value meets the condition.

        Parameters
        ----------
        value : float or None
            None and NaN stand for an undefined value, which meets no condition.

        Returns
        -------
        bool
        """
        # Every comparison with NaN is False.
        return value is not None and _COMPARISONS[self.comparison](value, self.limit)

    def __str__(self) -> str:
        if not self.comparison:
            return self.metric
        return f"{self.metric}{self.comparison}{self.limit:g}"


@dataclass(frozen=True)
class Finding:
    """A value that conditions are checked against.

    Parameters
    ----------
    metric : str
    where : str
        The group, pair or batch that it is about.
    value : float or None
        None if there is no value to check.
    why : str, default="unknown"
        Why there is no value, if there is none.
    """

    metric: str
    where: str
    value: float | None
    why: str = "unknown"


@dataclass(frozen=True)
class Breach:
    """A condition that was met.

    Parameters
    ----------
    condition : str
        As the user would write it.
    where : str
        The group, pair or batch.
    value : float
        The value that meets the condition.
    by : float
        How far it is from the limit.
    """

    condition: str
    where: str
    value: float
    by: float

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dict that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        if self.condition.isidentifier():
            return f"fail-if {self.condition} is met: {self.where}"
        return (
            f"fail-if {self.condition} is met: {self.where}: {self.value:.3f}, "
            f"by {self.by:.3f}"
        )


@dataclass(frozen=True)
class LeftOut:
    """A value that a condition could not be checked against.

    Parameters
    ----------
    condition : str
        As the user would write it.
    where : str
        The group, pair or batch.
    why : str
        Why it has no value.
    """

    condition: str
    where: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dict that JSON can hold."""
        return asdict(self)


def parse_conditions(
    texts: Iterable[str] | None,
    metrics: Iterable[str],
    verdicts: Iterable[str] = (),
) -> list[Condition]:
    """Parse the values of ``--fail-if``.

    Parameters
    ----------
    texts : iterable of str or None
        What the user gave; None is nothing.
    metrics : iterable of str
        The metrics that the command knows.
    verdicts : iterable of str, default=()
        Conditions that stand by themselves.

    Returns
    -------
    list of Condition

    Raises
    ------
    ValueError
        If a text is no condition, or its metric is not known.

    Examples
    --------
    >>> parse_conditions(["PD > .1"], ["pd", "pe"])
    [Condition(metric='pd', comparison='>', limit=0.1)]
    """
    accepted = list(metrics)
    verdicts = list(verdicts)
    conditions = []
    for text in texts or []:
        if text.strip().lower() in verdicts:
            conditions.append(Condition(text.strip().lower(), ""))
            continue
        match = _CONDITION.fullmatch(text)
        if not match or match[1].lower() not in accepted:
            raise ValueError(
                "--fail-if must be a metric, one of > >= < <=, and a number, such as "
                f"'pd>0.1', got {text!r}; metrics are {', '.join(accepted)}"
                f"{_or_verdicts(verdicts)}."
            )
        metric, comparison, limit = match.groups()
        conditions.append(Condition(metric.lower(), comparison, float(limit)))
    return conditions


def _or_verdicts(verdicts: list[str]) -> str:
    """Name the conditions that stand by themselves, if a command has any."""
    if not verdicts:
        return ""
    return f"; by themselves stand {', '.join(verdicts)}"


def find_breaches(
    conditions: Iterable[Condition], findings: Iterable[Finding]
) -> list[Breach]:
    """Check all values against all conditions.

    Parameters
    ----------
    conditions : iterable of Condition
    findings : iterable of Finding

    Returns
    -------
    list of Breach
        In the order of the conditions.

    Examples
    --------
    >>> findings = [Finding("pd", "blue", 0.3), Finding("pd", "green", 0.0)]
    >>> [str(b) for b in find_breaches([Condition("pd", ">", 0.1)], findings)]
    ['fail-if pd>0.1 is met: blue: 0.300, by 0.200']
    """
    # Every condition goes over all findings.
    findings = list(findings)
    breaches = []
    for condition in conditions:
        for finding in findings:
            value = finding.value
            if finding.metric == condition.metric and condition.met(value):
                assert value is not None
                by = abs(value - condition.limit)
                breaches.append(Breach(str(condition), finding.where, value, by))
    return breaches


def find_left_out(
    conditions: Iterable[Condition], findings: Iterable[Finding]
) -> list[LeftOut]:
    """Collect what could not be checked, which is neither a failure nor a pass.

    Parameters
    ----------
    conditions : iterable of Condition
    findings : iterable of Finding

    Returns
    -------
    list of LeftOut
        In the order of the conditions.

    Examples
    --------
    >>> findings = [Finding("pd", "blue", None, "too few rows")]
    >>> find_left_out([Condition("pd", ">", 0.1)], findings)
    [LeftOut(condition='pd>0.1', where='blue', why='too few rows')]
    """
    findings = list(findings)
    left_out = []
    for condition in conditions:
        for finding in findings:
            if finding.metric == condition.metric and finding.value is None:
                left_out.append(LeftOut(str(condition), finding.where, finding.why))
    return left_out


def describe_left_out(left_out: Iterable[LeftOut]) -> list[str]:
    """Say, in a line for each condition and reason, what was left out.

    Examples
    --------
    >>> left_out = [LeftOut("pd>0.1", name, "too few rows") for name in "ab"]
    >>> describe_left_out(left_out)
    ['fail-if pd>0.1 left out, too few rows: a; b']
    """
    places: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        places.setdefault((one.condition, one.why), []).append(one.where)
    lines = []
    for (condition, why), names in places.items():
        # Three small groups among ten are in fifty pairs.
        shown = names
        if len(names) > _MOST_PLACES:
            more = f"{len(names) - _MOST_PLACES} more"
            shown = [*names[:_MOST_PLACES], more]
        lines.append(f"fail-if {condition} left out, {why}: {'; '.join(shown)}")
    return lines


def exit_if_breached(
    breaches: list[Breach], left_out: list[LeftOut], *, shown: bool
) -> None:
    """Exit with code 1 if a condition was met.

    Parameters
    ----------
    breaches : list of Breach
    left_out : list of LeftOut
        What could not be checked.
    shown : bool
        Whether to print both first.
    """
    # With --json they are in the JSON.
    if shown:
        for line in describe_left_out(left_out):
            give_line(line, wrap=False)
        for breach in breaches:
            give_line(str(breach), wrap=False)
    if breaches:
        raise typer.Exit(1)
