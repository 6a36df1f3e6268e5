"""PD and PE of a stream against the size of its window, and the time of a row.

The window goes from one row (CAPE-1) to the whole set.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from clock import compare
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import fetch_compas, make_synthetic
from cape.metrics import prevalence_difference, proportional_equality
from cape.stream import RollingCape

WINDOW_SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000)
WHOLE_BATCH = "batch (CAPE-D)"


class Labelled(NamedTuple):
    """Features, labels and groups of some rows."""

    X: np.ndarray
    y: np.ndarray
    z: np.ndarray


def synthetic(seed, rows):
    """Draw training rows and a stream in which the prevalences have moved."""
    train = make_synthetic(4000, random_state=seed)
    new = make_synthetic(rows, prevalences=(0.2, 0.8), random_state=1000 + seed)
    return in_order(train, slice(None)), in_order(new, slice(None))


def compas(seed, rows):
    """Return COMPAS, 2013 to 2014, in random order, whatever ``rows`` is."""
    bunches = [fetch_compas(subset=subset) for subset in ("train", "test")]
    parts = []
    for bunch in bunches:
        order = np.random.RandomState(seed).permutation(len(bunch.target))
        parts.append(in_order(bunch, order))
    return parts


def in_order(bunch, order):
    """Return the rows of a data set in an order, as arrays."""
    return Labelled(
        bunch.data.iloc[order].to_numpy(dtype=float),
        np.asarray(bunch.target)[order],
        np.asarray(bunch.sensitive_features)[order],
    )


def stream_records(*, rows, rounds):
    """Return microseconds a row.

    The competitors are one plain ``predict_proba`` of each row; a stream fed row by
    row; and a stream fed all rows at once.
    """
    train, new = synthetic(0, rows)
    learner = LogisticRegression().fit(train.X, train.y)

    def plain():
        for i in range(rows):
            learner.predict_proba(new.X[i : i + 1])

    competitors = {"plain predict_proba, row by row": plain}
    for pool in ("threshold", "resampled"):
        clf = CapeClassifier(LogisticRegression(), pool=pool, random_state=0, cv=5)
        clf.fit(train.X, train.y, sensitive_features=train.z)
        competitors[f"{pool}, row by row"] = feeding(clf, new, rows_at_once=1)
        competitors[f"{pool}, in one lot"] = feeding(clf, new, rows_at_once=rows)
    records = []
    for timed in compare(competitors, rounds=rounds):
        record = {
            "part": "stream, window of 1000",
            "what": timed["what"],
            "rows": rows,
            "microseconds_a_row": timed["seconds"] / rows * 1e6,
            "ratio": timed["ratio"],
            "rounds": rounds,
        }
        records.append(record)
    return records


def feeding(clf, new, rows_at_once):
    """Return a function without arguments that feeds rows to a new stream."""

    def run():
        rolling = RollingCape(clf, 1000)
        for start in range(0, len(new.X), rows_at_once):
            rows = slice(start, start + rows_at_once)
            rolling.predict(new.X[rows], sensitive_features=new.z[rows])

    return run


def disparity(new, y_pred):
    """Return PD (mean of the groups) and PE (worst pair) of predictions of a stream."""
    differences = []
    for group in np.unique(new.z):
        rows = new.z == group
        differences.append(prevalence_difference(new.y[rows], y_pred[rows]))
    pe = proportional_equality(new.y, y_pred, sensitive_features=new.z)
    return float(np.mean(differences)), float(pe)


def disparities(train, new, seed):
    """Return the disparity of each window, and of the whole batch at once."""
    clf = CapeClassifier(LogisticRegression(max_iter=1000), random_state=seed, cv=5)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    by_window = {}
    sizes = [size for size in WINDOW_SIZES if size < len(new.X)]
    for size in [*sizes, len(new.X)]:
        y_pred = RollingCape(clf, size).predict(new.X, sensitive_features=new.z)
        by_window[size] = disparity(new, y_pred)
    whole = clf.predict(new.X, sensitive_features=new.z)
    by_window[WHOLE_BATCH] = disparity(new, whole)
    return by_window


def windows(name, make, *, rows, seeds):
    """Return the mean and the standard deviation of PD and PE for each window.

    Parameters
    ----------
    name : str
        Of the data.
    make : callable
        Takes a seed and a number of rows; returns the training rows and the stream.
    rows : int
        Rows of the stream.
    seeds : int
        How often.

    Returns
    -------
    list of dict
    """
    by_window = {}
    for seed in range(seeds):
        train, new = make(seed, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for window, values in disparities(train, new, seed).items():
                by_window.setdefault(window, []).append(values)
    records = []
    for window, values in by_window.items():
        pd, pe = zip(*values, strict=True)
        record = {
            "part": "window",
            "data": name,
            "window": window,
            "pd": float(np.mean(pd)),
            "pd_sd": float(np.std(pd)),
            "pe": float(np.nanmean(pe)),
            "pe_sd": float(np.nanstd(pe)),
            "seeds": seeds,
        }
        records.append(record)
    return records
