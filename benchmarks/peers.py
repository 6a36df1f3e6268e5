"""Time to fit against Fairlearn's and AIF360's mitigations of the same logistic regression, on the same rows."""

from __future__ import annotations

import warnings

import numpy as np
from clock import compare
from sklearn.linear_model import LogisticRegression

from learners import cape, table


def fit_peers(n, random, *, rounds, slow=True):
    import pandas as pd
    from aif360.algorithms.postprocessing import RejectOptionClassification
    from aif360.algorithms.preprocessing import Reweighing
    from aif360.datasets import BinaryLabelDataset
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient

    X, y, z = table(n, 2, random)
    learner = LogisticRegression()
    groups = {"unprivileged_groups": [{"z": 0}], "privileged_groups": [{"z": 1}]}
    frame = (
        pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
        .assign(z=z, y=y)
        .astype(float)
    )

    def dataset():
        return BinaryLabelDataset(
            df=frame, label_names=["y"], protected_attribute_names=["z"]
        )

    def reweighing():
        weighed = Reweighing(**groups).fit_transform(dataset())
        return LogisticRegression().fit(X, y, sample_weight=weighed.instance_weights)

    def reject_option():
        truth, scored = dataset(), dataset()
        scored.scores = LogisticRegression().fit(X, y).predict_proba(X)[:, 1:]
        scored.labels = (scored.scores > 0.5).astype(float)
        return RejectOptionClassification(
            **groups, num_class_thresh=100, num_ROC_margin=50
        ).fit(truth, scored)

    made = {
        "plain fit": lambda: LogisticRegression().fit(X, y),
        "cape, threshold, 5 folds": lambda: cape(learner, "threshold", cv=5).fit(
            X, y, sensitive_features=z
        ),
        "cape, resampled": lambda: cape(learner, "resampled").fit(
            X, y, sensitive_features=z
        ),
        "fairlearn ThresholdOptimizer": lambda: ThresholdOptimizer(
            estimator=learner,
            constraints="equalized_odds",
            predict_method="predict_proba",
        ).fit(X, y, sensitive_features=z),
        "aif360 Reweighing": reweighing,
    }
    if slow:
        made["fairlearn ExponentiatedGradient"] = lambda: ExponentiatedGradient(
            learner, EqualizedOdds()
        ).fit(X, y, sensitive_features=z)
        made["aif360 Reject Option"] = reject_option
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            {
                "part": "peers, fit",
                "learner": "logistic",
                "rows": n,
                "groups": 2,
                **record,
            }
            for record in compare(made, rounds=rounds)
        ]


if __name__ == "__main__":
    for found in fit_peers(4000, np.random.default_rng(0), rounds=3):
        print(found)
