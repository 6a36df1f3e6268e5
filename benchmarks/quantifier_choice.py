"""Compare the candidates for the default quantifier with each other and with QuaPy.

Four data sets (COMPAS, MEPS, bank telemarketing, the paper's generator) and two
learners. Training rows are drawn anew several times; their out-of-fold scores are what
quantifiers are fitted on. Batches of 50 to 1,000 rows are drawn from the remaining
rows, with a prevalence that is uniform on [0, 1]: the shift is one of the prior alone.
Every quantifier is given the same scores of the same batches, so that differences are
paired. From the root, with CAPE_DATA set to a folder that has the three data sets:

    python benchmarks/quantifier_choice.py                        # 2,048 batches
    python benchmarks/quantifier_choice.py --training-rows 300 --no-peers
    python benchmarks/quantifier_choice.py --training-rows 300 --no-peers \\
        --batch-rows 300 --data meps compas                       # a small group
"""

from __future__ import annotations

import os

# One thread a process: on a busy machine more of them wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from coverage import LEARNERS
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cape.datasets import fetch_compas, make_synthetic
from cape.histogram import ONE, ScoreHistogram, edges_for, round_scores
from cape.quantify import make_quantifier
from cape_paper import meps_problem

CANDIDATES = ("histogram", "onestep", "emq", "spa")
BATCH_ROWS = (50, 100, 300, 1000)
LEARNER = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "boosting": LEARNERS["boosting"],
}
UNKNOWN_BEFORE_THE_CALL = ["contact", "day", "month", "duration", "y"]


class Setting(NamedTuple):
    """A data set, a learner and the number of the training draw."""

    data: str
    learner: str
    draw: int


class Scores(NamedTuple):
    """Out-of-fold scores of the classes, and all models' scores of the other rows."""

    positives: ScoreHistogram
    negatives: ScoreHistogram
    rest: np.ndarray
    labels: np.ndarray


class Result(NamedTuple):
    """The estimate of one quantifier for one batch, and its interval if it has one."""

    error: float
    low: float
    high: float
    holds: bool


def read_bank():
    """Read the calls of the bank, without what is known only after a call."""
    import pandas as pd

    folder = Path(os.environ["CAPE_DATA"])
    table = pd.read_csv(folder / "bank" / "bank-full.csv.gz")
    features = pd.get_dummies(table.drop(columns=UNKNOWN_BEFORE_THE_CALL))
    return features.to_numpy(float), (table["y"] == "yes").to_numpy(int)


def read_data(name):
    """Return features and labels of a data set."""
    if name == "bank":
        return read_bank()
    if name == "synthetic":
        bunch = make_synthetic(20_000, random_state=0)
    elif name == "compas":
        bunch = fetch_compas()
    else:
        problem = meps_problem()
        X = np.vstack([problem.train[0], problem.test[0]])
        return X.astype(float), np.concatenate([problem.train[1], problem.test[1]])
    return bunch.data.to_numpy(float), bunch.target.to_numpy(int)


def score_rows(X, y, learner, n_training, n_folds, random):
    """Draw training rows, score them out of fold and the other rows by all models."""
    order = random.permutation(len(y))
    training, rest = order[:n_training], order[n_training:]
    seed = int(random.integers(1 << 30))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    out_of_fold = np.empty(n_training, dtype=np.int64)
    rest_scores = []
    for fit_on, test in splitter.split(X[training], y[training]):
        model = clone(learner)
        model.fit(X[training[fit_on]], y[training[fit_on]])
        tested = model.predict_proba(X[training[test]])[:, 1]
        out_of_fold[test] = round_scores(tested)
        rest_scores.append(round_scores(model.predict_proba(X[rest])[:, 1]))
    positives = out_of_fold[y[training] == 1]
    negatives = out_of_fold[y[training] == 0]
    edges = edges_for(positives, negatives)
    return Scores(
        ScoreHistogram.of(positives, edges, keep_rows=True),
        ScoreHistogram.of(negatives, edges, keep_rows=True),
        np.stack(rest_scores),
        y[rest],
    )


