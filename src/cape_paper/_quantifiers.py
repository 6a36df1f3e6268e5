"""Quantifiers compared: ours, QuaPy's and mlquantify's, from the same scores.

Two kinds of batches: of a pure prior shift, drawn from earlier rows that no model was
trained on, and of a real one, drawn from later rows. A cell is a case and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.quantify import QUANTIFIERS, ScoreHistogram, round_scores
from cape_paper._cells import Results, judged, mean_records
from cape_paper._problem import Problem, Rows, draw_classes, run_cases, split, take

SIZES = (20, 100, 1000)
"""Rows of each group in a batch."""

PEERS = {
    "quapy": ("ACC", "PACC", "HDy", "DyS", "EMQ", "KDEyML"),
    "mlquantify": ("ACC", "SMM", "HDy", "DyS", "EMQ"),
}
"""Quantifiers of other libraries, with their default parameters."""

_TRAINING_ROWS = 5000
_SHARES = (0.05, 0.95)
_KEYS = ["case", "kind", "size", "method"]


def run_quantifiers(
    cases: Sequence[str] | None = None,
    *,
    seeds: int = 1,
    draws: int = 5,
    data_home: Any = None,
    **running: Any,
) -> Results:
    """Estimate the shares of batches by all quantifiers.

    Parameters
    ----------
    cases : sequence of str, default=None
        As in `run_shifts`.
    seeds : int, default=1
        Repetitions of training.
    draws : int, default=5
        Batches of each size and kind, for each case and seed.
    data_home : str or Path, default=None
        Folder of the data; see `cape.datasets.fetch_compas`.
    **running
        ``folder`` and ``n_jobs``, as in `compare_methods`.

    Returns
    -------
    dict
        As JSON can hold it: ``records``, mean errors by case, kind of shift, size,
        library and quantifier; ``skipped``; and the facts of the run.

    Examples
    --------
    >>> results = run_quantifiers(["compas"])  # doctest: +SKIP
    >>> results["records"][0]["method"]  # doctest: +SKIP
    'cape cc'
    """
    run = run_cases(_judge, cases, seeds, draws, data_home=data_home, **running)
    for library in PEERS:
        if find_spec(library) is None:
            run["skipped"].append(f"{library} was skipped: it is not installed.")
    return {
        **run,
        "experiment": "quantifiers",
        "title": "Quantifiers compared",
        "settings": {"seeds": seeds, "batches of each size": draws},
    }


def _judge(problem: Problem, seed: int, draws: int) -> Results:
    """Train a model on a part of the earlier rows, and judge all quantifiers."""
    from skrub import tabular_pipeline

    size = min(_TRAINING_ROWS, len(problem.train[1]) // 2)
    known, others = split(problem.train, seed, size)
    learner = tabular_pipeline(LogisticRegression(max_iter=1000))
    clf = CapeClassifier(learner, drift="ignore", random_state=seed)
    records = []
    X, y, z = known
    clf.fit(X, y, sensitive_features=z)
    methods = {group: _methods(clf.models_[group]) for group in problem.groups}
    random = np.random.default_rng(seed)
    kinds = {"pure": others, "real": problem.test}
    for kind, rows in kinds.items():
        for size, batch in _batches(rows, kind, draws, random):
            X, y, z = batch
            evidence = clf.evidence(X, sensitive_features=z)
            for group, estimators in methods.items():
                truth = float(np.mean(y[z == group]))
                scores = evidence.groups[group].scores
                for method, estimate in estimators.items():
                    key = {"kind": kind, "size": str(size), "method": method}
                    error = judged(estimate(scores), truth)["error"]
                    records.append({"case": problem.name, **key, "error": error})
    return {"records": mean_records(records, _KEYS)}


def _batches(
    rows: Rows, kind: str, draws: int, random: Any
) -> Iterator[tuple[int, Rows]]:
    """Yield batches: of a pure shift with any share of positives, or as they come."""
    _, y, z = rows
    for size in SIZES:
        for _ in range(draws):
            drawn = []
            for group in z.unique():
                of_group = np.flatnonzero(z == group)
                if kind == "real":
                    drawn.append(random.choice(of_group, size))
                    continue
                positives = round(size * random.uniform(*_SHARES))
                drawn.append(draw_classes(y, of_group, positives, size, random))
            yield size, take(rows, np.concatenate(drawn))


def _methods(model: Any) -> dict[str, Callable[[ScoreHistogram], float]]:
    """Return the fitted quantifiers of a group, each a function of a batch's scores."""
    methods: dict[str, Callable[[ScoreHistogram], float]] = {}
    for name, kind in QUANTIFIERS.items():
        quantifier = kind().fit(model.positives, model.negatives)
        methods[f"cape {name}"] = quantifier.estimate
    if find_spec("quapy"):
        for name in PEERS["quapy"]:
            methods[f"quapy {name}"] = fit_quapy(model, name)
    if find_spec("mlquantify"):
        from mlquantify import counting, likelihood, matching

        classes = [_columns(model.positives), _columns(model.negatives)]
        labels = np.repeat([1, 0], [len(scores) for scores in classes])
        for name in PEERS["mlquantify"]:
            for module in (counting, likelihood, matching):
                if hasattr(module, name):
                    method = getattr(module, name)(_GivenScores())
            method.fit(np.concatenate(classes), labels)
            methods[f"mlquantify {name}"] = partial(_of_mlquantify, method)
    return methods


