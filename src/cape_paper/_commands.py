"""``python -m cape_paper``: the paper's experiments, and real shifts.

- ``reproduce synthetic`` runs Table 1, the figure and Theorem 3;
- ``reproduce compas`` and ``reproduce meps`` run the quantifier table and the results
  table on the two real data sets;
- ``reproduce shifts`` runs CAPE on real shifts over time, beside QuaPy;
- ``reproduce quantifiers`` compares all quantifiers, and ``reproduce small-groups`` the
  ways to treat small groups;
- ``reproduce logged`` takes a model as it is on these shifts, beside NannyML;
- ``page`` puts finished runs on a page, and ``index`` lists pages.

A run keeps its finished cells in ``cells`` below ``--out``; started again with the same
options it goes on from there.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from cape_paper._comparison import check_choice, compare_methods
from cape_paper._logged import run_logged
from cape_paper._methods import BESIDE_PRINT
from cape_paper._pages import what_is_missing, write_index, write_page, write_results
from cape_paper._problem import compas_problem, meps_problem
from cape_paper._quantifiers import run_quantifiers
from cape_paper._shifts import run_shifts
from cape_paper._small_groups import run_small_groups
from cape_paper._synthetic import run_synthetic
from cape_paper._tables import results_tables

_PROGRAM = "python -m cape_paper"
_BAD_INPUT = 2

app = typer.Typer(
    help="The experiments of CAPE's paper, and real shifts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code.

    Bad input is told in one line, with code 2; any other error is a traceback.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those that the process was started with.

    Returns
    -------
    int
    """
    try:
        code = app(argv, prog_name=_PROGRAM, standalone_mode=False)
    except (ValueError, OSError, ImportError) as error:
        message = str(error)
    except Exception as error:
        # typer could not parse the arguments. By name: click has such a class, too.
        if type(error).__name__ == "NoArgsIsHelpError":
            return _BAD_INPUT
        if not hasattr(error, "format_message"):
            raise
        message = f"{error.format_message()} See: {_PROGRAM} --help"
    else:
        return code if isinstance(code, int) else 0
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return _BAD_INPUT


def _compas(*, data_home: Any, features: str = "narrow", **options: Any) -> Any:
    problem = compas_problem(data_home, features=features)
    defaults: Any = {"methods": BESIDE_PRINT, "seeds": 10, "slow_seeds": 2}
    return compare_methods(problem, **(defaults | options))


def _meps(*, data_home: Any, **options: Any) -> Any:
    # MEPS has many more rows than COMPAS.
    defaults: Any = {"methods": BESIDE_PRINT, "seeds": 3, "slow_seeds": 1}
    return compare_methods(meps_problem(data_home), **(defaults | options))


def _synthetic(*, data_home: Any, **options: Any) -> Any:
    defaults: Any = {"repetitions": 10}
    return run_synthetic(**(defaults | options))


