"""From files to files: train on one, predict another, in parts of bounded memory."""

from cape.files._audit import count_file
from cape.files._columns import Columns, plain_text
from cape.files._learner import LEARNERS, make_learner
from cape.files._model import TableModel, file_hash, load_model
from cape.files._monitor import MonitoredBatch, monitor_files
from cape.files._notes import Notes
from cape.files._predict import Prediction, gather_evidence, here, predict_file
from cape.files._train import train_file

__all__ = [
    "LEARNERS",
    "Columns",
    "MonitoredBatch",
    "Notes",
    "Prediction",
    "TableModel",
    "count_file",
    "file_hash",
    "gather_evidence",
    "here",
    "load_model",
    "make_learner",
    "monitor_files",
    "plain_text",
    "predict_file",
    "train_file",
]
