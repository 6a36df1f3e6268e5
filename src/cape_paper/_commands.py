"""``python -m cape_paper``: the paper's experiments, real shifts, and your own tables.

- ``reproduce synthetic`` runs Table 1, the figure and Theorem 3;
- ``reproduce compas`` and ``reproduce meps`` run the quantifier table and the results
  table on the two real data sets;
- ``reproduce shifts`` runs CAPE on real shifts over time, beside QuaPy;
- ``reproduce quantifiers`` compares all quantifiers, and ``reproduce small-groups`` the
  ways to treat small groups;
- ``reproduce logged`` takes a model as it is on these shifts, beside NannyML;
- ``compare`` runs the results table on two tables of any columns;
- ``page`` puts finished runs on a page, and ``index`` lists pages.

A run keeps its finished cells in ``cells`` below ``--out``; started again with the same
options it goes on from there.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress

from cape_paper._charts import save_pictures
from cape_paper._claims import verdicts
from cape_paper._comparison import compare_methods
from cape_paper._logged import run_logged
from cape_paper._methods import BESIDE_PRINT
from cape_paper._pages import (
    what_is_missing,
    write_index,
    write_page,
    write_results,
)
from cape_paper._problem import compas_problem, meps_problem, table_problem
from cape_paper._quantifiers import run_quantifiers
from cape_paper._shifts import run_shifts
from cape_paper._small_groups import run_small_groups
from cape_paper._synthetic import run_synthetic
from cape_paper._tables import results_tables

_PROGRAM = "python -m cape_paper"
_BAD_INPUT = 2
_CORES = os.cpu_count() or 1

app = typer.Typer(
    help="The experiments of CAPE's paper, real shifts, and comparisons with peers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
reproduce = typer.Typer(
    help="Run the paper's experiments: our numbers, the printed ones, and the peers'; "
    "and CAPE on real shifts. A run that was stopped goes on.",
    no_args_is_help=True,
)
app.add_typer(reproduce, name="reproduce")

Out = Annotated[Path, typer.Option(help="Folder for results.")]
Jobs = Annotated[int, typer.Option(help="Cells computed at the same time.")]
FirstSeed = Annotated[
    int, typer.Option(min=0, help="The first seed; others give other repetitions.")
]
Seeds = Annotated[int, typer.Option(min=1, help="Repetitions of random methods.")]
SlowSeeds = Annotated[
    int,
    typer.Option(
        min=1, help="Repetitions of methods that cost a hundred fits or more."
    ),
]
Favourable = Annotated[
    str,
    typer.Option(help="The label AIF360 is told is favourable: positive or negative."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only these methods (repeat it)."),
]
Learner = Annotated[
    str,
    typer.Option(
        help="boosting, tuned by cross-validation (the paper's), or logistic."
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
Draws = Annotated[int, typer.Option(min=1, help="Batches of each size.")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of data; default CAPE_DATA, or a cache.")
]


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


@reproduce.command()
def synthetic(
    out: Out = Path("results/synthetic"),
    repetitions: Annotated[
        int, typer.Option(min=1, help="Repetitions; each draws its own data.")
    ] = 10,
    rows: Annotated[int, typer.Option(min=100, help="Training rows.")] = 50_000,
    test_rows: Annotated[
        int, typer.Option(min=100, help="Rows of each test batch.")
    ] = 10_000,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            help="A method beside those of the paper (repeat it), such as "
            "'CAPE demographic parity'.",
        ),
    ] = None,
    first_seed: FirstSeed = 0,
    jobs: Jobs = _CORES,
) -> None:
    """Table 1, the figure, all 81 pairs of prevalences, and Theorem 3 at work.

    Example: python -m cape_paper reproduce synthetic --out results/synthetic
    """
    run = partial(
        run_synthetic,
        repetitions=repetitions,
        first_seed=first_seed,
        n_train=rows,
        n_test=test_rows,
        also=also or (),
    )
    _run_and_show(run, out, jobs=jobs)


@reproduce.command()
def compas(
    out: Out = Path("results/compas"),
    features: Annotated[
        str,
        typer.Option(
            help="narrow (7 features), or wide: also days and the 40 commonest "
            "charges, chosen by looking at printed numbers."
        ),
    ] = "narrow",
    seeds: Seeds = 10,
    slow_seeds: SlowSeeds = 2,
    first_seed: FirstSeed = 0,
    favourable: Favourable = "positive",
    method: Methods = None,
    learner: Learner = "boosting",
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """The quantifier table and the results table on COMPAS, 2013 to 2014.

    Example: python -m cape_paper reproduce compas --seeds 5
    """
    problem = compas_problem(data, features=features)
    options = (method or BESIDE_PRINT, seeds, slow_seeds, learner, favourable)
    run = partial(compare_methods, problem, *options, first_seed=first_seed)
    _run_and_show(run, out, jobs=jobs)


@reproduce.command()
def meps(
    out: Out = Path("results/meps"),
    # MEPS has many more rows than COMPAS.
    seeds: Seeds = 3,
    slow_seeds: SlowSeeds = 1,
    first_seed: FirstSeed = 0,
    favourable: Favourable = "positive",
    method: Methods = None,
    learner: Learner = "boosting",
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """The quantifier table and the results table on MEPS, 2015 to 2016.

    Example: python -m cape_paper reproduce meps --seeds 5
    """
    options = (method or BESIDE_PRINT, seeds, slow_seeds, learner, favourable)
    run = partial(compare_methods, meps_problem(data), *options, first_seed=first_seed)
    _run_and_show(run, out, jobs=jobs)


@reproduce.command()
def shifts(
    out: Out = Path("results/shifts"),
    case: Cases = None,
    seeds: Seeds = 1,
    draws: Draws = 10,
    first_seed: FirstSeed = 0,
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """Real shifts over time: estimates, intervals, PD and PE, beside the truth.

    Example: python -m cape_paper reproduce shifts --case compas --draws 2
    """
    run = partial(
        run_shifts,
        case or None,
        seeds=seeds,
        draws=draws,
        first_seed=first_seed,
        data_home=data,
    )
    _run_and_show(run, out, jobs=jobs)


@reproduce.command()
def quantifiers(
    out: Out = Path("results/quantifiers"),
    case: Cases = None,
    seeds: Seeds = 1,
    draws: Draws = 5,
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """All quantifiers, QuaPy's and mlquantify's, on pure and on real shifts.

    Example: python -m cape_paper reproduce quantifiers --case compas --draws 2
    """
    run = partial(
        run_quantifiers, case or None, seeds=seeds, draws=draws, data_home=data
    )
    _run_and_show(run, out, jobs=jobs)


@reproduce.command(name="small-groups")
def small_groups(
    out: Out = Path("results/small-groups"),
    seeds: Seeds = 3,
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """Forty small groups: borrowing, alone, and pooled.

    Example: python -m cape_paper reproduce small-groups --seeds 1
    """
    run = partial(run_small_groups, seeds=seeds, data_home=data)
    _run_and_show(run, out, jobs=jobs)


@reproduce.command()
def logged(
    out: Out = Path("results/logged"),
    case: Cases = None,
    nannyml: Annotated[
        Path | None,
        typer.Option(help="Python of an environment with NannyML; default without."),
    ] = None,
    seeds: Seeds = 1,
    data: Data = None,
    jobs: Jobs = _CORES,
) -> None:
    """The model as it is: what to expect of logged decisions, beside NannyML.

    Example: python -m cape_paper reproduce logged --case compas --seeds 1
    """
    if nannyml is not None and not nannyml.exists():
        raise FileNotFoundError(f"there is no file {nannyml}.")
    run = partial(
        run_logged, case or None, seeds=seeds, nannyml=nannyml, data_home=data
    )
    _run_and_show(run, out, jobs=jobs)


@app.command()
def compare(
    train: Annotated[
        Path,
        typer.Argument(help="Labelled table to learn from: CSV, Parquet or Feather."),
    ],
    test: Annotated[
        Path,
        typer.Argument(help="Labelled table to judge by; no method gets its labels."),
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
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column not to learn from (repeat it)."),
    ] = None,
    out: Out = Path("results/own"),
    learner: Learner = "boosting",
    method: Methods = None,
    favourable: Favourable = "positive",
    seeds: Seeds = 5,
    slow_seeds: SlowSeeds = 1,
    first_seed: FirstSeed = 0,
    jobs: Jobs = _CORES,
    separator: Annotated[
        str, typer.Option(help="Character between the fields of a CSV, or: tab.")
    ] = ",",
    encoding: Annotated[str, typer.Option(help="Encoding of a CSV.")] = "utf-8",
    decimal: Annotated[
        str, typer.Option(help="What stands before the decimals of a number in a CSV.")
    ] = ".",
) -> None:
    """Compare CAPE with the fair classifiers of AIF360 and Fairlearn on your tables.

    Text, dates and missing values are turned into numbers by skrub, fitted on the
    training table.

    Example: python -m cape_paper compare old.csv new.csv --label y --group race
    """
    separator = "\t" if separator in ("tab", "\\t") else separator
    dialect = {"sep": separator, "encoding": encoding, "decimal": decimal}
    tables = []
    for path in (train, test):
        tables.append(_read_table(path, group, dialect))
    for name in drop or []:
        if name not in tables[0]:
            raise ValueError(f"{train} has no column {name!r}.")
    # Mistakes in the tables are reported before any method is trained.
    problem = table_problem(
        # The table to judge by may lack a column that nobody learns from.
        *(table.drop(columns=drop or [], errors="ignore") for table in tables),
        label=label,
        group=group,
        positive=positive,
    )
    options = (method or None, seeds, slow_seeds, learner, favourable)
    run = partial(compare_methods, problem, *options, first_seed=first_seed)
    _run_and_show(run, out, jobs=jobs)


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
    """One page of runs, with the verdict first, and its pictures in images/.

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


