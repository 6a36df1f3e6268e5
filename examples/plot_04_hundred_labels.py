"""
A hundred labels confirm or refute
==================================

Some shifts leave no trace in unlabelled rows: people look as they did, but what counts
as positive has changed, through a new law or new record-keeping. No test of scores or
columns can see that. A hundred labels per group can.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.datasets import make_synthetic
from cape.examination import rows_to_label

train = make_synthetic(4000, random_state=0)
clf = CapeClassifier(LogisticRegression(), random_state=0)
clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)

# %%
# One batch, twice. Under the new law, four of ten people of group 1 who would have been
# negative are positive. Their features are the same.

batch = make_synthetic(2000, prevalences=(0.3, 0.5), random_state=2)
groups = batch.sensitive_features
is_struck = (np.random.default_rng(17).random(2000) < 0.4) & (groups == 1)
truths = {"as before": batch.target, "new law": batch.target | is_struck}

# %%
# ``rows_to_label`` draws the rows, each with a known probability, and a person looks up
# their labels. With labels the estimate is right whatever has changed, if the rows were
# drawn at random. Where the labels refute the estimate, ``adapt`` warns; here the table
# shows it.

warnings.simplefilter("ignore", AdaptationWarning)
drawn = rows_to_label(clf, batch.data, sensitive_features=groups, n=200)
frames = []
for law, truth in truths.items():
    labels = np.full(len(truth), None, dtype=object)
    labels[drawn.rows] = truth.iloc[drawn.rows]
    checked = clf.adapt(
        batch.data,
        labels,
        sensitive_features=groups,
        inclusion_probability=drawn.inclusion_probability,
    )
    true_share = truth.groupby(groups).mean().rename("truth")
    frames.append(checked.table().join(true_share).assign(law=law).reset_index())
table = pd.concat(frames)
table[["law", "group", "without_labels", "estimate", "truth", "label_verdict"]]

# %%
# The last of these, under the new law. The labels of group 1 refute the label-free
# estimate and correct it.

checked.plot()
