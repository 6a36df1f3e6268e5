"""Real shifts over time, as data: which rows to train on, and which to use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cape._validation import check_choice
from cape.datasets import fetch_compas
from cape_paper._bank import load_bank
from cape_paper._meps import fetch_meps
from cape_paper._meps_people import load_meps_people
from cape_paper._problem import Problem

__all__ = ["CASES", "NOT_IDENTIFIED", "LoadedCases", "load_cases"]

CASES: dict[str, Callable[..., Any]] = {
    "compas": partial(fetch_compas, group="race"),
    "compas-sex": partial(fetch_compas, group="sex"),
    "compas-age": partial(fetch_compas, group="age"),
    "meps-15-16": partial(fetch_meps, group="race"),
    "meps-15-16-sex": partial(fetch_meps, group="sex"),
    "meps-15-16-age": partial(fetch_meps, group="age"),
    "meps-12-13": partial(load_meps_people, 2012, 2013),
    "meps-13-14": partial(load_meps_people, 2013, 2014),
    "meps-13-15": partial(load_meps_people, 2013, 2015),
    "meps-14-15": partial(load_meps_people, 2014, 2015),
    "bank": load_bank,
}
"""What reads each case; every function takes ``subset`` and ``data_home``."""

NOT_IDENTIFIED = ("bank", "meps-12-13")
"""Cases whose prevalences no unlabelled rows can tell.

The scores of `bank` hardly tell the classes apart, and the list of people to call
changed. In `meps-12-13` hardly a column moved, and yet the share of positives did.
"""


@dataclass(frozen=True)
class LoadedCases:
    """The cases that can be run, and why the remaining ones cannot.

    Parameters
    ----------
    problems : list of Problem
    skipped : list of str
        A sentence for each case that was left out.
    """

    problems: list[Problem]
    skipped: list[str]


def load_cases(
    cases: Sequence[str] | None = None, data_home: Any = None
) -> LoadedCases:
    """Read cases, without those whose files are not here and cannot be downloaded.

    Parameters
    ----------
    cases : sequence of str, default=None
        Keys of `CASES`; a case that is named must be there. None means all that can be
        read.
    data_home : str or Path, default=None
        Folder of the data.

    Returns
    -------
    LoadedCases

    Raises
    ------
    ValueError
        If a case is none of `CASES`.
    FileNotFoundError
        If the files of a case that was named are not in the folder of data, and have no
        public address.
    OSError
        If a file cannot be downloaded, or is not the expected one.
    """
    for name in cases or ():
        check_choice("cases", name, tuple(CASES))
    problems = []
    skipped = []
    for name in cases or CASES:
        try:
            problems.append(_problem(name, data_home))
        except FileNotFoundError:
            if cases:
                raise
            skipped.append(
                f"{name} was skipped: its files are not in the folder of data, and no "
                "public address of them is known."
            )
    return LoadedCases(problems, skipped)


def _problem(name: str, data_home: Any) -> Problem:
    """Read one case."""
    load = CASES[name]
    train = load(subset="train", data_home=data_home)
    test = load(subset="test", data_home=data_home)
    return Problem(
        name=name,
        title=train.variant,
        groups=train.groups,
        X_train=train.data,
        y_train=train.target.to_numpy(),
        z_train=train.sensitive_features,
        X_test=test.data,
        y_test=test.target.to_numpy(),
        z_test=test.sensitive_features,
        notes=[train.DESCR],
    )
