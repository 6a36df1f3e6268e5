"""How commands hand over a summary: as a page, as JSON, or as tables.

``--fail-if "pd>0.1"`` are conditions under which a command exits with code 1.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import typer

from cape.base._io import check_free, check_report
from cape_app.cli._app import (
    BAD_INPUT,
    explain,
    give,
    give_json,
    give_notes,
    give_path,
)
from cape_app.words._terminal import blocks_of

_COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    # A verdict has the value 1 where it was found.
    "": operator.gt,
}

# A metric, a comparison and a number without a sign: no metric is negative. Or a word.
_CONDITION = re.compile(
    r"\s*([a-z_]+)\s*(?:(>=|<=|>|<)\s*(\d*\.?\d+(?:e-?\d+)?)\s*)?", re.IGNORECASE
)


class Finding(NamedTuple):
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


class Condition(NamedTuple):
    """A metric, a comparison and a limit; or a verdict by itself.

    Parameters
    ----------
    text : str
        As the user would write it.
    metric : str
    is_met : callable
        Compares a value with the limit.
    limit : float
    """

    text: str
    metric: str
    is_met: Callable[[float, float], bool]
    limit: float


def parse_conditions(
    texts: Iterable[str] | None,
    metrics: Sequence[str],
    verdicts: Sequence[str] = (),
) -> list[Condition]:
    """Parse the values of ``--fail-if``.

    Parameters
    ----------
    texts : iterable of str or None
        What the user gave; None is nothing.
    metrics : sequence of str
        The metrics that the command knows.
    verdicts : sequence of str, default=()
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
    >>> (condition,) = parse_conditions(["PD > .1"], ["pd", "pe"])
    >>> condition.text, condition.limit
    ('pd>0.1', 0.1)
    """
    conditions = []
    for text in texts or []:
        match = _CONDITION.fullmatch(text)
        word, comparison, number = match.groups("") if match else ("", "", "")
        word = word.lower()
        if word not in (metrics if comparison else verdicts):
            alone = f"; by themselves stand {', '.join(verdicts)}" if verdicts else ""
            raise ValueError(
                "--fail-if must be a metric, one of > >= < <=, and a number, such as "
                f"'{metrics[0]}>0.1', got {text!r}; metrics are "
                f"{', '.join(metrics)}{alone}."
            )
        limit = float(number or 0)
        shown = f"{word}{comparison}{limit:g}" if comparison else word
        conditions.append(Condition(shown, word, _COMPARISONS[comparison], limit))
    return conditions


def judge(
    conditions: Iterable[Condition], findings: Iterable[Finding]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Check all values against all conditions.

    Parameters
    ----------
    conditions : iterable of Condition
    findings : iterable of Finding

    Returns
    -------
    breaches : list of dict
        The conditions that were met: as the user would write each, where, the value,
        and how far it is beyond the limit. In the order of the conditions.
    left_out : list of dict
        What could not be checked, which is neither a failure nor a pass: the condition,
        where, and why there is no value.

    Examples
    --------
    >>> findings = [Finding("pd", "blue", 0.5), Finding("pd", "green", None, "few")]
    >>> breaches, left_out = judge(parse_conditions(["pd>0.25"], ["pd"]), findings)
    >>> breaches
    [{'condition': 'pd>0.25', 'where': 'blue', 'value': 0.5, 'by': 0.25}]
    >>> left_out
    [{'condition': 'pd>0.25', 'where': 'green', 'why': 'few'}]
    """
    # Every condition goes over all findings.
    findings = list(findings)
    breaches = []
    left_out = []
    for condition in conditions:
        for metric, where, value, why in findings:
            if metric != condition.metric:
                continue
            entry: dict[str, Any] = {"condition": condition.text, "where": where}
            if value is None:
                left_out.append(entry | {"why": why})
            # Every comparison with NaN is False.
            elif condition.is_met(value, condition.limit):
                by = abs(value - condition.limit)
                breaches.append(entry | {"value": value, "by": by})
    return breaches, left_out


@dataclass(frozen=True)
class Output:
    """Where the user wants the result of a command: a bundle of options."""

    report: Path | None = None
    force: bool = False
    as_json: bool = False
    verbose: bool = False

    @property
    def in_full(self) -> bool:
        """Whether all is told that there is to tell."""
        return self.as_json or self.verbose or self.report is not None

    def check(self, *outputs: Path | None) -> None:
        """Raise if a file cannot be written, before any work is done.

        Parameters
        ----------
        *outputs : Path or None
            What the command writes besides the report.
        """
        if self.report is not None:
            check_report(self.report, overwrite=self.force)
        for path in outputs:
            if path is not None:
                check_free(path, overwrite=self.force)

    def give(
        self,
        name: str,
        summary: dict[str, Any],
        notes: Iterable[Any],
        *,
        conditions: Iterable[Condition] = (),
        findings: Iterable[Finding] = (),
        incomplete: bool = False,
        written: Mapping[str, Path | None] | None = None,
    ) -> None:
        """Write the report, print result and notes, and judge conditions.

        If the report cannot be written, the result is printed before the error. If a
        condition was met, the exit code is 1.

        Parameters
        ----------
        name : str
            The definition in ``schema.json`` of what ``--json`` prints.
        summary : dict
            From a ``_summary`` function of `cape_app.pages`. Report and JSON also hold
            the words of the notes, what was met in ``breaches``, and what could not be
            checked in ``left_out``.
        notes : iterable of Note
            Printed on the error stream.
        conditions : iterable of Condition
            Those of ``--fail-if``.
        findings : iterable of Finding
            The values that they are checked against.
        incomplete : bool, default=False
            Whether an input could not be read: the exit code is 2 then.
        written : mapping from str to Path or None, optional
            What the command has written, and where; said whatever fails.
        """
        breaches, left_out = judge(conditions, findings)
        summary |= {"breaches": breaches, "left_out": left_out}
        summary["notes"] = give_notes(notes)
        failure = None
        try:
            self.write_page(summary)
        except Exception as error:
            failure = error
        self.tell(name, summary, failure, written)
        if incomplete:
            raise typer.Exit(BAD_INPUT)
        if breaches:
            raise typer.Exit(1)

    def write_page(self, summary: dict[str, Any]) -> None:
        """Write the report, and note the pictures that it had to leave out.

        Parameters
        ----------
        summary : dict
            Notes on pictures are added to its ``notes``.
        """
        if self.report is None:
            return
        from cape_app.files._notes import Notes
        from cape_app.pages import write_report

        notes = Notes()
        with notes.listening():
            write_report(summary, self.report, overwrite=self.force)
        summary["notes"] += give_notes(notes)

    def tell(
        self,
        name: str,
        summary: dict[str, Any],
        failure: Exception | None = None,
        written: Mapping[str, Path | None] | None = None,
    ) -> None:
        """Print the result, and then raise the failure of the report.

        Parameters
        ----------
        name, summary, written
            See `give`.
        failure : Exception, optional
            Why there is no report.
        """
        if self.as_json:
            if failure is None:
                give_json(name, summary)
                return
            told = explain(failure)
            give_json(name, summary | {"error": told})
            raise typer.Exit(told["exit_code"])
        from cape_app.pages import to_text

        page = to_text(summary, verbose=self.verbose)
        give(blocks_of(page, verbose=self.verbose))
        for what, path in (written or {}).items():
            if path is not None:
                give_path(what, path)
        # Hours of work are not lost with a page: the result is printed all the same.
        if failure is not None:
            raise failure
        if self.report is not None:
            give_path("report", self.report)
