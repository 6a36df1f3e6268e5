"""Data sets: ``make_`` generates data, ``fetch_`` downloads, verifies and caches it."""

from cape.datasets._compas import fetch_compas
from cape.datasets._meps import ONE_PANEL, fetch_meps
from cape.datasets._synthetic import make_synthetic
from cape.datasets._tasks import Task, read_task

__all__ = [
    "ONE_PANEL",
    "Task",
    "fetch_compas",
    "fetch_meps",
    "make_synthetic",
    "read_task",
]
