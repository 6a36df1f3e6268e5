"""Bank telemarketing: who subscribes to a deposit, early calls and late ones."""

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

__all__ = ["load_bank"]

# The file is a part of UCI's, compressed. It has no address of its own.
FILE = RemoteFile(
    path="bank/bank-full.csv.gz",
    url="",
    sha256="77d1af721fb18f07ecfbe51cacda42a59afb0f1f7aad6e1954a3093a2fd91ad9",
)

TASK = Task(
    name="Bank calls",
    label="subscribes",
    positive_from=1,
    group="is_married",
    groups={"married": "married", "not married": "not married"},
    period="part",
    periods={"train": "first", "test": "last"},
    features=(
        "age",
        "job",
        "education",
        "default",
        "balance",
        "housing",
        "loan",
        "campaign",
        "pdays",
        "previous",
        "poutcome",
    ),
    notes=(
        "Calls of a Portuguese bank (UCI), in the order in which they were made. "
        "Positive: the person subscribes to a deposit. Training rows are the first "
        "60 % of the calls, test rows the last 20 %. Features are all columns but the "
        "group, the date and kind of the call, and its duration, which nobody knows "
        "before it. Some features are text."
    ),
)

# Where the first part of the calls ends, and where the last one begins.
_END_OF_FIRST = 0.6
_BEGIN_OF_LAST = 0.8


def load_bank(
    *, subset: str = "all", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Read the calls of a bank, the first 60 % to train on and the last 20 % to use.

    The file is one that no public address offers: it must be in the folder of data.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" are the first 60 % of the calls, "test" the last 20 %.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA or, without it, a
        cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers and text), ``target`` (1: subscribes),
        ``sensitive_features`` ("married" and "not married"), ``frame`` (data, group
        and target), ``groups``, ``variant`` and ``DESCR``.

    Raises
    ------
    ValueError
        If ``subset`` is none of those accepted.
    FileNotFoundError
        If the folder of data lacks the file. The message says where to put it.
    OSError
        If the file is not the expected one.

    Examples
    --------
    >>> from cape_paper._bank import load_bank
    >>> load_bank(subset="test").data.shape  # doctest: +SKIP
    (8000, 11)
    """
    return read_task(TASK, _read(get_file(FILE, data_home)), subset)


def _read(path: Path) -> pd.DataFrame:
    """Read the calls, with columns for label, group and period."""
    import pandas as pd

    table = pd.read_csv(path)
    place = np.arange(len(table)) / len(table)
    parts = np.where(place < _END_OF_FIRST, "first", "middle")
    parts = np.where(place < _BEGIN_OF_LAST, parts, "last")
    is_married = table["marital"] == "married"
    return table.assign(
        subscribes=(table["y"] == "yes").astype(int),
        is_married=np.where(is_married, "married", "not married"),
        part=parts,
    )
