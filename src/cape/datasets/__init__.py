"""Data sets: ``make_`` generates data, ``fetch_`` gets files."""

from cape.datasets._compas import fetch_compas
from cape.datasets._synthetic import make_synthetic
from cape.datasets._tasks import Task, read_task

__all__ = [
    "Task",
    "fetch_compas",
    "make_synthetic",
    "read_task",
]
