"""
An audit with intervals
=======================

``audit`` compares predictions from any source with labels; it needs no CAPE model.
Here an ordinary classifier was trained on people screened in 2013 (COMPAS) and used on
those of 2014. Every number has an interval, so you need not guess whether a difference
between groups could be chance.
"""

from sklearn.linear_model import LogisticRegression

from cape.datasets import fetch_compas
from cape.metrics import audit

train = fetch_compas(subset="train")
batch = fetch_compas(subset="test")
groups = batch.sensitive_features
# One classifier for all rows, with the group among its features.
is_caucasian = train.sensitive_features == "Caucasian"
model = LogisticRegression(max_iter=1000)
model.fit(train.data.assign(caucasian=is_caucasian), train.target)
y_pred = model.predict(batch.data.assign(caucasian=groups == "Caucasian"))

# %%
# FPR: of those who did not reoffend, the share predicted positive. FNR: of those who
# did, the share missed. PD: the distance between predicted and true share.

result = audit(batch.target, y_pred, sensitive_features=groups)
result.table().round(3)

# %%
# True and predicted shares. The classifier learned from 2013, when fewer were positive.
# It predicts far too few positives, and misses by more in one group.

result.plot()

# %%
# Groups are compared in pairs. A difference whose interval excludes 0 is unlikely to be
# chance.

result.pairs().round(3)
