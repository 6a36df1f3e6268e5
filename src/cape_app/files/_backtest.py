"""A backtest of files: a history in one table, or a file for each period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cape.base._errors import ParameterError
from cape.base._io import check_apart, check_free
from cape.examination import Backtest, backtest
from cape.examination._backtest import in_order
from cape_app.files._model import TableModel
from cape_app.files._scan import single_thread_if_small
from cape_app.files._train import prepare
from cape_app.tables import Source, source_files
from cape_app.tables._open import FILE

RECORD = ("transitions", "first", "last", "cells", "held", "off", "last_off")
"""What a model knows of its own past, of the summary of a backtest."""


def backtest_file(
    paths: Sequence[Source],
    out: str | Path | None = None,
    *,
    time: str | None = None,
    freq: str | None = None,
    train: str | int = "last",
    horizon: int = 1,
    labels: int | None = None,
    start: str | None = None,
    jobs: int = 1,
    overwrite: bool = False,
    key: bytes | Path | None = None,
    on_transition: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> tuple[Backtest, TableModel]:
    """Backtest CAPE on a table, and train a model that knows its past.

    Parameters
    ----------
    paths : sequence of str or Path
        One table with a column of periods; or several, each a period, in order.
    out : str or Path, optional
        Where to save the model; None does not save it.
    time : str, optional
        Column with the period of each row, of one table.
    freq, train, horizon, labels, on_transition
        See `cape.backtest`.
    start : str, optional
        The first period that is used.
    jobs : int, default=1
        Transitions to fit at the same time.
    overwrite, key, **reading
        See `cape_app.files.train_file`.

    Returns
    -------
    result : Backtest
    model : TableModel
        Fitted on the newest periods.

    Examples
    --------
    >>> years = np.repeat([2021, 2022, 2023], [600, 700, 700])
    >>> train.frame.assign(year=years).to_csv(folder / "history.csv", index=False)
    >>> result, model = backtest_file(
    ...     [folder / "history.csv"],
    ...     label="y",
    ...     group=["z"],
    ...     time="year",
    ...     learner="logistic",
    ... )
    >>> result.summary["transitions"], model.details["past"]["last"]
    (2, 2023)
    """
    if out is not None:
        check_free(out, overwrite=overwrite)
        check_apart([out], [file for path in paths for file in source_files(path)])
    if isinstance(key, Path):
        key = key.read_bytes()
    several = len(paths) > 1
    if several == (time is not None):
        problem = "must name the column of the periods of one table"
        raise ParameterError("time", f"{problem}; several tables are a period each.")
    source: Any = list(paths) if several else paths[0]
    prepared = prepare(source, time=FILE if several else time, **reading)
    period: Any = prepared.period
    if several:
        # In the order in which the files were named.
        period = pd.Categorical(period, categories=period.unique(), ordered=True)
    codes, periods = in_order(period, freq)
    if start is not None:
        labels_of = [str(name) for name in periods]
        if start not in labels_of:
            raise ParameterError(
                "start", f"must be one of {', '.join(labels_of)}, got {start!r}."
            )
        rows = codes >= labels_of.index(start)
        prepared = prepared.of_rows(np.flatnonzero(rows))
        period = period[rows]
    notes = prepared.scan.notes
    with notes.listening(), single_thread_if_small(len(prepared.X)):
        result = backtest(
            prepared.clf,
            prepared.X,
            prepared.y,
            period=period,
            sample_weight=prepared.weights,
            freq=freq,
            train=train,
            horizon=horizon,
            labels=labels,
            n_jobs=jobs,
            on_transition=on_transition,
        )
    summary = result.summary
    record = {name: summary[name] for name in RECORD}
    prepared.clf.past = result.past
    prepared = prepared.of_rows(result.newest)
    return result, prepared.fit(out, overwrite=overwrite, key=key, past=record)
