"""Data sets: ``make_`` generates data, ``fetch_`` gets files."""

from cape.datasets._compas import fetch_compas
from cape.datasets._synthetic import make_synthetic

__all__ = ["fetch_compas", "make_synthetic"]
