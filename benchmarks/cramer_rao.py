"""Compare errors of quantifiers with the least that any estimator can have.

The bound. N1 positives and N0 negatives in training have the densities f1 and f0, which
are not known; n rows of a batch have the prevalence rho. To first order an estimator of
rho that is regular is a mean of some function h of the features over the batch, less
its expectation by training, divided by its gap:

    (mean_batch(h) - mean_0(h)) / (mean_1(h) - mean_0(h)).

(For any influence function on the rows of the batch, orthogonality to the scores of f1
and f0 leaves one choice on the training rows: minus rho h over the positives and minus
(1 - rho) h over the negatives, both centred.) If exactly rho n rows are positive, its
variance is

    (w1 Var1(h) + w0 Var0(h)) / (E1(h) - E0(h))^2,
    w1 = rho / n + rho^2 / N1,    w0 = (1 - rho) / n + (1 - rho)^2 / N0.

It is least for h = (f1 - f0) / (w1 f1 + w0 f0). With D the integral of
(f1 - f0)^2 / (w1 f1 + w0 f0) its means are E1(h) = D w0 / (w0 + w1) and
E0(h) = -D w1 / (w0 + w1), and the bound is

    1 / D - w0 w1 / (w0 + w1).

Without training noise this is (1 / I - rho (1 - rho)) / n with I the Fisher information
of a row: Cramer and Rao's bound for rho less the binomial variance of the labels, since
the target is the realised prevalence. The densities are those of the paper's generator.
A quantifier sees scores alone, so the bound holds for any learner: "quadratic" has the
generator's form, "logistic" lacks the squares and loses 8 to 10 %. From the root:

    python benchmarks/cramer_rao.py --trainings 40
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections import defaultdict

import numpy as np
from coverage import LEARNERS, MEAN, SD, draw_rows, score_by_models, train
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cape.histogram import ScoreHistogram
from cape.quantify import make_quantifier

TRAINING_ROWS = (2000, 20_000)
BATCH_ROWS = (100, 1000, 10_000)
PREVALENCES = (0.1, 0.3, 0.5)
# Small batches are cheap and scatter more.
BATCHES = {100: 18, 1000: 6, 10_000: 3}
LEARNER = {
    **LEARNERS,
    "quadratic": make_pipeline(
        StandardScaler(), PolynomialFeatures(2), LogisticRegression()
    ),
}


def density(X, label):
    """Return the density of the generator's features, up to a common factor."""
    z = (X - np.array(MEAN[label])) / np.array(SD[label])
    return np.exp(-0.5 * (z**2).sum(axis=1)) / np.prod(SD[label])


class Bound:
    """The bound of the generator, its integral taken over rows of both classes."""

    def __init__(self, n_rows=400_000, seed=0):
        random = np.random.default_rng(seed)
        X = draw_rows(random, n_rows // 2, n_rows // 2)
        f1 = density(X, 1)
        f0 = density(X, 0)
        # Rows come from (f1 + f0) / 2, by which the integrand is divided.
        sampled = (f1 + f0) / 2
        self.f1 = f1 / sampled
        self.f0 = f0 / sampled

    def standard_error(self, rho, n, n_positives, n_negatives):
        """Return the least root mean squared error for the realised prevalence."""
        w1 = rho / n + rho**2 / n_positives
        w0 = (1 - rho) / n + (1 - rho) ** 2 / n_negatives
        integrand = (self.f1 - self.f0) ** 2 / (w1 * self.f1 + w0 * self.f0)
        return float(np.sqrt(1 / integrand.mean() - w0 * w1 / (w0 + w1)))


def errors_of_training(seed, rows, options):
    """Yield (name, batch rows, prevalence) and the error, after one training."""
    random = np.random.default_rng([seed, rows])
    training = train(random, rows, LEARNER[options.learner], options.scores)
    quantifiers = {}
    for name in options.quantifiers:
        quantifier = make_quantifier(name)
        quantifiers[name] = quantifier.fit(training.positives, training.negatives)
    for n in BATCH_ROWS:
        for rho in PREVALENCES:
            n_positive = round(rho * n)
            for _ in range(BATCHES[n]):
                X = draw_rows(random, n_positive, n - n_positive)
                batch = ScoreHistogram.of(
                    score_by_models(training.models, X),
                    training.positives.edges,
                    unit=len(training.models),
                )
                for name, quantifier in quantifiers.items():
                    yield (name, n, rho), quantifier.estimate(batch) - rho


def ratio_and_error(relative):
    """Return the root mean square of errors over the bound, and its standard error.

    The errors after one training share its noise, so the standard error is that of a
    mean over trainings, by the delta method.
    """
    squares = np.mean(np.square(relative), axis=1)
    ratio = np.sqrt(squares.mean())
    standard_error = squares.std(ddof=1) / np.sqrt(len(squares))
    return ratio, standard_error / (2 * ratio)


def simulate(rows, bound, options):
    """Print the errors over the bound for one number of training rows."""
    relative = defaultdict(list)
    for seed in range(options.trainings):
        of_training = defaultdict(list)
        for cell, error in errors_of_training(seed, rows, options):
            _, n, rho = cell
            least = bound.standard_error(rho, n, rows // 2, rows - rows // 2)
            of_training[cell].append(error / least)
        for cell, errors in of_training.items():
            relative[cell].append(errors)
    print(f"\n{rows} training rows, {options.learner}, {options.trainings} trainings")
    columns = [*(f"rho = {rho}" for rho in PREVALENCES), "all"]
    print(f"{'':10}{'n':>7}" + "".join(f"{column:>16}" for column in columns))
    for name in options.quantifiers:
        for n in BATCH_ROWS:
            cells = [relative[name, n, rho] for rho in PREVALENCES]
            cells.append(np.concatenate(cells, axis=1))
            line = ""
            for cell in cells:
                ratio, standard_error = ratio_and_error(np.array(cell))
                line += f"{ratio:9.3f} ({standard_error:.3f})"
            print(f"{name:10}{n:7}{line}", flush=True)


def main():
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trainings", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="*", default=TRAINING_ROWS)
    parser.add_argument("--learner", default="logistic", choices=LEARNER)
    parser.add_argument("--scores", default="refit", choices=("refit", "folds"))
    names = ["histogram", "onestep", "emq"]
    parser.add_argument("--quantifiers", nargs="*", default=names)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    bound = Bound()
    for rows in options.rows:
        simulate(rows, bound, options)


if __name__ == "__main__":
    main()
