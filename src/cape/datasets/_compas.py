"""COMPAS: who re-offends within two years, among people screened in 2013 and 2014."""

from __future__ import annotations

import os

from sklearn.utils import Bunch

from cape.datasets._files import RemoteFile, get_file
from cape.datasets._tasks import Task, read_task

__all__ = ["fetch_compas"]

_REPOSITORY = "https://raw.githubusercontent.com/propublica/compas-analysis/master/"

FILE = RemoteFile(
    path="compas/compas-scores-two-years.csv",
    url=_REPOSITORY + "compas-scores-two-years.csv",
    sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
)

TASK = Task(
    name="COMPAS",
    label="is_recid",
    positive_from=1,
    group="race",
    groups={"Caucasian": "Caucasian", "African-American": "African-American"},
    period="compas_screening_date",
    periods={"train": "2013", "test": "2014"},
    features=(
        "age",
        "sex",
        "priors_count",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "c_charge_degree",
    ),
    # Both have two values, so that 0 and 1 say all there is.
    codes={"sex": {"Female": 0, "Male": 1}, "c_charge_degree": {"M": 0, "F": 1}},
    # The paper does not say which rows it removes; without this rule the counts of rows
    # are further from the paper's.
    required=("c_charge_desc",),
    notes=(
        "ProPublica's COMPAS file. Positive: re-offends (is_recid). Z=0 Caucasian, "
        "Z=1 African-American. Training rows were screened in 2013, test rows in 2014. "
        "The paper removes rows with missing or invalid information and does not say "
        "which; rows without c_charge_desc are removed here, the plain rule that comes "
        "nearest its counts. The paper does not list its features; here they are age, "
        "sex, the counts of prior and juvenile offences, and the degree of the charge."
    ),
)


def fetch_compas(
    *, subset: str = "all", data_home: str | os.PathLike[str] | None = None
) -> Bunch:
    """Download, verify and read COMPAS as the paper uses it.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" are the people screened in 2013, "test" those screened in 2014.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA or, without it, a
        cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers), ``target`` (1: re-offends),
        ``sensitive_features`` (race), ``frame`` (data, group and target), ``groups``
        (the paper's Z=0 and Z=1), ``variant`` and ``DESCR``.

    Raises
    ------
    OSError
        If the file cannot be downloaded or is not the expected one.

    Examples
    --------
    >>> from cape.datasets import fetch_compas
    >>> train = fetch_compas(subset="train")  # doctest: +SKIP
    >>> train.data.shape  # doctest: +SKIP
    (4319, 7)
    """
    import pandas as pd

    table = pd.read_csv(get_file(FILE, data_home))
    return read_task(TASK, table, subset)