def fit_quapy(
    model: Any, name: str, most: int | None = None
) -> Callable[[ScoreHistogram], float]:
    """Fit a quantifier of QuaPy, with its default parameters, to a group's scores.

    Parameters
    ----------
    model : GroupModel
        Has the histograms of the out-of-fold scores of both classes.
    name : str
        Its class.
    most : int, default=None
        Scores of a class, or of a batch, from which on it is given a part of them; None
        gives it all.

    Returns
    -------
    callable
        Estimates a share from the histogram of a batch's scores.
    """
    from quapy.method import aggregative

    quantifier = getattr(aggregative, name)()
    quantifier.classifier = _GivenScores()
    positives = _columns(model.positives, most)
    negatives = _columns(model.negatives, most)
    labels = np.repeat([1, 0], [len(positives), len(negatives)])
    # EMQ needs the training prevalence, which QuaPy sets when it fits a classifier.
    quantifier.train_prevalence = np.array([1 - labels.mean(), labels.mean()])
    scores = np.concatenate([positives, negatives])
    quantifier.aggregation_fit(_as_quapy(quantifier, scores), labels)
    return partial(_of_quapy, quantifier, most)


def _of_quapy(quantifier: Any, most: int | None, batch: ScoreHistogram) -> float:
    scores = _as_quapy(quantifier, _columns(batch, most))
    return float(quantifier.aggregate(scores)[1])


def _as_quapy(quantifier: Any, scores: np.ndarray) -> np.ndarray:
    """Return labels for quantifiers that count them, else both probabilities."""
    from quapy.method.aggregative import AggregativeCrispQuantifier

    if isinstance(quantifier, AggregativeCrispQuantifier):
        return (scores[:, 1] > 0.5).astype(int)
    return scores


def _of_mlquantify(peer: Any, batch: ScoreHistogram) -> float:
    shares = peer.predict(_columns(batch))
    return float(shares[1])


def _columns(histogram: ScoreHistogram, most: int | None = None) -> np.ndarray:
    """Return the probabilities of both classes of each score, as its cell's mean.

    A thousand cells and more tell scores to three digits.
    """
    counts = histogram.counts
    means = histogram.sums // np.maximum(counts, 1)
    scores = np.repeat(means, counts) / round_scores(1)
    if most is not None and len(scores) > most:
        evenly = (np.arange(most) + 0.5) * len(scores) / most
        scores = scores[evenly.astype(int)]
    return np.column_stack([1 - scores, scores])


class _GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose features are its scores."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict_proba(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return (X[:, 1] > 0.5).astype(int)
