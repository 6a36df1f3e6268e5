"""``cape audit --table ll144``: the table of a bias audit, which needs no labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cape._wording._terminal import impact_shown
from cape.cli._app import give_path, progress
from cape.cli._options import Csv, option
from cape.cli._output import Finding, Output, parse_conditions

Table = Annotated[
    str | None,
    option(
        "Instead of the audit with labels: ll144, selection rates and impact ratios as "
        "the rules on New York City's Local Law 144 ask for.",
        "NAME",
    ),
]
Score = Annotated[
    str | None,
    option(
        "With --table: the column with the score, if there is no decision.", "COLUMN"
    ),
]
Unknown = Annotated[
    list[str] | None,
    option(
        "With --table: a value of a group column that means that the category is not "
        "known, as an empty field does. Repeat the option for other values.",
        "VALUE",
    ),
]
MinShare = Annotated[
    float | None,
    option(
        "With --table: categories of a smaller share of the rows have no impact ratio. "
        "Default: 0.02, which the rules allow; 0 compares all.",
        "NUMBER",
    ),
]
Source = Annotated[
    str | None,
    option(
        "With --table: where the data come from. Default: the name of the file.", "TEXT"
    ),
]
DataDate = Annotated[
    str | None,
    option(
        "With --table: the time that the data are of, such as 'January to June 2026'. "
        "Default: when the file was last changed.",
        "TEXT",
    ),
]
Out = Annotated[
    Path | None, option("With --table: write the table as a file (.csv).", "FILE")
]


@dataclass(frozen=True)
class BiasTable:
    """The options of ``--table``: a bundle."""

    table: Table = None
    score: Score = None
    unknown: Unknown = None
    min_share: MinShare = None
    source: Source = None
    data_date: DataDate = None
    out: Out = None

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
        file: Path,
        *,
        prediction: str | None,
        group: Sequence[str],
        positive: list[str] | None,
        fail_if: list[str] | None,
        csv: Csv,
        output: Output,
        **words: Any,
    ) -> None:
        """Make the table and hand it over.

        Parameters
        ----------
        file, prediction, group, positive, fail_if, csv, output
            As given to ``cape audit``.
        **words
            Title, author and note of the page.
        """
        if not group:
            raise ValueError("--table ll144 needs --group, such as sex and race.")
        if (prediction is None) == (self.score is None):
            raise ValueError("--table ll144 needs either --prediction or --score.")
        conditions = parse_conditions(fail_if, ["impact_ratio"])
        output.check([file], [self.out])
        from cape._tables import TableWriter, table_length
        from cape.files._impact import impact_of_file
        from cape.files._notes import Notes
        from cape.metrics._impact import LEAST_SHARE
        from cape.report._audit import impact_summary

        notes = Notes()
        if len(group) < 2:
            notes.say("one_table")
        min_share = LEAST_SHARE if self.min_share is None else self.min_share
        with progress(table_length(file)) as on_rows:
            ratios, selected, sha256 = impact_of_file(
                file,
                group=group,
                prediction=prediction,
                score=self.score,
                positive=positive,
                unknown=self.unknown or [],
                min_share=min_share,
                dialect=csv.dialect(),
                notes=notes,
                on_rows=on_rows,
            )
        columns = {"score": self.score, "decision": prediction, "selected": selected}
        columns = {name: value for name, value in columns.items() if value is not None}
        summary = impact_summary(
            ratios,
            file=file,
            file_sha256=sha256,
            columns=columns | {"groups": ", ".join(group)},
            min_share=min_share,
            source=self.source,
            data_date=self.data_date,
            **words,
        )
        if self.out is not None:
            # A row by itself says whose it is.
            facts = {name: summary[name] for name in ("source", "data_date")}
            with TableWriter(self.out, overwrite=output.force) as writer:
                writer.write(ratios.assign(**facts))
        findings = []
        for table in summary["tables"]:
            for entry in [*table["compared"], *table["small"]]:
                where = f"{table['table']}, {entry['category']}"
                value = entry["impact_ratio"]
                findings.append(
                    Finding("impact_ratio", where, value, "below the share")
                )
        output.give_and_judge(
            summary,
            impact_shown,
            notes,
            conditions=conditions,
            findings=findings,
            key="failed",
        )
        if self.out is not None and not output.as_json:
            give_path("table", self.out)
