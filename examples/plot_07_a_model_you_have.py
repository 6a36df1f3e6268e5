"""
A model you already have
========================

The model is trained, tested and in use, and nobody wants to train it again. With
``cv="prefit"`` CAPE takes it as it is. All it needs is a hold-out: labelled rows that
the model has not learned from. From these it learns how scores of positives and of
negatives are distributed in each group.
"""

import altair as alt
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from cape import CapeClassifier
from cape.datasets import make_synthetic

train = make_synthetic(3000, random_state=0)
forest = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
forest.fit(train.data, train.target)

# %%
# The forest stays as it is. CAPE only moves its threshold, group by group.

hold_out = make_synthetic(3000, random_state=1)
clf = CapeClassifier(forest, cv="prefit", random_state=0)
clf.fit(hold_out.data, hold_out.target, sensitive_features=hold_out.sensitive_features)

# %%
# Batches in which the share of positives of group 0 goes from 0.1 to 0.9, while that of
# group 1 stays at one half. The forest by itself lags behind; with CAPE around it,
# predicted shares are near the true ones (the dashed line).

rows = []
for step in range(1, 10):
    share = step / 10
    batch = make_synthetic(2000, prevalences=(share, 0.5), random_state=step)
    groups = batch.sensitive_features
    predictions = {
        "forest": forest.predict(batch.data),
        "forest and CAPE": clf.predict(batch.data, sensitive_features=groups),
    }
    for name, y_pred in predictions.items():
        predicted = y_pred[groups == 0].mean()
        rows.append({"model": name, "true share": share, "predicted share": predicted})
frame = pd.DataFrame(rows)

x = alt.X("true share:Q", scale=alt.Scale(domain=[0, 1]))
y = alt.Y("predicted share:Q", scale=alt.Scale(domain=[0, 1]))
line = alt.Chart(frame).mark_line(point=True)
line = line.encode(x, y, color=alt.Color("model:N", title=None))
ends = pd.DataFrame({"true share": [0, 1], "predicted share": [0, 1]})
diagonal = alt.Chart(ends).mark_line(strokeDash=[4, 4], color="grey").encode(x, y)
alt.layer(diagonal, line).properties(
    width=320, height=280, title="Predicted against true share of group 0"
)
