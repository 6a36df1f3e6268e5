"""``cape compare``: the results table on the user's own data.

It runs what ``cape reproduce compas`` runs, on two tables of any columns.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cape.cli import _results as shared
from cape.cli._app import app
from cape.cli._options import Decimal, Encoding, Separator, dialect_of, option
from cape.cli._results import run_and_show

if TYPE_CHECKING:
    import pandas as pd

    from cape._tables import Dialect

Train = Annotated[
    Path, typer.Argument(help="Labelled table to learn from: CSV, Parquet or Feather.")
]
Test = Annotated[
    Path,
    typer.Argument(help="Labelled table to judge by; no method gets its labels."),
]
Label = Annotated[str, typer.Option(help="Label column, of two values.")]
Group = Annotated[
    list[str],
    typer.Option(help="Group column; repeat it for combinations of several."),
]
Positive = Annotated[
    str | None,
    typer.Option(help="The positive label; default the greater of the two."),
]
Drop = Annotated[
    list[str] | None,
    option("Column not to learn from. Repeat the option to drop several.", "COLUMN"),
]


@app.command()
def compare(
    train: Train,
    test: Test,
    label: Label,
    group: Group,
    positive: Positive = None,
    drop: Drop = None,
    out: shared.Out = Path("results/own"),
    learner: shared.Learner = "boosting",
    method: shared.Methods = None,
    favourable: shared.Favourable = "positive",
    seeds: shared.Seeds = 5,
    slow_seeds: shared.SlowSeeds = 1,
    jobs: shared.Jobs = shared.CORES,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Compare CAPE with the fair classifiers of AIF360 and Fairlearn on your tables.

    Text, dates and missing values are turned into numbers by skrub, fitted on the
    training table.

    Example: cape compare last_year.csv this_year.csv --label y --group race
    """
    from cape._tables import missing_column, table_columns
    from cape.experiments import compare_methods, table_problem

    dialect = dialect_of(separator, encoding, decimal)
    names = table_columns(train, dialect=dialect)
    for name in drop or []:
        if name not in names:
            raise missing_column(name, names, train)
    # Mistakes in the tables are reported before any method is trained.
    problem = table_problem(
        _read(train, group, drop or [], dialect),
        _read(test, group, drop or [], dialect),
        label=label,
        group=group,
        positive=positive,
    )
    run = partial(
        compare_methods,
        problem,
        learner=learner,
        # typer gives an empty list where the option was not used.
        methods=method or None,
        favourable=favourable,
        seeds=seeds,
        slow_seeds=slow_seeds,
    )
    run_and_show(run, out, jobs=jobs)


def _read(
    path: Path, group: list[str], drop: list[str], dialect: Dialect
) -> pd.DataFrame:
    """Read a table without the columns to drop, with groups as plain text.

    Groups are spelled as ``cape train`` spells them: one of both tables may hold the
    numbers 1 and 2, and the other the text 1, 2 and unknown.
    """
    from cape._tables import missing_column, read_table
    from cape.files import plain_text

    types = dict.fromkeys(group, "text")
    frame = read_table(path, types=types, dialect=dialect)
    for name in group:
        if name not in frame:
            raise missing_column(name, map(str, frame), path)
        frame[name], _ = plain_text(frame[name])
    # The table to judge by may lack a column that nobody learns from.
    return frame.drop(columns=drop, errors="ignore")
