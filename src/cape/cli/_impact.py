"""``cape audit --table ll144``: the tables of a bias audit, which needs no labels."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cape._wording._terminal import impact_shown
from cape.cli._app import progress
from cape.cli._options import Csv, option
from cape.cli._output import Finding, Output, parse_conditions


def _with_table(text: str, metavar: str) -> Any:
    """Make an option that belongs to ``--table``."""
    return option(f"With --table: {text}", metavar)


@dataclass(frozen=True)
class BiasTable:
    """The options of ``--table``: a bundle."""

    table: Annotated[
        str | None,
        option(
            "Instead of an audit with labels: ll144, the selection rates and impact "
            "ratios that New York City's Local Law 144 asks for.",
            "NAME",
        ),
    ] = None
    score: Annotated[
        str | None,
        _with_table("the column with the score, without a decision.", "COLUMN"),
    ] = None
    unknown: Annotated[
        list[str] | None,
        _with_table(
            "a value of a group column that means unknown, as an empty field does. "
            "Repeat the option for more values.",
            "VALUE",
        ),
    ] = None
    min_share: Annotated[
        float | None,
        _with_table(
            "categories with a smaller share of the rows get no impact ratio. Default: "
            "0.02, which the rules allow; 0 compares all.",
            "NUMBER",
        ),
    ] = None
    source: Annotated[
        str | None,
        _with_table("where the data come from. Default: the file name.", "TEXT"),
    ] = None
    data_date: Annotated[
        str | None,
        _with_table(
            "the period of the data, such as 'January to June 2026'. Default: when the "
            "file was last changed.",
            "TEXT",
        ),
    ] = None
    out: Annotated[
        Path | None, _with_table("write the table as a file (.csv).", "FILE")
    ] = None

    def is_asked_for(self) -> bool:
        """Tell whether the table is asked for, or raise if the options do not fit."""
        if self.table not in (None, "ll144"):
            raise ValueError(f"--table must be ll144, got {self.table!r}.")
        for field in fields(self):
            if self.table is None and getattr(self, field.name) is not None:
                name = field.name.replace("_", "-")
                raise ValueError(f"--{name} must be given together with --table ll144.")
        return self.table is not None

    def give(
        self,
        source: Any,
        prediction: str | None,
        group: list[str] | None,
        positive: list[str] | None,
        fail_if: list[str] | None,
        csv: Csv,
        output: Output,
        **words: Any,
    ) -> None:
        """Make the table and hand it over; parameters are those of ``cape audit``."""
        if not group:
            raise ValueError("--table ll144 needs --group, such as sex and race.")
        column = prediction or self.score
        if column is None or (prediction and self.score):
            raise ValueError("--table ll144 needs either --prediction or --score.")
        conditions = parse_conditions(fail_if, ["impact_ratio"])
        output.check([source], [self.out])
        from cape._tables import TableWriter
        from cape.files._impact import LEAST_SHARE, impact_of_file
        from cape.files._notes import Notes
        from cape.report._audit import impact_summary

        notes = Notes()
        if len(group) < 2:
            notes.say("one_table")
        min_share = LEAST_SHARE if self.min_share is None else self.min_share
        with progress() as on_rows:
            ratios, facts, sha256 = impact_of_file(
                source,
                column,
                is_score=prediction is None,
                group=group,
                positive=positive,
                unknown=self.unknown or [],
                min_share=min_share,
                dialect=csv.dialect(),
                notes=notes,
                on_rows=on_rows,
            )
        summary = impact_summary(
            ratios,
            facts,
            source=source,
            file_sha256=sha256,
            columns={"decision or score": column, "groups": ", ".join(group)},
            min_share=min_share,
            data_source=self.source,
            data_date=self.data_date,
            **words,
        )
        if self.out is not None:
            # A row by itself says what its rate is, and whose.
            named = ratios.rename(columns={"rate": summary["rate"]})
            sourced = named.assign(
                source=summary["source"], data_date=summary["data_date"]
            )
            with TableWriter(self.out, overwrite=output.force) as writer:
                writer.write(sourced)
        findings = []
        for name, rows in summary["tables"].items():
            for row in rows:
                if row["status"] == "compared":
                    where = f"{name}, {row['category']}"
                    findings.append(Finding("impact_ratio", where, row["impact_ratio"]))
        output.give_and_judge(
            "ll144",
            summary,
            impact_shown,
            notes,
            conditions=conditions,
            findings=findings,
            written={"table": self.out},
        )
