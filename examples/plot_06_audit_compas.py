"""
An audit with intervals
=======================

``audit`` compares predictions of any origin with labels: no model of CAPE is needed.
Here an ordinary classifier was trained on people screened in 2013 (COMPAS) and used on
those of 2014. Every number has an interval, so that nobody has to guess whether a
difference between groups could be chance.
"""

from sklearn.linear_model import LogisticRegression

from cape.datasets import fetch_compas
from cape.metrics import audit

train = fetch_compas(subset="train")
batch = fetch_compas(subset="test")
groups = batch.sensitive_features
# One classifier for all rows, which has the group among its features.
is_caucasian = train.sensitive_features == "Caucasian"
model = LogisticRegression(max_iter=1000)
model.fit(train.data.assign(caucasian=is_caucasian), train.target)
y_pred = model.predict(batch.data.assign(caucasian=groups == "Caucasian"))

# %%
# FPR is the share of those who did not reoffend and were called positive all the same;
# FNR the share of those who did and were missed; PD how far the predicted share is from
# the true one.

result = audit(batch.target, y_pred, sensitive_features=groups)
result.table().round(3)

# %%
# True and predicted shares. The classifier has learned from the rows of 2013, of which
# fewer are positive. It calls far too few positive, and misses by more in one group.

result.plot()

# %%
# Groups are compared in pairs. A difference whose interval does not hold 0 is hardly
# chance.

result.pairs().round(3)
