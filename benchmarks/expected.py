"""How often expected rates hold the observed ones, once labels come.

The shift is a prior shift by construction. On COMPAS one half of the training year
trains, and batches with other prevalences are drawn from the other half. The paper's
generator trains on 1,000 rows a group.
"""

from __future__ import annotations

from compas_halves import PREVALENCES, halves_of_compas, make_learner
from study import Study, draw_shifted, grouped, markdown_table, percent

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.metrics import confusion_by_group

ROWS = {"COMPAS": (60, 300), "synthetic": (100, 1000, 10_000)}
TRAINING_ROWS = 1000
RATES = ("fpr", "fnr", "accuracy", "PD")


def synthetic(seed):
    """Rows to train on, and rows to draw batches from; few of these are drawn twice."""
    train = make_synthetic(2 * TRAINING_ROWS, random_state=seed)
    rest = make_synthetic(60_000, random_state=10_000 + seed)
    return [(d.data, d.target, d.sensitive_features) for d in (train, rest)]


DATA = {"COMPAS": halves_of_compas, "synthetic": synthetic}


def one_repetition(seed, setting):
    """Train, and compare expectation and truth on batches of other prevalences."""
    (X, y, z), rest = DATA[setting["data"]](seed)
    learner = make_learner(setting["learner"])
    clf = CapeClassifier(learner, pool=setting["pool"], random_state=seed)
    clf.fit(X, y, sensitive_features=z)
    for rows in ROWS[setting["data"]]:
        for prevalences in PREVALENCES:
            wanted = dict(zip(clf.groups_, prevalences, strict=True))
            batch = draw_shifted(rest, wanted, rows, seed)
            for rate, *outcome in compare_batch(clf, *batch):
                yield (rate, rows), tuple(outcome)


def compare_batch(clf, X, y, z):
    """Yield each rate of a batch, whether it is inside its interval, and the width."""
    examination = examine(clf, X, sensitive_features=z)
    adaptation = examination.adaptation
    y_pred = clf.predict(X, sensitive_features=z, adaptation=adaptation)
    both = examination.compare(y, y_pred, sensitive_features=z)
    for (_, rate), row in both.iterrows():
        yield rate, bool(row["inside"]), row["high"] - row["low"]
    observed = confusion_by_group(y, y_pred, sensitive_features=z)
    for group, adapted in adaptation.groups.items():
        inside = observed[group].prevalence_difference <= adapted.pd_bound
        yield "PD", inside, adapted.pd_bound


def setting(data, learner, pool="threshold"):
    return {"data": data, "learner": learner, "pool": pool}


STUDY = Study(
    "expected",
    one_repetition,
    [
        # A seed makes six of every rate: three batches with two groups.
        (setting("COMPAS", "logistic"), 84),
        (setting("synthetic", "logistic"), 84),
        (setting("synthetic", "boosting"), 84),
        (setting("COMPAS", "default"), 84),
    ],
    ("rate", "rows"),
    ("inside", "width"),
)


def table(records):
    """Return a line for every model and number of rows."""
    columns = ["data", "learner", "pool", "rows a group"]
    columns += [f"{rate}: inside, width" for rate in RATES]
    lines = []
    for key, cells in grouped(records, "data", "learner", "pool", "rows").items():
        of_rate = {cell["rate"]: cell for cell in cells}
        line = list(key)
        for rate in RATES:
            cell = of_rate[rate]
            line.append(f"{percent(cell['inside'])}, {cell['width']:.2f}")
        lines.append(line)
    return markdown_table(columns, lines)
