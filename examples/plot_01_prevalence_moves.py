"""
The share of positives changes
==============================

In training, half of each group is positive. In the batch to predict, a fifth of one
group is, and four fifths of the other. An ordinary classifier keeps predicting the
past. CAPE estimates the new shares, without labels, and follows them.
"""

import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import audit, fairness_table

last_year = make_synthetic(5000, random_state=0)
this_year = make_synthetic(5000, prevalences=(0.2, 0.8), random_state=1)

# %%
# Both classifiers learn from last year, with the same learner. The ordinary one is a
# single classifier for all rows, with the group ``z`` among its features.

columns = ["U", "V", "z"]
ordinary = LogisticRegression().fit(last_year.frame[columns], last_year.target)
cape = CapeClassifier(LogisticRegression(), random_state=0)
cape.fit(
    last_year.data,
    last_year.target,
    sensitive_features=last_year.sensitive_features,
)
groups = this_year.sensitive_features
predictions = {
    "ordinary": ordinary.predict(this_year.frame[columns]),
    "CAPE": cape.predict(this_year.data, sensitive_features=groups),
}
rows = {}
for name, y_pred in predictions.items():
    rows[name] = fairness_table(this_year.target, y_pred, sensitive_features=groups)
table = pd.DataFrame(rows).T

# %%
# Diamonds are this year's true shares, dots what the ordinary classifier predicts.
# The gap between them is the prevalence difference, PD.

audit(this_year.target, predictions["ordinary"], sensitive_features=groups).plot()

# %%
# The same picture for CAPE:

audit(this_year.target, predictions["CAPE"], sensitive_features=groups).plot()

# %%
# The ordinary classifier predicts too many positives in the first group and too few in
# the second. The numbers behind the picture:

table.round(3).T
