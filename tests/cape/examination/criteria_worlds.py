"""Simulated batches whose criteria are known, beside what is expected of them.

Groups are normal in two features, and move by prior shift alone. In every batch some
rules choose members; each criterion and the accuracy are then measured with the labels
of the batch.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.rules import (
    Accuracy,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    Prevalence,
    ProportionalEquality,
)

TRAINING_PREVALENCES = (0.5, 0.4, 0.6)
RULES = (
    Prevalence(),
    Accuracy(),
    ProportionalEquality(tolerance=0.1),
    DemographicParity(tolerance=0.05),
    DemographicParity(ratio=0.8),
    EqualOpportunity(tolerance=0.05),
    PredictiveEquality(tolerance=0.05),
    EqualizedOdds(tolerance=0.1),
    EqualOpportunity(),
    Constrained(proportional_equality=0.3, false_positive_rate_difference=0.1),
)
RULES_PER_BATCH = 2


def draw(random, rows, prevalences):
    """Draw so many rows of each group: features, labels and groups."""
    X, y, z = [], [], []
    for group, prevalence in enumerate(prevalences):
        label = random.random(rows) < prevalence
        # Each group has its own distance between the classes.
        centre = label * (1.0 + 0.4 * group)
        own = random.normal(0, 1, (rows, 2)) + centre[:, None] * [1.0, -0.6]
        X.append(own)
        y.append(label.astype(int))
        z.append(np.full(rows, group))
    return np.concatenate(X), np.concatenate(y), np.concatenate(z)


def observe(y_true, y_pred, groups):
    """Measure every criterion by its definition, and the accuracy."""
    rho, predicted, tpr, fpr = [], [], [], []
    for group in np.unique(groups):
        own = groups == group
        labels, calls = y_true[own], y_pred[own]
        rho.append(labels.mean())
        predicted.append(calls.mean())
        tpr.append(calls[labels == 1].mean())
        fpr.append(calls[labels == 0].mean())
    rho, predicted = np.array(rho), np.array(predicted)
    with np.errstate(divide="ignore", invalid="ignore"):
        pe = np.abs(rho[:, None] / rho - predicted[:, None] / predicted)
    ratio = 1.0
    if predicted.max() > 0:
        ratio = predicted.min() / predicted.max()
    return {
        "accuracy": (y_true == y_pred).mean(),
        "proportional_equality": pe.max(),
        "demographic_parity_difference": np.ptp(predicted),
        "demographic_parity_ratio": ratio,
        "equal_opportunity_difference": np.ptp(tpr),
        "false_positive_rate_difference": np.ptp(fpr),
        "equalized_odds_difference": max(np.ptp(tpr), np.ptp(fpr)),
    }


def simulate(options):
    """Return one record for each batch, rule and criterion."""
    records = []
    for place in range(options.batches):
        random = np.random.default_rng([options.seed, options.groups, place])
        if place % options.batches_per_training == 0:
            prevalences = TRAINING_PREVALENCES[: options.groups]
            X, y, z = draw(random, options.training_rows, prevalences)
            clf = CapeClassifier(
                LogisticRegression(),
                scores=options.scores,
                pool=options.pool,
                random_state=place,
            )
            clf.fit(X, y, sensitive_features=z)
        prevalences = random.uniform(0.1, 0.9, options.groups)
        batch = draw(random, options.rows, prevalences)
        evidence = clf.evidence(batch[0], sensitive_features=batch[2])
        for rule in random.choice(len(RULES), RULES_PER_BATCH, replace=False):
            records += one_rule(clf, batch, evidence, RULES[rule], place)
    return pd.DataFrame(records)


def one_rule(clf, batch, evidence, rule, seed):
    """Compare what is expected of one rule with what is observed."""
    X, y, z = batch
    seen = examine(clf, evidence=evidence, rule=rule, random_state=seed)
    y_pred = clf.predict(X, sensitive_features=z, adaptation=seen.adaptation)
    observed = observe(y, y_pred, z)
    records = []
    for name, row in seen.criteria.table().iterrows():
        value = observed[name]
        is_met = value <= row["bound"] + 1e-9
        if name.endswith("ratio"):
            is_met = value >= row["bound"] - 1e-9
        records.append(
            {
                "rule": repr(rule),
                "criterion": name,
                "observed": value,
                "expected": row["value"],
                "inside": row["low"] - 1e-9 <= value <= row["high"] + 1e-9,
                "below": value < row["low"] - 1e-9,
                "width": row["high"] - row["low"],
                "probability": row["probability"],
                "met": float(is_met) if pd.notna(row["bound"]) else np.nan,
            }
        )
    return records
