"""MEPS: who makes ten or more trips for medical care in a year, 2015 and 2016."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils import Bunch

from cape.datasets._files import RemoteFile, data_folder, get_file
from cape.datasets._tasks import Task, read_task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ONE_PANEL", "fetch_meps"]

ONE_PANEL = "one panel, broad race"

_ADDRESS = "https://meps.ahrq.gov/mepsweb/data_files/pufs/"
_TERMS = "AHRQ's data use agreement applies (https://meps.ahrq.gov/mepsweb/data_stats/data_use.jsp)."
OFFICIAL = {
    2015: RemoteFile("meps/h181ssp.zip", _ADDRESS + "h181ssp.zip", None, _TERMS),
    2016: RemoteFile("meps/h192ssp.zip", _ADDRESS + "h192ssp.zip", None, _TERMS),
}
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

# Columns whose names in the files end in the round of the interview (53, or 53X where edited) or in the year.
_ROUND_X = ("AGE", "MARRY", "FTSTU")
_ROUND = [
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
]
_YEAR = ("POVCAT", "INSCOV")
_PART = 5000  # rows read at a time: a full-year file has almost 2,000 columns
_TRIPS = ("OBTOTV", "OPTOTV", "ERTOT", "IPNGTD", "HHTOTD")

_FEATURES = [
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
]
_NOT_CATEGORICAL = ("REGION", "AGE", "SEX", "MARRY", "PCS42", "MCS42", "K6SUM42")
_CATEGORICAL = [name for name in _FEATURES if name not in _NOT_CATEGORICAL] + [
    "EDUCYR",
    "HIDEG",
]

_CHOICES = (
    "Positive: ten or more trips for medical care in the year. Training rows are of 2015, test rows of 2016. Features "
    "are those of AIF360's MEPS data, categories left as the survey's numbers; survey weights are not used."
)

TASK = Task(
    name="MEPS",
    label="UTILIZATION",
    positive_from=10,
    group="RACE",
    groups={"White": "White", "Non-White": "Non-White"},
    period="YEAR",
    periods={"train": "2015", "test": "2016"},
    features=tuple(_FEATURES),
    at_least={
        **dict.fromkeys(_CATEGORICAL, -1),
        **dict.fromkeys(("REGION", "AGE", "MARRY", "ASTHDX"), 0),
    },
    notes=(
        "The Medical Expenditure Panel Survey's full-year files HC-181 (2015) and HC-192 (2016), all panels. Z=0 White "
        f"(not Hispanic), Z=1 Non-White. {_CHOICES}"
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
        "Panel 19 of 2015 and panel 21 of 2016 alone, and White here counts Hispanic whites too: a MEPS run, but not "
        f"the paper's. Z=0 White, Z=1 Non-White. {_CHOICES}"
    ),
)


def fetch_meps(
    *, subset: str = "all", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Read MEPS as the paper uses it, downloading the two official files if need be.

    The official files are read where the folder of data has them. Where it has the one-panel CSV files instead, those
    are used and every result is labelled "one panel, broad race". Where it has neither, the official files are
    downloaded; AHRQ's data use agreement applies to them.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        Both years, 2015, 2016.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA, or a cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers), ``target`` (1: ten trips or more), ``sensitive_features`` ("White" and
        "Non-White"), ``frame``, ``groups`` (the paper's Z=0, Z=1), ``variant`` and ``DESCR``.

    Examples
    --------
    >>> from cape.datasets import fetch_meps
    >>> fetch_meps(subset="train").variant  # doctest: +SKIP
    'MEPS, one panel, broad race'
    """
    import pandas as pd

    folder = data_folder(data_home)
    years = [
        year
        for year in OFFICIAL
        if subset == "all" or TASK.periods.get(subset) in (None, str(year))
    ]
    official = any((folder / file.path).exists() for file in OFFICIAL.values())
    if not official and all((folder / file.path).exists() for file in _PANELS.values()):
        tables = [
            _read_panel(get_file(_PANELS[year], data_home), year) for year in years
        ]
        return read_task(ONE_PANEL_TASK, pd.concat(tables), subset)
    tables = [
        read_official(get_file(OFFICIAL[year], data_home), year) for year in years
    ]
    return read_task(TASK, pd.concat(tables), subset)


def read_official(path: Path, year: int) -> pd.DataFrame:
    """Columns of one full-year file under names without year and round, with RACE and UTILIZATION made from them."""
    suffix = str(year)[-2:]
    names = {f"{name}53X": name for name in _ROUND_X} | {
        f"{name}53": name for name in _ROUND
    }
    names |= {f"{name}{suffix}": name for name in (*_YEAR, *_TRIPS)}
    plain = [
        name
        for name in (*_FEATURES, "EDUCYR", "HIDEG", "HISPANX", "RACEV2X")
        if name not in names.values()
    ]
    table = _read_transport(path, [*names, *plain]).rename(columns=names)
    white = (table["HISPANX"] == 2) & (table["RACEV2X"] == 1)
    return table.assign(
        RACE=white.map({True: "White", False: "Non-White"}),
        UTILIZATION=table[list(_TRIPS)].sum(axis=1),
        YEAR=year,
    )


def _read_transport(path: Path, columns: list[str]) -> pd.DataFrame:
    """Some columns of the SAS transport file in a zip archive, read in parts."""
    import pandas as pd

    with zipfile.ZipFile(path) as archive:
        members = [
            name
            for name in archive.namelist()
            if name.lower().endswith((".ssp", ".xpt"))
        ]
        if len(members) != 1:
            raise ValueError(
                f"{path} must hold one SAS transport file (.ssp), got {archive.namelist()}."
            )
        content = io.BytesIO(archive.read(members[0]))
    parts = []
    with pd.read_sas(
        content, format="xport", encoding="latin-1", chunksize=_PART
    ) as reader:
        for part in reader:
            if missing := [column for column in columns if column not in part]:
                raise ValueError(
                    f"{path} must have the columns {missing}, got {list(part.columns)[:20]}."
                )
            parts.append(part[columns])
    table = pd.concat(parts, ignore_index=True)
    return table.mask(
        table.abs() < 1e-70, 0.0
    )  # pandas reads the transport format's zero as 5.4e-79


def _read_panel(path: Path, year: int) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path).rename(columns={"sex": "SEX"}).assign(YEAR=year)
