"""
What to aim at: the frontier
============================

Equal shares for both groups, or few errors? If the true shares differ, you cannot have
both. The frontier shows what you can have: for each accepted difference in shares, the
best accuracy to expect in this batch. It needs no labels.
"""

from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.metrics import demographic_parity_difference
from cape.rules import DemographicParity

train = make_synthetic(4000, prevalences=(0.3, 0.5), random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

batch = make_synthetic(4000, prevalences=(0.3, 0.7), random_state=1)
groups = batch.sensitive_features
criterion = "demographic_parity_difference"
seen = examine(clf, batch.data, sensitive_features=groups)
curve = seen.frontiers([criterion], n_points=20)[criterion]

# %%
# From right to left, equality grows and accuracy falls. The band is the interval of the
# accuracy. Marks are what each rule would choose: ``prevalence`` follows the true
# shares, ``demographic_parity`` asks for equal ones.

curve.plot()

# %%
# Somebody chooses a point on the curve, for example that shares may differ by at most
# 0.2, and the rule keeps to it. With labels, which only an example has, we see the
# result.

for tolerance in (0.0, 0.2, 0.4):
    rule = DemographicParity(tolerance=tolerance)
    adaptation = clf.adapt(evidence=seen.evidence, rule=rule)
    y_pred = clf.predict(batch.data, sensitive_features=groups, adaptation=adaptation)
    accuracy = (y_pred == batch.target).mean()
    difference = demographic_parity_difference(
        batch.target, y_pred, sensitive_features=groups
    )
    print(
        f"allowed {tolerance:.1f}: shares differ by {difference:.3f}, "
        f"accuracy {accuracy:.3f}"
    )
