"""``cape reproduce``: the paper's experiments.

- ``cape reproduce synthetic`` runs Table 1, the figure and Theorem 3;
- ``cape reproduce compas`` and ``cape reproduce meps`` run the quantifier table and the
  results table on the two real data sets;
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
    help="Run the paper's experiments: our numbers, the printed ones, and the peers'. "
    "A run that was stopped goes on.",
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
Data = Annotated[
    Path | None, typer.Option(help="Folder of data; default CAPE_DATA, or a cache.")
]


@reproduce.command()
def synthetic(
    out: shared.Out = Path("results/synthetic"),
    repetitions: Repetitions = 20,
    rows: Rows = 50_000,
    test_rows: TestRows = 10_000,
    jobs: shared.Jobs = shared.CORES,
) -> None:
    """Table 1, the figure, all 81 pairs of prevalences, and Theorem 3 at work.

    Example: cape reproduce synthetic --out results/synthetic
    """
    from cape.experiments import run_synthetic

    run = partial(
        run_synthetic, repetitions=repetitions, n_train=rows, n_test=test_rows
    )
    run_and_show(run, out, jobs=jobs)


def _add_comparison(
    name: str,
    title: str,
    *,
    seeds: int,
    slow_seeds: int,
) -> None:
    """Add a command that compares all methods on one of the paper's data sets.

    Parameters
    ----------
    name : {"compas", "meps"}
        The command, and the problem of `cape.experiments`.
    title : str
        The data, for the help.
    seeds, slow_seeds : int
        Defaults of the options.
    """

    def command(
        out: shared.Out = Path("results") / name,
        seeds: shared.Seeds = seeds,
        slow_seeds: shared.SlowSeeds = slow_seeds,
        favourable: shared.Favourable = "positive",
        method: shared.Methods = None,
        learner: shared.Learner = "boosting",
        data: Data = None,
        jobs: shared.Jobs = shared.CORES,
    ) -> None:
        # Imported here: the help of other commands must not wait for the experiments.
        from cape import experiments

        problems = {
            "compas": experiments.compas_problem,
            "meps": experiments.meps_problem,
        }
        run = partial(
            experiments.compare_methods,
            problems[name](data),
            seeds=seeds,
            slow_seeds=slow_seeds,
            favourable=favourable,
            methods=method or None,
            learner=learner,
        )
        run_and_show(run, out, jobs=jobs)

    # typer takes the help from the docstring, and the options from the signature.
    command.__doc__ = (
        f"The quantifier table and the results table on {title}.\n\n"
        f"Example: cape reproduce {name} --seeds 5"
    )
    reproduce.command(name)(command)


_add_comparison("compas", "COMPAS, 2013 to 2014", seeds=20, slow_seeds=5)
# MEPS has many more rows: with as many seeds as COMPAS it would take hours.
_add_comparison("meps", "MEPS, 2015 to 2016", seeds=5, slow_seeds=1)


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