def make_peers(scores):
    """Return QuaPy's quantifiers by name."""
    import quapy.method.aggregative as quapy

    distinct = np.unique(scores.rest) / ONE

    class RememberingKDEy(quapy.KDEyML):
        """KDEy-ML that takes the density of each row of the pool once, not per batch.

        The densities are QuaPy's. They take a second for 1,000 rows, and a row is in
        many batches.
        """

        def pdf(self, kde, X, kernel, log_densities=False):
            if not hasattr(self, "densities"):
                self.densities = {}
            if id(kde) not in self.densities:
                pool = np.column_stack([1 - distinct, distinct])
                self.densities[id(kde)] = super().pdf(kde, pool, kernel)
            return self.densities[id(kde)][np.searchsorted(distinct, X[:, 1])]

    learner = LogisticRegression()
    return {
        "QuaPy EMQ": quapy.EMQ(learner),
        "QuaPy EMQ-BCTS": quapy.EMQ.EMQ_BCTS(learner, on_calib_error="backup"),
        "QuaPy KDEy-ML": RememberingKDEy(learner, bandwidth=0.05),
        "QuaPy PACC": quapy.PACC(learner, solver="exact-raise"),
        "QuaPy DMy": quapy.DMy(learner),
    }


def draw_batch(labels, n, random):
    """Draw rows with a uniform prevalence; return them and the realised prevalence."""
    positives = np.flatnonzero(labels == 1)
    negatives = np.flatnonzero(labels == 0)
    n_positive = round(n * random.uniform())
    n_positive = min(n_positive, len(positives))
    rows = np.concatenate(
        [
            random.choice(positives, n_positive, replace=False),
            random.choice(negatives, n - n_positive, replace=False),
        ]
    )
    return rows, n_positive / n


def try_quantifier(quantifier, batch, truth, with_interval):
    """Return the error of a quantifier and whether its interval is right."""
    estimate = quantifier.estimate(batch)
    low, high = np.nan, np.nan
    if with_interval:
        low, high = quantifier.interval(batch)
    holds = low - 1e-9 <= truth <= high + 1e-9
    return Result(abs(estimate - truth), low, high, holds)


def run_setting(setting, data, options):
    """Return results by name and batch size after one training draw."""
    X, y = data
    names = [setting.data, setting.learner]
    code = [sum(name.encode()) for name in names]
    random = np.random.default_rng([*code, setting.draw, options.training_rows])
    scores = score_rows(
        X, y, LEARNER[setting.learner], options.training_rows, options.folds, random
    )
    quantifiers: dict[str, Any] = dict.fromkeys(options.candidates)
    for name in options.candidates:
        quantifiers[name] = make_quantifier(name)
    if options.peers:
        for name, peer in make_peers(scores).items():
            quantifiers[name] = make_quantifier(peer)
    for quantifier in quantifiers.values():
        quantifier.fit(scores.positives, scores.negatives)
    results = defaultdict(list)
    for n in options.batch_rows:
        for _ in range(options.batches):
            rows, truth = draw_batch(scores.labels, n, random)
            batch = ScoreHistogram.of(
                scores.rest[:, rows],
                scores.positives.edges,
                unit=len(scores.rest),
                keep_rows=True,
            )
            for name, quantifier in quantifiers.items():
                ours = name in options.candidates
                result = try_quantifier(quantifier, batch, truth, ours)
                results[name, n].append(result)
    auc = roc_auc_score(scores.labels, scores.rest.mean(axis=0))
    print(f"{' '.join(map(str, setting))}: AUC {auc:.3f}", flush=True)
    return results


def errors_of(results, name):
    """Return the errors of a quantifier in all batches of a setting, times 100."""
    errors = []
    for (other, _), outcomes in results.items():
        if other == name:
            errors += [100 * outcome.error for outcome in outcomes]
    return np.array(errors)


