"""Saving and loading fitted models without pickle."""

from cape.persist._save import load, read_header, save
from cape.persist._trusted import TRUSTED

__all__ = ["TRUSTED", "load", "read_header", "save"]
