"""COMPAS: who re-offends, among people screened in 2013 and 2014."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from sklearn.utils import Bunch

from cape.base._validation import check_choice
from cape.datasets._files import get_file

FILE = "compas/compas-scores-two-years.csv"
_URL = (
    "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
    "compas-scores-two-years.csv"
)
_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"

_CHOICES = (
    "ProPublica's COMPAS file. Positive: re-offends (is_recid). Z=0 Caucasian, Z=1 "
    "African-American. Training rows were screened in 2013, test rows in 2014. The "
    "paper removes rows with missing or invalid information and does not say which; "
    "rows without c_charge_desc are removed here, the plain rule that comes nearest "
    "its counts. Of people screened from 1 April 2014 on, the file holds hardly "
    "anybody who did not re-offend: 2 of 883 rows. Most of the shift comes from that, "
    "not from what people did."
)

_NARROW = (
    "age",
    "sex",
    "priors_count",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "c_charge_degree",
)
# 180 of 4319 training rows lack the first. The other column is complete wherever there
# is a charge; it is filled so that no learner ever meets a missing value.
_DAYS = ("days_b_screening_arrest", "c_days_from_compas")
_MOST_CHARGES = 40

_NARROW_NOTE = (
    "The paper does not list its features; here they are age, sex, the counts of prior "
    "and juvenile offences, and the degree of the charge."
)
_WIDE_NOTE = (
    "The paper does not list its features; this is a second, wider guess at them: the "
    "narrow set (age, sex, the counts of prior and juvenile offences, the degree of "
    "the charge), the days between arrest or offence and screening "
    "(days_b_screening_arrest, c_days_from_compas), and the 40 charge descriptions "
    "(c_charge_desc) that are commonest in 2013, each as a column of 0 and 1. Missing "
    "days become the median of 2013."
)

# Both have two values, so that 0 and 1 say all there is.
_CODES = {"sex": {"Female": 0, "Male": 1}, "c_charge_degree": {"M": 0, "F": 1}}
_YEARS = {"train": ("2013",), "test": ("2014",), "all": ("2013", "2014")}
_GROUPS = {
    "race": ["Caucasian", "African-American"],
    "sex": ["Female", "Male"],
    "age": ["below 25", "from 25"],
}


def fetch_compas(
    *,
    subset: str = "all",
    features: str = "narrow",
    group: str = "race",
    data_home: str | os.PathLike[str] | None = None,
) -> Bunch:
    """Download, verify and read COMPAS as the paper uses it.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" are the people screened in 2013, "test" those screened in 2014.
    features : {"narrow", "wide"}, default="narrow"
        The paper does not list its features. "narrow" are the 7 that most people use:
        age, sex, counts of offenses and the degree of the charge. "wide" adds the
        days between arrest or offense and screening, and a column of 0 and 1 for each
        of the 40 most common charges of 2013. See the notes.
    group : {"race", "sex", "age"}, default="race"
        The groups. "race" is the paper's, with people of two races. "sex" and "age"
        (below 25, or from 25) keep people of all races; with groups by sex, sex is no
        feature.
    data_home : path, default=None
        Folder of data; None is the environment variable CAPE_DATA or, without it, a
        cache in the home folder.

    Returns
    -------
    Bunch
        ``data`` (DataFrame of numbers), ``target`` (1: re-offends),
        ``sensitive_features`` (group), ``frame`` (data, group and target), ``groups``
        (for race the paper's Z=0 and Z=1), ``variant`` and ``DESCR``.

    Raises
    ------
    ValueError
        If ``subset``, ``features`` or ``group`` is none of those accepted.
    OSError
        If the file cannot be downloaded or is not the expected one.

    Notes
    -----
    Most of the shift from 2013 to 2014 comes from the way ProPublica's file was made.
    For 2,981 of its 3,743 people without a new offense, observation ends on April 1,
    2016, and none of the 3,743 was screened later than two years before that day.
    People with a new offense are in the file whenever they were screened. So from April
    1, 2014 on, all but 2 of 883 rows are positive (with ``group="race"``). In January
    to March, 37% are, and in 2013, 42%. It is a shift of the file, good enough to try a
    method on. It says nothing about what people did.

    The wide set was chosen by comparison with the numbers that the paper prints without
    test labels (SPA's estimates and the predicted prevalences of Max_Acc); it comes
    nearer to them. Use it to understand the printed numbers, not to judge methods. In
    ProPublica's file, 233 of the people screened in 2013 have an arrest after the
    screening (``days_b_screening_arrest`` above 0), and 70% of them re-offend (42% of
    all do). So part of the information in this column was not known at the screening.

    Missing values of ``days_b_screening_arrest`` (180 of 4319 rows of 2013, 41 of 1810
    rows of 2014) become the median of 2013, because most learners need a value. This
    hides that they are informative: of the people of 2013 without a value, 13%
    re-offend.

    Examples
    --------
    >>> from cape.datasets import fetch_compas
    >>> train = fetch_compas(subset="train")  # doctest: +SKIP
    >>> train.data.shape  # doctest: +SKIP
    (4319, 7)
    >>> fetch_compas(features="wide").data.shape  # doctest: +SKIP
    (6129, 49)
    """
    # Before anything is downloaded.
    check_choice("subset", subset, tuple(_YEARS))
    check_choice("features", features, ("narrow", "wide"))
    check_choice("group", group, tuple(_GROUPS))
    groups = _GROUPS[group]
    table = _read(get_file(FILE, _URL, _SHA256, data_home), group)
    train = table[table["year"].isin(_YEARS["train"])]
    kept = table[table["year"].isin(_YEARS[subset])].reset_index(drop=True)

    # A feature that is constant within a group tells nothing there.
    names = [name for name in _NARROW if name != group or group == "age"]
    data = kept[names].copy()
    for column, codes in _CODES.items():
        if column in data:
            data[column] = kept[column].map(codes)
    if features == "wide":
        # Both periods get the same features, and nothing is learned from test rows.
        for column in _DAYS:
            data[column] = kept[column].fillna(train[column].median())
        data = data.join(_charges(kept["c_charge_desc"], train["c_charge_desc"]))
    target = (kept["is_recid"] >= 1).astype("int64").rename("y")
    sensitive_features = kept["group"]

    variant = "COMPAS, wide features" if features == "wide" else "COMPAS"
    notes = f"{_CHOICES} {_WIDE_NOTE if features == 'wide' else _NARROW_NOTE}"
    if group != "race":
        variant += f", by {group}"
        notes += f" Here the groups are by {group}: {', '.join(groups)}."
    return Bunch(
        data=data,
        target=target,
        sensitive_features=sensitive_features,
        frame=data.assign(group=sensitive_features, y=target),
        groups=list(groups),
        variant=variant,
        DESCR=notes,
    )


def _read(path: Path, group: str) -> pd.DataFrame:
    """Read the rows that have a group and a charge, with columns group and year."""
    table = pd.read_csv(path)
    values = table[group]
    if group == "age":
        values = values.lt(25).map({True: "below 25", False: "from 25"})
    year = table["compas_screening_date"].str[:4]
    table = table.assign(group=values, year=year)
    # The paper does not say which rows it removes; without this rule the counts of rows
    # are further from the paper's.
    keep = table["group"].isin(_GROUPS[group]) & table["c_charge_desc"].notna()
    return table[keep]


def _charges(kept: pd.Series, train: pd.Series) -> pd.DataFrame:
    """Make a feature of 0 and 1 of each of the commonest charges of training.

    Charges that are equally common come in their own order: that of the file must not
    decide which of them are features.
    """
    counts = train.value_counts().sort_index()
    ranked = counts.sort_values(ascending=False, kind="stable")
    indicators = {}
    for charge in ranked.index[:_MOST_CHARGES]:
        # Named as scikit-learn's OneHotEncoder names its columns.
        indicators[f"c_charge_desc_{charge}"] = (kept == charge).astype("int64")
    return pd.DataFrame(indicators, index=kept.index)
