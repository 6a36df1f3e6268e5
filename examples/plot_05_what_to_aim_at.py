"""
What to aim at: the price of equality
=====================================

Equal shares for both groups, or few errors? If the true shares differ, you cannot have
both. For each accepted difference in shares, an examination says which accuracy to
expect in this batch. It needs no labels.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.metrics import PARITY
from cape.rules import RULES

train = make_synthetic(4000, prevalences=(0.3, 0.5), random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

batch = make_synthetic(4000, prevalences=(0.3, 0.7), random_state=1)
groups = batch.sensitive_features
seen = examine(clf, batch.data, sensitive_features=groups)

# %%
# From right to left, equality grows and accuracy falls. The band is the interval of the
# accuracy.

price = []
for tolerance in np.linspace(0, 0.5, 11).round(2):
    criteria = seen.under(RULES["demographic_parity"](tolerance=tolerance)).criteria
    accuracy = criteria.values["accuracy"]
    price.append({"tolerance": tolerance, **accuracy._asdict()})
x = alt.X("tolerance", title="accepted difference in shares")
base = alt.Chart(pd.DataFrame(price)).encode(x=x)
y = alt.Y("value", title="expected accuracy", scale=alt.Scale(zero=False))
band = base.mark_area(opacity=0.2).encode(y="low", y2="high")
band + base.mark_line().encode(y=y)

# %%
# Somebody chooses a tolerance, for example that shares may differ by at most 0.2, and
# the rule keeps to it. With labels, which only an example has, we see the result.

for tolerance in (0.0, 0.2, 0.4):
    rule = RULES["demographic_parity"](tolerance=tolerance)
    adaptation = clf.adapt(evidence=seen.evidence, rule=rule)
    y_pred = clf.predict(batch.data, sensitive_features=groups, adaptation=adaptation)
    accuracy = (y_pred == batch.target).mean()
    difference = PARITY["demographic_parity_difference"](
        batch.target, y_pred, sensitive_features=groups
    )
    print(
        f"allowed {tolerance:.1f}: shares differ by {difference:.3f}, "
        f"accuracy {accuracy:.3f}"
    )