_COMPARED = {
    "seeds": "seeds",
    "slow_seeds": "slow_seeds",
    "first_seed": "first_seed",
    "favourable": "favourable",
    "method": "methods",
    "learner": "learner",
}
_OF_CASES = {"seeds": "seeds", "case": "cases"}
EXPERIMENTS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "synthetic": (
        _synthetic,
        {
            "seeds": "repetitions",
            "rows": "n_train",
            "test_rows": "n_test",
            "method": "also",
            "first_seed": "first_seed",
        },
    ),
    "compas": (_compas, {**_COMPARED, "features": "features"}),
    "meps": (_meps, _COMPARED),
    "shifts": (
        run_shifts,
        {**_OF_CASES, "draws": "draws", "first_seed": "first_seed"},
    ),
    "quantifiers": (run_quantifiers, {**_OF_CASES, "draws": "draws"}),
    "small-groups": (run_small_groups, {"seeds": "seeds"}),
    "logged": (run_logged, {**_OF_CASES, "nannyml": "nannyml"}),
}
"""The experiments: what runs them, and its parameter for each option that it takes."""


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results; default results/EXPERIMENT."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Repetitions of random methods.")
    ] = None,
    slow_seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Repetitions of methods that cost a hundred fits."),
    ] = None,
    first_seed: Annotated[
        int | None,
        typer.Option(min=0, help="The first seed; others give other repetitions."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Batches of each size.")
    ] = None,
    rows: Annotated[int | None, typer.Option(min=100, help="Training rows.")] = None,
    test_rows: Annotated[
        int | None, typer.Option(min=100, help="Rows of each test batch.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this method (repeat it); of synthetic, this one as well."
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this case (repeat it), such as compas, meps-13-14 or bank; "
            "default all whose files are here or can be downloaded."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="narrow (7 features), or wide: also days and the 40 commonest "
            "charges, chosen by looking at printed numbers."
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="boosting, tuned by cross-validation (the paper's), or logistic."
        ),
    ] = None,
    favourable: Annotated[
        str | None,
        typer.Option(
            help="The label AIF360 is told is favourable: positive or negative."
        ),
    ] = None,
    nannyml: Annotated[
        Path | None,
        typer.Option(help="Python of an environment with NannyML; default without."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of data; default CAPE_DATA, or a cache.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Cells computed at once.")] = None,
) -> None:
    """Run an experiment: our numbers, the printed ones, and the peers'.

    A run that was stopped goes on. Example:
    python -m cape_paper reproduce compas --seeds 5
    """
    check_choice("the experiment", experiment, EXPERIMENTS)
    given = {
        "seeds": seeds,
        "slow_seeds": slow_seeds,
        "first_seed": first_seed,
        "draws": draws,
        "rows": rows,
        "test_rows": test_rows,
        "method": method or None,
        "case": case or None,
        "features": features,
        "learner": learner,
        "favourable": favourable,
        "nannyml": nannyml,
    }
    run, parameters = EXPERIMENTS[experiment]
    options: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in parameters:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is not an option of {experiment}.")
        options[parameters[name]] = value
    if nannyml is not None and not nannyml.exists():
        raise FileNotFoundError(f"there is no file {nannyml}.")
    # pandas writes tables by it, at the end of a run that takes minutes.
    if find_spec("tabulate") is None:
        raise ImportError('reproduce needs tabulate: pip install "cape-fair[paper]".')
    out = out or Path("results", experiment)
    aside = Console(stderr=True)
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as bar:
        task = bar.add_task("cells", total=None)

        def on_step(name: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        results = run(
            data_home=data,
            folder=out / "cells",
            n_jobs=jobs or os.cpu_count(),
            on_step=on_step,
            **options,
        )
    # The page of the run says how it was made.
    results["command"] = f"{_PROGRAM} {shlex.join(sys.argv[1:])}"
    files = write_results(results, out)
    # Printed last: a run takes minutes, and its end is what a terminal still shows.
    for title, table in results_tables(results).items():
        # On two lines: a column of numbers is narrower than its heading.
        narrow = table.rename(columns=lambda name: name.replace(" ", "\n", 1))
        text = narrow.to_markdown(index=False, tablefmt="simple", disable_numparse=True)
        typer.echo(f"\n{title}\n\n{text}")
    for sentence in what_is_missing(results):
        typer.echo(sentence)
    typer.echo(f"files in {out}: {', '.join(path.name for path in files)}")


@app.command()
def page(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders of finished runs, in the order of the page."),
    ],
    out: Annotated[Path, typer.Option(help="The page.")],
    title: Annotated[
        str | None, typer.Option(help="Its title; default that of the first run.")
    ] = None,
) -> None:
    """One page of runs, with what they found first.

    Example: python -m cape_paper page results/shifts --out docs/results-shifts.md
    """
    write_page(folders, out, title=title)


@app.command()
def index(
    pages: Annotated[
        list[Path], typer.Argument(help="Pages, in the order of the list.")
    ],
    out: Annotated[Path, typer.Option(help="The page that lists them.")],
) -> None:
    """List pages with the first sentence of each.

    Example: python -m cape_paper index docs/results-shifts.md --out docs/results.md
    """
    write_index(pages, out)
