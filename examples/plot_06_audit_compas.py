"""
An audit with intervals
=======================

``audit`` compares predictions of any origin with labels: no model of CAPE is needed.
Here an ordinary classifier was trained on people screened in 2013 (COMPAS) and used on
those of 2014. Every number has an interval, so that nobody has to guess whether a
difference between groups could be chance.
"""

import altair as alt
from sklearn.linear_model import LogisticRegression

from cape.compare import MaxAcc
from cape.datasets import fetch_compas
from cape.metrics import audit

train = fetch_compas(subset="train")
batch = fetch_compas(subset="test")
groups = batch.sensitive_features
model = MaxAcc(LogisticRegression(max_iter=1000))
model.fit(train.data, train.target, sensitive_features=train.sensitive_features)
y_pred = model.predict(batch.data, sensitive_features=groups)

# %%
# The rates of each group. FPR is the share of those who did not reoffend and were
# called positive all the same; FNR the share of those who did and were missed.

result = audit(batch.target, y_pred, sensitive_features=groups)
result.table().round(3)

# %%
# True and predicted shares. The classifier calls positive as many as in 2013, when
# fewer reoffended, and misses by more in one of the groups.

table = result.table().reset_index()
shares = table[table["metric"].isin(["prevalence", "predicted_prevalence"])]
names = {"prevalence": "true", "predicted_prevalence": "predicted"}
shares = shares.replace({"metric": names})

base = alt.Chart(shares).encode(
    alt.Y("group:N", title=None, axis=alt.Axis(labelLimit=200)),
    color=alt.Color("metric:N", title=None),
    yOffset="metric:N",
)
interval = base.mark_rule(strokeWidth=3).encode(
    alt.X("low:Q", title="share of positives", scale=alt.Scale(domain=[0, 1])),
    x2="high:Q",
)
point = base.mark_circle(size=90, opacity=1).encode(x="value:Q")
alt.layer(interval, point).properties(
    width=420, height=150, title="True and predicted shares, with intervals"
)
