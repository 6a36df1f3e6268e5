"""
Freeze a model to look into it
==============================

Tools that explain a model change rows and see what happens. CAPE would take every
changed table for a new batch and adapt to it, so each answer would come from a
different model. ``freeze`` returns a model with one fixed adaptation, for any tool of
scikit-learn.
"""

import altair as alt
import pandas as pd
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic

# %%
# These tools take a single table, so the groups are one of its columns.

train = make_synthetic(4000, random_state=0)
batch = make_synthetic(2000, prevalences=(0.2, 0.8), random_state=1)
clf = CapeClassifier(LogisticRegression(), group_columns="z", random_state=0)
clf.fit(train.frame.drop(columns="y"), train.target)
people = batch.frame.drop(columns="y")
frozen = clf.freeze(clf.adapt(people))

# %%
# How much accuracy is lost when a column is shuffled:

importance = permutation_importance(
    frozen, people, batch.target, n_repeats=5, random_state=0
)
pd.Series(importance.importances_mean, index=people.columns, name="loss").round(3)

# %%
# The mean probability of a positive if a column had the same value in all rows. The
# model was adapted once, to the original batch, so all curves come from one model.

frames = []
for column in ("U", "V"):
    found = partial_dependence(frozen, people, [column], grid_resolution=30)
    values = {"value": found["grid_values"][0], "probability": found["average"][0]}
    frames.append(pd.DataFrame(values).assign(column=column))

lines = alt.Chart(pd.concat(frames)).mark_line(strokeWidth=2)
lines.encode(
    alt.X("value:Q", title="value of the column"),
    alt.Y("probability:Q", scale=alt.Scale(domain=[0, 1])),
    color="column:N",
).properties(width=380, height=240, title="Partial dependence of a frozen model")
