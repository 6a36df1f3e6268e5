"""Each rule against threshold optimizers with the same constraint, under prior shift.

CAPE and the threshold optimizers of Fairlearn, error-parity and OxonFair have the same
learner and the same training rows. Batches have other prevalences. The pairs are those
of the paper's generator; COMPAS is the year 2013 in two halves, one to train on and one
to draw batches from, with replacement. The oracle has the scores of the batch and its
labels, and chooses as the rule does.

    python benchmarks/rules.py --data pairs --trainings 2
    python benchmarks/rules.py --data compas --trainings 20
    python benchmarks/rules.py --write docs/what_to_aim_at.md
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np
from expected import make_learner
from sklearn.model_selection import cross_val_predict, train_test_split
from study import markdown_table, read_options, replace_block, store, stored
from threshold_peers import installed_peers

from cape import CapeClassifier, Estimate, metrics
from cape._group_model import MemberRates
from cape.datasets import fetch_compas, make_synthetic
from cape.rules import GroupSituation
from cape.rules._bounded import make_rule
from cape_paper._peers import with_group_columns

KEY = ("data", "criterion", "method")
METRICS = {
    "demographic_parity": metrics.demographic_parity_difference,
    "equal_opportunity": metrics.equal_opportunity_difference,
    "predictive_equality": metrics.false_positive_rate_difference,
    "equalized_odds": metrics.equalized_odds_difference,
    "proportional_equality": metrics.proportional_equality,
    "prevalence": metrics.proportional_equality,
    "accuracy": metrics.proportional_equality,
}
"""What each rule is measured by; no peer has the last three."""

WITH_PEERS = list(METRICS)[:4]
POOLS = ("threshold", "resampled")
PREVALENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
TRAINING_ROWS = 20_000
BATCH_ROWS = 10_000
COMPAS_BATCHES = 10
COMPAS_ROWS = 500
ORACLE_CUTS = 1001


class Rows(NamedTuple):
    """Features, labels and groups."""

    X: object
    y: np.ndarray
    z: np.ndarray


def rows_of(data):
    # error-parity knows groups by number alone.
    _, codes = np.unique(data.sensitive_features, return_inverse=True)
    return Rows(data.data.reset_index(drop=True), data.target.to_numpy(), codes)


def pairs(seed, step):
    """Yield training rows, and a batch for each pair of prevalences."""
    yield rows_of(make_synthetic(TRAINING_ROWS, random_state=seed))
    number = 1000 * (seed + 1)
    for prevalences in product(PREVALENCES[::step], repeat=2):
        number += 1
        yield rows_of(
            make_synthetic(BATCH_ROWS, prevalences=prevalences, random_state=number)
        )


def compas(seed, step):
    """Yield one half of COMPAS 2013, and batches drawn from the other half."""
    table = rows_of(fetch_compas(subset="train"))
    strata = [f"{label} {group}" for label, group in zip(table.y, table.z, strict=True)]
    places = np.arange(len(table.y))
    train, rest = train_test_split(
        places, test_size=0.5, random_state=seed, stratify=strata
    )
    yield take(table, train)
    random = np.random.default_rng(seed)
    for _ in range(COMPAS_BATCHES):
        yield take(table, resample(table, rest, random))


def take(table, places):
    return Rows(table.X.iloc[places], table.y[places], table.z[places])


def resample(table, rest, random):
    """Draw rows of each group at a prevalence anywhere from .1 to .9."""
    drawn = []
    for group in np.unique(table.z):
        n_positive = round(COMPAS_ROWS * random.uniform(0.1, 0.9))
        for label, n in ((1, n_positive), (0, COMPAS_ROWS - n_positive)):
            eligible = rest[(table.z[rest] == group) & (table.y[rest] == label)]
            drawn.append(random.choice(eligible, n))
    return np.concatenate(drawn)


DATA = {"pairs": pairs, "compas": compas}


class Competitors:
    """CAPE with both pools, the plain learner and its peers, fitted on the same rows.

    The peers learn from out-of-fold scores, as CAPE does, and the learner that scores a
    batch is trained on all rows.
    """

    def __init__(self, train, peers, seed):
        self.pools = {}
        for pool in POOLS:
            clf = CapeClassifier(make_learner("logistic"), pool=pool, random_state=seed)
            clf.fit(train.X, train.y, sensitive_features=train.z)
            self.pools[pool] = clf
        self.groups = list(clf.groups_)
        features = with_group_columns(train.X, train.z, self.groups)
        learner = make_learner("logistic")
        out_of_fold = cross_val_predict(
            learner, features, train.y, cv=5, method="predict_proba"
        )
        self.learner = learner.fit(features, train.y)
        self.peers = {}
        for name, peer in peers.items():
            for criterion in WITH_PEERS:
                fitted = peer(criterion).fit(out_of_fold[:, 1], train.y, train.z)
                self.peers[criterion, name] = fitted

    def predict(self, batch):
        """Yield a criterion, the name of a competitor, and its predictions."""
        features = with_group_columns(batch.X, batch.z, self.groups)
        scores = self.learner.predict_proba(features)[:, 1]
        for (criterion, name), peer in self.peers.items():
            yield criterion, name, peer.predict(scores, batch.z)
        for criterion in METRICS:
            yield criterion, "one learner", (scores > 0.5).astype(int)
            yield criterion, "oracle", oracle(criterion, scores, batch)
        for pool, clf in self.pools.items():
            groups = {"sensitive_features": batch.z}
            evidence = clf.evidence(batch.X, **groups)
            for criterion in METRICS:
                adaptation = clf.adapt(evidence=evidence, rule=criterion)
                y_pred = clf.predict(batch.X, **groups, adaptation=adaptation)
                yield criterion, f"CAPE, {pool}", y_pred


def oracle(criterion, scores, batch):
    """Choose thresholds by the labels of the batch."""
    situations = {}
    cuts = {}
    for group in np.unique(batch.z):
        own = batch.z == group
        cuts[group], situations[group] = known_situation(scores[own], batch.y[own])
    chosen = make_rule(criterion).choose(situations)
    y_pred = np.zeros(len(scores), dtype=int)
    for group, member in chosen.items():
        own = batch.z == group
        y_pred[own] = scores[own] >= cuts[group][member]
    return y_pred


def known_situation(scores, y):
    """Return thresholds, and what a rule sees of a group whose labels are known."""
    inner = np.quantile(scores, np.linspace(0, 1, ORACLE_CUTS), method="lower")
    cuts = np.unique(np.append(inner, np.inf))
    positives = np.sort(scores[y == 1])
    negatives = np.sort(scores[y == 0])
    called_true = len(positives) - np.searchsorted(positives, cuts)
    called_false = len(negatives) - np.searchsorted(negatives, cuts)
    shares = (called_true + called_false) / len(scores)
    # Rates of this batch are known, and a rule allows for noise in rates of few rows.
    copies = np.full(len(cuts), 1e9)
    share = float(y.mean())
    situation = GroupSituation(
        # Groups have equally many rows in all batches.
        share=0.5,
        estimate=Estimate(share, share, share),
        thetas=shares,
        predicted_prevalences=shares,
        rates=MemberRates(
            called_true * copies,
            len(positives) * copies,
            called_false * copies,
            len(negatives) * copies,
        ),
    )
    return cuts, situation


def simulate(data, trainings, step, peers):
    """Return what each competitor reached, as records."""
    outcomes = defaultdict(list)
    for seed in range(trainings):
        rows = DATA[data](seed, step)
        competitors = Competitors(next(rows), peers, seed)
        for batch in rows:
            for criterion, name, y_pred in competitors.predict(batch):
                measured = METRICS[criterion](
                    batch.y, y_pred, sensitive_features=batch.z
                )
                accuracy = float(np.mean(y_pred == batch.y))
                outcomes[criterion, name].append((measured, accuracy))
        print(f"{data}: {seed + 1} of {trainings} trainings", flush=True)
    records = []
    for (criterion, name), values in outcomes.items():
        record = {"data": data, "criterion": criterion, "method": name}
        record["batches"] = len(values)
        means = np.mean(values, axis=0)
        spreads = np.std(values, axis=0, ddof=1)
        for place, what in enumerate(("measured", "accuracy")):
            record[what] = rounded(means[place])
            record[f"{what}_sd"] = rounded(spreads[place])
        records.append(record)
    return records


def rounded(value):
    """PE is undefined in a batch where nobody of a group is called positive."""
    return None if np.isnan(value) else round(float(value), 5)


ORDER = (
    "one learner",
    "Fairlearn",
    "error-parity",
    "OxonFair",
    "CAPE, threshold",
    "CAPE, resampled",
    "oracle",
)


def table(records):
    """Write records as a table in Markdown, a line for each rule and competitor."""
    by_cell = {}
    for one in records:
        by_cell[one["criterion"], one["method"], one["data"]] = one
    columns = ["rule", "method"]
    for data, title in (("pairs", "pairs"), ("compas", "COMPAS")):
        batches = {one["batches"] for one in records if one["data"] == data}
        numbers = ", ".join(map(str, sorted(batches)))
        columns += [f"{title}: measured", f"accuracy ({numbers} batches)"]
    lines = []
    for criterion, method in product(METRICS, ORDER):
        cells = []
        for data in DATA:
            cells += cells_of(by_cell.get((criterion, method, data)))
        if any(cells):
            lines.append([criterion.replace("_", " "), method, *cells])
    return markdown_table(columns, lines)


def cells_of(one):
    """Write mean ± standard deviation over batches of both figures."""
    if one is None:
        return ["", ""]
    measured = "undefined in a batch"
    if one["measured"] is not None:
        measured = f"{one['measured']:.4f} ± {one['measured_sd']:.4f}"
    return [measured, f"{one['accuracy']:.3f} ± {one['accuracy_sd']:.3f}"]


def main():
    """Simulate and store results, or write stored results into a page."""
    options = read_options(__doc__, data=tuple(DATA), trainings=1, step=1)
    if options.write:
        replace_block(options.write, "rules", table(stored("rules")))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers = installed_peers()
        records = simulate(options.data, options.trainings, options.step, peers)
    print(table(store("rules", records, KEY)))


if __name__ == "__main__":
    main()