def _read_table(path: Path, group: list[str], dialect: dict[str, str]) -> pd.DataFrame:
    """Read a table, with groups as text.

    One of both tables may hold the numbers 1 and 2, and the other the text 1, 2 and
    unknown.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    elif path.suffix in (".feather", ".arrow"):
        frame = pd.read_feather(path)
    else:
        frame = pd.read_csv(path, **dialect)  # type: ignore[call-overload]
    for name in group:
        if name not in frame:
            raise ValueError(f"{path} has no column {name!r}.")
        # pandas reads whole numbers beside missing values as floats.
        text = frame[name].astype("str").str.replace(r"\.0$", "", regex=True)
        frame[name] = text.where(frame[name].notna())
    return frame


def _run_and_show(run: Callable[..., dict[str, Any]], out: Path, *, jobs: int) -> None:
    """Run an experiment, write its files and print its tables.

    Parameters
    ----------
    run : callable
        `run_synthetic`, `compare_methods`, `run_shifts` or `run_logged` with their
        options.
    out : Path
        Folder for results; finished cells are kept in ``cells`` below it.
    jobs : int
        Number of cells computed at the same time.
    """
    # pandas writes tables by it, at the end of a run that takes minutes.
    if find_spec("tabulate") is None:
        raise ImportError('reproduce needs tabulate: pip install "cape-fair[paper]".')
    aside = Console(stderr=True)
    with Progress(console=aside, transient=True, disable=not aside.is_terminal) as bar:
        task = bar.add_task("cells", total=None)

        def on_step(name: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        results = run(folder=out / "cells", n_jobs=jobs, on_step=on_step)
    # The page of the run says how it was made.
    results["command"] = f"{_PROGRAM} {shlex.join(sys.argv[1:])}"
    # Pictures first: the page links to those that are there.
    pictures = save_pictures(results, out)
    files = write_results(results, out, pictures=pictures)
    # Printed last: a run takes minutes, and its end is what a terminal still shows.
    for title, table in results_tables(results).items():
        # On two lines: a column of numbers is narrower than its heading.
        narrow = table.rename(columns=lambda name: name.replace(" ", "\n", 1))
        text = narrow.to_markdown(index=False, tablefmt="simple", disable_numparse=True)
        typer.echo(f"\n{title}\n\n{text}")
    for verdict in verdicts(results):
        answer = "yes" if verdict["holds"] else "no"
        typer.echo(f"{answer}: {verdict['claim']} ({verdict['detail']})")
    for sentence in what_is_missing(results):
        typer.echo(sentence)
    names = [path.name for path in [*files, *pictures]]
    typer.echo(f"files in {out}: {', '.join(names)}")
