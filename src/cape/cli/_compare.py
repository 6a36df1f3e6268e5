"""``cape compare``: the results table on one's own data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app
from cape.cli._reproduce import (
    CORES,
    Favourable,
    Jobs,
    Learner,
    Methods,
    Seeds,
    SlowSeeds,
)
from cape.cli._results import run_and_show


@app.command()
def compare(
    train: Annotated[
        Path,
        typer.Argument(help="Labelled table to learn from: CSV, Parquet or Feather."),
    ],
    test: Annotated[
        Path,
        typer.Argument(
            help="Table to be judged on; its labels are for the judge alone."
        ),
    ],
    label: Annotated[str, typer.Option(help="Label column, of two values.")],
    group: Annotated[
        list[str],
        typer.Option(help="Group column; repeat it for combinations of several."),
    ],
    positive: Annotated[
        str | None,
        typer.Option(help="The positive label; default the greater of the two."),
    ] = None,
    learner: Learner = "boosting",
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path(
        "results/own"
    ),
    seeds: Seeds = 5,
    slow_seeds: SlowSeeds = 1,
    favourable: Favourable = "positive",
    method: Methods = None,
    jobs: Jobs = CORES,
) -> None:
    """Compare CAPE with the fair classifiers of AIF360 and Fairlearn on your own tables.

    Text, dates and missing values are turned into numbers by skrub, fitted on the training table.

    Example: cape compare last_year.csv this_year.csv --label y --group race
    """
    from cape._tables import read_table
    from cape.experiments import compare_methods, table_problem

    problem = table_problem(
        read_table(train), read_table(test), label=label, group=group, positive=positive
    )
    options: dict[str, Any] = {
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "favourable": favourable,
        "methods": method or None,
    }
    run_and_show(
        partial(compare_methods, problem, learner=learner, **options), out, jobs=jobs
    )
