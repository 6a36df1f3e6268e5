"""Draw the pictures of docs/what_to_aim_at.md.

Group a keeps its prevalence; that of group b moves. Each rule decides twice: once for
all batches, by a batch like the training rows, and anew for every batch.

    python docs/draw_criteria.py
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import confusion_by_group

IMAGES = Path(__file__).with_name("images")
TRAINING = (0.3, 0.5)
"""Prevalences of groups a and b in training."""

MOVED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Prevalences of group b in the batches."""

QUANTITIES = {
    "prevalence": ("predicted_prevalence",),
    "proportional_equality": ("predicted_prevalence",),
    "demographic_parity": ("predicted_prevalence",),
    "equal_opportunity": ("tpr",),
    "predictive_equality": ("fpr",),
    "equalized_odds": ("tpr", "fpr"),
}
"""What the picture of a rule shows of each group, beside the accuracy."""

TITLES = {
    "predicted_prevalence": "share called positive",
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "accuracy": "accuracy",
}
ONCE = "chosen once"
ANEW = "chosen for each batch"
COLOURS = ["#0072b2", "#d55e00"]


def draw_data(n_samples, prevalences, seed):
    """Draw the paper's data, with groups called a and b."""
    data = make_synthetic(n_samples, prevalences=prevalences, random_state=seed)
    groups = data.sensitive_features.map({0: "a", 1: "b"})
    return data.data, data.target, groups


def frame_criteria(n_samples=20_000, rules=tuple(QUANTITIES), moved=MOVED):
    """Return the rates of each group in each batch, for every rule.

    Returns
    -------
    DataFrame
        Columns rule, choice, prevalence (of group b), group, quantity and value.
    """
    X, y, groups = draw_data(n_samples, TRAINING, seed=0)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(X, y, sensitive_features=groups)
    X_like, _, groups_like = draw_data(n_samples, TRAINING, seed=1)
    rows = []
    for rule in rules:
        fixed = clf.adapt(X_like, sensitive_features=groups_like, rule=rule)
        for number, prevalence in enumerate(moved):
            batch = draw_data(n_samples, (TRAINING[0], prevalence), seed=2 + number)
            anew = clf.adapt(batch[0], sensitive_features=batch[2], rule=rule)
            for choice, adaptation in ((ONCE, fixed), (ANEW, anew)):
                for measured in measure(clf, batch, adaptation):
                    about = {"rule": rule, "choice": choice, "prevalence": prevalence}
                    rows.append({**about, **measured})
    return pd.DataFrame(rows)


def measure(clf, batch, adaptation):
    """Yield every quantity of every group, and the accuracy of all rows."""
    X, y, groups = batch
    y_pred = clf.predict(X, sensitive_features=groups, adaptation=adaptation)
    for group, counts in confusion_by_group(
        y, y_pred, sensitive_features=groups
    ).items():
        for quantity in ("predicted_prevalence", "tpr", "fpr"):
            value = float(getattr(counts, quantity))
            yield {"group": group, "quantity": quantity, "value": value}
    accuracy = float(np.mean(y_pred == y))
    yield {"group": "all", "quantity": "accuracy", "value": accuracy}


def draw_rule(frame, rule):
    """Draw what the rule is about, and the accuracy beside it."""
    of_rule = frame[frame["rule"] == rule]
    panels = []
    for quantity in (*QUANTITIES[rule], "accuracy"):
        panels.append(draw_panel(of_rule[of_rule["quantity"] == quantity], quantity))
    return alt.hconcat(*panels).configure_view(stroke=None)


def draw_panel(frame, quantity):
    """Draw one quantity over the true share of group b."""
    x = alt.X("prevalence:Q", title="true share of positives in group b")
    y = alt.Y("value:Q", title=TITLES[quantity], scale=alt.Scale(domain=domain(frame)))
    dash = alt.StrokeDash(
        "choice:N",
        title=None,
        scale=alt.Scale(domain=[ANEW, ONCE], range=[[1, 0], [5, 4]]),
    )
    lines = alt.Chart(frame).mark_line().encode(x=x, y=y, strokeDash=dash)
    if quantity == "accuracy":
        lines = lines.encode(color=alt.value("#444444"))
    else:
        scale = alt.Scale(domain=["a", "b"], range=COLOURS)
        # Where both groups are equal, group a is still seen below group b.
        width = alt.Scale(domain=["a", "b"], range=[5, 2])
        lines = lines.encode(
            color=alt.Color("group:N", title="group", scale=scale),
            strokeWidth=alt.StrokeWidth("group:N", scale=width, legend=None),
        )
    return lines.properties(width=200, height=160)


def domain(frame):
    """Show a range of at least .2, so that noise does not look like a difference."""
    middle = (frame["value"].min() + frame["value"].max()) / 2
    half = max(frame["value"].max() - middle, 0.1) + 0.02
    return [max(0.0, round(middle - half, 2)), min(1.0, round(middle + half, 2))]


def main():
    """Draw all pictures."""
    frame = frame_criteria()
    for rule in QUANTITIES:
        draw_rule(frame, rule).save(str(IMAGES / f"aim-{rule}.svg"))


if __name__ == "__main__":
    main()
