"""MEPS: who makes ten or more trips for medical care in a year, 2015 and 2016."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import Bunch

from cape._validation import check_choice
from cape.datasets._files import RemoteFile, data_folder, get_file
from cape.datasets._tasks import Task, read_task, regrouped

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ONE_PANEL", "fetch_meps"]

ONE_PANEL = "one panel, broad race"
"""Part of ``variant`` where `fetch_meps` read the one-panel files."""

_ADDRESS = "https://meps.ahrq.gov/mepsweb/data_files/pufs/"
_TERMS = (
    "AHRQ's data use agreement applies "
    "(https://meps.ahrq.gov/mepsweb/data_stats/data_use.jsp)."
)
# AHRQ's checksums are not known; those within the zip archives are verified.
OFFICIAL = {
    2015: RemoteFile("meps/h181ssp.zip", _ADDRESS + "h181ssp.zip", None, _TERMS),
    2016: RemoteFile("meps/h192ssp.zip", _ADDRESS + "h192ssp.zip", None, _TERMS),
}
# They have no address, and can only be put into the folder by hand.
_PANELS = {
    2015: RemoteFile(
        "meps/meps_fy2015_panel19.csv",
        "",
        "df163dc540f273ff8fea1e4003ace49e31c4554ab3fc861e98e6cfd4df0e16e2",
    ),
    2016: RemoteFile(
        "meps/meps_fy2016_panel21.csv",
        "",
        "f1fd0b919eb4fe94eb72a3a48a1f48a310e0efe6b25b4feb4fad4c463bb63c5e",
    ),
}

# Columns whose names in the files end in the round of the interview (53, or 53X where
# edited) or in the last two digits of the year.
_EDITED_IN_ROUND_53 = ("AGE", "MARRY", "FTSTU")
_OF_ROUND_53 = (
    "ACTDTY",
    "HONRDC",
    "RTHLTH",
    "MNHLTH",
    "CHBRON",
    "JTPAIN",
    "PREGNT",
    "WLKLIM",
    "ACTLIM",
    "SOCLIM",
    "COGLIM",
    "EMPST",
    "REGION",
)
_OF_YEAR = ("POVCAT", "INSCOV")

# Visits to offices, outpatient departments and emergency rooms, nights in hospital and
# days of home care, whose sum is the utilization.
_TRIPS = ("OBTOTV", "OPTOTV", "ERTOT", "IPNGTD", "HHTOTD")

# A full-year file has almost 2,000 columns, so it is read this many rows at a time.
_ROWS_OF_A_PART = 5000

_FEATURES = (
    "REGION",
    "AGE",
    "SEX",
    "MARRY",
    "FTSTU",
    "ACTDTY",
    "HONRDC",
    "RTHLTH",
    "MNHLTH",
    "HIBPDX",
    "CHDDX",
    "ANGIDX",
    "MIDX",
    "OHRTDX",
    "STRKDX",
    "EMPHDX",
    "CHBRON",
    "CHOLDX",
    "CANCERDX",
    "DIABDX",
    "JTPAIN",
    "ARTHDX",
    "ARTHTYPE",
    "ASTHDX",
    "ADHDADDX",
    "PREGNT",
    "WLKLIM",
    "ACTLIM",
    "SOCLIM",
    "COGLIM",
    "DFHEAR42",
    "DFSEE42",
    "ADSMOK42",
    "PCS42",
    "MCS42",
    "K6SUM42",
    "PHQ242",
    "EMPST",
    "POVCAT",
    "INSCOV",
)
_NOT_CATEGORICAL = ("REGION", "AGE", "SEX", "MARRY", "PCS42", "MCS42", "K6SUM42")
_CATEGORICAL = [name for name in _FEATURES if name not in _NOT_CATEGORICAL]

# AIF360's recipe keeps rows whose categories are known (-1 is "inapplicable", below it
# are refusals and the like), two of which are no features.
_LEAST_CATEGORY = dict.fromkeys([*_CATEGORICAL, "EDUCYR", "HIDEG"], -1)
_LEAST_KNOWN = dict.fromkeys(["REGION", "AGE", "MARRY", "ASTHDX"], 0)

_CHOICES = (
    "Positive: ten or more trips for medical care in the year. Training rows are of "
    "2015, test rows of 2016. Features are those of AIF360's MEPS data, categories "
    "left as the survey's numbers; survey weights are not used."
)

TASK = Task(
    name="MEPS",
    label="UTILIZATION",
    positive_from=10,
    group="RACE",
    groups={"White": "White", "Non-White": "Non-White"},
    period="YEAR",
    periods={"train": "2015", "test": "2016"},
    features=_FEATURES,
    at_least=_LEAST_CATEGORY | _LEAST_KNOWN,
    notes=(
        "The Medical Expenditure Panel Survey's full-year files HC-181 (2015) and "
        "HC-192 (2016), all panels. Z=0 White (not Hispanic), Z=1 Non-White. "
        f"{_CHOICES}"
    ),
)
ONE_PANEL_TASK = Task(
    name=f"MEPS, {ONE_PANEL}",
    label="Probability",
    positive_from=1,
    group="race",
    groups={1: "White", 0: "Non-White"},
    period="YEAR",
    periods=TASK.periods,
    features=TASK.features,
    notes=(
        "Panel 19 of 2015 and panel 21 of 2016 alone, and White here counts Hispanic "
        "whites too: a MEPS run, but not the paper's. Z=0 White, Z=1 Non-White. "
        f"{_CHOICES}"
    ),
)

_AGES = {"below 25": "below 25", "from 25": "from 25"}


def fetch_meps(
    *,
    subset: str = "all",
    group: str = "race",
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Read MEPS as the paper uses it, and download its files if need be.

    The two official files are read if the folder of data has one of them. If it has the
    one-panel CSV files instead, these are read and every result is labelled "one panel,
    broad race". If it has neither, the official files are downloaded; AHRQ's data use
    agreement applies to them.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" is the year 2015, "test" the year 2016.
    group : {"race", "sex", "age"}, default="race"
        What the groups are: "race", the paper's; "sex"; or "age", below 25 or from 25.
        Race is a feature of groups by sex or age; sex is none of groups by sex.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA or, without it, a
        cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers), ``target`` (1: ten trips or more),
        ``sensitive_features`` (group), ``frame`` (data, group and target), ``groups``
        (for race the paper's Z=0 and Z=1), ``variant`` and ``DESCR``.

    Raises
    ------
    ValueError
        If ``subset`` or ``group`` is none of those accepted.
    OSError
        If a file cannot be downloaded or is not the expected one.

    Examples
    --------
    >>> from cape_paper._meps import fetch_meps
    >>> fetch_meps(subset="train").variant  # doctest: +SKIP
    'MEPS, one panel, broad race'
    """
    import pandas as pd

    # Before anything is downloaded.
    check_choice("group", group, ("race", "sex", "age"))
    if _only_panels_are_in(data_folder(data_home)):
        task = _grouped(ONE_PANEL_TASK, group, sexes={0: "Male", 1: "Female"})
        files = _PANELS
        read = _read_panel
    else:
        task = _grouped(TASK, group, sexes={1: "Male", 2: "Female"})
        files = OFFICIAL
        read = read_official
    tables = []
    for year in _years_of(subset):
        path = get_file(files[year], data_home)
        tables.append(read(path, year))
    table = pd.concat(tables)
    age_band = np.where(table["AGE"] < 25, "below 25", "from 25")
    return read_task(task, table.assign(age_band=age_band), subset)


