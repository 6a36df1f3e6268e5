"""
A model you already have
========================

The model is in use, and nobody wants to train another one. Its scores and decisions
are logged, labels come late, and somebody has to say whether it is still fair.
``Scores`` takes the log as it is. It needs a reference: labelled rows of the log that
the model was not trained on.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from cape import AdaptationWarning, CapeClassifier, Scores, examine
from cape.datasets import make_synthetic
from cape.examination import rows_to_label

past = make_synthetic(6000, prevalences=(0.3, 0.5), random_state=0)
forest = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
forest.fit(past.data[:3000], past.target[:3000])


def logged(data):
    """A table of a warehouse: columns, a score and a decision in every row."""
    score = forest.predict_proba(data)[:, 1]
    return data.assign(score=score, approved=np.where(score > 0.5, "yes", "no"))


watched = CapeClassifier(Scores("score", "approved"), random_state=0)
watched.fit(
    logged(past.data[3000:]),
    past.target[3000:],
    sensitive_features=past.sensitive_features[3000:],
)

# %%
# This month the share of positives of group 0 has doubled, and nobody knows it yet. The
# decisions stay as they were made. The table has the rates to expect of them, with
# intervals, before any label.

month = make_synthetic(3000, prevalences=(0.6, 0.5), random_state=1)
log = logged(month.data)
groups = month.sensitive_features
seen = examine(watched, log, sensitive_features=groups)
seen.expected

# %%
# Labels come, and expectation and truth stand side by side.

approved = (log["approved"] == "yes").astype(int)
seen.compare(month.target, approved, sensitive_features=groups).round(3)

# %%
# Demographic parity is observed and has no interval; the other criteria are expected.
# Beside them, what CAPE would decide instead, and its price in accuracy: here there is
# none, since CAPE follows the group that has moved.

instead = seen.under("prevalence")
pd.concat(
    {
        "as made": seen.criteria.table()["value"],
        "by CAPE": instead.criteria.table()["value"],
    },
    axis=1,
).round(3)

# %%
# Columns beside the score are watched, too. Here the column V is delivered in other
# units, while the model still reads the right ones.

warnings.simplefilter("ignore", AdaptationWarning)
wrong = log.assign(V=100 * log["V"])
seen_wrong = examine(watched, wrong, sensitive_features=groups)
seen_wrong.columns.table()[["effect", "moved", "what_happened"]]

# %%
# Nothing can be told from such rows, and the intervals say so. Labels of a hundred
# rows, drawn at random, tell.

drawn = rows_to_label(watched, wrong, sensitive_features=groups, n=100)
labels = np.full(len(log), None, dtype=object)
labels[drawn.rows] = month.target.iloc[drawn.rows]
checked = examine(
    watched,
    wrong,
    labels,
    sensitive_features=groups,
    inclusion_probability=drawn.inclusion_probability,
)
truth = month.target.groupby(groups).mean()
estimates = {
    "without labels": seen_wrong.adaptation.table()[["estimate", "low", "high"]],
    "with a hundred": checked.adaptation.table()[["estimate", "low", "high"]],
}
pd.concat(estimates, axis=1).assign(truth=truth).round(3)
