"""
Fairness in a grid search
=========================

``make_fairness_scorer`` turns a fairness metric into a scorer, so that scikit-learn's
``GridSearchCV`` and ``cross_validate`` see fairness and accuracy side by side. It
scores any classifier; this one is a plain decision tree.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from cape.datasets import make_synthetic
from cape.metrics import make_fairness_scorer

table = make_synthetic(4000, prevalences=(0.2, 0.6), random_state=0)
X = table.frame.drop(columns="y")

# %%
# The groups are the column ``z`` of the table. "pd" is the prevalence difference of the
# worst group: how far its predicted share is from its true one. Greater scores are
# better, so the sign is flipped.

scoring = {
    "accuracy": "accuracy",
    "pd": make_fairness_scorer("pd", group_columns="z"),
}


# %%
# Fairness alone is easy and worth little. Somebody says how large a difference is
# acceptable, and the most accurate tree within it wins.


def best_within(results, limit=0.05):
    """Return the place of the most accurate candidate with a PD within the limit."""
    is_fair = results["mean_test_pd"] >= -limit
    if not is_fair.any():
        raise ValueError(f"no candidate has a PD of {limit} or less.")
    return int(np.argmax(np.where(is_fair, results["mean_test_accuracy"], -np.inf)))


search = GridSearchCV(
    DecisionTreeClassifier(random_state=0),
    {"max_depth": range(1, 13)},
    scoring=scoring,
    refit=best_within,
    cv=5,
)
search.fit(X, table.target)
print("chosen:", search.best_params_)

# %%
# The folds of one table all have its shares, so these scores say nothing about a shift:
# for that, score a later table, or let CAPE follow it.

results = pd.DataFrame(
    {
        "depth": search.cv_results_["param_max_depth"].astype(int),
        "error rate": 1 - search.cv_results_["mean_test_accuracy"],
        "worst PD": -search.cv_results_["mean_test_pd"],
    }
)
lines = alt.Chart(results.melt("depth", var_name="metric")).mark_line(point=True)
lines.encode(
    alt.X("depth:O", title="greatest depth", axis=alt.Axis(labelAngle=0)),
    alt.Y("value:Q", title="mean over folds"),
    color=alt.Color("metric:N", title=None),
).properties(width=380, height=240, title="Errors and PD of trees, by their depth")
