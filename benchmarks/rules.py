"""Each rule against threshold optimizers with the same constraint, under prior shift.

CAPE and the threshold optimizers of Fairlearn, error-parity and OxonFair have the same
learner and the same training rows. Batches have other prevalences. The pairs are those
of the paper's generator; COMPAS is the year 2013 in two halves, one to train on and one
to draw batches from, with replacement. The oracle has the scores of the batch and its
labels, and chooses as the rule does.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from typing import NamedTuple

import numpy as np
from compas_halves import make_learner
from given_scores import GivenScores, both_columns
from sklearn.model_selection import cross_val_predict, train_test_split
from study import Study, markdown_table

from cape import CapeClassifier, Estimate, metrics
from cape.datasets import fetch_compas, make_synthetic
from cape.rules import GroupSituation
from cape.rules._rules import make_rule
from cape.training._group_model import MemberRates
from cape_paper import stamp
from cape_paper._peers import with_group_columns

METRICS = {
    "demographic_parity": metrics.PARITY["demographic_parity_difference"],
    "equal_opportunity": metrics.PARITY["equal_opportunity_difference"],
    "predictive_equality": metrics.PARITY["false_positive_rate_difference"],
    "equalized_odds": metrics.PARITY["equalized_odds_difference"],
    "proportional_equality": metrics.proportional_equality,
    "prevalence": metrics.proportional_equality,
    "accuracy": metrics.proportional_equality,
}
"""What each rule is measured by; no peer has the last three."""

CONSTRAINTS = {
    "demographic_parity": "demographic_parity",
    "equal_opportunity": "true_positive_rate_parity",
    "predictive_equality": "false_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}
"""Our names of the criteria, and those of Fairlearn and error-parity."""

OXONFAIR_BOUND = 0.01
"""OxonFair searches a grid of thresholds, which has no point with a difference of 0."""

PAGE = """# The rules beside other libraries

{verdict}

{peers} have the same learner (logistic regression), the same training rows and the same
out-of-fold scores as CAPE. They choose thresholds in training and keep them; CAPE
chooses anew in every batch. *Pairs*: the paper's generator, {training_rows:,} training
rows with prevalence .5, batches of {batch_rows:,} rows at all pairs of prevalences from
.1 to .9. *COMPAS*: half of 2013 to train, batches of {compas_rows} a group drawn from
the other half with prevalences from .1 to .9. The *oracle* knows the labels of the
batch and chooses thresholds as the rule does; nobody else sees them.
[What to aim at](what_to_aim_at.md) explains the rules.

*Measured* is the criterion of the rule, 0 at best (for the last three rules PE): mean ±
standard deviation over batches.

{table}

*`python benchmarks/trust.py rules`, {seconds:.0f} s of processor time. {stamp}*

How to read it:

- Equal shares (demographic parity): fixed thresholds lose them where prevalences move;
  CAPE keeps them. Where true shares differ, equal shares cost accuracy, and the oracle
  pays it, too.
- Equal rates: fixed thresholds keep them under prior shift. CAPE moves the threshold to
  where it errs least in this batch, which is what it gains in accuracy.
- The TPR of a resampled member is measured on the training rows that it did not draw,
  which are few on COMPAS; the threshold pool, the default, has all of them.
- PE on COMPAS is large for all but the oracle: true shares as low as .1 are divided by
  estimates from {compas_rows} rows.
"""

POOLS = ("threshold", "resampled")
PREVALENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
TRAINING_ROWS = 20_000
BATCH_ROWS = 10_000
COMPAS_BATCHES = 10
COMPAS_ROWS = 500
ORACLE_CUTS = 1001


class FairlearnThresholds:
    """Fairlearn's ThresholdOptimizer, which mixes two thresholds of a group."""

    package = "fairlearn"

    def __init__(self, criterion):
        self.constraint = CONSTRAINTS[criterion]

    def fit(self, scores, y, groups):
        from fairlearn.postprocessing import ThresholdOptimizer

        self.fitted = ThresholdOptimizer(
            estimator=GivenScores(),
            constraints=self.constraint,
            prefit=True,
            predict_method="predict_proba",
        )
        self.fitted.fit(both_columns(scores), y, sensitive_features=groups)
        return self

    def predict(self, scores, groups):
        return self.fitted.predict(
            both_columns(scores), sensitive_features=groups, random_state=0
        )


class ErrorParity:
    """error-parity's RelaxedThresholdOptimizer, at tolerance 0.

    It asks for numpy below 2, which we do not support; it runs with a newer one.
    """

    package = "error_parity"

    def __init__(self, criterion):
        self.constraint = CONSTRAINTS[criterion]

    def fit(self, scores, y, groups):
        from error_parity import RelaxedThresholdOptimizer

        self.fitted = RelaxedThresholdOptimizer(
            predictor=np.ravel, constraint=self.constraint, seed=0
        )
        self.fitted.fit(scores[:, None], y, group=groups)
        return self

    def predict(self, scores, groups):
        return np.asarray(self.fitted.predict(scores[:, None], group=groups))