def paired_difference(results, name, other):
    """Return the mean difference of two errors and its standard error.

    Batches after the same training draw share its noise: what varies independently is
    the mean over the batches of a draw, around the mean of its data set and learner.
    Batches for which a quantifier has no answer (QuaPy's BCTS at times) are left out.
    """
    means = defaultdict(list)
    for setting, by_name in results.items():
        differences = errors_of(by_name, name) - errors_of(by_name, other)
        means[setting.data, setting.learner].append(np.nanmean(differences))
    table = np.array(list(means.values()))
    variances = table.var(axis=1, ddof=1) / table.shape[1]
    standard_error = np.sqrt(variances.sum()) / len(table)
    return table.mean(), standard_error


def print_errors(results, options):
    """Print the mean absolute errors, and how the candidates differ from the rest."""
    names = list(dict.fromkeys(name for name, _ in next(iter(results.values()))))
    print("\nMAE x 100, and by how much a candidate differs (paired, standard error)")
    header = "".join(f"{name + ' minus it':>19}" for name in options.candidates[:2])
    print(f"{'':16}{'all':>7}{header}")
    for name in names:
        errors = [errors_of(by_name, name) for by_name in results.values()]
        line = f"{name:16}{np.nanmean(np.concatenate(errors)):7.2f}"
        for candidate in options.candidates[:2]:
            difference, error = paired_difference(results, candidate, name)
            line += f"{difference:12.2f} ({error:.2f})"
        print(line)
    print("\nMAE x 100 by data set, learner and batch size")
    columns = sorted({setting[:2] for setting in results})
    heads = [f"{data[:4]} {learner[:5]}" for data, learner in columns]
    heads += [str(n) for n in options.batch_rows]
    print(f"{'':16}" + "".join(f"{head:>11}" for head in heads))
    for name in names:
        cells = []
        for column in columns:
            chosen = [results[s] for s in results if s[:2] == column]
            cells.append(np.nanmean([errors_of(r, name) for r in chosen]))
        for n in options.batch_rows:
            errors = [o.error for r in results.values() for o in r[name, n]]
            cells.append(100 * np.nanmean(errors))
        print(f"{name:16}" + "".join(f"{cell:11.2f}" for cell in cells))


def print_intervals(results, options):
    """Print coverage and width of the 95 % intervals of the candidates."""
    print("\ncoverage / width of 95 % intervals")
    for name in options.candidates:
        cells = []
        for column in sorted({setting[:2] for setting in results}):
            outcomes = []
            for setting in results:
                if setting[:2] == column:
                    for n in options.batch_rows:
                        outcomes += results[setting][name, n]
            held = np.mean([outcome.holds for outcome in outcomes])
            width = np.mean([outcome.high - outcome.low for outcome in outcomes])
            cells.append((held, width))
        overall = np.mean(cells, axis=0)
        line = "".join(f"  {held:.3f}/{width:.3f}" for held, width in [*cells, overall])
        print(f"{name:12}{line}")


def parse_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = ("compas", "meps", "bank", "synthetic")
    parser.add_argument("--data", nargs="*", default=data, choices=data)
    parser.add_argument("--learners", nargs="*", default=list(LEARNER))
    parser.add_argument("--candidates", nargs="*", default=list(CANDIDATES))
    parser.add_argument("--training-rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--batch-rows", type=int, nargs="*", default=BATCH_ROWS)
    parser.add_argument("--draws", type=int, default=4, help="training draws")
    parser.add_argument("--batches", type=int, default=16, help="per draw and size")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    return parser.parse_args()


def main():
    """Run all settings and print the tables."""
    options = parse_arguments()
    warnings.simplefilter("ignore")
    results = {}
    for name in options.data:
        data = read_data(name)
        for learner, draw in product(options.learners, range(options.draws)):
            setting = Setting(name, learner, draw)
            results[setting] = run_setting(setting, data, options)
    print_errors(results, options)
    print_intervals(results, options)


if __name__ == "__main__":
    main()
