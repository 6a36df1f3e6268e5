"""``cape reproduce``: the paper's experiments."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import app
from cape.cli._results import run_and_show

reproduce = typer.Typer(
    help="Run the paper's experiments: our numbers, the printed ones, and the peers'. A run that was stopped goes on.",
    no_args_is_help=True,
)
app.add_typer(reproduce, name="reproduce")

Jobs = Annotated[int, typer.Option(help="Cells computed at the same time.")]
Seeds = Annotated[int, typer.Option(min=1, help="Repetitions of random methods.")]
SlowSeeds = Annotated[
    int,
    typer.Option(min=1, help="Repetitions of those that cost a hundred fits or more."),
]
Favourable = Annotated[
    str,
    typer.Option(help="The label AIF360 is told is favourable: positive or negative."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only these methods (repeat it); default all."),
]
Learner = Annotated[
    str,
    typer.Option(
        help="boosting, tuned by cross-validation (the paper's), or logistic."
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Folder of data; default CAPE_DATA, or a cache.")
]
CORES = os.cpu_count() or 1


@reproduce.command()
def synthetic(
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path(
        "results/synthetic"
    ),
    repetitions: Annotated[
        int, typer.Option(min=1, help="Each with its own data.")
    ] = 20,
    rows: Annotated[int, typer.Option(min=100, help="Training rows.")] = 50_000,
    test_rows: Annotated[
        int, typer.Option(min=100, help="Rows of each test batch.")
    ] = 10_000,
    jobs: Jobs = CORES,
) -> None:
    """Table 1, the figure, all 81 pairs of prevalences, and Theorem 3 at work.

    Example: cape reproduce synthetic --out results/synthetic
    """
    from cape.experiments import run_synthetic

    run_and_show(
        partial(run_synthetic, repetitions=repetitions, n_train=rows, n_test=test_rows),
        out,
        jobs=jobs,
    )


@reproduce.command()
def compas(
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path(
        "results/compas"
    ),
    seeds: Seeds = 20,
    slow_seeds: SlowSeeds = 5,
    favourable: Favourable = "positive",
    method: Methods = None,
    learner: Learner = "boosting",
    data: Data = None,
    jobs: Jobs = CORES,
) -> None:
    """The quantifier table and the results table on COMPAS, 2013 to 2014.

    Example: cape reproduce compas --seeds 5
    """
    from cape.experiments import compare_methods, compas_problem

    options: dict[str, Any] = {
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "favourable": favourable,
        "methods": method or None,
        "learner": learner,
    }
    run_and_show(
        partial(compare_methods, compas_problem(data), **options), out, jobs=jobs
    )


@reproduce.command()
def meps(
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path(
        "results/meps"
    ),
    seeds: Seeds = 5,
    slow_seeds: SlowSeeds = 1,
    favourable: Favourable = "positive",
    method: Methods = None,
    learner: Learner = "boosting",
    data: Data = None,
    jobs: Jobs = CORES,
) -> None:
    """The quantifier table and the results table on MEPS, 2015 to 2016.

    Example: cape reproduce meps --seeds 5
    """
    from cape.experiments import compare_methods, meps_problem

    options: dict[str, Any] = {
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "favourable": favourable,
        "methods": method or None,
        "learner": learner,
    }
    run_and_show(
        partial(compare_methods, meps_problem(data), **options), out, jobs=jobs
    )


@reproduce.command()
def page(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders of finished runs, in the order of the page."),
    ],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("docs/results.md"),
) -> None:
    """One page of several runs, with their pictures beside it in images/.

    Example: cape reproduce page results/synthetic results/compas --out docs/results.md
    """
    from cape.experiments import write_page

    write_page(folders, out)