class OxonFair:
    """OxonFair's FairPredictor on scores."""

    package = "oxonfair"

    def __init__(self, criterion):
        self.criterion = criterion

    def fit(self, scores, y, groups):
        from oxonfair import FairPredictor, group_metrics

        # OxonFair calls the difference of false negative rates "predictive equality".
        constraints = {
            "demographic_parity": group_metrics.demographic_parity,
            "equal_opportunity": group_metrics.equal_opportunity,
            "predictive_equality": group_metrics.false_pos_rate.diff,
            "equalized_odds": group_metrics.equalized_odds_max,
        }
        data = {"data": both_columns(scores), "target": y, "groups": groups}
        self.fitted = FairPredictor(None, data)
        self.fitted.fit(
            group_metrics.accuracy, constraints[self.criterion], OXONFAIR_BOUND
        )
        return self

    def predict(self, scores, groups):
        # It asks for labels of rows to predict, and does not use them.
        no_labels = np.zeros(len(scores), dtype=int)
        data = {"data": both_columns(scores), "target": no_labels, "groups": groups}
        return np.asarray(self.fitted.predict(data))


PEERS = {
    "Fairlearn": FairlearnThresholds,
    "error-parity": ErrorParity,
    "OxonFair": OxonFair,
}


def missing_peers():
    """Name the libraries that are not installed."""
    return [name for name, peer in PEERS.items() if find_spec(peer.package) is None]


def peer_versions():
    """Return the names of the peers with their versions."""
    versions = [f"{name} {version(peer.package)}" for name, peer in PEERS.items()]
    return {"peers": versions}


class Rows(NamedTuple):
    """Features, labels and groups."""

    X: object
    y: np.ndarray
    z: np.ndarray


def rows_of(data):
    # error-parity knows groups by number alone.
    _, codes = np.unique(data.sensitive_features, return_inverse=True)
    return Rows(data.data.reset_index(drop=True), data.target.to_numpy(), codes)


def pairs(seed):
    """Yield training rows, and a batch for each pair of prevalences."""
    yield rows_of(make_synthetic(TRAINING_ROWS, random_state=seed))
    number = 1000 * (seed + 1)
    for prevalences in product(PREVALENCES, repeat=2):
        number += 1
        yield rows_of(
            make_synthetic(BATCH_ROWS, prevalences=prevalences, random_state=number)
        )


def compas(seed):
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

    def __init__(self, train, seed):
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
        for name, peer in PEERS.items():
            for criterion in CONSTRAINTS:
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


def one_training(seed, setting):
    """Yield what each competitor reached in every batch after one training."""
    rows = DATA[setting["data"]](seed)
    competitors = Competitors(next(rows), seed)
    for batch in rows:
        for criterion, name, y_pred in competitors.predict(batch):
            measured = METRICS[criterion](batch.y, y_pred, sensitive_features=batch.z)
            yield (criterion, name), (measured, float(np.mean(y_pred == batch.y)))


STUDY = Study(
    "rules",
    one_training,
    # The pairs are 81 batches of one training, COMPAS ten of each.
    [({"data": "pairs"}, 1), ({"data": "compas"}, 20)],
    ("criterion", "method"),
    ("measured", "accuracy"),
    facts=peer_versions,
)

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
        batches = {one["draws"] for one in records if one["data"] == data}
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


def page_text(about, records):
    """Return docs/rules_compared.md."""
    return PAGE.format(
        verdict=verdict(records),
        peers=", ".join(about["peers"]),
        training_rows=TRAINING_ROWS,
        batch_rows=BATCH_ROWS,
        compas_rows=COMPAS_ROWS,
        table=table(records),
        seconds=about["seconds"],
        stamp=stamp(about["defaults"], about["date"]),
    )


def verdict(records):
    """Say how CAPE compares with the best of the peers, rule by rule."""
    by_cell = {(r["data"], r["criterion"], r["method"]): r for r in records}
    lines = []
    for criterion in CONSTRAINTS:
        parts = []
        for data, title in (("pairs", "the pairs"), ("compas", "COMPAS")):
            ours = by_cell[data, criterion, "CAPE, threshold"]
            peers = [by_cell[data, criterion, peer] for peer in PEERS]
            best = min(peer["measured"] for peer in peers)
            accurate = max(peer["accuracy"] for peer in peers)
            parts.append(
                f"on {title} {ours['measured']:.3f} against {best:.3f}, accuracy "
                f"{ours['accuracy']:.3f} against {accurate:.3f}"
            )
        name = criterion.replace("_", " ").capitalize()
        lines.append(f"{name}: {'; '.join(parts)}.")
    head = "CAPE (threshold pool) against the best of its peers in each figure."
    return f"**{' '.join([head, *lines])}**"
