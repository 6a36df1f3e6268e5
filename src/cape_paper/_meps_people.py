"""MEPS, every person of a year: who makes ten or more visits, 2012 to 2015."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import Bunch

from cape.datasets._files import RemoteFile, get_file
from cape.datasets._tasks import Task, read_task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_meps_people"]

# Extracts of the survey's full-year files. They have no address of their own.
FILES = {
    2012: RemoteFile(
        "meps/meps_fy2012_people.csv.gz",
        "",
        "52e95891739b3d128646749622413921157df1e272e861c7258f3e4feee368c9",
    ),
    2013: RemoteFile(
        "meps/meps_fy2013_people.csv.gz",
        "",
        "1d61e235bd8761362625e6cd8c2b993280d01a3bae001fd1e2b06d8f7a88aa89",
    ),
    2014: RemoteFile(
        "meps/meps_fy2014_people.csv.gz",
        "",
        "481c7320bd9192bb3d849c6492b91ac557938fb0e8d49bec6fd765c863f05d9d",
    ),
    2015: RemoteFile(
        "meps/meps_fy2015_people.csv.gz",
        "",
        "9cb8ba9cc1ff59566bf38312e572433c0dc5c888ce5d84f70de6282a55e78c42",
    ),
}

_FEATURES = (
    "agex",
    "sex",
    "marryx",
    "educyr",
    "rthlth53",
    "mnhlth53",
    "hibpdx",
    "chddx",
    "angidx",
    "midx",
    "ohrtdx",
    "strkdx",
    "emphdx",
    "chbron53",
    "choldx",
    "cancerdx",
    "diabdx",
    "jtpain53",
    "arthdx",
    "arthtype",
    "asthdx",
    "pcs42",
    "mcs42",
    "inscov",
    "faminc",
)
# The survey asked for years of education in every year but this one.
_ABSENT = {2013: ("educyr",)}

# Visits to offices, outpatient departments and emergency rooms, and days of home care.
_VISITS = ("obtotv", "optotv", "ertot", "hhtotd")

_NON_HISPANIC_WHITE = 2


def load_meps_people(
    train: int = 2014,
    test: int = 2015,
    *,
    subset: str = "all",
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Read two years of MEPS, with every person of both panels.

    The files are extracts that no public address offers: they must be in the folder of
    data. `fetch_meps` downloads the survey's own files of 2015 and 2016.

    Parameters
    ----------
    train, test : {2012, 2013, 2014, 2015}, default=2014 and 2015
        Year to train on, and year to use the model in.
    subset : {"all", "train", "test"}, default="all"
        Which of the two years to read.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA or, without it, a
        cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers, the columns that both years have), ``target``
        (1: ten visits or more), ``sensitive_features`` ("White", which is not
        Hispanic, and "Non-White"), ``frame`` (data, group and target), ``groups``,
        ``variant`` and ``DESCR``.

    Raises
    ------
    ValueError
        If a year or ``subset`` is none of those accepted.
    FileNotFoundError
        If the folder of data lacks a file. The message says where to put it.
    OSError
        If a file is not the expected one.

    Examples
    --------
    >>> from cape_paper._meps_people import load_meps_people
    >>> load_meps_people(2013, 2014, subset="train").data.shape  # doctest: +SKIP
    (36715, 24)
    """
    import pandas as pd

    _check_year("train", train)
    _check_year("test", test)
    task = _task(train, test)
    years = {"train": [train], "test": [test]}
    tables = []
    for year in years.get(subset, [train, test]):
        path = get_file(FILES[year], data_home)
        tables.append(_read(path, year))
    return read_task(task, pd.concat(tables), subset)


def _check_year(parameter: str, year: int) -> None:
    """Raise if there is no file of a year."""
    if year not in FILES:
        years = ", ".join(map(str, FILES))
        raise ValueError(f"{parameter} must be one of {years}, got {year!r}.")


def _task(train: int, test: int) -> Task:
    """Describe the problem of two years."""
    absent = {*_ABSENT.get(train, ()), *_ABSENT.get(test, ())}
    features = tuple(name for name in _FEATURES if name not in absent)
    return Task(
        name=f"MEPS, all people, {train} to {test}",
        label="visits",
        positive_from=10,
        group="race",
        groups={"White": "White", "Non-White": "Non-White"},
        period="year",
        periods={"train": str(train), "test": str(test)},
        features=features,
        notes=(
            "Every person with an age in the Medical Expenditure Panel Survey's "
            f"full-year files; training rows are of {train}, test rows of {test}. "
            "Positive: ten or more visits to offices, outpatient departments and "
            "emergency rooms or days of home care. White is not Hispanic. Features are "
            "age, sex, marriage, education, health, insurance and income, as far as "
            "both years have them; survey weights are not used."
        ),
    )


def _read(path: Path, year: int) -> pd.DataFrame:
    """Read the file of a year, with columns for label, group and period."""
    import pandas as pd

    table = pd.read_csv(path)
    # Negative numbers say that the number is not known; there are few of them.
    visits = table[list(_VISITS)].clip(lower=0).sum(axis=1)
    white = table["racethx"] == _NON_HISPANIC_WHITE
    return table.assign(
        visits=visits,
        race=np.where(white, "White", "Non-White"),
        year=year,
    )
