"""Saving and loading fitted models without pickle.

`save` writes a fitted `CapeClassifier` to one file and `load` reads it back; loading a
file never runs code that the file brings. `read_header` tells what a file holds without
building the model.
"""

from cape.persist._save import load, read_header, save
from cape.persist._trusted import TRUSTED

__all__ = ["TRUSTED", "load", "read_header", "save"]
