"""
A stream of rows
================

Rows arrive day by day, and the share of positives in group 0 rises slowly.
``RollingCape`` predicts them with the last rows of their group. It keeps counts and
scores, but no features.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.watch._stream import RollingCape

train = make_synthetic(4000, random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

# %%
# Twenty days of 200 rows each. On the first day a tenth of group 0 is positive, on the
# last nine tenths. Group 1 stays at one half.

rolling = RollingCape(clf, window=300)
shares = np.linspace(0.1, 0.9, 20).round(2)
days = []
for day, share in enumerate(shares, start=1):
    rows = make_synthetic(200, prevalences=(share, 0.5), random_state=day)
    groups = rows.sensitive_features
    y_pred = rolling.predict(rows.data, sensitive_features=groups)
    table = rolling.adapt().table().reset_index()
    table["true share"] = [share, 0.5]
    table["called positive"] = [y_pred[groups == 0].mean(), y_pred[groups == 1].mean()]
    days.append(table.assign(day=day))
frame = pd.concat(days)

# %%
# The band is the interval of the share in the window, the line is the true share of the
# day, and the dots are the predicted shares. A window looks back, so the estimate lags
# behind the truth by about half its length: a shorter one would follow faster and be
# less certain.

base = alt.Chart(frame).encode(alt.X("day:Q", axis=alt.Axis(tickMinStep=5)))
band = base.mark_area(opacity=0.25).encode(
    alt.Y("low:Q", title="share of positives", scale=alt.Scale(domain=[0, 1])),
    y2="high:Q",
    color="group:N",
)
truth = base.mark_line(color="black").encode(y="true share:Q")
dots = base.mark_circle(opacity=1).encode(y="called positive:Q", color="group:N")
chart = alt.layer(band, truth, dots).properties(width=260, height=240)
chart.facet("group:N", title="A stream of twenty days")
