"""Algorithm 1 of the paper as a plain loop, the thing to be faster than: rows copied, everything done in turn."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict


class PlainCape:
    """CAPE with SPA and resampled classifiers, group by group, classifier by classifier."""

    def __init__(self, learner, *, prevalences=10, folds=10, seed=0):
        self.learner = learner
        self.thetas = (np.arange(prevalences) + 0.5) / prevalences
        self.folds = folds
        self.seed = seed

    def fit(self, X, y, z):
        random = np.random.RandomState(self.seed)
        self.groups = {}
        for group in np.unique(z):
            rows = z == group
            X_z, y_z = X[rows], y[rows]
            quantifier = self.fit_quantifier(X_z, y_z, random)
            self.groups[group] = (*quantifier, self.fit_members(X_z, y_z, random))
        return self

    def fit_quantifier(self, X, y, random):
        folds = StratifiedKFold(
            self.folds, shuffle=True, random_state=random.randint(2**31 - 1)
        )
        scores = cross_val_predict(
            clone(self.learner), X, y, cv=folds, method="predict_proba"
        )[:, 1]
        return (
            clone(self.learner).fit(X, y),
            scores[y == 1].mean(),
            scores[y == 0].mean(),
        )

    def fit_members(self, X, y, random):
        members = []
        for theta in self.thetas:
            n_positive = round(theta * len(y))
            rows = np.concatenate(
                [
                    random.choice(np.flatnonzero(y == 1), n_positive),
                    random.choice(np.flatnonzero(y == 0), len(y) - n_positive),
                ]
            )
            members.append(clone(self.learner).fit(X[rows], y[rows]))
        return members

    def predict(self, X, z):
        y_pred = np.empty(len(X), dtype=int)
        for group, (
            scorer,
            positive_mean,
            negative_mean,
            members,
        ) in self.groups.items():
            rows = z == group
            X_z = X[rows]
            mean = scorer.predict_proba(X_z)[:, 1].mean()
            q = np.clip((mean - negative_mean) / (positive_mean - negative_mean), 0, 1)
            predictions = [member.predict(X_z) for member in members]
            y_pred[rows] = min(predictions, key=lambda called: abs(called.mean() - q))
        return y_pred