def _grouped(task: Task, group: str, sexes: dict[int, str]) -> Task:
    """Return the task with the groups that were asked for.

    Parameters
    ----------
    task : Task
        The task with groups by race.
    group : {"race", "sex", "age"}
        The groups that are wanted.
    sexes : dict
        Names of the values of SEX, which the two kinds of files code in their own way.
    """
    if group == "race":
        return task
    # The full-year files are read with RACE as text, the one-panel files as 0 and 1.
    codes = {"RACE": {"Non-White": 0, "White": 1}} if task.group == "RACE" else {}
    with_race = replace(task, features=(*task.features, task.group), codes=codes)
    if group == "sex":
        return regrouped(with_race, "sex", "SEX", sexes)
    return regrouped(with_race, "age", "age_band", _AGES)


def read_official(path: Path, year: int) -> pd.DataFrame:
    """Read the columns of one full-year file that the task needs.

    Parameters
    ----------
    path : Path
        Zip archive with the SAS transport file.
    year : int
        Year of the file, which is part of the names of some columns.

    Returns
    -------
    DataFrame
        Columns under names without year and round, with RACE, UTILIZATION and YEAR.
    """
    new_names = _names_without_round_and_year(year)
    needed = (*_FEATURES, "EDUCYR", "HIDEG", "HISPANX", "RACEV2X")
    renamed = set(new_names.values())
    unchanged = [name for name in needed if name not in renamed]
    table = _read_transport(path, [*new_names, *unchanged]).rename(columns=new_names)
    # HISPANX 2: not Hispanic; RACEV2X 1: white and no other race.
    white = (table["HISPANX"] == 2) & (table["RACEV2X"] == 1)
    return table.assign(
        RACE=white.map({True: "White", False: "Non-White"}),
        UTILIZATION=table[list(_TRIPS)].sum(axis=1),
        YEAR=year,
    )


