"""Data sets: ``make_`` generates data, ``load_`` reads files, ``fetch_`` gets them."""

from cape.datasets._bank import load_bank
from cape.datasets._compas import fetch_compas
from cape.datasets._meps import ONE_PANEL, fetch_meps
from cape.datasets._meps_people import load_meps_people
from cape.datasets._synthetic import make_synthetic
from cape.datasets._tasks import Task, read_task

__all__ = [
    "ONE_PANEL",
    "Task",
    "fetch_compas",
    "fetch_meps",
    "load_bank",
    "load_meps_people",
    "make_synthetic",
    "read_task",
]
