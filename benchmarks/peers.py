"""Time to fit against mitigations of Fairlearn and AIF360.

All of them mitigate the same logistic regression on the same rows.
"""

from __future__ import annotations

import warnings

import pandas as pd
from sklearn.linear_model import LogisticRegression

from learners import cape, table, time_competitors

GROUPS = {"unprivileged_groups": [{"z": 0}], "privileged_groups": [{"z": 1}]}
"""AIF360 wants to know which group is privileged; nothing depends on it here."""


def our_fits(X, y, z):
    """Return the trainings of one plain learner and of CAPE, by name."""

    def fit(pool, **settings):
        clf = cape(LogisticRegression(), pool, **settings)
        return lambda: clf.fit(X, y, sensitive_features=z)

    return {
        "plain fit": lambda: LogisticRegression().fit(X, y),
        "cape, threshold, 5 folds": fit("threshold", cv=5),
        "cape, resampled": fit("resampled"),
    }


def fairlearn_fits(X, y, z):
    """Return the trainings of Fairlearn's methods, by name."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient

    def threshold_optimizer():
        method = ThresholdOptimizer(
            estimator=LogisticRegression(),
            constraints="equalized_odds",
            predict_method="predict_proba",
        )
        return method.fit(X, y, sensitive_features=z)

    def exponentiated_gradient():
        method = ExponentiatedGradient(LogisticRegression(), EqualizedOdds())
        return method.fit(X, y, sensitive_features=z)

    return {
        "fairlearn ThresholdOptimizer": threshold_optimizer,
        "fairlearn ExponentiatedGradient": exponentiated_gradient,
    }


def aif360_fits(X, y, z):
    """Return the trainings of AIF360's methods, by name."""
    from aif360.algorithms.postprocessing import RejectOptionClassification
    from aif360.algorithms.preprocessing import Reweighing
    from aif360.datasets import BinaryLabelDataset

    columns = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns).assign(z=z, y=y).astype(float)

    def dataset():
        return BinaryLabelDataset(
            df=frame, label_names=["y"], protected_attribute_names=["z"]
        )

    def reweighing():
        weighed = Reweighing(**GROUPS).fit_transform(dataset())
        return LogisticRegression().fit(X, y, sample_weight=weighed.instance_weights)

    def reject_option():
        truth = dataset()
        scored = dataset()
        scored.scores = LogisticRegression().fit(X, y).predict_proba(X)[:, 1:]
        scored.labels = (scored.scores > 0.5).astype(float)
        method = RejectOptionClassification(
            **GROUPS, num_class_thresh=100, num_ROC_margin=50
        )
        return method.fit(truth, scored)

    return {"aif360 Reweighing": reweighing, "aif360 Reject Option": reject_option}


def fit_peers(n, random, *, rounds, slow=True):
    """Time the trainings of all libraries.

    Parameters
    ----------
    n : int
        Rows to train on.
    random : numpy Generator
    rounds : int
    slow : bool, default=True
        Whether to time the methods too that fit or search hundreds of times.

    Returns
    -------
    list of dict
    """
    X, y, z = table(n, 2, random)
    competitors = our_fits(X, y, z) | fairlearn_fits(X, y, z) | aif360_fits(X, y, z)
    if not slow:
        del competitors["fairlearn ExponentiatedGradient"]
        del competitors["aif360 Reject Option"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return time_competitors(
            competitors,
            rounds=rounds,
            part="peers, fit",
            learner="logistic",
            rows=n,
            groups=2,
        )
