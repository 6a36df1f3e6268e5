"""From files to files: train on a table, predict and audit others.

Files are read in parts, so that none has to fit into memory.
"""

from cape.base._packages import lazily

_MODULES = {
    "TableModel": "cape_app.files._model",
    "backtest_file": "cape_app.files._backtest",
    "check_file": "cape_app.files._check",
    "count_file": "cape_app.files._audit",
    "load_model": "cape_app.files._model",
    "predict_file": "cape_app.files._batch",
    "sample_file": "cape_app.files._sample",
    "save_model": "cape_app.files._model",
    "train_file": "cape_app.files._train",
}

__all__ = list(_MODULES)

# `cape info` and the checks of what a command writes need no scikit-learn.
__getattr__ = lazily("cape_app.files", _MODULES)
