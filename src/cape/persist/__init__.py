"""Saving and loading fitted models without pickle.

`save` writes a fitted `CapeClassifier` to one file and `load` reads it back; loading a
file never runs code that the file brings. `read_header` tells what a file holds without
building the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape.base._packages import lazily

if TYPE_CHECKING:
    from cape.persist._file import read_header
    from cape.persist._save import load, save
    from cape.persist._schema import TRUSTED

__all__ = ["TRUSTED", "load", "read_header", "save"]

_HOME = {
    "TRUSTED": "cape.persist._schema",
    "load": "cape.persist._save",
    "read_header": "cape.persist._file",
    "save": "cape.persist._save",
}

__getattr__ = lazily("cape.persist", _HOME)
