"""``cape reproduce``: the paper's experiments, and real shifts over time.

- ``cape reproduce synthetic`` runs Table 1, the figure and Theorem 3;
- ``cape reproduce compas`` and ``cape reproduce meps`` run the quantifier table and the
  results table on the two real data sets;
- ``cape reproduce shifts`` runs CAPE on real shifts over time;
- ``cape reproduce page`` puts the pages of finished runs together.

A run keeps its finished cells in ``cells`` below ``--out``; started again with the same
options it goes on from there.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cape.cli import _results as shared
from cape.cli._app import app
from cape.cli._results import run_and_show

reproduce = typer.Typer(
    help="Run the paper's experiments: our numbers, the printed ones, and the peers'; "
    "and CAPE on real shifts. A run that was stopped goes on.",
    no_args_is_help=True,
)
app.add_typer(reproduce, name="reproduce")

Rows = Annotated[
    int,
    typer.Option(min=100, help="Training rows."),
]
TestRows = Annotated[
    int,
    typer.Option(min=100, help="Rows of each test batch."),
]
Repetitions = Annotated[
    int,
    typer.Option(min=1, help="Repetitions; each draws its own data."),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        help="A method beside those of the paper (repeat it), such as "
        "'CAPE demographic parity'.",
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Folder of data; default CAPE_DATA, or a cache.")
]
Features = Annotated[
    str,
    typer.Option(
        help="narrow (7 features), or wide: also days and the 40 commonest charges, "
        "chosen by looking at printed numbers."
    ),
]

Cases = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        help="Only these cases (repeat it), such as compas, meps-13-14 or bank; "
        "default all whose files are here or can be downloaded.",
    ),
]


@reproduce.command()
def synthetic(
    out: shared.Out = Path("results/synthetic"),
    repetitions: Repetitions = 20,
    rows: Rows = 50_000,
    test_rows: TestRows = 10_000,
    also: Also = None,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """Table 1, the figure, all 81 pairs of prevalences, and Theorem 3 at work.

    Example: cape reproduce synthetic --out results/synthetic
    """
    from cape.experiments import run_synthetic

    run = partial(
        run_synthetic,
        repetitions=repetitions,
        n_train=rows,
        n_test=test_rows,
        also=also or (),
    )
    run_and_show(run, out, jobs=jobs)


@reproduce.command()
def compas(
    out: shared.Out = Path("results/compas"),
    features: Features = "narrow",
    seeds: shared.Seeds = 20,
    slow_seeds: shared.SlowSeeds = 5,
    favourable: shared.Favourable = "positive",
    method: shared.Methods = None,
    learner: shared.Learner = "boosting",
    data: Data = None,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """The quantifier table and the results table on COMPAS, 2013 to 2014.

    Example: cape reproduce compas --seeds 5
    """
    # Imported here: the help of other commands must not wait for the experiments.
    from cape.experiments import compare_methods, compas_problem

    run = partial(
        compare_methods,
        compas_problem(data, features=features),
        seeds=seeds,
        slow_seeds=slow_seeds,
        favourable=favourable,
        methods=method or None,
        learner=learner,
    )
    run_and_show(run, out, jobs=jobs)


@reproduce.command()
def meps(
    out: shared.Out = Path("results/meps"),
    # MEPS has many more rows: with as many seeds as COMPAS it would take hours.
    seeds: shared.Seeds = 5,
    slow_seeds: shared.SlowSeeds = 1,
    favourable: shared.Favourable = "positive",
    method: shared.Methods = None,
    learner: shared.Learner = "boosting",
    data: Data = None,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """The quantifier table and the results table on MEPS, 2015 to 2016.

    Example: cape reproduce meps --seeds 5
    """
    from cape.experiments import compare_methods, meps_problem

    run = partial(
        compare_methods,
        meps_problem(data),
        seeds=seeds,
        slow_seeds=slow_seeds,
        favourable=favourable,
        methods=method or None,
        learner=learner,
    )
    run_and_show(run, out, jobs=jobs)


@reproduce.command()
def shifts(
    out: shared.Out = Path("results/shifts"),
    case: Cases = None,
    seeds: shared.Seeds = 3,
    data: Data = None,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """Real shifts over time: estimates, intervals, PD and PE, beside the truth.

    Example: cape reproduce shifts --case compas --seeds 1
    """
    from cape.experiments import run_shifts

    run = partial(run_shifts, case or None, seeds=seeds, data_home=data)
    run_and_show(run, out, jobs=jobs)


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
