"""How commands hand over a summary: as a page, as JSON, or as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from cape._io import check_apart, check_report
from cape._wording._terminal import Blocks, breach_text, left_out_texts
from cape.cli._app import give, give_json, give_line, give_notes, give_path
from cape.cli._fail_if import Condition, Finding, judge
from cape.cli._options import Force, Json, Report, check_files


@dataclass(frozen=True)
class Output:
    """Where the user wants the result of a command: a bundle of options."""

    report: Report = None
    force: Force = False
    as_json: Json = False

    def check(
        self, inputs: Iterable[Path] = (), outputs: Iterable[Path | None] = ()
    ) -> None:
        """Raise if a file is not there or cannot be written, before any work is done.

        Parameters
        ----------
        inputs : iterable of Path, default=()
            What the command reads; none of it is replaced, whatever the user forces.
        outputs : iterable of Path or None, default=()
            What the command writes besides the report.
        """
        inputs = list(inputs)
        outputs = list(outputs)
        if self.report is not None:
            check_report(self.report, overwrite=self.force)
        check_apart([self.report, *outputs], inputs)
        check_files(inputs, outputs, overwrite=self.force)

    def give(
        self,
        summary: dict[str, Any],
        show: Callable[[dict[str, Any]], Blocks],
        notes: Iterable[Any],
        **more: Any,
    ) -> None:
        """Write the report, then print the result and the notes.

        If the report cannot be written, the result is printed before the error.

        Parameters
        ----------
        summary : dict
            From a ``_summary`` function of `cape.report`.
        show : callable
            Says for people what is in the summary.
        notes : iterable of Note
            Printed on the error stream.
        **more
            What the JSON that is printed holds beside the summary.
        """
        summary = {**summary, "notes": give_notes(notes)}
        failure = None
        if self.report is not None:
            from cape.report import write_report

            try:
                write_report(summary, self.report, overwrite=self.force)
            except Exception as error:
                failure = error
        if self.as_json:
            give_json(summary | more)
        else:
            give(show(summary))
        # Hours of work are not lost with a page: the result is printed all the same.
        if failure is not None:
            raise failure
        if self.report is not None and not self.as_json:
            give_path("report", self.report)

    def give_and_judge(
        self,
        summary: dict[str, Any],
        show: Callable[[dict[str, Any]], Blocks],
        notes: Iterable[Any],
        *,
        conditions: list[Condition],
        findings: list[Finding],
        key: str,
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
        breaches, left_out = judge(conditions, findings)
        # The page shows what failed, too: whoever reads it did not see the terminal.
        self.give({**summary, key: breaches, "left_out": left_out}, show, notes)
        # With --json they are in the JSON.
        if not self.as_json:
            for line in [*left_out_texts(left_out), *map(breach_text, breaches)]:
                give_line(line, wrap=False)
        if breaches:
            raise typer.Exit(1)
