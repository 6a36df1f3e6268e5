"""How commands hand over a summary: as a page, as JSON, or as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cape._newfile import check_apart, check_free, check_report
from cape.cli._app import give_json, give_notes, give_path
from cape.cli._fail_if import (
    Condition,
    Finding,
    exit_if_breached,
    find_breaches,
    find_left_out,
)

__all__ = ["Output", "check_outputs"]


def check_outputs(
    paths: Iterable[Path | None], *, inputs: Iterable[Path], overwrite: bool
) -> None:
    """Raise if a file cannot be written, before any work is done.

    Commands call this before they import what takes seconds: the library checks the
    same, but later.

    Parameters
    ----------
    paths : iterable of Path or None
        What the command writes.
    inputs : iterable of Path
        What the command reads; none of it is replaced, whatever the user forces.
    overwrite : bool
        Whether to replace a file that exists.
    """
    written = [path for path in paths if path is not None]
    check_apart(written, inputs)
    for path in written:
        check_free(path, overwrite=overwrite)


@dataclass(frozen=True)
class Output:
    """Where the user wants the result of a command.

    Parameters
    ----------
    report : Path or None
        The page to write, or its content if the name ends in .json.
    overwrite : bool
        Whether to replace a file that exists.
    as_json : bool
        Whether to print JSON instead of tables.
    """

    report: Path | None
    overwrite: bool
    as_json: bool

    def check(
        self, *, inputs: Iterable[Path] = (), outputs: Iterable[Path | None] = ()
    ) -> None:
        """Raise if the report cannot be written, before any work is done.

        Parameters
        ----------
        inputs : iterable of Path, default=()
            What the command reads; none of it is replaced, whatever the user forces.
        outputs : iterable of Path or None, default=()
            What the command writes besides the report.
        """
        if self.report is not None:
            check_report(self.report, overwrite=self.overwrite)
        check_apart([self.report, *outputs], inputs)
        check_outputs(outputs, inputs=inputs, overwrite=self.overwrite)

    def give(
        self,
        summary: dict[str, Any],
        *,
        show: Callable[[dict[str, Any]], None],
        notes: Iterable[str],
        more: dict[str, Any],
    ) -> None:
        """Write the report, then print the result and the notes.

        If the report cannot be written, the result is printed before the error.

        Parameters
        ----------
        summary : dict
            From a ``_summary`` function of `cape.report`.
        show : callable
            Prints the summary for people.
        notes : iterable of str
            Printed on the error stream.
        more : dict
            What the JSON that is printed holds beside the summary.
        """
        notes = list(notes)
        summary = {**summary, "notes": notes}
        failure = self._write(summary)
        give_notes(notes)
        if self.as_json:
            give_json(summary | more)
        else:
            show(summary)
        # Hours of work are not lost with a page: the result is printed all the same.
        if failure is not None:
            raise failure
        if self.report is not None and not self.as_json:
            give_path("report", self.report)

    def _write(self, summary: dict[str, Any]) -> Exception | None:
        """Write the report if one is wanted; return the error if that fails."""
        from cape.report import write_report

        if self.report is None:
            return None
        try:
            write_report(summary, self.report, overwrite=self.overwrite)
        except Exception as error:
            return error
        return None

    def give_and_judge(
        self,
        summary: dict[str, Any],
        conditions: list[Condition],
        findings: list[Finding],
        key: str,
        *,
        show: Callable[[dict[str, Any]], None],
        notes: Iterable[str],
    ) -> None:
        """Hand over a result, and exit with code 1 if a ``--fail-if`` was met.

        Parameters
        ----------
        summary, show, notes
            See `give`.
        conditions : list of Condition
            Those of ``--fail-if``.
        findings : list of Finding
            The values that they are checked against.
        key : str
            Where report and JSON hold the conditions that were met. What could not be
            checked is in ``left_out``.
        """
        breaches = find_breaches(conditions, findings)
        left_out = find_left_out(conditions, findings)
        more = {
            key: [breach.to_dict() for breach in breaches],
            "left_out": [one.to_dict() for one in left_out],
        }
        # The page shows what failed, too: whoever reads it did not see the terminal.
        self.give({**summary, **more}, show=show, notes=notes, more={})
        exit_if_breached(breaches, left_out, shown=not self.as_json)