def _only_panels_are_in(folder: Path) -> bool:
    """Whether a folder has both one-panel files and no official file."""
    for file in OFFICIAL.values():
        if (folder / file.path).exists():
            return False
    return all((folder / file.path).exists() for file in _PANELS.values())


def _years_of(subset: str) -> list[int]:
    """Years whose files must be read; all of them for a subset that is unknown."""
    if subset in TASK.periods:
        return [int(TASK.periods[subset])]
    return list(OFFICIAL)


def _names_without_round_and_year(year: int) -> dict[str, str]:
    """The names that columns get, by their names in the file of a year."""
    two_digits = str(year)[-2:]
    names = {}
    for name in _EDITED_IN_ROUND_53:
        names[f"{name}53X"] = name
    for name in _OF_ROUND_53:
        names[f"{name}53"] = name
    for name in (*_OF_YEAR, *_TRIPS):
        names[f"{name}{two_digits}"] = name
    return names


def _read_transport(path: Path, columns: list[str]) -> pd.DataFrame:
    """Read the columns named from the SAS transport file in a zip archive."""
    import pandas as pd

    content = io.BytesIO(_transport_file_in(path))
    parts = []
    with pd.read_sas(
        content, format="xport", encoding="latin-1", chunksize=_ROWS_OF_A_PART
    ) as reader:
        for part in reader:
            missing = [column for column in columns if column not in part]
            if missing:
                raise ValueError(
                    f"{path} must have the columns {missing}, "
                    f"got {list(part.columns)[:20]}."
                )
            parts.append(part[columns])
    table = pd.concat(parts, ignore_index=True)
    # pandas reads the zero of the transport format as 5.4e-79.
    return table.mask(table.abs() < 1e-70, 0.0)


def _transport_file_in(path: Path) -> bytes:
    """The content of the only SAS transport file in a zip archive."""
    with zipfile.ZipFile(path) as archive:
        members = []
        for name in archive.namelist():
            if name.lower().endswith((".ssp", ".xpt")):
                members.append(name)
        if len(members) != 1:
            raise ValueError(
                f"{path} must hold one SAS transport file (.ssp), "
                f"got {archive.namelist()}."
            )
        return archive.read(members[0])


def _read_panel(path: Path, year: int) -> pd.DataFrame:
    """Read a one-panel file, whose columns have the names of the task but for SEX."""
    import pandas as pd

    table = pd.read_csv(path).rename(columns={"sex": "SEX"})
    return table.assign(YEAR=year)
