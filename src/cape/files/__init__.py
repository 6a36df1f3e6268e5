"""From files to files: train on a table, predict and audit others.

Files are read in parts, so that none has to fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._packages import lazily

if TYPE_CHECKING:
    from cape.files._audit import count_file
    from cape.files._batch import predict_file, rows_needed_of_file
    from cape.files._model import TableModel, load_model, save_model
    from cape.files._sample import sample_file
    from cape.files._train import train_file

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
    "cape.files",
    {
        "TableModel": "cape.files._model",
        "count_file": "cape.files._audit",
        "load_model": "cape.files._model",
        "predict_file": "cape.files._batch",
        "rows_needed_of_file": "cape.files._batch",
        "sample_file": "cape.files._sample",
        "save_model": "cape.files._model",
        "train_file": "cape.files._train",
    },
)
