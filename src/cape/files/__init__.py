"""From files to files: train on a table, predict, monitor and audit others.

Files are read in parts, so that none has to fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._lazy import lazily

if TYPE_CHECKING:
    from cape._learners import LEARNERS, make_learner
    from cape.files._audit import count_file
    from cape.files._checked import CheckedGroup, CheckedSheet
    from cape.files._columns import Columns
    from cape.files._describe import describe_file, describe_model
    from cape.files._model import TableModel, file_hash, load_model
    from cape.files._monitor import MonitoredBatch, monitor_files
    from cape.files._notes import Notes
    from cape.files._plain_text import plain_text
    from cape.files._predict import Prediction, gather_evidence, here, predict_file
    from cape.files._sample import SampledFile, sample_file
    from cape.files._train import (
        DEFAULT_SETTINGS,
        FILE_LEARNERS,
        PAPER_SETTINGS,
        train_file,
    )

__all__ = [
    "DEFAULT_SETTINGS",
    "FILE_LEARNERS",
    "LEARNERS",
    "PAPER_SETTINGS",
    "CheckedGroup",
    "CheckedSheet",
    "Columns",
    "MonitoredBatch",
    "Notes",
    "Prediction",
    "SampledFile",
    "TableModel",
    "count_file",
    "describe_file",
    "describe_model",
    "file_hash",
    "gather_evidence",
    "here",
    "load_model",
    "make_learner",
    "monitor_files",
    "plain_text",
    "predict_file",
    "sample_file",
    "train_file",
]

_HOME = {
    "DEFAULT_SETTINGS": "cape.files._train",
    "FILE_LEARNERS": "cape.files._train",
    "LEARNERS": "cape._learners",
    "PAPER_SETTINGS": "cape.files._train",
    "CheckedGroup": "cape.files._checked",
    "CheckedSheet": "cape.files._checked",
    "Columns": "cape.files._columns",
    "MonitoredBatch": "cape.files._monitor",
    "Notes": "cape.files._notes",
    "Prediction": "cape.files._predict",
    "SampledFile": "cape.files._sample",
    "TableModel": "cape.files._model",
    "count_file": "cape.files._audit",
    "describe_file": "cape.files._describe",
    "describe_model": "cape.files._describe",
    "file_hash": "cape.files._model",
    "gather_evidence": "cape.files._predict",
    "here": "cape.files._predict",
    "load_model": "cape.files._model",
    "make_learner": "cape._learners",
    "monitor_files": "cape.files._monitor",
    "plain_text": "cape.files._plain_text",
    "predict_file": "cape.files._predict",
    "sample_file": "cape.files._sample",
    "train_file": "cape.files._train",
}

# `cape info` and the checks of what a command writes need no scikit-learn.
__getattr__ = lazily("cape.files", _HOME)
