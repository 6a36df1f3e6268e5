"""
What CAPE estimated, and how sure it is
=======================================

``adapt`` says what CAPE estimated in a batch without labels and what it chose. Every
estimate has an interval. It is about the share of positives among these very rows, and
more rows make it narrower.
"""

import altair as alt
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic

train = make_synthetic(4000, random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

batch = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=1)
adaptation = clf.adapt(batch.data, sensitive_features=batch.sensitive_features)
print(adaptation)

# %%
# One line per group: how the share of positives changed, what the tests of scores and
# columns say, which classifier of the pool was chosen, and a bound on how far its
# predicted share can be from the true one. In a notebook, an adaptation is a table with
# a picture:

adaptation

# %%
# ``table()`` has the numbers, and ``plot()`` is the picture alone.

adaptation.plot()

# %%
# The same batch with fewer and fewer rows. The dashed lines are the true shares.

frames = []
for n_rows in (50, 100, 200, 500, 1000):
    first_rows = clf.adapt(
        batch.data[:n_rows], sensitive_features=batch.sensitive_features[:n_rows]
    )
    frames.append(first_rows.table().reset_index().assign(arrived=n_rows))
estimates = pd.concat(frames)

base = alt.Chart(estimates).encode(
    alt.X("arrived:O", title="rows that have arrived", axis=alt.Axis(labelAngle=0)),
    color=alt.Color("group:N"),
)
interval = base.mark_rule(strokeWidth=3).encode(
    alt.Y("low:Q", title="share of positives", scale=alt.Scale(domain=[0, 1])),
    y2="high:Q",
)
point = base.mark_circle(size=90, opacity=1).encode(y="estimate:Q")
truth = alt.Chart(pd.DataFrame({"share": [0.2, 0.8]})).mark_rule(strokeDash=[4, 4])
alt.layer(truth.encode(y="share:Q"), interval, point).properties(
    width=420, height=260, title="Estimated shares and their intervals"
)
