"""From files to files: train on a table, predict and audit others.

Files are read in parts, so that none has to fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape.base._packages import lazily

if TYPE_CHECKING:
    from cape_app.files._audit import count_file
    from cape_app.files._batch import predict_file, rows_needed_of_file
    from cape_app.files._model import TableModel, load_model, save_model
    from cape_app.files._sample import sample_file
    from cape_app.files._train import train_file

__all__ = [
    "TableModel",
    "count_file",
    "load_model",
    "predict_file",
    "rows_needed_of_file",
    "sample_file",
    "save_model",
    "train_file",
]

# `cape info` and the checks of what a command writes need no scikit-learn.
__getattr__ = lazily(
    "cape_app.files",
    {
        "TableModel": "cape_app.files._model",
        "count_file": "cape_app.files._audit",
        "load_model": "cape_app.files._model",
        "predict_file": "cape_app.files._batch",
        "rows_needed_of_file": "cape_app.files._batch",
        "sample_file": "cape_app.files._sample",
        "save_model": "cape_app.files._model",
        "train_file": "cape_app.files._train",
    },
)
