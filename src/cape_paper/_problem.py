"""Problems to run methods on: labelled training rows and labelled test rows.

Methods see the test rows without their labels. A problem is one of the paper's, or a
real shift over time, which is a row of ``cases.toml``. MEPS has two kinds of files: the
survey's own, and extracts of one panel each.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from cape.datasets import fetch_compas
from cape_paper._cells import Cell, Results, run_cells

_TABLE = tomllib.loads(files("cape_paper").joinpath("cases.toml").read_text("utf-8"))

CASES: dict[str, dict[str, Any]] = _TABLE["case"]
"""The cases by name; ``cases.toml`` says what their fields are."""

_SURVEY: dict[str, Any] = _TABLE["meps"]["survey"]

# A full-year file has almost 2,000 columns, so it is read this many rows at a time.
_ROWS_OF_A_PART = 5000

Rows = tuple[pd.DataFrame, np.ndarray, Any]
"""Features, labels 0 and 1, and groups: names, or a table of what they combine."""


def take(rows: Rows, places: np.ndarray) -> Rows:
    """Take some rows, numbered anew."""
    X, y, z = rows
    taken = X.iloc[places].reset_index(drop=True)
    return taken, y[places], z.iloc[places].reset_index(drop=True)


def split(rows: Rows, seed: int, size: float) -> list[Rows]:
    """Split rows at random; ``size`` is the number or the share of the first part."""
    _, y, z = rows
    strata = z.astype(str) + pd.Series(y).astype(str)
    places = train_test_split(
        np.arange(len(y)), train_size=size, random_state=seed, stratify=strata
    )
    return [take(rows, of_part) for of_part in places]


def draw_classes(
    y: np.ndarray, rows: np.ndarray, positives: int, size: int, random: Any
) -> np.ndarray:
    """Draw rows of a group with replacement, so many of them positive."""
    is_positive = y[rows] == 1
    drawn_positives = random.choice(rows[is_positive], positives)
    drawn_negatives = random.choice(rows[~is_positive], size - positives)
    return np.concatenate([drawn_positives, drawn_negatives])


@cache
def published() -> dict[str, Any]:
    """Return the tables of the paper as printed, the paper's slips included.

    Returns
    -------
    dict
        ``table_synthetic``, ``table_quantifier`` and ``table_results`` (the tables),
        ``dataset_counts`` (rows of the paper's data sets) and ``source``. A value that
        the paper prints as undefined is None.

    Examples
    --------
    >>> published()["table_results"]["compas"]["CAPE-D"]["pd_0"]
    0.024
    """
    path = files("cape_paper").joinpath("published.json")
    return json.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Problem:
    """Rows to learn from and rows to judge methods by.

    Parameters
    ----------
    name : str
        Short name, used in file names.
    title : str
        Title of the tables.
    groups : list of str
        Groups in the order in which tables show them.
    train, test : tuple of DataFrame, ndarray and Series
        Features (numbers without missing values, as the peers need; real shifts have
        text, too), labels 0 and 1, and names of groups.
    notes : list of str
        What was chosen, and why.
    printed : dict
        Rows of the paper's results table by method; empty if the data is not the
        paper's.
    printed_estimates : list
        SPA's estimates of the groups, from the paper's quantifier table.

    Examples
    --------
    >>> problem = compas_problem()  # doctest: +SKIP
    >>> problem.counts()[0]["rows_test"]  # doctest: +SKIP
    540
    """

    name: str
    title: str
    groups: list[str]
    train: Rows = field(repr=False)
    test: Rows = field(repr=False)
    notes: list[str] = field(default_factory=list, repr=False)
    printed: dict[str, Any] = field(default_factory=dict, repr=False)
    printed_estimates: list[float] = field(default_factory=list, repr=False)

    def counts(self) -> list[dict[str, Any]]:
        """Count the rows of every group, and compute its prevalences.

        Returns
        -------
        list of dict
            ``group``, ``rows_train``, ``rows_test``, ``prevalence_train`` and
            ``prevalence_test``, in the order of ``groups``.
        """
        counts = []
        for group in self.groups:
            count: dict[str, Any] = {"group": group}
            parts = {"train": self.train, "test": self.test}
            for part, (_, y, z) in parts.items():
                of_group = y[(z == group).to_numpy()]
                count[f"rows_{part}"] = len(of_group)
                count[f"prevalence_{part}"] = float(of_group.mean())
            counts.append(count)
        return counts


def compas_problem(data_home: Any = None, *, features: str = "narrow") -> Problem:
    """Load COMPAS, 2013 to 2014, as the paper uses it.

    Parameters
    ----------
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    features : {"narrow", "wide"}, default="narrow"
        Set of features; see `cape.datasets.fetch_compas`. The wide set was chosen by
        looking at printed numbers, so a run with it makes no claim against print.

    Returns
    -------
    Problem

    Examples
    --------
    >>> compas_problem().groups  # doctest: +SKIP
    ['Caucasian', 'African-American']
    """
    problem = _fetched_compas("compas", "race", data_home, features=features)
    problem = _beside_print(replace(problem, title="COMPAS, 2013 to 2014"))
    if features == "narrow":
        return problem
    title = f"{problem.title}, {features} features"
    return replace(problem, name=f"compas-{features}", title=title)


def meps_problem(data_home: Any = None) -> Problem:
    """Load MEPS, 2015 to 2016, in the variant that the files in the folder allow.

    The survey's own two files are read if the folder of data has one of them. If it has
    extracts of one panel each instead, these are read, and every result is labelled so.
    If it has neither, the survey's files are downloaded; AHRQ's data use agreement
    applies to them (https://meps.ahrq.gov/mepsweb/data_stats/data_use.jsp).

    Parameters
    ----------
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.

    Returns
    -------
    Problem

    Examples
    --------
    >>> meps_problem().groups  # doctest: +SKIP
    ['White', 'Non-White']
    """
    problem = read_case("meps-15-16", data_home)
    title = f"{problem.title}, 2015 to 2016"
    return _beside_print(replace(problem, name="meps", title=title))


def _fetched_compas(
    name: str, group: str, data_home: Any, *, features: str = "narrow"
) -> Problem:
    """Load COMPAS with groups by race, sex or age."""
    parts: Any = {}
    for subset in ("train", "test"):
        bunch = fetch_compas(
            subset=subset, group=group, features=features, data_home=data_home
        )
        rows = (bunch.data, bunch.target.to_numpy(), bunch.sensitive_features)
        parts[subset] = rows
    return Problem(name, bunch.variant, bunch.groups, **parts, notes=[bunch.DESCR])


def _beside_print(problem: Problem) -> Problem:
    """Put the printed numbers beside the rows of one of the paper's data sets."""
    paper = published()["dataset_counts"][problem.name]
    counts = []
    for part, (_, _, z) in {"train": problem.train, "test": problem.test}.items():
        share = float((z == problem.groups[1]).mean())
        counts.append(
            f"{len(z)} to {part} ({share:.1%} Z=1; the paper has {paper[part]}, "
            f"{paper[f'{part}_share_z1']:.1%})"
        )
    return replace(
        problem,
        notes=[*problem.notes, f"Rows: {' and '.join(counts)}."],
        printed=published()["table_results"][problem.name],
        printed_estimates=published()["table_quantifier"][problem.name]["estimate"],
    )


def load_cases(
    cases: Sequence[str] | None = None, data_home: Any = None
) -> tuple[list[Problem], list[str]]:
    """Read cases, without those whose files are not here and cannot be downloaded.

    Parameters
    ----------
    cases : sequence of str, default=None
        Keys of `CASES`; a case that is named must be there. None means all that can be
        read.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.

    Returns
    -------
    problems : list of Problem
    skipped : list of str
        A sentence for each case that was left out.

    Raises
    ------
    FileNotFoundError
        If the files of a case that was named are not in the folder of data, and have no
        public address.
    OSError
        If a file cannot be downloaded, or is not the expected one.
    """
    problems = []
    skipped = []
    for name in cases or CASES:
        try:
            problems.append(read_case(name, data_home))
        except FileNotFoundError:
            if cases:
                raise
            skipped.append(
                f"{name} was skipped: its files are not in the folder of data, and no "
                "public address of them is known."
            )
    return problems, skipped


def run_cases(
    work: Callable[..., Results],
    cases: Sequence[str] | None,
    seeds: int,
    *options: Any,
    data_home: Any,
    **running: Any,
) -> Results:
    """Do the same work on each case with each seed.

    Parameters
    ----------
    work : callable
        Is given a problem, a seed and the options.
    cases, data_home
        As in `load_cases`.
    seeds : int
        Repetitions.
    *options
        For ``work``.
    **running
        ``folder`` and ``n_jobs``, as in `run_cells`.

    Returns
    -------
    dict
        As from `run_cells`; and ``skipped``, why cases are missing.
    """
    problems, skipped = load_cases(cases, data_home)
    cells = []
    for problem, seed in product(problems, range(seeds)):
        cells.append(Cell(f"{problem.name} {seed}", work, (problem, seed, *options)))
    return {**run_cells(cells, **running), "skipped": skipped}


def read_case(name: str, data_home: Any = None) -> Problem:
    """Read the rows of one case."""
    case = CASES[name]
    if "compas" in case:
        return _fetched_compas(name, case["compas"], data_home)
    folder = data_folder(data_home)
    train, test = [read_table(path, folder) for path in case["files"]]
    last = case.get("last", [])
    dropped = {*case["drop"], *last}
    shared = [column for column in train if column in test and column not in dropped]
    features = [*map(str, shared), *last]
    title = case["title"]
    notes = []
    if case["files"][0] in _SURVEY["instead_of"]:
        variant = _meps_variant(folder)
        title = title.replace("MEPS", variant["name"])
        notes = [variant["note"]]
    return Problem(
        name=name,
        title=title,
        groups=list(case["groups"]),
        train=_select(train, case.get("train"), case, features),
        test=_select(test, case.get("use"), case, features),
        notes=notes,
    )


def _select(
    table: pd.DataFrame, query: str | None, case: dict[str, Any], features: list[str]
) -> Rows:
    """Take the rows of a period and of the groups, with features, labels and groups."""
    rows = table.query(query) if query else table
    names = pd.Series(index=rows.index, dtype="str")
    for name, of_group in case["groups"].items():
        names[np.asarray(rows.eval(of_group), dtype=bool)] = name
    rows = rows[names.notna()]
    positive = np.asarray(rows.eval(case["positive"])).astype(int)
    groups = names.dropna().reset_index(drop=True).rename("group")
    return rows[features].reset_index(drop=True), positive, groups


def data_folder(data_home: Any) -> Path:
    """Return the folder of data, as `cape.datasets.fetch_compas` finds it."""
    cache = Path.home() / ".cache" / "cape"
    folder = data_home or os.environ.get("CAPE_DATA") or cache
    return Path(folder).expanduser()


def read_table(path: str, folder: Path) -> pd.DataFrame:
    """Read a file of the folder of data, verified; MEPS in the variant that is here."""
    if path in _SURVEY["instead_of"] and _meps_variant(folder) is _SURVEY:
        return _read_survey(folder, **_SURVEY["instead_of"][path])
    file = folder / path
    expected = _TABLE["sha256"][path]
    if not file.exists():
        raise FileNotFoundError(
            f"{file.name} is not in the folder of data, and no public address of "
            f"exactly this file is known. Put the file (sha256 {expected}) at {file}, "
            f"or set data_home or CAPE_DATA to a folder that has {path}."
        )
    with file.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual != expected:
        raise OSError(f"{file} has sha256 {actual}, expected {expected}.")
    return pd.read_csv(file)


def _meps_variant(folder: Path) -> dict[str, Any]:
    """Say which of both kinds of MEPS files are read, and what that means."""
    replaced = _SURVEY["instead_of"]
    files_of_survey = [folder / "meps" / entry["file"] for entry in replaced.values()]
    has_survey = any(path.exists() for path in files_of_survey)
    has_panels = all((folder / path).exists() for path in replaced)
    return _TABLE["meps"]["panels"] if has_panels and not has_survey else _SURVEY


def _read_survey(folder: Path, year: str, file: str) -> pd.DataFrame:
    """Read a full-year file of the survey into the columns of the one-panel files.

    It is downloaded if the folder has none. AIF360's recipe, but of all panels: rows
    are kept whose categories are known (-1 is "inapplicable", below it are refusals and
    the like).
    """
    path = folder / "meps" / file
    if not path.exists():
        import pooch

        # AHRQ's checksums are not known; reading verifies those within the archive.
        pooch.retrieve(_SURVEY["address"] + file, None, fname=file, path=path.parent)
    features = _SURVEY["features"].format(yy=year).split()
    trips = _SURVEY["trips"].format(yy=year).split()
    others = ["EDUCYR", "HIDEG", "HISPANX", "RACEV2X"]
    table = _read_transport(path, [*features, *trips, *others])
    short = {name: re.sub(rf"(53X?|{year})$", "", name) for name in features}
    table = table.rename(columns=short)
    names = list(short.values())
    categorical = [name for name in names if name not in _SURVEY["not_categorical"]]
    asked = table[["REGION", "AGE", "MARRY", "ASTHDX"]]
    categories = table[[*categorical, "EDUCYR", "HIDEG"]]
    known = asked.ge(0).all(axis=1) & categories.ge(-1).all(axis=1)
    # HISPANX 2: not Hispanic; RACEV2X 1: white and no other race.
    white = (table["HISPANX"] == 2) & (table["RACEV2X"] == 1)
    many_trips = table[trips].sum(axis=1) >= 10
    # Men are 1 and women 2, where the one-panel files have 0 and 1.
    columns = table[names].rename(columns={"SEX": "sex"})
    columns["sex"] -= 1
    columns["race"] = white.astype(int)
    columns["Probability"] = many_trips.astype(int)
    return columns[known].reset_index(drop=True)


def _read_transport(path: Path, columns: list[str]) -> pd.DataFrame:
    """Read columns of the SAS transport file in a zip archive."""
    with zipfile.ZipFile(path) as archive:
        [member] = archive.namelist()
        content = io.BytesIO(archive.read(member))
    parts = []
    with pd.read_sas(
        content, format="xport", encoding="latin-1", chunksize=_ROWS_OF_A_PART
    ) as reader:
        for part in reader:
            parts.append(part[columns])
    table = pd.concat(parts, ignore_index=True)
    # pandas reads the zero of the transport format as 5.4e-79.
    return table.mask(table.abs() < 1e-70, 0.0)
