"""Small groups: what they gain by borrowing, on forty groups of a health survey.

The groups are those of sex, education and age of BRFSS. Each is given few training rows
of 2019; what is judged are batches of 2020, and of a pure prior shift within 2019. A
cell is a way to treat small groups, a number of training rows and a seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.base import clone

from cape import CapeClassifier
from cape_paper._cells import Cell, Results, judged, mean_records, run_cells
from cape_paper._problem import Rows, data_folder, draw_classes, read_table, take

WAYS = {
    "borrow": CapeClassifier(),
    # A group that has one class only cannot stand alone, and is pooled.
    "separate": CapeClassifier(small_groups="pooled", min_group_size=2),
    # One group in training, with the groups among the features. Then all groups are
    # unknown, whose columns differ from those of all together: drift is ignored.
    "pooled": CapeClassifier(unknown_groups="pooled", drift="ignore"),
}
"""Ways to treat small groups; the first is the default."""

TRAINING_ROWS = (20, 50, 300)
"""Training rows of each group."""

SIZES = (30, 100, 300)
"""Rows of each group in a batch."""

_AGES = (3, 6, 9, 11)
"""Last categories of age of the first four of five bands."""


def run_small_groups(
    *, seeds: int = 3, data_home: Any = None, **running: Any
) -> Results:
    """Estimate the shares of forty groups with few training rows.

    Parameters
    ----------
    seeds : int, default=3
        Repetitions; each draws its own training rows and batches.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    **running
        ``folder`` and ``n_jobs``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``records``, mean errors and intervals by seed, training
        rows, kind of shift, size of the batch and method; and the facts of the run.

    Raises
    ------
    OSError
        If the files of BRFSS are not in the folder of data.

    Examples
    --------
    >>> results = run_small_groups(seeds=1)  # doctest: +SKIP
    >>> results["records"][0]["times"]  # doctest: +SKIP
    40
    """
    earlier, later = _read_rows(data_home)
    cells = []
    for rows in TRAINING_ROWS:
        for way in WAYS:
            for seed in range(seeds):
                arguments = (earlier, later, way, rows, seed)
                cells.append(Cell(f"{way} {rows} {seed}", _judge, arguments))
    return {
        **run_cells(cells, **running),
        "experiment": "small-groups",
        "title": "Small groups",
        "settings": {"seeds": seeds, "groups": len(earlier[2].drop_duplicates())},
    }


def _read_rows(data_home: Any) -> list[Rows]:
    """Read 2019 and 2020, without the few whose education or age is not known."""
    folder = data_folder(data_home)
    tables = []
    for year in (2019, 2020):
        table = read_table(f"brfss/brfss_{year}_sample.csv.gz", folder)
        table = table.query("EDUCATION_LEVEL <= 4 and AGE_CATEGORIES <= 13")
        table = table.reset_index(drop=True)
        ages = np.searchsorted(_AGES, table["AGE_CATEGORIES"])
        groups = table[["SEX", "EDUCATION_LEVEL"]].assign(age=ages).astype(int)
        X = table.drop(columns=["SEX", "EDUCATION_LEVEL", "POOR_HEALTH"])
        tables.append((X, table["POOR_HEALTH"].to_numpy(), groups))
    return tables


def _judge(earlier: Rows, later: Rows, way: str, rows: int, seed: int) -> Results:
    """Train with few rows of each group, and judge estimates of several batches."""
    random = np.random.default_rng(seed)
    known = []
    others = []
    for members in _rows_of_groups(earlier):
        # Half of a group is left to draw batches from.
        of_group = random.permutation(members)
        half = len(of_group) // 2
        known.append(of_group[: min(rows, half)])
        others.append(of_group[half:])
    records = []
    X, y, z = take(earlier, np.concatenate(known))
    clf = clone(WAYS[way]).set_params(random_state=seed)
    if way == "pooled":
        one = pd.DataFrame(-1, index=z.index, columns=z.columns)
        clf.fit(X.join(z), y, sensitive_features=one)
    else:
        clf.fit(X, y, sensitive_features=z)
    pool = take(earlier, np.concatenate(others))
    for key, batch in _batches(pool, later, random):
        for record in _judge_batch(clf, way, batch):
            records.append({"seed": seed, "rows": rows, **key, **record})
    keys = ["seed", "rows", "kind", "size", "method"]
    return {"records": mean_records(records, keys)}


def _judge_batch(clf: CapeClassifier, way: str, batch: Rows) -> Iterator[Results]:
    """Judge the estimates of all groups of a batch."""
    X, y, z = batch
    if way == "pooled":
        X = X.join(z)
    adaptation = clf.adapt(X, sensitive_features=z)
    truths = pd.Series(y).groupby(list(z.to_numpy().T)).mean()
    for group, adapted in adaptation.groups.items():
        estimates: dict[str, Any] = {way: adapted.estimate}
        if way == "borrow":
            estimates["mean score"] = adapted.mean_score
            estimates["last year's share"] = adapted.training_prevalence
        for method, estimate in estimates.items():
            yield {"method": method, **judged(estimate, truths[group])}


def _batches(pool: Rows, later: Rows, random: Any) -> Iterator[tuple[Results, Rows]]:
    """Yield batches: of the year 2020, and two kinds of prior shift within 2019."""
    of_later = _rows_of_groups(later)
    of_pool = _rows_of_groups(pool)
    for size in SIZES:
        drawn = [random.choice(rows, size) for rows in of_later]
        key = {"size": str(size)}
        yield {**key, "kind": "real"}, take(later, np.concatenate(drawn))
        for kind in ("alike", "apart"):
            drawn = list(_shifted(pool[1], of_pool, size, kind, random))
            yield {**key, "kind": kind}, take(pool, np.concatenate(drawn))


def _shifted(
    y: np.ndarray, groups: list[np.ndarray], size: int, kind: str, random: Any
) -> Iterator[np.ndarray]:
    """Draw rows of each group at another share of positives.

    Groups move alike on the logit scale, but for a little, or each its own way.
    """
    common = random.normal(0, 0.7)
    for rows in groups:
        move = common + random.normal(0, 0.3)
        if kind == "apart":
            move = random.normal(0, 1)
        positives = random.binomial(size, expit(logit(y[rows].mean()) + move))
        yield draw_classes(y, rows, positives, size, random)


def _rows_of_groups(table: Rows) -> list[np.ndarray]:
    """List the rows of each group."""
    indices = table[2].groupby(list(table[2])).indices
    return [np.asarray(rows) for rows in indices.values()]
