"""
Which column moved
==================

CAPE assumes that the share of positives changes while positives and negatives look as
they did. It tests this in every batch. Here one batch has a column in other units, and
in another a column drifts a little. CAPE names both.
"""

import warnings

import altair as alt
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier, examine
from cape.datasets import make_synthetic

train = make_synthetic(4000, random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

batch = make_synthetic(2000, prevalences=(0.3, 0.7), random_state=1)
groups = batch.sensitive_features
batches = {
    "as in training": batch.data,
    "U drifts by 2": batch.data.assign(U=batch.data["U"] + 2),
    "U in other units": batch.data.assign(U=batch.data["U"] * 100),
}

# %%
# ``examine`` looks at every column of a batch. The table shows how much of each column
# does not fit training, worst first.

warnings.simplefilter("ignore", AdaptationWarning)
drifted = examine(clf, batches["U drifts by 2"], sensitive_features=groups)
drifted.columns

# %%
# It also says in words what happened to a column. It recognises units.

for name, data in batches.items():
    seen = examine(clf, data, sensitive_features=groups)
    print(name, seen.columns, sep=": ", end="\n\n")

# %%
# What this means for the estimates: where more than the share of positives changed, the
# estimate is held back and its interval is wider. With a broken column there is no
# estimate until it is fixed. ``examine`` warns about all this; here you see it in the
# picture. The true shares are 0.3 and 0.7 in all three batches (dashed).

tables = []
for name, data in batches.items():
    adaptation = clf.adapt(data, sensitive_features=groups)
    tables.append(adaptation.table().reset_index().assign(batch=name))
verdicts = pd.concat(tables)

base = alt.Chart(verdicts).encode(
    alt.Y("batch:N", sort=list(batches), title=None, axis=alt.Axis(labelLimit=200)),
    color="group:N",
    yOffset="group:N",
)
interval = base.mark_rule(strokeWidth=3).encode(
    alt.X("low:Q", title="estimated share", scale=alt.Scale(domain=[0, 1])),
    x2="high:Q",
)
point = base.mark_circle(size=90, opacity=1).encode(x="estimate:Q")
truth = alt.Chart(pd.DataFrame({"share": [0.3, 0.7]})).mark_rule(strokeDash=[4, 4])
alt.layer(truth.encode(x="share:Q"), interval, point).properties(
    width=420, height=200, title="Estimates where a column moved"
)
