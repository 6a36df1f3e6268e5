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

import argparse
import logging
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cape_paper._comparison import compare_methods
from cape_paper._logged import run_logged
from cape_paper._methods import METHODS
from cape_paper._pages import write_index, write_page, write_results
from cape_paper._problem import CASES, compas_problem, meps_problem
from cape_paper._quantifiers import run_quantifiers
from cape_paper._shifts import run_shifts
from cape_paper._small_groups import run_small_groups
from cape_paper._synthetic import run_synthetic

_PROGRAM = "python -m cape_paper"


def _compas(data_home: Any = None, features: str = "narrow", **options: Any) -> Any:
    return compare_methods(compas_problem(data_home, features=features), **options)


def _meps(data_home: Any = None, **options: Any) -> Any:
    # MEPS has many more rows than COMPAS.
    fewer = {"seeds": 3, "slow_seeds": 1, **options}
    return compare_methods(meps_problem(data_home), **fewer)


_COMPARED = ("seeds", "slow_seeds", "methods", "favourable", "data_home")
_OF_CASES = ("seeds", "cases", "data_home")
EXPERIMENTS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "synthetic": (run_synthetic, ("seeds", "rows", "test_rows")),
    "compas": (_compas, (*_COMPARED, "features")),
    "meps": (_meps, _COMPARED),
    "shifts": (run_shifts, (*_OF_CASES, "draws")),
    "quantifiers": (run_quantifiers, (*_OF_CASES, "draws")),
    "small-groups": (run_small_groups, ("seeds", "data_home")),
    "logged": (run_logged, (*_OF_CASES, "nannyml")),
}
"""The experiments: what runs them, and the options that each of them takes."""


def _at_least_1(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def _file(text: str) -> Path:
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return Path(text)


OPTIONS: dict[str, dict[str, Any]] = {
    "seeds": {"type": _at_least_1, "help": "repetitions of random methods"},
    "slow_seeds": {
        "type": _at_least_1,
        "help": "repetitions of methods that cost a hundred fits",
    },
    "rows": {"type": _at_least_1, "help": "training rows"},
    "test_rows": {"type": _at_least_1, "help": "rows of each test batch"},
    "draws": {"type": _at_least_1, "help": "batches of each size"},
    "methods": {"nargs": "+", "choices": METHODS, "help": "default all"},
    "cases": {
        "nargs": "+",
        "choices": CASES,
        "help": "default all whose files are here or can be downloaded",
    },
    "features": {
        "choices": ("narrow", "wide"),
        "help": "wide: also days and the 40 commonest charges, chosen by print",
    },
    "favourable": {
        "choices": ("positive", "negative"),
        "help": "the label that AIF360 is told is favourable",
    },
    "nannyml": {"type": _file, "help": "Python of an environment with NannyML"},
    "data_home": {
        "type": Path,
        "help": "folder of data; default CAPE_DATA, or a cache",
    },
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command; bad input is told in one line, with code 2.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those that the process was started with.
    """
    parser = _parser()
    given = vars(parser.parse_args(argv))
    command = given.pop("command")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        command(**given)
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f"error: {error}\n")


def _parser() -> argparse.ArgumentParser:
    """Make the parser of all commands; an option that is not given is left out."""
    parser = argparse.ArgumentParser(prog=_PROGRAM, description=__doc__)
    commands = parser.add_subparsers(required=True)
    reproduce = commands.add_parser("reproduce", help="run an experiment")
    experiments = reproduce.add_subparsers(dest="experiment", required=True)
    for name, (_, options) in EXPERIMENTS.items():
        experiment = experiments.add_parser(name, argument_default=argparse.SUPPRESS)
        for option in options:
            flag = f"--{option.replace('_', '-')}"
            experiment.add_argument(flag, **OPTIONS[option])
        experiment.add_argument("--out", type=Path, help="default results/EXPERIMENT")
        experiment.add_argument("--jobs", type=int, help="cells computed at once")
        experiment.set_defaults(command=_reproduce)
    page = commands.add_parser("page", help="one page of runs, with what they found")
    page.add_argument("folders", nargs="+", type=Path, help="folders of finished runs")
    page.add_argument("--out", type=Path, required=True, dest="page")
    page.add_argument("--title", help="default that of the first run")
    page.set_defaults(command=write_page)
    index = commands.add_parser("index", help="list pages, with what they found")
    index.add_argument("pages", nargs="+", type=Path, help="in the order of the list")
    index.add_argument("--out", type=Path, required=True, dest="index")
    index.set_defaults(command=write_index)
    return parser


def _reproduce(
    *,
    experiment: str,
    out: Path | None = None,
    jobs: int | None = None,
    **options: Any,
) -> None:
    """Run an experiment, and write its numbers and its page."""
    run, _ = EXPERIMENTS[experiment]
    out = out or Path("results", experiment)
    n_jobs = jobs or os.cpu_count()
    results = run(folder=out / "cells", n_jobs=n_jobs, **options)
    # The page of the run says how it was made.
    results["command"] = f"{_PROGRAM} {shlex.join(sys.argv[1:])}"
    for path in write_results(results, out):
        logging.getLogger("cape_paper").info("%s", path)


if __name__ == "__main__":
    main()
