"""How many rows, or labels, an interval of a given width takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from cape._groups import Group, unique_names
from cape._tables import Dialect
from cape.adaptation import AdaptationWarning
from cape.examination import examine, rows_needed
from cape.files._model import TableModel
from cape.files._notes import Notes
from cape.files._predict import gather_evidence

__all__ = ["rows_needed_of_file"]

_Lines = dict[Group, dict[Any, Any]]


def rows_needed_of_file(
    model: TableModel,
    path: str | Path | None,
    width: float,
    *,
    level: float = 0.95,
    prevalence: float | None = None,
    dialect: Dialect | None = None,
    notes: Notes | None = None,
    on_rows: Callable[[str, int], None] = lambda stage, rows: None,
) -> list[dict[str, Any]]:
    """Compute how many rows of each group give an interval no wider than ``width``.

    Parameters
    ----------
    model : TableModel
    path : str, Path or None
        A batch. What else than the prevalence has moved in it widens intervals, and the
        labels are counted that give an interval of that width. None expects no drift.
    width : float in (0, 1)
        Width of the interval of the prevalence, from its low end to its high end.
    level : float in (0, 1), default=0.95
        Confidence level of the interval.
    prevalence : float in [0, 1], default=None
        As in `cape.examination.rows_needed`.
    dialect : Dialect, default=None
        How a CSV is written; None is as that of training.
    notes : Notes, default=None
        Collects remarks.
    on_rows : callable, default=None
        Called with the stage, "reading", and the rows just done.

    Returns
    -------
    list of dict
        For each group its name, ``rows_needed`` (None if no number of rows is enough),
        ``narrowest``, the width that no number of rows goes below, and, of a batch,
        its ``rows``, ``labels_needed`` if they are drawn as `sample_file` does, and
        ``labels_needed_drawn_plainly``.

    Examples
    --------
    >>> from cape.files import rows_needed_of_file, train_file
    >>> train.frame.to_csv(folder / "train.csv", index=False)
    >>> model = train_file(
    ...     folder / "train.csv", None, label="y", group=["z"], learner="logistic"
    ... )
    >>> needs = rows_needed_of_file(model, None, 0.2)
    >>> [need["group"] for need in needs]
    ['0', '1']
    >>> [20 < need["rows_needed"] < 200 for need in needs]
    [True, True]
    """
    if path is None:
        rows = rows_needed(model.clf, width, level=level, prevalence=prevalence)
        return _lines(list(model.clf.groups_), _by_group(model.clf.groups_, rows), {})
    notes = Notes() if notes is None else notes
    with notes.listening():
        evidence, _ = gather_evidence(
            model,
            path,
            dialect=dialect,
            notes=notes,
            on_rows=lambda rows: on_rows("reading", rows),
        )
    with warnings.catch_warnings():
        # What it would warn of is what is being computed.
        warnings.simplefilter("ignore", AdaptationWarning)
        seen = examine(model.clf, evidence=evidence, level=level)
    labels = seen.labels_needed(width)
    rows = seen.rows_needed(width, prevalence=prevalence)
    return _lines(
        list(evidence.groups),
        _by_group(model.clf.groups_, rows),
        _by_group(evidence.groups, labels),
    )


def _by_group(groups: Iterable[Group], table: pd.DataFrame) -> _Lines:
    """Return the lines of a table that has one for each group, in their order."""
    return dict(zip(groups, table.to_dict("records"), strict=True))


def _lines(groups: list[Group], rows: _Lines, labels: _Lines) -> list[dict[str, Any]]:
    """Put together what each group needs."""
    names = unique_names(groups)
    needs = []
    for group in groups:
        # A group that training did not have has no line, and nothing to plan with.
        found = rows.get(group, {"rows": math.inf, "narrowest": 1.0})
        enough = math.isfinite(found["rows"])
        need = {
            "group": names[group],
            # JSON has no infinity.
            "rows_needed": int(found["rows"]) if enough else None,
            "narrowest": found["narrowest"],
        }
        if group in labels:
            need["rows"] = labels[group]["rows"]
            need["labels_needed"] = labels[group]["labels"]
            need["labels_needed_drawn_plainly"] = labels[group]["plain"]
        needs.append(need)
    return needs
