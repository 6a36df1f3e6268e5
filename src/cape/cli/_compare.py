"""``cape compare``: the results table on the user's own data.

It runs what ``cape reproduce compas`` runs, on two tables of any columns.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cape.cli import _results as shared
from cape.cli._app import app
from cape.cli._results import run_and_show

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


@app.command()
def compare(
    train: Train,
    test: Test,
    label: Label,
    group: Group,
    positive: Positive = None,
    out: shared.Out = Path("results/own"),
    learner: shared.Learner = "boosting",
    method: shared.Methods = None,
    favourable: shared.Favourable = "positive",
    seeds: shared.Seeds = 5,
    slow_seeds: shared.SlowSeeds = 1,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """Compare CAPE with the fair classifiers of AIF360 and Fairlearn on your tables.

    Text, dates and missing values are turned into numbers by skrub, fitted on the
    training table.

    Example: cape compare last_year.csv this_year.csv --label y --group race
    """
    from cape._tables import read_table
    from cape.experiments import compare_methods, table_problem

    # Mistakes in the tables are reported before any method is trained.
    problem = table_problem(
        read_table(train),
        read_table(test),
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
